/* SPDX-License-Identifier: MIT */
/* The page of the server: files built from ui/, compiled into the program. */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The message when the page was not built. */
#define LODE_PAGE_IS_MISSING                                                                       \
	"this lode was built without its page, which needs Node.js and the packages of "           \
	"ui/package-lock.json: run scripts/setup.sh, which installs them, then build again in a "  \
	"new directory"

/* Whether the page was built: the build of lode needs Node.js for it. */
bool lode_page_is_built(void);

/* The file of an address, "/" or "/app.js"; the caller unrefs it. *out_type is its media type,
 * static. NULL: no such file. */
GBytes *lode_page_asset(const char *path, const char **out_type);
