#!/bin/bash
# Layers as one: rollout and flow, by hand and against products and networks in Python.
. "$(dirname "$0")/lib.sh"
find_numpy 'rollout and flow'
stories=(--model "$root/samples/stories260K")

# Two layers of two tokens.  With A' = A/2 + I/2 the second layer has (1/8 7/8) in row 1 and the first
# (1/4 3/4), so that row 1 of the product is (1/8 + 7/8 1/4, 7/8 3/4); to token 0 flow 1/8 directly, since
# all goes on from there, and 1/4 by token 1, and to token 1 no more than 3/4.
cat > two.json <<'END'
{"axes": "layer", "tokens": ["a", "b"], "weights": [[[[1, 0], [0.5, 0.5]]], [[[1, 0], [0.25, 0.75]]]]}
END
# row N OPTION...: weights of the keys of token `b` in their order
row()
{
	attn inspect token b two.json --top all --tsv "$@" | sed 1d | sort -n -k 6 -t '	' | cut -f 8 | tr '\n' ' '
}
is 'rollout by hand' "$(row --rollout)" '0.34375 0.65625 '
is 'flow by hand' "$(row --flow)" '0.375 0.75 '
is 'one layer' "$(row --rollout --layer 1)" '0.125 0.875 '
is 'its flow' "$(row --flow --layer 1)" '0.125 0.875 '
status 0 attn inspect token b two.json --rollout --tsv
is 'what it is called' "$(sed -n 2p out | cut -f 1)" 'rollout over layers 0 to 1'

# A flow that must go back: what first takes the way of another is sent around.
cat > back.json <<'END'
{"axes": "layer", "weights": [
 [[[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]]],
 [[[0, 1, 0], [0, 0, 1], [0.5, 0.5, 0]]],
 [[[0, 0.5, 0.5], [0.25, 0.5, 0.25], [1, 0, 0]]]]}
END

cat > twin.py <<'END'
import json, subprocess, sys
from collections import deque
import numpy as np
attn, model, flow_too = sys.argv[1], sys.argv[2], True

def max_flow(layers, source, sink):
    """Edmonds and Karp 1972, over nodes (height, token)."""
    rest = {}
    for l, a in enumerate(layers):
        for u in range(len(a)):
            for v in range(len(a)):
                if a[u, v] > 0:
                    rest.setdefault((l + 1, u), {})[l, v] = float(a[u, v])
                    rest.setdefault((l, v), {}).setdefault((l + 1, u), 0.0)
    start, end, total = (len(layers), source), (0, sink), 0
    while True:
        before, queue = {start: None}, deque([start])
        while queue and end not in before:
            node = queue.popleft()
            for other, room in rest.get(node, {}).items():
                if room > 1e-12 and other not in before:
                    before[other] = node
                    queue.append(other)
        if end not in before:
            return total
        way, node = [], end
        while before[node] is not None:
            way.append((before[node], node))
            node = before[node]
        most = min(rest[a][b] for a, b in way)
        for a, b in way:
            rest[a][b] -= most
            rest[b][a] += most
        total += most

def stored(arguments):
    subprocess.run([attn, 'run', *arguments, '--weights', 'stored.npy'], check=True, capture_output=True)
    return np.load('stored.npy').astype(float)

def check(what, arguments, layers):
    n = layers.shape[-1]
    mixed = [x / np.where(x.sum(1, keepdims=True) > 0, x.sum(1, keepdims=True), 1) for x in layers]
    mixed = [x / 2 + np.eye(n) * np.where(x.sum(1, keepdims=True) > 0, .5, 1) for x in mixed]
    product = np.eye(n)
    for x in mixed:
        product = x @ product
    found = stored([*arguments, '--rollout']).reshape(n, n)
    assert abs(found - product).max() < 1e-6, (what, abs(found - product).max())
    assert (found[product == 0] == 0).all()
    flows = np.array([[max_flow(mixed, i, j) for j in range(n)] for i in range(n)])
    found = stored([*arguments, '--flow']).reshape(n, n)
    assert abs(found - flows).max() < 1e-6, (what, abs(found - flows).max())

text = ['--model', model, '--text', 'Once upon a time, there was']
weights = stored(text)
check('mean', text, weights.mean(1))
check('max', [*text, '--head', 'max'], weights.max(1))
check('list', [*text, '--head', '1,3,6'], weights[:, [1, 3, 6]].mean(1))
check('one head', [*text, '--head', '2'], weights[:, 2])
check('layers', [*text, '--layer', '1-3'], weights[1:4].mean(1))
check('some layers', [*text, '--layer', '0,4'], weights[[0, 4]].mean(1))
check('back', ['back.json'], np.array(json.load(open('back.json'))['weights'])[:, 0])
r = np.random.default_rng(3)
for n in range(1, 7):
    w = r.random((4, 2, n, n)) ** 6
    w[r.random(w.shape) < .4] = 0
    np.save('random.npy', w.astype('f4'))
    check(f'random {n}', ['weights=random.npy', '--axes', 'layer'], np.load('random.npy').astype(float).mean(1))
END
ok 'the twin' "$python" twin.py "$ATTN" "$root/samples/stories260K"

# Texts of a batch go by themselves, and threads change nothing.
"$python" -c "
import numpy as np
w = np.random.default_rng(1).random((3, 2, 1, 5, 5)).astype('f4')
np.save('batch.npy', w)
np.save('second.npy', w[:, 1])"
status 0 attn run weights=batch.npy --axes layer,batch --rollout --weights all.npy
status 0 attn run weights=second.npy --axes layer --rollout --weights one.npy
ok 'a batch' "$python" -c "
import numpy as np
assert (np.load('all.npy').reshape(2, 5, 5)[1] == np.load('one.npy').reshape(5, 5)).all()"
for option in --rollout --flow; do
	status 0 attn run "${stories[@]}" --text 'Once upon a time' $option --weights one.npy --threads 1
	status 0 attn run "${stories[@]}" --text 'Once upon a time' $option --weights three.npy --threads 3
	same "threads, $option" one.npy three.npy
done

# Drawn, as a page, with words and as tables of heads; masked where no way leads.
status 0 attn heatmap "${stories[@]}" --text 'Once upon a time' --rollout -o rollout.svg
ok 'a title' grep -q 'rollout over layers 0 to 4, mean of 8 heads' rollout.svg
ok 'masked' grep -q masked rollout.svg
status 0 attn view "${stories[@]}" --text 'Once upon a time' --flow -o page.html
status 0 attn inspect heads "${stories[@]}" --text 'Once upon a time' --rollout --tsv
is 'one line' "$(sed 1d out | wc -l)" 1
status 0 attn inspect token time "${stories[@]}" --text 'Once upon a time' --rollout --words --tsv
status 0 attn heatmap "$root/samples/hand.json" --rollout -o one.png

# What cannot be.
status 2 attn heatmap "$root/samples/translation.json" --rollout -o x.png
says "'--rollout' goes on from layer to layer, for which queries and keys must be the same tokens"
status 2 attn heatmap two.json --rollout --layer mean -o x.png
says "'--rollout' goes over layers, which '--layer mean' would join: give a list of them"
status 2 attn run "${stories[@]}" --text a --rollout --context c.npy
says "'--rollout' and '--context' cannot be combined"
status 2 attn inspect token a "${stories[@]}" --text a --layer 1 --head 1 --rollout --steps
says "'--steps' and '--rollout' cannot be combined"
"$python" -c "
import numpy as np
np.save('signed.npy', np.array([[[[-.5, 1.5], [.5, .5]]]], 'f4'))
np.save('long.npy', np.ones((2, 1, 400, 400), 'f4') / 400)
np.save('longer.npy', np.lib.stride_tricks.as_strided(np.ones(1, 'f4'), (1, 1, 8193, 8193), (0, 0, 0, 0)))"
status 2 attn run weights=long.npy --axes layer --flow --weights x.npy
says "'--flow' solves a network for each pair of tokens, found 400 tokens in 2 layers, expected at most 262144 links"
status 2 attn run weights=longer.npy --axes layer --rollout --weights x.npy
says "'--rollout' keeps a number for each pair of tokens, found 8193 tokens in 1 texts"
status 0 attn run weights=long.npy --axes layer --rollout --weights x.npy
finish
