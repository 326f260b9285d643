/* SPDX-License-Identifier: MIT */
/* In place of the page, where Node.js was missing when lode was built. */
#include "serve/page_resource.h"

GResource *lode_page_get_resource(void)
{
	return NULL;
}
