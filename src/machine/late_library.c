/* SPDX-License-Identifier: MIT */
#include "machine/late_library.h"

#include "base/error.h"
#include "machine/descriptor_limit.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Whether one more can be opened now. */
static bool can_open_more(void)
{
	int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (descriptor >= 0)
		close(descriptor);
	return descriptor >= 0 || errno != EMFILE;
}

bool lode_late_library_open(const char *file, int flags, const LodeLateSymbol *symbols,
	size_t n_symbols, GError **error)
{
	void *library = dlopen(file, flags);

	if (library == NULL && !can_open_more()) {
		lode_descriptor_limit_refuse(error);
		return false;
	}
	if (library == NULL) {
		/* "libcairo.so.2: cannot open shared object file: No such file or directory" */
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED, "cannot load a library: %s",
			dlerror());
		return false;
	}
	for (size_t i = 0; i < n_symbols; i++) {
		void *symbol = dlsym(library, symbols[i].name);
		if (symbol == NULL) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
				"the library %s is of another version: it has no %s", file,
				symbols[i].name);
			return false;
		}
		*(void **)symbols[i].target = symbol;
	}
	return true;
}
