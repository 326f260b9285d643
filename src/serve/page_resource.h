/* SPDX-License-Identifier: MIT */
/* The output of glib-compile-resources for ui/. Private to serve/. */
#pragma once

#include <gio/gio.h>

/* The files of the page; NULL: the page was not built. Borrowed. */
GResource *lode_page_get_resource(void);
