#!/bin/bash
# Standard streams: pipelines, terminals, full disks, closed pipes and streams.
. "$(dirname "$0")/lib.sh"
cp "$inputs/plain.json" x.json
header=$(printf 'layer\thead\tquery\tquery_token\trank\tkey\tkey_token\tweight')

# Rankings in a pipeline.
attn run x.json --rankings - 2> err | sort -t$'\t' -k8 -gr | head > top
is 'sorted rankings' "$(head -n 1 top)" "$(printf '0\t0\t1\t▁animal\t1\t1\t▁animal\t0.70567125')"
is 'rankings say nothing' "$(cat err)" ''
is 'a table has one header' "$(attn run x.json --rankings - | head -n 1)" "$header"
is 'only what is asked for is made' "$(listing)" './err ./top ./x.json '

# Standard input, once.
attn run x.json --rankings - > expected
attn run - --rankings - < x.json > found
same 'an input from standard input' expected found
attn run - --rankings - < <(cat x.json) > found
same 'an input from a pipe' expected found
attn run /dev/stdin --rankings - < x.json > found
same 'an input from /dev/stdin' expected found
status 2 attn run - mask=- < x.json
says "standard input ('-') may be given only once"
attn inspect token it - < x.json > found
attn inspect token it x.json > expected
same 'inspect token of standard input' expected found
status 3 attn run - < /dev/null
says 'empty'
mkdir all && (cd all && attn run - < ../x.json > out 2> err)
is 'all files of standard input' "$(listing all/attn-out)" \
	'./attention.safetensors ./head0.png ./head1.png ./heads.png ./rankings.tsv '

# A tensor on standard output.
attn run x.json --weights - > w.npy 2> err
is 'a tensor is written without a word' "$(cat err)" ''
is 'npy is the default' "$(head -c 6 w.npy | tail -c 5)" NUMPY
status 0 attn inspect token '#3' weights=w.npy --head 0 --top 1
is 'weights read back' "$(tail -n 1 out | cut -f 3,6,8)" "$(printf '3\t1\t0.61403346')"
attn run x.json --weights - | attn inspect token '#3' weights=- --head 0 --top 1 > found
same 'weights through a pipe' out found
for format in npy safetensors json tsv; do
	attn run x.json --weights w.$format 2> /dev/null
	attn run x.json --weights - --format $format > found
	same "$format on standard output" w.$format found
done
attn run x.json --weights - --format npz > w.npz # a pipe's archive has its sizes behind the data
attn run weights=w.npz --weights found.npy 2> /dev/null
same 'npz on standard output' w.npy found.npy
status 2 attn run x.json --weights - --context -
says 'standard output holds one file'
status 2 attn run x.json --weights w.npy --format npy
status 2 attn run x.json --heatmaps -

# A terminal gets text, and never a tensor or a picture.
shown()
{
	on_terminal "$*; echo status=\$?" | tr -d '\r'
}
if has_terminal; then
	shown "'$ATTN' run x.json --weights -" > found
	ok 'a tensor is refused on a terminal' grep -q 'standard output is a terminal' found
	ok 'and is wrong usage' grep -q 'status=2' found
	shown "'$ATTN' heatmap x.json -o -" > found
	ok 'a picture is refused on a terminal' grep -q 'standard output is a terminal' found
	ok 'and is wrong usage, too' grep -q 'status=2' found
	shown "'$ATTN' inspect token it x.json --head 0 --top 1" > found
	ok 'a ranking is text on a terminal' grep -q '^it -> animal *0.614  █' found
	shown "'$ATTN' inspect token it x.json --head 0 --top 1 --tsv" > found
	ok 'or a table, when asked for' grep -qx "$header" found
else
	skip 'terminals: script(1) does not work here'
fi

# A picture in a pipe is that of the file.
attn heatmap x.json -o picture.png 2> err
is 'a picture is a PNG' "$(head -c 4 picture.png | tail -c 3)" PNG
attn heatmap x.json -o - > found
same 'a picture on standard output' picture.png found

# A reader that leaves early: no message, status 0, and nothing half made.
broken()
{
	ran="$*"
	{
		"$@" 2> err
		echo $? > code
	} | head -c 20 > /dev/null
	is "$ran | head: status" "$(cat code)" 0
	silent
}
awk 'BEGIN { printf "{\"q\": [["; for (i = 0; i < 600; i++) printf "%s[%d]", i ? ", " : "", i % 7
	printf "]], \"k\": [["; for (i = 0; i < 600; i++) printf "%s[%d]", i ? ", " : "", i % 5
	print "]]}" }' > long.json
broken attn run long.json --rankings -
broken attn run long.json --weights -
broken attn run long.json --scores - --format json
broken attn inspect token '#1' long.json --top all
broken attn inspect file x.json
broken attn help run
broken attn heatmap x.json -o -
# Then computing ends, too: the last weight, which is wrong, is never read.
awk 'BEGIN { printf "{\"weights\": ["; for (i = 0; i < 400; i++) { printf "%s[", i ? ", " : ""
	for (j = 0; j < 400; j++) printf "%s%d", j ? ", " : "", i * j == 399 * 399 ? 7 : 0
	printf "]" }; print "]}" }' > wrong.json
for format in tsv json npy npz safetensors; do
	broken attn run wrong.json --weights - --format $format
done
status 3 attn run wrong.json --weights w.tsv
status 3 attn run wrong.json --weights - --format tsv
(attn run wrong.json --weights - --rankings r.tsv --format tsv 2> err; echo $? > code) | head -c 20 > /dev/null
is 'but not while a file is being written' "$(cat code)" 3
mkdir head && {
	attn run long.json -o head/out 2> err
	echo $? > code
} | head -n 1 > found
is 'files are whole though the ranking had no reader' "$(cat code)" 0
is 'and none is missing' "$(listing head/out)" './attention.safetensors ./head0.png ./rankings.tsv '
is 'and so is the first line' "$(cat found)" "$header"

# A full disk is said, with status 4.
if [ -w /dev/full ]; then
	full()
	{
		"$@" > /dev/full
	}
	for command in 'run x.json --rankings -' 'run x.json --weights -' 'inspect token it x.json' \
		'inspect file x.json' 'heatmap x.json -o -' 'help' 'run --help' '--version'; do
		status 4 full attn $command
		says 'No space left on device'
		is "attn $command > /dev/full says one line" "$(wc -l < err)" 1
	done
	mkdir full
	for target in w.npy w.npz w.safetensors w.json w.tsv; do
		ln -s /dev/full full/$target
		status 4 attn run x.json --weights full/$target
		says "could not write 'full/$target': No space left on device"
	done
	ln -s /dev/full full/r.tsv
	status 4 attn run long.json --rankings full/r.tsv
	ln -s /dev/full full/p.png
	status 4 attn heatmap x.json -o full/p.png
	is 'nothing beside the links' "$(find full ! -type l)" full
else
	skip 'full disks: there is no /dev/full'
fi

# Closed standard streams: a file that is written must not land on one.
closed()
{
	"$@" >&-
}
status 0 closed attn run x.json --weights closed.npy
same 'a file with standard output closed' closed.npy w.npy
mkdir shut && (cd shut && attn run ../x.json <&- > out 2> err)
is 'all files with standard input closed' "$(listing shut/attn-out)" "$(listing all/attn-out)"
(attn run x.json --weights closed2.npy <&- >&- 2>&-)
same 'a file with all streams closed' closed2.npy w.npy
status 3 attn run - <&-
finish
