#!/bin/bash
# Heatmaps as text: what a pipe gets, what a terminal gets, and that labels do not
# steer it.
. "$(dirname "$0")/lib.sh"
sample="$root/samples/animal.safetensors $root/samples/use-lite-layer1.safetensors"
export TERM=xterm-256color COLORTERM=truecolor
unset NO_COLOR COLUMNS

widest()
{
	LC_ALL=C.UTF-8 wc -L < "$1"
}

# In a pipe: no escapes, 80 columns, or those of COLUMNS.
status 0 attn heatmap $sample --terminal
silent
is 'no escapes in a pipe' "$(tr -cd '\033' < out | wc -c)" 0
is 'as wide as 80 columns' "$(($(widest out) <= 80))" 1
ok 'labels of rows' grep -qE '^because \|' out
ok 'a scale with numbers' grep -qE '^weight \|' out
mv out wide
status 0 env COLUMNS=40 "$ATTN" heatmap $sample --terminal
is 'as wide as COLUMNS' "$(($(widest out) <= 40))" 1
ok 'and then another picture' test "$(cksum < out)" != "$(cksum < wide)"
status 0 env COLUMNS=nonsense "$ATTN" heatmap $sample --terminal
same 'COLUMNS that is no number' out wide
for threads in 1 2; do
	status 0 attn heatmap $sample --terminal --threads $threads
	same 'the same with any number of threads' out wide
done
ok 'no file is made' test "$(listing)" = './err ./out ./wide '

# Options that are for files.
for options in '--size 300' '--cell 3' '--dpi 96' '--width 3in' '--font Serif' '--format svg' --transparent '-o x.png'; do
	status 2 attn heatmap $sample --terminal $options
	says "cannot be combined with '--terminal'"
done
status 2 env COLUMNS=50 "$ATTN" heatmap $sample --terminal --numbers on
says 'do not fit into 50 columns'
status 0 attn heatmap "$root/samples/hand.json" --terminal --numbers on --head 0
ok 'numbers' grep -qF 'sat | .25 .25 .50|' out

# What is in labels is shown, not done.
printf '{"tokens": ["a\\u001b[31mb", "\\u202eevil", "\\u05d0", "\\u0007"], "head_names": ["\\u001b]0;x\\u0007"],
	"embeddings": [[1], [2], [3], [4]], "wq": [[1]], "wk": [[1]], "wv": [[1]], "num_heads": 1}' > hostile.json
status 0 attn heatmap hostile.json --terminal
is 'nothing but lines and text' "$(tr -d '\n' < out | tr -cd '\000-\037\177' | wc -c)" 0
is 'no change of direction' "$(grep -c "$(printf '\342\200\256')" out)" 0
ok 'isolated' grep -q "$(printf '\342\201\250\327\220\342\201\251')" out

# On a terminal.
if ! has_terminal; then
	skip 'terminals: script(1) does not work here'
else
	sized()
	{
		on_terminal "stty cols $1 rows $2; '$ATTN' heatmap $sample --terminal" | tr -d '\r' > found
	}
	sized 110 30
	ok '24 bits' grep -q "$(printf '\033\\[48;2;')" found
	sed 's/\x1b\[[0-9;]*m//g' found > text
	is 'only colours are sent' "$(tr -cd '\033' < text | wc -c)" 0
	is 'as wide as the terminal' "$(($(widest text) <= 110))" 1
	ok 'three heads side by side' grep -qE 'head 0 +head 1 +head 2$' text
	sized 70 30
	sed 's/\x1b\[[0-9;]*m//g' found > text
	is 'or narrower' "$(($(widest text) <= 70))" 1
	COLORTERM= sized 100 30
	ok '256 colours' grep -q "$(printf '\033\\[48;5;')" found
	ok 'and no others' test "$(grep -c "$(printf '\033\\[48;2;')" found)" -eq 0
	NO_COLOR=1 sized 80 30
	same 'NO_COLOR' found wide
	TERM=dumb sized 80 30
	same 'a terminal without colours' found wide
fi
# A scale of each head, to both sides of 0, ends at what is largest.
status 0 attn heatmap "$root/samples/hand.json" --lambda 0.5 --terminal --range head
is 'both ends are named' "$(grep -cE '^ +-largest .* largest$' out)" 1
is 'and no end is a percentage' "$(grep -c 'e+02' out)" 0
finish
