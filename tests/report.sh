#!/bin/bash
# Add up what tests/job.sh left: the output of tests that failed, then one line of the
# sums.  Its status says whether all passed.
#
#   tests/report.sh FOLDER NAME...
set -u
folder=$1
shift
passed=0 failed=0 skipped=0
for name; do
	count=(0 1 0) # a test that left no numbers was broken off
	[ ! -f "$folder/$name.count" ] || read -ra count < "$folder/$name.count"
	passed=$((passed + count[0]))
	failed=$((failed + count[1]))
	skipped=$((skipped + count[2]))
	if [ "${count[1]}" -ne 0 ]; then
		printf '\n== %s failed: %s\n' "$name" "$folder/$name.log"
		grep -avE '^\[ +(RUN|OK) +\]|^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$folder/$name.log"
	fi
done
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
