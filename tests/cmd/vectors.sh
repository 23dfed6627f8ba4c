#!/bin/bash
# attn run --q, --k, --v and --scores-stage product: what enters the scores.
. "$(dirname "$0")/lib.sh"
hand=$root/samples/hand.json

# In head 0 of the sample wq and wk leave x as it is; wv makes 10 x0 and 20 x1.
attn run "$hand" --q - --format tsv > q.tsv
is 'q' "$(head -n 7 q.tsv | cut -f 1,2,4,5 | tr '\n\t' '; ')" \
	'head query column q;0 0 0 1;0 0 1 0;0 1 0 0;0 1 1 1;0 2 0 1;0 2 1 1;'
attn run "$hand" --v - --format tsv > v.tsv
is 'v' "$(sed -n '2,7p' v.tsv | cut -f 5 | tr '\n' ' ')" '10 0 0 20 10 20 '

# The product is the score of scale 1.
attn run "$hand" --scores product.npy --scores-stage product 2> /dev/null
attn run "$hand" --scale 1 --scores raw.npy 2> /dev/null
same 'product' product.npy raw.npy

# Rotation and norms are done to them: read back as precomputed, they give the same weights.
attn run "$hand" --rope 10000 --qk-norm rms --weights expected.npy 2> /dev/null
attn run "$hand" --rope 10000 --qk-norm rms --q q.safetensors --k k.safetensors --v v.safetensors 2> /dev/null
status 0 attn run q.safetensors k.safetensors v.safetensors --scale 0.6931471805599453 --weights found.npy
same 'read back' expected.npy found.npy

# A KV cache comes first, and appended keys last.
echo '{"q": [[[1, 2]]], "k": [[[3, 4]]], "v": [[[5]]], "past_k": [[[6, 7]]], "past_v": [[[8]]]}' > past.json
is 'k after the KV cache' "$(attn run past.json --add-zero-attn --k - --format tsv | cut -f 2,4,5 | tr '\n\t' '; ')" \
	'key column k;0 0 6;0 1 7;1 0 3;1 1 4;2 0 0;2 1 0;'
is 'v after the KV cache' "$(attn run past.json --add-zero-attn --v - --format tsv | tail -n 3 | cut -f 5 | tr '\n' ' ')" '8 5 0 '

# Before the matrix of a score function; of unit length for cosine.
echo '{"q": [[[3, 4]]], "k": [[[1, 0]]], "score_w": [[0, 1], [1, 0]]}' > general.json
is 'general' "$(attn run general.json --score general --q - --format tsv | tail -n 2 | cut -f 5 | tr '\n' ' ')" '3 4 '
echo '{"q": [[[3, 4]]], "k": [[[1, 0]]]}' > cosine.json
is 'cosine' "$(attn run cosine.json --score cosine --q - --format tsv | tail -n 2 | cut -f 5 | tr '\n' ' ')" '0.6 0.8 '

long_inputs
for threads in 1 3; do
	attn run batches.json --threads $threads --q q$threads.npy --k k$threads.npy --v v$threads.npy 2> /dev/null
done
for name in q k v; do
	same "$name: any number of threads" ${name}1.npy ${name}3.npy
done

attn run "$hand" -o stored 2> /dev/null > stored.txt
status 2 attn run stored/attention.safetensors --q q.npy
says 'a stored result has weights, but no Q, K and V'
status 2 attn run "$hand" --shard 1/2 --k k.npy
says "shards hold rows"
status 2 attn run "$hand" --words --v v.npy
says "'--words' and '--v' cannot be combined"
status 2 attn run "$hand" --q same.npy --k same.npy
says "'--q' and '--k' are both 'same.npy'"
status 3 attn run cosine.json --v v.npy
says "'v' (or 'wv') is missing, expected it for --v"
finish
