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
	says "is given twice: it may be given only once"
done
status 2 attn run x.json -o a --directory b
says 'is given twice'
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
finish
