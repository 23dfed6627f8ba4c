#!/bin/bash
# attn bench --lengths: planned costs and their exponents by formula, the form of what is measured, and the plot.
. "$(dirname "$0")/lib.sh"

# exponent COLUMN: the slope of least squares through (ln N, ln cost) of a table in out with one curve.
exponent()
{
	awk -F '\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
		$4 != "exponent" { n++; x[n] = log($4); y[n] = log($c); sx += x[n]; sy += y[n] }
		END { for (i = 1; i <= n; i++) { xy += (x[i] - sx / n) * (y[i] - sy / n); xx += (x[i] - sx / n) ^ 2 }
			printf "%.4f\n", xy / xx }' out
}

# cell LENGTH COLUMN
cell()
{
	awk -F '\t' -v length_="$1" -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i }
		$4 == length_ { print $c }' out
}

# 3 heads of 16: N^2 pairs, N (N + 1) / 2 of them, or of a window N (L + 1) less those before the first key,
# each with 16 multiply-adds for its score and 16 for its value.
lengths=100,200,400,800
plan="attn bench --dry-run --shape 3x16 --lengths $lengths"
status 0 $plan
silent
is 'head of the table' "$(head -n 1 out | tr '\t' ' ')" \
	'shape kind mode length threads kernel multiply_adds bytes ms gflops share'
is 'curve' "$(cut -f 1-4 out | tail -n +2 | tr '\t\n' ' ;')" \
	'3x16 full context 100;3x16 full context 200;3x16 full context 400;3x16 full context 800;3x16 full context exponent;'
is 'full' "$(cell 400 multiply_adds)" $((3 * 400 * 400 * 32))
is 'full: N^2' "$(cell exponent multiply_adds)" 2
is 'nothing is measured' "$(cell 400 ms)$(cell exponent ms)" ''
is 'and memory as fitted' "$(cell exponent bytes | awk '{ printf "%.4f", $1 }')" "$(exponent bytes)"
ok 'Q, K, V and contexts are in it' test "$(cell 800 bytes)" -ge $((4 * 4 * 800 * 48))
status 0 $plan --causal
is 'causal' "$(cell 400 multiply_adds)" $((3 * (400 * 401 / 2) * 32))
is 'causal, as fitted' "$(cell exponent multiply_adds)" "$(exponent multiply_adds)"
ok 'causal: nearly N^2' awk -v c="$(cell exponent multiply_adds)" 'BEGIN { exit !(c > 1.99 && c < 2) }'
status 0 $plan --kind window:9
is 'window' "$(cell 400 multiply_adds)" $((3 * (400 * 10 - 45) * 32))
ok 'window: nearly N' awk -v c="$(cell exponent multiply_adds)" 'BEGIN { exit !(c > 1 && c < 1.03) }'
status 0 $plan --kind linear
if [ "$(cell 400 kernel)" = scalar ]; then
	is 'linear, by the reference: N^2' "$(cell exponent multiply_adds)" 2
else
	ok 'linear: N' awk -v c="$(cell exponent multiply_adds)" 'BEGIN { exit !(c > 0.99 && c < 1.01) }'
fi
status 0 attn bench --dry-run --lengths 1000,1000000,10000000 --kind causal-linear,window:0 --mode context
is 'far beyond memory' "$(cut -f 2,4 out | tail -n +2 | tr '\t\n' ' ;')" \
	'causal-linear 1000;causal-linear 1000000;causal-linear 10000000;causal-linear exponent;window:0 1000;window:0 1000000;window:0 10000000;window:0 exponent;'
status 0 $plan --mode weights
ok 'all weights: memory grows as N^2 in the end' awk -v c="$(exponent bytes)" 'BEGIN { exit !(c > 1.3 && c < 2) }'
status 0 $plan --mode projected
is 'with projections' "$(cell 100 multiply_adds)" $((3 * 100 * 100 * 32 + 3 * 100 * 48 * 48))

# Each shape, kind and mode; one length has no exponent.
status 0 attn bench --dry-run --lengths 64 --shape 1x8 --shape 2x8 --kind full,causal --kind linear --mode all
is 'all of them' "$(wc -l < out)" $((1 + 2 * 3 * 3))
ok 'no exponent of one' test -z "$(grep exponent out)"
status 0 $plan --json
ok 'JSON' grep -q '"length": 400, .*"multiply_adds": 15360000, "bytes": [0-9]*, "ms": null, "gflops": null' out
ok 'its exponents' grep -q '"mode": "context", "multiply_adds": 2, "bytes"' out
status 0 $plan --text
ok 'text' grep -q '^3x16  *full  *context  *~ N^  *2.000 ' out

# Measured: numbers above 0, whatever they are.
status 0 attn bench --lengths 32,64 --shape 2x8 --kind causal,linear --seconds 0
is 'measured' "$(awk -F '\t' 'NR > 1 && $4 != "exponent" && ($9 <= 0 || $10 <= 0)' out)" ''
is 'with exponents' "$(grep -c exponent out)" 2
status 0 attn bench --lengths 32,64 --shape 2x8 --seconds 0 --json
ok 'the peak' grep -q '], "peak_gflops": [0-9]' out
status 0 attn bench --lengths 32,64 --shape 2x8 --seconds 0 --text
is 'text of what was measured' "$(head -n 1 out | tr -s ' ')" 'shape kind mode length multiply-adds memory ms GFLOP/s of peak'
model=$root/samples/stories260K
status 0 attn bench --model "$model" --lengths 16,32,64 --dry-run
is 'a model' "$(sed -n 2p out | cut -f 1-4 | tr '\t' ' ')" '5x8x8 causal forward 16'
is 'its cost' "$(cell 32 multiply_adds)" \
	"$(attn run --model "$model" --ids "$(seq -s, 1 32)" --hidden h.npy --dry-run | awk -F '\t' '
		$3 == "multiply-adds" { sum += $2 } END { print sum }')"
status 0 attn bench --model "$model" --lengths 8,16 --seconds 0
is 'a model, measured' "$(wc -l < out)" 4

# What cannot be.
for wrong in '--kind causal' '--dry-run' '-o x.png'; do
	status 2 attn bench $wrong
	says 'of growing lengths: it also requires --lengths LIST'
done
status 2 attn bench --theme dark
says "'--theme' is of a picture: it also requires -o FILE"
for kind in '' ful window window: window:x window:-1 full, causal,,full window:99999999999999999999; do
	status 2 attn bench --lengths 8 --dry-run --kind "$kind"
	says "'causal-linear', with commas between them"
done
for list in '' 0 8,8 16,8 x 8,; do
	status 2 attn bench --dry-run --lengths "$list"
	says 'whole numbers from 1 to 16777216, ascending'
done
for pair in '--causal --kind full' '--model m --kind full' '--model m --tokens 8' '--dry-run --seconds 1'; do
	status 2 attn bench --lengths 8 $pair
	says 'cannot be combined'
done
status 2 attn bench --lengths 8 --shape 12x64x64
says "'--shape' is '12x64x64', expected with --lengths heads x head size, such as 12x64"
status 2 attn bench --lengths 8 --dry-run --shape 99999x64
status 2 attn bench --lengths 8 --dry-run --shape 0x64
status 2 attn bench --shape 12x64
says 'expected heads x tokens x head size'
status 2 attn bench --lengths 8 --dry-run $(printf -- '--shape %sx8 ' {1..33})
says 'more than 32 curves'

# The plot.
if ! attn heatmap "$root/samples/hand.json" --head 0 -o probe.png 2> err; then
	skip 'plots: no Pango here'
	finish
fi
status 0 $plan --kind full,window:9 -o cost.svg
says "wrote 'cost.svg'"
ok 'and the table' grep -q exponent out
for text in 'full: N^2.00' 'window:9: N^1.02' 'multiply-adds' 'memory, in MiB' 'length N, in tokens' 800; do
	ok "'$text'" grep -qF ">$text</text>" cost.svg
done
ok 'what it is' grep -q 'planned, not measured' cost.svg
cp cost.svg first.svg
status 0 $plan --kind full,window:9 -o cost.svg
same 'the same twice' cost.svg first.svg
status 0 attn bench --lengths 16,32 --shape 1x8 --seconds 0 -o - --format png
ok 'PNG in the place of the table' test "$(head -c 4 out | tail -c 3)" = PNG
status 2 attn bench --lengths 16 -o cost.txt
says "ends in '.txt'"
finish
