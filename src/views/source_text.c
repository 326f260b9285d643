/* SPDX-License-Identifier: MIT */
/*
 * Lines of source files. The names come from a profile, so that only regular files of a bounded
 * size are read, and a bounded amount in all. A file is kept as it is, with the offset of every
 * 64th line: one of 16 million empty lines takes no more memory than others.
 */
#include "views/source_text.h"

#include "base/input_file.h"

#include <string.h>

enum {
	MAX_FILE_BYTES = 16 << 20,
	MAX_ALL_BYTES = 128 << 20,
	MAX_LINE_BYTES = 4096, /* what is longer was written by no person; it is cut */
	MARK_EVERY = 64,
	TAB_WIDTH = 8,
};

typedef struct {
	char *text;
	size_t size;
	GArray *marks;     /* uint32_t: where lines 0, 64, 128 … begin */
	GHashTable *lines; /* number → its text, of those that were asked for */
} SourceFile;

struct LodeSourceText {
	GHashTable *files; /* name → SourceFile; NULL where not readable */
	size_t bytes;
};

static void free_file(void *data)
{
	SourceFile *file = data;

	if (file == NULL)
		return;
	g_free(file->text);
	g_array_unref(file->marks);
	g_hash_table_unref(file->lines);
	g_free(file);
}

LodeSourceText *lode_source_text_new(void)
{
	LodeSourceText *self = g_new0(LodeSourceText, 1);

	self->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_file);
	return self;
}

void lode_source_text_free(LodeSourceText *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->files);
	g_free(self);
}

/* Its end, in a character, is left out with the character. */
static void cut(GString *line)
{
	size_t n = MAX_LINE_BYTES;

	while (n > 0 && ((unsigned char)line->str[n] & 0xc0) == 0x80)
		n--;
	g_string_truncate(line, n);
	g_string_append(line, "…");
}

static char *plain_line(const char *text, size_t n)
{
	GString *line = g_string_new(NULL);

	while (n > 0 && text[n - 1] == '\r')
		n--;
	for (size_t i = 0; i < n && text[i] != '\0' && line->len <= MAX_LINE_BYTES; i++) {
		if (text[i] != '\t') {
			g_string_append_c(line, text[i]);
			continue;
		}
		do
			g_string_append_c(line, ' ');
		while (line->len % TAB_WIDTH != 0);
	}
	if (line->len > MAX_LINE_BYTES)
		cut(line);
	return g_string_free(line, FALSE);
}

/* Where the line after the one that begins at `at` does; the size where there is none. */
static size_t next_line(const SourceFile *file, size_t at)
{
	const char *end = memchr(file->text + at, '\n', file->size - at);

	return end != NULL ? (size_t)(end - file->text) + 1 : file->size;
}

/* No more than the size: files in /proc have none, and give without end or wait for more. */
static SourceFile *read_file(LodeSourceText *self, const char *path)
{
	g_autoptr(LodeInputFile) input = lode_input_file_open(path, NULL);

	if (input == NULL || input->size > MAX_FILE_BYTES ||
		input->size + self->bytes > MAX_ALL_BYTES)
		return NULL;
	char *text = lode_input_file_load(input, 0, (size_t)input->size, NULL);
	if (text == NULL)
		return NULL;
	SourceFile *file = g_new0(SourceFile, 1);
	file->text = text;
	file->size = (size_t)input->size;
	file->marks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	file->lines = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	self->bytes += file->size;
	uint32_t n = 0;
	for (size_t at = 0; at < file->size; at = next_line(file, at), n++) {
		uint32_t mark = (uint32_t)at;
		if (n % MARK_EVERY == 0)
			g_array_append_val(file->marks, mark);
	}
	return file;
}

/* The beginning of line `number`, counted from 0; NULL if the file has fewer. */
static const char *find_line(SourceFile *file, uint32_t number)
{
	char *known = g_hash_table_lookup(file->lines, GUINT_TO_POINTER(number));

	if (known != NULL)
		return known;
	if (number / MARK_EVERY >= file->marks->len)
		return NULL;
	size_t at = g_array_index(file->marks, uint32_t, number / MARK_EVERY);
	for (uint32_t i = 0; i < number % MARK_EVERY; i++)
		at = next_line(file, at);
	if (at >= file->size)
		return NULL;
	size_t end = next_line(file, at);
	bool has_end = file->text[end - 1] == '\n';
	known = plain_line(file->text + at, end - at - has_end);
	g_hash_table_insert(file->lines, GUINT_TO_POINTER(number), known);
	return known;
}

const char *lode_source_text_line(LodeSourceText *self, const char *file, uint32_t line)
{
	void *found = NULL;

	if (!g_hash_table_lookup_extended(self->files, file, NULL, &found)) {
		found = read_file(self, file);
		g_hash_table_insert(self->files, g_strdup(file), found);
	}
	return found != NULL && line > 0 ? find_line(found, line - 1) : NULL;
}
