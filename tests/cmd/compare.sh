#!/bin/bash
# attn compare: differences that are known, tolerances, and what does not match.
. "$(dirname "$0")/lib.sh"

# Two heads over two tokens, worked by hand: the rows of head 0 are (1, 0) and (0.5, 0.5) against (0.75, 0.25)
# and (0.5, 0.5), those of head 1 (1, 0) and (0, 1) against (0, 1) and (0, 1).
cat > a.json <<'JSON'
{"tokens": ["the", "cat"], "weights": [[[1, 0], [0.5, 0.5]], [[1, 0], [0, 1]]]}
JSON
cat > b.json <<'JSON'
{"tokens": ["the", "cat"], "weights": [[[0.75, 0.25], [0.5, 0.5]], [[0, 1], [0, 1]]]}
JSON
status 0 attn compare a.json b.json --columns head,largest,query_token,key_token,mean,js_largest,js_query,js_mean,beyond --tsv
is 'head 1' "$(sed -n 3p out)" $'1\t1\tthe\tthe\t0.5\t1\t0\t0.5\t2'
is 'head 0' "$(sed -n 2p out | cut -f1-5,7,9)" $'0\t0.25\tthe\tthe\t0.125\t0\t2'
# sqrt((log2(1 / 0.875) + 0.75 log2(0.75 / 0.875) + 0.25 log2(0.25 / 0.125)) / 2)
is 'a distance' "$(sed -n 2p out | cut -f6)" "$(awk 'BEGIN { l = log(2)
	printf "%.9g", sqrt((log(1 / 0.875) + 0.75 * log(0.75 / 0.875) + 0.25 * log(0.25 / 0.125)) / 2 / l) }')"
status 0 attn compare a.json a.json --tolerance 0
status 1 attn compare a.json b.json --tolerance 0.2
says '4 of 8 weights differ by more than 0.2 + 0 |b|, at most by 1: head 1, the -> the'
status 0 attn compare a.json b.json --tolerance 1
is 'as JSON' "$(attn compare a.json b.json --json | jq -c '.[1] | [.largest, .js_mean, .query_token]')" '[1,0.5,"the"]'
is 'as JSON lines' "$(attn compare a.json b.json --jsonl | jq -r .head | paste -sd ' ')" '0 1'
ok 'as text' grep -q 'largest difference 1: head 1, the -> the' <(attn compare a.json b.json --pretty)

# Computed, stored and of a model are the same, whatever computes them.
hand=$root/samples/hand.json
attn run "$hand" --weights w.npy --quiet
status 0 attn compare "$hand" weights=w.npy --tolerance 0
attn run "$hand" -o stored --quiet > table
status 0 attn compare "$hand" stored/attention.safetensors --tolerance 0
ATTN_KERNEL=scalar status 0 attn compare "$hand" weights=w.npy --tolerance 1e-6
m=(--model "$root/samples/stories260K" --text 'Once upon a time')
attn run "${m[@]}" --weights model.npy --quiet
status 0 attn compare "${m[@]}" weights=model.npy --tolerance 0
is 'lines' "$(wc -l < out)" 41

# What does not match, and what is no number.
status 3 attn compare "$hand" "$root/samples/translation.json"
says 'A has 2 heads and B 1, expected the same'
printf '{"weights": [[[1, null], [0.5, 0.5]], [[1, 0], [0, 1]]]}' > hole.json
status 3 attn compare a.json hole.json
status 2 attn compare a.json
says '1 inputs, expected two, A and B'
status 2 attn compare a.json b.json --tolerance x
says 'expected numbers from 0'
status 2 attn compare a.json b.json --tolerance -1
status 2 attn compare a.json b.json --columns nothing
for threads in 1 2 7; do
	attn compare "${m[@]}" weights=model.npy --threads $threads > t$threads
	ok "$threads threads" cmp t1 t$threads
done
finish
