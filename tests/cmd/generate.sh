#!/bin/bash
# --generate: what a decoder writes, against the likeliest next token of one whole pass after the other.
. "$(dirname "$0")/lib.sh"
stories=(--model "$root/samples/stories260K")
marian=(--model "$root/tests/data/models/marian")

# follow N START ARGUMENT...: START and the N tokens that follow it, each from a pass of its own whose
# last argument is the list.
follow()
{
	local count=$1 ids=$2 i next
	shift 2
	for ((i = 0; i < count; i++)); do
		next=$(attn run "$@" "$ids" --next 1 --tsv | sed 1d | cut -f 2)
		ids=$ids,$next
	done
	printf '%s\n' "$ids"
}

ids=$(follow 9 1,403,407 "${stories[@]}" --ids)
status 0 attn run "${stories[@]}" --ids "$ids" --weights expected.npy
status 0 attn run "${stories[@]}" --ids 1,403,407 --generate 9 --weights found.npy
same 'nine tokens behind three' expected.npy found.npy
says '9 tokens written: '
status 0 attn run "${stories[@]}" --ids 1,403,407 --generate 9 --weights found.npy --threads 3
same 'with other threads' expected.npy found.npy

# A text that it has learnt by heart.
status 0 attn run "${stories[@]}" --text 'Once upon a time, there was a little girl named' --generate 4 \
	--weights found.npy
says "4 tokens written: 'Lily . She lo'"

# An encoder's decoder begins with its first token; a target goes on.
ids=$(follow 6 240 "${marian[@]}" --ids 30,31,32,0 --target-ids)
status 0 attn run "${marian[@]}" --ids 30,31,32,0 --target-ids "$ids" --weights expected.npy
status 0 attn run "${marian[@]}" --ids 30,31,32,0 --generate 6 --weights found.npy
same 'from the first token' expected.npy found.npy
ids=$(follow 3 240,7,9 "${marian[@]}" --ids 30,31,32,0 --target-ids)
status 0 attn run "${marian[@]}" --ids 30,31,32,0 --target-ids "$ids" --attention decoder --weights expected.npy
status 0 attn run "${marian[@]}" --ids 30,31,32,0 --target-ids 240,7,9 --generate 3 --attention decoder \
	--weights found.npy
same 'behind a target' expected.npy found.npy

# What ends a text, what is never written, and what comes first.
cp -r "$root/tests/data/models/marian" m
chmod -R u+w m
first=$(follow 1 240 "${marian[@]}" --ids 30,31,32,0 --target-ids | cut -d , -f 2)
printf '{"eos_token_id": [5, %s]}' "$first" > m/generation_config.json
status 0 attn run --model m --ids 30,31,32,0 --generate 6 --weights found.npy
says "0 tokens written: ''"
status 0 attn run "${marian[@]}" --ids 30,31,32,0 --target-ids 240 --weights expected.npy
same 'an end at once' expected.npy found.npy
second=$(attn run "${marian[@]}" --ids 30,31,32,0 --target-ids 240 --next 2 --tsv | sed 1,2d | cut -f 2)
status 0 attn run "${marian[@]}" --ids 30,31,32,0 --target-ids "240,$second" --weights expected.npy
for rule in '"suppress_tokens": [5, '"$first"']' '"bad_words_ids": [[7, 8], ['"$first"']]' \
	'"forced_bos_token_id": '"$second"; do
	printf '{"eos_token_id": 0, %s}' "$rule" > m/generation_config.json
	status 0 attn run --model m --ids 30,31,32,0 --generate 1 --weights found.npy
	same "$rule" expected.npy found.npy
done
printf '{"eos_token_id": "x"}' > m/generation_config.json
status 3 attn run --model m --ids 30 --generate 1 --weights found.npy
says "'eos_token_id' is \"x\", expected a whole number"

# A trained model that spells names writes what its own runtime does, and attends as known.
spell=(--model "$root/samples/aren-transliteration")
while read -r name letters; do
	status 0 attn run "${spell[@]}" --text "$letters" --generate 40 --weights w.safetensors
	says "${#name} tokens written: '$name'"
	status 0 attn run "${spell[@]}" --text "$letters" --target "$name" --weights t.safetensors
	ok "$name as a target" attn compare w.safetensors t.safetensors --tolerance 0
	ok "weights of $name" python3 - "$root/tests/data/models/aren-transliteration/$name" <<'END'
import json, struct, sys
def load(path, name):
    data = open(path, 'rb').read()
    length = struct.unpack('<Q', data[:8])[0]
    entry = json.loads(data[8:8 + length])[name]
    begin, end = (8 + length + at for at in entry['data_offsets'])
    kind = {'F32': 'f', 'F64': 'd'}[entry['dtype']]
    return struct.unpack(f'<{(end - begin) // struct.calcsize(kind)}{kind}', data[begin:end])
expected, found = load(sys.argv[1] + '.expected.safetensors', 'attention.cross'), load('w.safetensors', 'weights')
assert len(expected) == len(found) and max(abs(a - b) for a, b in zip(expected, found)) < 1e-5
END
done <<'END'
achison آتشيسون
atzmon آتزمون
END
status 0 attn inspect model "${spell[1]}" --tsv
is 'its family' "$(sed -n 's/^family	//p' out)" CTranslate2
status 3 attn run "${spell[@]}" --text 'x' --generate 3
says 'unk'

# Words of other commands, and what cannot be.
status 0 attn inspect token Lily "${stories[@]}" --text 'a girl named' --generate 1 --layer 4 --head 0 --tsv
is 'the token that was written is looked for' "$(sed -n 2p out | cut -f 4)" '▁Lily'
status 2 attn run --model "$root/tests/data/models/bert_min_config" --ids 1,2 --generate 3
says "'--generate' is of decoders, which write, and a BERT model is an encoder"
for n in 0 -1 x 1e9 99999999999999999999; do
	status 2 attn run "${stories[@]}" --text a --generate=$n
done
status 2 attn run --generate 3 "$inputs/hand.json"
says "'--generate' is of a model: it also requires --model MODEL"

# An encoder reads the text alone, and a table of positions ends.
status 0 attn run "${marian[@]}" --ids 30 --weights expected.npy
status 0 attn run "${marian[@]}" --attention encoder --generate 3 --ids 30 --weights found.npy
same 'an encoder does not write' expected.npy found.npy
says 'the encoder reads the text alone: the target is not used'
gpt2=$root/../shared/models/families/gpt2
if [ -e "$gpt2" ]; then
	status 0 attn run --model "$gpt2" --ids 1,2,3 --generate 200 --weights found.npy
	says '61 tokens written'
else
	skip 'the end of a table of positions: ../shared/models is not there'
fi
finish
