#!/bin/bash
# attn inspect heads --scaling, against numbers that were worked out by hand, and NumPy.
. "$(dirname "$0")/lib.sh"

# column NAME [LINE]: a cell of out, of the first line unless LINE says which
column()
{
	awk -F '\t' -v name="$1" -v line="${2:-1}" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i }
		NR == line + 1 { print $c }' out
}

# figures LINE: its figures with and without the scale, to five digits
figures()
{
	awk -F '\t' -v line="$1" 'NR == line + 1 { for (i = 6; i <= 15; i++) printf "%s%.5g", (i > 6 ? " " : ""), $i }' out
}

# d = 4, so the scale is 1/2.  Products of the query 0 and 2 ln 3, scaled 0 and ln 3: weights 1/4 and 3/4, and
# without the scale 1/10 and 9/10.
#   variance  (ln 3)^2 / 4 = 0.30174, 4 times that without
#   entropy   0.25 log2 4 + 0.75 log2 4/3 = 0.81128;  0.1 log2 10 + 0.9 log2 10/9 = 0.46900
#   gradient  3/16 of either key, 9/100 without; jacobian: of both
cat > hand.json << 'JSON'
{"q": [[[2, 0, 0, 0]]], "k": [[[0, 1, 1, 1], [1.0986122886681098, 0, 0, 0]]]}
JSON
status 0 attn inspect heads --scaling hand.json
silent
is 'by hand' "$(figures 1)" '0.30174 0.81128 0.75 0.1875 0.375 1.2069 0.469 0.9 0.09 0.18'
is 'd and its scale' "$(column size) $(column scale) $(column queries)" '4 0.5 1'

# The mask takes a key from one query and all from the other; softcap and mask go for both.
cat > masked.json << 'JSON'
{"q": [[[2, 0, 0, 0], [1, 1, 1, 1]]], "k": [[[0, 1, 1, 1], [1.0986122886681098, 0, 0, 0], [9, 9, 9, 9]]],
 "mask": [[true, true, false], [false, false, false]]}
JSON
status 0 attn inspect heads --scaling masked.json
is 'masked keys do not count' "$(figures 1)" '0.30174 0.81128 0.75 0.1875 0.375 1.2069 0.469 0.9 0.09 0.18'
is 'masked queries do not count' "$(column queries)" 1
printf '{"q": [[[1, 0]]], "k": [[[1, 0], [0, 1]]], "mask": [[false, false]]}' > none.json
status 0 attn inspect heads --scaling none.json
is 'nothing to say' "$(cut -f 5- out | tail -n 1 | tr '\t' ' ')" '0          '
status 0 attn inspect heads --scaling none.json --json
ok 'nothing to say in JSON' grep -q '"queries": 0, "variance": null' out

# What is not scaled, and another normaliser.
status 0 attn inspect heads --scaling hand.json --scale 1
says 'scores are not scaled here'
is 'the same twice' "$(figures 1)" '1.2069 0.469 0.9 0.09 0.18 1.2069 0.469 0.9 0.09 0.18'
status 0 attn inspect heads --scaling hand.json --temperature 0.5
is 'a temperature is part of the scale' "$(figures 1)" '1.2069 0.469 0.9 0.09 0.18 1.2069 0.469 0.9 0.09 0.18'
says 'nothing changes without it'
status 0 attn inspect heads --scaling --sizes 1,4
silent
status 0 attn inspect heads --scaling hand.json --normalizer sparsemax
is 'no gradient but of softmax' "$(column gradient)$(column unscaled_jacobian)" ''

# Batch, heads, causal, forms.
long_inputs
status 0 attn inspect heads --scaling batches.json --causal
cp out all
is 'batch and heads' "$(cut -f 1,2,16 out | tail -n +2 | tr '\t\n' ',;')" '0,0,0;0,1,0;0,2,0;0,0,1;0,1,1;0,2,1;'
status 0 attn inspect heads --scaling batches.json --causal --head 1 --batch 1
is 'chosen' "$(tail -n 1 out)" "$(sed -n 6p all)"
status 0 attn inspect heads --scaling batches.json --causal --threads 1
same 'one thread' out all
status 0 attn inspect heads --scaling hand.json --columns size,unscaled_entropy
is 'columns' "$(tr '\t\n' ',;' < out)" 'size,unscaled_entropy;4,0.4689956;'
status 0 attn inspect heads --scaling hand.json --jsonl --columns size,largest
is 'JSON lines' "$(cat out)" '{"size": 4, "largest": 0.75}'
status 0 attn inspect heads --scaling hand.json --pretty
is 'text' "$(sed -n 2p out | tr -s ' ')" '0 4 0.5 0.3017 1.207 0.8113 0.469 0.75 0.9 0.1875 0.09 0.375 0.18'
attn inspect token '#0' hand.json --steps --json > steps.json
ok 'as --steps has it' grep -q '"variance": 0.30173\(.*\)"largest_weight": 0.75, "gradient": 0.1875}' steps.json

# A model: each layer.
model=$root/samples/stories260K
status 0 attn inspect heads --scaling --model "$model" --text 'Once upon a time' --layer 1-2
is 'layers' "$(cut -f 1,3 out | sort -u | tr '\t\n' ',;')" '1,8;2,8;layer,size;'
is 'variance without: d times' "$(awk -F '\t' 'NR > 1 { printf "%.3f\n", $11 / $6 }' out | sort -u)" 8.000

# What cannot be.
attn run hand.json --weights w.npy 2> err
status 2 attn inspect heads --scaling weights=w.npy
says "'weights=w.npy' is a stored result: '--scaling' needs the input it was made from"
for option in --similar --rule --words '--query 0' --exclude-first '--head mean'; do
	# shellcheck disable=SC2086
	status 2 attn inspect heads --scaling hand.json $option
	says "'--scaling' cannot be combined"
done
status 2 attn inspect heads hand.json --sizes 4,16
says "'--sizes' also requires '--scaling'"
status 2 attn inspect heads --scaling hand.json --tokens 8
says "'--tokens' also requires '--sizes'"
status 2 attn inspect heads --scaling hand.json --sizes 4
says "'hand.json' and '--sizes' cannot be combined"
status 2 attn inspect heads --scaling --sizes 4 --head 0
for list in '' 0 4, 4,4 16,4 4.5 x 99999999999999999999999 4,99999; do
	status 2 attn inspect heads --scaling --sizes "$list"
	says 'whole numbers from 1 to 16384, ascending'
done
status 3 attn inspect heads --scaling hand.json --lambda 0.5

# As d grows: random Q and K, made again from the manual's words.
status 0 attn inspect heads --scaling --sizes 4,16,64 --tokens 32 --causal
silent
python=
for candidate in ${PYTHON:-} python3 /usr/bin/python3; do
	if [ -z "$python" ] && "$candidate" -c 'import numpy' 2> err; then
		python=$candidate
	fi
done
if [ -n "$python" ]; then
	"$python" - > twin << 'PYTHON'
import numpy as np

def numbers(count, seed=[0]):
    out = []
    for _ in range(count):
        s = 0
        for _ in range(4):
            seed[0] = (seed[0] * 6364136223846793005 + 1442695040888963407) % 2 ** 64
            s += (seed[0] >> 40) / 2 ** 24 - 0.5
        out.append(np.float32(np.sqrt(3) * s))
    return np.array(out, dtype=np.float64)

def figures(s, attended):
    rows = [r[a] for r, a in zip(s, attended)]
    w = [np.exp(r - r.max()) / np.exp(r - r.max()).sum() for r in rows]
    slope = [p * (1 - p) for p in w]
    return (np.concatenate(rows).var(), np.mean([-(p * np.log2(p)).sum() for p in w]), np.mean([p.max() for p in w]),
            np.concatenate(slope).mean(), np.mean([np.trace(np.diag(p) - np.outer(p, p)) for p in w]))

for d in 4, 16, 64:
    seed = [1]
    q, k = numbers(32 * d, seed).reshape(32, d), numbers(32 * d, seed).reshape(32, d)
    attended = np.tril(np.ones((32, 32), bool))
    print(' '.join('%.5g' % x for s in (q @ k.T / np.sqrt(d), q @ k.T) for x in figures(s, attended)))
PYTHON
	for line in 1 2 3; do
		is "NumPy, line $line" "$(figures $line)" "$(sed -n ${line}p twin)"
	done
else
	skip 'random heads by NumPy'
fi

# Pictures: in each format, the same twice, with what they are of as text; and in the place of the table.
if ! attn heatmap "$root/samples/hand.json" --head 0 -o probe.png 2> err; then
	skip 'pictures: no Pango here'
	finish
fi
status 0 attn inspect heads --scaling --sizes 4,16,64 -o sizes.svg
says "wrote 'sizes.svg'"
is 'and the table' "$(wc -l < out)" 4
ok 'the legend' grep -q '>not divided</text>' sizes.svg
for text in 'variance of the scores' 'entropy of a row, in bits' 'largest weight of a row' 'head size d' 4 16 64; do
	ok "'$text'" grep -qF ">$text</text>" sizes.svg
done
# 4 panels of 3 sizes, and the legend; a halo and a disc, and a hole in what is not divided
is 'a dot for each' "$(grep -c '<circle' sizes.svg)" $(((4 * 3 + 1) * (2 + 3)))
cp sizes.svg first.svg
status 0 attn inspect heads --scaling --sizes 4,16,64 -o sizes.svg --threads 1
same 'the same twice' sizes.svg first.svg
status 0 attn inspect heads --scaling --model "$model" --text 'Once upon a time' -o layers.svg --title 'as a title'
ok 'its title' grep -q '<title>as a title</title>' layers.svg
ok 'by layer' grep -q '>layer</text>' layers.svg
ok 'what lines are' grep -q 'lines are means of a layer' layers.svg
status 0 attn inspect heads --scaling hand.json -o - --format pdf --theme dark --width 84mm
ok 'PDF in the place of the table' grep -aq '^%PDF' out
status 0 attn inspect heads --scaling hand.json -o x.png --width 3in --dpi 200
is 'as wide as asked for' "$(od -An -j16 -N4 -tu1 x.png | tr -s ' ')" ' 0 0 2 88'
status 2 attn inspect heads --scaling hand.json -o x.png --width 40px
says 'the plot has no room'
status 2 attn inspect heads --scaling hand.json -o x.gif
says "'x.gif' ends in '.gif', expected .png, .svg or .pdf"
cp hand.json input.png
status 2 attn inspect heads --scaling input.png -o input.png
says "'input.png' is an input and would be replaced"
status 2 attn inspect heads --scaling hand.json --theme dark
says "'--theme' is of a picture: it also requires -o FILE"
status 2 attn inspect heads hand.json -o y.png
says "'--output' also requires '--scaling'"
status 1 attn inspect heads --scaling none.json -o y.png
ok 'nothing is made of nothing' test ! -e y.png
if [ -w /dev/full ]; then
	status 4 attn inspect heads --scaling hand.json -o /dev/full
	says 'No space left on device'
fi
finish
