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

# On other lengths: on its own what the plan of the input says, on others what the formula does.
cell()
{
	awk -F '\t' -v length_="$1" -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i }
		$4 == length_ { print $c }' out
}
for options in '' --causal '--causal --output o.npy' '--window 5,2' '--context c.npy --normalizer linear' \
	--add-zero-attn; do
	# shellcheck disable=SC2086
	status 0 attn run long.json $options --dry-run
	sum=$(awk -F '\t' '$3 == "multiply-adds" { sum += $2 } END { printf "%.0f\n", sum }' out)
	# shellcheck disable=SC2086
	status 0 attn run long.json $options --dry-run --lengths 100,300,1000
	is "$ran: as long as it is" "$(cell 300 multiply_adds)" "$sum"
done
rm -f w2.npy
status 0 attn run long.json --causal --weights w2.npy --dry-run --lengths 300,10000000
is 'projections and pairs' "$(cell 10000000 multiply_adds)" \
	"$(awk 'BEGIN { n = 1e7; printf "%.15g\n", n * 16 * (64 + 32) + 2 * n * (n + 1) / 2 * 32 }')"
ok 'nothing is made' test ! -e w2.npy
is 'what it is' "$(sed -n 2p out | cut -f 1-4 | tr '\t' ' ')" '2x32 causal run 300'
model=$root/samples/stories260K
status 0 attn run --model "$model" --ids "$(seq -s, 1 40)" --logits l.npy --dry-run
sum=$(awk -F '\t' '$3 == "multiply-adds" { sum += $2 } END { printf "%.0f\n", sum }' out)
status 0 attn run --model "$model" --ids 1,2 --logits l.npy --dry-run --lengths 2,40
is 'a model: as long as its text' "$(cell 40 multiply_adds)" "$sum"
if attn heatmap "$root/samples/hand.json" --head 0 -o probe.png 2> err; then
	status 0 attn run long.json --dry-run --lengths 100,200,400 --plot cost.svg --theme dark
	ok 'a plot' grep -q '>planned, not measured' cost.svg
	ok 'its exponent' grep -q ">full: N^$(cell exponent multiply_adds | awk '{ printf "%.2f", $1 }')</text>" cost.svg
	cp "$root/samples/hand.json" hand.svg
	status 2 attn run hand.svg --dry-run --lengths 8 --plot hand.svg
	says "'hand.svg' is an input and would be replaced"
fi
status 2 attn run long.json --lengths 8
says "'--lengths' also requires '--dry-run'"
status 2 attn run long.json --dry-run --plot x.png
says "'--plot' also requires '--lengths'"
status 2 attn run plain/attention.safetensors --rankings r.tsv --dry-run --lengths 8
says 'of a stored result nothing is computed'
status 2 attn run "$root/samples/translation.json" --dry-run --lengths 8
says 'cross-attention cannot be combined'
status 2 attn run "$inputs/masked.json" --dry-run --lengths 8
says 'has a length of its own'
status 2 attn run long.json --dry-run --lengths 8 --blocks size=4,global=1
says "'blocks' cannot be combined"
status 2 attn run --model "$model" --ids 1,2 --output o.npy --layer 0 --dry-run --lengths 8
status 2 attn run long.json --dry-run --lengths 16,8
translator=$root/samples/aren-transliteration
status 2 attn run --model "$translator" --text عبد --target abd --dry-run --lengths 8
says "give '--attention encoder'"
status 0 attn run --model "$translator" --text عبد --attention encoder --dry-run --lengths 8
finish
