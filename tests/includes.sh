#!/bin/bash
# Which folder of src/ includes from which: every #include "FILE" in src/ against the table.
# A folder's sub-folders are part of it, and each may include from itself.
set -u
cd "$(dirname "$0")/.." || exit 1

table='
util
kernels    util
attention  kernels util
tokens     attention util
input      attention tokens util
files      input tokens attention util
result     files input tokens attention util
consumers  kernels attention tokens util
tokenizer  files tokens util
draw       consumers tokens attention util
model      input files consumers kernels tokens attention util
cmd        *
main.c     cmd files util
'

awk -v table="$table" '
	BEGIN {
		lines = split(table, line, "\n")
		for (i = 1; i <= lines; i++) {
			fields = split(line[i], field, " ")
			if (fields == 0)
				continue
			known[field[1]] = 1
			for (f = 1; f <= fields; f++)
				may[field[1], field[f]] = 1
		}
	}
	function breach(words) {
		printf "%s:%d: %s\n", FILENAME, FNR, words
		breaches++
	}
	FNR == 1 {
		from = FILENAME
		sub("^src/", "", from)
		sub("/.*", "", from)
		if (!(from in known))
			breach("\"" from "\" is not in the table of " script)
	}
	/^[ \t]*#[ \t]*include[ \t]*"/ {
		to = $0
		sub(/^[^"]*"/, "", to)
		sub(/".*/, "", to)
		path = to
		if (!sub("/.*", "", to))
			breach("\"" path "\" is included without its folder")
		else if (!(to in known))
			breach("\"" path "\" is in a folder that is not in the table of " script)
		else if (from in known && !((from, to) in may) && !((from, "*") in may))
			breach(from " includes \"" path "\", and may not include from " to)
	}
	END { exit breaches > 0 }
' script=tests/includes.sh $(find src -name '*.[ch]' | LC_ALL=C sort)
