/* SPDX-License-Identifier: MIT */
/*
 * Arrays of millions of rows. Page faults cost as much as filling them, which huge pages save where
 * the system has them; elsewhere these are plain arrays.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* An empty array with room for `n` elements, which appending does not clear. */
GArray *lode_large_array_new(size_t element_size, size_t n);

/* Asks for huge pages below memory that was not touched yet. */
void lode_large_array_advise(void *data, size_t size);

/* Whether memory for `n` elements is available now. Callers ask where an input gives the number:
 * GLib ends the program when it gets no memory. */
bool lode_large_array_has_room(size_t element_size, size_t n);
