#include "draw/pango.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libpangocairo-1.0.so.0"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct pango_functions table;
static char failure[300]; /* empty: loaded */

/* The library stays loaded to the end: GLib cannot be unloaded. */
static void load(void)
{
	static const char *const names[] = {
#define PANGO_NAME(name) #name,
	    PANGO_FUNCTIONS(PANGO_NAME)
#undef PANGO_NAME
	};
	void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
	if (!library) {
		snprintf(failure, sizeof failure,
			 "could not load '" LIBRARY "': install Pango (Debian: libpangocairo-1.0-0)");
		return;
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		void *symbol = dlsym(library, names[i]);
		if (!symbol) {
			snprintf(failure, sizeof failure,
				 "'" LIBRARY "' has no '%s': install Pango 1.44 or newer", names[i]);
			return;
		}
		/* POSIX makes this conversion work; C has no cast for it. */
		memcpy((char *)&table + i * sizeof symbol, &symbol, sizeof symbol);
	}
}

enum attn_status pango_load(const struct pango_functions **functions, struct attn_error *err)
{
	_Static_assert(sizeof(void *) == sizeof(void (*)(void)), "dlsym gives function pointers");

	pthread_once(&once, load);
	if (failure[0])
		return attn_fail(err, ATTN_FAILED, "%s", failure);
	*functions = &table;
	return ATTN_OK;
}
