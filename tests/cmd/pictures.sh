#!/bin/bash
# Pictures as the commands make them: the scale's top, sizes that do not fit, one
# query in several heads, a full disk.
. "$(dirname "$0")/lib.sh"

sample="$root/samples/animal.safetensors $root/samples/use-lite-layer1.safetensors"

# The end of the scale changes the picture, and is checked.
status 0 attn heatmap $sample --head 3 -o plain.png
status 0 attn heatmap $sample --head 3 --max 0.2 -o clipped.png
ok "--max changes the picture" test "$(cksum < plain.png)" != "$(cksum < clipped.png)"
status 0 attn run $sample --heatmaps pictures --max 0.2
same "run --max draws the same" pictures/layer1-head3.png clipped.png
for bad in 0 -1 nan much; do
	status 2 attn heatmap $sample "--max=$bad" -o bad.png
	says "'--max' is '$bad', expected a number above 0"
done
ok "nothing is left of a refusal" test ! -e bad.png

# The size that is advised does.
shopt -s extglob
for options in "--size 100" "--size 32 --dpi 24" "--size 40 --head 0" "--size 64 --cell 9"; do
	status 2 attn heatmap $sample $options -o small.png
	advised=$(sed -n 's/.*: give --size \([0-9]*\) or more.*/\1/p' err)
	ok "advice for $options" test "${advised:-0}" -gt 0
	status 0 attn heatmap $sample ${options/#--size +([0-9])/--size ${advised:-0}} -o small.png
done

# A full disk is told with the path and the reason, and not as a matter of PNG.
if [ -w /dev/full ]; then
	status 4 attn heatmap $sample -o /dev/full
	says "'/dev/full': No space left on device"
else
	skip "no /dev/full"
fi
finish
