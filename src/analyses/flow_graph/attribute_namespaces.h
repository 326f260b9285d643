/* SPDX-License-Identifier: MIT */
/* The namespaces of lode's own attributes (docs/reference/attributes.md): "carried" of
 * "carried:fp". */
#pragma once

#include <stdbool.h>
#include <string.h>

/* Mined unless told otherwise: what an instruction is. */
#define LODE_NAMESPACES_MINED "op,kind,mem,ev,at,loop,obj,needs,address,chain,user"

/* Facts: why an instruction may take time. */
#define LODE_NAMESPACES_OF_FACTS                                                                   \
	"behind,carried,stride,spread,lines,conflict,denormal,split,repeats,outcomes,after,"       \
	"rounds,kernel,check,spill,frame,call"

#define LODE_NAMESPACES_OTHER "inl,site"

/* Whether a list has the namespace of an attribute, or that of this name. */
static inline bool lode_namespaces_have(const char *list, const char *attribute)
{
	size_t length = strcspn(attribute, ":");

	for (const char *at = list; *at != '\0'; at += strspn(at, ",")) {
		size_t n = strcspn(at, ",");
		if (n == length && strncmp(at, attribute, n) == 0)
			return true;
		at += n;
	}
	return false;
}
