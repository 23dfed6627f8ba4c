#!/bin/bash
# How far a long run is: on a terminal only, after two seconds, and erased.  A run
# that is killed meanwhile leaves nothing.
. "$(dirname "$0")/lib.sh"

# Some seconds of work for the reference and one thread, whatever the processor.
export ATTN_KERNEL=scalar
for tokens in 16000 24000 36000 54000 81000; do
	awk -v n=$tokens 'BEGIN { printf "{\"q\": [["; for (i = 0; i < n; i++) printf "%s[%d]", i ? "," : "", i % 7
		printf "]], \"k\": [["; for (i = 0; i < n; i++) printf "%s[%d]", i ? "," : "", i % 5
		printf "]], \"v\": [["; for (i = 0; i < n; i++) printf "%s[%d]", i ? "," : "", i % 3
		print "]]}" }' > long.json
	seconds=$SECONDS
	attn run long.json --context c.npy --threads 1 2> err
	seconds=$((SECONDS - seconds))
	[ "$seconds" -lt 4 ] || break
done
is 'nothing is shown in a file' "$(tr '\r' '\n' < err)" "attn run: wrote 'c.npy'"

# On a terminal, standard error being one.
if ! has_terminal; then
	skip 'terminals: script(1) does not work here'
elif [ "$seconds" -lt 4 ]; then
	skip "progress: a run takes only $seconds s here"
else
	for color in '' 1; do
		NO_COLOR=$color on_terminal "'$ATTN' run long.json --context c.npy --threads 1" > found
		tr '\r' '\n' < found > lines
		ok 'progress is shown' grep -qE '^attn run: [0-9]+ %, about [0-9]+ s left *$' lines
		ok 'and rewritten in place, ten times a second at most' \
			test "$(grep -c '% *, about' lines)" -le $(((seconds + 5) * 20))
		is 'and erased' "$(tr '\r' '\n' < found | grep -v '^ *$' | tail -n 1)" "attn run: wrote 'c.npy'"
		is 'on one line' "$(tr -cd '\n' < found | wc -l)" 1
		ok 'without colours' test -z "$(tr -cd '\033' < found)"
	done
	on_terminal "'$ATTN' inspect file long.json 2>&1" > found
	is 'what is quick shows nothing' "$(grep -c left found)" 0
fi

# Killed while it computes, with outputs of every kind open.
temporary_files()
{
	find "$1" -name '.*' -type f 2> /dev/null | wc -l
}
both_write()
{
	[ "$(temporary_files "$1")" -ge 2 ]
}
for signal in INT TERM; do
	mkdir $signal
	(trap - INT; exec "$ATTN" run long.json -o $signal/all --threads 2) > out 2> err &
	all=$!
	(trap - INT; exec "$ATTN" run long.json --shard 1/2 -o $signal/parts --threads 1) > out2 2> err2 &
	part=$!
	wait_until both_write $signal
	is "$signal: temporary files are made" "$(temporary_files $signal)" 2
	kill -s $signal $all $part
	wait $all
	is "$signal: a run dies of it" $? $((128 + $(kill -l $signal)))
	wait $part
	is "$signal: a shard, too" $? $((128 + $(kill -l $signal)))
	is "$signal: no file is left" "$(find $signal -type f)" ''
done
finish
