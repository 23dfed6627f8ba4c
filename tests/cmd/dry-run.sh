#!/bin/bash
# What a run would cost, without it: sizes of files are those it writes.
. "$(dirname "$0")/lib.sh"
long_inputs

# value NAME: of the last dry run's table.
value()
{
	awk -F '\t' -v name="$1" '$1 == name { print $2 }' out
}

for input in "$inputs"/{plain,causal,batched,cross,masked,past,appended}.json long.json batches.json; do
	name=$(basename "$input" .json)
	status 0 attn run "$input" -o "$name" --dry-run
	ok "$name: nothing is made" test ! -e "$name"
	attn run "$input" -o "$name" > ranking 2> err
	is "$name: size of the result" "$(value "$name/attention.safetensors")" \
		"$(stat -c %s "$name/attention.safetensors")"
done

status 0 attn run long.json --context c.npy --weights w.npz --output o.safetensors --scores s.npy \
	--rankings r.json --heatmaps pictures --dry-run
ok 'no single output is made' test ! -e c.npy -a ! -e pictures
cp out table
attn run long.json --context c.npy --weights w.npz --output o.safetensors --scores s.npy \
	--rankings r.json --heatmaps pictures 2> err
cp table out
for file in c.npy w.npz o.safetensors s.npy; do
	is "size of $file" "$(value $file)" "$(stat -c %s $file)"
done
ok 'a ranking is about so large' test "$(($(value r.json) * 2))" -gt "$(stat -c %s r.json)"
is 'scores are for the reference' "$(value kernel)" scalar
is 'a text has no exact size' "$(grep '^r.json' out | cut -f 3)" 'about bytes'

# 300 tokens of 16, to 2 heads of 32 and 1 kv head of 32, values of 32, output 3.
status 0 attn run long.json --output o.npy --dry-run --threads 3
is 'projections' "$(value projections)" $((300 * 16 * (64 + 32 + 32)))
is 'attention' "$(value attention)" $((2 * 300 * 300 * 64))
is 'output' "$(value output_projection)" $((300 * 64 * 3))
is 'projected' "$(value projected)" $((4 * 300 * (64 + 32 + 32)))
is 'threads' "$(value threads)" 3
is 'memory is the sum' "$(value memory)" \
	$(($(value inputs) + $(value projected) + $(value results) + $(value workspace) + $(value rankings) + \
		$(value grids) + $(value program)))
status 0 attn run long.json --causal --weights w.npy --dry-run
is 'causal: pairs that are seen' "$(value attention)" $((2 * 300 * 301 / 2 * 32))
status 0 attn run long.json --weights w.npy --dry-run --json
ok 'JSON' grep -q '"path": "w.npy", "bytes": 720128, "exact": true' out
status 0 attn run long.json --weights w.npy --dry-run --text
ok 'text' grep -q '^w.npy: 703.2 KiB$' out

# A stored result, and inputs that do not fit.
status 0 attn run plain/attention.safetensors --rankings r.tsv --dry-run
is 'nothing is computed of a stored result' "$(value attention)" 0
status 2 attn run plain/attention.safetensors --context c2.npy --dry-run
status 3 attn run long.json --num-heads 7 --dry-run
says 'num_heads'
status 2 attn run long.json --shard 1/2 --dry-run
says "'--dry-run' and '--shard' cannot be combined"
finish
