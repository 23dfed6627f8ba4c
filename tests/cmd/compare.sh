#!/bin/bash
# attn compare: differences that are known, tolerances, and what does not match.
. "$(dirname "$0")/lib.sh"

# Two heads over two tokens, worked by hand: the rows of head 0 are (1, 0) and (0.5, 0.5) against (0.75, 0.25)
# and (0.5, 0.5), those of head 1 (1, 0) and (0, 1) against (0, 1) and (0, 1).
cat > a.json <<'JSON'
{"tokens": ["the", "cat"], "weights": [[[1, 0], [0.5, 0.5]], [[1, 0], [0, 1]]]}
JSON
cat > b.json <<'JSON'
{"tokens": ["the", "cat"], "weights": [[[0.75, 0.25], [0.5, 0.5]], [[0, 1], [0, 1]]]}
JSON
status 0 attn compare a.json b.json --columns head,largest,query_token,key_token,mean,js_largest,js_query,js_mean,beyond --tsv
is 'head 1' "$(sed -n 3p out)" $'1\t1\tthe\tthe\t0.5\t1\t0\t0.5\t2'
is 'head 0' "$(sed -n 2p out | cut -f1-5,7,9)" $'0\t0.25\tthe\tthe\t0.125\t0\t2'
# sqrt((log2(1 / 0.875) + 0.75 log2(0.75 / 0.875) + 0.25 log2(0.25 / 0.125)) / 2)
is 'a distance' "$(sed -n 2p out | cut -f6)" "$(awk 'BEGIN { l = log(2)
	printf "%.9g", sqrt((log(1 / 0.875) + 0.75 * log(0.75 / 0.875) + 0.25 * log(0.25 / 0.125)) / 2 / l) }')"
status 0 attn compare a.json a.json --tolerance 0
status 1 attn compare a.json b.json --tolerance 0.2
says '4 of 8 weights differ by more than 0.2 + 0 |b|, at most by 1: head 1, the -> the'
status 0 attn compare a.json b.json --tolerance 1
is 'as JSON' "$(attn compare a.json b.json --json | jq -c '.[1] | [.largest, .js_mean, .query_token]')" '[1,0.5,"the"]'
is 'as JSON lines' "$(attn compare a.json b.json --jsonl | jq -r .head | paste -sd ' ')" '0 1'
ok 'as text' grep -q 'largest difference of weights 1: head 1, the -> the' <(attn compare a.json b.json --pretty)

# Computed, stored and of a model are the same, whatever computes them.
hand=$root/samples/hand.json
attn run "$hand" --weights w.npy --quiet
status 0 attn compare "$hand" weights=w.npy --tolerance 0
attn run "$hand" -o stored --quiet > table
status 0 attn compare "$hand" stored/attention.safetensors --tolerance 0
ATTN_KERNEL=scalar status 0 attn compare "$hand" weights=w.npy --tolerance 1e-6
m=(--model "$root/samples/stories260K" --text 'Once upon a time')
attn run "${m[@]}" --weights model.npy --quiet
status 0 attn compare "${m[@]}" weights=model.npy --tolerance 0
is 'lines' "$(wc -l < out)" 41

# Contexts, scores and outputs: sat has the context (7.5, 15, 12, 27) and the output (19.5, 42), as the
# comment of samples/hand.json works them out, and the others likewise.  Here one number of each is off.
cat > arrays.json <<'JSON'
{"context": [[8, 12, 12, 27], [6, 16, 40, 20], [7.5, 15, 12, 28]], "output": [[20, 39], [48, 36], [19.5, 42]]}
JSON
status 0 attn compare "$hand" arrays.json --columns what,head,largest,query_token,key,component,beyond --tolerance 3
silent
is 'context' "$(sed -n 3p out | awk '{ print $1, $2, $4, $5, $6, ($3 - 1) ^ 2 < 1e-9 }')" 'context 1 sat 1 0 1'
is 'output' "$(tail -1 out | awk '{ print $1, $3, $4, ($2 - 2) ^ 2 < 1e-9 }')" 'output cat 0 1'
status 1 attn compare "$hand" arrays.json --tolerance 1e-5 --tsv
says '1 of 12 numbers of contexts differ by more than 1e-05 + 0 |b|, at most by 1: head 1 (first), sat, component 1'
says '1 of 6 numbers of outputs differ by more than 1e-05 + 0 |b|, at most by 2: output, cat, component 0'
status 1 attn compare "$hand" arrays.json --tolerance 1e-5 --what output
status 0 attn compare arrays.json "$hand" --tolerance 1,1e-5 --what context
status 2 attn compare arrays.json "$hand" --what weights
says "'--what' has 'weights', which A has not"
status 2 attn compare "$hand" arrays.json --what context,value
# Side by side and by head are the same.
printf '{"context": [[[8, 12], [6, 16], [7.5, 15]], [[12, 27], [40, 20], [12, 28]]]}' > heads.json
is 'by head' "$(attn compare "$hand" heads.json --what context)" "$(attn compare "$hand" arrays.json --what context)"
status 0 attn compare arrays.json arrays.json --num-heads 2 --what context --columns head --tolerance 0
is 'arrays alone' "$(paste -sd ' ' out)" 'head 0 1'
status 3 attn compare "$hand" context=<(printf '[[8, 12, 12, 27]]')
# Scores of head alike are 0, 1 or 2 times ln 2; what is masked is -inf, and another -inf is infinitely far.
sed 's/"tokens"/"causal": true, "tokens"/' "$hand" > causal.json
attn run causal.json --scores scores.npy --scores-stage masked --quiet
status 0 attn compare causal.json scores=scores.npy --scores-stage masked --tolerance 0 --columns what,head,largest
is 'scores' "$(tail -1 out)" $'scores\t1\t0'
attn run "$hand" --scores all.npy --scores-stage masked --quiet
status 1 attn compare causal.json scores=all.npy --scores-stage masked --tolerance 9,9 --json
is 'infinitely' "$(jq -c 'map([.head, .largest > 1e300, .beyond, .query_token, .key_token])' out)" \
	'[[0,true,3,"the","cat"],[1,true,3,"the","cat"]]'
status 1 attn compare scores=all.npy causal.json --scores-stage masked --tolerance 9,9
status 2 attn compare "$hand" weights=w.npy --scores-stage raw
says "'--scores-stage' is of scores that are computed and compared"

# Two heads of one input, two layers, two texts: what of B is other than of A.
status 0 attn compare "$hand" --head 0 --head-b first --columns head,head_b,largest,query_token,key_token
is 'heads' "$(tail -1 out | cut -f 1,2,4,5)" $'0\t1\tsat\tthe'
ok 'the largest' awk 'NR == 2 { exit !($3 > 0.5499999 && $3 < 0.5500001) }' out
attn run "${m[@]}" --layer 1,3 --weights two.npy --quiet
status 0 attn compare "${m[@]}" --layer 1 --layer-b 3 --head 2 --columns layer,layer_b,head,largest,mean
cut -f 3- out > by_layer
printf '%s\n' "$(attn compare weights=two.npy --layer 0 --layer-b 1 --head 2 --columns head,largest,mean)" > by_file
same 'two layers' by_layer by_file
status 0 attn compare "${m[@]}" --text-b 'Once upon a day' --layer 4 --head 7 --top 3
says "1 of 5 queries differ in their tokens: 4 is 'time' in A and 'day' in B"
is 'tokens of both' "$(sed -n 2p out | cut -f 6,13)" $'▁time\t▁day'
status 3 attn compare "${m[@]}" --text-b Once
says 'A has 5 layers x 8 heads x 5 queries x 5 keys, B 5 layers x 8 heads x 2 queries x 2 keys'
says 'texts of as many tokens can be compared'
status 2 attn compare "${m[@]}"
says 'B is missing'
status 0 attn compare "${m[@]}" --model-b "$root/samples/stories260K" --tolerance 0
status 0 attn compare "${m[@]}" --text-b 'Once upon a time' --what all --tolerance 0
is 'contexts of a model' "$(cut -f 1 out | sort | uniq -c | xargs)" '40 context 40 scores 40 weights 1 what'
status 2 attn compare "$hand" --text-b x
status 2 attn compare "$hand" weights=w.npy --text-b x

spell=(--model "$root/samples/aren-transliteration" --text آتشيسون)
status 0 attn compare "${spell[@]}" --target achi --target-b acco --layer 0 --head 0 --columns query_token_b
says "2 of 5 queries differ in their tokens: the first, 3 is 'h' in A and 'c' in B"
status 3 attn compare "${spell[@]}" --target achi --target-b achis
says 'texts of as many tokens can be compared'
status 0 attn compare "${spell[@]}" --generate 20 --text-b آتزيسون --layer 5 --top 1
says "differ in their tokens: the first, 2 is 'c' in A and 't' in B"
vit=(--model "$root/tests/data/models/vit")
status 0 attn compare "${vit[@]}" --image "${vit[1]}/image.png" --image-b "${vit[1]}/image.png" --tolerance 0
status 0 attn compare "${vit[@]}" --image "${vit[1]}/image.png" --image-b "$root/samples/lily.png" --columns largest --head 0 --layer 0
ok 'another picture' awk 'NR == 2 { exit !($1 > 0) }' out

# Two kernels of one input: the float64 reference is B, as if it had been run by it.
lite=$root/samples/use-lite-layer1.safetensors
one=("$root/samples/animal.safetensors" "$lite")
ATTN_KERNEL=scalar attn run "${one[@]}" --weights scalar.npy --context scalar-c.npy --quiet
status 0 attn compare "${one[@]}" -b "$lite" -b "$root/samples/animal.safetensors" --kernel-b scalar --what weights,context --tolerance 2e-6,1e-5 --columns what,head,largest
attn compare "${one[@]}" -b weights=scalar.npy -b context=scalar-c.npy --columns what,head,largest > stored_scalar
same 'the reference' out stored_scalar
status 0 attn compare "$hand" --kernel scalar --kernel-b scalar --what all --tolerance 0
status 0 attn compare "${m[@]}" --kernel-b scalar --what weights,context --tolerance 2e-5,1e-4
status 0 attn compare "$inputs/causal.json" --kernel-b scalar
is 'notes of one input' "$(grep -c 'layout is not given' err)" 1
status 2 attn compare "$hand" --kernel-b fast
says "'--kernel-b' is 'fast', expected"
status 2 attn compare "$hand" weights=w.npy --kernel-b scalar
says "'--kernel-b' has no effect: B is read, not computed"

# What it attends to, where the street was too wide and not the animal too tired.
both=("$root/samples/animal.safetensors" "$lite" -b "$root/samples/wide.safetensors" --input-b "$lite")
status 0 attn compare "${both[@]}" --top 2 --query it --columns rank,head,query_token,key_token,a,b,difference,key_token_b
is 'it' "$(sed -n 2p out | cut -f 1-4,8)" $'1\t2\t▁it\t▁tired\t▁wide'
ok 'a - b' awk -F '\t' 'NR > 1 { d = $5 - $6 - $7; bad += d * d > 1e-14 } END { exit bad }' out
attn inspect token it "$root/samples/animal.safetensors" "$lite" --head 2 --tsv --columns key_token,weight > tired
is 'the weight of A' "$(sed -n 2p out | cut -f 5)" "$(awk -F '\t' '$1 == "▁tired" { print $2; exit }' tired)"

status 0 attn compare a.json a.json --top all --tsv
is 'the header alone' "$(wc -l < out)" 1
says 'no cell of weights differs'
# Names of files cannot steer a terminal, and long ones are not cut.
long=$(printf 'é%.0s' {1..300})
printf '{"tokens": ["a", "%s"], "weights": [[[1, 0], [0, 1]]], "head_names": ["\\u001b]0;x\\u0007"]}' "$long" > names.json
printf '{"weights": [[[1, 0], [1, 0]]]}' > ones.json
status 1 attn compare names.json ones.json --pretty --tolerance 0.5
ok 'a long token' grep -q -- "$long -> a" out
ok 'no controls' sh -c '! tr -d "\n" < out | grep -q "[[:cntrl:]]" && ! tr -d "\n" < err | grep -q "[[:cntrl:]]"'
status 0 attn compare "$inputs/batched.json" --kernel-b scalar --pretty
ok 'a column of batch items' grep -q '^  what     layer  batch  head' out

# A setting goes to whoever computes, and how weights are stored to whoever holds them.
attn run "$hand" --temperature 2 --weights warm.npy --quiet
status 0 attn compare "$hand" weights=warm.npy --temperature 2 --tolerance 0
silent
status 0 attn compare weights=warm.npy "$hand" --temperature 2 --axes head,query,key --tolerance 0
status 2 attn compare arrays.json arrays.json --temperature 2

# In part and joined; what a context is not.
status 0 attn compare "$hand" arrays.json --what context --head 1 --columns head,largest --tolerance 2
is 'one head' "$(tail -1 out | cut -f 1)" 1
status 0 attn compare a.json b.json --head mean --columns head,largest
is 'a mean' "$(tail -1 out)" $'mean of 2 heads\t0.625'
status 2 attn compare "$hand" arrays.json --what context --head mean
says "'--what context' and 'joined heads or layers' cannot be combined"
status 0 attn compare a.json b.json --query cat --columns head,largest,query,key
is 'a query' "$(paste -sd ' ' out)" $'head\tlargest\tquery\tkey 0\t0\t1\t0 1\t0\t1\t0'
status 1 attn compare a.json b.json --query dog
status 2 attn compare a.json b.json --exclude-first
status 0 attn compare a.json b.json --exclude-first --renormalise

# Pictures: of (0.25, -0.25) the colours of both ends of the scale, of 0 and of what both mask others; a page.
status 0 attn compare a.json b.json --head 0 -o d.svg --tsv
is 'beside a picture' "$(wc -l < out)" 2
says "wrote 'd.svg'"
ok 'the title' grep -q 'head 0: A − B' d.svg
words()
{
	sed 's/<[^>]*>//g' "$1"
}
ok 'the bar' grep -q 'weight, A − B' <(words d.svg)
ok 'who is A' grep -q 'A: a.json; B: b.json' d.svg
is 'the cells' "$(words d.svg | grep -xE '(−|)\.[0-9]{2}' | xargs)" '.25 −.25 .00 .00'
status 0 attn compare a.json a.json -o same.png
status 0 attn compare causal.json "$hand" --what scores -o scores.svg
ok 'of scores' grep -q 'score, A − B' <(words scores.svg)
status 0 attn compare "${both[@]}" --head 2 -o tired.svg --top 3
ok 'tokens of both in a picture' grep -q 'tired (wide)' tired.svg
status 0 attn compare "${m[@]}" --layer 1 --layer-b 3 -o layers.html
ok 'a page' grep -q '"difference": true' layers.html
ok 'its title' grep -q '<title>A − B: A: layer 1; B: layer 3</title>' layers.html
status 2 attn compare a.json b.json -o x.gif
says "'x.gif' ends in '.gif', expected .png, .svg, .pdf or .html"
status 2 attn compare a.json b.json -o -
status 2 attn compare a.json b.json --cell 8
says "'--cell' is of a picture: it also requires -o FILE"
status 2 attn compare a.json b.json --cell 8 -o x.html
status 2 attn compare a.json b.json --colormap viridis -o x.png
says 'these are differences'
status 2 attn compare "$hand" arrays.json --what context -o x.png
status 2 attn compare "$hand" --head-b 0 --head 1 -o x.html --what scores
ln -s a.json a.png
status 2 attn compare a.json b.json -o a.png
says "'a.png' is an input and would be replaced"
ok 'nothing else was written' test ! -e x.png

# Batch items: those chosen, also of an output.
printf '{"q": [[[1]], [[2]]], "k": [[[1]], [[2]]], "v": [[[3]], [[4]]], "num_heads": 1, "packed": true, "wo": [[2]]}' > batch.json
printf '{"output": [[[6]], [[9]]]}' > batch_output.json
status 0 attn compare batch.json batch_output.json --batch 0 --tolerance 0 --columns what,largest,batch
is 'one item' "$(paste -sd ' ' out)" $'what\tlargest\tbatch output\t0\t0'
status 1 attn compare batch.json batch_output.json --tolerance 0 --columns what,largest,batch
is 'both' "$(tail -1 out)" $'output\t1\t1'
# Tokens of B, where A has none.
printf '{"weights": [[[1, 0], [0.5, 0.5]], [[1, 0], [0, 1]]]}' > plain.json
status 0 attn compare plain.json b.json --columns query_token --head 0
is 'tokens of B' "$(tail -1 out)" the
status 2 attn compare plain.json --head-b 7
says "B: '--head' has '7'"

# What does not match, and what is no number.
printf '{"weights": [[[1, 0, 0], [0.5, 0.5, 0]]]}' > wide.json
printf '{"weights": [[[1, 0], [0.5, 0.5], [1, 0]]]}' > tall.json
status 3 attn compare wide.json tall.json
says 'A has 1 head x 2 queries x 3 keys, B 1 head x 3 queries x 2 keys'
says 'one of them looks transposed'
printf '{"output": [[20, 46, 19.5], [39, 36, 42]]}' > tall.json
status 3 attn compare "$hand" tall.json
says "'output' is 2 x 3, expected 3 queries x any: it looks transposed"
printf '{"context": [[[8, 12], [12, 27]], [[6, 16], [40, 20]], [[7.5, 15], [12, 27]]]}' > queries.json
status 3 attn compare "$hand" queries.json
says 'it looks like queries x heads x e'
status 3 attn compare "$hand" "$root/samples/translation.json"
says 'A has 2 heads x 3 queries x 3 keys, B 1 head x 3 queries x 3 keys, expected the same shape'
says 'choose with --head and --head-b'
printf '{"weights": [[[1, null], [0.5, 0.5]], [[1, 0], [0, 1]]]}' > hole.json
status 3 attn compare a.json hole.json
status 2 attn compare a.json
says 'B is missing'
status 2 attn compare a.json b.json a.json
says '3 inputs, expected two, A and B'
status 2 attn compare
says 'A is missing'
status 2 attn compare a.json b.json --tolerance x
says 'expected numbers from 0'
status 2 attn compare a.json b.json --tolerance -1
status 2 attn compare a.json b.json --columns nothing
for threads in 1 2 7; do
	attn compare "${m[@]}" weights=model.npy --threads $threads > t$threads
	ok "$threads threads" cmp t1 t$threads
done
finish
