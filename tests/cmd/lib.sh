# Sourced by the command tests: a scratch directory to work in, and checks that
# count.  A script ends with `finish`.
#
#   attn ARGUMENT...           the program, $ATTN (default ./attn of the checkout)
#   status N COMMAND...        run it: out and err keep what it wrote; its status is N
#   same NAME FILE FILE        the two files are the same, byte for byte
#   is NAME FOUND EXPECTED     the two texts are the same
#   says TEXT                  err of the last `status` has the text
#   silent                     err of the last `status` is empty
#   ok NAME COMMAND...         the command succeeds
#   skip NAME                  what this machine cannot test
#   find_numpy                 $python is one that has NumPy, or empty
#   has_terminal               whether a command can be run on a pseudo-terminal here
#   on_terminal COMMAND        run a line of shell on one; standard output has what it shows
#   wait_until COMMAND...      until it succeeds, a minute at most
#   long_inputs                make long.json and batches.json, beyond a block of rows
set -u
export LC_ALL=C
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
inputs=$root/tests/data/inputs
ATTN=$(realpath "${ATTN:-$root/attn}")
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
passed=0 failed=0 skipped=0

attn()
{
	"$ATTN" "$@"
}

pass()
{
	passed=$((passed + 1))
}

fail()
{
	failed=$((failed + 1))
	printf 'FAIL: %s\n' "$1"
}

skip()
{
	skipped=$((skipped + 1))
	printf 'SKIP: %s\n' "$1"
}

find_numpy()
{
	local candidate
	python=
	for candidate in ${PYTHON:-} python3 /usr/bin/python3; do
		if "$candidate" -c 'import numpy' 2> /dev/null; then
			python=$candidate
			break
		fi
	done
}

has_terminal()
{
	script -qec true /dev/null < /dev/null > /dev/null 2>&1
}

on_terminal()
{
	script -qec "$1" /dev/null < /dev/null
}

wait_until()
{
	local i
	for i in {1..6000}; do
		! "$@" || return 0
		sleep 0.01
	done
	return 1
}

status()
{
	local expected=$1 found
	shift
	ran=$(printf '%q ' "$@")
	"$@" > out 2> err
	found=$?
	if [ "$found" -eq "$expected" ]; then
		pass
	else
		fail "$ran: status $found, expected $expected"
		sed 's/^/    /' err
	fi
}

same()
{
	if cmp -s "$2" "$3"; then
		pass
	else
		fail "$1"
		diff -a "$2" "$3" | cat -v | head -20
	fi
}

is()
{
	if [ "$2" = "$3" ]; then
		pass
	else
		fail "$1: '$2', expected '$3'"
	fi
}

says()
{
	if grep -qF -- "$1" err; then
		pass
	else
		fail "$ran: no '$1' in what it says:"
		sed 's/^/    /' err
	fi
}

silent()
{
	is "$ran says nothing" "$(cat err)" ''
}

ok()
{
	local what=$1
	shift
	if "$@"; then
		pass
	else
		fail "$what"
	fi
}

# What the scratch directory (or another) holds, hidden files too.
listing()
{
	(cd "${1:-.}" && find . -mindepth 1 | sort | tr '\n' ' ')
}

# Numbers that look random, as nested JSON arrays: numbers SEED LENGTH...
numbers()
{
	awk -v seed="$1" -v sizes="${*:2}" 'BEGIN { n = split(sizes, size, " "); srand(seed); put(1) }
		function put(axis, i) { if (axis > n) { printf "%.3f", rand() * 4 - 2; return }
			for (i = 0; i < size[axis]; i++) { printf i ? "," : "["; put(axis + 1) } printf "]" }'
}

# long.json and batches.json: 300 tokens, which is several blocks of rows, and more
# work than one thread does alone.
long_inputs()
{
	{
		printf '{"embeddings": %s, "num_heads": 2, "num_kv_heads": 1' "$(numbers 1 300 16)"
		printf ', "wq": %s, "wk": %s, "wv": %s, "wo": %s}' "$(numbers 2 16 64)" "$(numbers 3 16 32)" \
			"$(numbers 4 16 32)" "$(numbers 5 64 3)"
	} > long.json
	printf '{"q": %s, "k": %s, "v": %s}' "$(numbers 6 2 3 300 16)" "$(numbers 7 2 3 290 16)" \
		"$(numbers 8 2 3 290 9)" > batches.json
}

finish()
{
	printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
	[ "$failed" -eq 0 ]
	exit
}
