#!/bin/bash
# A stored result, read back, says what its input says: byte for byte, for every
# kind of attention, token and direction.
. "$(dirname "$0")/lib.sh"

# Every query, and every key, of an input and of its result.
tables()
{
	local place
	attn run "$1" --rankings - --top 1000
	for place in '#0' '#1'; do
		attn inspect token "$place" "$1" --top all
		attn inspect token "$place" "$1" --top all --to
		attn inspect token "$place" "$1" --head 0 --text
	done
	attn inspect token "$place" "$1" --top all --json
}

for input in "$inputs"/*.json; do
	name=$(basename "$input" .json)
	status 0 attn run "$input" -o "$name"
	same "$name: rankings of both" out <(attn run "$input" --rankings - --top 1 2> /dev/null)
	tables "$input" > expected 2> expected.notes
	tables "$name/attention.safetensors" > found 2> found.notes
	same "$name: the result says what the input says" expected found
	attn heatmap "$input" -o expected.png 2> /dev/null
	attn heatmap "$name/attention.safetensors" -o found.png 2> /dev/null
	same "$name: the same picture" expected.png found.png

	# A result of the result is the result, but for the context.
	attn run "$name/attention.safetensors" --weights again.safetensors 2> /dev/null
	attn run again.safetensors --weights twice.safetensors 2> /dev/null
	same "$name: stored again" again.safetensors twice.safetensors
	tables twice.safetensors > found 2> /dev/null
	same "$name: stored twice" expected found
	attn run "$input" --weights expected.npy 2> /dev/null
	attn run "$name/attention.safetensors" --weights found.npy 2> /dev/null
	same "$name: the same weights" expected.npy found.npy
	attn run context="$name/attention.safetensors" --weights none.npy 2> /dev/null
	ok "$name: a context alone is no input" test ! -e none.npy
done

# A row with every key masked is said, of both.
status 0 attn run "$inputs/masked.json" --weights w.safetensors
says 'note: 1 of 6 rows have every key masked'
status 0 attn run w.safetensors --rankings r.tsv
says 'note: 1 of 6 rows have every key masked'

# What a stored result cannot give.
status 2 attn run plain/attention.safetensors --scores s.npy
says 'give the input it was made from'
status 2 attn run plain/attention.safetensors --output o.npy
status 0 attn inspect file plain/attention.safetensors
ok 'version and settings are stored' grep -q "^setting	version		" out
ok 'and the output' grep -q "^tensor	output	float32	4,2	" out

# Layers and batch items in front, as the result of another program has them.
printf '[[[[0.25, 0.75]]], [[[1, 0]]]]' > layers.json
status 0 attn inspect token '#0' weights=layers.json
is 'layers' "$(cut -f 1,6,8 out | tail -n +2)" "$(printf '0\t1\t0.75\n0\t0\t0.25\n1\t0\t1\n1\t1\t0')"
status 0 attn inspect token '#0' weights=layers.json --layer 1 --top 1
is 'one layer' "$(tail -n +2 out | cut -f 1,6)" "$(printf '1\t0')"
status 0 attn inspect token '#0' weights=layers.json --axes batch --top 1
is 'batch items' "$(tail -n +2 out | cut -f 1,6,9)" "$(printf '0\t1\t0\n0\t0\t1')"
status 0 attn run weights=layers.json -o layers
is 'pictures of layers' "$(listing layers)" './attention.safetensors ./layer0-head0.png ./layer1-head0.png ./rankings.tsv '
printf '[[[0.25, 1.75]]]' > heavy.json
status 3 attn run weights=heavy.json --rankings r.tsv
says "'heavy.json': 'weights[0,0,1]' is 1.75, expected a weight from 0 to 1"

# Weights that may be negative are known for such in each format, however often they are written again.
echo '{"q": [[[1, 0], [0, 1]], [[1, 0.5], [0.2, 1]]], "k": [[[1, 0], [0, 1]], [[1, 0], [0, 1]]], "lambda": 2}' > signed.json
attn run signed.json --weights signed.npz --quiet
attn run signed.json --weights - --format tsv --quiet > signed.tsv
previous=signed.npz
for next in 1.npz 2.safetensors 3.npz 4.json 5.npz 6.json; do
	status 0 attn run "$previous" --weights "signed-$next" --quiet
	previous=signed-$next
done
is 'lambda is kept' "$(attn inspect file signed-5.npz | grep lambda)" "$(printf 'tensor\tlambda\tfloat32\t1\t')"
attn run "$previous" --weights - --format tsv --quiet > again.tsv
is 'signed weights' "$(cat again.tsv)" "$(cat signed.tsv)"
is 'some are negative' "$(grep -c -- '-0' signed.tsv)" 4
finish
