#!/bin/bash
# The files of a model, through attn inspect model: what is told of a good folder, and that a bad one
# ends in one clear line.
. "$(dirname "$0")/lib.sh"
sample=$root/samples/stories260K

# refused STATUS PART [MODEL]: one line, which has PART, and nothing else.
refused()
{
	local expected=$1 part=$2 message found
	timeout 20 "$ATTN" inspect model "${3:-m}" > out 2> err
	found=$?
	message=$(< err)
	if [ $found -eq "$expected" ] && [[ $message == 'attn inspect model: '* && $message != *$'\n'* ]] &&
		[[ $message == *"$part"* ]] && [ ! -s out ]; then
		pass
	else
		fail "expected $expected, '$part': status $found, '$message'"
	fi
}

# unsupported PART [MODEL]: it is told, and that it is not supported.
unsupported()
{
	status 0 attn inspect model "${2:-m}" --tsv
	silent
	is "supported" "$(grep ^supported out)" "supported	false"
	ok "a reason with '$1': $(grep ^reason out)" grep -qF -- "$1" out
}

# fresh: m is the sample again, with a change of config.json by sed.
fresh()
{
	rm -rf m
	mkdir m
	cp "$sample"/*.json "$sample"/model.safetensors m
	chmod -R u+w m
	sed "${1:-}" "$sample/config.json" > m/config.json
}

# tensors NAME...: a safetensors file of float32 vectors of two elements.
tensors()
{
	local header= at=0 name length
	for name; do
		header+="${header:+,}\"$name\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[$at,$((at + 8))]}"
		at=$((at + 8))
	done
	header="{$header}"
	length=$(printf '%04x' ${#header})
	printf "\\x${length:2}\\x${length:0:2}\\0\\0\\0\\0\\0\\0%s" "$header"
	head -c $at /dev/zero
}

# --- good folders -------------------------------------------------------------

fresh
status 0 attn inspect model m --tsv
silent
cat > expected << 'E2'
name	value
model_type	llama
family	Llama
supported	true
layers	5
heads	8
kv_heads	4
head_size	8
width	64
feed_forward	172
vocabulary	512
positions	512
parameters	260032
tensors	47
bytes	1040128
type	float32
file	m/model.safetensors
tokenizer	BPE
tokens	512
E2
same "a table" expected out
attn inspect model m > piped 2> err
same "the default without a terminal" expected piped
for model in m/ ./m m/model.safetensors; do
	attn inspect model $model > other 2> err
	is "$model" "$(grep -v ^file other)" "$(grep -v ^file expected)"
done
ln -s m link
status 0 attn inspect model link
(cd m && attn inspect model .) > other
is "the folder from within" "$(grep -v ^file other)" "$(grep -v ^file expected)"

status 0 attn inspect model m --json
if command -v python3 > /dev/null; then
	ok "JSON" python3 -c '
import json
d = json.load(open("out"))
assert d["version"] == 1 and d["model"] == "m" and d["supported"] is True, d
assert d["layers"] == 5 and d["parameters"] == 260032 and d["family"] == "Llama", d
assert d["types"] == [{"name": "float32", "tensors": 47, "parameters": 260032, "bytes": 1040128}], d
assert d["files"] == [{"path": "m/model.safetensors", "bytes": 1045400}], d
assert d["tokenizer"] == "BPE" and d["tokens"] == 512, d'
else
	skip "JSON: no python3"
fi

# No tokenizer, or a bad one, is told.
fresh
rm m/tokenizer*.json
attn inspect model m --tsv > out
ok "no tokenizer" grep -q "^tokenizer_reason	'm/\?' has no tokenizer" out
echo '{"model": 3}' > m/tokenizer.json
attn inspect model m --tsv > out
ok "a bad tokenizer" grep -q "^tokenizer_reason	.*m/tokenizer.json.*'model'" out

# --- wrong use ------------------------------------------------------------------

status 2 attn inspect model
says "0 models are given, expected one (see 'attn inspect model --help')"
status 2 attn inspect model a b
says "2 models are given, expected one"
status 2 attn inspect models
says "did you mean 'attn inspect model'"

# --- settings ------------------------------------------------------------------

fresh 's/"llama"/"lama"/'
unsupported "'m/config.json': 'model_type' is \"lama\", expected one of "
fresh 's/"llama"/"gpt_oss"/'
unsupported "a 'gpt_oss' has a mixture of experts, which is not supported"
is "sizes by their usual names" "$(grep -E '^(layers|heads|kv_heads|width|feed)' out | tr '\n' ' ')" \
	"layers	5 heads	8 kv_heads	4 width	64 feed_forward	172 "
fresh '/model_type/d'
unsupported "'m/config.json': 'model_type' is missing"
fresh 's/"num_hidden_layers": 5/"num_hidden_layers": "five"/'
unsupported "'m/config.json': 'num_hidden_layers' is \"five\", expected a whole number from 1 to "
fresh 's/"num_hidden_layers": 5/"num_hidden_layers": 1e19/'
unsupported "'num_hidden_layers' is 1e+19, expected a whole number from 1 to "
fresh 's/"num_hidden_layers": 5/"num_hidden_layers": 6/'
unsupported "'m': tensor 'layers.5.input_layernorm.weight' is missing"
fresh 's/"hidden_size": 64/"hidden_size": 128/'
unsupported "'m/model.safetensors': 'model.embed_tokens.weight' is 512 x 64, expected 512 x 128"

# What is of another type is not taken for absent.
fresh 's/"hidden_act": "[a-z]*"/"hidden_act": 3/'
grep -q hidden_act m/config.json || fresh 's/{/{"hidden_act": 3,/'
unsupported "'m/config.json': 'hidden_act' is 3, expected a text"
fresh 's/"num_hidden_layers"/"rope_scaling": "linear", "num_hidden_layers"/'
sed -i 's/"rope_scaling": null,*//' m/config.json
unsupported "'m/config.json': 'rope_scaling' is \"linear\", expected an object or null"
fresh 's/"num_hidden_layers"/"rope_parameters": {"rope_type": 3}, "num_hidden_layers"/'
unsupported "'m/config.json': 'rope_parameters.rope_type' is 3, expected a text"
fresh 's/"llama"/"mistral", "sliding_window": 3, "layer_types": "sliding_attention"/'
unsupported "'layer_types' is \"sliding_attention\", expected a type for each layer"

# A weight that is no number is named, not what came of it.
if command -v python3 > /dev/null; then
	for name in self_attn.q_proj self_attn.o_proj mlp.down_proj; do
		fresh
		python3 -c '
import json, struct, sys
b = bytearray(open("m/model.safetensors", "rb").read())
n = struct.unpack("<Q", b[:8])[0]
at = 8 + n + json.loads(b[8:8 + n])["model.layers.1." + sys.argv[1] + ".weight"]["data_offsets"][0] + 20
b[at:at + 4] = struct.pack("<f", float("nan"))
open("m/model.safetensors", "wb").write(b)' $name
		status 3 attn run --model m --ids 1,2,3 --weights w.npy
		says "'m/model.safetensors': 'model.layers.1.$name.weight[0,5]' is nan, expected a finite number"
	done
else
	skip "weights that are no numbers: no python3"
fi

# --- config.json ----------------------------------------------------------------

fresh
echo '{"model_type": "llama",' > m/config.json
refused 3 "'m/config.json': line 2, column 1: expected a key in double quotes, found the end"
echo '[]' > m/config.json
refused 3 "'m/config.json': document is an array, expected an object"
: > m/config.json
refused 3 "'m/config.json' is empty"
printf '{"a": "\377"}' > m/config.json
refused 3 "'m/config.json': byte 7 is not UTF-8 text"
head -c 5000 /dev/zero | tr '\0' '[' > m/config.json
refused 3 "'m/config.json': line 1, column 65: expected at most 64 levels of brackets"
truncate -s 100M m/config.json
refused 3 "'m/config.json' is 104857600 bytes, expected at most 8388608"
rm m/config.json
refused 3 "'m' has no 'config.json', expected the folder of a model"
refused 3 "'m/model.safetensors' has no 'config.json' beside it" m/model.safetensors
mkdir m/config.json
refused 4 "'m/config.json' is a directory, expected a file"
rmdir m/config.json
mkfifo m/config.json
refused 4 "'m/config.json' is a device, pipe or socket, expected a regular file"
rm m/config.json
ln -s /dev/zero m/config.json
refused 4 "'m/config.json' is a device, pipe or socket, expected a regular file"
rm m/config.json
ln -s config.json m/config.json
refused 4 "could not open 'm/config.json'"
if [ "$(id -u)" != 0 ]; then
	fresh
	chmod 0 m/config.json
	refused 4 "could not open 'm/config.json': Permission denied"
fi

# --- weights --------------------------------------------------------------------

fresh
truncate -s 1000000 m/model.safetensors
refused 3 "'m/model.safetensors': '"
head -c 300 "$sample/model.safetensors" > m/model.safetensors
refused 3 "'m/model.safetensors': header is "
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n' > m/model.safetensors
refused 3 "'m/model.safetensors' is a pointer of Git LFS in place of the file: fetch it with 'git lfs pull'"
: > m/model.safetensors
refused 3 "'m/model.safetensors' is empty"
rm m/model.safetensors
refused 3 "'m' has no weights, expected 'model.safetensors', or its shards and 'model.safetensors.index.json'"
mkdir m/model.safetensors
refused 4 "'m/model.safetensors' is a directory, expected a file"
rmdir m/model.safetensors
mkfifo m/model.safetensors
refused 4 "'m/model.safetensors' is a device, pipe or socket, expected a regular file"
rm m/model.safetensors
ln -s gone m/model.safetensors
refused 4 "could not open 'm/model.safetensors': No such file or directory"
rm m/model.safetensors
touch m/pytorch_model.bin
refused 3 "'m' has 'pytorch_model.bin', a pickle, which is not read because it may run code; convert it: python3 -c \""
ok "the folder is the command's last word" grep -q " 'm'$" err
refused 3 "'m' has 'pytorch_model.bin', a pickle" m/pytorch_model.bin
mv m/pytorch_model.bin m/tf_model.h5
refused 3 "'m' has its weights in 'tf_model.h5', which is not read"
refused 3 "'m/tf_model.h5' is one of the files of a model, did you mean 'm'" m/tf_model.h5
cp "$sample/model.safetensors" m/weights.safetensors
refused 3 "'m' has no 'model.safetensors', did you mean 'm/weights.safetensors'"
status 0 attn inspect model m/weights.safetensors
refused 4 "could not open 'gone': No such file or directory" gone
mkdir empty
refused 3 "'empty' has no 'config.json'" empty
refused 4 "could not open '-'" -

# The command that converts, with modules that stand in for those it needs.
if command -v python3 > /dev/null; then
	fresh
	rm m/model.safetensors
	touch "m/pytorch_model-00001-of-00002.bin" "m/pytorch_model-00002-of-00002.bin"
	mkdir -p modules/safetensors
	cat > modules/torch.py << 'E2'
class Tensor:
	def __init__(self, name): self.name = name
	def contiguous(self): return self
	def clone(self): return self
def load(path, location, weights_only):
	assert location == "cpu" and weights_only
	return {path[-18:]: Tensor(path)}
E2
	: > modules/safetensors/__init__.py
	cat > modules/safetensors/torch.py << 'E2'
def save_file(tensors, path):
	print(path, sorted(tensors))
E2
	attn inspect model m 2> err
	PYTHONPATH=modules bash -c "$(sed 's/.*convert it: //' err)" > converted 2>&1
	is "the command converts" "$(< converted)" \
		"m/model.safetensors ['00001-of-00002.bin', '00002-of-00002.bin']"
else
	skip "the command that converts: no python3"
fi

# --- shards ---------------------------------------------------------------------

# sharded JSON: m has that index, and one.safetensors with a, two.safetensors with b.
sharded()
{
	fresh
	rm m/model.safetensors
	printf '%s' "$1" > m/model.safetensors.index.json
	tensors a > m/one.safetensors
	tensors b > m/two.safetensors
}

sharded '{"weight_map": {"b": "two.safetensors", "a": "one.safetensors"}}'
unsupported "'m': tensor 'embed_tokens.weight' is missing"
is "files" "$(grep ^file out | tr '\n' ' ')" "file	m/one.safetensors file	m/two.safetensors "
rm m/two.safetensors
refused 4 "could not open 'm/two.safetensors': No such file or directory"
tensors c > m/two.safetensors
refused 3 "'m/two.safetensors': tensor 'b' is missing, which the index says is here"
refused 3 "'m/two.safetensors' is one of the files of a model, did you mean 'm'" m/two.safetensors
sharded '{"weight_map": {"a": "../m/one.safetensors"}}'
refused 3 "'m/model.safetensors.index.json': 'weight_map' has \"../m/one.safetensors\" for 'a', expected a file beside it"
sharded '{"weight_map": {"a": 1}}'
refused 3 "'weight_map' has a number for 'a', expected a file name"
sharded '{"weight_map": {"a": "one.safetensors", "a": "two.safetensors"}}'
refused 3 "'a' may be given only once in 'weight_map'"
sharded '{}'
refused 3 "'m/model.safetensors.index.json': 'weight_map' is missing, expected an object of tensors and their files"
sharded '{"weight_map": '
refused 3 "'m/model.safetensors.index.json': line 1, column 16: expected a value, found the end"
truncate -s 100M m/model.safetensors.index.json
refused 3 "'m/model.safetensors.index.json' is 104857600 bytes, expected at most "

# --- GGUF -----------------------------------------------------------------------

# le SIZE NUMBER: little-endian bytes of a number.
le()
{
	local i
	for ((i = 0; i < $1; i++)); do
		printf "\\x$(printf %02x $(($2 >> 8 * i & 255)))"
	done
}

string()
{
	le 8 ${#1}
	printf %s "$1"
}

# part COUNT TOTAL NAME: one of COUNT files, which have TOTAL tensors together; a float32 in NAME.
part()
{
	printf GGUF
	le 4 3
	le 8 1
	le 8 3
	string general.architecture
	le 4 8
	string llama
	string split.count
	le 4 2
	le 2 "$1"
	string split.tensors.count
	le 4 5
	le 4 "$2"
	string "$3"
	le 4 1
	le 8 1
	le 4 0
	le 8 0
	head -c 64 /dev/zero
}

mkdir g parts
part 1 1 a > g/only.gguf
unsupported "'g/only.gguf': " g/only.gguf
is "its architecture" "$(grep ^model_type out)" "model_type	llama"
unsupported "'g': tensor " g
cp g/only.gguf g/other.gguf
refused 3 "'g' has no 'config.json', did you mean 'g/only.gguf'" g
part 2 2 a > parts/x-00001-of-00002.gguf
part 2 2 b > parts/x-00002-of-00002.gguf
for i in 1 2; do
	unsupported "" parts/x-0000$i-of-00002.gguf
	is "files of part $i" "$(grep ^file out | tr '\n' ' ')" \
		"file	parts/x-00001-of-00002.gguf file	parts/x-00002-of-00002.gguf "
	is "tensors" "$(grep ^tensors out)" "tensors	2"
done
part 2 2 a > parts/x-00002-of-00002.gguf
refused 3 "tensor 'a' may be given only once" parts/x-00001-of-00002.gguf
part 2 3 b > parts/x-00001-of-00002.gguf
refused 3 "'parts/x-00001-of-00002.gguf': 'split.tensors.count' is 3, but its 2 files hold 2 tensors" \
	parts/x-00001-of-00002.gguf
rm parts/x-00002-of-00002.gguf
refused 4 "could not open 'parts/x-00002-of-00002.gguf'" parts/x-00001-of-00002.gguf
part 2 2 a > parts/y.gguf
refused 3 "'parts/y.gguf': 'split.count' is 2, expected a file called NAME-00001-of-00002.gguf" parts/y.gguf
part 60000 2 a > parts/y.gguf
refused 3 "'parts/y.gguf': 'split.count' is 60000, expected a whole number up to 10000" parts/y.gguf
printf 'GGUF' > parts/z.gguf
refused 3 "'parts/z.gguf': file ends at byte 4, in the header" parts/z.gguf
: > parts/z.gguf
refused 3 "'parts/z.gguf' is empty" parts/z.gguf
for file in "$root"/tests/fuzz/corpus/gguf/bad-*.gguf; do
	refused 3 "'$file': " "$file"
done

# --- other folders that people have -----------------------------------------------

mkdir -p hub/snapshots/abc hub/refs adapter
refused 3 "'hub' is a folder of a download cache, did you mean 'hub/snapshots/abc'" hub
touch adapter/adapter_config.json
refused 3 "'adapter' holds an adapter, which is not read by itself" adapter

# What a terminal would take for commands is shown, not done.
fresh 's/"llama"/"a\\u001b[31mb"/'
attn inspect model m --text > out 2> err
ok "an escape is not printed" test "$(tr -d '\33' < out | wc -c)" = "$(wc -c < out)"
finish
