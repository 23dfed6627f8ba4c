#!/bin/bash
# A run that is killed leaves neither a temporary file nor half a one, and dies of
# the signal.
. "$(dirname "$0")/lib.sh"
cp "$inputs/plain.json" x.json

# So large that writing it as text takes a while.
awk 'BEGIN { printf "{\"q\": [["; for (i = 0; i < 3000; i++) printf "%s[%d]", i ? ", " : "", i % 7
	printf "]], \"k\": [["; for (i = 0; i < 3000; i++) printf "%s[%d]", i ? ", " : "", i % 5
	print "]]}" }' > long.json

# Whether the command in the background has made a temporary file.
has_temporary()
{
	[ -n "$(find "$1" -name '.*' -type f)" ]
}

for signal in TERM INT HUP XCPU; do
	mkdir "$signal"
	number=$(kill -l $signal)
	# A shell ignores SIGINT for what it starts in the background: undo that.
	(trap - INT; exec "$ATTN" run long.json --weights "$signal/w.tsv" --rankings "$signal/r.tsv") 2> err &
	child=$!
	ok "$signal: a temporary file is made" wait_until has_temporary "$signal"
	kill -s "$signal" $child
	wait $child 2> /dev/null
	is "$signal: dies of it" $? $((128 + number))
	is "$signal: nothing is left" "$(listing "$signal")" ''
done

# Killed in front of a named pipe that nobody writes: nothing was made yet.
mkfifo pipe
mkdir waiting
"$ATTN" run pipe -o waiting/out > out 2> err &
child=$!
exec 3<> pipe # now it is open, and empty
sleep 0.2
kill -TERM $child
wait $child 2> /dev/null
is 'killed while reading a pipe' $? 143
exec 3>&-
is 'nothing is made' "$(listing waiting)" ''

# A file that was there stays as it was.
mkdir kept
printf 'old' > kept/w.tsv
"$ATTN" run long.json --weights kept/w.tsv 2> err &
child=$!
ok 'a temporary file beside the old one' wait_until has_temporary kept
kill -TERM $child
wait $child 2> /dev/null
is 'the old file stays' "$(cat kept/w.tsv)" old
is 'and is alone' "$(listing kept)" './w.tsv '

# nohup: a signal that was ignored before is ignored still.
(trap '' HUP; exec "$ATTN" run long.json --weights kept/w.npy) 2> err &
child=$!
sleep 0.05
kill -HUP $child 2> /dev/null
wait $child
is 'nohup' $? 0
ok 'the file is there' test -s kept/w.npy

# A limit on file size is a failure that is said, or a signal, and never half a file.
mkdir limited
{ (ulimit -f 100; exec "$ATTN" run long.json --weights limited/w.npy); } 2> err
ok 'a limit on file size' test $? -ge 4
is 'nothing is left of it' "$(listing limited)" ''
finish
