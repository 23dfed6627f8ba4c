#!/bin/bash
# Run one test with its output in a file, and say in a line how it went.
#
#   tests/job.sh FOLDER NAME COMMAND...
#
# FOLDER/NAME.log gets the output, FOLDER/NAME.count the numbers of what passed, failed
# and was skipped: those of the test's last line, "1 passed, 2 failed, 3 skipped", or those
# that cmocka prints; a test that says neither is one that passed or failed.  The status is
# 0 in any case, so that make goes on: tests/report.sh has the last word.
set -u
stem=$1/$2 name=$2
shift 2
mkdir -p "${stem%/*}"
unset CMOCKA_MESSAGE_OUTPUT CMOCKA_TEST_ABORT
# In a shell of its own, so that what bash says of a crash is in the log, too.
(
	"$@" < /dev/null
	exit $?
) > "$stem.log" 2>&1
status=$?

# The number behind one of cmocka's words.
counted()
{
	sed -n "s/^\[ *$1 *\] \([0-9]*\) test(s).*/\1/p" "$stem.log" | tail -n 1
}

passed=0 failed=0 skipped=0
last=$(tail -n 1 "$stem.log")
if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
	passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]} skipped=${BASH_REMATCH[3]}
elif [ -n "$(counted PASSED)" ]; then
	passed=$(counted PASSED) failed=$(counted FAILED) skipped=$(counted SKIPPED)
elif [ "$status" -eq 0 ]; then
	passed=1
fi
# A crash, a leak found at the end, a script that broke off.
if [ "$status" -ne 0 ] && [ "${failed:-0}" -eq 0 ]; then
	failed=1
	printf 'FAIL: status %d\n' "$status" >> "$stem.log"
fi
printf '%d %d %d\n' "$passed" "${failed:-0}" "${skipped:-0}" > "$stem.count"

# One write, which others do not come between.
line=$(printf '%-4s  %-30s %d passed' "$([ "${failed:-0}" -eq 0 ] && echo ok || echo FAIL)" "$name" "$passed")
[ "${failed:-0}" -eq 0 ] || line+=", $failed failed"
if [ "${skipped:-0}" -ne 0 ]; then
	line+=", $skipped skipped"
	line+=$(sed -n -e 's/^SKIP: /\n        skipped: /p' -e 's/^\[ *SKIPPED *\] \([a-z_]*\)$/\n        skipped: \1/p' \
		"$stem.log" | sed '/^$/d' | sort -u | sed '1s/^/\n/')
fi
printf '%s\n' "$line"
