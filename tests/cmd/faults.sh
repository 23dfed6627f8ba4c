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
for _ in {1..500}; do
	[ -z "$(find shrunk -name '.*' -type f)" ] || break
	sleep 0.01
done
ok 'a temporary file is made' test -n "$(find shrunk -name '.*' -type f)"
truncate -s 4096 q.npy
timeout 20 cat pipe > /dev/null &
reader=$!
exec 3>&-
wait $child
is 'an input that shrinks: status' $? 4
is 'and what is said' "$(cat err)" 'attn: an input file changed while it was read'
is 'and nothing is left' "$(listing shrunk)" './w.npy '
wait $reader

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

finish
