#!/bin/bash
# Whether the sets of kernels that are tried are all that this processor runs, by the
# system's account of it: one that the program no longer found would else go untested.
#
#   tests/kernel-sets.sh MACHINE SET...
#
# MACHINE is what the compiler makes code for, the sets are those that are tried.
set -u
machine=$1
shift
passed=0 failed=0 skipped=0

# Whether the processor has all of these.
has()
{
	local flag
	for flag; do
		[[ $flags == *" $flag "* ]] || return 1
	done
}

expected=()
flags=" $(sed -n 's/^flags[^:]*: //p' /proc/cpuinfo 2> /dev/null | head -n 1) "
case $machine in
x86_64)
	! has avx2 fma avx512f avx512dq avx512bw avx512vl || expected+=(avx512)
	! has avx2 fma || expected+=(avx2)
	;;
aarch64) expected+=(neon) ;;
esac
expected+=(scalar)

if [ $# -eq 0 ]; then
	failed=1
	echo "FAIL: no set of kernels is tried: 'attn --version --verbose' names none"
elif [ "$machine" = x86_64 ] && ! has fpu; then
	skipped=1
	echo 'SKIP: what the processor can do: /proc/cpuinfo does not say it'
elif [ "$*" = "${expected[*]}" ]; then
	passed=1
else
	failed=1
	echo "FAIL: the sets that are tried are '$*', this processor runs '${expected[*]}'"
fi
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
