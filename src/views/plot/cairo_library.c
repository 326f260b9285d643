/* SPDX-License-Identifier: MIT */
#include "views/plot/cairo_library.h"

#include "machine/late_library.h"

#include <dlfcn.h>

LodeCairo lode_cairo;

bool lode_cairo_open(GError **error)
{
	static GMutex lock;
	static bool is_open;
	static const LodeLateSymbol symbols[] = {
#define SYMBOL(name) {"cairo_" #name, &lode_cairo.name},
		LODE_CAIRO_FUNCTIONS(SYMBOL)
#undef SYMBOL
	};
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&lock);

	if (!is_open)
		is_open = lode_late_library_open(
			"libcairo.so.2", RTLD_LAZY, symbols, G_N_ELEMENTS(symbols), error);
	return is_open;
}
