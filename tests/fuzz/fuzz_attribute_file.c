/* SPDX-License-Identifier: MIT */
/* Any bytes as an attribute file; each row must be complete. */
#include "fuzz_target.h"
#include "sources/attribute_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeAttributeFile)
		file = lode_attribute_file_read(fuzz_file(data, size), NULL, &error);

	if ((file == NULL) != (error != NULL))
		g_error("a result and an error");
	for (guint i = 0; file != NULL && i < file->rows->len; i++) {
		const LodeAttributeRow *row = &g_array_index(file->rows, LodeAttributeRow, i);
		bool has_place = row->image != NULL && row->symbol != NULL;
		bool has_line = row->file != NULL && row->line > 0;
		if (has_place == has_line || !g_str_has_prefix(row->attribute, "user:") ||
			row->attribute[5] == '\0' || !g_utf8_validate(row->attribute, -1, NULL))
			g_error("a row is not complete");
	}
	return 0;
}
