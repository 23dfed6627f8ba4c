#!/bin/bash
# What stands around a heatmap: axis titles, colour bar, caption, subword markers.
. "$(dirname "$0")/lib.sh"
cat > pieces.json <<'JSON'
{"tokens": ["un", "##do", "."], "num_heads": 1, "causal": true,
 "q": [[[1, 0], [0, 1], [1, 1]]], "k": [[[1, 0], [0, 1], [1, 1]]]}
JSON

# text NAME: the texts of a picture, a line each
text()
{
	grep -o '<text[^>]*>[^<]*' "$1" | sed 's/.*>//' | sort
}

status 0 attn heatmap pieces.json -o plain.svg
text plain.svg > plain.txt
ok 'titles' grep -qx query plain.txt
ok 'a colour bar' grep -qx weight plain.txt
ok 'a legend' grep -qx masked plain.txt
ok 'no markers' grep -qx do plain.txt

status 0 attn heatmap pieces.json --xlabel 'looked at' --ylabel 'looks' -o titles.svg
is 'titles given' "$(text titles.svg | grep -cx -e 'looked at' -e looks -e key -e query)" 2
status 0 attn heatmap pieces.json --transpose --xlabel queries -o transposed.svg
is 'of columns, transposed' "$(text transposed.svg | grep -x -e queries -e key -e query | tr '\n' ' ')" 'key queries '
status 0 attn heatmap pieces.json --xlabel '' --ylabel '' --no-colorbar --no-caption -o bare.svg
is 'nothing but labels' "$(text bare.svg | grep -cx -e key -e query -e weight -e masked)" 0
is 'no caption' "$(text bare.svg | grep -c hatched)" 0
status 0 attn heatmap pieces.json --no-colorbar -o bar.svg
is 'the caption says what the legend did' "$(text bar.svg | grep -c 'hatched cells are masked')" 1

status 0 attn heatmap pieces.json --markers keep -o markers.svg
ok 'markers' eval 'text markers.svg | grep -qx "##do"'
status 0 attn view pieces.json --markers keep -o page.html
ok 'markers of a page' grep -q '"##do"' page.html
status 0 attn run pieces.json --heatmaps pictures --markers keep --no-colorbar --xlabel x
status 2 attn heatmap pieces.json --markers keep --words -o x.svg
says 'words have no markers'
status 2 attn heatmap pieces.json --markers yes -o x.svg
says "expected 'keep' or 'drop'"
status 2 attn heatmap pieces.json --image a.png --patches 1x1 --query un --no-caption -o x.png
says "'--no-caption' and '--image' cannot be combined"

attn heatmap pieces.json --terminal --xlabel X --ylabel '' --no-colorbar --no-caption > terminal.txt
is 'terminal' "$(head -n 2 terminal.txt | tail -n 1)" 'columns: X'
is 'no bar on a terminal' "$(grep -c weight terminal.txt)" 0
finish
