/* SPDX-License-Identifier: MIT */
/* Stub for the page, in a build without Node.js. */
#include "serve/page_resource.h"

GResource *lode_page_get_resource(void)
{
	return NULL;
}
