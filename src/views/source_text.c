/* SPDX-License-Identifier: MIT */
/*
 * Lines of source files. The names come from a profile, so that only regular files of a bounded
 * size are read, and a bounded amount in all.
 */
#include "views/source_text.h"

#include "base/input_file.h"

#include <string.h>

enum { MAX_FILE_BYTES = 16 << 20, MAX_ALL_BYTES = 128 << 20, TAB_WIDTH = 8 };

struct LodeSourceText {
	GHashTable *files; /* name → GPtrArray of lines; NULL where not readable */
	size_t bytes;
};

static void free_lines(void *lines)
{
	if (lines != NULL)
		g_ptr_array_unref(lines);
}

LodeSourceText *lode_source_text_new(void)
{
	LodeSourceText *self = g_new0(LodeSourceText, 1);

	self->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_lines);
	return self;
}

void lode_source_text_free(LodeSourceText *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->files);
	g_free(self);
}

static char *plain_line(const char *text, size_t n)
{
	GString *line = g_string_sized_new(n + 1);

	while (n > 0 && text[n - 1] == '\r')
		n--;
	for (size_t i = 0; i < n && text[i] != '\0'; i++) {
		if (text[i] != '\t') {
			g_string_append_c(line, text[i]);
			continue;
		}
		do
			g_string_append_c(line, ' ');
		while (line->len % TAB_WIDTH != 0);
	}
	return g_string_free(line, FALSE);
}

/* No more than the size: files in /proc have none, and give without end or wait for more. */
static GPtrArray *read_lines(LodeSourceText *self, const char *path)
{
	g_autoptr(LodeInputFile) file = lode_input_file_open(path, NULL);

	if (file == NULL || file->size > MAX_FILE_BYTES || file->size + self->bytes > MAX_ALL_BYTES)
		return NULL;
	size_t size = (size_t)file->size;
	g_autofree char *text = lode_input_file_load(file, 0, size, NULL);
	if (text == NULL)
		return NULL;
	self->bytes += size;
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	for (const char *at = text, *end = text + size; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((stop != NULL ? stop : end) - at);
		g_ptr_array_add(lines, plain_line(at, n));
		at += n + 1;
	}
	return lines;
}

const char *lode_source_text_line(LodeSourceText *self, const char *file, uint32_t line)
{
	void *found = NULL;

	if (!g_hash_table_lookup_extended(self->files, file, NULL, &found)) {
		found = read_lines(self, file);
		g_hash_table_insert(self->files, g_strdup(file), found);
	}
	GPtrArray *lines = found;
	if (lines == NULL || line == 0 || line > lines->len)
		return NULL;
	return g_ptr_array_index(lines, line - 1);
}
