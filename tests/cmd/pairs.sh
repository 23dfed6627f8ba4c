#!/bin/bash
# Given pairs in every head: inspect pairs, and inspect token for several tokens.
. "$(dirname "$0")/lib.sh"

# Two heads of four tokens, weights by hand; head 1 looks one back, or at itself.
cat > w.json << 'END'
{"weights": [[[1,0,0,0],[0.25,0.75,0,0],[0.5,0.25,0.25,0],[0.125,0.5,0.25,0.125]],
             [[1,0,0,0],[1,0,0,0],[0,1,0,0],[0,0,1,0]]],
 "tokens": ["▁the", "▁str", "eet", ","], "causal": true}
END

table()
{
	printf '%b\n' "$@" > expected
}

head_line='layer\thead\tquery\tquery_token\tquery_last\tkey\tkey_token\tkey_last\tweight\trank\tmargin\tother\tother_token'
status 0 attn inspect pairs 'eet:the' w.json
table "$head_line" '0\t0\t2\teet\t2\t0\t▁the\t0\t0.5\t1\t0.25\t1\t▁str' \
	'0\t1\t2\teet\t2\t0\t▁the\t0\t0\t2\t-1\t1\t▁str'
same 'a pair' expected out

# A phrase: the mean over its queries of the sum over its keys.
status 0 attn inspect pairs '#2-3:the street' w.json --columns query,query_last,key,key_token,key_last,weight,rank,margin
table 'query\tquery_last\tkey\tkey_token\tkey_last\tweight\trank\tmargin' \
	'2\t3\t0\t▁the ▁str eet\t2\t1\t1\t1' '2\t3\t0\t▁the ▁str eet\t2\t0.9375\t1\t0.875'
same 'phrases' expected out
status 0 attn inspect pairs 'street:the,\,:str' w.json --columns head,query,key,weight
table 'head\tquery\tkey\tweight' '1\t1\t0\t0.5' '0\t1\t0\t0.375' '0\t3\t1\t0.5' '1\t3\t1\t0'
same 'a word of pieces, and a comma' expected out
status 0 attn inspect pairs 'street:the' w.json --words --columns head,query,key,weight
table 'head\tquery\tkey\tweight' '1\t1\t0\t0.5' '0\t1\t0\t0.375'
same 'words' expected out

# Masked pairs have no rank.
status 0 attn inspect pairs 'the:eet' w.json --head 0 --jsonl --columns weight,rank,margin,other
is 'a masked pair' "$(cat out)" '{"weight": 0, "rank": null, "margin": null, "other": 0}'
status 0 attn inspect pairs 'the:the' w.json --head 0 --jsonl --columns weight,rank,margin,other
is 'no other key' "$(cat out)" '{"weight": 1, "rank": 1, "margin": 1, "other": null}'

# Scores: offsets -1, -1, -2.
printf 'str\tthe\tback\neet\tstr\tback\n\neet\tthe\tfar\n' > pairs.tsv
status 0 attn inspect pairs --pairs pairs.tsv w.json --score
table 'relation\tlayer\thead\tpairs\taccuracy\trank\tweight\tbaseline\toffset' \
	'back\t0\t1\t2\t1\t1\t1\t1\t-1' 'back\t0\t0\t2\t0\t2\t0.25\t1\t-1' 'far\t0\t0\t1\t1\t1\t0.5\t1\t-2' \
	'far\t0\t1\t1\t0\t2\t0\t1\t-2'
same 'scores' expected out
status 0 attn inspect pairs --pairs - w.json --score --top 1 --relation far < pairs.tsv
table 'relation\tlayer\thead\tpairs\taccuracy\trank\tweight\tbaseline\toffset' 'far\t0\t0\t1\t1\t1\t0.5\t1\t-2'
same 'scores of a relation' expected out

# Dependency trees: pieces of words, another case, the other way.
printf '1\tThe\tthe\tDET\t_\t_\t2\tdet\t_\t_\n2\tstreet\tstreet\tNOUN\t_\t_\t0\troot\t_\t_\n3\t,\t,\tPUNCT\t_\t_\t2\tpunct\t_\t_\n\n' > x.conllu
status 0 attn inspect pairs --conllu x.conllu w.json --columns relation,head,query,key,key_last,weight
table 'relation\thead\tquery\tkey\tkey_last\tweight' 'det\t0\t0\t1\t2\t0' 'det\t1\t0\t1\t2\t0' \
	'punct\t1\t3\t1\t2\t1' 'punct\t0\t3\t1\t2\t0.75'
same 'trees' expected out
status 0 attn inspect pairs --conllu x.conllu w.json --reverse --relation det --columns head,query,query_last,weight
table 'head\tquery\tquery_last\tweight' '1\t1\t2\t0.5' '0\t1\t2\t0.375'
same 'trees, the other way' expected out

# What does not match.
status 1 attn inspect pairs 'it:the' w.json
says "'it' is not among the 4 queries"
status 1 attn inspect pairs '#1:#9' w.json
says "'#9' is not among the 4 keys"
status 1 attn inspect pairs --conllu x.conllu w.json --relation nsubj
says "no pair of relation 'nsubj'"
printf '1\tA\ta\tDET\t_\t_\t0\troot\t_\t_\n' > other.conllu
status 1 attn inspect pairs --conllu other.conllu w.json
says 'the tokens do not spell'
printf '1\tA\n' > bad.conllu
status 3 attn inspect pairs --conllu bad.conllu w.json
says 'line 1: 2 columns'
echo lonely > bad.tsv
status 3 attn inspect pairs --pairs bad.tsv w.json
says 'line 1: expected a query, a tab and a key'
: > empty.tsv
status 3 attn inspect pairs --pairs empty.tsv w.json
says 'has no pairs'
for list in '' it it: :it the:str, ',' '\'; do
	status 2 attn inspect pairs "$list" w.json
done
status 2 attn inspect pairs
status 2 attn inspect pairs a:b w.json --relation x
status 2 attn inspect pairs --pairs pairs.tsv --conllu x.conllu w.json

# An input and its result, and any number of threads, are the same.
attn run "$root/samples/animal.safetensors" "$root/samples/use-lite-layer1.safetensors" --weights r.safetensors --quiet
attn inspect pairs 'it:animal,it:the street' r.safetensors > stored
attn inspect pairs 'it:animal,it:the street' "$root/samples/animal.safetensors" \
	"$root/samples/use-lite-layer1.safetensors" --threads 3 > computed
same 'a result and its input' stored computed
is 'the head that links it to animal' \
	"$(attn inspect pairs it:animal r.safetensors | awk '$10 == 1 { print $2 }')" 3
status 0 attn inspect pairs 'time:Once' --model "$root/samples/stories260K" --text 'Once upon a time' --score --top 1
is 'a model' "$(wc -l < out)" 2

# The list by option, and by the command of tokens.
attn inspect pairs it:animal r.safetensors > listed
for command in 'pairs' 'token'; do
	for option in '--pairs it:animal' '--pairs=it:animal'; do
		status 0 attn inspect $command $option r.safetensors
		same "inspect $command $option" listed out
	done
done
status 4 attn inspect pairs --pairs missing r.safetensors

# inspect token: several tokens, ranges.
for tokens in 'str,eet' '#1-2' '#1,eet' '#2,#1' '#1-1,#2'; do
	status 0 attn inspect token "$tokens" w.json --head 0 --top 1 --columns query,key
	table 'query\tkey' '1\t1' '2\t0'
	same "inspect token $tokens" expected out
done
status 0 attn inspect token , w.json --head 1 --top 1 --columns query,key
table 'query\tkey' '3\t2'
same 'a token that is a comma' expected out
status 0 attn inspect token 'the street' w.json --top 2 --head 0
table 'layer\thead\tquery\tquery_token\trank\tkey\tkey_token\tweight' '0\t0\t0\t▁the ▁str eet\t1\t0\t▁the\t0.5833333' \
	'0\t0\t0\t▁the ▁str eet\t2\t1\t▁str\t0.33333334'
same 'a phrase as a query' expected out
status 0 attn inspect token 'street' w.json --to --head 0 --text
is 'a phrase as a key' "$(sed -n 2,4p out)" 'str -> str eet 0.750
, -> str eet 0.750
eet -> str eet 0.500'
status 1 attn inspect token 'str,cat' w.json
says "'cat' is not among"
status 1 attn inspect token '#2-4' w.json
says "'#2-4' is beyond the 4 queries, expected '#0' to '#3'"
status 2 attn inspect token 'str,,eet' w.json

finish
