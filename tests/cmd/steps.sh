#!/bin/bash
# attn inspect token --steps, against numbers that were worked out by hand.
. "$(dirname "$0")/lib.sh"
cp "$inputs"/*.json "$root"/samples/hand.json "$root"/samples/translation.json .

# Columns of the last `status`, numbers to five digits: digits COLUMN...
digits()
{
	awk -F '\t' -v columns="$*" 'BEGIN { n = split(columns, column, " ") }
		NR > 1 {
			line = ""
			for (i = 1; i <= n; i++) {
				x = $column[i]
				if (x == "")
					x = "-"
				else if (column[i] > 6)
					x = sprintf("%.5f", x)
				line = line " " x
			}
			print substr(line, 2)
		}' out
}

# The comment of samples/hand.json works these out; scaled is ln 2 times the product, exp is
# 2^(product - highest), and the shares are, with c = [7.5, 15] and |c|^2 = 281.25,
#   0.25 * 10 * 7.5, 0.25 * 20 * 15, 0.5 * (75 + 300)   all / 281.25
# and with c = [12, 27] and |c|^2 = 873
#   0.8 * 30 * 27, 0.1 * 60 * 12, 0.1 * (720 + 810)     all / 873
status 0 attn inspect token sat hand.json --steps
silent
is 'columns' "$(head -n 1 out | tr '\t' ' ')" \
	'layer head query query_token key key_token product scaled capped masked exp weight share'
is 'sat by hand' "$(digits 2 6 7 8 9 10 11 12 13)" \
	"0 the 1.00000 0.69315 - 0.69315 0.50000 0.25000 0.06667
0 cat 1.00000 0.69315 - 0.69315 0.50000 0.25000 0.26667
0 sat 2.00000 1.38629 - 1.38629 1.00000 0.50000 0.66667
1 the 0.00000 0.00000 - 0.00000 1.00000 0.80000 0.74227
1 cat -3.00000 -2.07944 - -2.07944 0.12500 0.10000 0.08247
1 sat -3.00000 -2.07944 - -2.07944 0.12500 0.10000 0.17526"

# In text: all of it, since people read it.  Over the three queries of head 'alike', whose
# weights are 2/5 1/5 2/5, 1/5 2/5 2/5 and 1/4 1/4 1/2 and products 1 0 1, 0 1 1, 1 1 2:
#   variance   10/9 - (8/9)^2 = 26/81, and (ln 2)^2 of it
#   entropy    (2 * 1.05492 + 1.03972) / 3, largest (0.4 + 0.4 + 0.5) / 3
#   gradient   (2 * 0.64 + 0.625) / 9
# and with the products as they are: weights e, 1, e over 2e + 1 twice, and 1, 1, e over e + 2.
status 0 attn inspect token sat hand.json --steps --head alike --text
cat > expected << 'END'
head 0 (alike), query 2: sat

     key  q.k  scaled  exp  weight    share
  0  the    1  0.6931  0.5    0.25  0.06667
  1  cat    1  0.6931  0.5    0.25  0.2667
  2  sat    2  1.386   1      0.5   0.6667
                       ---  ------  -------
     sum               2      1     1

  scaled   0.6931 q.k
  exp      e^(scaled - 1.386), 1.386 being the highest
  weight   exp / 2
  context  c = sum of weight v = [7.5, 15], of length |c| = 16.77
  share    weight v.c / |c|^2

head 0 (alike), over its 3 queries

                  0.6931 q.k     q.k
  variance        0.1542      0.321   of the scores: how far apart
  entropy         1.05        1.003   in nats: 0 if one key has all
  effective keys  2.857       2.727   e^entropy: as of even weights
  largest weight  0.4333      0.4736  near 1: one key has it all
  gradient        0.2117      0.2018  w (1 - w): near 0 none learns
END
same 'text by hand' expected out

# The default scale has a name; translation.json works 'blanc' out (its exp is 61.70 times
# this one's, which is relative to the highest).
status 0 attn inspect token blanc translation.json --steps --text
ok 'scaled by 1/sqrt(3)' grep -qF '  scaled   q.k / sqrt(3) = 0.5774 q.k' out
ok 'a column each in the summary' grep -qE '^ +q\.k / sqrt\(3\) +q\.k$' out
status 0 attn inspect token blanc translation.json --steps
is 'blanc by hand' "$(awk -F '\t' 'NR > 1 { printf "%s %.2f %.4f %.2f %.3f\n", $6, $7, $8, $11 * 61.70, $12 }' out)" \
	"The 0.70 0.4041 1.50 0.023
white 7.14 4.1223 61.70 0.927
cat 2.10 1.2124 3.36 0.051"

# Heaviest first with --top, and what is left adds up; equal weights stand by index.
status 0 attn inspect token sat hand.json --steps --head alike --top 2 --text
is 'the heaviest' "$(sed -n 4,8p out)" "  2  sat       2  1.386   1      0.5   0.6667
  0  the       1  0.6931  0.5    0.25  0.06667
     1 more               0.5    0.25  0.2667
                          ---  ------  -------
     sum                  2      1     1"
status 0 attn inspect token sat hand.json --steps --top 1
is 'the heaviest of each head' "$(digits 2 6 12)" "$(printf '0 sat 0.50000\n1 the 0.80000')"
attn inspect token sat hand.json --steps > expected
status 0 attn inspect token sat hand.json --steps --top all
same 'all of them are in order' expected out
status 0 attn inspect token sat hand.json --steps --head alike --top 5
is 'as many as there are' "$(digits 5 12)" "$(printf '%s\n' '2 0.50000' '0 0.25000' '1 0.25000')"

# Masked keys: a score, but nothing after it.  Query a of head 0 sees a and c, the scale is
# 1/sqrt(2), the products are 1, 0, 1: weights 1/2, 0, 1/2, c = [1, 0.5] and |c|^2 = 1.25,
# shares 0.5 * 1 and 0.5 * 1.5 of it.  Query b sees nothing.
status 0 attn inspect token a masked.json --steps --head 0
is 'a masked key' "$(digits 6 7 10 11 12 13)" "a 1.00000 0.70711 1.00000 0.50000 0.40000
b 0.00000 - 0.00000 0.00000 0.00000
c 1.00000 0.70711 1.00000 0.50000 0.60000"
status 0 attn inspect token b masked.json --steps --head 0
is 'nothing to see' "$(digits 6 10 11 12 13)" "a - 0.00000 0.00000 -
b - 0.00000 0.00000 -
c - 0.00000 0.00000 -"
status 0 attn inspect token b masked.json --steps --head 0 --text
is 'a word for masked' "$(grep -c '^  [012]  [abc] .* masked    0       0$' out)" 3
ok 'and for the row' grep -qF '  weight   0: every key is masked' out
ok 'the summary leaves it out' grep -qF 'over its 2 queries (1 more is fully masked)' out
is 'no number is not one' "$(grep -ciE 'nan|inf[^i]' out)" 0

# Softcap, then bias: 'masked' has both, and each its column; a scale of 1 has none in text.
printf '{"q": [[[2]]], "k": [[[1], [2]]], "mask": [[0.5, 0]], "scale": 1, "softcap": 2}' > capped.json
status 0 attn inspect token '#0' capped.json --steps
# 2 tanh 1 = 1.52319, 2 tanh 2 = 1.92806; exp(2.02319 - 2.02319), exp(1.92806 - 2.02319) = 0.90925
is 'capped and biased' "$(digits 6 7 8 9 10 11)" "0 2.00000 2.00000 1.52319 2.02319 1.00000
1 4.00000 4.00000 1.92806 1.92806 0.90925"
status 0 attn inspect token '#0' capped.json --steps --text
is 'no share without values' "$(head -n 3 out | tail -n 1 | tr -s ' ')" ' key q.k capped masked exp weight'
ok 'nor a context' sh -c '! grep -q context out'
ok 'how it is capped' grep -qF '  capped   2 tanh(q.k / 2)' out
is 'one column where scaling changes nothing' "$(grep -E '^ +q\.k$' out | tr -s ' ')" ' q.k'

# Other kinds: hand.json with the scores ln 2 times 1, 1, 2.
# A sink of 0 is 2^(0 - 2) = 1/4 of the highest: 2, 2, 4 and 1 ninths.
status 0 attn inspect token sat hand.json --steps --head alike --zero-sink
is 'a sink' "$(digits 5 6 10 11 12 13)" "0 the 0.69315 0.50000 0.22222 0.06667
1 cat 0.69315 0.50000 0.22222 0.26667
2 sat 1.38629 1.00000 0.44444 0.66667
- <sink> 0.00000 0.25000 0.11111 0.00000"
status 0 attn inspect token sat hand.json --steps --head alike --sinks 2.5 --text
is 'its line' "$(grep '<sink>' out | tr -s ' ')" ' <sink> 2.5 1 0.6036 0'
# e^(2 ln 2 - 2.5) = 4 e^-2.5 = 0.3283, half of it twice, and 1: 1.657; the sink has 0.6036.
is 'and its part of the sum' "$(grep '  sum' out | tr -s ' ')" ' sum 1.657 1 1'
# sparsemax: tau = (4 ln 2 - 1) / 3 = 0.59086
status 0 attn inspect token sat hand.json --steps --head alike --normalizer sparsemax
is 'sparsemax has no exponentials' "$(digits 6 10 11 12)" "the 0.69315 - 0.10228
cat 0.69315 - 0.10228
sat 1.38629 - 0.79543"
status 0 attn inspect token sat hand.json --steps --head alike --normalizer sparsemax --text
ok 'says what it does' grep -qF '  weight   max(scaled - tau, 0), tau so that the sum is 1' out
ok 'and speaks of no softmax' sh -c '! grep -q gradient out'
# Of equals the lower index stays: 1/2 and 1 are left.
status 0 attn inspect token sat hand.json --steps --head alike --top-k 2
is 'what is not among the highest' "$(digits 6 11 12)" "the 0.50000 0.33333
cat 0.00000 0.00000
sat 1.00000 0.66667"
# phi(1) = 2, phi(0) = 1: 2 * 2 + 2 * 1 twice, 2 * 2 + 2 * 2; of 20.
sed '/"scale"/d' hand.json > unscaled.json
status 0 attn inspect token sat unscaled.json --steps --head alike --normalizer linear
is 'linear attention' "$(digits 6 7 8 11 12)" "the 6.00000 6.00000 - 0.30000
cat 6.00000 6.00000 - 0.30000
sat 8.00000 8.00000 - 0.40000"
status 0 attn inspect token sat unscaled.json --steps --head alike --normalizer linear --text
is 'its table' "$(sed -n 3,4p out)" '     key  phi(q).phi(k)  weight    share
  0  the              6     0.3  0.08571'
# cos(45 degrees) over a temperature of 1/2
status 0 attn inspect token sat unscaled.json --steps --head alike --score cosine --temperature 0.5
is 'cosines' "$(digits 6 7 8)" "the 0.70711 1.41421
cat 0.70711 1.41421
sat 1.00000 2.00000"
status 0 attn inspect token sat unscaled.json --steps --head alike --score cosine --temperature 0.5 --text
ok 'a score that is no product' grep -qF '  score    q.k / (|q| |k|)' out
ok 'and its temperature' grep -qF '  scaled   score / 0.5 = 2 score' out
status 3 attn inspect token sat unscaled.json --steps --lambda 0.5
says "'lambda' asks for differential attention"

# One key: all weight is on it.
printf '{"q": [[[3, 4]]], "k": [[[1, 2]]], "v": [[[0, 5]]], "scale": 0.1}' > one.json
status 0 attn inspect token '#0' one.json --steps
is 'one key' "$(digits 7 8 10 11 12 13)" '11.00000 1.10000 1.10000 1.00000 1.00000 1.00000'
status 0 attn inspect token '#0' one.json --steps --text
is 'of one query' "$(grep -c 'over its 1 query$' out)" 1
# A context of 0 has no shares.
printf '{"q": [[[3]]], "k": [[[1]]], "v": [[[0]]]}' > zero.json
status 0 attn inspect token '#0' zero.json --steps
is 'no share of nothing' "$(digits 12 13)" '1.00000 -'
# A scale of 0 hides no product.
status 0 attn inspect token '#0' one.json --steps --scale 0
is 'the product without its scale' "$(digits 7 8 12)" '11.00000 0.00000 1.00000'

# Weights are those of the ranking, and shares add up to 1: grouped heads, a past, appended
# keys, batch items, long rows.
long_inputs
for input in grouped.json past.json appended.json cross.json plain.json biased.json batches.json long.json; do
	status 0 attn inspect token '#1' "$input" --steps
	is "$input: shares are 1" "$(awk -F '\t' 'NR > 1 { sum[$2 "/" $14] += $13 }
		END { for (i in sum) if (sum[i] < 0.99999 || sum[i] > 1.00001) print i, sum[i] }' out)" ''
	is "$input: weights are exp / sum" "$(awk -F '\t' 'NR > 1 { i = $2 "/" $14; sum[i] += $11; exp_[NR] = $11; w[NR] = $12; of[NR] = i }
		END { for (r in w) { d = w[r] - exp_[r] / sum[of[r]]; if (d > 1e-5 || d < -1e-5) print r, d } }' out)" ''
	awk -F '\t' 'NR > 1 && $10 != "" { print $2 ":" $14 ":" $5, $12 }' out | sort > found
	attn inspect token '#1' "$input" --top all --head "0-$(tail -n 1 out | cut -f 2)" |
		awk -F '\t' 'NR > 1 { print $2 ":" $9 ":" $6, $8 }' | sort > expected
	is "$input: weights are those of the ranking" \
		"$(join found expected | awk '{ d = $2 - $3; if (d > 2e-6 || d < -2e-6) print; n++ } END { print n }')" \
		"$(wc -l < expected)"
done
is 'as many rows as keys' "$(attn inspect token '#1' long.json --steps --head 0 | wc -l)" 301

# Threads change nothing.
attn inspect token '#7' long.json --steps --threads 1 --json > expected
status 0 attn inspect token '#7' long.json --steps --threads 3 --json
same 'with one thread and with three' expected out

# Several places of a token, heads and batch items: one table each, one summary a head.
printf '{"tokens": ["a", "b", "a"], "q": [[[1], [2], [3]], [[1], [2], [3]]], "k": [[[0], [1], [0]], [[0], [1], [0]]]}' > twice.json
status 0 attn inspect token a twice.json --steps --text
is 'tables' "$(grep -E '^head' out)" 'head 0, query 0: a
head 0, query 2: a
head 0, over its 3 queries
head 1, query 0: a
head 1, query 2: a
head 1, over its 3 queries'
status 0 attn inspect token '#0' batched.json --steps --batch 1
is 'a batch is the last column' "$(cut -f 14 out | sort -u | tr '\n' ' ')" '1 batch '
status 0 attn inspect token '#0' batched.json --steps --text
is 'and in the heading' "$(grep -c '^batch [01] head 0, query 0: 0$' out)" 2

# JSON has the names of the table, and the summary.
if command -v jq > /dev/null; then
	status 0 attn inspect token sat hand.json --steps --json
	attn inspect token sat hand.json --steps > table.tsv
	is 'JSON is the table' "$(jq -r '.steps[] | [.layer, .head, .query, .query_token, .key, .key_token, .product,
		.scaled, .capped, .masked, .exp, .weight, .share] | @tsv' out)" "$(tail -n +2 table.tsv)"
	is 'capped is null' "$(jq -c '[.steps[].capped] | unique' out)" '[null]'
	is 'lines are the same rows' "$(attn inspect token sat hand.json --steps --jsonl | jq -sc .)" "$(jq -c .steps out)"
	is 'the summary by hand' "$(jq -r '.summary[0] | .queries, .pairs, (.scaled, .unscaled |
		.variance, .entropy, .effective_keys, .largest_weight, .gradient)' out |
		awk '{ printf "%.4f ", $1 }')" \
		'3.0000 9.0000 0.1542 1.0499 2.8572 0.4333 0.2117 0.3210 1.0033 2.7274 0.4736 0.2018 '
	is 'of each head' "$(jq -c '[.summary[].head]' out)" '[0,1]'
	status 0 attn inspect token '#0' batched.json --steps --json
	is 'and batch item' "$(jq -c '[.summary[].batch]' out)" '[0,1]'
	is 'masked is null' "$(attn inspect token b masked.json --steps --head 0 --json | jq -c '[.steps[].masked] | unique')" '[null]'
else
	skip 'JSON output: jq is not installed'
fi

# Wide and combining characters: columns are those of the terminal, so every line of keys is
# as long in columns as its neighbour, which has one byte a column.
cat > wide.json << 'END'
{"tokens": ["日本語", "سلام", "e\u0301", "plain", "\u001b[31m"],
 "q": [[[1], [1], [1], [1], [1]]], "k": [[[1], [1], [1], [1], [1]]]}
END
status 0 attn inspect token '#0' wide.json --steps --text
is 'numbers stand in line' "$(sed -n 4,8p out)" '  0  日本語      1    1     0.2
  1  سلام        1    1     0.2
  2  é           1    1     0.2
  3  plain       1    1     0.2
  4  \x1b[31m    1    1     0.2'
is 'no control character in text' "$(tr -d '\n' < out | grep -c '[[:cntrl:]]')" 0

# What it is not for.
status 2 attn inspect token sat hand.json --steps --to
says "'--steps' shows what a query does"
attn run hand.json --weights stored.safetensors 2> /dev/null
status 2 attn inspect token sat stored.safetensors --steps
says "'stored.safetensors' is a stored result: '--steps' needs the input it was made from"
status 1 attn inspect token dog hand.json --steps
printf '{"q": [[[3e38]]], "k": [[[3e38]]]}' > over.json
status 3 attn inspect token '#0' over.json --steps
says 'overflows float32'
# From x W_Q on: in head 1 of the sample wq is (3 0; 0 0) and wk (0 1; -1 0), so for x = (1 1)
# of 'sat' q is (3 0) and its own k (-1 1).
hand=$root/samples/hand.json
attn inspect token sat "$hand" --head 1 --steps=full --tsv > full.tsv
is 'the columns of vectors' "$(head -n 1 full.tsv | cut -f 14-)" "$(printf 'x\tq\tk')"
is 'x, q and k' "$(tail -n 1 full.tsv | cut -f 14- | tr '\t' ';')" '1 1;3 0;-1 1'
attn inspect token sat "$hand" --head 1 --steps --tsv > short.tsv
cut -f -13 full.tsv > cut.tsv
same 'the other columns stay' short.tsv cut.tsv
attn inspect token sat "$hand" --head 1 --steps=full --json > full.json
ok 'vectors in JSON' grep -q '"x": \[1, 1\], "q": \[3, 0\], "k": \[-1, 1\]}' full.json
attn inspect token sat "$hand" --head 1 --steps=full --text > full.txt
ok 'q in text' grep -Eq '^  q +sat +3 +0$' full.txt
ok 'k in text' grep -Eq '^  k +sat +-1 +1$' full.txt
ok 'what made it' grep -q '^  q        x wq$' full.txt
status 2 attn inspect token sat "$hand" --steps=half
says "'--steps' is 'half', expected 'full', or nothing"
echo '{"q": [[[3, 4]]], "k": [[[1, 0]]], "sinks": [0]}' > given.json
is 'precomputed q has no x, a sink no k' \
	"$(attn inspect token '#0' given.json --steps=full --tsv 2> /dev/null | tail -n 2 | cut -f 14- | tr '\t\n' ';/')" \
	';3 4;1 0/;3 4;/'

# All tokens in one table: that of each, one after the other.
for token in the cat sat; do
	attn inspect token $token "$hand" --head 0 --steps --tsv | tail -n +2
done > each.tsv
attn inspect token '#all' "$hand" --head 0 --steps --tsv | tail -n +2 > all.tsv
same 'all tokens' each.tsv all.tsv
finish
