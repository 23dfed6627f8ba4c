#!/bin/bash
# attn inspect path: by hand, and against all paths in Python.
. "$(dirname "$0")/lib.sh"
find_numpy 'paths of links'

# From c: 0.6 to b leads on by 0.5 at most, to 0.3; 0.4 to a by 0.9, to 0.36.
cat > three.json <<'END'
{"axes": "layer", "tokens": ["a", "b", "c"], "weights": [
 [[[0.9, 0.1, 0], [0.5, 0.5, 0], [0, 0, 1]]],
 [[[1, 0, 0], [0.5, 0.5, 0], [0.4, 0.6, 0]]]]}
END
# way OPTION...: the keys of the path of c, and its product
way() { attn inspect path c three.json --columns key_token,product "$@" | sed 1d | awk -F '\t' '{ printf "%s %.6g;", $1, $2 }'; }
is 'the largest product' "$(way)" 'a 0.4;a 0.36;'
is 'the largest at each step' "$(way --greedy)" 'b 0.6;a 0.3;'
is 'to a token' "$(way --to b)" 'b 0.6;b 0.3;'
is 'one layer' "$(way --layer 1)" 'b 0.6;'
status 1 attn inspect path c three.json --to c
says "no links lead from 'c' down to 'c'"
status 0 attn inspect path '#2' three.json --json
is 'the same by its index' "$(jq -r '[.links[].key_token] | join(" ")' out)" 'a a'

cat > twin.py <<'END'
import itertools, json, subprocess, sys
import numpy as np
attn, model = sys.argv[1:3]
def run(*arguments):
    return subprocess.run([attn, *map(str, arguments)], check=True, capture_output=True, text=True).stdout
def best(layers, start, ends):
    """layers (L, H, N, N): the largest product over all sequences of heads and keys, by brute force"""
    L, H, N, _ = layers.shape
    top = layers.max(1)
    return max(np.prod([top[L - 1 - i][([start] + list(p))[i], p[i]] for i in range(L)])
               for p in itertools.product(range(N), repeat=L) if p[-1] in ends)
def check(what, arguments, layers, options=()):
    L, H, N, _ = layers.shape
    ends = [int(options[options.index('--to') + 1][1:])] if '--to' in options else range(N)
    for start in range(N):
        expected = best(layers, start, ends)
        found = subprocess.run([attn, 'inspect', 'path', f'#{start}', *map(str, arguments), *options, '--json'],
                               capture_output=True, text=True)
        if expected == 0:
            assert found.returncode == 1, (what, start)
            continue
        links = json.loads(found.stdout)['links']
        assert [x['layer'] for x in links] == list(range(L))[::-1] and links[0]['query'] == start
        product = 1
        for above, below in zip(links, links[1:]):
            assert above['key'] == below['query']
        for x in links:
            w = layers[x['layer'], x['head'] if isinstance(x['head'], int) else 0, x['query'], x['key']]
            product *= w
            assert abs(x['weight'] - w) < 1e-6 and abs(x['product'] - product) < 1e-5, (what, x, w)
        assert abs(product - expected) < 1e-5 and links[-1]['key'] in ends, (what, start, product, expected)
r = np.random.default_rng(2)
for n in range(1, 5):
    w = r.random((3, 2, n, n)) ** 3
    w[r.random(w.shape) < .3] = 0
    np.save('w.npy', w.astype('f4'))
    w = np.load('w.npy').astype(float)
    check(('mean', n), ['weights=w.npy', '--axes', 'layer'], w.mean(1, keepdims=True))
    check(('max', n), ['weights=w.npy', '--axes', 'layer', '--head', 'max'], w.max(1, keepdims=True))
    check(('heads', n), ['weights=w.npy', '--axes', 'layer', '--by-head'], w)
    check(('to', n), ['weights=w.npy', '--axes', 'layer', '--by-head'], w, ['--to', f'#{n - 1}'])
text = ['--model', model, '--text', 'Once upon a']
run('run', *text, '--weights', 'w.npy')
check('a model', [*text, '--by-head'], np.load('w.npy').astype(float))
run('run', *text, '--norms', '--weights', 'w.npy')
check('by norms', [*text, '--by-head', '--norms'], np.load('w.npy').astype(float))
END
ok 'the twin' "$python" twin.py "$ATTN" "$root/samples/stories260K"

stories=(--model "$root/samples/stories260K" --text 'Once upon a time')
for option in --by-head --greedy; do
	status 0 attn inspect path time "${stories[@]}" $option --tsv --threads 1
	cp out one
	status 0 attn inspect path time "${stories[@]}" $option --tsv --threads 3
	same "threads, $option" one out
done
status 0 attn inspect path '#1' "$root/samples/hand.json" --tsv
is 'an input is one layer' "$(sed 1d out | wc -l)" 1

# What cannot be.
status 2 attn inspect path blanc "$root/samples/translation.json"
says 'a path goes on from layer to layer, for which queries and keys must be the same tokens'
status 2 attn inspect path time "${stories[@]}" --greedy --to Once
says "'--greedy' and '--to' cannot be combined"
status 2 attn inspect path time "${stories[@]}" --layer mean
says "a path goes over layers, which '--layer mean' would join"
status 2 attn inspect path time "${stories[@]}" --by-head --head mean
says "'--by-head' and '--head mean' cannot be combined"
status 1 attn inspect path never "${stories[@]}"
says "never"
status 2 attn inspect path
says "no token: give a token or '#index'"
finish
