#!/bin/bash
# Files as other programs write them: what is asked for is found, whatever else is there.
. "$(dirname "$0")/lib.sh"

# first TEXT OPERAND...: what the token attends to most, by `attn inspect token --top 1`.
first()
{
	local expected=$1
	shift
	status 0 attn inspect token "$@" --top 1 --text
	is "$ran" "$(tail -n 1 out)" "$expected"
}

# --- JSON -------------------------------------------------------------------------------------
cat > dump.json <<'EOF'
{"prompt": "a b c", "tokens": ["a", "b", "c"], "loss": 0.5, "layer": [[1, 2], [3, 4]],
 "layers": [[[[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]], [[1, 0, 0], [0.4, 0.6, 0], [0.1, 0.2, 0.7]]]],
 "examples": [{"words": ["x", "y"], "attn": [[0.25, 0.75], [0.5, 0.5]]}, {"attn": [[0.125, 0.875], [1, 0]]}]}
EOF
status 0 attn inspect file dump.json
is 'tensors of a dump' "$(sed -n 's/^tensor	\([^	]*\)	float64	\([^	]*\).*/\1 \2/p' out | tr '\n' ';')" \
	'layer 2,2;layers 1,2,3,3;examples.0.attn 2,2;examples.1.attn 2,2;'
ok 'strings are listed' grep -q '^other	prompt	string		a b c$' out
first 'c -> c 0.700' c weights=dump.json:layers tokens=dump.json --head 1
first 'y -> x 0.500' y weights=dump.json:examples.0.attn tokens=dump.json:examples.0.words
first '0 -> 1 0.875' '#0' 'weights=dump.json:examples[1].attn'
status 3 attn inspect token c weights=dump.json:prompt
says "'prompt' is a string, expected an array"
status 3 attn inspect token c weights=dump.json:layrs
says "did you mean 'layer"
status 3 attn run dump.json
says "unknown key 'prompt', expected a role"
says 'bind what you need with ROLE=FILE:KEY'
printf '[0.25, 0.75]\n[0.5, 0.5]\n' > rows.jsonl
first '0 -> 1 0.750' '#0' weights=rows.jsonl
printf '{"query": 0, "key": 0, "weight": 1}\n{"query": 1, "key": 0, "weight": 0.25}\n{"key": 1, "query": 1, "weight": 0.75}\n' > records.jsonl
first '1 -> 1 0.750' '#1' weights=records.jsonl
first '1 -> 1 0.750' '#1' records.jsonl
echo '[{"from": "a, \"b\"", "to": "c", "attention": 0.5}, {"from": "a, \"b\"", "to": "d\\t", "attention": 0.75}]' > records.json
first 'a, "b" -> d\t 0.750' '#0' records.json
echo '[{"query": 0, "key": 0, "weight": 1}, {"query": 1, "weight": 1}]' > missing.json
status 3 attn inspect token '#0' weights=missing.json
says "'array[1].key' is missing, expected a number or a string"
echo '[{"word": 0, "key": 0, "weight": 1}, {"word": 1, "key": 0, "weight": 1}]' > word.json
status 3 attn inspect token '#0' word.json
says "'array[0]' is an object, expected one with 'query', 'key' and 'weight'"
echo '{"weights": [[[[0.25, 0.75]]], [[[0.5, 0, 0.5]]]]}' > growing.json
status 0 attn inspect token '#0' growing.json --top 1 --text
is 'nothing is said of steps that grow' "$(cat err)" ''
printf '1\n0.25 0.75\n0.5 0 0.5\n' > triangle.txt
first '1 -> 1 0.750' '#1' weights=triangle.txt
printf '{"attn": [[1, 0], [0, 1]]}\n{"attn": [[0.25, 0.75], [1, 0]]}\n' > lines.jsonl
first '0 -> 1 0.750' '#0' weights=lines.jsonl:1.attn
printf '{"weights": [[1], [0.5, 0.5], [0.2, 0.3, 0.5]]}' > causal.json
first '2 -> 2 0.500' '#2' causal.json
printf '{"wq": [[1], [2, 3]]}' > ragged.json
status 3 attn run ragged.json
says "'wq' row 1 has 2 numbers, expected 1"
view='{"attn": [[[[0.9, 0.1], [0.3, 0.7]]]], "left_text": ["le", "chat"], "right_text": ["the", "cat"]}'
printf '{"attention": [%s], "default_filter": "0"}' "$view" > bertviz.json
first 'chat -> cat 0.700' chat bertviz.json
first 'chat -> cat 0.700' chat weights=bertviz.json:attention.0
first 'chat -> cat 0.700' chat weights=bertviz.json
printf '["un", "deux"]' > other.json
first 'deux -> cat 0.700' deux bertviz.json tokens=other.json
printf '{"all": %s, "ab": 0}' "$view" > all.json
first 'le -> the 0.900' le all.json

printf '{"loss": NaN, "w": [[0.25, 0.75], [1, 0]], "bad": [[1, NaN]], "mask": [[0, -Infinity]]}' > nan.json
first '0 -> 1 0.750' '#0' weights=nan.json:w
status 3 attn inspect token '#0' weights=nan.json:bad
says "'bad[0,1]' is NaN, expected a number"
status 3 attn run nan.json
says 'in a mask or scores, null stands for -infinity'
status 0 attn inspect file nan.json
is 'what Python calls a number is listed' "$(cut -f 1,2,3 out | tr '\t\n' ' ;')" \
	'kind name type;tensor w float64;other loss number;other bad array;other mask array;'

# --- tokens -------------------------------------------------------------------------------------
printf '[[[0.4, 0.6], [0.5, 0.5]]]' > w.json
printf 'the\r\ncat\r\n' > dos.txt
printf '[CLS]\ncat' > cls.txt
printf '{\n[1]\n' > brackets.txt
first 'the -> cat 0.600' the weights=w.json tokens=dos.txt
first '[CLS] -> cat 0.600' '[CLS]' weights=w.json tokens=cls.txt
first '{ -> [1] 0.600' '{' weights=w.json tokens=brackets.txt
printf '\ncat\n' > blank.txt
first ' -> cat 0.600' '#0' weights=w.json tokens=blank.txt
printf '[["the", "cat"], ["the", "cat"]]' > batch.json
first 'the -> cat 0.600' the weights=w.json tokens=batch.json
printf '{"tokens": [["the", "cat"], ["a", "dog"]], "n": 2}' > differ.json
status 3 attn inspect token the weights=w.json tokens=differ.json
says "'tokens' differs between batch items"
first 'a -> dog 0.600' a weights=w.json 'tokens=differ.json:tokens[1]'
printf '{"target": [{"id": 7, "token": "the"}, {"id": 8, "token": "cat"}]}' > ids.json
first 'the -> cat 0.600' the weights=w.json tokens=ids.json:target
printf '{"weights": [[[[0.4, 0.6], [0.5, 0.5]]], [[[0.1, 0.9], [1, 0]]]], "axes": "batch", "tokens": %s}' \
	'[["a", "b"], ["a", "c"]]' > items.json
status 3 attn inspect token a items.json
says "'tokens' differs between batch items, which share their labels: string 1 is 'b' in item 0 and 'c' in item 1"

# --- tables --------------------------------------------------------------------------------------
printf ',the,cat\nthe,0.9,0.1\ncat,0.7,0.3\n' > w.csv
first 'cat -> the 0.700' cat weights=w.csv
status 0 attn inspect file w.csv
is 'a table and its labels' "$(cut -f 1,2,4 out | tr '\t\n' ' ;')" 'kind name shape;tensor  2,2;text tokens 2;text source_tokens 2;'
printf 'the\tcat\n0.9\t0.1\n0.7\t0.3\n' > header.tsv
first 'cat -> the 0.700' cat weights=header.tsv
printf '# by numpy\n9.0e-01 1.0e-01\n7.0e-01 3.0e-01\n' > savetxt.txt
first '1 -> 0 0.700' '#1' weights=savetxt.txt
printf 'le,the,0.9\nle,cat,0.1\nchat,cat,1\n' > triples.csv
first 'le -> the 0.900' le weights=triples.csv
printf '0 0 1\n1 0 0.25\n1 1 0.75\n2 2 1\n' > triples.txt
first '1 -> 1 0.750' '#1' weights=triples.txt
status 3 attn run w.csv
says "weights=w.csv"
for input in plain cross padded; do
	attn run "$inputs/$input.json" --weights mine.tsv 2> /dev/null
	attn run "$inputs/$input.json" --weights mine.npy --context c.npy 2> /dev/null
	attn run mine.tsv --weights again.tsv 2> /dev/null
	same "$input: weights of a table read back with their labels" mine.tsv again.tsv
	attn run weights=mine.tsv --weights again.npy 2> /dev/null
	same "$input: bound as weights" mine.npy again.npy
done

printf 'q;a;b\na;0,25;0,75\nb;1;0\n' > comma.csv
first 'a -> b 0.750' a weights=comma.csv
printf '1,2\n3\n' > odd.csv
status 3 attn inspect token '#0' weights=odd.csv
says "'odd.csv': not a table of numbers"
printf '{"text": "a b", "n": [[2]], "attentions": [[0.25, 0.75], [1, 0]], "tokens": ["a", "b"]}' > usual.json
first 'a -> b 0.750' a weights=usual.json tokens=usual.json

# One vector over a text.
printf '[0.2, 0.7, 0.1]' > vector.json
printf 'a\nb\nc\n' > abc.txt
first '0 -> b 0.700' '#0' weights=vector.json tokens=abc.txt

# --- axes --------------------------------------------------------------------------------------
printf '[[[0.25, 0.75], [0.5, 0.5]], [[1, 0], [0.125, 0.875]]]' > cube.json
status 0 attn inspect token '#1' weights=cube.json --axes layer --layer 1 --top 1 --text
is 'layers without heads are averages' "$(tail -n 2 out | tr '\n' ';')" 'layer 1 head 0 (averaged over heads);1 -> 1 0.875;'
first '0 -> 1 0.750' '#0' 'weights=cube.json[0]'
status 0 attn inspect token '#0' weights=cube.json --axes head,key,query --head 0 --top 1 --text
is 'keys before queries' "$(tail -n 1 out)" '0 -> 1 0.500'
status 3 attn inspect token '#0' 'weights=cube.json[2]'
says "index 2 is not in axis 0, which has 2"
status 2 attn inspect token '#0' 'weights=cube.json[::0]'
says 'is no slice'
cp cube.json 'cube[0].json'
first '1 -> 1 0.875' '#1' 'weights=cube[0].json' --head 1

# Layers in files of their own.
printf '[[[1, 0], [0.5, 0.5]]]' > a.json
printf '[[[1, 0], [0.25, 0.75]]]' > b.json
status 0 attn inspect token '#1' weights=a.json,b.json --layer 1 --top 1 --text
is 'files are layers' "$(tail -n 2 out | tr '\n' ';')" 'layer 1 head 0;1 -> 1 0.750;'
cp a.json 'a,b.json'
first '1 -> 0 0.500' '#1' 'weights=a,b.json'
status 2 attn run q=a.json,b.json
says "only layers of 'weights' are stacked"
status 3 attn inspect token '#1' weights=a.json,vector.json
says "expected layers of one shape"
printf '{"layer_%s": [[[1, 0], [%s]]], "layer_%s": [[[1, 0], [0.25, 0.75]]]}' 10 '0.125, 0.875' 9 > layers.json
first '1 -> 1 0.875' '#1' weights=layers.json --layer 1
first '1 -> 1 0.875' '#1' 'weights=layers.json:layer_*' --layer 1

# --- messages -------------------------------------------------------------------------------------
printf '{"wq": [[1, 2],]}' > comma.json
status 3 attn run comma.json
says 'expected a value after the last comma, or no comma'
printf '{"wq": [[1, 2]] // first\n}' > comment.json
status 3 attn run comment.json
says 'JSON has no comments'
printf '{"weights": [[[1.1111, 0], [0.5556, 0.5556]]]}' > dropout.json
status 3 attn run dropout.json --rankings -
says 'evaluate with dropout off'

# --- what NumPy writes ------------------------------------------------------------------------------
python=/usr/bin/python3
if ! $python -c 'import numpy' 2> /dev/null; then
	skip 'files of NumPy: it is not installed'
	finish
fi
$python - <<'EOF'
import json
import numpy as np
r = np.random.default_rng(5)
a = r.dirichlet(np.ones(4), (12, 1, 2, 4)).astype('f4')
np.savez('arr.npz', *a)
np.savez('named.npz', **{'blocks.%d.attn' % i: x for i, x in enumerate(a)})
np.save('all.npy', a[:, 0])
np.save('five.npy', np.moveaxis(a, 0, 1))
for i, x in enumerate(a):
    np.save('l%d.npy' % i, x)
np.savez('mean.npz', **{'layer_%d' % i: x.mean(axis=1)[0] for i, x in enumerate(a)})
np.save('mean.npy', a.mean(axis=2))
np.savez_compressed('objects.npz', w=a[3, 0], meta=np.array([{'a': 1}], object), when=np.datetime64('2020-01-01'),
                    words=np.array(['a', 'b', 'c', 'd']), scale=np.ones((3, 4)))
full = np.tril(r.uniform(1, 2, (2, 3, 6, 6))).astype('f4')
full /= full.sum(-1, keepdims=True)
steps = [full[:, None, :, :3, :3]] + [full[:, None, :, i:i + 1, :i + 1] for i in (3, 4, 5)]
np.savez('steps.npz', **{'step_%d' % i: x for i, x in enumerate(steps)})
np.savez('heads.npz', **{'layer.%d.head.%d' % (i, h): a[i, 0, h] for i in range(12) for h in (0, 1)})
np.savez('both.npz', **{'step_%d_layer_%d' % (i, l): x[l] for i, x in enumerate(steps) for l in (0, 1)})
np.save('steps.npy', full)
json.dump({'attentions': [x.tolist() for x in steps]}, open('steps.json', 'w'))
np.savez('late.npz', **{'step_%d' % i: x for i, x in enumerate(steps[1:])})
np.savez('qkv.npz', query=full[0], key=full[0], value=full[0], n=np.ones(3))
np.savez('maps.npz', attentions=full, other=np.ones(3))
np.save('pickled.npy', np.array([{'a': 1}, 2], object))
np.savetxt('last.txt', a[5, 0, 1])
EOF
status 0 attn run weights=all.npy --weights expected.npy
for operand in arr.npz weights=arr.npz named.npz 'weights=named.npz:blocks.*.attn' 'weights=five.npy[0]' heads.npz \
	weights=l0.npy,l1.npy,l2.npy,l3.npy,l4.npy,l5.npy,l6.npy,l7.npy,l8.npy,l9.npy,l10.npy,l11.npy; do
	status 0 attn run "$operand" --weights found.npy
	same "layers of $operand" expected.npy found.npy
done
status 0 attn run weights=mean.npy --axes layer,head --weights expected.npy
status 0 attn run mean.npz --weights found.npy
same 'layers of averages have one head' expected.npy found.npy
status 0 attn inspect token '#0' weights=mean.npz --layer 2 --top 1 --text
is 'which says so' "$(head -n 1 out)" 'layer 2 head 0 (averaged over heads)'
status 0 attn run weights=steps.npy --weights expected.npy
for operand in 'weights=steps.npz' 'weights=both.npz' 'weights=steps.json:attentions' 'steps.npz'; do
	status 0 attn run "$operand" --weights found.npy
	same "steps of $operand" expected.npy found.npy
done
status 0 attn run 'weights=steps.npy[...,3:,:]' --weights expected.npy
status 0 attn run weights=late.npz --weights found.npy
same 'steps after other keys' expected.npy found.npy
status 0 attn run weights=late.npz --weights found.safetensors
status 0 attn inspect file found.safetensors
ok 'which are those of a KV cache' grep -q '^setting	past_keys			3$' out
status 0 attn run weights=last.txt --weights found.npy
status 0 attn run 'weights=l5.npy[0,1]' --weights expected.npy
same 'numbers of np.savetxt, a head of a batch' expected.npy found.npy
status 0 attn inspect file objects.npz
is 'what an archive holds besides' "$(grep -c -e '^other	meta	object	1	$' -e '^other	when	datetime64		$' \
	-e '^tensor	scale	float64	3,4	$' -e '^text	words	string	4	' out)" 4
first "$(attn inspect token '#1' 'weights=l3.npy[0]' --head 1 --top 1 --text | tail -n 1)" '#1' weights=objects.npz:w --head 1
status 3 attn run weights=objects.npz:meta
says "allow_pickle=True"
status 3 attn run objects.npz
says "'scale' is 3 x 4, expected one number"
status 3 attn run qkv.npz
says "'query' is not a role, did you mean 'q' (q=FILE:query binds it)"
status 3 attn run maps.npz
says 'weights=FILE:attentions binds it'
status 3 attn run weights=pickled.npy
says "python3 -c \"import numpy; numpy.savez('new.npz', *numpy.load('pickled.npy', allow_pickle=True))\""
finish
