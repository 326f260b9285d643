/* SPDX-License-Identifier: MIT */
/* Code of which is known what it accesses, in a library of its own. */
#pragma once

/* Where it begins. A program has addresses of its own for a library's functions, which lead there.
 */
typedef struct {
	const char *load, *store, *forward, *tls, *copy;
	const char *back; /* returns */
} KnownCode;

extern const KnownCode known_code;
