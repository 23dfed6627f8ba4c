#!/bin/bash
# The number of threads changes no byte of what is written.
. "$(dirname "$0")/lib.sh"

long_inputs

compare()
{
	local name=$1 threads
	shift
	for threads in 1 2 3; do
		rm -rf "$threads"
		mkdir "$threads"
		attn run "$@" -o "$threads" --threads $threads > $threads/stdout 2> err ||
			fail "$name: $(cat err)"
		attn run "$@" --scores $threads/scores.npy --context $threads/context.npy \
			--threads=$threads 2> err || fail "$name: $(cat err)"
		attn inspect token '#1' "$@" --threads $threads > $threads/token
		attn heatmap "$@" -o $threads/heatmap.png --threads $threads 2> err
	done
	ok "$name: 1 and 2 threads" diff -r 1 2
	ok "$name: 1 and 3 threads" diff -r 1 3
	ok "$name: pictures were compared" test -s 1/heatmap.png
}

for name in plain causal masked batched; do
	compare "$name" "$inputs/$name.json"
done
compare long long.json
compare 'long and causal' long.json --causal
compare 'long batches' batches.json

for value in 0 257 two ''; do
	status 2 attn run long.json --threads "$value"
	says "'--threads' is '$value', expected a whole number from 1 to 256"
done
is 'nothing is made' "$(listing | tr ' ' '\n' | grep attn-out)" ''
finish
