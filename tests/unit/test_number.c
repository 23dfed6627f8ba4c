/* number_parse against the C library's strtod, bit for bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/number.h"

static void check(const char *text)
{
	char ended[80];
	const char *end;
	snprintf(ended, sizeof ended, "%s,", text);
	double found = number_parse(ended, &end), expected = strtod(text, NULL);
	if (memcmp(&found, &expected, sizeof found) != 0 || *end != ',')
		fail_msg("'%s' is %.17g, expected %.17g", text, found, expected);
}

static void test_edges(void **state)
{
	static const char *const texts[] = {
	    "0",
	    "-0",
	    "0.0",
	    "1",
	    "-1",
	    "0.1",
	    "1e22",
	    "1e23",
	    "1e-22",
	    "1e-23",
	    "1e308",
	    "1e309",
	    "-1e309",
	    "4.9e-324",
	    "1e-400",
	    "9007199254740992",
	    "9007199254740993",
	    "9007199254740991e22",
	    "123456789012345678",
	    "1234567890123456789",
	    "0.000000000000000000001",
	    "1.7976931348623157e308",
	    "2.2250738585072014e-308",
	    "0.30000000000000004",
	    "1E+2",
	    "1e+0002",
	    "100000000000000000000000000000",
	    "1e99999999999",
	    "5e-1",
	    "8.5",
	    "0.1234567890123456789012345678901234567890",
	};
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		check(texts[i]);
}

static void test_many(void **state)
{
	uint64_t seed = 42;
	char text[80];
	(void)state;
	for (int i = 0; i < 200000; i++) {
		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		double value = ((double)(int64_t)seed) * 0x1p-63;
		snprintf(text, sizeof text, "%.*g", 1 + (int)(seed >> 33) % 17, value);
		check(text);
		snprintf(text, sizeof text, "%llu.%llue%d", (unsigned long long)(seed >> 40),
			 (unsigned long long)(seed & 0xffff), (int)(seed >> 20 & 63) - 32);
		check(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_edges), cmocka_unit_test(test_many)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
