/* SPDX-License-Identifier: MIT */
#include "sources/code/page_file.h"

#include "base/error.h"
#include "model/process.h"
#include "sources/text_lines.h"

#include <string.h>

/* More than a recorder writes in a day; more nodes than Linux has (MAX_NUMNODES). */
enum { MAX_ROWS = 1 << 22, MAX_NODE = 1 << 10, MAX_PAGE_KB = 1 << 24, MAX_LINE = 256 };

#define FIRST_LINE "lode-pages 1"

bool lode_page_file_is_format(const char *data, size_t size)
{
	const size_t n = strlen(FIRST_LINE);

	return size > n && memcmp(data, FIRST_LINE, n) == 0 && (data[n] == '\n' || data[n] == '\r');
}

/* The state while lines are read. */
typedef struct {
	LodeMemoryPages survey; /* its time and process */
	bool has_time;
	GArray *rows;
} Reading;

/* False: it is not a number of this base, below the limit. */
static bool read_number(const char **text, int base, uint64_t most, uint64_t *out_number)
{
	char *end = NULL;
	const char *start = *text + strspn(*text, " ");

	/* g_ascii_strtoull() takes signs. */
	if (!g_ascii_isxdigit(*start))
		return false;
	*out_number = g_ascii_strtoull(start, &end, (guint)base);
	if (end == start || *out_number > most || (*end != ' ' && *end != '\0'))
		return false;
	*text = end;
	return true;
}

static bool read_survey(Reading *self, const char *text)
{
	uint64_t time_ns, pid;

	if (!read_number(&text, 10, G_MAXINT64, &time_ns) ||
		!read_number(&text, 10, G_MAXINT32, &pid) || text[strspn(text, " ")] != '\0')
		return false;
	self->survey = (LodeMemoryPages){.pid = (uint32_t)pid, .time_ns = time_ns};
	self->has_time = true;
	return true;
}

static bool read_row(Reading *self, const char *text)
{
	LodeMemoryPages row = self->survey;
	uint64_t kb, node;

	if (!self->has_time || !read_number(&text, 16, UINT64_MAX, &row.start) ||
		!read_number(&text, 16, UINT64_MAX, &row.end) ||
		!read_number(&text, 10, MAX_PAGE_KB, &kb) ||
		!read_number(&text, 10, MAX_NODE, &node) || text[strspn(text, " ")] != '\0' ||
		row.start >= row.end)
		return false;
	row.page_size_bytes = kb << 10;
	row.node = (uint32_t)node;
	g_array_append_val(self->rows, row);
	return true;
}

/* lode writes no line of MAX_LINE bytes. */
static bool read_line(Reading *self, uint64_t number, const char *line, size_t length)
{
	if (length >= MAX_LINE || strlen(line) != length)
		return false;
	if (number == 1)
		return strcmp(line, FIRST_LINE) == 0;
	if (line[0] == '#' || line[0] == '\0')
		return true;
	return g_str_has_prefix(line, "time ") ? read_survey(self, line + strlen("time"))
	                                       : read_row(self, line);
}

bool lode_page_file_read(const char *path, GArray *out_pages, GError **error)
{
	g_autoptr(LodeTextLines) lines = lode_text_lines_open(path, 0, NULL, error);
	Reading reading = {.rows = out_pages};
	const char *line;
	size_t length;
	int found = -1;

	while (lines != NULL && (found = lode_text_lines_next(lines, &line, &length, error)) > 0) {
		uint64_t number = lode_text_lines_number(lines);
		if (!read_line(&reading, number, line, length))
			return lode_text_lines_error_at(lines, number, error, LODE_ERROR_CORRUPT,
				"neither 'time NANOSECONDS PROCESS' nor 'START END KILOBYTES "
				"NODE'");
		if (out_pages->len > MAX_ROWS)
			return lode_text_lines_error_at(lines, number, error, LODE_ERROR_LIMIT,
				"more than %d ranges of pages", MAX_ROWS);
	}
	return found == 0;
}
