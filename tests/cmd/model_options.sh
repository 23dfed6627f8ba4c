#!/bin/bash
# A model and a text where an input stands: forms of a text, and what cannot be combined.
. "$(dirname "$0")/lib.sh"
model=$root/samples/stories260K
m=(--model "$model")

# The same text in all its forms; ids are those that inspect tokens lists.
status 0 attn run "${m[@]}" --text 'Once upon a time' --weights expected.npy
ids=$(attn inspect tokens "$model" --text 'Once upon a time' --columns id | tail -n +2 | paste -sd ,)
printf 'Once upon a time' > text
status 0 attn run "${m[@]}" --text-file text --weights found.npy
same 'a file' expected.npy found.npy
status 0 attn run "${m[@]}" --text-file - --weights found.npy < text
same 'standard input' expected.npy found.npy
status 0 attn run "${m[@]}" --ids "$ids" --weights found.npy
same 'ids' expected.npy found.npy
status 0 attn run --weights found.npy --text='Once upon a time' --model="$model"
same 'options with =, the model last' expected.npy found.npy

# npy TYPE SHAPE: a header of version 1 on standard output
npy()
{
	local header="{'descr': '$1', 'fortran_order': False, 'shape': $2, }"
	printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header"
}

{
	npy '<i4' '(3,)'
	printf '\1\0\0\0\x93\1\0\0\x97\1\0\0'
} > ids.npy
{
	npy '<i8' '(1, 3)'
	printf '\1\0\0\0\0\0\0\0\x93\1\0\0\0\0\0\0\x97\1\0\0\0\0\0\0'
} > row.npy
status 0 attn run "${m[@]}" --ids 1,403,407 --weights expected.npy
for file in ids row; do
	status 0 attn run "${m[@]}" --ids $file.npy --weights found.npy
	same "ids of $file.npy" expected.npy found.npy
done
{
	npy '<f4' '(3,)'
	printf '\0\0\300\277\0\0\0\0\0\0\0\0' # -1.5
} > negative.npy
status 3 attn run "${m[@]}" --ids negative.npy
says "'negative.npy' has -1.5 at [0], expected whole numbers from 0"
{
	npy '<i4' '(3, 1)'
	printf '\1\0\0\0\1\0\0\0\1\0\0\0'
} > column.npy
status 3 attn run "${m[@]}" --ids column.npy
says 'expected one row of whole numbers'
status 3 attn run "${m[@]}" --ids 1,512
says "has id 512"
for list in '' , 1, ,1 1,,2 1,x -1 1.5 99999999999999999999 "$(printf '%030d' 1)"; do
	status 2 attn run "${m[@]}" --ids="$list"
	says 'expected whole numbers such as 1,2,3'
done

# --text is a form of tables without a model, and the text beside one.
printf '{"tokens": ["a", "b"], "q": [[[1], [2]]], "k": [[[0], [1]]]}' > x.json
status 0 attn inspect token b x.json --text --top 1
is 'a form' "$(tail -n 1 out)" 'b -> b 0.881'
status 0 attn inspect token b x.json --pretty --top 1
is 'the same by its other name' "$(tail -n 1 out)" 'b -> b 0.881'
status 0 attn inspect token upon "${m[@]}" --text 'Once upon' --layer 0 --head 0 --top 1 --pretty
ok 'that form of a model' grep -q '^upon -> ' out
status 0 attn inspect token upon "${m[@]}" --text 'Once upon' --layer 0 --head 0 --top 1
is 'a table otherwise' "$(head -c 10 out)" "$(printf 'layer\thead')"

# What a model's attention is stands in its folder; views stay.
for setting in --causal --window=2,0 --temperature=2 --scale=1 --softcap=5; do
	status 2 attn run "${m[@]}" --text a $setting
	says "'${setting%%=*}' and '--model' cannot be combined"
done
status 0 attn heatmap "${m[@]}" --text 'Once upon a time' --exclude-first --renormalise --key 1: -o view.png

# What does not go together.
status 2 attn run "${m[@]}"
says "'--model' also requires a text"
for option in --text-pair=a --type-ids=1 --no-special; do
	status 2 attn run "${m[@]}" $option
	says "'--model' also requires a text"
done
for option in --text-file=a --ids=1 --text-pair=a --type-ids=1 --no-special --attention=decoder; do
	status 2 attn heatmap x.json $option
	says "it also requires --model"
done
status 2 attn heatmap x.json --text a
says "it also requires --model"
status 2 attn run "${m[@]}" --text a x.json
says "'x.json' and '--model' cannot be combined"
status 2 attn run "${m[@]}" --text a q=x.json
says "'q=x.json' and '--model' cannot be combined"
status 2 attn run "${m[@]}" --text a --text-file text
says "'--text' and '--text-file' cannot be combined"
status 2 attn run "${m[@]}" --text a --ids 1
says "'--ids' and '--text' cannot be combined"
status 2 attn run "${m[@]}" --text-file text --ids 1
says "'--ids' and '--text-file' cannot be combined"
status 2 attn run "${m[@]}" --ids 1 --text-pair a
says "'--ids' and '--text-pair' cannot be combined"
status 2 attn run "${m[@]}" --ids 1 --no-special
says "'--ids' and '--no-special' cannot be combined"
status 2 attn run "${m[@]}" --text a --text b
says "'--text' may be given only once"
status 2 attn run "${m[@]}" --text a --type-ids 0,0
says "'--type-ids' has no effect"
status 2 attn run "${m[@]}" --text a --attention encoder
says "expected 'decoder'"
status 2 attn run "${m[@]}" --text a --attention sparse
says "expected 'decoder', the only one of a Llama model"

# Texts that are none.
status 3 attn run "${m[@]}" --text '' --no-special
says 'the text has no tokens'
status 3 attn run "${m[@]}" --text "$(printf 'ab\377')"
says 'byte 2 of the text is not UTF-8'
status 4 attn run "${m[@]}" --text-file missing
says "could not open 'missing'"
status 4 attn run --model missing --text a
says "'missing'"

# No output replaces a file of the model.
cp -r "$root/samples/stories260K" own
for output in weights hidden logits context q; do
	status 2 attn run --model own --text a --layer 0 --$output own/model.safetensors
	says "'own/model.safetensors' is an input and would be replaced"
done
status 2 attn run --model own --text a --layer 0 --rankings own/./tokenizer.json
says 'is an input and would be replaced'
status 0 attn heatmap --model own --text a --layer 0 -o own/a.png

# A page is called after the model and its text, which is cut between words.
status 0 attn view "${m[@]}/" --text 'Once upon a time' -o page.html
ok 'title of a page' grep -q '<title>stories260K: Once upon a time</title>' page.html
status 0 attn view "${m[@]}" --text "$(printf 'story %.0s' {1..30})" -o page.html
ok 'title of a long text' grep -qE '<title>stories260K: (story )+\.\.\.</title>' page.html
# No output replaces what a model and its text are read from.
cp -r "$model" kept
chmod -R u+w kept
cp -r kept before
ln -s kept/model.safetensors linked.safetensors
for file in kept/model.safetensors kept/tokenizer.json linked.safetensors ./kept/../kept/config.json; do
	for option in weights context hidden logits; do
		status 2 attn run --model kept --text a --$option "$file"
		says "'$file' is an input and would be replaced"
	done
done
ok 'the folder is as it was' diff -r kept before
echo a > text.npy
status 2 attn run --model kept --text-file text.npy --weights text.npy
says "'text.npy' is an input and would be replaced"
status 2 attn run --model kept/model.safetensors --ids 1 --weights kept/config.json
says "'kept/config.json' is an input and would be replaced"
status 0 attn run --model kept --text a --weights kept/new.npy
finish
