#!/bin/bash
# A run in parts, joined, is the run: byte for byte.
. "$(dirname "$0")/lib.sh"
long_inputs

# parts DIR N ARGUMENT...: all parts, by GNU parallel where it is.
parts()
{
	local directory=$1 count=$2 i
	shift 2
	if parallel --version 2> /dev/null | grep -q GNU; then
		parallel --will-cite "$ATTN" run "$@" --shard "{}/$count" -o "$directory" ::: $(seq "$count") 2> err
	else
		for ((i = 1; i <= count; i++)); do
			attn run "$@" --shard "$i/$count" -o "$directory" 2> err || return
		done
	fi
}

# compare NAME ARGUMENT...: all outputs of attn run ARGUMENT...
compare()
{
	local name=$1
	shift
	rm -rf parts whole merged
	ok "$name: parts" parts parts 4 "$@"
	attn run "$@" -o whole > whole.out 2> err
	status 0 attn merge parts/* -o merged
	same "$name: standard output" whole.out out
	ok "$name: a merged run is the whole one" diff -r whole merged
	ok "$name: results were compared" test -s merged/attention.safetensors
}

for name in plain causal batched grouped cross masked padded past biased appended; do
	compare "$name" "$inputs/$name.json"
done
compare 'long' long.json
compare 'causal, with numbers for tokens' long.json --causal --num-kv-heads=1 --softcap 20
compare 'a window of a differential head' long.json --num-kv-heads=1 --window 20,3 --lambda 0.3
compare 'blocks, by 1.5-entmax' long.json --blocks size=16,global=1,random=2 --normalizer entmax15 --rope 10000
attn run batches.json --weights stored.safetensors 2> err
compare 'a stored result' stored.safetensors
compare 'batches' batches.json

# Single outputs of the same parts.
attn run batches.json --context context.npy --weights weights.npz --rankings r.json --top 3 \
	--heatmaps pictures --transpose 2> err
mkdir single
status 0 attn merge parts/* --context single/context.npy --weights single/weights.npz \
	--rankings single/r.json --top 3 --heatmaps single/pictures --transpose
for file in context.npy weights.npz r.json; do
	same "merged $file" $file single/$file
done
ok 'merged pictures' diff -r pictures single/pictures
attn run batches.json --context - > expected
status 0 attn merge parts/part-{3,1,4,2}-of-4.safetensors --context -
same 'parts in any order, to standard output' expected out

# Parts hold what their outputs need.
ok 'parts for contexts' parts contexts 3 long.json --output o.npy --context c.npy
ok 'they hold no weights' test "$(cat contexts/* | wc -c)" -lt 200000
attn run long.json --output o.safetensors --context c.tsv 2> err
status 0 attn merge contexts/* --output merged.safetensors --context merged.tsv
same 'merged output' o.safetensors merged.safetensors
same 'merged contexts' c.tsv merged.tsv
status 3 attn merge contexts/* --rankings r.tsv
says "'contexts/part-1-of-3.safetensors' holds no weights, expected it"
ok 'parts for weights' parts weights 2 long.json --rankings r.tsv
status 3 attn merge weights/* -o never
says "'weights/part-1-of-2.safetensors' holds no context, expected it"
status 0 attn merge weights/* --rankings merged.tsv
attn run long.json --rankings r.tsv 2> err
same 'merged rankings' r.tsv merged.tsv

# More parts than blocks of rows: some are empty.
ok 'more parts than rows' parts many 7 "$inputs/plain.json"
attn run "$inputs/plain.json" -o plain > plain.out 2> err
status 0 attn merge many/* -o empties
ok 'empty parts' diff -r plain empties

# A row with every key masked is counted once.
ok 'masked parts' parts masked 2 "$inputs/masked.json"
status 0 attn merge masked/* --rankings r.tsv
says '1 of 6 rows have every key masked'
ok 'masked contexts' parts masked-contexts 2 "$inputs/masked.json" --context c.npy
status 0 attn merge masked-contexts/* --context merged.npy
says '1 of 6 rows have every key masked'

# Parts that do not make a run.
cp -r parts good
status 3 attn merge good/part-{1,2,4}-of-4.safetensors -o never
says 'shard 3 of 4 is missing'
status 3 attn merge good/part-2-of-4.safetensors -o never
says 'shard 1 of 4 is missing, and 2 more'
mkdir other
cp good/part-2-of-4.safetensors other
status 3 attn merge good/* other/* -o never
says "'good/part-2-of-4.safetensors' and 'other/part-2-of-4.safetensors' are the same shard, 2 of 4"
status 0 attn run batches.json --scale 0.3 --shard 2/4 -o other
status 3 attn merge good/part-{1,3,4}-of-4.safetensors other/* -o never
says "'other/part-2-of-4.safetensors' is a shard of another run than 'good/part-1-of-4.safetensors'"
status 0 attn run batches.json --shard 2/5 -o other
status 3 attn merge good/* other/part-2-of-5.safetensors -o never
says "'good/part-1-of-4.safetensors' is one of 4 shards and 'other/part-2-of-5.safetensors' one of 5"
version=$(attn --version | cut -d ' ' -f 2)
sed "s/\"version\":\"$version\"/\"version\":\"9.9.9\"/" good/part-3-of-4.safetensors > other.safetensors
status 3 attn merge good/part-{1,2,4}-of-4.safetensors other.safetensors -o never
says "'other.safetensors' is of version '9.9.9', expected '$version'"
sed 's/"attn_sizes":"1,/"attn_sizes":"9,/' good/part-3-of-4.safetensors > other.safetensors
status 3 attn merge good/part-{1,2,4}-of-4.safetensors other.safetensors -o never
says "'other.safetensors' is a shard of another run"
for i in 1 2 3 4; do
	sed 's/"attn_sizes":"1,2/"attn_sizes":"9,8/' good/part-$i-of-4.safetensors > damaged-$i
done
status 3 attn merge damaged-* -o never
says "'damaged-1': 'weights' is"
sed 's/"attn_part":"3/"attn_part":"x/' good/part-3-of-4.safetensors > other.safetensors
status 3 attn merge good/part-{1,2,4}-of-4.safetensors other.safetensors -o never
says "'other.safetensors' has damaged settings"
head -c 5000 good/part-3-of-4.safetensors > other.safetensors
status 3 attn merge good/part-{1,2,4}-of-4.safetensors other.safetensors -o never
says "'other.safetensors':"
status 3 attn merge long.json -o never
says "'long.json' is not a shard of a run"
status 4 attn merge absent -o never
says "'absent'"
status 3 attn run good/part-1-of-4.safetensors -o never
says "'good/part-1-of-4.safetensors' is a shard of a run, expected a whole input"
status 3 attn inspect token '#0' good/part-1-of-4.safetensors
says "join shards by 'attn merge'"
status 2 attn merge
says 'no shards'
for shard in 0/4 5/4 1 4/ /4 1/0 -1/4 1/2/3 a/b 1/1000001; do
	status 2 attn run long.json --shard "$shard" -o never
	says "'--shard' is '$shard', expected I/N"
done
status 2 attn run long.json --shard 1/2 --scores s.npy -o never
says "'--scores' and '--shard' cannot be combined"
ok 'nothing was made' test ! -e never

# A part that cannot be written is said.
mkdir full
ln -s /dev/full full/part-1-of-2.safetensors
status 4 attn run long.json --shard 1/2 -o full
says "could not write 'full/part-1-of-2.safetensors'"
finish
