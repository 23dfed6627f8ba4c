#!/bin/bash
# The number of threads changes no byte of what is written.
. "$(dirname "$0")/lib.sh"

# Numbers that look random, as nested JSON arrays: numbers SEED LENGTH...
numbers()
{
	awk -v seed="$1" -v sizes="${*:2}" 'BEGIN { n = split(sizes, size, " "); srand(seed); put(1) }
		function put(axis, i) { if (axis > n) { printf "%.3f", rand() * 4 - 2; return }
			for (i = 0; i < size[axis]; i++) { printf i ? "," : "["; put(axis + 1) } printf "]" }'
}

# Of 300 tokens: above the work that one thread does alone.
{
	printf '{"embeddings": %s, "num_heads": 2, "num_kv_heads": 1' "$(numbers 1 300 16)"
	printf ', "wq": %s, "wk": %s, "wv": %s, "wo": %s}' "$(numbers 2 16 64)" "$(numbers 3 16 32)" \
		"$(numbers 4 16 32)" "$(numbers 5 64 3)"
} > long.json
printf '{"q": %s, "k": %s, "v": %s}' "$(numbers 6 2 3 300 16)" "$(numbers 7 2 3 290 16)" \
	"$(numbers 8 2 3 290 9)" > batches.json

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
