/* SPDX-License-Identifier: MIT */
/* What glib-compile-resources makes of ui/. Private to serve/. */
#pragma once

#include <gio/gio.h>

/* The files of the page; NULL where it was not built. Borrowed. */
GResource *lode_page_get_resource(void);
