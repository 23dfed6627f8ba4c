#!/bin/bash
# Scales, colour maps, layers and order of pictures as the commands take them.
. "$(dirname "$0")/lib.sh"

sample="$root/samples/animal.safetensors $root/samples/use-lite-layer1.safetensors"

# changes NAME OPTION...: the picture differs from the plain one
status 0 attn heatmap $sample -o plain.png
changes()
{
	local name=$1
	shift
	status 0 attn heatmap $sample "$@" -o changed.png
	ok "$name changes the picture" test "$(cksum < plain.png)" != "$(cksum < changed.png)"
}
changes sqrt --transform sqrt
changes log --transform log
changes fixed --range fixed
changes head --range head
changes clip --clip 90
changes sentences --sentences
changes entropy --order entropy
changes similarity --order similarity
status 0 attn heatmap $sample --range shared --transform linear --order head -o same.png
same "the defaults by name" plain.png same.png

# What a vector picture says of its scale is text in it.
notes()
{
	local want=$1
	shift
	status 0 attn heatmap "$@" -o notes.svg
	ok "notes of $*: $want" grep -qF "$want" notes.svg
}
notes "colour scale: square root" $sample --transform sqrt
notes "colour scale: logarithm; weights below" $sample --transform log
notes "each head has its own scale" $sample --range head
notes "head 1, up to 0.75" $sample --range head
notes ">largest<" $sample --range head
notes "colour scale fixed from 0 to 1" $sample --range fixed
notes "scale ends at the 95th percentile" $sample --clip 95
notes "ordered by the mean entropy of rows, lowest first" $sample --order entropy
notes "lines where sentences end" $sample --sentences

# Options that contradict each other, and values that are none.
for pair in "--max 1 --range head" "--max 1 --range fixed" "--max 1 --clip 90" "--clip 90 --range fixed"; do
	status 2 attn heatmap $sample $pair -o bad.png
	says "cannot be combined: both say where the scale ends"
done
status 2 attn heatmap $sample --range own -o bad.png
says "'--range' is 'own', expected 'shared', 'fixed' or 'head'"
status 2 attn heatmap $sample --transform cube -o bad.png
says "'--transform' is 'cube', expected 'linear', 'sqrt' or 'log'"
status 2 attn heatmap $sample --clip 49 -o bad.png
says "'--clip' is '49', expected a number from 50 to 100"
status 2 attn heatmap $sample --order size -o bad.png
says "'--order' is 'size', expected 'head', 'entropy' or 'similarity'"
ok "nothing is left of a refusal" test ! -e bad.png

# Weights with a sign: a diverging map by itself, and no other.
notes "−" $sample --lambda 0.8
status 0 attn heatmap $sample --lambda 0.8 -o signed.png
status 0 attn heatmap $sample --lambda 0.8 --colormap balance -o balance.png
same "their default is balance" signed.png balance.png
status 2 attn heatmap $sample --lambda 0.8 --colormap viridis -o bad.png
says "these are signed weights, and '--colormap viridis' does not show signs: give one of balance, purple-green"
status 2 attn run $sample --lambda 0.8 --heatmaps pictures --colormap viridis
says "give one of balance, purple-green"
status 0 attn heatmap $sample --colormap purple-green -o half.png

# The list: no input, no colours in a pipe.
status 0 attn heatmap --colormap list
silent
is "maps" "$(cut -f 1 out | tr '\n' ' ')" \
	"ink greys viridis magma cividis inferno plasma balance purple-green "
is "two columns" "$(awk -F '\t' 'NF != 2' out)" ""
ok "no escapes" test "$(tr -d -c '\033' < out | wc -c)" -eq 0
status 2 attn run $sample --heatmaps pictures --colormap list
says "'--colormap' is 'list', expected one of ink, greys,"

# Layers: rows of panels with titles at the edges.
cat > layers.json << 'END'
{"weights": [[[[1, 0], [0.5, 0.5]], [[0, 1], [0.25, 0.75]]],
             [[[0.5, 0.5], [0.5, 0.5]], [[1, 0], [0, 1]]],
             [[[0, 1], [1, 0]], [[0.5, 0.5], [0.75, 0.25]]]]}
END
count()
{
	grep -o ">$1<" layers.svg | wc -l
}
status 0 attn heatmap layers.json --layer 0,2 -o layers.svg
is "no notes" "$(grep -vc wrote err)" 0
is "titles of rows" "$(count 'layer 0') $(count 'layer 1') $(count 'layer 2')" "1 0 1"
is "titles of columns" "$(count 'head 0') $(count 'head 1')" "1 1"
ok "title" grep -q "2 of 3 layers, 2 heads" layers.svg
status 0 attn heatmap layers.json --layer 0-1 --range head -o layers.svg
is "tops over panels" "$(grep -o '>to [0-9.]*<' layers.svg | tr '\n' ' ')" ">to 1< >to 1< >to 0.5< >to 1< "
status 0 attn heatmap layers.json --layer 0-2 --order entropy -o layers.svg
# Mean entropies in units of ln 2: 0.5, 0.41; 1, 0; 0, 0.91.
is "order by entropy" "$(grep -o 'L[0-9] H[0-9]' layers.svg | tr '\n' ' ')" "L1 H1 L2 H0 L0 H1 L0 H0 L2 H1 L1 H0 "
status 0 attn heatmap layers.json -o layers.svg
says "drawing the first of 3 layers"
finish
