/* The page from its template: places filled in, and its size written into it. */
#include "draw/page/document.h"

#include <string.h>

#include "draw/page/page_files.h"
#include "util/base64.h"
#include "util/sha256.h"
#include "util/utf8.h"

/* The scripts share one scope, and leave none of it to the page's window. */
static const char SCRIPT_BEGIN[] = "(() => {\n'use strict';\n";
static const char SCRIPT_END[] = "})();\n";
static const char PLACE_OF_WEIGHTS[] = "@WEIGHTS@";

void page_add_json_string(struct buffer *json, const char *text)
{
	struct buffer string = BUFFER_INIT;
	buffer_add_json_string(&string, text);
	json->failed |= string.failed;
	for (size_t i = 0; i < string.length && !string.failed; i++) {
		char c = string.data[i];
		if (c == '<' || c == '>' || c == '&')
			buffer_printf(json, "\\u%04x", c);
		else
			buffer_add_char(json, c);
	}
	buffer_release(&string);
}

void page_add_html(struct buffer *html, const char *text)
{
	size_t length = strlen(text);
	for (size_t i = 0; i < length;) {
		uint32_t code;
		size_t step = utf8_decode(text + i, length - i, &code);
		if (step == 0)
			buffer_add_string(html, "\xef\xbf\xbd"); /* U+FFFD */
		else if (code == '<' || code == '>' || code == '&' || code == '"' || code == '\'')
			buffer_printf(html, "&#%u;", code);
		else if (!utf8_is_control(code))
			buffer_add(html, text + i, step);
		i += step ? step : 1;
	}
}

static void add_hash(struct buffer *policy, const char *directive, const char *bytes, size_t length)
{
	unsigned char digest[32];
	sha256(bytes, length, digest);
	buffer_printf(policy, "; %s 'sha256-", directive);
	buffer_add_base64(policy, digest, sizeof digest);
	buffer_add_string(policy, "'");
}

/* What the places of page.html stand for. */
struct place {
	const char *name; /* "@NAME@" */
	const char *text;
	size_t length;
};

/* Append the template from *at on, up to the place `end`, and move *at behind that; NULL is
 * its end. */
static void expand(struct buffer *page, size_t *at, const struct place *places, size_t count, const char *end)
{
	const char *html = (const char *)page_html;
	while (*at < page_html_size) {
		size_t rest = page_html_size - *at, i = 0;
		if (end && rest >= strlen(end) && memcmp(html + *at, end, strlen(end)) == 0) {
			*at += strlen(end);
			return;
		}
		while (i < count && (rest < strlen(places[i].name) ||
				     memcmp(html + *at, places[i].name, strlen(places[i].name)) != 0))
			i++;
		if (i < count) {
			buffer_add(page, places[i].text, places[i].length);
			*at += strlen(places[i].name);
		} else {
			buffer_add_char(page, html[(*at)++]);
		}
	}
}

enum attn_status page_begin(struct buffer *page, const char *title, const char *meta, struct attn_error *err)
{
	struct buffer script = BUFFER_INIT, policy = BUFFER_INIT, name = BUFFER_INIT;
	buffer_add_string(&script, SCRIPT_BEGIN);
	buffer_add(&script, page_js, page_js_size);
	buffer_add_string(&script, SCRIPT_END);
	page_add_html(&name, title);
	buffer_add(&name, "", 0);
	buffer_add_string(&policy,
			  "default-src 'none'; img-src data: blob:; base-uri 'none'; form-action 'none'");
	if (!script.failed)
		add_hash(&policy, "script-src", script.data, script.length);
	add_hash(&policy, "style-src", (const char *)page_css, page_css_size);
	bool failed = script.failed || policy.failed || name.failed;
	size_t at = 0;
	if (!failed) {
		struct place places[] = {
		    {"@POLICY@", policy.data, policy.length},           {"@TITLE@", name.data, name.length},
		    {"@STYLE@", (const char *)page_css, page_css_size}, {"@META@", meta, strlen(meta)},
		    {"@SCRIPT@", script.data, script.length},
		};
		expand(page, &at, places, sizeof places / sizeof *places, PLACE_OF_WEIGHTS);
	}
	buffer_release(&script);
	buffer_release(&policy);
	buffer_release(&name);
	return failed || page->failed ? attn_fail_memory(err) : ATTN_OK;
}

enum attn_status page_end(struct buffer *page, uint64_t bytes, struct attn_error *err)
{
	static const char size[] =
	    "<script type=\"application/json\" id=\"end\">{\"bytes\": %20llu}</script>";
	struct buffer skipped = BUFFER_INIT, tail = BUFFER_INIT;
	size_t at = 0, own;
	expand(&skipped, &at, NULL, 0, PLACE_OF_WEIGHTS);
	expand(&tail, &at, NULL, 0, NULL);
	/* The number has a width of its own, so that the page's size can be in the page. */
	own = sizeof size - 1 - strlen("%20llu") + 20;
	buffer_printf(page, size, (unsigned long long)(bytes + own + tail.length));
	buffer_add(page, tail.data, tail.length);
	bool failed = skipped.failed || tail.failed || page->failed;
	buffer_release(&skipped);
	buffer_release(&tail);
	return failed ? attn_fail_memory(err) : ATTN_OK;
}
