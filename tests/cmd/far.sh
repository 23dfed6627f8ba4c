#!/bin/bash
# attn inspect far: its tables against NumPy over the weights that attn run writes, its forms, and
# what it refuses.
. "$(dirname "$0")/lib.sh"

cat > w.json << 'JSON'
{"tokens": ["a", "b", "c", "d"], "weights": [
 [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25, 0.25, 0.5, 0], [0.625, 0.125, 0, 0.25]],
 [[0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0]]]}
JSON
table()
{
	printf '%b\n' "$@" > expected
}

# By hand.
status 0 attn inspect far w.json --windows 3,1
table 'layer\thead\twindow\tqueries\tlost\thalf\tmost\tquery\tquery_token' \
	'0\t0\t1\t4\t0.4375\t0.25\t0.75\t3\td' '0\t0\t3\t4\t0.15625\t0.25\t0.625\t3\td' \
	'0\t1\t1\t4\t0.5\t0.5\t1\t0\ta' '0\t1\t3\t4\t0.5\t0.5\t1\t0\ta'
same 'losses' expected out
status 0 attn inspect far w.json --windows 2 --links --top 2
table 'layer\thead\trank\tquery\tquery_token\tkey\tkey_token\tdistance\tweight' \
	'0\t0\t1\t3\td\t0\ta\t3\t0.625' '0\t0\t2\t2\tc\t0\ta\t2\t0.25' '0\t1\t1\t0\ta\t3\td\t3\t1' '0\t1\t2\t3\td\t0\ta\t3\t1'
same 'links that a window would lose, equal ones by query' expected out
status 0 attn inspect far w.json --links --distance 2 --head 0 --json
is 'as JSON' "$(cat out)" '{"version": 1, "distance": 2, "links": [
  {"layer": 0, "head": 0, "rank": 1, "query": 3, "query_token": "d", "key": 0, "key_token": "a", "distance": 3, "weight": 0.625}
]}'
status 0 attn inspect far w.json --head 1 --windows 4 --jsonl
is 'nothing is lost' "$(cat out)" \
	'{"layer": 0, "head": 1, "window": 4, "queries": 4, "lost": 0, "half": 0, "most": 0, "query": null, "query_token": null}'
status 0 attn inspect far w.json --columns head,window,lost
is 'windows by default' "$(cut -f 2 out | tr '\n' ' ')" 'window 1 2 1 2 '
status 0 attn inspect far w.json --pretty
is 'a line a head' "$(cat out)" 'share of weight that a window of so many tokens would lose
head  1      2      strongest link beyond 1
   0  0.438  0.250  d -> a 0.625, 3 away
   1  0.500  0.500  a -> d 1.000, 3 away'

# Places are those of the whole text.
status 0 attn inspect far w.json --head 0 --key 0:2 --query 3: --windows 3
is 'of some rows' "$(sed -n 2p out | cut -f 4-)" "$(printf '1\t0.8333333\t1\t0.8333333\t3\td')"

# A window W loses what window=W-1,W-1 masks, and then nothing.
status 0 attn inspect far "$root/samples/hand.json" --causal --window 1,1 --windows 1,2 --columns head,window,lost --quiet
is 'what is masked is not lost' "$(awk '$2 == 2 { print $3 }' out | tr '\n' ' ')" '0 0 '
is 'a smaller window loses some' "$(awk '$2 == 1 && $3 > 0' out | wc -l)" 2
status 0 attn inspect far "$root/samples/hand.json" --window 1,0
says "'--window' masks keys before anything is looked at"

# The same whatever the threads.
long_inputs
for threads in 1 3; do
	attn inspect far long.json --quiet --threads $threads > losses$threads
	attn inspect far long.json --quiet --threads $threads --links --distance 20 > links$threads
done
same 'losses by any number of threads' losses1 losses3
same 'links by any number of threads' links1 links3

# NumPy over the same weights.
python=
for candidate in ${PYTHON:-} python3 /usr/bin/python3; do
	if "$candidate" -c 'import numpy' 2> /dev/null; then
		python=$candidate
		break
	fi
done
cat > twin.py << 'END_TWIN'
import csv, sys
import numpy as np

w = np.load('w.npy').astype(float)
w = w.reshape(-1, *w.shape[-2:])
past, windows, distance, top = int(sys.argv[1]), [1, 7, 64, 200], int(sys.argv[2]), 15
apart = abs(np.arange(w.shape[1])[:, None] + past - np.arange(w.shape[2]))
losses = {(int(r['head']), int(r['window'])): r for r in csv.DictReader(open('losses'), delimiter='\t')}
links = [r for r in csv.DictReader(open('links'), delimiter='\t')]
assert len(losses) == len(w) * len(windows)
for h, rows in enumerate(w):
    p = rows / rows.sum(-1, keepdims=True)
    for window in windows:
        lost, r = (p * (apart >= window)).sum(-1), losses[h, window]
        for name, value in ('lost', lost.mean()), ('most', lost.max()):
            assert abs(float(r[name]) - value) < 1e-6, (h, window, name, r, value)
        assert abs(float(r['half']) - (lost > 0.5).mean()) < 2 / len(p), (h, window, r)
        if lost.max() > 0:
            assert lost[int(r['query'])] > lost.max() - 1e-7, (h, window, r)
    far = np.where(apart > distance, rows, 0).ravel()
    order = [i for i in np.argsort(-far, kind='stable')[:top] if far[i] > 0]
    mine = [r for r in links if int(r['head']) == h]
    assert [divmod(int(i), rows.shape[1]) for i in order] == [(int(r['query']), int(r['key'])) for r in mine], h
    assert all(int(r['distance']) == apart[int(r['query']), int(r['key'])] for r in mine)
    assert [np.float32(r['weight']) for r in mine] == [np.float32(far[i]) for i in order]
END_TWIN
if [ -z "$python" ]; then
	skip 'NumPy: no python3 here has it'
else
	"$python" -c '
import numpy as np
r = np.random.default_rng(5)
f = lambda *s: r.standard_normal(s).astype("f4")
np.savez("x.npz", q=f(3, 300, 16) * 2, k=f(3, 300, 16), v=f(3, 300, 8))
np.savez("cache.npz", q=f(2, 70, 8), k=f(2, 70, 8), v=f(2, 70, 8), past_k=f(2, 600, 8), past_v=f(2, 600, 8))'
	while read -r past distance input options; do
		attn run $input $options --weights w.npy --quiet
		attn inspect far $input $options --windows 1,7,64,200 --quiet > losses
		attn inspect far $input $options --links --distance $distance --top 15 --quiet > links
		ok "NumPy: $input $options" "$python" twin.py $past $distance
	done << 'END_CASES'
0 40 x.npz
0 100 x.npz --causal
0 0 x.npz --normalizer sparsemax
600 300 cache.npz --causal
END_CASES
	attn run x.npz --causal -o stored --quiet > listed
	attn inspect far x.npz --causal --quiet > losses
	status 0 attn inspect far stored/attention.safetensors --quiet
	same 'a stored result' losses out
fi

status 0 attn inspect far --model "$root/samples/stories260K" --text 'Once upon a time' --windows 2 --columns layer,head,lost
is 'a model: a line a head' "$(wc -l < out)" 41

# What it refuses.
status 2 attn inspect far "$inputs/cross.json" --quiet
says "'inspect far' is for self-attention, found cross-attention"
for windows in 0 '' 1, 2,2 -1 x 99999999999999999999 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33; do
	status 2 attn inspect far w.json --windows "$windows"
	says "'--windows' is '$windows', expected"
done
status 0 attn inspect far w.json --windows 18446744073709551615
status 0 attn inspect far w.json --links --distance 18446744073709551615
is 'no link is so long' "$(wc -l < out)" 1
status 2 attn inspect far w.json --top 3
says "it also requires --links"
status 2 attn inspect far w.json --links --top 0
status 2 attn inspect far w.json --links --windows 3 --distance 4
says "'--windows' and '--distance' both say which links to list"
status 2 attn inspect far w.json --distance 4 --tsv
status 2 attn inspect far w.json --columns lots
status 2 attn inspect far
finish
