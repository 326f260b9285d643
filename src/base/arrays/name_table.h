/* SPDX-License-Identifier: MIT */
/*
 * Names numbered 0, 1, 2 … in the order in which they first come, each kept once.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct {
	GPtrArray *names;      /* char *: by number */
	GHashTable *numbers;   /* name → its number + 1 */
	GStringChunk *strings; /* what the names are in */
} LodeNameTable;

void lode_name_table_init(LodeNameTable *self);
void lode_name_table_clear(LodeNameTable *self);

/* The number of a name, which is copied where it is new: then the number is what names->len was. */
uint32_t lode_name_table_add(LodeNameTable *self, const char *name);

static inline const char *lode_name_table_name(const LodeNameTable *self, uint32_t number)
{
	return (const char *)self->names->pdata[number];
}
