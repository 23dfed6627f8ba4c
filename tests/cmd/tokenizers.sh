#!/bin/bash
# Tokenizers against ids and places that others' programs gave: ../shared/models/tokenizers.
. "$(dirname "$0")/lib.sh"
models=$root/../shared/models

if ! [ -e "$models/check_tokenizers.py" ]; then
	skip 'known tokenizers: ../shared/models is not there'
	finish
fi
if ! python3 -c '' 2> err; then
	skip 'known tokenizers: python3 is not installed'
	finish
fi

# A line a tokenizer, "NAME: N passed, N failed; the first failure"; those with SentencePiece's
# own file alone are not supported.
for folder in made published; do
	python3 "$models/check_tokenizers.py" "$ATTN" "$models/tokenizers/$folder" > cases 2> err
	while IFS= read -r line; do
		name=${line%%:*}
		case $line in
		*": "*" passed, 0 failed") pass ;;
		*": "*" passed, "*) [ -e "$models/tokenizers/$folder/$name/tokenizer.json" ] && fail "$line" ;;
		esac
	done < cases
	ok "cases of $folder" grep -q ': [1-9][0-9]* passed, 0 failed' cases
done
finish
