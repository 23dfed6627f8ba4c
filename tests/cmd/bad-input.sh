#!/bin/bash
# Bad input of every format: status 3, one line that names command and file, and
# nothing made.
. "$(dirname "$0")/lib.sh"
corpus=$root/tests/fuzz/corpus

# refused PART OPERAND...: all of the above, and PART is in the message.
refused()
{
	local part=$1 found message
	shift
	attn run "$@" -o made > out 2> err
	found=$?
	message=$(< err)
	if [ $found -eq 3 ] && [[ $message == 'attn run: '* && $message != *$'\n'* && $message == *"$part"* ]] &&
		[ ! -s out ] && [ ! -e made ]; then
		pass
	else
		fail "attn run $*: status $found, '$message', made '$(echo made*)'"
	fi
}

for format in json npy npz safetensors gguf; do
	for file in "$corpus/$format"/bad-*; do
		if [[ $file == */npz/bad-crc.npz ]]; then # seen when the array is used
			refused "'$file': 'q.npy': data is damaged" "q=$file" "k=$file:q" --packed
			status 0 attn inspect file "$file"
			continue
		elif [ "$format" = npy ]; then
			refused "'$file'" "embeddings=$file"
		else
			refused "'$file'" "$file"
		fi
		# What is JSON, but no attention, is listed as it is.
		attn inspect file "$file" > out 2> err
		found=$?
		is "attn inspect file $file: status" $found $([ $format = json ] && [ ! -s err ] && echo 0 || echo 3)
	done
done

# Files that end too soon, at any place.
attn run "$inputs/plain.json" --weights w.npy 2> /dev/null
attn run "$inputs/plain.json" --weights w.npz 2> /dev/null
attn run "$inputs/plain.json" --weights w.safetensors 2> /dev/null
cp "$inputs/plain.json" w.json
for format in json npy npz safetensors; do
	size=$(stat -c %s w.$format)
	for share in 1 20 50 80 99; do
		head -c $((size * share / 100)) w.$format > "cut.$format"
		refused "'cut.$format'" "weights=cut.$format"
	done
done

# No format at all.
: > empty
refused "'empty' is empty" empty
refused "'/dev/null' is empty" /dev/null
printf 'Once upon a time' > story.txt
refused "'story.txt': not a table of numbers" story.txt
printf 'Once\001upon' > story.bin
refused "'story.bin': unknown format, expected JSON, npy, npz, safetensors, GGUF or text" story.bin
head -c 100000 /dev/zero > zeros
refused "'zeros'" zeros

# Well-formed, but no attention: see the unit tests for the rest.
sed 's/\[1, 0, 0\], \[0, 2/[1, 0, 1e39], [0, 2/' w.json > huge.json
refused "'huge.json': 'embeddings[0,2]' is 1e+39, beyond float32" huge.json
printf '{"tokens": ["a"]}' > tokens.json
refused "'embeddings' is missing" tokens.json
finish
