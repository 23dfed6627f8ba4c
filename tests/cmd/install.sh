#!/bin/bash
# make install and uninstall: which files, with which modes, and that they work from there.
. "$(dirname "$0")/lib.sh"
if ! command -v make > /dev/null; then
	skip 'installation: make is not installed'
	finish
fi

# Only the recipe: the program is the one that is tested, and nothing is built.  What this
# script was called with from another make is of no concern.
install_with()
{
	env -u MAKEFLAGS -u MAKEOVERRIDES -u MFLAGS make -C "$root" --no-print-directory -o all \
		PROGRAM="$ATTN" BUILD="$scratch/build" "$@"
}

# Each file with its mode.
modes()
{
	(cd "$1" && find . -type f -printf '%m %p\n' | sort -k 2)
}

pages=$(cd "$root/man" && ls -- *.[157] | while read -r page; do
	echo "644 ./opt/attn/share/man/man${page##*.}/$page"
done)
expected=$(sort -k 2 << END
755 ./opt/attn/bin/attn
644 ./opt/attn/share/bash-completion/completions/attn
$pages
END
)

for umask in 022 077; do
	(umask $umask && install_with install DESTDIR="$scratch/root $umask" PREFIX=/opt/attn) > out 2> err
	is "umask $umask: install succeeds" $? 0
	is "umask $umask: files and modes" "$(modes "root $umask")" "$expected"
	is "umask $umask: folders that others can enter" \
		"$(find "root $umask" -mindepth 1 -type d ! -perm -005 | sort | head)" ''
done
ok 'nothing was built' test ! -e build

# What was installed is what is here.
tree="$scratch/root 022/opt/attn"
same 'the program' "$ATTN" "$tree/bin/attn"
for page in "$root"/man/*.[157]; do
	same "${page##*/}" "$page" "$tree/share/man/man${page##*.}/${page##*/}"
done
same 'the completion' "$root/man/attn.bash" "$tree/share/bash-completion/completions/attn"

# And works from there, in another folder and without the tree.
mkdir elsewhere
status 0 env -C elsewhere PATH="$tree/bin:$PATH" attn run "$inputs/plain.json" -o results
ok 'results' test -s elsewhere/results/attention.safetensors
is 'its version' "$("$tree/bin/attn" --version)" "$(attn --version)"
completed()
{
	bash -c '. "$1" && complete -p attn && COMP_WORDS=(attn he) COMP_CWORD=1 && _attn && echo "${COMPREPLY[@]}"' \
		bash "$tree/share/bash-completion/completions/attn" 2>&1
}
ok 'completion is for attn' grep -q '_attn attn$' <(completed)
ok 'and completes' grep -qw heatmap <(completed)
if command -v mandoc > /dev/null; then
	mandoc -T ascii "$tree/share/man/man1/attn-heatmap.1" | sed "s/.$(printf '\b')//g" > page
	ok 'a page can be read' grep -q '^EXIT STATUS' page
else
	skip 'pages: mandoc is not installed'
fi

# A second time over the first, then away again; what others put there stays.
status 0 install_with install DESTDIR="$scratch/root 022" PREFIX=/opt/attn
echo other > "$tree/share/man/man1/other.1"
status 0 install_with uninstall DESTDIR="$scratch/root 022" PREFIX=/opt/attn
is 'only what is not ours is left' "$(modes "root 022")" '644 ./opt/attn/share/man/man1/other.1'
status 0 install_with uninstall DESTDIR="$scratch/root 022" PREFIX=/opt/attn
status 0 install_with uninstall DESTDIR="$scratch/root 077" PREFIX=/opt/attn
is 'nothing is left' "$(modes "root 077")" ''

# Without DESTDIR; and where it cannot be done, make says so.
status 0 install_with install PREFIX="$scratch/usr"
ok 'a prefix alone' test -x usr/bin/attn
: > file
status 2 install_with install PREFIX="$scratch/file"
finish
