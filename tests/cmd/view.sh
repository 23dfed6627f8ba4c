#!/bin/bash
# Rows in part or joined: --words, --query, --key, --top-keys, exclusions.
. "$(dirname "$0")/lib.sh"
cp "$inputs"/*.json .

cat > three.json << 'END'
{"tokens": ["▁un", "happy", "▁cat"],
 "weights": [[[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]]]}
END

# Weights as TSV, without head and labels: "query key weight" for each.
weights()
{
	attn run "$@" --weights - --format tsv | cut -f 2,4,6 | tail -n +2 | tr '\t\n' ' ;'
}

# Words: (.5 + .3 + .1 + .6) / 2 and so on.
is 'words' "$(weights three.json --words)" '0 0 0.75;0 1 0.25;1 0 0.5;1 1 0.5;'
is 'their names' "$(attn run three.json --words --rankings - --top 1 --tsv | cut -f 3-8 | tail -n +2 | tr '\t\n' ' ;')" \
	'0 unhappy 1 0 unhappy 0.75;1 cat 1 0 unhappy 0.5;'
status 0 attn inspect token unhappy three.json --words --text --top 1
is 'a word is a token' "$(tail -n 1 out)" 'unhappy -> unhappy 0.750'
status 0 attn inspect token '#1' three.json --words --text --top 1
is 'also by its index' "$(tail -n 1 out)" 'cat -> unhappy 0.500'
status 1 attn inspect token happy three.json --words
says "'happy' is not among the 2 queries, did you mean 'unhappy'"
status 0 attn run plain.json --words --rankings -
status 0 attn run cross.json --words --rankings -
says "no token is a piece of a word: '--words' changes nothing"

# Ranges by index.
all='0 1 2'
range()
{
	attn run three.json --query "$1" --rankings - --tsv | tail -n +2 | cut -f 3 | uniq | tr '\n' ' ' | sed 's/ $//'
}
for pair in "0:1=0" "1:=1 2" ":-1=0 1" "-2:=1 2" ":=$all" "-9:9=$all" "1=1" "-1=2" "#2=2" "1:2=1"; do
	is "--query ${pair%%=*}" "$(range "${pair%%=*}")" "${pair#*=}"
done
# By token, with or without its marker; both ends included.
for pair in "un=0" "▁un=0" "un:happy=0 1" "happy:=1 2" ":happy=0 1" "happy:cat=1 2" "un:2=0 1" "-2:happy=1"; do
	is "--query ${pair%%=*}" "$(range "${pair%%=*}")" "${pair#*=}"
done
# The first of A, and the first B from there; tokens with colons.
printf '{"tokens": ["a", "b", ":", "a", "b:c", "b"], "q": [[[1],[1],[1],[1],[1],[1]]], "k": [[[0],[1],[2],[0],[1],[2]]]}' > colons.json
colons()
{
	attn run colons.json --query "$1" --rankings - --tsv | tail -n +2 | cut -f 3 | uniq | tr '\n' ' '
}
is 'first to first' "$(colons a:b)" '0 1 '
is 'from there' "$(colons ::a 2> err)" '2 3 '
is 'without complaints' "$(cat err)" ''
is 'a colon is a token' "$(colons :)" '2 '
is 'a token with one' "$(colons b:c)" '4 '
is 'an end with one' "$(colons a:b:c)" '0 1 2 3 4 '

# Keys that are left out keep their part, and others their index.
is 'keys' "$(attn run three.json --key 1: --rankings - --tsv | tail -n +2 | cut -f 3,6,8 | tr '\t\n' ' ;')" \
	'0 1 0.3;0 2 0.2;1 1 0.6;1 2 0.3;2 2 0.5;2 1 0.25;'
status 0 attn inspect token cat three.json --to --key cat --text
is 'a key that is shown' "$(tail -n 1 out)" 'un -> cat 0.200'
status 1 attn inspect token un three.json --to --key cat
status 0 attn inspect token '#2' three.json --to --key happy:
status 1 attn inspect token '#0' three.json --to --key happy:
says "'#0' is beyond the 2 keys, expected '#1' to '#2'"

# The keys with the most: .85, 1.15, 1; of words and rows that are shown.
is 'top keys' "$(weights three.json --top-keys 2 | tr ';' '\n' | wc -l)" 6
is 'which' "$(attn run three.json --top-keys 2 --rankings - --tsv | tail -n +2 | cut -f 6 | sort -u | tr '\n' ' ')" '1 2 '
is 'of row 0' "$(attn run three.json --query 0 --top-keys 1 --rankings - --tsv | tail -n 1 | cut -f 6)" 0
is 'more than there are' "$(weights three.json --top-keys 99)" "$(weights three.json)"

# Exclusions.
is 'the first' "$(weights three.json --exclude-first --renormalise)" \
	'0 0 0;0 1 0.6;0 2 0.4;1 0 0;1 1 0.6666667;1 2 0.33333334;2 0 0;2 1 0.33333334;2 2 0.6666667;'
is 'the diagonal' "$(weights three.json --exclude-diagonal --renormalise --query 2)" '0 0 0.5;0 1 0.5;0 2 0;'
is 'of words' "$(weights three.json --words --exclude-diagonal --renormalise)" '0 0 0;0 1 1;1 0 1;1 1 0;'
is 'tokens' "$(weights three.json --exclude-token un --exclude-token '#1' --renormalise)" \
	'0 0 0;0 1 0;0 2 1;1 0 0;1 1 0;1 2 1;2 0 0;2 1 0;2 2 1;'
is 'past keys: its own' "$(attn inspect token '#0' past.json --to --exclude-diagonal --renormalise --tsv | wc -l)" \
	"$(attn inspect token '#0' past.json --to --tsv | wc -l)"
status 0 attn run three.json --exclude-token un --exclude-token happy --exclude-token cat --renormalise \
	--weights nothing.npy
says '3 of 3 rows have every key masked: their weights are 0'

# A stored view is read as what it shows.
attn run three.json --words --weights words.safetensors 2> err
is 'a view is stored' "$(weights words.safetensors)" '0 0 0.75;0 1 0.25;1 0 0.5;1 1 0.5;'
is 'square, with a diagonal' "$(weights words.safetensors --exclude-diagonal --renormalise)" \
	'0 0 0;0 1 1;1 0 1;1 1 0;'
attn run three.json --query 0:2 --key 1: --weights part.safetensors 2> err
status 0 attn inspect token un part.safetensors --top 1 --text
is 'keys keep their names' "$(tail -n 1 out)" 'un -> happy 0.300'
status 2 attn heatmap part.safetensors --exclude-diagonal -o x.png
attn run causal.json --key 0:1 --weights causal.safetensors 2> err
attn inspect file causal.safetensors > out
ok 'nothing of what hid keys' sh -c '! grep -qE "mask|causal" out'

# Contexts are of the whole.
attn run plain.json --context whole.npy 2> err
attn run plain.json --query 1 --words --context part.npy --weights part.npz 2> err
same 'the same context' whole.npy part.npy
status 0 attn run "$root"/samples/hand.json --query 0 --words -o everything
status 0 attn heatmap everything/attention.safetensors -o stored.png
ok 'contexts of three tokens' sh -c "'$ATTN' inspect file everything/attention.safetensors | grep -q 'context.*3,4'"

# Pictures: what a view does not change is the same.
status 0 attn heatmap three.json -o plain.png
status 0 attn heatmap three.json --top-keys 3 -o same.png
same 'all keys' plain.png same.png
status 0 attn heatmap three.json --exclude-first -o first.png
ok 'another scale' sh -c '! cmp -s plain.png first.png'
status 0 attn run three.json --words --heatmaps pictures
is 'pictures of words' "$(listing pictures)" './head0.png '
long_inputs
ATTN_KERNEL=scalar attn run long.json --words --key 5:200 --weights one.npy --threads 1 2> err
ATTN_KERNEL=scalar attn run long.json --words --key 5:200 --weights many.npy --threads 4 2> err
same 'whatever the threads' one.npy many.npy

# What cannot be.
while IFS='|' read -r expected options words; do
	status "$expected" attn heatmap three.json -o x.png $options
	says "$words"
done << 'END'
1|--query hapy|'--query' has 'hapy', which is not among the 3 queries, did you mean 'happy'
1|--key un:dog|'--key' has 'dog', which is not among the 3 keys
1|--key cat:un|'--key' has 'un', which is not among the keys from 'cat' on
1|--exclude-token happ|'--exclude-token' has 'happ', which is not among the 3 keys, did you mean 'happy'
1|--exclude-token #3|'--exclude-token' has '#3', beyond the 3 keys, expected '#0' to '#2'
2|--query 3|'--query' is '3', expected an index from -3 to 2
2|--query -4|'--query' is '-4', expected an index from -3 to 2
2|--key 2:1|'--key' is '2:1', which is none of the 3 keys
2|--key 1 --key 2|'--key' may be given only once
2|--top-keys 0|'--top-keys' is '0', expected a whole number from 1
2|--renormalise|'--renormalise' divides by what exclusions leave
END
status 2 attn heatmap cross.json --exclude-diagonal -o x.png
says 'which has no diagonal'
printf '{"q": [[[1, 2], [0, 1]], [[1, 0], [2, 1]]], "k": [[[1, 0], [1, 1]], [[0, 1], [1, 2]]], "lambda": 0.5}' > signed.json
status 2 attn run signed.json --exclude-first --renormalise --weights x.npy
says "'--renormalise' is for weights that add up to 1"
while IFS='|' read -r options words; do
	status 2 attn run three.json $options
	says "$words"
done << 'END'
--words --scores x.npy|'--words' and '--scores' cannot be combined
--words --shard 1/2|'--words' and '--shard' cannot be combined
--words --dry-run|'--words' and '--dry-run' cannot be combined
--key 1 --context x.npy|'--key' is for weights, rankings and heatmaps
--exclude-first --weights x.npy|'--exclude-first' is about a scale of colours
END
status 2 attn inspect token un three.json --exclude-token cat
says "'--exclude-token' is about a scale of colours"
status 2 attn inspect token the "$root"/samples/hand.json --steps --words
says "leave out '--words'"
ok 'nothing was written' test ! -e x.png

finish
