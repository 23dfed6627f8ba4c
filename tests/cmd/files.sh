#!/bin/bash
# File names, bindings, directories: what is read and written where.
. "$(dirname "$0")/lib.sh"
cp "$inputs/plain.json" x.json
attn run x.json --rankings - > expected 2> /dev/null
attn run x.json --weights w.npy 2> /dev/null

# Any name is a name.
for name in 'a b.json' 'a:b.json' 'a=b.json' 'wq=1.json' ':.json' '-x.json' 'é日.json' "it's.json" 'a%s.json' \
	'-'; do
	cp x.json "./$name"
	status 0 attn run --rankings - -- "./$name"
	same "reading '$name'" expected out
done
for name in 'a b.json' 'a:b.json' 'a=b.json'; do
	status 0 attn run "$name" --rankings -
	same "reading '$name' as it is" expected out
done
status 0 attn run 'embeddings=a:b.json:embeddings' 'wq=a=b.json:wq' 'wk=a b.json' 'tokens=a:b.json' --num-heads 2 \
	--rankings -
same 'tensors bound one by one' expected out
for name in 'out 1.npy' 'out:1.npy' 'weights=1.npy' 'é.npy'; do
	status 0 attn run x.json --weights "$name"
	says "wrote"
	same "writing '$name'" w.npy "$name"
done
status 0 attn inspect token '#1' "weights=weights=1.npy" --top 1
rm -f -- ./*.json ./*:* ./*=* out* './-'
cp "$inputs/plain.json" x.json

# A tensor of a file by its name; names that are not there.
status 3 attn run x.json wq=x.json:wz
says "'x.json' has no tensor 'wz', did you mean 'wq'"
status 3 attn run wq=w.npy:wq
says "'w.npy' holds one tensor without a name"
status 3 attn run w.npy
says "'w.npy' needs a role, such as weights=w.npy or embeddings=w.npy"
status 3 attn run x.json mask=x.json
says "none is called 'mask'"
printf '[[1, 0], [0, 1]]' > bare.json
status 0 attn run embeddings=bare.json wq=bare.json wk=bare.json --weights - --format npy
printf '["a", "b"]' > words.json
status 0 attn inspect token a embeddings=bare.json wq=bare.json wk=bare.json tokens=words.json
status 3 attn run words.json
says 'such as tokens=words.json'

# The same role twice.
status 3 attn run x.json x.json --weights y.npy
says "'embeddings' may be given only once"
status 3 attn run x.json wq=bare.json --weights y.npy
says "'wq' is in 'x.json' and again in 'bare.json': it may be given only once"
ok 'nothing is made of it' test ! -e y.npy
printf '{"causal": true}' > causal.json
status 0 attn run x.json causal.json --weights y.npy
printf '{"causal": false}' > not.json
status 3 attn run x.json causal.json not.json --weights y.npy
says "'causal' is 'true' in 'causal.json' and 'false' in 'not.json'"
status 0 attn run x.json causal.json not.json --causal=false --weights y.npy
same 'the command line decides' w.npy y.npy

# The directory of results.
status 0 attn run x.json
is 'the default directory' "$(listing attn-out)" \
	'./attention.safetensors ./head0.png ./head1.png ./heads.png ./rankings.tsv '
is 'what is written is said' "$(grep -c "^attn run: wrote '*attn-out/" err)" 5
cp -r attn-out before
status 0 attn run x.json
is 'the same again' "$(diff -r before attn-out)" ''
status 0 attn run x.json -o deep/er/out
is 'directories are made' "$(listing deep/er/out)" "$(listing attn-out)"
printf 'mine' > taken
status 4 attn run x.json -o taken
says "taken"
is 'a file is not a directory' "$(cat taken)" mine
status 4 attn run x.json -o taken/below
says "taken"
status 4 attn run x.json --heatmaps taken
mkdir directory.npy
status 4 attn run x.json --weights directory.npy
says "could not write 'directory.npy': it is a directory"
status 0 attn run x.json --heatmaps pictures
is 'only pictures' "$(listing pictures)" './head0.png ./head1.png ./heads.png '

# An existing file is replaced as a whole, keeps its mode, and a link stays one.
printf 'old' > old.npy
chmod 640 old.npy
ln -s old.npy link.npy
status 0 attn run x.json --weights link.npy
same 'the file behind a link' w.npy old.npy
ok 'the link is one still' test -L link.npy
is 'the mode is kept' "$(stat -c %a old.npy)" 640
printf 'old' > old.npy
status 3 attn run x.json --num-heads 3 --weights old.npy
is 'a failure leaves what was there' "$(cat old.npy)" old
cp x.json same.json
status 0 attn run same.json --weights same.json
ok 'an input may be replaced by its result' grep -q weights same.json

# What may not be written.  Root may write everywhere: nobody tries instead.
anybody()
{
	attn "$@"
}
if [ "$(id -u)" -eq 0 ]; then
	chmod 755 .
	cp "$ATTN" program
	anybody()
	{
		setpriv --reuid=65534 --regid=65534 --clear-groups ./program "$@"
	}
fi
if ! anybody --version > out 2>&1; then
	skip 'unwritable directories: root may write everywhere, and there is no other user'
else
	mkdir locked
	chmod 555 locked
	status 4 anybody run x.json -o locked
	status 4 anybody run x.json --weights locked/w.npy
	says "could not write 'locked/w.npy': Permission denied"
	is 'nothing is left there' "$(listing locked)" ''
	chmod 755 locked
	chmod 444 old.npy
	status 4 anybody run x.json --weights old.npy
	says 'Permission denied'
	cp x.json secret.json
	chmod 000 secret.json
	status 4 anybody run secret.json
	says "could not open 'secret.json': Permission denied"
fi
is 'no temporary file is left' "$(find . -name '.*' ! -name .)" ''

# A file that grows by being piped, and a named pipe.
mkfifo pipe
timeout 20 sh -c 'cat x.json > pipe' &
status 0 attn run pipe --rankings -
same 'an input from a named pipe' expected out
timeout 20 sh -c 'cat pipe > found' &
ln -s pipe pipe.npy
status 0 attn run x.json --weights pipe.npy
wait
same 'an output into a named pipe' w.npy found
finish
