#!/bin/bash
# attn heatmap --statistic: a cell for each head, layers as rows.
. "$(dirname "$0")/lib.sh"

# Two layers of three heads: even, sharp, and in between, then the other way round.
printf '{"weights": [[[[0.5, 0.5], [0.5, 0.5]], [[1, 0], [0, 1]], [[0, 1], [0.5, 0.5]]],
	[[[0, 1], [0.5, 0.5]], [[1, 0], [0, 1]], [[0.5, 0.5], [0.5, 0.5]]]]}' > six.json

# texts ARGUMENT...: the texts of a picture, in a line
texts()
{
	status 0 attn heatmap six.json --numbers on "$@" -o x.svg
	sed 's/<[/]*tspan[^>]*>//g' x.svg | grep -o '<text[^>]*>[^<]*' | sed 's/.*>//' | tr '\n' '|' > texts
}

texts --statistic entropy
ok 'values as they are in the table' grep -qF '|1.00|' texts
for text in 'entropy in bits of 6 heads' layer head '.50' '.00'; do
	ok "'$text' is drawn" grep -qF "$text|" texts
done
ok 'neither queries nor keys' eval '! grep -qE "query|key|weight" texts'
status 0 attn heatmap six.json --statistic entropy --terminal
is 'rows are layers' "$(grep '|' out | head -2 | tr -d ' ' | cut -c 1)" '0
1'
is 'cells' "$(grep '|' out | head -2 | cut -c 4-9 | tr '\n' ' ')" '@@  ++ ++  @@ '
ok 'its bar' grep -qx 'entropy in bits' out

# Chosen ones keep their numbers, and a view changes the figures.
texts --statistic entropy --layer 1 --head 0,2
ok 'of two heads' grep -qF 'entropy in bits of 2 heads|' texts
texts --statistic distance --title mine --xlabel '' --transpose
ok 'a title' grep -qF 'mine|' texts
status 0 attn heatmap six.json --statistic diagonal --exclude-first --renormalise -o y.svg

# All forms, and any number of threads.
for format in png pdf; do
	status 0 attn heatmap six.json --statistic entropy -o x.$format
	ok "$format" test -s x.$format
done
long_inputs
attn heatmap long.json --statistic distance -o one.png --threads 1 --quiet
attn heatmap long.json --statistic distance -o three.png --threads 3 --quiet
same 'any number of threads' one.png three.png

# Where there is no figure, the cell is hatched, and that is said.
status 0 attn heatmap "$inputs/cross.json" --statistic diagonal --quiet -o none.svg
ok 'none' grep -q '>none<' none.svg
ok 'not masked' eval '! grep -q ">masked<" none.svg'

# A sign.
status 0 attn heatmap six.json --statistic offset -o x.svg
ok 'offsets are in tokens' grep -q 'most frequent offset in tokens' x.svg

# A batch item.
status 0 attn heatmap batches.json --statistic first --batch 1 --quiet -o x.svg
ok 'which' grep -q 'batch 1: weight on the first token of 3 heads' x.svg

# Refused.
status 2 attn heatmap six.json --statistic entropi
says "did you mean 'entropy'"
status 2 attn heatmap six.json --statistic pattern
says 'expected one of queries, entropy'
for option in --scores --sentences '--order entropy' '--top-keys 1' '--markers keep' '--image x.png'; do
	# shellcheck disable=SC2086
	status 2 attn heatmap six.json --statistic entropy $option
	says "'${option%% *}' and '--statistic' cannot be combined"
done
status 2 attn heatmap six.json --statistic entropy --range head
says "'--range head' and '--statistic' cannot be combined"
status 2 attn heatmap six.json --statistic entropy --exclude-first
says 'it also requires --renormalise'
finish
