#!/bin/bash
# A model's layers, which are ready one at a time: contexts of some, layers joined, shards.
. "$(dirname "$0")/lib.sh"
text=(--model "$root/samples/stories260K" --text 'Once upon a time')
tokens=5 width=64 heads=8
context=$((tokens * width * 4)) weights=$((heads * tokens * tokens * 4)) # bytes of a layer

# layer FILE NUMBER BYTES: the numbers of a layer of an npy, whose header is 128 bytes
layer()
{
	tail -c "+$((129 + $2 * $3))" "$1" | head -c "$3"
}

status 0 attn run "${text[@]}" --context c.npy --weights w.npy
is 'contexts of all layers' "$(head -c 128 c.npy | grep -ao "'shape': ([0-9, ]*)")" "'shape': (5, 5, 64)"
status 0 attn run "${text[@]}" --context c31.npy --weights w31.npy --layer 3,1
is 'contexts of two' "$(head -c 128 c31.npy | grep -ao "'shape': ([0-9, ]*)")" "'shape': (2, 5, 64)"
for pair in '0 1' '1 3'; do
	read -r at number <<< "$pair"
	layer c.npy "$number" $context > expected
	layer c31.npy "$at" $context > found
	same "contexts of layer $number are the same alone" expected found
	layer w.npy "$number" $weights > expected
	layer w31.npy "$at" $weights > found
	same "weights of layer $number are the same alone" expected found
done
status 0 attn run "${text[@]}" --context c.tsv --layer 3
is 'the layer by its number' "$(cut -f 1 c.tsv | sort -u)" "$(printf '3\nlayer')"
status 0 attn run "${text[@]}" --context alone.npy
same 'contexts are the same without weights' c.npy alone.npy

# Layers that are joined; joined NAME EXPRESSION OPTION...: what awk makes of each pair's weights w,
# of which it has seen n.
joined()
{
	local name=$1 expression=$2
	shift 2
	status 0 attn run "${text[@]}" --weights joined.tsv "$@"
	awk -F '\t' "NR > 1 { i = \$2 \" \" \$3 \" \" \$5; w = \$NF; n[i]++; $expression } END {
		for (i in of) printf \"%s %.5f\\n\", i, of[i] }" all.tsv | sort > expected
	awk -F '\t' 'NR > 1 { printf "%s %s %s %.5f\n", $1, $2, $4, $NF }' joined.tsv | sort > found
	ok "there are numbers to compare" test -s expected
	same "$name of layers" expected found
}

status 0 attn run "${text[@]}" --weights all.tsv
joined mean 'of[i] += w / 5' --layer mean
joined max 'if (w > of[i]) of[i] = w + 0' --layer max
status 0 attn run "${text[@]}" --weights all.tsv --layer 1-4
joined 'mean of some' 'of[i] += w / 4' --layer 1-4 --mean
status 0 attn view "${text[@]}" --layer 2,4 -o page.html

# Shards end within layers.
for i in 1 2 3; do
	status 0 attn run "${text[@]}" --shard $i/3 -o shards
done
status 0 attn merge shards/part-* --context merged.npy --weights merged-w.npy
same 'merged contexts' c.npy merged.npy
same 'merged weights' w.npy merged-w.npy

# What is not of a model, or not of some heads.
status 2 attn run "${text[@]}" --context x.npy --head 1
says "'--head' and '--context' cannot be combined"
status 2 attn run "${text[@]}" --context x.npy --layer mean
says "'--layer mean' and '--context' cannot be combined"
for option in output q k v; do
	status 2 attn run "${text[@]}" --$option x.npy
	says "--$option"
done
status 0 attn run "${text[@]}" --output x.npy --context c3.npy --layer 3
layer c.npy 3 $context > expected
layer c3.npy 0 $context > found
same 'contexts of a layer by itself' expected found
finish
