#!/bin/bash
# Models of an encoder and a decoder: their three kinds of attention, from texts and from ids.
. "$(dirname "$0")/lib.sh"
model=$root/tests/data/models/marian
m=(--model "$model")
text=$(jq -r .text "$model/inputs.json")
target=$(jq -r .text_target "$model/inputs.json")

# near NAME KIND: w.safetensors has the expected weights of the kind.
near()
{
	ok "$1" python3 - "$model/expected.safetensors" "$2" <<'END'
import json, struct, sys
def load(path, name):
    data = open(path, 'rb').read()
    length = struct.unpack('<Q', data[:8])[0]
    entry = json.loads(data[8:8 + length])[name]
    begin, end = (8 + length + at for at in entry['data_offsets'])
    kind = {'F32': 'f', 'I64': 'q'}[entry['dtype']]
    return entry['shape'], struct.unpack(f'<{(end - begin) // struct.calcsize(kind)}{kind}', data[begin:end])
expected, found = load(sys.argv[1], 'attention.' + sys.argv[2]), load('w.safetensors', 'weights')
assert found[0] == expected[0], (found[0], expected[0])
assert max(abs(a - b) for a, b in zip(found[1], expected[1])) < 1e-5
END
}

# ids NAME: of expected.safetensors, with commas
ids()
{
	python3 - "$model/expected.safetensors" "$1" <<'END'
import json, struct, sys
data = open(sys.argv[1], 'rb').read()
length = struct.unpack('<Q', data[:8])[0]
begin, end = (8 + length + at for at in json.loads(data[8:8 + length])[sys.argv[2]]['data_offsets'])
print(','.join(str(i) for i in struct.unpack(f'<{(end - begin) // 8}q', data[begin:end])))
END
}

for kind in encoder decoder cross; do
	status 0 attn run "${m[@]}" --text "$text" --target "$target" --attention $kind --weights w.safetensors
	near "$kind of texts" $kind
	status 0 attn run "${m[@]}" --ids "$(ids ids)" --target-ids "$(ids decoder_ids)" --attention $kind \
		--weights w.safetensors
	near "$kind of ids" $kind
done

# Which is looked at where nothing is said.
status 0 attn run "${m[@]}" --text "$text" --weights w.safetensors
near 'without a target' encoder
status 0 attn run "${m[@]}" --text "$text" --target "$target" --weights w.safetensors
near 'with a target' cross

# Rows are the target's tokens, and keys the text's.
status 0 attn inspect token '#1' "${m[@]}" --text "$text" --target "$target" --layer 2 --head 0 --tsv
is 'the second token of the decoder is the first of the target' \
	"$(tail -n +2 out | head -n 1 | cut -f 4)" "$(jq -r '.decoder_tokens[1]' "$model/inputs.json")"
attn inspect token '#1' "${m[@]}" --text "$text" --target "$target" --layer 2 --head 0 --tsv --top all |
	tail -n +2 | cut -f 7 | sort > found
jq -r '.tokens[]' "$model/inputs.json" | sort > expected
same 'keys are those of the text' found expected

# The arithmetic of one row adds up to the same.
attn inspect token '#1' "${m[@]}" --text "$text" --target "$target" --layer 2 --head 0 --steps --tsv |
	tail -n +2 | awk -F '\t' '{ print $5, $12 }' | sort -n > found
attn inspect token '#1' "${m[@]}" --text "$text" --target "$target" --layer 2 --head 0 --tsv --top all |
	tail -n +2 | awk -F '\t' '{ print $6, $8 }' | sort -n > expected
ok 'the steps of a row' awk 'NR == FNR { w[$1] = $2; next }
	{ off = $2 - w[$1]; if (off < 0) off = -off; if (off > 1e-6 || !($1 in w)) exit 1 }' expected found

# One layer is the same as that layer of all, and threads change nothing.
status 0 attn run "${m[@]}" --text "$text" --target "$target" --layer 1 --weights one.npy --threads 1
status 0 attn run "${m[@]}" --text "$text" --target "$target" --layer 1 --weights other.npy --threads 3
same 'threads' one.npy other.npy

# A target must be there, once, and be of use.
status 2 attn run "${m[@]}" --text "$text" --attention cross
says "'--attention cross' also requires what the decoder reads: --target TEXT, --target-ids LIST or --generate N"
status 2 attn run "${m[@]}" --text "$text" --target a --target-ids 1
says "'--target' and '--target-ids' cannot be combined"
status 2 attn run --model "$root/samples/stories260K" --text a --target b
says "'--target' is of an encoder with a decoder, which a Llama model is not"
status 2 attn run --model "$root/samples/stories260K" --text a --attention cross
says "'--attention' is 'cross', expected 'decoder', the only one of a Llama model"
status 2 attn run "${m[@]}" --text "$text" --attention vision
says "expected 'encoder', 'decoder' or 'cross' of a Marian model"
status 0 attn run "${m[@]}" --text "$text" --attention encoder --target "$target" --weights w.safetensors
says 'the encoder reads the text alone: the target is not used'
status 3 attn run "${m[@]}" --text "$text" --target-ids 241
says 'token 0 has id 241'
status 2 attn run --target a "$inputs/hand.json"
says "'--target' is of a model: it also requires --model MODEL"

status 0 attn inspect model "$model" --tsv
is 'layers' "$(grep -c -x -e 'layers	3' -e 'decoder_layers	3' out)" 2
finish
