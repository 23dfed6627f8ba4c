#!/bin/bash
# attn view: options, what the page holds, and the page in a browser where there is one.
. "$(dirname "$0")/lib.sh"

sample="$root/samples/animal.safetensors $root/samples/use-lite-layer1.safetensors"

# Elements of a page: elements FILE PATTERN
elements()
{
	grep -ac "^<script type=\"application/octet-stream\" id=\"$2" "$1"
}

status 0 attn view $sample -o animal.html
says "wrote 'animal.html'"
is "an element a head" "$(elements animal.html 'w-0-0-[0-3]"')" 4
ok "a whole page" grep -qx '</html>' animal.html
ok "its title" grep -q '<title>animal.safetensors, use-lite-layer1.safetensors</title>' animal.html
is "its size is in it" "$(sed -n 's/.*"bytes": *\([0-9]*\).*/\1/p' animal.html)" "$(stat -c %s animal.html)"
ok "a policy that allows no request" grep -q "default-src 'none'; img-src data: blob:" animal.html
is "no address in it" "$(grep -aoE '(src|href)="[^"]*"|https?://[^ "]*' animal.html | grep -vxF 'http://www.w3.org/2000/svg')" ''

# The same page for one thread and for more, to a file and a pipe.
status 0 attn view $sample --threads 1 -o one.html
same "threads do not matter" animal.html one.html
attn view $sample -o - 2> err | cat > piped.html
same "nor does a pipe" animal.html piped.html

# Choosing.
status 0 attn view $sample --head 1,3 -o two.html
is "two heads" "$(elements two.html 'w-0-0-[13]"')" 2
status 0 attn view $sample --title 'A <b> & "c"' -o title.html
ok "a title is text" grep -q '<title>A &#60;b&#62; &#38; &#34;c&#34;</title>' title.html
status 0 attn view "$inputs/batched.json" --batch 1 -o batch.html
ok "one batch item" test "$(elements batch.html w-0-1-)" -gt 0
is "and not the other" "$(elements batch.html w-0-0-)" 0
status 0 attn run $sample --weights stored.safetensors
status 0 attn view stored.safetensors --title x -o stored.html
status 0 attn view $sample --title x -o computed.html
is "of a stored result, the same weights" "$(grep -a 'octet-stream' stored.html | cksum)" \
	"$(grep -a 'octet-stream' computed.html | cksum)"

# Refusals leave nothing.
for bad in page.png page.json; do
	status 2 attn view $sample -o $bad
	says "expected .html"
	ok "no $bad" test ! -e $bad
done
status 2 attn view
status 2 attn view $sample --head 9 -o none.html
status 2 attn view $sample --no-such
ok "no page of a refusal" test ! -e none.html
status 3 attn view "$root/Makefile" -o none.html
if [ -w /dev/full ]; then
	status 4 attn view $sample -o /dev/full
	says "No space left on device"
else
	skip "no /dev/full"
fi
if has_terminal; then
	on_terminal "$(printf '%q ' "$ATTN" view $sample -o -)" > out
	ok "refuses a terminal" grep -q 'terminal' out
else
	skip 'terminals: script(1) does not work here'
fi

# Long contexts: the top keys alone, and said so.
{
	printf '{"num_heads": 1, "causal": true, "q": [%s], "k": [%s]}' "$(numbers 1 1600 4)" "$(numbers 2 1600 4)"
} > long.json
status 0 attn view long.json -o long.html
says "1 head of 1600 x 1600 weights: of each query the page keeps the 64 keys with the largest"
ok "and that is small" test "$(stat -c %s long.html)" -lt 1000000

# Tokens that would be markup.
cat > evil.json << 'END'
{"tokens": ["</script><script>alert(1)</script>", "<!--", "\"quote'\\", "&amp;<img src=x onerror=alert(2)>",
	"@META@", "@WEIGHTS@", "\u2028\u2029", "a\u0001b", "\ud83d\ude00"],
 "num_heads": 1, "q": [[[1,0],[0,1],[1,1],[2,0],[0,2],[1,2],[2,1],[3,0],[0,3]]],
 "k": [[[1,0],[0,1],[1,1],[2,0],[0,2],[1,2],[2,1],[3,0],[0,3]]]}
END
status 0 attn view evil.json -o evil.html
is "no script but ours" "$(grep -aoc '<script>alert' evil.html)" 0
is "no comment" "$(grep -ac '<!--' evil.html)" 0

cat > evil-shown.json << 'END'
["</script><script>alert(1)</script>", "<!--", "\"quote'\\", "&amp;<img src=x onerror=alert(2)>", "@META@", "@WEIGHTS@",
 "\u2028\u2029", "a\\x01b", "\ud83d\ude00"]
END
status 0 attn view "$root/samples/translation.json" -o cross.html
status 0 attn view "$inputs/causal.json" -o masked.html

# The page in a browser.
# Words and cuts, as in pictures.
animal="$root/samples/animal.safetensors $root/samples/use-lite-layer1.safetensors"
# shellcheck disable=SC2086
status 0 attn view $animal --words --key animal:street -o words.html
is 'words joined, keys cut out' "$(grep -c '"keyTokens": \["animal","didn.t","cross","the","street"\]' words.html)" 1
# shellcheck disable=SC2086
status 2 attn view $animal --exclude-first -o words.html
says "'--exclude-first' in a page needs '--renormalise', too"

browser=${CHROMIUM:-/usr/bin/chromium}
if ! command -v node > /dev/null || ! node -e 'require("playwright-core")' 2> err; then
	skip "the page in a browser: no node with playwright-core (give NODE_PATH)"
elif [ ! -x "$browser" ]; then
	skip "the page in a browser: no $browser"
else
	CHROMIUM=$browser node "$root/tests/page/page.js" "$scratch" > out 2>&1
	if [ $? -eq 0 ]; then
		pass
	else
		fail "tests/page/page.js"
		cat out
	fi
	tail -n 1 out
fi
finish
