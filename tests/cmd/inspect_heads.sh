#!/bin/bash
# attn inspect heads: its figures against awk over the weights that attn run writes, its forms, and
# what it looks at.
. "$(dirname "$0")/lib.sh"

# column NAME [LINE]: a cell of out, of the first head unless LINE says which
column()
{
	awk -F '\t' -v name="$1" -v line="${2:-1}" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i }
		NR == line + 1 { print $c }' out
}

# near NAME FOUND EXPECTED
near()
{
	if awk -v a="$2" -v b="$3" 'BEGIN { d = a - b; exit a == "" || (d < 0 ? -d : d) > 1e-5 * (b > 1 ? b : 1) }'; then
		pass
	else
		fail "$1 is '$2', expected '$3'"
	fi
}

# twin PAST: the table of attn inspect heads out of a long table of weights with at most one batch
# item, of the formulas alone: head entropy largest diagonal previous next first within5 distance
# spread coverage weight.  Nothing is masked but where weights are 0.
twin()
{
	awk -F '\t' -v past="$1" 'NR > 1 { w[$1, $2, $4] = $6; if ($1 >= H) H = $1 + 1; if ($2 >= N) N = $2 + 1
			if ($4 >= M) M = $4 + 1 }
		END { for (h = 0; h < H; h++) {
			split("", s); split("", got)
			for (i = 0; i < N; i++) {
				own = i + past; best = 0; any = 0
				for (j = 0; j < M; j++) {
					p = w[h, i, j]; d = j > own ? j - own : own - j
					if (p == 0) continue
					any++; s["e"] -= p * log(p) / log(2); s["d"] += p * d; s["q"] += p * d * d
					got[j] += p
					if (p > best) best = p
					if (d <= 5) s["5"] += p
				}
				s["l"] += best
				if (any > 1 && best > s["w"]) s["w"] = best
				s["0"] += w[h, i, own]; s["f"] += w[h, i, 0]
				if (own > 0) { s["-"] += w[h, i, own - 1]; n["-"]++ }
				if (own + 1 < M) { s["+"] += w[h, i, own + 1]; n["+"]++ }
			}
			for (j = 0; j < M; j++) c += (got[j] < 1 ? got[j] : 1) / M
			m = s["d"] / N
			printf "%d %.7g %.7g %.7g %.7g %.7g %.7g %.7g %.7g %.7g %.7g %.7g\n", h, s["e"] / N, s["l"] / N,
				s["0"] / N, s["-"] / n["-"], s["+"] / n["+"], s["f"] / N, s["5"] / N, m,
				sqrt(s["q"] / N - m * m), c, s["w"]
			c = n["-"] = n["+"] = 0
		} }'
}

# agrees SELF COMMAND...: its table has the numbers of twin's in the file "twin"
agrees()
{
	local self=$1 head entropy largest diagonal previous next first within distance spread coverage weight line=0
	shift
	status 0 "$@"
	while read -r head entropy largest diagonal previous next first within distance spread coverage weight; do
		line=$((line + 1))
		is "$ran: head" "$(column head $line)" "$head"
		near "$ran: entropy" "$(column entropy $line)" "$entropy"
		near "$ran: effective_keys" "$(column effective_keys $line)" \
			"$(awk -v e="$entropy" 'BEGIN { print 2 ^ e }')"
		near "$ran: largest" "$(column largest $line)" "$largest"
		near "$ran: first" "$(column first $line)" "$first"
		near "$ran: weight" "$(column weight $line)" "$weight"
		if [ "$self" = cross ]; then
			near "$ran: coverage" "$(column coverage $line)" "$coverage"
			is "$ran: no distances" "$(for c in diagonal previous next within5 distance distance_spread offset \
				offset_share repeats induction; do column $c $line; done | tr -d '\n')" ''
			continue
		fi
		is "$ran: coverage" "$(column coverage $line)" ''
		near "$ran: diagonal" "$(column diagonal $line)" "$diagonal"
		near "$ran: previous" "$(column previous $line)" "$previous"
		near "$ran: next" "$(column next $line)" "$next"
		near "$ran: within5" "$(column within5 $line)" "$within"
		near "$ran: distance" "$(column distance $line)" "$distance"
		near "$ran: distance_spread" "$(column distance_spread $line)" "$spread"
	done < twin
	is "$ran: heads" "$line" "$(($(wc -l < out) - 1))"
}

# compare SELF PAST INPUT OPTION...
compare()
{
	local self=$1 past=$2
	shift 2
	attn run "$@" --quiet --weights w.tsv > /dev/null
	twin "$past" < w.tsv > twin
	agrees "$self" attn inspect heads "$@" --quiet
	attn run "$@" --quiet -o stored > /dev/null
	agrees "$self" attn inspect heads stored/attention.safetensors --quiet
	rm -rf stored
}

compare self 0 "$inputs/plain.json"
compare self 0 "$inputs/causal.json"
compare self 3 "$inputs/past.json"
compare cross 0 "$inputs/cross.json"

# Several blocks of rows, and any number of threads.
long_inputs
compare self 0 long.json
compare self 0 long.json --causal --window 20,0
attn inspect heads long.json --quiet > one.tsv --threads 1
attn inspect heads long.json --quiet > three.tsv --threads 3
same 'any number of threads' one.tsv three.tsv
attn inspect heads batches.json --quiet --threads 1 > one.tsv
attn inspect heads batches.json --quiet --threads 4 > four.tsv
same 'any number of threads, in cross-attention' one.tsv four.tsv
is 'two items of three heads' "$(wc -l < one.tsv)" 7
is 'the last column is the item' "$(cut -f 26 one.tsv | tr '\n' ' ')" 'batch 0 0 0 1 1 1 '
status 0 attn inspect heads batches.json --batch 1 --head 0,2 --columns batch,head
is 'chosen' "$(tail -n +2 out | tr '\t\n' '- ')" '1-0 1-2 '

# By hand: head "alike" of the sample, whose weights are (2 1 2), (1 2 2), (1 1 2) over their sums.
hand=$root/samples/hand.json
status 0 attn inspect heads "$hand"
near 'diagonal' "$(column diagonal)" "$(awk 'BEGIN { print (2 / 5 + 2 / 5 + 2 / 4) / 3 }')"
near 'previous' "$(column previous)" "$(awk 'BEGIN { print (1 / 5 + 1 / 4) / 2 }')"
near 'next' "$(column next)" "$(awk 'BEGIN { print (1 / 5 + 2 / 5) / 2 }')"
near 'distance' "$(column distance)" "$(awk 'BEGIN { print (1 / 5 + 4 / 5 + 1 / 5 + 2 / 5 + 2 / 4 + 1 / 4) / 3 }')"
is 'strongest pair' "$(column query_token)-$(column key_token)-$(column weight)" 'sat-sat-0.5'
is 'of head first' "$(column query_token 2)-$(column key_token 2)-$(column weight 2)" 'the-the-0.8'
is 'pattern' "$(column pattern 1), $(column pattern 2)" 'broad, first-token sink'

# Patterns of made-up weights: a token that repeats, a period, an even spread.
awk 'BEGIN { N = 16; print "{\"tokens\": [\"<s>\", \"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \".\", \"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"x\", \"y\"], \"weights\": ["
	for (h = 0; h < 8; h++) { printf h ? ",[" : "["
		for (i = 0; i < N; i++) { printf i ? ",[" : "["
			t = h == 0 ? i : h == 1 ? i - 1 : h == 2 ? i + 1 : h == 3 ? (i >= 8 && i < 14 ? i - 6 : 0) : h == 4 ? 0 : h == 5 ? 7 : h == 6 ? i - 3 : -1
			if (h < 7 && (t < 0 || t >= N)) t = 0
			for (j = 0; j < N; j++) printf "%s%s", j ? "," : "", t == -1 ? 1 / N : j == t
			printf "]" }
		printf "]" }
	print "]}" }' > made.json
status 0 attn inspect heads made.json
is 'names' "$(cut -f 25 out | tail -n +2 | tr '\n' ,)" \
	'diagonal,previous token,next token,induction,first-token sink,separator,local,broad,'
is 'a period of 3' "$(column offset 7) $(column offset_share 7)" '-3 0.8125'
is 'repeats' "$(column repeats 4)" 6
is 'induction' "$(column induction 4)" 1
is 'a sharp head has no entropy' "$(column entropy) $(column effective_keys)" '0 1'
is 'an even one has all keys' "$(column entropy 8) $(column effective_keys 8)" '4 16'
status 0 attn inspect heads made.json --rule --head 3
is 'the rule' "$(column rule)" 'induction >= 0.5, repeats >= 2'
status 0 attn inspect heads made.json --head 6 --query 3:
is 'a period of all queries is a pattern' "$(column pattern)" positional

# Views: places stay those of the whole.
status 0 attn inspect heads made.json --head 1 --query 4:8 --key 3:9
is 'previous, of a part' "$(column previous) $(column distance) $(column offset)" '1 1 -1'
is 'the first token is not in it' "$(column first)" ''
status 0 attn inspect heads made.json --head 3 --exclude-first --renormalise
is 'without the sink' "$(column first) $(column queries) $(column induction)" '0 6 1'
status 2 attn inspect heads made.json --exclude-first
says 'it also requires --renormalise'
status 0 attn inspect heads made.json --head mean --columns head,queries
is 'joined' "$(tail -1 out)" 'mean of 8 heads	16'
printf '{"tokens": ["un", "##do", "it"], "weights": [[0.5, 0.5, 0], [0.25, 0.25, 0.5], [0, 1, 0]]}' > words.json
status 0 attn inspect heads words.json --words --quiet
is 'words' "$(column diagonal) $(column previous) $(column key_token)" '0.375 1 undo'

# Layers and items of a stored result.
printf '{"weights": [[[[1, 0], [0, 1]]], [[[0.5, 0.5], [0.5, 0.5]]]], "axes": "layer,head"}' > layers.json
status 0 attn inspect heads weights=layers.json --axes layer --columns layer,head,entropy
is 'layers' "$(tail -n +2 out | tr '\t\n' '- ')" '0-0-0 1-0-1 '
status 0 attn inspect heads weights=layers.json --axes batch --columns batch,head,entropy
is 'items' "$(tail -n +2 out | tr '\t\n' '- ')" '0-0-0 1-0-1 '

# Nothing to say is an empty cell, never a number.
printf '{"weights": [[0, 0], [0, 0]]}' > masked.json
status 0 attn inspect heads masked.json
is 'nothing but zeros' "$(column queries)$(column entropy)$(column distance)$(column weight)$(column pattern)" 0
status 0 attn inspect heads masked.json --json
ok 'no NaN' eval '! grep -qi nan out'
status 0 attn inspect heads "$inputs/cross.json" --quiet --json
ok 'null in JSON' grep -q '"diagonal": null' out
ok 'version' grep -q '^{"version": 1, "heads": \[$' out
status 0 attn inspect heads "$inputs/cross.json" --quiet --jsonl --columns head,pattern
is 'an object a line' "$(head -1 out)" '{"head": 0, "pattern": "broad"}'
status 0 attn inspect heads "$inputs/cross.json" --quiet --pretty
ok 'no empty columns' eval '! grep -q diagonal out'
ok 'names of heads' grep -q '0 (words)' out

# Groups: heads 0 and 2 are the same, 1 is as far as can be, and 3 is half-way: the distance of (1, 0)
# and (1/2, 1/2) is the root of the entropy of (3/4, 1/4) less a half.
printf '{"weights": [[[1, 0], [0, 1]], [[0, 1], [1, 0]], [[1, 0], [0, 1]], [[0.5, 0.5], [0.5, 0.5]]]}' > alike.json
half=$(awk 'BEGIN { print sqrt(0.75 * log(4 / 3) / log(2) + 0.25 * 2 - 0.5) }')
status 0 attn inspect heads alike.json --similar
is 'groups' "$(cut -f 1,2,5 out | tail -n +2 | tr '\t\n' '- ')" '1-2-0 1-2-2 2-1-1 3-1-3 '
is 'the same' "$(column widest) $(column nearest_head) $(column nearest_distance)" '0 2 0'
near 'half-way' "$(column nearest_distance 4)" "$half"
near 'the nearest of the other' "$(column nearest_distance 3)" "$half"
status 0 attn inspect heads alike.json --similar=0.6
is 'a larger group' "$(cut -f 2,5 out | tail -n +2 | tr '\t\n' '- ')" '3-0 3-2 3-3 1-1 '
status 0 attn inspect heads alike.json --similar=1 --json
ok 'one group' grep -q '"groups": 1, ' out
status 0 attn inspect heads alike.json --similar --pretty
is 'text' "$(tr '\n' '|' < out)" \
	'group 1: 2 heads at most 0.00 apart (2 diagonal)|  0 2|alone: 2 heads|  1 3|'
status 0 attn inspect heads alike.json --similar --head 1
is 'nothing is near to one head' "$(column nearest_head)$(column nearest_distance)" ''
for threads in 1 3; do
	attn inspect heads long.json --quiet --similar=1 --threads $threads > similar$threads.tsv
done
same 'groups with any number of threads' similar1.tsv similar3.tsv
status 0 attn inspect heads long.json --similar=1
says 'over 128 of 300 queries'
status 2 attn inspect heads alike.json --similar=2
status 2 attn inspect heads alike.json --similar --rule

# A model.
status 0 attn inspect heads --model "$root/samples/stories260K" --text 'Once upon a time' --columns layer,head
is 'five layers of eight heads' "$(tail -n +2 out | wc -l)" 40

status 2 attn inspect heads "$hand" --columns entropi
says "did you mean 'entropy'"
status 2 attn inspect heads
status 2 attn inspect head
says "did you mean 'attn inspect heads'"
printf '{"weights": [[0.5, null]]}' > bad.json
status 3 attn inspect heads bad.json
finish
