#!/bin/bash
# Hidden states, logits and next tokens of a trained model, against its published values in float64.
. "$(dirname "$0")/lib.sh"
model=$root/samples/stories260K
known=$root/tests/data/models/stories260K/lily.expected.safetensors

find_numpy
if [ -z "$python" ]; then
	skip 'known logits: no python3 here has NumPy'
	finish
fi

cat > known.py <<'PY'
import json, struct, sys
import numpy as np
raw = open(sys.argv[1], 'rb').read()
size = struct.unpack('<Q', raw[:8])[0]
head = json.loads(raw[8:8 + size])
kinds = {'F64': '<f8', 'F32': '<f4', 'I64': '<i8'}
def tensor(name):
    e = head[name]
    begin, end = e['data_offsets']
    return np.frombuffer(raw[8 + size + begin:8 + size + end], kinds[e['dtype']]).reshape(e['shape'])
ids, logits = tensor('ids'), tensor('logits')
p = np.exp(logits[-1] - logits[-1].max())
p /= p.sum()
what = sys.argv[2]
if what == 'ids':
    print(','.join(map(str, ids)))
elif what == 'logits':
    found = np.load(sys.argv[3])
    print(found.shape == logits.shape and abs(found - logits).max() < 2e-4 or abs(found - logits).max())
elif what == 'hidden':
    found = np.load(sys.argv[3])
    print(found.shape, np.isfinite(found).all())
else:
    rows = [l.rstrip('\n').split('\t') for l in open(sys.argv[3], encoding='utf8')][1:]
    order = np.argsort(-p, kind='stable')[:len(rows)]
    print([int(r[1]) for r in rows] == order.tolist() and
          all(abs(float(r[3]) - p[i]) < 1e-5 for r, i in zip(rows, order)))
PY
ids=$("$python" known.py "$known" ids)
count=$(tr ',' '\n' <<< "$ids" | wc -l)
status 0 attn run --model "$model" --ids "$ids" --logits logits.npy --hidden hidden.npy
is 'logits' "$("$python" known.py "$known" logits logits.npy)" True
is 'hidden states' "$("$python" known.py "$known" hidden hidden.npy)" "(6, $count, 64) True"
attn run --model "$model" --ids "$ids" --next 7 --tsv > next.tsv
is 'next tokens' "$("$python" known.py "$known" next next.tsv)" True
attn run --model "$model" --ids "$ids" --next 7 --json > next.json
is 'next tokens as JSON' "$(jq -r '.[] | .id' next.json | paste -sd ' ')" "$(tail -n +2 next.tsv | cut -f2 | paste -sd ' ')"

# Beside weights they are the same, whatever layers are chosen.
status 0 attn run --model "$model" --ids "$ids" --layer 1 --head 2 --weights w.npy --logits again.npy
ok 'logits beside weights of a layer' cmp logits.npy again.npy
for kernel in scalar avx2; do
	ATTN_KERNEL=$kernel attn run --model "$model" --ids "$ids" --logits $kernel.npy 2>/dev/null || continue
	is "logits by $kernel" "$("$python" known.py "$known" logits $kernel.npy)" True
done

# What they are not for.
status 2 attn run --model "$root/tests/data/models/bert_min_config" --ids 1,2 --next 3
says "'--next' is for decoders"
status 2 attn run "$root/samples/hand.json" --logits x.npy
says "'--logits' is of a model: it also requires --model"
status 2 attn run --model "$model" --ids 1 --next 3 --rankings -
says '2 outputs are'

# A stored result of a model is drawn as the model.
status 0 attn run --model "$model" --ids "$ids" --weights all.safetensors
status 0 attn heatmap --model "$model" --ids "$ids" --layer 3 --head 1 --words --exclude-token '<s>' -o model.png
status 0 attn heatmap all.safetensors --layer 3 --head 1 --words --exclude-token '<s>' -o stored.png
ok 'a picture of a stored result' cmp model.png stored.png
finish
