/* SPDX-License-Identifier: MIT */
#include "base/arrays/name_table.h"

void lode_name_table_init(LodeNameTable *self)
{
	self->names = g_ptr_array_new();
	self->numbers = g_hash_table_new(g_str_hash, g_str_equal);
	self->strings = g_string_chunk_new(1 << 10);
}

void lode_name_table_clear(LodeNameTable *self)
{
	g_clear_pointer(&self->names, g_ptr_array_unref);
	g_clear_pointer(&self->numbers, g_hash_table_unref);
	g_clear_pointer(&self->strings, g_string_chunk_free);
}

uint32_t lode_name_table_add(LodeNameTable *self, const char *name)
{
	void *found = g_hash_table_lookup(self->numbers, name);

	if (found != NULL)
		return GPOINTER_TO_UINT(found) - 1;
	char *kept = g_string_chunk_insert(self->strings, name);
	g_ptr_array_add(self->names, kept);
	g_hash_table_insert(self->numbers, kept, GUINT_TO_POINTER(self->names->len));
	return self->names->len - 1;
}
