#!/bin/bash
# Figures for papers and pages: formats by the file's ending, widths, themes, fonts,
# and what reads them, where that is installed.
. "$(dirname "$0")/lib.sh"

sample="$root/samples/animal.safetensors $root/samples/use-lite-layer1.safetensors"

# first_bytes FILE COUNT
first_bytes()
{
	head -c "$2" "$1" | LC_ALL=C tr -c '[:print:]' .
}

# png_number FILE OFFSET: a big-endian number of 4 bytes
png_number()
{
	od -An -tu1 -j "$2" -N 4 "$1" | awk '{ print ((($1 * 256) + $2) * 256 + $3) * 256 + $4 }'
}

# The ending picks the format, in whatever case; --format does where there is none.
for format in png svg pdf; do
	status 0 attn heatmap $sample --head 3 -o "x.$format"
	status 0 attn heatmap $sample --head 3 --format "$format" -o plain
	same "$format by its ending and by --format" "x.$format" plain
	status 0 attn heatmap $sample --head 3 --format "$format" -o -
	same "$format on standard output" "x.$format" out
	status 0 attn heatmap $sample --head 3 -o "y.${format^^}"
	same "$format by an ending in capitals" "x.$format" "y.${format^^}"
	status 0 attn heatmap $sample --head 3 --format "$format"
	same "$format by default" "x.$format" "heatmap.$format"
	rm -f plain
done
is "PNG begins so" "$(first_bytes x.png 4)" .PNG
is "SVG begins so" "$(first_bytes x.svg 5)" '<?xml'
is "PDF begins so" "$(first_bytes x.pdf 5)" %PDF-
status 2 attn heatmap $sample -o x.jpg
says "'x.jpg' ends in '.jpg', expected .png, .svg or .pdf"
status 2 attn heatmap $sample -o z.png --format svg
says "'z.png' ends in '.png', expected .svg as --format says"
status 2 attn heatmap $sample --format gif
says "'--format' is 'gif', expected 'png', 'svg' or 'pdf'"
ok "nothing is left of a refusal" test ! -e x.jpg -a ! -e z.png

# A figure that cannot be made leaves what was there, and nothing on standard output.
cp x.svg kept.svg
status 2 attn heatmap $sample --width 40px -o kept.svg
says "do not fit into --width 40px: give --width "
same "a failure leaves the old file" x.svg kept.svg
status 2 attn heatmap $sample --width 40px --format svg -o -
is "a failure writes nothing" "$(wc -c < out)" 0
status 4 attn heatmap $sample -o no/such/x.svg

# Width on paper.
status 0 attn heatmap $sample --head 3 --width 3.3in --dpi 300 -o wide.png
is "3.3in at 300 dpi" "$(png_number wide.png 16)" 990
is "dots a metre" "$(png_number wide.png "$(($(grep -abo pHYs wide.png | head -n 1 | cut -d : -f 1) + 4))")" 11811
status 0 attn heatmap $sample --head 3 --width 84mm -o wide.svg
ok "84mm in SVG" grep -q ' width="84mm" height="[0-9.]*mm"' wide.svg
status 0 attn heatmap $sample --head 3 --width 240pt -o wide.pdf
ok "240pt in PDF" grep -aq 'MediaBox \[ 0 0 240 ' wide.pdf
status 2 attn heatmap $sample --width 3in --size 400
says "--width and --size cannot be combined"
status 2 attn heatmap $sample --width 3in --cell 9
says "--width and --cell cannot be combined"
for bad in 3 0in -3in 3inch in 1e9mm; do
	status 2 attn heatmap $sample "--width=$bad"
done

# Themes and backgrounds.
status 0 attn heatmap $sample --head 3 --theme dark -o dark.svg
ok "dark background" grep -q '<rect x="0" y="0" [^>]*fill="#111111"' dark.svg
status 0 attn heatmap $sample --head 3 --transparent -o clear.svg
ok "no background" sh -c '! grep -q "<rect x=\"0\" y=\"0\"" clear.svg'
status 0 attn heatmap $sample --head 3 --transparent -o clear.png
is "PNG with alpha" "$(od -An -tu1 -j 25 -N 1 clear.png | tr -d ' ')" 6
status 2 attn heatmap $sample --theme grey
says "'--theme' is 'grey', expected 'light' or 'dark'"
status 0 attn run $sample --heatmaps pictures --theme dark --width 3.3in
status 0 attn heatmap $sample --head 3 --theme dark --width 3.3in -o same.png
same "run draws the same" pictures/layer1-head3.png same.png

# Fonts.
status 0 attn heatmap $sample --head 3 --font 'No Such Font' -o font.svg
says "there is no font family 'No Such Font': '"
status 0 attn heatmap $sample --head 3 --font Serif -o serif.svg
is "a font that is there is no news" "$(grep -c note err)" 0
status 2 attn heatmap $sample --font ''
status 0 attn heatmap $sample --head 3 --font-size 18 -o large.svg
ok "labels of 18 points" grep -q 'font-size="24"[^>]*>animal<' large.svg
status 2 attn heatmap $sample --font-size 2

# Hostile tokens break nothing.
printf '{"tokens": ["<b>", "a&b", "]]>", "\\u0001\\u001b", "\\uffff", "\\u202eabc", "\\u05d0\\u05d1"],
	"q": [%s], "k": [%s]}' "$(numbers 1 7 4)" "$(numbers 2 7 4)" > hostile.json
for format in svg pdf; do
	status 0 attn heatmap hostile.json --title '<x>&"' -o "hostile.$format"
done
if command -v xmllint > /dev/null; then
	for file in x.svg hostile.svg dark.svg; do
		ok "$file is well-formed" xmllint --noout "$file"
	done
else
	skip "xmllint is not installed"
fi
ok "SVG has tokens as text" grep -q '>a&amp;b</text>' hostile.svg
ok "nothing from elsewhere" sh -c '! grep -o "href=\"[^d][^\"]*\|url([^#)]*)" x.svg hostile.svg'
if command -v pdftotext > /dev/null; then
	pdftotext x.pdf x.txt
	for token in animal street because tired query key weight; do
		ok "PDF has '$token' as text" grep -qx "$token" x.txt
	done
	ok "fonts are in the PDF" sh -c 'pdffonts x.pdf | tail -n +3 | awk "{ if (\$(NF-4) != \"yes\") exit 1 }"'
else
	skip "pdftotext is not installed"
fi

# More cells than viewers draw: one image, and a file of a reasonable size.
printf '{"q": [%s], "k": [%s], "causal": true}' "$(numbers 1 200 4)" "$(numbers 2 200 4)" > many.json
status 0 attn heatmap many.json -o many.svg
is "one image" "$(grep -c '<image' many.svg)" 1
ok "a small file" test "$(wc -c < many.svg)" -lt 300000
finish
