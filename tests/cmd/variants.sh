#!/bin/bash
# Attention variants from the command line: numbers worked out by hand, what cannot be
# combined, and results that are read back.
. "$(dirname "$0")/lib.sh"
hand=$root/samples/hand.json

# row OPTION...: the weights of 'sat' in head 'alike' of hand.json
row()
{
	attn run "$hand" "$@" --weights - --format tsv 2> err | awk -F'\t' '$1 == 0 && $2 == 2 { printf "%s%.6g", n++ ? " " : "", $NF }'
}

# Scores are ln 2 times 1, 1, 2, so 2^s is 2, 2, 4.
is 'softmax' "$(row)" '0.25 0.25 0.5'
is 'a zero sink adds 1: 2/9 2/9 4/9' "$(row --zero-sink)" '0.222222 0.222222 0.444444'
is 'a sink of ln 8 adds 8: 2/16 2/16 4/16' "$(row --sinks 2.0794415416798357)" '0.125 0.125 0.25'
is 'sinks of each head' "$(row --sinks 2.0794415416798357,100)" '0.125 0.125 0.25'
is 'top 1' "$(row --top-k 1)" '0 0 1'
is 'top 2: of equals the first; 2/6 4/6' "$(row --top-k 2)" '0.333333 0 0.666667'
is 'a temperature of 1/2 squares: 4 4 16' "$(row --temperature 0.5)" '0.166667 0.166667 0.666667'
is 'window: its own key alone' "$(row --window 0,0)" '0 0 1'
is 'window: one key before; 2/6 4/6' "$(row --window 1,0)" '0 0.333333 0.666667'
is 'dilation: every second key; 2/6 4/6' "$(row --dilation 2)" '0.333333 0 0.666667'
# Of (a, a, 2a) with a = ln 2 all are above tau = (4 a - 1) / 3: 1/3 - a/3, and 1/3 + 2a/3.
is 'sparsemax' "$(row --normalizer sparsemax)" '0.102284 0.102284 0.795431'
# Unit vectors: cosines 1/sqrt 2, 1/sqrt 2, 1, times ln 2: 2^0.707107 = 1.632527, and 2.
is 'cosine' "$(row --score cosine)" '0.310068 0.310068 0.379863'
# phi: q and k of 1 become 2, of 0 become 1: phi(q) = (2, 2); products 6, 6, 8.
is 'linear' "$(row --normalizer linear)" '0.3 0.3 0.4'
says "'scale' is left out"
# Blocks of 1: global block 0, window of 1.
is 'blocks' "$(row --blocks size=1,global=1,window=1)" '0.333333 0 0.666667'
# ALiBi of two heads: 2^-4 a token, and 2^-8: 2 e^-1/8, 2 e^-1/16 and 4 are 1.764994, 1.878826, 4.
is 'alibi' "$(row --alibi)" '0.230905 0.245797 0.523299'
# Causal, but the first key is seen by all.
is 'prefix' "$(attn run "$hand" --prefix 1 --weights - --format tsv 2> err | awk -F'\t' '$1 == 0 { printf "%.3g ", $NF }')" \
	'1 0 0 0.333 0.667 0 0.25 0.25 0.5 '

# Equal products summed in another order are equal, whatever kernels sum them: the first stays.
printf '{"q": [[[-1,-1,-1,1,-1,1,-1,1]]], "k": [[[-1,-1,-1,-1,-1,1,-1,-1], [1,-1,-1,1,-1,1,1,1]]]}' > tie.json
is 'top 1 of a tie' "$(attn run tie.json --qk-norm rms --top-k 1 --weights - --format tsv 2> err | awk -F'\t' 'NR > 1 { printf "%s ", $NF }')" '1 0 '

# A file says it as well as an option does.
printf '{"q": [[[1, 2]]], "k": [[[1, 0], [0, 1], [1, 1]]], "v": [[[1], [2], [3]]], "window": [1, 0], "causal": true}' > window.json
printf '{"q": [[[1, 2]]], "k": [[[1, 0], [0, 1], [1, 1]]], "v": [[[1], [2], [3]]]}' > plain.json
attn run window.json --weights a.npy 2> err
attn run plain.json --causal --window 1,0 --weights b.npy 2> err
same 'a window in a file is that of the option' a.npy b.npy

# What cannot be combined, or is malformed, says what it wants.
refuses()
{
	local code=$1 text=$2
	shift 2
	status "$code" attn run "$@" --weights w.npy
	says "$text"
}
refuses 2 "'--window' is '5', expected 'L,R', such as '4,0'" "$hand" --window 5
refuses 2 "expected 'L,R'" "$hand" --window -2,0
refuses 2 "expected 'L,R'" "$hand" --window 1,2,3
refuses 2 "'--dilation' is '0'" "$hand" --dilation 0
refuses 2 "size" "$hand" --blocks window=3
refuses 2 "'--score' is 'cosin', expected 'scaled-dot', 'dot', 'general', 'additive' or 'cosine'" "$hand" --score cosin
refuses 3 "'score_w' is missing: score 'general' also requires it" "$hand" --score general
refuses 3 "'temperature' of head 0 is 0, expected a number above 0" "$hand" --temperature 0
refuses 2 "'--temperature' is '1,2,3', expected a number, or 2 with commas, one for each head" "$hand" --temperature 1,2,3
refuses 2 "'--temperature' is '1,', expected" "$hand" --temperature 1,
refuses 2 "'--sinks' is 'nan', expected" "$hand" --sinks nan
refuses 2 "'--normalizer' is 'softmin', expected" "$hand" --normalizer softmin
refuses 2 "'softmax'" "$hand" --normalizer sparsemax --sinks 0
refuses 2 "'--top-k' is '0'" "$hand" --top-k 0
refuses 2 "'--qk-norm' is 'l1', expected 'none', 'rms', 'l2' or 'rms-full'" "$hand" --qk-norm l1
refuses 2 "'--qk-norm-eps' has no effect without --qk-norm rms, rms-full or l2" "$hand" --qk-norm-eps 5

# Over the whole width of two heads, by hand: q is divided by sqrt((1 + 49 + 25 + 25) / 4) = 5, the keys
# by 2 and sqrt(3), so that head 1 has scores of sqrt(2) and sqrt(2 / 3), also when it is alone.
printf '{"q": [[[1, 7]], [[5, 5]]], "k": [[[2, 2], [1, 3]], [[2, 2], [1, 1]]], "qk_norm": "rms-full", "qk_norm_eps": 0}' > full.json
is 'a norm over the whole width' "$(attn inspect token 0 full.json --head 1 | cut -f 8)" "$(printf 'weight\n0.6451338\n0.35486615')"
printf '{"q": [[[1, 7]], [[5, 5]]], "k": [[[2, 2]], [[2, 2]]], "qk_norm": "rms", "q_norm": [1, 1, 1, 1]}' > wide.json
refuses 3 "'q_norm' is 4, expected 2; a gain of all heads side by side requires qk_norm rms-full" wide.json
refuses 2 "'--rope-style' is 'full'" "$hand" --rope 10000 --rope-style full
refuses 2 "rope" "$hand" --rope-dim 2
refuses 3 "normalizer is 'linear', which has no scores, but 'alibi' is given" "$hand" --normalizer linear --alibi
refuses 3 "but 'scale' is given" "$hand" --normalizer linear --scale 2
status 3 attn run "$hand" --lambda 0.5 --scores s.npy
says "two maps a head"

# Results keep what hides keys, so that what is read back is what was computed.
printf '{"tokens": ["a", "b", "c", "d"], "embeddings": [[1, 0], [0, 1], [1, 1], [2, 1]], "wq": [[1, 0], [0, 1]],
 "wk": [[1, 0], [0, 1]], "wv": [[1, 0], [0, 1]], "segments": [0, 0, 7, 7]}' > documents.json
for options in '' '--window 1,0' '--blocks size=1,window=1,random=1,seed=3' '--prefix 2' '--dilation 2' '--normalizer entmax15' \
	'--lambda 0.25'; do
	# shellcheck disable=SC2086
	attn run documents.json $options -o made > made.out 2> err
	# shellcheck disable=SC2086
	attn heatmap documents.json $options -o computed.png 2> err
	attn heatmap made/attention.safetensors -o stored.png 2> err
	same "picture of a stored result, $options" computed.png stored.png
	# shellcheck disable=SC2086
	status 0 attn inspect token c documents.json $options --top all
	mv out computed.tsv
	status 0 attn inspect token c made/attention.safetensors --top all
	same "ranking of a stored result, $options" computed.tsv out
done
is 'documents are apart' "$(attn run documents.json --weights - --format tsv 2> err | awk -F'\t' 'NR > 1 { printf "%s", $NF == 0 ? "." : "x" }')" \
	'xx..xx....xx..xx'

# Differential attention: the first map less a quarter of the second.
status 0 attn run documents.json --lambda 0.25 --weights w.npy
status 2 attn inspect token c documents.json --lambda x
says "'--lambda' is 'x', expected a number"
finish
