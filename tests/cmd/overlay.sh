#!/bin/bash
# What a token attends to over the picture whose patches are the keys.
. "$(dirname "$0")/lib.sh"
scene=$root/samples/scene.safetensors
over="--image $root/samples/scene.png --patches 7x7"

status 0 attn heatmap "$scene" $over --query ball -o ball.png
says "wrote 'ball.png'"
ok 'a PNG' grep -qa PNG <(head -c 8 ball.png)
status 0 attn heatmap "$scene" $over --query '#2' -o index.png
same 'by index' ball.png index.png
status 0 attn heatmap "$scene" $over --query a -o a.png
says "note: 'a' occurs 4 times: drawing the first, '#0'"
status 0 attn heatmap "$scene" $over --query '#0' -o index.png
same 'the first of several' a.png index.png
for options in '--head thing' '--colormap ink' '--size 300' '--max 1' '--title x' '--dpi 192'; do
	status 0 attn heatmap "$scene" $over --query ball $options -o other.png
	ok "$options changes the picture" test "$(cksum < ball.png)" != "$(cksum < other.png)"
done
status 0 attn heatmap "$scene" $over --query ball -o - --threads 1
same 'standard output' out ball.png

# A stored result, with a key before the patches.
status 0 attn run "$scene" --weights stored.npy
status 0 attn heatmap weights=stored.npy $over --query '#2' -o stored.png
status 2 attn heatmap "$scene" $over --skip-keys 1 --query ball -o x.png
says "'--patches' does not fit: 48 keys after 1 skipped, expected 7 x 7 = 49"
status 2 attn heatmap "$scene" --image "$root/samples/scene.png" --patches 6x8 --query ball -o x.png
says "49 keys, expected 6 x 8 = 48, did you mean --skip-keys 1"
status 0 attn heatmap "$scene" --image "$root/samples/scene.png" --patches 6x8 --skip-keys 1 --query ball -o skip.png
status 2 attn heatmap "$scene" $over --skip-keys 100 --query ball -o x.png
says "0 keys after 100 skipped"

# Tokens that are not there.
status 1 attn heatmap "$scene" $over --query bal -o x.png
says "did you mean 'ball'"
status 1 attn heatmap "$scene" $over --query '#15' -o x.png
says "'#15'"

# Options that need each other, or do not go together.
status 2 attn heatmap "$scene" $over -o x.png
says "'--image' also requires '--query TOKEN'"
status 2 attn heatmap "$scene" --image "$root/samples/scene.png" --query ball -o x.png
says "'--image' also requires '--patches RxC'"
for options in '--patches 7x7' '--skip-keys 0'; do
	status 2 attn heatmap "$scene" $options -o x.png
	says "also requires '--image'"
done
status 0 attn heatmap "$scene" $over --query ball --exclude-first --renormalise -o other.png
status 2 attn heatmap "$scene" $over --query ball --exclude-first -o x.png
says "'--exclude-first' with '--image' also requires '--renormalise'"
status 2 attn heatmap "$scene" $over --query ball -o x.svg
says 'is written as .png'
for options in '--cell 3' '--transpose' --words '--key 1:3' '--top-keys 2' '--width 3in' '--theme dark' \
	--transparent '--font Serif' '--font-size 9' --terminal '--numbers on'; do
	status 2 attn heatmap "$scene" $over --query ball $options
	says "'${options%% *}' and '--image' cannot be combined"
done
for bad in 7 7x 0x49 7x-7 7x7x7 49x99999 '7 x 7' x; do
	status 2 attn heatmap "$scene" --image "$root/samples/scene.png" "--patches=$bad" --query ball -o x.png
	says "'--patches' is '$bad', expected rows and columns of patches, such as 14x14"
done
status 2 attn heatmap "$scene" $over --query ball --size 40 -o x.png
advised=$(sed -n 's/.*: give --size \([0-9]*\) or more.*/\1/p' err)
status 0 attn heatmap "$scene" $over --query ball --size "${advised:-0}" -o small.png

# Pictures that are none.
status 4 attn heatmap "$scene" --image none.png --patches 7x7 --query ball -o x.png
says "could not open 'none.png'"
printf '\377\330\377' > photo.jpg
status 3 attn heatmap "$scene" --image photo.jpg --patches 7x7 --query ball -o x.png
says "'photo.jpg' is not a good JPEG picture"
head -c 1000 "$root/samples/scene.png" > cut.png
status 3 attn heatmap "$scene" --image cut.png --patches 7x7 --query ball -o x.png
says "'cut.png' is a damaged PNG: it ends too early"
status 0 attn heatmap "$scene" --image - --patches 7x7 --query ball -o piped.png < "$root/samples/scene.png"
same 'a picture from standard input' ball.png piped.png
ok 'nothing is left of a refusal' test ! -e x.png
finish
