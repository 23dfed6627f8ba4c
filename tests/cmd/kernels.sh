#!/bin/bash
# ATTN_KERNEL: which kernels run, and that all give the same results.
. "$(dirname "$0")/lib.sh"

# --- what can run, and what is refused ---

chosen=${ATTN_KERNEL:-}
unset ATTN_KERNEL
status 0 attn --version --verbose
silent
cp out details
is 'the first line is that of --version' "$(head -n 1 details)" "$(attn --version)"
kernels=$(sed -n 's/^kernels: //p' details | tr -d ,)
is 'the best one is chosen' "$(sed -n 's/^kernel: //p' details)" "${kernels%% *}"
is 'scalar is the last' "${kernels##* }" scalar
is 'threads' "$(sed -n 's/^threads: //p' details)" "$(nproc)"
for library in cJSON libpng zlib Pango cairo; do
	ok "the version of $library" grep -qE "^$library: ([0-9.]+|not found)$" details
done
for order in '--verbose --version' '-V --verbose' '--verbose -V --verbose'; do
	status 0 attn $order
	same "attn $order" details out
done
status 2 attn --verbose
says "'--verbose' is for '--version'"
status 0 attn --verbose --help
ok 'help comes first' grep -q '^usage: attn COMMAND' out
for kernel in $kernels; do
	status 0 env ATTN_KERNEL=$kernel "$ATTN" --version --verbose
	is "ATTN_KERNEL=$kernel" "$(sed -n 's/^kernel: //p' out)" $kernel
done
status 0 env ATTN_KERNEL= "$ATTN" --version --verbose
same 'an empty ATTN_KERNEL is none' details out

expected="'ATTN_KERNEL' is 'sse9', expected $(echo "${kernels% *}" | sed 's/ /, /g') or scalar on this processor"
[ "$kernels" != scalar ] || expected="'ATTN_KERNEL' is 'sse9', expected scalar on this processor"
for command in '--version --verbose' bench "run $inputs/plain.json" "heatmap $inputs/plain.json -o x.png" \
	"inspect token 0 $inputs/plain.json"; do
	status 2 env ATTN_KERNEL=sse9 "$ATTN" $command
	says "$expected"
	is "$ran writes nothing" "$(cat out)" ''
done
for name in AVX2 'avx2 ' avx; do
	status 2 env ATTN_KERNEL="$name" "$ATTN" run "$inputs/plain.json"
	says "'ATTN_KERNEL' is '$name'"
done
is 'no file is made' "$(listing)" './details ./err ./out '
for command in --version 'run --help' help "inspect file $inputs/plain.json"; do
	status 0 env ATTN_KERNEL=sse9 "$ATTN" $command # nothing is computed
	silent
done

# --- the same results ---

# The float32 numbers of an npy file, one a line.
floats()
{
	tail -c +$((11 + $(od -A n -t u2 -j 8 -N 2 "$1"))) "$1" | od -A n -v -t f4 -w4
}

# Whether two npy files agree as attn(1) promises.
near()
{
	paste <(floats "$1") <(floats "$2") | awk '
		{ a = $1; b = $2; n++ }
		a == b { next }
		a ~ /[in]/ || b ~ /[in]/ { exit bad = 1 }
		{ off = a - b; if (off < 0) off = -off; size = b < 0 ? -b : b
		  if (off > 2e-6 + 1e-5 * size) { print "line " NR ": " a " " b; exit bad = 1 } }
		END { exit bad || !n }'
}

# Numbers in [-1, 1] that look random, as nested JSON arrays: numbers SEED LENGTH...
numbers()
{
	awk -v seed="$1" -v sizes="${*:2}" 'BEGIN { n = split(sizes, size, " "); srand(seed); put(1) }
		function put(axis, i) { if (axis > n) { printf "%.3f", rand() * 2 - 1; return }
			for (i = 0; i < size[axis]; i++) { printf i ? "," : "["; put(axis + 1) } printf "]" }'
}

# 131 queries and 211 keys are no multiples of anything; 300 rows of W are two blocks.
printf '{"embeddings": %s, "source": {"embeddings": %s}, "num_heads": 3, "scale": 0.01, "wq": %s, "wk": %s, "wv": %s, "wo": %s}' \
	"$(numbers 1 131 300)" "$(numbers 2 211 300)" "$(numbers 3 300 39)" "$(numbers 4 300 39)" \
	"$(numbers 5 300 51)" "$(numbers 6 51 7)" > odd.json
printf '{"q": %s, "k": %s, "v": %s, "causal": true}' "$(numbers 7 2 97 5)" "$(numbers 8 2 97 5)" \
	"$(numbers 9 2 97 3)" > causal.json
printf '{"q": %s, "k": %s, "v": %s, "softcap": 0.5}' "$(numbers 10 2 70 65)" \
	"$(numbers 11 2 70 65)" "$(numbers 12 2 70 65)" > capped.json

# compare INPUT [OPTION...]
compare()
{
	local name=${1##*/} kernel
	for kernel in $kernels; do
		rm -rf $kernel
		mkdir $kernel
		for threads in 1 3; do
			mkdir $kernel/$threads
			ATTN_KERNEL=$kernel attn run "$@" --threads $threads --weights $kernel/$threads/weights.npy \
				--context $kernel/$threads/context.npy > $kernel/$threads/out 2> err ||
				fail "$name with $kernel: $(cat err)"
			ATTN_KERNEL=$kernel attn run "$@" --threads $threads \
				--context $kernel/$threads/alone.npy > $kernel/$threads/out 2> err ||
				fail "$name with $kernel, context alone: $(cat err)"
		done
		ok "$name with $kernel: 1 and 3 threads" diff -r $kernel/1 $kernel/3
		for array in weights context alone; do
			ok "$name: $array with $kernel and scalar" near $kernel/1/$array.npy \
				scalar/1/$array.npy
		done
	done
	for kernel in ${vectors#* }; do
		ok "$name: ${vectors%% *} and $kernel" diff -r "${vectors%% *}" $kernel
	done
}

# The scalar one first: all are compared with it, and vector ones with each other.
vectors=${kernels% scalar}
[ "$vectors" != scalar ] || vectors=
kernels="scalar $vectors"
for name in plain appended batched biased cross grouped masked padded past; do
	compare "$inputs/$name.json"
done
compare odd.json
compare causal.json
compare capped.json

# Products beyond float32, all of one sign: -inf would look like a masked key.
echo '{"q":[[[1e25]]],"k":[[[-1e25],[-2e25],[-3e25]]],"v":[[[1],[2],[3]]],"scale":1}' > beyond.json
for kernel in $kernels; do
	ATTN_KERNEL=$kernel status 0 attn run beyond.json --weights - --format tsv
	is "scores beyond float32 with $kernel" "$(cut -f 6 out | tr '\n' ' ')" 'weight 1 0 0 '
done
[ -z "$chosen" ] || export ATTN_KERNEL="$chosen"
finish
