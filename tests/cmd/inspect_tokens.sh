#!/bin/bash
# attn inspect tokens: texts, options and forms, on a tokenizer written here.
. "$(dirname "$0")/lib.sh"

# Words, and letters of words; the ids are the lines.
mkdir bert
printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' the cat '##s' sat é '##é' > bert/vocab.txt

columns()
{
	cut -f "$1" out | tail -n +2 | tr '\n' ' '
}

status 0 attn inspect tokens bert --text 'The cats sat'
silent
is 'the header' "$(head -n 1 out)" "$(printf 'index\tid\ttoken\tstart\tend\tspecial\ttype')"
is 'ids' "$(columns 2)" '2 4 5 6 7 3 '
is 'tokens' "$(columns 3)" '[CLS] the cat ##s sat [SEP] '
is 'starts' "$(columns 4)" '0 0 4 7 9 0 '
is 'ends' "$(columns 5)" '0 3 7 8 12 0 '
is 'which were added' "$(columns 6)" 'true false false false false true '
cp out whole
status 0 attn inspect tokens --text='The cats sat' bert
same 'options in front' whole out
printf 'The cats sat' > text
status 0 attn inspect tokens bert --text-file text
same 'the text of a file' whole out
status 0 attn inspect tokens bert --text-file - < text
same 'the text of standard input' whole out
status 0 attn inspect tokens bert/vocab.txt --text-file text
same 'the file itself' whole out

# A text as it is: nothing, and white space.
status 0 attn inspect tokens bert --text ''
is 'an empty text' "$(columns 2)" '2 3 '
: > empty
status 0 attn inspect tokens bert --text-file empty
is 'an empty file' "$(columns 2)" '2 3 '
printf 'cat\n' > line
status 0 attn inspect tokens bert --text-file line --no-special
is 'a line' "$(columns 2)" '5 '
status 0 attn inspect tokens bert --no-special --text ''
is 'nothing at all' "$(wc -l < out)" 1

# A pair has places of its own.
status 0 attn inspect tokens bert --text 'the cat' --text-pair 'sat'
is 'ids of a pair' "$(columns 2)" '2 4 5 3 7 3 '
is 'types of a pair' "$(columns 7)" '0 0 0 0 1 1 '
is 'ends of a pair' "$(columns 5)" '0 3 7 0 3 0 '

# Forms.
status 0 attn inspect tokens bert --text 'cat' --json --no-special
is 'JSON' "$(cat out)" '{"version": 1, "tokens": [
  {"index": 0, "id": 5, "token": "cat", "start": 0, "end": 3, "special": false, "type": 0}
]}'
status 0 attn inspect tokens bert --text '' --json --no-special
is 'JSON of nothing' "$(cat out)" '{"version": 1, "tokens": []}'
status 0 attn inspect tokens bert --text 'cat sat' --jsonl --columns token,id --no-special
is 'JSON lines of columns' "$(cat out)" '{"token": "cat", "id": 5}
{"token": "sat", "id": 7}'
status 0 attn inspect tokens bert --text 'the cats' --pretty
is 'for people' "$(cat out)" '  index  id  token  start  end  special
      0   2  [CLS]      0    0      yes
      1   4  the        0    3
      2   5  cat        4    7
      3   6  ##s        7    8
      4   3  [SEP]      0    0      yes'
status 0 attn inspect tokens bert --text the --text-pair cat --pretty
is 'of a pair with types' "$(sed -n 4p out)" '      2   3  [SEP]      0    0      yes     0'

# What is in the alphabet of bytes is shown as what it stands for.
mkdir gpt2
printf '{"a": 0, "\\u0120": 1, "b": 2, "\\u0120b": 3}' > gpt2/vocab.json
printf '#version: 0.2\n\304\240 b\n' > gpt2/merges.txt
status 0 attn inspect tokens gpt2 --text 'a b' --pretty
is 'a visible space' "$(tail -n 1 out)" "      1   3  ␣b         1    3"
status 0 attn inspect tokens gpt2 --text 'a b' --columns token
is 'the entry itself' "$(tail -n 1 out)" Ġb
if has_terminal; then
	on_terminal "'$ATTN' inspect tokens gpt2 --text 'a b'" | tr -d '\r' > out
	is 'the table on a terminal' "$(tail -n 1 out)" "      1   3  ␣b         1    3"
else
	skip 'the table on a terminal: there is no script(1)'
fi

# What cannot be.
status 2 attn inspect tokens bert
says 'no text: give --text TEXT or --text-file FILE'
status 2 attn inspect tokens --text cat
says '0 models are given, expected one'
status 2 attn inspect tokens bert gpt2 --text cat
says '2 models are given, expected one'
status 2 attn inspect tokens bert --text cat --text-file text
says "'--text' and '--text-file' cannot be combined"
status 2 attn inspect tokens bert --text cat --text sat
status 2 attn inspect tokens bert --text cat --columns id,tokn
says "did you mean 'token'"
status 2 attn inspect tokens bert --text cat --columns id --pretty
says "'--pretty' is none"
status 2 attn inspect tokens bert --ids 1,2
status 4 attn inspect tokens bert --text-file missing
says "could not open 'missing'"
status 4 attn inspect tokens missing --text cat
says "'missing'"
status 3 attn inspect tokens bert --text "$(printf 'cat \377')"
says 'byte 4 of the text is not UTF-8'
status 3 attn inspect tokens bert --text cat --text-pair "$(printf '\303')"
says 'UTF-8'
finish
