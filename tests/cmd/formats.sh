#!/bin/bash
# Every format that is written and read gives the same weights; those that are
# only written have a stable form.
. "$(dirname "$0")/lib.sh"

for input in "$inputs"/*.json; do
	name=$(basename "$input" .json)
	axes=
	[ "$name" != batched ] && [ "$name" != padded ] || axes=--axes=batch
	attn run "$input" --weights w.npy 2> /dev/null
	for format in npy npz safetensors json; do
		attn run "$input" --weights "w.$format" 2> /dev/null
		status 0 attn run "weights=w.$format" $axes --weights found.npy
		same "$name: weights from $format" w.npy found.npy
		for tensor in context scores; do
			attn run "$input" --$tensor "$tensor.$format" 2> /dev/null
			status 0 attn inspect file "$tensor.$format"
			is "$name: $tensor in $format is a float" "$(grep -c '^tensor	[a-z]*	float' out)" 1
		done
	done
	# Those that carry names need no role.
	for format in npz safetensors json; do
		status 0 attn run "w.$format" $axes --weights found.npy
		same "$name: a whole $format" w.npy found.npy
	done
	status 0 attn run "$input" --weights w.tsv
	is "$name: a line a weight" "$(($(wc -l < w.tsv) - 1))" "$((($(stat -c %s w.npy) - 128) / 4))"
done

# JSON is the most exact of texts: context read back and computed on.
attn run "$inputs/plain.json" --context c.json --output o.json 2> /dev/null
attn run "$inputs/plain.json" --context c.npy --output o.npy 2> /dev/null
attn run q=c.npy k=c.npy --packed --num-heads 2 --weights a.npy 2> /dev/null
status 0 attn run q=c.json:context k=c.json:context --packed --num-heads 2 --weights b.npy
same 'a context from JSON is that from npy' a.npy b.npy

# Scores: where masked, -inf is null in JSON and -inf in a table.
attn run "$inputs/causal.json" --scores s.json --scores-stage masked 2> /dev/null
ok 'masked scores are null in JSON' grep -q 'null, null, null' s.json
attn run "$inputs/causal.json" --scores s.tsv --scores-stage masked 2> /dev/null
is 'and -inf in a table' "$(sed -n 3p s.tsv)" "$(printf '3\t0\t0\t▁the\t1\t▁animal\t-inf' | cut -f 2-)"
for stage in raw capped masked; do
	status 0 attn run "$inputs/biased.json" --scores s.npy --scores-stage $stage
	mv s.npy $stage.npy
done
ok 'stages differ' sh -c '! cmp -s raw.npy capped.npy && ! cmp -s capped.npy masked.npy'
attn run "$inputs/plain.json" --weights w.tsv 2> /dev/null
is 'the columns of a table' "$(head -n 1 w.tsv)" "$(printf 'head\tquery\tquery_token\tkey\tkey_token\tweight')"
attn run "$inputs/padded.json" --weights w.tsv 2> /dev/null
is 'the batch is last' "$(head -n 1 w.tsv)" "$(printf 'head\tquery\tquery_token\tkey\tkey_token\tweight\tbatch')"
attn run "$inputs/plain.json" --output o.tsv 2> /dev/null
is 'and of an output' "$(head -n 1 o.tsv)" "$(printf 'query\tquery_token\tcolumn\toutput')"

# The same input gives the same bytes.
for format in npy npz safetensors json tsv; do
	attn run "$inputs/cross.json" --weights one.$format 2> /dev/null
	attn run "$inputs/cross.json" --weights two.$format 2> /dev/null
	same "$format is the same in every run" one.$format two.$format
done

# And on one processor the bytes are those of many: blocks are put in order.
if command -v taskset > /dev/null; then
	awk 'BEGIN { printf "{\"causal\": true, \"q\": [["; for (i = 0; i < 700; i++) printf "%s[%d]", i ? ", " : "", i % 7
		printf "]], \"k\": [["; for (i = 0; i < 700; i++) printf "%s[%d]", i ? ", " : "", i % 5
		printf "]], \"v\": [["; for (i = 0; i < 700; i++) printf "%s[%d]", i ? ", " : "", i % 11
		print "]]}" }' > long.json
	status 0 attn run long.json -o many
	status 0 taskset -c "$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')" "$ATTN" run long.json -o one
	is 'one processor and many make the same files' "$(diff -rq one many)" ''
else
	skip 'one processor: taskset is not installed'
fi
finish
