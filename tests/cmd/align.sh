#!/bin/bash
# Word alignments: links, words, gold standards and their scores, pictures.
. "$(dirname "$0")/lib.sh"

# Two heads; the target's first word is cut in two, and both sides end in a mark.
cat > w.json << 'EOF'
{"weights": [[[0.5,0.25,0.125,0.125],[0.25,0.5,0.125,0.125],[0.125,0.125,0.25,0.5],[0,0,0,1]],
             [[0.5,0.25,0.25,0],[0.25,0.25,0.25,0.25],[0,0.25,0.25,0.5],[0.25,0.25,0.25,0.25]]],
 "tokens": ["▁Kat", "ze", "▁schläft", "</s>"], "source_tokens": ["▁cat", "▁sleeps", "▁now", "</s>"]}
EOF

links() # NAME EXPECTED ARGUMENT...
{
	local name=$1 expected=$2
	shift 2
	status 0 attn align "$@"
	is "$name" "$(cat out)" "$expected"
}

# Rows of words in the mean of both heads: Katze .375 .3125 .1875 .125, schläft .0625 .1875 .25 .5
links 'words' '0-0 2-1' w.json
silent
links 'tokens' '0-0 1-1 2-2' w.json --no-words
links 'a head' '0-0 1-1' w.json --head 1
links 'both heads, tokens' '0-0 1-1 2-2' w.json --head 0,1 --no-words
links 'the largest weights, the first of equal ones' '0-0 1-1' w.json --head max
links 'marks are words' '0-0 3-1 3-2' w.json --keep-special
links 'a null token' '0-0' w.json --null '</s>'
links 'a special token' '0-0 1-1' w.json --special now
links 'indices after it' '0-0 0-1 1-0 1-1' w.json --special cat --method threshold=0.1875
links 'reverse' '0-0 1-0 2-1' w.json --method reverse
links 'mutual' '0-0 2-1' w.json --method mutual
links 'union' '0-0 1-0 2-1' w.json --method union
links 'grow' '0-0 1-0 2-1' w.json --method grow-diag
links 'a threshold' '0-0 1-0 2-1' w.json --method threshold
links 'a higher one' '0-0' w.json --method threshold=0.35
links 'a path, through equal sums by source words' '0-0 1-0 1-1 2-1' w.json --method monotone --no-standardise
links 'target words first' '0-0 0-1 1-2' w.json --method union --reverse
links 'confidence' '0-0:0.375 2-1:0.25' w.json --confidence
links 'confidence of both ways' '0-0:0.5669 2-1:0.378' w.json --confidence --method mutual
links 'a taken-out key' '0-0 2-1' w.json --exclude-token '</s>' --renormalise
links 'ranges' '1-0' w.json --query schläft: --key sleeps:
links 'an empty alignment' '' w.json --method threshold=1
status 0 attn align w.json --method mutual --tsv
printf 'sentence\tsource\tsource_token\ttarget\ttarget_token\tweight\tconfidence\n0\t0\tcat\t0\tKatze\t0.375\t0.5669467\n' > expected
head -2 out > two
same 'a table' expected two
status 0 attn align w.json --jsonl --columns source,target,weight
is 'JSON lines' "$(head -1 out)" '{"source": 0, "target": 0, "weight": 0.375}'
status 0 attn align w.json -o l.json
is 'the ending' "$(jq -r '.links[1].target_token' l.json)" schläft
status 0 attn align w.json --pretty
is 'people' "$(wc -l < out)" 3

# Several inputs are several sentences, and so are batch items; or one.
links 'two sentences' $'0-0 2-1\n0-0 2-1' w.json w.json
printf 'w.json\nw.json\r\n' > list
links 'a list' $'0-0 2-1\n0-0 2-1' --list list
links 'a list from standard input' '0-0 2-1' --list - <<< w.json
printf '{"q": [[[[1]]],[[[-1]]],[[[0]]]], "k": [[[[9],[0]]],[[[9],[0]]],[[[9],[0]]]], "v": [[[[1],[1]]],[[[1],[1]]],[[[1],[1]]]]}' > batch.json
links 'batch items' $'0-0\n1-0\n0-0' batch.json
links 'some of them' '1-0' batch.json --batch 1
printf '{"q": [[[1,0],[0,1]]], "k": [[[0,9],[9,0]]]}' > qk.json
printf '{"v": [[[1],[1]]], "source_tokens": ["a", "b"], "tokens": ["c", "d"]}' > v.json
links 'files of one sentence' '0-1 1-0' qk.json v.json --together
links 'roles are of one sentence' '0-1 1-0' q=qk.json k=qk.json v=v.json source_tokens=v.json tokens=v.json
links 'a setting goes to each' '0-0 0-1' qk.json v.json --together --scale 0
status 2 attn align w.json --list list
says "'--list' gives all inputs"
printf 'w.json\n\nw.json\n' > gap
status 3 attn align --list gap
says 'line 2 is empty'
: > empty
status 3 attn align --list empty
status 4 attn align --list missing
status 4 attn align w.json missing.json
is 'nothing is printed before all is well' "$(cat out)" ''

# Rows of a decoder that reads <s> first are of what they write.
printf '{"q": [[[1,0],[0,1],[1,0]]], "k": [[[9,0],[0,9]]], "v": [[[1],[1]]], "tokens": %s, "source_tokens": ["a", "b"]}' \
	'["<s>", "x", "y"]' > decoder.json
sed 's/<s>/w/' decoder.json > labelled.json
links 'what rows write' '0-0 1-1' decoder.json
says 'rows are of the tokens that they write'
links 'what rows read' '0-1 1-0' decoder.json --rows read
silent
links 'rows as labelled' '0-0 0-2 1-1' labelled.json
silent
links 'rows of labels before them' '0-0 1-1' labelled.json --rows written
status 2 attn align decoder.json --rows both
says "expected 'written' or 'read'"
sed 's/<s>/[CLS]/' decoder.json > encoder.json
links 'an encoder' '0-1 1-0' encoder.json
status 0 attn align --model "$root/samples/aren-transliteration" --text آتشيسون --generate 20 --layer 3 --quiet
is 'a model that writes' "$(cat out)" '0-0 1-1 2-2 3-3 4-4 5-5 6-6'
status 0 attn align --model "$root/samples/aren-transliteration" --text آتشيسون --target achison --no-special --layer 3 --quiet
is 'and reads' "$(cat out)" '0-0 1-1 2-2 3-3 4-4 5-5 6-6'

# Layers: the last unless chosen, several joined.
printf '{"weights": [[[[1,0],[0,1]]],[[[0,1],[1,0]]]]}' > layers.json
links 'the last layer' '0-1 1-0' layers.json
says 'the last of 2 layers'
links 'a layer' '0-0 1-1' layers.json --layer 0
links 'a mean of layers' '0-0 0-1' layers.json --layer 0,1

# Scores, worked by hand: of 0-0 and 2-1, the first is sure, the second possible.
printf '0-0 1-1 2p1\n' > gold
status 0 attn align w.json --gold gold
printf 'links\tsure\tpossible\tfound_sure\tfound_possible\tprecision\trecall\tf1\taer\n2\t2\t3\t1\t2\t1\t0.5\t0.6666667\t0.25\n' > expected
same 'scores' expected out
printf '1 1 1 S\n1 2 2 S\n1 3 2 P\n' > gold.naacl
status 0 attn align w.json --gold gold.naacl
same 'the other format' expected out
printf '1-1 2-2 2?3\n' > gold.reversed
status 0 attn align w.json --gold gold.reversed --gold-first 1 --gold-reverse
same 'from 1, and reversed' expected out
printf '0\t0-0 1-1 2p1\n' > gold.numbered
status 0 attn align w.json --gold gold.numbered -o found
same 'numbered lines' expected out
is 'links beside scores' "$(cat found)" '0-0 2-1'
printf '0-0 1-1 2p1\n2-1\n' > gold.two
status 0 attn align w.json w.json --gold gold.two --each --columns sentence,found_sure,aer
printf 'sentence\tfound_sure\taer\n0\t1\t0.25\n1\t1\t0.33333334\nall\t2\t0.2857143\n' > expected
same 'each sentence, and all' expected out
status 0 attn align w.json --gold gold --method threshold=1 --json --columns links,precision,aer
is 'no links' "$(tr -d '\n' < out)" '{"version": 1, "scores": [  {"links": 0, "precision": null, "aer": 1}]}'
printf '0-0 1-1\n' > gold.heads
printf '{"weights": [[[0,1],[1,0]],[[1,0],[0,1]],[[1,0],[1,0]]]}' > heads.json
status 0 attn align heads.json --gold gold.heads --by-head --columns head,aer
printf 'head\taer\n1\t0\n2\t0.5\n0\t1\n' > expected
same 'heads' expected out
status 0 attn align heads.json --gold gold.heads --by-head --columns head,aer --method monotone
is 'paths of heads' "$(sed -n 2p out)" $'1\t0'
status 0 attn align heads.json --gold gold.heads --by-head --columns head,aer --head 0,2
is 'some heads' "$(wc -l < out)" 3

# Gold standards that do not fit.
status 3 attn align w.json w.json --gold gold
says "'gold' has 1 sentences, and the inputs have more"
status 3 attn align w.json --gold gold.two
says "has 2 sentences, and the inputs have 1"
echo '0-0 3-1' > beyond
status 3 attn align w.json --gold beyond
says "beyond: line 1: source word 3 and target word 1 are linked, and sentence 0 has 3 and 2, counted from 0"
printf '1 1 1\n1 4 1\n' > beyond
status 3 attn align w.json --gold beyond
says 'source word 4 and target word 1 are linked, and sentence 1 has 3 and 2, counted from 1'
echo '0-0 1:1' > bad
status 3 attn align w.json --gold bad
says "bad: line 1: '1:1' is no link"
status 4 attn align w.json --gold missing
printf '0-0\n0-0\n' > gold.small
status 3 attn align w.json heads.json --gold gold.small --by-head
says 'has 1 layers of 3 heads, and those before have 1 of 2'

# What cannot go together, and what is not used, is refused.
while read -r message; do
	read -r options
	status 2 attn align w.json $options
	says "$message"
done << 'EOF'
it also requires --gold
--each
it also requires --gold
--by-head
it also requires --gold
--gold-reverse
it also requires --gold
--gold-first 0
'--each' and '--by-head' cannot be combined
--gold gold --each --by-head
'--by-head' is of each head
--gold gold --by-head --head mean
'--by-head' scores each head
--gold gold --by-head -o x
only written by -o FILE
--gold gold --confidence
a table has it as a column
--confidence --tsv
also requires --method monotone
--median 3
also requires --method monotone
--no-standardise
an odd number
--method monotone --median 4
'--null' and '--method monotone'
--method monotone --null x
expected 'argmax'
--method best
expected 'argmax'
--method argmax=1
a weight from 0 to 1
--method threshold=2
also requires --draw
--cell 20
also requires --no-words
--draw x.png --markers keep
'--no-words' and '--words'
--words --no-words
ends in '.gif'
--draw x.gif
also requires --renormalise
--exclude-first
EOF
status 0 attn align w.json --null nobody --special none
says "'--null nobody' changes nothing"
says "'--special none' changes nothing"
status 2 attn align w.json -o w.json
says 'would be replaced'
status 2 attn align w.json --draw w.json
status 2 attn align w.json w.json --draw x.png
says "'--draw' is of one sentence"
status 2 attn align
status 4 attn align w.json -o missing/x
[ ! -w /dev/full ] || status 4 attn align w.json -o /dev/full

# Pictures: squares and frames, which a legend tells.
if attn align w.json --draw plain.svg --quiet > out && attn heatmap w.json --head mean --words -o heat.svg --quiet; then
	ok 'a legend of links' grep -q 'squares are links' plain.svg
	status 0 attn align w.json --gold gold --draw marked.svg
	ok 'a legend of gold links' grep -q 'frames are links of the gold standard' marked.svg
	colour='#e05a10'
	is 'a heatmap has no marks' "$(grep -o "$colour" heat.svg | wc -l)" 0
	is 'two squares' "$(grep -o "$colour" plain.svg | wc -l)" 2
	is 'and two frames of 4 sides, one of 12 dashes' "$(grep -o "$colour" marked.svg | wc -l)" 22
	status 0 attn align w.json --draw small.svg --cell 4
	ok 'cells too small' grep -q 'too small for marks' small.svg
	status 0 attn align w.json --draw path.png --method monotone --median 3
	status 0 attn align batch.json --batch 2 --draw item.pdf
fi

# A model, of whose one text parts are aligned; other numbers of threads.
status 0 attn align --model "$root/samples/stories260K" --text 'One day, a cat' --key ':,' --query ',:' --layer 2
is 'a model' "$(wc -l < out)" 1
status 0 attn align w.json w.json --threads 1 -o one
status 0 attn align w.json w.json --threads 4 -o four
same 'threads' one four

# NumPy finds the same links in random weights, and the same scores.
for candidate in ${PYTHON:-} python3 /usr/bin/python3; do
	"$candidate" -c 'import numpy' 2> /dev/null && python=$candidate && break
done
cat > twin.py << 'EOF'
import subprocess, sys
import numpy as np
attn, rng = sys.argv[1], np.random.default_rng(7)

def dtw(x):
    """Least cost, in float64, by the steps and ties of Whisper's timing.py."""
    n, m = x.shape
    cost, trace = np.full((n + 1, m + 1), np.inf), np.zeros((n + 1, m + 1), int)
    cost[0, 0] = 0
    for j in range(1, m + 1):
        for i in range(1, n + 1):
            c = cost[i - 1, j - 1], cost[i - 1, j], cost[i, j - 1]
            t = 0 if c[0] < c[1] and c[0] < c[2] else 1 if c[1] < c[0] and c[1] < c[2] else 2
            cost[i, j], trace[i, j] = x[i - 1, j - 1] + c[t], t
    trace[0, :], trace[:, 0] = 2, 1
    i, j, path = n, m, set()
    while i > 0 or j > 0:
        path.add((j - 1, i - 1))
        i, j = i - (trace[i, j] != 2), j - (trace[i, j] != 1)
    return path

def median(x, width):
    half = width // 2
    if x.shape[-1] <= half:
        return x
    padded = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(half, half)], mode='reflect')
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, width, axis=-1), axis=-1)

def grow(a, b):
    both, left = a & b, sorted(a | b)
    near = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    free = lambda s, t: (all(s != x for x, _ in both), all(t != y for _, y in both))
    more = True
    while more:
        more = False
        for s, t in left:
            if (s, t) not in both and any(free(s, t)) and any((s + i, t + j) in both for i, j in near):
                both.add((s, t))
                more = True
    for side in a, b:
        for s, t in sorted(side):
            if all(free(s, t)):
                both.add((s, t))
    return both

def expected(w, method):
    x = w.mean(0)
    a = {(int(k), q) for q, k in enumerate(x.argmax(1))}
    b = {(k, int(q)) for k, q in enumerate(x.argmax(0))}
    if method == 'monotone':
        return dtw(-x)
    if method[:2] == 'z-':
        deviation = w.std(1, keepdims=True)
        deviation[deviation == 0] = 1
        return dtw(-median((w - w.mean(1, keepdims=True)) / deviation, int(method[2:])).mean(0))
    return {'argmax': a, 'reverse': b, 'mutual': a & b, 'union': a | b, 'grow-diag': grow(a, b),
            'threshold=0.15': {(k, q) for q, k in zip(*np.nonzero(x >= 0.15))}}[method]

for case in range(12):
    heads, queries, keys = rng.integers(1, 4), rng.integers(1, 12), rng.integers(1, 12)
    w = np.exp(rng.normal(size=(heads, queries, keys)) * 2)
    w = (w / w.sum(-1, keepdims=True)).astype(np.float32)
    np.save('twin.npy', w)
    gold = {(int(rng.integers(keys)), int(rng.integers(queries))): bool(rng.integers(2)) for _ in range(9)}
    open('twin.gold', 'w').write(' '.join('%d%s%d' % (s, 'p-'[sure], t) for (s, t), sure in gold.items()) + '\n')
    for method in 'argmax', 'reverse', 'mutual', 'union', 'grow-diag', 'threshold=0.15', 'monotone', 'z-1', 'z-5':
        options = (['--method', 'monotone', '--median', method[2:]] if method[:2] == 'z-' else
                   ['--method', method] + ['--no-standardise'] * (method == 'monotone'))
        wanted = expected(w.astype(float), method)
        command = [attn, 'align', 'weights=twin.npy', '--quiet', *options]
        found = subprocess.run(command, capture_output=True, text=True).stdout
        line = ' '.join('%d-%d' % link for link in sorted(wanted)) + '\n'
        assert found == line, (case, method, found, line)
        scores = subprocess.run(command + ['--gold', 'twin.gold', '--columns', 'precision,recall,aer'],
                                capture_output=True, text=True).stdout.split('\n')[1].split('\t')
        sure = {link for link in gold if gold[link]}
        hits, certain = len(wanted & set(gold)), len(wanted & sure)
        figures = (hits / len(wanted) if wanted else None, certain / len(sure) if sure else None,
                   1 - (hits + certain) / (len(wanted) + len(sure)) if wanted or sure else None)
        for a, b in zip(scores, figures):
            assert a == '' if b is None else abs(float(a) - b) < 1e-6, (case, method, scores, figures)
EOF
if [ -n "${python:-}" ]; then
	ok 'as NumPy has it' "$python" twin.py "$ATTN"
else
	skip 'NumPy: no python3 here has it'
fi

# Trained models: a transliterator, and one of chemistry, whose atoms NumPy aligned by its stored weights.
real=$root/../shared/real/aren-transliteration chemistry=$root/../shared/models/trained/rxnmapper-albert
if [ -d "$real" ]; then
	status 0 attn align "$real/achison-layer3.safetensors" "$real/atzmon-layer3.safetensors" --method mutual
	printf '0-0 1-1 2-2 3-3 4-4 5-5 6-6\n0-0 1-1 2-2 3-3 4-4 5-5\n' > expected
	same 'letters' expected out
else
	skip 'a transliterator: ../shared/real is not there'
fi
if [ -d "$chemistry" ]; then
	status 0 attn align --model "$chemistry" --text 'CC[O-]~[Na+].BrCC>>CCOCC' --layer 10 --head 5 --key ':>>' \
		--query '>>:' --special '>>'
	is 'atoms' "$(cat out)" '0-4 1-1 1-3 2-2 3-0'
else
	skip 'atoms: ../shared/models is not there'
fi

finish
