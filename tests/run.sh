#!/bin/bash
# Run the command tests, tests/cmd/*.sh, or those that are named, and add up what
# they passed, failed and skipped.  The program is $ATTN (default ./attn).
set -u
here=$(cd "$(dirname "$0")" && pwd)
ATTN=$(realpath "${ATTN:-$here/../attn}")
export ATTN
[ -x "$ATTN" ] || {
	echo "no program at $ATTN: run make first, or set ATTN" >&2
	exit 1
}
[ $# -gt 0 ] || set -- "$here"/cmd/*.sh

passed=0 failed=0 skipped=0
for script; do
	name=${script##*/}
	[ "$name" != lib.sh ] || continue
	echo "== ${name%.sh}"
	output=$(bash "$script" < /dev/null 2>&1)
	status=$?
	summary=$(printf '%s\n' "$output" | tail -n 1)
	if [[ $summary =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
		passed=$((passed + BASH_REMATCH[1]))
		failed=$((failed + BASH_REMATCH[2]))
		skipped=$((skipped + BASH_REMATCH[3]))
		if [ "$status" -ne 0 ] && [ "${BASH_REMATCH[2]}" -eq 0 ]; then
			failed=$((failed + 1))
		fi
	else
		failed=$((failed + 1))
		echo "FAIL: $name ended with status $status before its summary"
	fi
	printf '%s\n' "$output"
done
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
