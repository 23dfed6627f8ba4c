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

# A limit on file size is a failure that is said, and never half a file.
mkdir limited
(ulimit -f 100; exec "$ATTN" run long.json --weights limited/w.npy) 2> err
is 'a limit on file size' $? 4
ok 'what is said of it' grep -q "could not write 'limited/w.npy': File too large" err
is 'nothing is left of it' "$(listing limited)" ''

# Where there is too little memory for text, or anything else, that is said, and nothing is left.
sanitized=$(nm -D "$ATTN" 2> /dev/null | grep -c __asan_init)
if [ "$sanitized" -eq 0 ]; then
	for limit in 20000 60000 90000 110000 118000 126000 140000; do
		mkdir little
		(ulimit -v $limit; timeout 60 "$ATTN" run "$root/samples/hand.json" -o little --quiet) > /dev/null 2> err
		found=$?
		case $found in
		0 | 4 | 127) pass ;; # 127: not even its libraries could be loaded
		*) fail "$limit KiB of memory: status $found: $(tail -n 1 err)" ;;
		esac
		is "no temporaries with $limit KiB" "$(find little -name '.*' -type f)" ''
		rm -r little
	done
	# What ends by a signal of its own says so.
	for signal in ABRT SEGV TRAP; do
		mkdir ended
		"$ATTN" run long.json --weights ended/w.tsv 2> err &
		child=$!
		ok 'a temporary file' wait_until has_temporary ended
		kill -$signal $child
		wait $child 2> /dev/null
		is "$signal" $? 4
		ok "$signal is told" grep -q 'a library failed' err
		is "$signal leaves nothing" "$(listing ended)" ''
		rm -r ended
	done
else
	skip 'limits of memory: sanitizers need more'
fi

# What can be no input is not read to its end.
status 3 timeout 20 "$ATTN" run - < <(yes)
says 'not a table of numbers'
for device in zero urandom; do
	status 3 timeout 20 "$ATTN" run /dev/$device
	says "'/dev/$device'"
done
finish
