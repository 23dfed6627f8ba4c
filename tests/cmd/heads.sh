#!/bin/bash
# Chosen heads and layers, their mean and their maximum: --head, --layer, --mean, "all".
. "$(dirname "$0")/lib.sh"
cp "$inputs"/*.json .

# Three layers of two heads; eighths, so that sums are exact.
cat > layers.json << 'END'
{"tokens": ["a", "b"], "layer": 4, "weights": [
 [[[1, 0], [0.5, 0.5]], [[0.5, 0.5], [0.25, 0.75]]],
 [[[0.75, 0.25], [0, 1]], [[0.25, 0.75], [1, 0]]],
 [[[0.5, 0.5], [0.25, 0.75]], [[0, 1], [0.75, 0.25]]]]}
END

# Layer, head and weight of each pair.
weights()
{
	attn run layers.json "$@" --rankings - --tsv --top all 2> err |
		awk -F '\t' 'NR > 1 { print $1 "," $2 "," $3 $6 "=" $8 }' | sort | tr '\n' ' '
}
is 'mean of heads' "$(weights --layer 4 --head mean)" \
	'4,mean of 2 heads,00=0.75 4,mean of 2 heads,01=0.25 4,mean of 2 heads,10=0.375 4,mean of 2 heads,11=0.625 '
is 'max of heads' "$(weights --layer 5 --head max)" \
	'5,max of 2 heads,00=0.75 5,max of 2 heads,01=0.75 5,max of 2 heads,10=1 5,max of 2 heads,11=1 '
is 'mean of layers, of one head' "$(weights --layer mean --head 0)" \
	'mean of 3 layers,0,00=0.75 mean of 3 layers,0,01=0.25 mean of 3 layers,0,10=0.25 mean of 3 layers,0,11=0.75 '
is 'a chosen set of layers' "$(weights --layer 4,6 --mean --head 1)" \
	'mean of layers 4, 6,1,00=0.25 mean of layers 4, 6,1,01=0.75 mean of layers 4, 6,1,10=0.5 mean of layers 4, 6,1,11=0.5 '
is 'the largest of chosen ones' "$(weights --layer 5 --head max:0 | sed 's/max of head 0/0/g')" "$(weights --layer 5 --head 0)"
is 'of chosen layers' "$(weights --layer max:4,6 --head 1)" \
	'max of layers 4, 6,1,00=0.5 max of layers 4, 6,1,01=1 max of layers 4, 6,1,10=0.75 max of layers 4, 6,1,11=0.75 '
is 'mean and --mean are one' "$(weights --layer mean:4,6 --head 1)" "$(weights --layer 4,6 --mean --head 1)"
status 2 attn heatmap layers.json --layer max:4,9
says "'--layer' has '9', expected numbers from 4 to 6"
status 2 attn heatmap layers.json --head max:
says "'--head' has '', expected a list such as 0,3-5"
status 2 attn heatmap layers.json --head all:1
says "'--head' is 'all:1', expected 'all' alone"
status 2 attn heatmap layers.json --batch max:0
says "'--batch' is 'max:0', but batch items are different texts"
is 'both' "$(weights --layer 4-5 --head all --mean | sed 's/mean of layers 4, 5,mean of 2 heads,//g')" \
	'00=0.625 01=0.375 10=0.4375 11=0.5625 '
is 'chosen ones keep their numbers' "$(weights --layer 5 --head 1)" '5,1,00=0.25 5,1,01=0.75 5,1,10=1 5,1,11=0 '
is 'all' "$(weights --layer all --head all)" "$(weights)"
is 'one of one' "$(weights --layer 5 --head 1 --mean)" "$(weights --layer 5 --head 1)"

# What other commands show.
status 0 attn inspect token a layers.json --head mean --layer 4 --text
is 'a heading' "$(head -n 1 out)" 'layer 4 mean of 2 heads'
is 'its first' "$(sed -n 2p out)" 'a -> a 0.750'
status 2 attn inspect token a layers.json --layer mean --head max --text
says "'--head max' and '--layer mean' cannot be combined"
status 0 attn inspect token a layers.json --layer mean --head mean --top 1 --json
is 'as JSON' "$(sed -n 2p out | cut -d, -f 1-2)" '  {"layer": "mean of 3 layers", "head": "mean of 2 heads"'
attn inspect token b layers.json --tsv > default.tsv
attn inspect token b layers.json --head all --layer all --tsv > all.tsv
is 'all has a mean, too' "$(cat all.tsv)" "$(cat default.tsv)"
status 0 attn heatmap layers.json --layer mean --terminal
is 'a title' "$(head -n 1 out)" 'mean of 3 layers, 2 heads'
status 0 attn heatmap layers.json --layer all --head mean --terminal
is 'rows of layers' "$(head -n 1 out)" '3 layers, mean of 2 heads'
status 0 attn view layers.json --layer mean --head 0,1 --mean -o page.html
says_in_file()
{
	if grep -q -- "$2" "$1"; then pass; else fail "$1 has no '$2'"; fi
}
says_in_file page.html '"heads": \[\[0,"mean of 2 heads"\]\]'
says_in_file page.html '"layers": \[\[0,"mean of 3 layers"\]\]'

# Stored, and read back.
status 0 attn run layers.json --layer 5,6 --mean --head all -o joined
status 0 attn inspect token a joined/attention.safetensors --text --top 1
is 'a stored mean' "$(tr '\n' ' ' < out)" 'head 0 (mean of 2 heads, mean of layers 5, 6) a -> b 0.625 '
[ -e joined/layers-mean-heads-mean.png ] && pass || fail 'no picture of the mean'
status 0 attn run layers.json --layer 6 --head 1 -o some
[ -e some/layer6-head1.png ] && pass || fail 'no picture under its number'
status 0 attn inspect token a some/attention.safetensors --text --top 1
is 'a stored choice' "$(tr '\n' ' ' < out)" 'layer 6 head 0 (head 1) a -> b 1.000 '

attn run layers.json --layer 5 --head max --weights - --format tsv > max.tsv 2> err
is 'a table of weights' "$(sed -n 2p max.tsv)" '5	max of 2 heads	0	a	0	a	0.75'

# Computed: masks stay, the context goes.
cat > computed.json << 'END'
{"tokens": ["a", "b"], "num_heads": 2, "causal": true, "q": [[[1],[1]],[[1],[1]]],
 "k": [[[0],[0]],[[0],[0]]], "v": [[[1],[2]],[[3],[4]]]}
END
status 0 attn run computed.json --head mean -o computed
says 'a context has all heads side by side: none is stored of some'
status 0 attn inspect file computed/attention.safetensors
says_in_file out 'causal.*true'
if grep -q context out; then fail 'a context of a mean'; else pass; fi
status 0 attn run computed.json --head all --context -
status 2 attn run computed.json --head 1 --context -
says "'--head' and '--context' cannot be combined: a context has all heads"
status 2 attn run computed.json --head mean --scores -
says "'--scores' and '--head mean' cannot be combined"
status 0 attn run computed.json --head 1 --scores - --scores-stage raw --format tsv
is 'scores of one' "$(sed -n 2p out)" '1	0	a	0	a	0'
status 2 attn run computed.json --head mean --shard 1/2
says "'--head' and '--shard' cannot be combined"
status 2 attn inspect token a computed.json --head mean --steps
says "'--steps' and '--head mean' cannot be combined"
status 2 attn heatmap computed.json --mean
says "'--mean' joins what '--head' or '--layer' choose"
status 2 attn heatmap computed.json --head max --mean
says "'--head max' and '--mean' cannot be combined"
status 2 attn heatmap computed.json --batch mean
says "'--batch' is 'mean', but batch items are different texts"

# A head of that name is meant first.
sed 's/"tokens"/"head_names": ["max", "mean"], "tokens"/' computed.json > named.json
status 0 attn heatmap named.json --head mean --terminal
is 'a head called mean' "$(head -n 1 out)" 'head 1 (mean)'
finish
