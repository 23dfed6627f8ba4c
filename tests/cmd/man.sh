#!/bin/bash
# Manual pages and completion against the program: options of --help, synopses,
# roles, values, examples with their output, and mandoc's own opinion.
#
# The program is $ATTN (default ./attn of the checkout).
set -u
export LC_ALL=C
root=$(cd "$(dirname "$0")/../.." && pwd)
attn=${ATTN:-$root/attn}
case $attn in
/*) ;;
*) attn=$PWD/$attn ;;
esac
man=$root/man
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0 skipped=0

pass()
{
	passed=$((passed + 1))
}

fail()
{
	failed=$((failed + 1))
	printf 'FAIL: %s\n' "$1"
}

skip()
{
	skipped=$((skipped + 1))
	printf 'SKIP: %s\n' "$1"
}

# same NAME EXPECTED FOUND, both files
same()
{
	if diff -u "$2" "$3" > "$scratch/diff"; then
		pass
	else
		fail "$1"
		cat "$scratch/diff"
	fi
}

# What roff writes for the characters of a literal block.
unescape()
{
	sed -e 's/\\&//g' -e 's/\\-/-/g' -e 's/\\(dq/"/g' -e 's/\\e/\\/g'
}

# "page|command", an empty command being attn itself.
commands='attn|
attn-run|run
attn-merge|merge
attn-heatmap|heatmap
attn-view|view
attn-compare|compare
attn-align|align
attn-inspect|inspect
attn-inspect-token|inspect token
attn-inspect-heads|inspect heads
attn-inspect-pairs|inspect pairs
attn-inspect-far|inspect far
attn-inspect-path|inspect path
attn-inspect-effects|inspect effects
attn-inspect-file|inspect file
attn-inspect-model|inspect model
attn-inspect-tokens|inspect tokens
attn-bench|bench'

# The options of a help text, without -h and --help, which every command has.
# What is in quotes, or an example, belongs to other commands.
help_options()
{
	"$attn" $1 --help | sed -e "s/'[^']*'//g" -e '/^attn /d' -e '/^usage:/d' -e '/^       attn /d' |
		grep -oE -- '(^|[ ,])--?[a-z][a-z-]*' | sed 's/^[ ,]//' | grep -vxE -- '--|-h|--help' | sort -u
}

page_options()
{
	grep '^\.It Fl' "$1" | grep -oE 'Fl -?[a-zA-Z][a-z-]*' | sed 's/^Fl /-/' | grep -vxE -- '-h|--help' | sort -u
}

# (a) options: every one of --help is in the page and the other way round; but settings, which
# attn-formats(5) has, need not all be in it.
"$attn" help roles | tail -n +2 > "$scratch/table"
cut -f 5 "$scratch/table" | grep -oE '^--[a-z-]+' > "$scratch/settings"
while IFS='|' read -r page command; do
	if [ -z "$command" ]; then
		continue # the overview has none of its own but --help and --version
	fi
	help_options "$command" > "$scratch/options"
	page_options "$man/$page.1" > "$scratch/page"
	{
		grep -vxFf "$scratch/settings" "$scratch/options"
		grep -xFf "$scratch/settings" "$scratch/options" | grep -xFf "$scratch/page"
	} | sort > "$scratch/help"
	same "options of 'attn $command --help' (-) and of $page(1) (+)" "$scratch/help" "$scratch/page"
done << END
$commands
END

# Usage lines and synopses.
if command -v mandoc > /dev/null; then
	while IFS='|' read -r page command; do
		"$attn" $command --help | sed -n -e '1,/^$/{/^usage:/s/^usage: *//p;/^       attn/s/^ *//p;}' |
			sed 's/ \.\.\./.../g' > "$scratch/help"
		mandoc -T ascii "$man/$page.1" | sed "s/.$(printf '\b')//g" | expand |
			sed -n '/^SYNOPSIS/,/^DESCRIPTION/{s/^     \([a-z]\)/\1/p;}' |
			sed 's/ \.\.\./.../g' > "$scratch/page"
		same "usage of 'attn $command --help' (-) and synopsis of $page(1) (+)" "$scratch/help" \
			"$scratch/page"
	done << END
$commands
END
else
	skip "synopses: mandoc is not installed"
fi

# The version.
version=$("$attn" --version)
for page in "$man"/*.[157]; do
	if grep -qx "\\.Os \"$version\"" "$page"; then
		pass
	else
		fail "${page##*/} is not of version '$version'"
	fi
done

# (b) examples: lines that begin with "$ " in literal blocks are run one after the
# other, where samples/ is, and print what follows them.
mkdir "$scratch/bin"
ln -s "$attn" "$scratch/bin/attn"

run_examples()
{
	local page=$1 line command= expected here=$scratch/examples-${1##*/} literal=0
	mkdir "$here"
	ln -s "$root/samples" "$here/samples"
	: > "$scratch/expected"
	finish()
	{
		if [ -n "$command" ]; then
			(cd "$here" && PATH=$scratch/bin:$PATH bash -c "$command" < /dev/null > "$scratch/found" 2>&1)
			same "${page##*/}: $command" "$scratch/expected" "$scratch/found"
		fi
		command=
		: > "$scratch/expected"
	}
	while IFS= read -r line; do
		case $literal,$line in
		0,.Bd\ -literal*) literal=1 ;;
		1,.Ed)
			finish
			literal=0
			;;
		1,\$\ *)
			finish
			command=${line#\$ }
			;;
		1,*)
			if [ -n "$command" ]; then
				printf '%s\n' "$line" >> "$scratch/expected"
			fi
			;;
		esac
	done < <(unescape < "$page")
}

for page in "$man"/*.[157]; do
	before=$((passed + failed))
	run_examples "$page"
	case ${page##*/} in
	attn-inspect.1) ;;
	*)
		if [ $((passed + failed)) -eq "$before" ]; then
			fail "${page##*/} has no example"
		fi
		;;
	esac
done

# (c) mandoc's opinion.
if command -v mandoc > /dev/null; then
	for page in "$man"/*.[157]; do
		mandoc -T lint -W warning "$page" > "$scratch/lint" 2>&1
		same "mandoc -T lint ${page##*/}" /dev/null "$scratch/lint"
	done
else
	skip "lint: mandoc is not installed"
fi

# Words that mdoc reads as macros, such as "In" or "At" in a heading: where the arguments of
# a macro may be macros, only those below are, and any other has "\&" in front.
meant='Ar Cm Ev Fl Li No Ns Op Pa Sy Ta'
callable='Ac Ad An Ao Ap Aq Ar At Bc Bo Bq Brc Bro Brq Bsx Bx Cd Cm Db Dc Do Dq Dv Dx Ec Em En Eo Er Es Ev
Fa Fc Fl Fn Fo Fr Ft Fx Ic In Lb Li Lk Ms Mt Nm No Ns Nx Oc Oo Op Ot Ox Pa Pc Pf Po Pq Qc Ql Qo Qq
Sc So Sq St Sx Sy Ta Tn Ux Va Vt Xc Xo Xr'
accidents()
{
	sed -n -e 's/"[^"]*"//g' -e '/^\.\(Bl\|Bd\|Dd\|Dt\|Os\|Nd\|%[A-Z]\)/d' -e 's/^\.[A-Z][a-z]*//p' "$1" | tr ' ' '\n' |
		grep -xF -f <(printf '%s\n' $callable) | grep -vxF -f <(printf '%s\n' $meant)
}
for page in "$man"/*.[157]; do
	accidents "$page" > "$scratch/accidents"
	same "words of ${page##*/} that are read as macros" /dev/null "$scratch/accidents"
done

# Headings, and what refers to them, come out as they are written; and so does all that is
# in angle brackets, which mdoc puts around what an "In" includes.
if command -v mandoc > /dev/null; then
	for page in "$man"/*.[157]; do
		mandoc -T utf8 -O width=200 "$page" | sed "s/.$(printf '\b')//g" > "$scratch/rendered"
		sed -n 's/^\.S[hs] *//p' "$page" | sed 's/"//g' | unescape | sort > "$scratch/headings"
		sed -n 's/^ \{0,3\}\([^ ].*\)$/\1/p' "$scratch/rendered" | sort > "$scratch/lines"
		comm -23 "$scratch/headings" "$scratch/lines" > "$scratch/missing"
		same "headings of ${page##*/} that come out otherwise" /dev/null "$scratch/missing"
		sed -n 's/^\.Sx *//p' "$page" | sed 's/ [.,;:)]*$//' | unescape | sort -u |
			comm -23 - "$scratch/headings" > "$scratch/missing"
		same "sections that ${page##*/} refers to and does not have" /dev/null "$scratch/missing"
		grep -oE '<[^<> ]+>' "$scratch/rendered" | grep -vxF -f <(grep -oE '<[^<> ]+>' "$page" | unescape) \
			> "$scratch/missing"
		same "<words> of ${page##*/} that are not so in its source" /dev/null "$scratch/missing"
	done
else
	skip "headings: mandoc is not installed"
fi

# (d) every role, with its form, is in attn-formats(5), and nothing else.
cut -f 1,3 "$scratch/table" | tr '\t' '|' | sort > "$scratch/roles"
sed -n 's/^\.It Cm \([a-z_]*\) No "\(.*\)"$/\1|\2/p' "$man/attn-formats.5" | sort > "$scratch/page"
same "roles of 'attn help roles' (-) and of attn-formats(5) (+)" "$scratch/roles" "$scratch/page"

# Every option of an attention variant, as a setting, is in attn-attention(7).
"$attn" run --help | sed -n '/^Attention variants/,$p' | grep -oE -- '--[a-z-]+' | sed 's/^--//' | tr - _ |
	grep -xF -f <(cut -d '|' -f 1 "$scratch/roles") | sort -u > "$scratch/help"
if [ ! -s "$scratch/help" ]; then
	fail "'attn run --help' has no attention variants"
fi
grep -oE '\b(Cm|Ss) [a-z_]+' "$man/attn-attention.7" | sed 's/^.. //' | sort -u |
	grep -xF -f "$scratch/help" > "$scratch/page"
same "attention variants of 'attn run --help' (-) and of attn-attention(7) (+)" "$scratch/help" "$scratch/page"

# (e) completion: it offers the long options that --help shows, and the roles.
offered()
{
	(
		set +u
		. "$man/attn.bash"
		compopt() { :; }
		PATH=$scratch/bin:$PATH
		COMP_WORDS=(attn $1 "$2")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_attn
		printf '%s\n' "${COMPREPLY[@]}"
	)
}

while IFS='|' read -r page command; do
	if [ -n "$command" ]; then
		{
			help_options "$command" | grep '^--'
			echo --help
		} | sort > "$scratch/help"
		offered "$command" -- | sort -u > "$scratch/offered"
		same "options of 'attn $command --help' (-) and of completion (+)" "$scratch/help" \
			"$scratch/offered"
	fi
done << END
$commands
END

awk -F '\t' '$2 ~ /^t/ || $1 == "weights" { print $1 }' "$scratch/table" | sort > "$scratch/help"
for letter in {a..z}; do
	(cd "$scratch/bin" && offered run $letter)
done | grep '=$' | tr -d = | sort -u > "$scratch/offered"
same "roles of 'attn help roles' (-) and of completion (+)" "$scratch/help" "$scratch/offered"

# What --help says of settings fits into a terminal.
"$attn" run --help | sed -n '/^Attention (/,$p' | grep -E '.{81}' > "$scratch/wide"
same "lines of settings that are wider than 80 columns" /dev/null "$scratch/wide"
is_setting="$(awk -F '\t' '$5 != "" { print $5 }' "$scratch/table" | wc -l)"
"$attn" run --help | sed -n '/^Attention (/,/^      --threads/p' | grep -c '^      --[a-z]' > "$scratch/found"
echo $((is_setting + 1)) > "$scratch/help"
same "options of 'attn help roles' (-) and of 'attn run --help' (+)" "$scratch/help" "$scratch/found"

# Settings that are one of several words.
while IFS='|' read -r name shape; do
	if [[ $shape =~ ^\'[a-z0-9,-]+\'([ ,]|$) ]]; then
		grep -oE "'[^']+'" <<< "$shape" | tr -d "'" | sort > "$scratch/help"
		offered "run --${name//_/-}" "" | sort > "$scratch/offered"
		same "values of '$name' of 'attn help roles' (-) and of completion (+)" "$scratch/help" \
			"$scratch/offered"
	fi
done < <(grep -vE '^(window|appended_keys)\|' "$scratch/roles")

# Figures of heads: --statistic takes those that --columns does, and both pages tell of them.
figures=$(sed -n 's/^    \(NUMBER\|COUNT\)(\([a-z0-9_]*\), .*/\2/p' "$root/src/cmd/head_figures.c")
if [ -z "$figures" ]; then
	fail "no figure is found in head_figures.c"
fi
for name in $figures weight; do
	if offered "heatmap --statistic" "$name" | grep -qx "$name"; then
		pass
	else
		fail "completion knows no statistic '$name'"
	fi
	if grep -q "^\.It Li $name Ta" "$man/attn-inspect-heads.1"; then
		pass
	else
		fail "attn-inspect-heads(1) has no column '$name'"
	fi
done

colormaps=$(sed -n 's/^    {"\([a-z-]*\)", *".*/\1/p' "$root"/src/draw/*/colormap.c)
if [ -z "$colormaps" ]; then
	fail "no colour map is found in colormap.c"
fi
for name in $colormaps; do
	if offered "heatmap --colormap" "$name" | grep -qx "$name"; then
		pass
	else
		fail "completion knows no colour map '$name'"
	fi
	if grep -qx "\\.It Cm $name" "$man/attn-heatmap.1"; then
		pass
	else
		fail "attn-heatmap(1) knows no colour map '$name'"
	fi
done

printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
