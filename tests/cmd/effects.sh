#!/bin/bash
# What heads do: --without-head and attn inspect effects, by hand and against a forward pass in NumPy.
. "$(dirname "$0")/lib.sh"
find_numpy 'what heads do'
model=$root/samples/stories260K
text='Once upon a time, there was a little girl named'
m=(--model "$model" --text "$text")

cat > llama.py <<'END'
"""The forward pass of a Llama (Touvron et al. 2023) in float64, with the contexts of some heads 0."""
import json, struct, sys
import numpy as np
folder = sys.argv[1]
config = json.load(open(folder + '/config.json'))
data = open(folder + '/model.safetensors', 'rb').read()
length = struct.unpack('<Q', data[:8])[0]
w = {}
for name, e in json.loads(data[8:8 + length]).items():
    if name != '__metadata__':
        begin, end = (8 + length + at for at in e['data_offsets'])
        w[name.removeprefix('model.')] = np.frombuffer(data[begin:end], '<f4').reshape(e['shape']).astype(float)
L, H, G = (config[k] for k in ('num_hidden_layers', 'num_attention_heads', 'num_key_value_heads'))
D, eps, base = config['hidden_size'], config['rms_norm_eps'], config.get('rope_theta', 10000)
d = D // H
norm = lambda x, g: x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * g
def rotate(x):
    angles = np.arange(len(x))[:, None] * base ** (-np.arange(0, d, 2) / d)
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
    a, b = x[..., :d // 2], x[..., d // 2:]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)
def run(ids, without=()):
    x = w['embed_tokens.weight'][ids]
    n = len(ids)
    weights, contexts = [], []
    for l in range(L):
        name = lambda part: w[f'layers.{l}.{part}.weight']
        h = norm(x, name('input_layernorm'))
        q = rotate((h @ name('self_attn.q_proj').T).reshape(n, H, d))
        k = rotate((h @ name('self_attn.k_proj').T).reshape(n, G, d)).repeat(H // G, 1)
        v = (h @ name('self_attn.v_proj').T).reshape(n, G, d).repeat(H // G, 1)
        s = np.einsum('ihd,jhd->hij', q, k) / np.sqrt(d) + np.triu(np.full((n, n), -np.inf), 1)
        a = np.exp(s - s.max(-1, keepdims=True))
        a /= a.sum(-1, keepdims=True)
        c = np.einsum('hij,jhd->ihd', a, v)
        for layer, head in without:
            if layer == l: c[:, head] = 0
        weights.append(a)
        contexts.append(c.reshape(n, D))
        x = x + contexts[-1] @ name('self_attn.o_proj').T
        h = norm(x, name('post_attention_layernorm'))
        g = h @ name('mlp.gate_proj').T
        x = x + (g / (1 + np.exp(-g)) * (h @ name('mlp.up_proj').T)) @ name('mlp.down_proj').T
    head = w.get('lm_head.weight', w['embed_tokens.weight'])
    return np.array(weights), np.array(contexts), x, norm(x, w['norm.weight']) @ head.T
def softmax(z):
    p = np.exp(z - z.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True)
def figures(ids, without, token):
    _, _, x, z = run(ids)
    _, _, y, u = run(ids, without)
    p, q, n = softmax(z), softmax(u), len(ids)
    return dict(hidden=np.linalg.norm(y - x) / np.linalg.norm(x),
                divergence=(p * np.log2(p / q)).sum(-1).mean(), logit=abs(u - z).max(),
                probability=q[-1, token], probability_change=q[-1, token] - p[-1, token],
                loss=-np.log2(q[np.arange(n - 1), ids[1:]]).mean(),
                loss_change=-np.log2(q[np.arange(n - 1), ids[1:]] / p[np.arange(n - 1), ids[1:]]).mean())
def same(what, found, expected):
    for key in expected:
        assert abs(found[key] - expected[key]) < 2e-5 * max(1, abs(expected[key])), (what, key, found[key], expected[key])
END
attn inspect tokens "$model" --text "$text" --columns id | sed 1d > ids

# Heads taken out: weights of later layers, contexts, states and logits.
status 0 attn run "${m[@]}" --without-head '0.3,2.1-4,4.*' --weights w.npy --context c.npy --hidden h.npy --logits l.npy
ok 'a pass without heads' "$python" - "$model" <<'END'
exec(open('llama.py').read())
ids = [int(i) for i in open('ids')]
out = [(0, 3), (2, 1), (2, 2), (2, 3), (2, 4)] + [(4, h) for h in range(8)]
weights, contexts, x, z = run(ids, out)
assert abs(np.load('w.npy') - weights).max() < 1e-5
assert abs(np.load('c.npy') - contexts).max() < 2e-5
assert (np.load('c.npy')[4] == 0).all()
assert abs(np.load('h.npy')[-1] - x).max() < 5e-5
assert abs(np.load('l.npy') - z).max() < 2e-4
END
status 0 attn run "${m[@]}" --without-head '0.3,2.1-4,4.*' --weights other.npy --threads 3
same 'threads' w.npy other.npy
status 0 attn run "${m[@]}" --without-head 1.2 -o stored
status 0 attn inspect file stored/attention.safetensors
ok 'a result tells' grep -q '_without_heads.*1\.2' out

# The table of all heads: each by itself, the most effect first.
status 0 attn inspect effects "${m[@]}" --json
cp out effects.json
says "the whole model gives token 317, '▁Lily', a probability of 0.9263"
status 0 attn inspect effects "${m[@]}" --next-token she --json
cp out she.json
ok 'each head' "$python" - "$model" <<'END'
exec(open('llama.py').read())
ids = [int(i) for i in open('ids')]
lines = json.load(open('effects.json'))['heads']
assert len(lines) == L * H and len({(x['layer'], x['head']) for x in lines}) == L * H
assert all(a['divergence'] >= b['divergence'] for a, b in zip(lines, lines[1:]))
for line in lines:
    same((line['layer'], line['head']), line, figures(ids, [(line['layer'], line['head'])], 317))
END
status 0 attn inspect effects "${m[@]}" --sort head --tsv --columns layer,head --layer 1,3 --head 0,7
is 'by number, and some' "$(sed 1d out | tr '\t\n' '. ')" '1.0 1.7 3.0 3.7 '
status 0 attn inspect effects "${m[@]}" --next-token '#317' --json
same 'a token by its id' effects.json out
ok 'another token' test "$(cksum < effects.json)" != "$(cksum < she.json)"
status 0 attn inspect effects "${m[@]}" --json --threads 3
same 'threads' effects.json out

# Pruned in the order of that table, and greedily.
status 0 attn inspect effects "${m[@]}" --prune=6 --json
cp out once.json
status 0 attn inspect effects "${m[@]}" --prune=4 --greedy --json --layer 3,4
cp out greedy.json
ok 'curves' "$python" - "$model" <<'END'
exec(open('llama.py').read())
ids = [int(i) for i in open('ids')]
order = [(x['layer'], x['head']) for x in json.load(open('effects.json'))['heads']][::-1]
steps = json.load(open('once.json'))['steps']
assert [(x['layer'], x['head']) for x in steps[1:]] == order[:6] and 'layer' not in steps[0]
for i, step in enumerate(steps):
    assert step['step'] == i and step['left'] == L * H - i
    same(i, step, figures(ids, order[:i], 317))
out = []
for step in json.load(open('greedy.json'))['steps'][1:]:
    left = [(l, h) for l in (3, 4) for h in range(H) if (l, h) not in out]
    tried = {head: figures(ids, out + [head], 317)['divergence'] for head in left}
    out.append((step['layer'], step['head']))
    assert tried[out[-1]] < min(tried.values()) + 1e-7, (out[-1], tried)
    same(out, step, figures(ids, out, 317))
END
status 0 attn inspect effects "${m[@]}" --prune --tsv
is 'all but one' "$(tail -n 1 out | cut -f 1,2)" '39	1'
status 0 attn inspect effects "${m[@]}" --prune=5 -o curve.svg
ok 'a plot' grep -q 'loss in bits a token' curve.svg

# An input has no layers behind: parts of context and output.  Of samples/hand.json, whose head `first`
# attends to the first key and `alike` to all alike, by NumPy from what attn run gives of each.
hand=$root/samples/hand.json
status 0 attn run "$hand" --context all.npy --output whole.npy
status 0 attn run "$hand" --without-head 1 --context c0.npy --output o0.npy
status 0 attn run "$hand" --without-head 0 --context c1.npy --output o1.npy
status 0 attn inspect effects "$hand" --json --sort head
cp out effects.json
ok 'an input' "$python" - "$hand" <<'END'
import json, sys
import numpy as np
a, o = np.load('all.npy'), np.load('whole.npy')
wo = np.array(json.load(open(sys.argv[1]))['wo'], float)
size = np.linalg.norm
for head, line in enumerate(json.load(open('effects.json'))['heads']):
    alone = np.zeros_like(a)
    alone[:, 2 * head:2 * head + 2] = a[:, 2 * head:2 * head + 2]
    assert (np.load(f'c{head}.npy') == alone).all()
    assert abs(np.load(f'o{head}.npy') - alone @ wo).max() < 1e-5
    assert abs(line['context'] - size(alone) / size(a)) < 1e-6
    assert abs(line['output'] - size(alone @ wo) / size(o)) < 1e-6
END

# Encoders predict at masks, translators have two attentions, pictures have classes.
bert=$root/tests/data/models/bert_min_config
status 0 attn inspect effects --model "$bert" --ids 2,5,6,7,3 --tsv
is 'an encoder has no next token' "$(sed 1d out | cut -f 6,8 | sort -u)" '	'
marian=(--model "$root/tests/data/models/marian" --ids 30,31,32,0 --target-ids 240,7,9)
for kind in encoder decoder cross; do
	status 0 attn inspect effects "${marian[@]}" --attention $kind --tsv
	is "heads of $kind" "$(sed 1d out | wc -l)" 12
done
status 0 attn run "${marian[@]}" --attention cross --without-head '1.2' --logits some.npy
status 0 attn run "${marian[@]}" --attention cross --logits all.npy
status 0 attn inspect effects "${marian[@]}" --attention cross --layer 1 --head 2 --json
ok 'a cross-attention' "$python" - <<END
import json
import numpy as np
z, u = np.load('all.npy').astype(float), np.load('some.npy').astype(float)
log = lambda x: x - x.max(-1, keepdims=True) - np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True))
line = json.loads('''$(cat out)''')['heads'][0]
assert abs(line['divergence'] - (np.exp(log(z)) * (log(z) - log(u))).sum(-1).mean() / np.log(2)) < 1e-6
assert abs(line['logit'] - abs(z - u).max()) < 1e-4
END
vit=$root/tests/data/models/vit
status 0 attn inspect effects --model "$vit" --image "$vit/image.png" --tsv
is 'classes' "$(sed 1d out | wc -l)" 12

# What cannot be.
for list in 1 1. .1 1.1.1 1.x 1.3-2 '' , '2.0,,' -1.0 99999999999999999999.0; do
	status 2 attn run "${m[@]}" --without-head="$list"
	says "'--without-head' is '$list', expected LAYER.HEAD, such as 2.0,2.3-5,1.*"
done
status 2 attn run "${m[@]}" --without-head 5.0
says "'--without-head' names layer 5, expected one from 0 to 4"
status 2 attn run "${m[@]}" --without-head 0.6-8
says "'--without-head' names head 8, expected one from 0 to 7"
status 2 attn run "$hand" --without-head 2
says "'--without-head' names head 2, expected one from 0 to 1"
status 2 attn run "$hand" --without-head 1 --weights x.npy
says "'--without-head' changes contexts and what is made of them, and none is asked for"
status 2 attn heatmap "$hand" --without-head 1 -o x.png
says "'--without-head' is of a model: it also requires --model MODEL"
status 2 attn run stored/attention.safetensors --without-head 0 -o x
says "'--without-head' changes contexts, and a stored result has weights alone"
status 2 attn inspect effects stored/attention.safetensors
says 'a stored result has weights alone: give the input it was made from'
status 2 attn inspect effects "$hand" --prune
says "'--prune' is of a model: it also requires --model"
status 2 attn inspect effects "${m[@]}" --greedy
says "'--greedy' is of --prune: it also requires that"
status 2 attn inspect effects "${m[@]}" -o x.png
says 'a plot is of a curve: it also requires --prune'
status 2 attn inspect effects "${m[@]}" --head mean
says 'joins heads, which are taken out one by one here'
status 1 attn inspect effects "${m[@]}" --next-token nowhere
says "'nowhere' is not in the vocabulary"
status 3 attn inspect effects "${m[@]}" --next-token '#512'
says 'token 512 is not among the 512 that the model predicts'
finish
