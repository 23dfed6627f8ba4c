#!/bin/bash
# Tokens: how they are found, shown, escaped, and ranked.
. "$(dirname "$0")/lib.sh"
cp "$inputs"/*.json .

# Text, with or without its marker, or an index.
attn inspect token it plain.json > expected
is 'three lists of four keys' "$(wc -l < expected)" 13
for token in ▁it '#3'; do
	status 0 attn inspect token "$token" plain.json
	same "'$token' is 'it'" expected out
done
status 0 attn inspect token it plain.json --head 0 --top 1 --text
is 'a line for people' "$(tail -n 1 out)" 'it -> animal 0.614'
is 'with the name of the head over it' "$(head -n 1 out)" 'head 0 (same)'
status 0 attn inspect token it plain.json --head next --top 1
is 'a head by its name' "$(tail -n 1 out | cut -f 2,6)" "$(printf '1\t1')"
status 0 attn inspect token it plain.json --top 1 --text
is 'the mean of both heads' "$(tail -n 2 out)" "$(printf 'mean over heads\nit -> animal 0.524')"
status 0 attn inspect token it plain.json --head 0,1 --top 1
ok 'no mean over chosen heads' sh -c '! grep -q mean out'
status 0 attn inspect token animal plain.json --to --head 0 --top 2 --text
is 'what attends to it' "$(tail -n 2 out)" "$(printf 'animal -> animal 0.706\nit -> animal 0.614')"
status 0 attn inspect token it plain.json --top all
is 'all of them' "$(wc -l < out)" 13
status 0 attn inspect token it plain.json --top 100
is 'and no more' "$(wc -l < out)" 13

# A token that occurs twice is shown for each place.
printf '{"tokens": ["a", "b", "a"], "q": [[[1], [2], [3]]], "k": [[[0], [0], [0]]]}' > twice.json
status 0 attn inspect token a twice.json --top 1
is 'both places' "$(cut -f 3 out | tail -n +2 | tr '\n' ' ')" '0 2 '
is 'equal weights stand by index' "$(attn inspect token '#1' twice.json | cut -f 6 | tail -n +2 | tr '\n' ' ')" \
	'0 1 2 '

# Masked keys are never listed; what is not masked is, also with weight 0.
status 0 attn inspect token the causal.json
is 'the first of a causal input sees itself' "$(cut -f 6,8 out | tail -n +2)" "$(printf '0\t1')"
is 'the layer is that of the file' "$(tail -n 1 out | cut -f 1)" 3
status 0 attn inspect token b masked.json --head 0
is 'a row of nothing has no list' "$(wc -l < out)" 1
status 0 attn inspect token a masked.json --to --head 1
is 'queries that see a key' "$(cut -f 3 out | tail -n +2)" 0

# Cross-attention: queries and keys have names of their own.
status 0 attn inspect token chat cross.json --head words --top 1
is 'query and key' "$(tail -n 1 out | cut -f 4,7)" "$(printf 'chat\tthe')"
status 1 attn inspect token cat cross.json
says "'cat' is not among the queries but among the keys: give --to"
status 0 attn inspect token cat cross.json --to
status 1 attn inspect token chat cross.json --to
says 'leave out --to'
status 0 attn inspect token '<bias>' appended.json --to
is 'all see an appended key' "$(tail -n +2 out | wc -l)" 3
status 0 attn inspect token '#0' past.json --to --text
is 'past keys have numbers' "$(tail -n 1 out)" "$(grep -- '-> 0 ' out | tail -n 1)"

# Tabs, line ends, quotes, backslashes, controls, other scripts.
cat > odd.json << 'END'
{"tokens": ["a\tb", "c\nd", "e\\f", "g\"h", "\u001b[31m", "日本", " ", "\n", "آب", "e\u0301"],
 "q": [[[1], [1], [1], [1], [1], [1], [1], [1], [1], [1]]],
 "k": [[[9], [0], [0], [0], [0], [0], [0], [0], [0], [0]]]}
END
status 0 attn run odd.json --rankings - --top 1
is 'every row is a line' "$(wc -l < out)" 11
is 'of eight columns' "$(awk -F '\t' 'NF != 8' out)" ''
is 'tab, line end and backslash are escaped' "$(cut -f 4 out | sed -n 2,5p)" "$(printf '%s\n' 'a\tb' 'c\nd' 'e\\f' 'g"h')"
status 0 attn inspect token 'c↵d' odd.json
status 0 attn inspect token "$(printf 'c\nd')" odd.json --text --top 1
is 'text shows marks' "$(tail -n 1 out)" 'c↵d -> a⇥b 0.999'
status 0 attn run odd.json --rankings - --text
is 'no control character in text' "$(LC_ALL=C tr -d '\n' < out | LC_ALL=C grep -c '[[:cntrl:]]')" 0
status 1 attn inspect token "$(printf 'x\033[31m')" odd.json
is 'none in a message' "$(LC_ALL=C tr -d '\n' < err | LC_ALL=C grep -c '[[:cntrl:]]')" 0
if command -v jq > /dev/null; then
	attn run odd.json --rankings - --top 1 --json > rankings.json
	is 'JSON tokens are those of the file' "$(jq -c '[.rankings[].query_token]' rankings.json)" "$(jq -c .tokens odd.json)"
	attn run odd.json --rankings - --top 1 --jsonl > lines.jsonl
	is 'JSON lines are the same rows' "$(jq -sc . lines.jsonl)" "$(jq -c .rankings rankings.json)"
	attn run odd.json --rankings - --top 1 > table.tsv
	is 'and the same as the table' "$(jq -r '[.layer, .head, .query, .query_token, .rank, .key, .key_token, .weight] |
		@tsv' lines.jsonl)" "$(tail -n +2 table.tsv)"
	is 'a batch is the last column and key' "$(attn inspect token '#0' batched.json --jsonl | jq -sc 'map(.batch)')" \
		'[0,0,1]'
	attn run odd.json --weights odd.safetensors 2> /dev/null
	status 0 attn inspect file odd.safetensors --json
	is 'tokens of a stored result are those of the file' "$(jq -c '.items[] | select(.name == "tokens") | .value' out)" \
		"$(jq -c .tokens odd.json)"
	is 'inspect file --jsonl is the same list' "$(attn inspect file odd.safetensors --jsonl | jq -sc .)" \
		"$(jq -c .items out)"
else
	skip 'JSON output: jq is not installed'
fi

# What inspect file lists.
status 0 attn inspect file plain.json
is 'a table of items' "$(head -n 1 out)" "$(printf 'kind\tname\ttype\tshape\tvalue')"
ok 'tensors with type and shape' grep -qx "$(printf 'tensor\twq\tfloat64\t3,4\t')" out
ok 'settings with their value' grep -qx "$(printf 'setting\tnum_heads\t\t\t2')" out
status 0 attn inspect file --text plain.json
is 'text for people' "$(head -n 1 out)" 'plain.json: json, 6 tensors'
# Only pairs that are some tokens apart.
cat > far.json << 'END'
{"tokens": ["a", "b", "c", "d"],
 "weights": [[[0.4, 0.3, 0.2, 0.1], [0.1, 0.4, 0.3, 0.2], [0.1, 0.2, 0.4, 0.3], [0.2, 0.1, 0.3, 0.4]]]}
END
far()
{
	attn run far.json "$@" --rankings - --tsv --top all | awk -F '\t' 'NR > 1 { print $3 $6 "=" $8 }' | tr '\n' ' '
}
is 'not themselves' "$(far --min-distance 1)" '01=0.3 02=0.2 03=0.1 12=0.3 13=0.2 10=0.1 23=0.3 21=0.2 20=0.1 32=0.3 30=0.2 31=0.1 '
is 'two apart' "$(far --min-distance 2)" '02=0.2 03=0.1 13=0.2 20=0.1 30=0.2 31=0.1 '
is 'of some' "$(far --min-distance 2 --query 2: --key :2)" '20=0.1 30=0.2 31=0.1 '
is 'nothing' "$(far --min-distance 4)" ''
status 0 attn inspect token a far.json --to --min-distance 3 --text
is 'to a key' "$(tail -n 1 out)" 'd -> a 0.200'
status 2 attn inspect token a far.json --min-distance 0
says "'--min-distance' is '0', expected a whole number from 1"
status 2 attn inspect token a far.json --min-distance 2 --steps
status 2 attn run far.json --min-distance 2 --weights -
says "'--min-distance' is for a ranking: it also requires --rankings FILE"
status 2 attn run "$inputs/cross.json" --min-distance 2 --rankings -
says "'--min-distance' is for self-attention, found cross-attention"

# Columns of tables: some, in another order.
status 0 attn inspect token a far.json --top 1 --columns weight,key_token,query
is 'a table of three columns' "$(tr '\t\n' ' ;' < out)" 'weight key_token query;0.4 a 0;'
status 0 attn inspect token a far.json --top 1 --columns weight,key_token --jsonl
is 'as an object' "$(cat out)" '{"weight": 0.4, "key_token": "a"}'
status 0 attn inspect token a far.json --top 1 --columns rank --json
is 'as a document' "$(tr '\n' ' ' < out)" '{"version": 1, "rankings": [   {"rank": 1} ]} '
status 0 attn run far.json --rankings far.tsv --top 1 --columns query,key
is 'in a file' "$(tr '\t\n' ' ;' < far.tsv)" 'query key;0 0;1 1;2 2;3 3;'
status 0 attn run far.json -o far.out --columns key
is 'in a directory' "$(head -n 1 far.out/rankings.tsv)" key
status 0 attn inspect token it plain.json --steps --head 0 --columns weight,exp,key_token
is 'of steps' "$(head -n 1 out)" 'weight	exp	key_token'
is 'as many as there are' "$(awk -F '\t' 'NF != 3' out)" ''
status 0 attn inspect file far.json --columns shape,name
is 'of a file' "$(tr '\t\n' ' ;' < out)" 'shape name;1,4,4 weights;4 tokens;'
status 0 attn inspect file far.json --columns value --jsonl
is 'where nothing is' "$(head -n 1 out)" '{}'
status 2 attn inspect token a far.json --columns key,weigth
says "'--columns' has 'weigth', which is none of the table's, did you mean 'weight'"
status 2 attn inspect token a far.json --columns batch
says "'--columns' has 'batch', expected some of layer, head, query"
status 2 attn inspect token a far.json --columns key,key
says "'--columns' has 'key' twice"
status 2 attn inspect token a far.json --columns ''
status 2 attn inspect token a far.json --columns key --text
says "'--columns' is for tables, and '--text' is none"
status 2 attn run far.json --columns key --weights -
status 2 attn run plain.json --columns key --dry-run

finish
