#!/bin/bash
# What once went wrong: inputs that change, streams that are closed, words that
# were misread, and the like.
. "$(dirname "$0")/lib.sh"
cp "$inputs/plain.json" x.json
attn run x.json --weights w.npy 2> /dev/null

# make_npy FILE SHAPE BYTES: zeros of float32.
make_npy()
{
	local dict="{'descr': '<f4', 'fortran_order': False, 'shape': ($2), }"
	{
		printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$dict"
		head -c "$3" /dev/zero
	} > "$1"
}

# An input that shrinks while it is read: said, and nothing half made is left.
make_npy q.npy '1, 6000, 64' 1536000
make_npy k.npy '1, 2000, 64' 512000
mkdir shrunk
mkfifo pipe
ln -s ../pipe shrunk/w.npy
exec 3<> pipe
"$ATTN" run q=q.npy k=k.npy --weights shrunk/w.npy --scores shrunk/s.npy 2> err &
child=$!
has_temporary()
{
	[ -n "$(find shrunk -name '.*' -type f)" ]
}
ok 'a temporary file is made' wait_until has_temporary
truncate -s 4096 q.npy
cat pipe > /dev/null 3>&- &
reader=$!
wait $child
is 'an input that shrinks: status' $? 4
is 'and what is said' "$(cat err)" 'attn: an input file changed while it was read'
is 'and nothing is left' "$(listing shrunk)" './w.npy '
kill $reader 2> /dev/null
wait $reader 2> /dev/null
exec 3>&-

# Standard output that is closed is a failure to write, not a success.
closed()
{
	"$@" >&-
}
for command in 'inspect token it x.json' 'run x.json --rankings -' 'inspect file x.json' 'heatmap x.json -o -' \
	'help' '--version'; do
	status 4 closed attn $command
	says 'could not write standard output: Bad file descriptor'
done
status 0 closed attn run x.json --weights closed.npy
same 'a file is written though standard output is closed' w.npy closed.npy

# The letter or word that is wrong is the one that is named.
for words in 'run -zq x.json' 'run x.json -zq' 'run --causal -zq x.json' 'run -hz x.json' 'inspect file x.json -z'; do
	status 2 attn $words
	says "unknown option '-z' (see"
done
status 2 attn run x.json --num-heads 2 -ho
says "option '-o' needs a value"
status 2 attn run x.json --directory
says "option '--directory' needs a value"
status 2 attn --zzz=3
says "unknown option '--zzz=3'"

# What files hold cannot steer a terminal.
esc=$(printf '\033]0;x\007') c1=$(printf '\302\2332J') bidi=$(printf '\342\200\256')
cat > steering.json << END
{"tokens": ["a", "b${bidi}c"], "q": [[[1], [2]]], "k": [[[0], [1]]], "num_heads": 1,
 "head_names": ["\u001b]0;x\u0007$c1$bidi"], "layer": 3}
END
steered()
{
	ok "$1" sh -c '! LC_ALL=C tr -d "\n" | LC_ALL=C grep -qE "[[:cntrl:]]|$(printf "\302[\200-\237]|\342\200\256")"' < "$2"
}
status 0 attn inspect token a steering.json --text
is 'a heading' "$(head -n 1 out)" 'layer 3 head 0 (\x1b]0;x\x07\x9b2J\u202e)'
steered 'a heading steers nothing' out
status 0 attn inspect file steering.json --text
steered 'inspect file as text steers nothing' out
status 0 attn inspect file steering.json --json
steered 'inspect file as JSON steers nothing' out
cp steering.json "$esc$c1$bidi.json"
status 3 attn run "$esc$c1$bidi.json" --num-heads 7
steered 'a message steers nothing' err
status 0 attn inspect file --text "$esc$c1$bidi.json"
steered 'the name of a file steers nothing' out
rm -- "$esc$c1$bidi.json"

# Two outputs in one file, however it is spelt.
mkdir two
ln -s ../two/x.npy two/link.npy
ln -s two again
for other in two/x.npy ./two/x.npy two/../two/x.npy two/link.npy again/x.npy "$PWD/two/x.npy"; do
	status 2 attn run x.json --weights two/x.npy --context "$other"
	says "'--context' and '--weights' are both 'two/x.npy', expected two files"
done
is 'nothing is made' "$(listing two)" './link.npy '
status 0 attn run x.json --weights two/x.npy --context two/y.npy
status 2 attn run x.json --weights two/link.npy --scores again/x.npy
ln -s /dev/null two/null.npy
status 0 attn run x.json --weights two/null.npy --context two/null.npy
cp w.npy same.npy
status 0 attn run weights=same.npy --weights same.npy
same 'an output may be an input' w.npy same.npy
status 2 attn run x.json --weights a.npy --weights b.npy
says "'--weights' may be given only once"
status 2 attn run x.json -o a --directory b
says "'--directory' may be given only once"

# Options of an output that is not made.
ignored()
{
	status 2 attn run x.json "${@:2}"
	says "$1"
}
ignored "'--top' is for a ranking" --context c.npy --top 3
ignored "'--json' is for a ranking on standard output" --rankings r.tsv --json
ignored "'--text' is for a ranking on standard output" --weights - --text
ignored "'--cell' is for pictures: it also requires --heatmaps DIR" --rankings - --cell 3
status 0 attn run x.json --weights a.npy --rankings - --top all --jsonl
is 'all keys' "$(wc -l < out)" 32

# The title says which heads are drawn.
sed -e 's/"num_heads": 2/"num_heads": 4/' -e /head_names/d x.json > four.json
titled()
{
	attn heatmap four.json --head "$1" -o expected.png --title "$2" 2> err
	attn heatmap four.json --head "$1" -o found.png 2> err
	same "the title of --head $1" expected.png found.png
}
titled 0,2 'heads 0, 2'
titled 0-3 '4 heads'

# Pango is looked for before anything is made.
mkdir library
: > library/libpangocairo-1.0.so.0
without_pango()
{
	LD_LIBRARY_PATH=$PWD/library "$@"
}
status 4 without_pango attn run x.json -o none
says 'install Pango'
says 'single outputs, such as --weights FILE, need no pictures'
ok 'nothing is made without Pango' test ! -e none
status 4 without_pango attn heatmap x.json -o none.png
says 'install Pango'
status 0 without_pango attn run x.json --weights none.npy

# What a stored result has no use for is refused; what hides and names stays.
cat > stored.json << 'END'
{"weights": [[[1, 0], [0.5, 0.5]]], "num_heads": 1}
END
for option in '--scale 3' '--softcap 1' '--num-heads 1' '--num-kv-heads 1' --packed --packed=false '--layout out,in' \
	--add-zero-attn; do
	for command in 'run --rankings -' heatmap 'inspect token #0'; do
		status 2 attn $command stored.json $option
		says "'${option%%[ =]*}' has no effect on a stored result: 'stored.json'"
	done
done
status 0 attn run stored.json --causal --rankings -
status 3 attn run x.json weights=w.npy
says "'weights' of 'w.npy' is a stored result, 'embeddings' of 'x.json' is an input: give one of them"
for role in q past_k wo bias_v; do
	status 3 attn run "$role=w.npy" weights=w.npy
	says "'$role' of 'w.npy' is an input"
done
printf '[[true, false], [true, true]]' > mask.json
printf '[2]' > lengths.json
printf '["a", "b"]' > names.json
status 0 attn run weights=stored.json mask=mask.json kv_lengths=lengths.json tokens=names.json --rankings -

# What is given and has no effect is said: of an option, of a file, of what an option turns off.
printf '{"q": [[[1, 2]]], "k": [[[1, 0]]], "rope": 100, "rope_style": "half", "context": [[1]]}' > turned.json
status 2 attn run x.json --axes layer --rankings -
says "attn run: '--axes' has no effect without stored 'weights'"
printf '{"q": [[[1, 2]]], "k": [[[1, 0]]], "packed": false, "rope_dim": 2}' > useless.json
status 3 attn run useless.json --rankings -
says "'useless.json': 'rope_dim' has no effect without 'rope', such as 10000"
status 0 attn run turned.json --rope none --rankings -
says "note: 'turned.json': 'rope_style' is left out: '--rope' turns it off"
says "note: 'turned.json': 'context', a result, is left out beside an input"
printf '{"weights": [[[1]]], "rope": 100}' > others.json
status 3 attn run others.json --rankings -
says "'others.json': 'rope' has no effect on stored weights"
attn run turned.json --weights turned.safetensors 2> err
status 0 attn run turned.safetensors --rankings -
silent

# A PNG has no other ending.
for name in a.gif b.ps c.jpg d.png.txt; do
	status 2 attn heatmap x.json -o "$name"
	says "'$name' ends in '.${name##*.}', expected .png"
	ok "$name is not made" test ! -e "$name"
done
for name in a.PNG b ./dir.d/c .hidden; do
	mkdir -p dir.d
	status 0 attn heatmap x.json -o "$name"
	is "$name is a PNG" "$(head -c 4 "$name" | tail -c 3)" PNG
done

# Places of a token that occurs several times.
cat > places.json << 'END'
{"tokens": ["the", "cat", "the"], "num_heads": 1, "layer": 2,
 "q": [[[1], [1], [0]]], "k": [[[0], [9], [0]]]}
END
attn inspect token the places.json --text --top 2 > found
printf '%s\n' 'layer 2 head 0' 'the #0 -> cat 1.000' 'the #0 -> the #0 0.000' '' 'the #2 -> the #0 0.333' \
	'the #2 -> cat 0.333' > expected
same 'places of a token' expected found
attn inspect token the places.json --text --top 1 --to > found
printf '%s\n' 'layer 2 head 0' 'the #2 -> the #0 0.333' '' 'the #2 -> the #2 0.333' > expected
same 'places of a key' expected found
attn inspect token '#2' places.json --text --top 1 > found
printf '%s\n' 'layer 2 head 0' 'the #2 -> the #0 0.333' > expected
same 'one place of a repeated token, told from the others' expected found
attn run places.json --rankings - --text --top 1 > found
printf '%s\n' 'layer 2 head 0' 'the #0 -> cat 1.000' 'cat -> cat 1.000' 'the #2 -> the #0 0.333' > expected
same 'places in a ranking of all' expected found

# Heads that nobody counted.
sed -e /num_heads/d -e /head_names/d x.json > one.json
status 0 attn run one.json --rankings -
says 'attn run: note: num_heads is not given: taken as 1'
status 0 attn run one.json --rankings - --num-heads 1
silent
status 3 attn run x.json --num-heads 3
says "num_heads is 3, expected a divisor of the 4 columns of 'wq'"
status 3 attn run x.json --num-heads 4 --num-kv-heads 3
status 3 attn run x.json --layout out,in --num-heads 3

# Hints.
hint()
{
	local expected=$1 part=$2
	shift 2
	status "$expected" attn "$@"
	says "$part"
}
hint 2 "did you mean '--num-heads'" run x.json --heads 4
hint 2 "did you mean 'attn run'" RUN x.json
hint 1 "did you mean 'animal'" inspect token ANIMAL x.json
hint 1 "'3' is not among the 4 queries, did you mean '#3'" inspect token 3 x.json
hint 2 "'it' is no file, but 'x.json' is: the token comes first" inspect token x.json it
hint 2 "no head is named 'sam', did you mean 'same'" inspect token it x.json --head sam
hint 2 "no head is named 'zzzz'" inspect token it x.json --head zzzz
hint 2 "expected a list such as 0,3-5 or a name" inspect token it x.json --head 1-
hint 3 'JSON has no NaN' run <(printf '{"wq": [[NaN]]}')
hint 3 'a PyTorch checkpoint, a pickle, which is not read' run <(printf '\200\002}q\000.')
hint 4 "'two' is a directory, expected a file" heatmap two
attn run x.json -o results > out 2> err
hint 4 "'results' is a directory, did you mean 'results/attention.safetensors'" heatmap results
printf '[[true, true, true, true, true]]' > wide.json
hint 3 'with heads, 2, or batch items and heads, 1 x 2, in front' run x.json mask=wide.json
status 2 attn
for command in $(attn help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -v help); do
	ok "'attn' names $command" grep -qE "[ ,]$command[ ,]" err
done
printf '{"q": [[[[1]]], [[[2]]]], "k": [[[[1]]], [[[2]]]]}' > batch.json
status 0 attn heatmap batch.json -o batch.png
says 'note: drawing the first of 2 batch items: choose with --batch'
status 2 attn heatmap batch.json --renormalise -o batch.png
is 'a picture that is refused has no first item' "$(wc -l < err)" 1

# A large picture on a full disk.
if [ -w /dev/full ]; then
	ln -s /dev/full full.png
	make_npy large.npy '1, 400, 4' 6400
	status 4 attn heatmap q=large.npy k=large.npy --cell 8 -o full.png
	says "could not write 'full.png': No space left on device"
fi

# Completion knows where a token stands, and where a file.
completed()
{
	(
		set +u
		. "$root/man/attn.bash"
		compopt() { :; }
		COMP_WORDS=(attn inspect token "$@")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_attn
		printf '%s\n' "${COMPREPLY[@]}"
	)
}
is 'no file for a token' "$(completed x)" ''
is 'nor behind an option' "$(completed --top 5 x)" ''
is 'nor behind the value of a setting' "$(completed --rope 10000 x)" ''
is 'a file behind a token and a setting' "$(completed it --rope 10000 x.j)" x.json
is 'a file behind a token' "$(completed it --top = 5 x.j)" x.json

# Many heads take no more memory than the few that are drawn at a time.
peak()
{
	local child
	"$ATTN" "$@" 2> err &
	child=$!
	highest=0
	while found=$(awk '/^VmHWM/ { print $2 }' /proc/$child/status 2> /dev/null) && [ -n "$found" ]; do
		highest=$found
		sleep 0.02
	done
	wait $child
}
if [ ! -r /proc/self/status ] || grep -q __asan_init "$ATTN"; then
	skip 'the memory of many heads'
else
	make_npy q2.npy '2, 800, 4' 25600
	make_npy k2.npy '2, 800, 4' 25600
	make_npy q30.npy '30, 800, 4' 384000
	make_npy k30.npy '30, 800, 4' 384000
	peak run q=q2.npy k=k2.npy --heatmaps few
	few=$highest
	peak run q=q30.npy k=k30.npy --heatmaps many
	ok "30 heads in $highest KiB, 2 in $few KiB" test "$highest" -lt $((few + 40000))
	is 'a picture for each head' "$(find many -name '*.png' | wc -l)" 31
fi

finish
