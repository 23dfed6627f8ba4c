#!/bin/bash
# attn compare against NumPy: its figures, and the worked example of attn-compare(1).
. "$(dirname "$0")/lib.sh"
find_numpy
if [ -z "$python" ]; then
	skip 'NumPy: no python3 here has it'
	finish
fi
mkdir bin
printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v "$python")" > bin/python3
ln -s "$ATTN" bin/attn
chmod +x bin/python3
PATH=$scratch/bin:$PATH

# The literal block of attn-compare(1) that follows the words.
block()
{
	sed -n "/$1/,/^\\.Ed/p" "$root/man/attn-compare.1" | sed -e '1,/^\.Bd/d' -e '/^\.Ed/d' -e 's/\\-/-/g' -e 's/\\&//g'
}
block 'Pa attention.py :' > attention.py
block 'Pa check.sh :' > check.sh
status 0 bash -c '. ./check.sh'
is 'lines' "$(cut -f 1 differences.tsv | sort | uniq -c | xargs)" '4 context 4 scores 4 weights 1 what'
for list in '--what weights --top 10 --pretty' '--what weights -o difference.png'; do
	ok "attn-compare(1) has $list" grep -qF -- "attn compare case.npz mine.npz --causal $list" <(sed 's/\\-/-/g' "$root/man/attn-compare.1")
	status 0 attn compare case.npz mine.npz --causal $list
done

# A scale from the width of all heads, keys that a query may not see, and what is no result.
cp attention.py right.py
sed 's/np.sqrt(size)/np.sqrt(heads * size)/' right.py > attention.py
status 1 bash -c '. ./check.sh'
says "$(block 'likewise for contexts and scores' | sed 's/, at most.*//')"
sed 's/bool), 1)/bool), 2)/' right.py > attention.py
status 1 bash -c '. ./check.sh'
says 'at most by inf'
sed 's/context=weights @ v/context=(weights @ v).swapaxes(0, 1)/' right.py > attention.py
status 3 bash -c '. ./check.sh'
says 'it looks like queries x heads x e'
sed 's/weights=weights/weights=weights.swapaxes(1, 2)/' right.py > attention.py
status 1 bash -c '. ./check.sh'
sed 's/weights @ v)/weights @ v * np.nan)/' right.py > attention.py
status 3 bash -c '. ./check.sh'
says "'context"
# By its context alone, heads side by side, with an axis of a batch of one in front.
sed 's/^np.savez("mine.npz".*/np.save("context.npy", (weights @ v).swapaxes(0, 1).reshape(1, tokens, -1))/' right.py > attention.py
python3 attention.py
status 0 attn compare q=case.npz:q k=case.npz:k v=case.npz:v --causal -b context=context.npy --tolerance 2e-6,1e-5
is 'a line a head' "$(wc -l < out)" 5

# As scaled_dot_product_attention gives it: (batch items, heads, queries, e).
for items in 1 3; do
	"$python" - $items <<'END'
import sys
import numpy as np
rng = np.random.default_rng(3)
q, k, v = rng.standard_normal((3, int(sys.argv[1]), 2, 5, 4), dtype=np.float32)
e = np.exp(q.astype(float) @ k.swapaxes(-1, -2) / 2)
for name, array in dict(q=q, k=k, v=v, context=e / e.sum(-1, keepdims=True) @ v).items():
    np.save(name + '.npy', array)
END
	status 0 attn compare q=q.npy k=k.npy v=v.npy -b context=context.npy --tolerance 2e-6,1e-5
	is "$items items" "$(wc -l < out)" $((1 + 2 * items))
	status 0 attn compare q=q.npy k=k.npy v=v.npy --kernel-b scalar --what weights,context --tolerance 2e-6,1e-5
	status 1 attn compare q=q.npy k=k.npy v=v.npy --scale 0.4 -b context=context.npy --tolerance 2e-6,1e-5
done

# Every figure again, of rectangular attention with batch items: in float64 from the same float32 numbers.
cat > twin.py << 'END'
import sys
import numpy as np

rng = np.random.default_rng(7)
shape = (2, 3, 150, 9)                      # batch items, heads, queries, keys
a, b = (rng.dirichlet(np.ones(9) / 3, shape[:3]).astype(np.float32) for _ in range(2))
a[0, 1, 5] = 0                              # a row that attends to nothing
b[1, 2, 7, 3:] = 0
c, d = (rng.standard_normal((2, 150, 12)).astype(np.float32) for _ in range(2))
if sys.argv[1] == 'make':
    np.savez('a.npz', weights=a, context=c, output=c[..., :5])
    np.savez('b.npz', weights=b, context=d, output=d[..., :5])
    sys.exit()

def divergence(p, m):
    return np.where(p > 0, p * np.log2(np.where(p > 0, p, 1) / np.where(m > 0, m, 1)), 0).sum(-1)

def line(what, head, x, y, item):
    off = np.abs(x.astype(float) - y)
    query, column = np.unravel_index(off.argmax(), off.shape)
    beyond = (off > 0.1 + 0.5 * np.abs(y.astype(float))).sum()
    js = ['', '', '']
    if what == 'weights':
        with np.errstate(invalid='ignore'):
            p, q = (t / t.sum(-1, keepdims=True, dtype=float) for t in (x.astype(float), y.astype(float)))
        both = np.isfinite(p[:, 0]) & np.isfinite(q[:, 0])
        m = (p + q) / 2
        with np.errstate(invalid='ignore'):
            distance = np.sqrt((divergence(p, m) + divergence(q, m)) / 2)
        distance[~both] = -1
        js = [distance.max(), distance.argmax(), distance[both].mean()]
    keys = [column, ''] if what == 'weights' else ['', column]
    return [what, head, off.max(), query, *keys, off.mean(), *js, beyond, item]

expected = [line('weights', h, a[i, h], b[i, h], i) for i in range(2) for h in range(3)]
expected += [line('context', h, c[i][:, 4 * h:4 * h + 4], d[i][:, 4 * h:4 * h + 4], i) for i in range(2) for h in range(3)]
expected += [line('output', '', c[i][:, :5], d[i][:, :5], i) for i in range(2)]
lines = [l.rstrip('\n').split('\t') for l in open(sys.argv[1])][1:]
assert len(lines) == len(expected), len(lines)
for found, want in zip(lines, expected):
    for f, w in zip(found, want):
        assert f == w if isinstance(w, str) else f != '' and abs(float(f) - w) <= 1e-7 * abs(w), (found, want)

# The five largest of weights, in order.
cells = np.abs(a.astype(float) - b)
best = np.argsort(-cells, axis=None, kind='stable')[:5]
for found, at in zip([l.split() for l in open(sys.argv[2])][1:], best):
    item, head, query, key = np.unravel_index(at, cells.shape)
    assert [int(x) for x in found[:4]] == [item, head, query, key], (found, item, head, query, key)
    assert np.float32(found[4]) == a[item, head, query, key] and np.float32(found[5]) == b[item, head, query, key]
END
"$python" twin.py make
columns=what,head,largest,query,key,component,mean,js_largest,js_query,js_mean,beyond,batch
status 1 attn compare a.npz b.npz --axes batch --tolerance 0.1,0.5 --columns $columns
cp out table
says 'numbers of outputs differ by more than 0.1 + 0.5 |b|'
status 0 attn compare a.npz b.npz --axes batch --what weights --top 5 --columns batch,head,query,key,a,b
ok 'as NumPy has it' "$python" twin.py table out
for threads in 2 7; do
	is "$threads threads" "$(attn compare a.npz b.npz --axes batch --columns $columns --tolerance 0.1,0.5 --threads $threads 2> /dev/null)" "$(cat table)"
done
finish
