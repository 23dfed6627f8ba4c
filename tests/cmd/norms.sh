#!/bin/bash
# --norms: what keys add to a row's sum of vectors, by hand and in NumPy.
. "$(dirname "$0")/lib.sh"
find_numpy 'norms of weighted values'

# Weights 3/4 and 1/4 on values of length 1 and 5, (3 4) of the second: 3/4 to 5/4, so 3/8 and 5/8; by
# wo = (2 0) the second is 6 long and the first, (0 1), nothing.
cat > two.json <<'END'
{"q": [[[1]]], "k": [[[1.0986122886681098], [0]]], "scale": 1, "v": [[[0, 1], [3, 4]]]}
END
row() { attn inspect token '#0' two.json --norms --top all --tsv "$@" | sed 1d | sort -n -k 6 -t '	' | awk -F '\t' '{ printf "%.6g ", $8 }'; }
is 'values alone' "$(row)" '0.375 0.625 '
jq '.wo = [[2], [0]]' two.json > w.json && mv w.json two.json
is 'by the output' "$(row)" '0 1 '
jq '.wo = [[0], [0]]' two.json > w.json && mv w.json two.json
is 'nothing is added' "$(row)" '0 0 '

cat > twin.py <<'END'
import json, struct, subprocess, sys
import numpy as np
attn, root = sys.argv[1:3]
def run(*arguments):
    subprocess.run([attn, 'run', *map(str, arguments)], check=True, capture_output=True)
def shares(weights, values, wo):
    """weights (H, N, M), values (G, M, e), wo (H e, any) or None"""
    H, G, e = len(weights), len(values), values.shape[-1]
    out = np.empty_like(weights)
    for h in range(H):
        f = values[h // (H // G)] @ (np.eye(e) if wo is None else wo[h * e:(h + 1) * e])
        n = weights[h] * np.linalg.norm(f, axis=-1)
        out[h] = n / np.where(n.sum(-1, keepdims=True) > 0, n.sum(-1, keepdims=True), 1)
    return out
def check(what, expected, *arguments):
    run(*arguments, '--norms', '--weights', 'found.npy')
    found = np.load('found.npy')
    assert found.shape == expected.shape and abs(found - expected).max() < 2e-6, (what, abs(found - expected).max())
    return expected
r = np.random.default_rng(5)
for case in range(40):
    H, G, N, M, d, e = 4, int(r.choice([1, 2, 4])), int(r.integers(1, 9)), int(r.integers(1, 9)), 3, int(r.integers(1, 6))
    arrays = dict(q=r.normal(size=(H, N, d)), k=r.normal(size=(G, M, d)), v=r.normal(size=(G, M, e)))
    options = []
    if r.random() < .5: options += ['--causal']
    if r.random() < .4:
        arrays['past_k'], arrays['past_v'] = r.normal(size=(G, 2, d)), r.normal(size=(G, 2, e))
    if r.random() < .4:
        arrays['bias_k'], arrays['bias_v'] = r.normal(size=G * d), r.normal(size=G * e)
    if r.random() < .3: options += ['--add-zero-attn']
    wo = r.normal(size=(H * e, 5)) if r.random() < .6 else None
    if wo is not None: arrays['wo'] = wo
    np.savez('in.npz', **{k: v.astype('f4') for k, v in arrays.items()})
    run('in.npz', *options, '--weights', 'w.npy')
    v = arrays['v'].astype('f4').astype(float)
    if 'past_v' in arrays: v = np.concatenate([arrays['past_v'].astype('f4'), v], 1)
    if 'bias_v' in arrays: v = np.concatenate([v, arrays['bias_v'].astype('f4').reshape(G, 1, e)], 1)
    if '--add-zero-attn' in options: v = np.concatenate([v, np.zeros((G, 1, e))], 1)
    check((case, list(arrays), options), shares(np.load('w.npy').astype(float), v, None if wo is None else wo.astype('f4').astype(float)),
          'in.npz', *options)

# A trained layer with projections, and all layers of a model with grouped heads.
animal = [root + '/samples/animal.safetensors', root + '/samples/use-lite-layer1.safetensors']
run(*animal, '--weights', 'w.npy')
run(*animal, '--v', 'v.npy')
def tensor(path, name):
    data = open(path, 'rb').read()
    length = struct.unpack('<Q', data[:8])[0]
    e = json.loads(data[8:8 + length])[name]
    begin, end = (8 + length + at for at in e['data_offsets'])
    return np.frombuffer(data[begin:end], '<f4').reshape(e['shape']).astype(float)
check('a layer', shares(np.load('w.npy').astype(float), np.load('v.npy').astype(float), tensor(animal[1], 'wo')), *animal)
model = root + '/samples/stories260K'
text = ['--model', model, '--text', 'Once upon a time, there was a girl']
layers = []
for layer in range(5):
    run(*text, '--layer', layer, '--weights', 'w.npy')
    run(*text, '--layer', layer, '--v', 'v.npy')
    wo = tensor(model + '/model.safetensors', f'model.layers.{layer}.self_attn.o_proj.weight').T
    w = np.load('w.npy').astype(float)
    layers.append(shares(w.reshape(w.shape[-3:]), np.load('v.npy').astype(float).reshape(4, -1, 8), wo))
layers = np.array(layers)
check('a model', layers, *text)
# Over layers: rollout of the shares.
n = layers.shape[-1]
product = np.eye(n)
for x in layers.mean(1):
    product = (x / 2 + np.eye(n) / 2) @ product
run(*text, '--norms', '--rollout', '--weights', 'found.npy')
assert abs(np.load('found.npy').reshape(n, n) - product).max() < 2e-6
END
ok 'the twin' "$python" twin.py "$ATTN" "$root"

stories=(--model "$root/samples/stories260K" --text 'Once upon a time')
status 0 attn run "${stories[@]}" --norms --weights one.npy --threads 1
status 0 attn run "${stories[@]}" --norms --weights three.npy --threads 3
same 'threads' one.npy three.npy
status 0 attn heatmap "${stories[@]}" --norms --layer 2 -o norms.svg
ok 'a note' grep -q 'weights times the lengths of values' norms.svg
status 0 attn heatmap "${stories[@]}" --norms --layer 2 --words -o norms.svg
ok 'a note beside another' grep -q 'as shares of a row; tokens joined to words' norms.svg
status 0 attn view "${stories[@]}" --norms -o page.html
status 0 attn inspect heads "${stories[@]}" --norms --tsv
status 0 attn inspect pairs time:Once "${stories[@]}" --norms --tsv
status 0 attn compare "${stories[@]}" --norms -b "$(
	attn run "${stories[@]}" --norms --weights "$PWD/stored.npy" --quiet
	echo "weights=$PWD/stored.npy"
)" --axes layer --tolerance 0

# What cannot be.
status 0 attn run "$root/samples/hand.json" --weights stored.npy
status 2 attn inspect token '#0' weights=stored.npy --norms
says "'--norms' needs values, and a stored result has weights alone: give the input it was made from"
printf '{"q": [[[1]]], "k": [[[1]]]}' > bare.json
status 2 attn inspect token '#0' bare.json --norms
says "'--norms' needs values, and there are none"
status 2 attn run "$root/samples/hand.json" --norms --context c.npy
says "'--norms' and '--context' cannot be combined"
printf '{"q": [[[1]], [[2]]], "k": [[[1]], [[2]]], "v": [[[1, 2]]], "lambda": 0.5}' > signed.json
status 2 attn inspect token '#0' signed.json --norms
says "'--norms' makes shares of weights of at least 0, found those of differential attention"
finish
