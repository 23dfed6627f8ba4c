#!/bin/bash
# attn heatmap --scores: scores drawn, in a map that diverges from 0.
. "$(dirname "$0")/lib.sh"
# q k^T = (2 -4; 0 8), and the first query does not attend to the second key.
cat > signed.json <<'JSON'
{"tokens": ["a", "b"], "num_heads": 1, "causal": true, "scale": 0.5,
 "q": [[[2, 0], [0, -2]]], "k": [[[1, 0], [-2, -4]]]}
JSON

# texts ARGUMENT...: the texts of a picture, those in cells among them
texts()
{
	attn heatmap signed.json --numbers on "$@" -o - --format svg 2> err |
		sed 's/<[/]*tspan[^>]*>//g' | grep -o '<text[^>]*>[^<]*' | sed 's/.*>//' > texts
}

# has NUMBER...: the picture has each as a text
has()
{
	local number
	for number; do
		ok "$number" grep -qx -e "$number" texts
	done
}

texts --scores
has 1.00 4.00
ok 'what is masked has no number' eval '! grep -qx -e −2.00 texts'
texts --scores=product --causal=false
has 2.00 −4.00 8.00
texts --scores=capped --softcap 1
has .76 1.00
texts --scores=product
has 2.00 8.00
ok 'the bar says score' grep -qx score texts
ok 'the title says scores' grep -qx 'head 0: unscaled scores' texts
ok 'the caption says scores' grep -qx 'unscaled scores, before the softmax' texts
ok 'masked cells' grep -qx masked texts
ok 'no weights' eval '! grep -q weight texts'

# What is drawn are the scores of attn run.
attn run signed.json --scores scores.json --scores-stage raw 2> /dev/null
ok 'as attn run has them' grep -q '\[1, -2\]' scores.json

attn heatmap signed.json --scores --terminal > terminal.txt
ok 'terminal' grep -q '^score ' terminal.txt
for format in png pdf; do
	status 0 attn heatmap signed.json --scores -o scores.$format
done
attn heatmap signed.json --scores -o one.png --threads 1 2> /dev/null
attn heatmap signed.json --scores -o three.png --threads 3 2> /dev/null
same 'any number of threads' one.png three.png
status 0 attn heatmap signed.json --scores --query b --key a -o part.svg
ok 'of a part' grep -q 'query 1 of 2' part.svg

attn run signed.json -o stored > /dev/null 2>&1
status 2 attn heatmap stored/attention.safetensors --scores -o x.png
says 'a stored result has no scores'
for option in --words '--exclude-first --renormalise' '--top-keys 1' '--order entropy' '--reduce mean' '--range fixed'; do
	# shellcheck disable=SC2086
	status 2 attn heatmap signed.json --scores $option -o x.png
	says "and '--scores' cannot be combined"
done
status 2 attn heatmap signed.json --scores --colormap ink -o x.png
says 'these are scores'
status 2 attn heatmap signed.json --scores=none -o x.png
says "expected 'product', 'raw', 'capped' or 'masked'"
finish
