#!/bin/bash
# Nothing that is given is ignored: used, or refused with what was probably meant.
. "$(dirname "$0")/lib.sh"
cp "$inputs/plain.json" x.json

# tensors FILE METADATA NAME...: a safetensors file with metadata, and a 2 x 2 matrix of
# float32, 1 to 4, under each name.
tensors()
{
	local file=$1 header="{\"__metadata__\":{$2}" at=0 name byte
	shift 2
	for name; do
		header+=",\"$name\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[$at,$((at + 16))]}"
		at=$((at + 16))
	done
	header+='}'
	{
		for byte in $((${#header} % 256)) $((${#header} / 256)) 0 0 0 0 0 0; do
			printf "\\x$(printf %x "$byte")"
		done
		printf %s "$header"
		for name; do
			printf '\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40'
		done
	} > "$file"
}

# Metadata a slip away from a setting; what belongs to others stays theirs.
while read -r name meant; do
	tensors slip.safetensors "\"$name\":\"1\"" embeddings wq wk
	status 3 attn run slip.safetensors --weights w.npy
	says "'slip.safetensors': '$name' is not a setting, did you mean '$meant'"
done << 'END'
num_head num_heads
layuot layout
causual causal
qk-norm qk_norm
is_causal causal
Scale scale
num_attention_heads num_heads
END
tensors foreign.safetensors '"format":"pt","source":"a page","title":"x","type":"y","layers":"12","name":"z"' \
	embeddings wq wk
status 0 attn run foreign.safetensors --num-heads 1 --layout in,out --weights w.npy
is 'metadata of others is nobody'"'"'s concern' "$(grep -v 'wrote' err)" ''
status 0 attn inspect file foreign.safetensors --tsv
is 'and is called metadata' "$(cut -f1 out | sort | uniq -c | tr -s ' \n' ' ')" ' 1 kind 6 metadata 3 tensor '

# Masks of other libraries have no sense of their own.
for name in attn_mask attention_mask key_padding_mask; do
	tensors mask.safetensors '"num_heads":"1"' embeddings wq wk $name
	status 3 attn run mask.safetensors --weights w.npy
	says "'$name' is not a role, did you mean 'mask' (queries x keys, true = attend) or 'key_padding' (keys, true = a real key)"
	tensors mask.safetensors '' weights $name
	status 3 attn run mask.safetensors --weights w.npy
	says "'$name' is not a role, did you mean 'mask'"
done
tensors q.safetensors '' query key value
status 3 attn run q.safetensors --weights w.npy
says "'query' is not a role, did you mean 'q' (q=FILE:query binds it)"

# An option with a value may be given once; lists are joined.
for twice in '--top 1 --top 2' '--scale 1 --scale 1' '-o a -o b' '--colormap viridis --colormap magma' \
	'--threads 1 --threads 2'; do
	status 2 attn run x.json $twice
	says "may be given only once"
done
status 2 attn run x.json -o a --directory b
says 'may be given only once'
status 2 attn inspect token '#0' x.json --json --tsv
says "'--json' and '--tsv' cannot be combined"
status 0 attn inspect token '#0' x.json --causal --causal --json --json
status 0 attn inspect token '#0' x.json --head 0,1
mv out both
status 0 attn inspect token '#0' x.json --head 0 --head 1
same 'heads are joined' out both

# What a word means, if it is no option.
while read -r command option meant; do
	status 2 attn "$command" x.json "$option" 1
	says "unknown option '$option', did you mean '$meant'"
done << 'END'
heatmap --cmap --colormap
heatmap --palette --colormap
heatmap --vmax --max
run --n-heads --num-heads
run --sliding-window --window
run --is-causal --causal
run --outdir --directory
END
status 2 attn run x.json --attn-mask m.npy
says "unknown option '--attn-mask': 'mask' is an input, give mask=FILE"
status 2 attn inspect x.json
says "'x.json' is a file, did you mean 'attn inspect file x.json'"

# Stored weights and what masks them: it agrees with them, or is refused.
echo '{"weights": [[[0.7, 0.3, 0], [0.2, 0.6, 0.2], [0.2, 0.3, 0.5]], [[1, 0, 0], [0.5, 0.25, 0.25], [0, 0, 1]]]}' > w.json
status 3 attn run w.json --causal --rankings -
says "'w.json': 'weights[0,0,1]' is 0.3, expected 0 where causal masks it (3 such weights)"
status 3 attn inspect token '#2' w.json --window 0,0
says "'weights[0,0,1]' is 0.3, expected 0 where window masks it (7 such weights)"
echo '{"mask": [[true, true, true], [true, true, true], [false, true, true]]}' > mask.json
status 3 attn run w.json mask.json --weights w.npy
says "'weights[0,2,0]' is 0.2, expected 0 where mask masks it (1 such weight)"
echo '{"key_padding": [true, true, false]}' > padding.json
status 3 attn heatmap w.json padding.json
says 'where key_padding masks it (4 such weights)'
echo '{"weights": [[1, 0], [0.5, 0.5]]}' > triangle.json
status 0 attn run triangle.json --causal --rankings - --top all
is 'what is masked is not ranked' "$(tail -n +2 out | cut -f3,6 | tr '\t\n' ', ')" '0,0 1,0 1,1 '
status 0 attn run triangle.json --rankings - --top all
is 'and 0 is' "$(tail -n +2 out | wc -l)" 4

# Rows that do not sum to 1 are pointed out once.
echo '{"weights": [[[0.5, 0.5], [0.5, 0.5]], [[0.8, 0.7], [0.2, 0.3]]]}' > rows.json
status 0 attn run rows.json --rankings -
says "note: 'rows.json': row 0 of head 1 sums to 1.5, expected 1 (columns do: transposed?)"
is 'one note' "$(grep -c sums err)" 1
echo '{"weights": [[0.5, 0.62], [0, 1]]}' > dropout.json
status 0 attn run dropout.json --rankings -
says "row 0 of head 0 sums to 1.12, expected 1 (dropout in training?)"
echo '{"weights": [[0.33, 0.33, 0.33], [0, 0, 0], [0.5, 0.5, 0]]}' > rounded.json
status 0 attn run rounded.json --rankings -
silent
echo '{"weights": [[0.2, 0.3], [0.5, 0.1]], "sinks": 1}' > sinks.json
status 0 attn run sinks.json --rankings -
silent
echo '{"weights": [[0.2, 0.3], [0.5, 0.1]], "zero_sink": true}' > sinks.json
status 0 attn run sinks.json --rankings -
silent
echo '{"weights": [[1.3, 0.2], [0, 1]]}' > above.json
status 3 attn run above.json --rankings -
says 'dropout in training leaves weights above 1: evaluate with dropout off'
status 0 attn run rows.json --weights made.safetensors
status 0 attn run made.safetensors --rankings -
silent

# Signed weights are read back, from whatever holds them.
echo '{"q": [[[1, 0], [0, 1]], [[0, 2], [1, 1]]], "k": [[[1, 0], [0, 1]], [[3, 0], [0, 1]]], "lambda": 0.8}' > d.json
status 0 attn run d.json --weights d.npz
status 0 attn run d.json --weights d.npy
status 0 attn run d.json --rankings - --top all
mv out signed
status 0 attn run d.npz --rankings - --top all
same 'npz' out signed
status 0 attn run weights=d.npy --lambda 0.8 --rankings - --top all
same 'npy' out signed
status 3 attn run weights=d.npy --rankings -
says 'differential attention leaves negative ones: give --lambda'

# Shards hold no rankings and pictures.
for option in '--top 1' --json '--colormap viridis'; do
	status 2 attn run x.json $option --shard 1/2 -o parts
	says "'${option%% *}' and '--shard' cannot be combined"
done

# No output replaces an input, but a tensor's that names it.
status 0 attn run x.json -o result
cp -r result before
status 2 attn run result/attention.safetensors -o result
says "'result/attention.safetensors' is an input and would be replaced"
status 2 attn run weights=result/attention.safetensors:weights -o result/../result
says 'is an input and would be replaced'
ok 'nothing was touched' diff -r result before
cp w.json w
for command in heatmap view; do
	status 2 attn "$command" w -o w
	says "'w' is an input and would be replaced"
done
status 2 attn run w.json --rankings w.json
says 'is an input and would be replaced'
same 'and it is as it was' w w.json
status 0 attn run weights=d.npy --lambda 1 --weights d.npy

# Colours that leave a key out change nothing of what is masked.
status 0 attn run x.json --causal --exclude-first -o whole
status 0 attn inspect file whole/attention.safetensors
ok 'causal is kept' grep -q '^setting.causal' out
status 0 attn run x.json --causal --exclude-first --renormalise -o view
status 0 attn inspect file view/attention.safetensors
ok 'a view has keys of its own' test "$(grep -c causal out)" = 0

# Square matrices, and matrices that disagree.
tensors square.safetensors '"num_heads":"1"' embeddings wq wk
status 0 attn run square.safetensors --weights w.npy
says "note: 'wq' is square and layout is not given: taken as in,out, x W"
status 0 attn run square.safetensors --layout out,in --weights w.npy
ok 'no note where it is given' test "$(grep -c square err)" = 0
echo '{"embeddings": [[1, 2, 3]], "wq": [[1, 2, 3], [4, 5, 6]], "wk": [[1, 2], [3, 4], [5, 6]],
	"wv": [[1, 2], [3, 4], [5, 6]], "num_heads": 1}' > odd.json
for layout in in,out out,in; do
	status 3 attn run odd.json --layout $layout
	says "'wq' is 2 x 3, which is 'out,in', but 'wv' is 'in,out', expected one layout: transpose 'wq'"
done

# How an unlikely q was read.
echo '{"q": [[[1], [2]], [[3], [4]], [[5], [6]]], "k": [[[1], [2]], [[3], [4]], [[5], [6]]]}' > q.json
status 0 attn run q.json --weights w.npy
says "note: 'q' is read as 3 heads x 2 tokens, head size 1 (--packed is for"
status 0 attn run q.json --num-heads 3 --weights w.npy
ok 'no note where heads are counted' test "$(grep -c 'is read as' err)" = 0

# What a view cut away is said to be.
echo '{"weights": [[0.5, 0.5], [0.5, 0.5]], "tokens": ["the", "cat"]}' > cat.json
status 1 attn inspect token cat --to --key 0:1 cat.json
says "'cat' is not among the 1 keys that are left: '--key' cut it away"

# A picture under weights is not reduced.
status 2 attn heatmap x.json --image p.png --patches 2x2 --query a --reduce mean
says "'--reduce' and '--image' cannot be combined"

# A weight that is 1 but for rounding is not above 1.
echo '{"weights": [[1.0001, 0], [0, 1]]}' > one.json
status 0 attn heatmap one.json --exclude-first --terminal
ok 'no caption of weights above 1' test "$(grep -c 'weights above' out)" = 0
finish
