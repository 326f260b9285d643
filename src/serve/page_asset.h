/* SPDX-License-Identifier: MIT */
/* The page that the server shows: files made from ui/, built into the program. */
#pragma once

#include <gio/gio.h>
#include <stdbool.h>

/* What to say where it was not built. */
#define LODE_PAGE_IS_MISSING                                                                       \
	"this lode was built without its page, which needs Node.js and the packages of "           \
	"ui/package-lock.json: run scripts/setup.sh, which installs them, then build again in a "  \
	"new directory"

/* Whether the page was built: it needs Node.js when lode is built. */
bool lode_page_is_built(void);

/* The file that an address names, "/" or "/app.js"; the caller unrefs it. *out_type is its media
 * type, static. NULL: there is none. */
GBytes *lode_page_asset(const char *path, const char **out_type);
