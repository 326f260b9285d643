/* SPDX-License-Identifier: MIT */
#include "left_environment.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define PRELOAD "LD_PRELOAD="

static bool is_named(const char *path, size_t size, const char *library)
{
	const size_t name = strlen(library);

	return size >= name && memcmp(path + size - name, library, name) == 0;
}

/* Takes a library out of a list like "/lib/liblode-x.so:/lib/other.so"; the rest may be empty. */
static void remove_name(char *list, const char *library)
{
	char *to = list, *next;

	for (char *at = list; *at != '\0'; at = next) {
		const size_t size = strcspn(at, ": ");
		next = at + size + (at[size] != '\0');
		if (is_named(at, size, library))
			continue;
		if (to != list)
			*to++ = ':';
		memmove(to, at, size);
		to += size;
	}
	*to = '\0';
}

void remove_from_environment(const char *library, const char *prefix)
{
	char **to = environ;

	for (char **at = environ; at != NULL && *at != NULL; at++) {
		const bool is_preload = strncmp(*at, PRELOAD, strlen(PRELOAD)) == 0;
		if (is_preload)
			remove_name(*at + strlen(PRELOAD), library);
		if (strncmp(*at, prefix, strlen(prefix)) != 0 &&
			!(is_preload && (*at)[strlen(PRELOAD)] == '\0'))
			*to++ = *at;
	}
	if (to != NULL)
		*to = NULL;
}
