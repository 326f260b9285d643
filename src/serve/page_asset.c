/* SPDX-License-Identifier: MIT */
#include "serve/page_asset.h"

#include "serve/page_resource.h"

#include <string.h>

/* The complete list: addresses are not mapped to a file system. */
static const struct {
	const char *path, *resource, *type;
} assets[] = {
	{"/", "/lode/index.html", "text/html; charset=utf-8"},
	{"/early.js", "/lode/early.js", "text/javascript; charset=utf-8"},
	{"/app.js", "/lode/app.js", "text/javascript; charset=utf-8"},
	{"/layout.js", "/lode/layout.js", "text/javascript; charset=utf-8"},
	{"/app.css", "/lode/app.css", "text/css; charset=utf-8"},
	{"/licences.txt", "/lode/licences.txt", "text/plain; charset=utf-8"},
};

bool lode_page_is_built(void)
{
	return lode_page_get_resource() != NULL;
}

GBytes *lode_page_asset(const char *path, const char **out_type)
{
	for (size_t i = 0; i < G_N_ELEMENTS(assets); i++) {
		if (strcmp(assets[i].path, path) == 0) {
			*out_type = assets[i].type;
			return g_resource_lookup_data(lode_page_get_resource(), assets[i].resource,
				G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
		}
	}
	return NULL;
}
