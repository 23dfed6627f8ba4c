/* Loading Pango and Cairo by dlopen. */
#include "draw/text/pango.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define LIBRARY "libpangocairo-1.0.so.0"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct pango_functions table;
static char failure[300]; /* empty: loaded */

enum {
	ROOM_BYTES = 80 << 20, /* of address space: libraries, a thread of Fontconfig, fonts */
};

/* GLib aborts the program when it gets no memory or no thread, so make sure of both before
 * it is loaded. */
static bool has_room(void)
{
	void *room = mmap(NULL, ROOM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		return false;
	munmap(room, ROOM_BYTES);
	return true;
}

/* The library stays loaded to the end: GLib cannot be unloaded. */
static void load(void)
{
	static const char *const names[] = {
#define PANGO_NAME(name) #name,
	    PANGO_FUNCTIONS(PANGO_NAME)
#undef PANGO_NAME
	};
	if (!has_room()) {
		snprintf(failure, sizeof failure, "out of memory: drawing text needs about %d MiB more",
			 ROOM_BYTES >> 20);
		return;
	}
	void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
	if (!library) {
		snprintf(failure, sizeof failure,
			 "could not load '" LIBRARY "' (%.150s): install Pango (Debian: libpangocairo-1.0-0)",
			 dlerror());
		return;
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		void *symbol = dlsym(library, names[i]);
		if (!symbol) {
			snprintf(failure, sizeof failure,
				 "'" LIBRARY "' has no '%s': install Pango 1.44 and Cairo 1.16, or newer",
				 names[i]);
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
