/* SPDX-License-Identifier: MIT */
#include "sources/code/perf_map.h"

#include "base/arrays/partition_point.h"
#include "base/error.h"
#include "base/files/regular_file.h"
#include "sources/allocations/live_ranges.h"
#include "sources/text_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_PREFIX "perf-"
#define NAME_SUFFIX ".map"
#define MAX_LINES (UINT32_C(1) << 26)

typedef struct {
	LodePerfMap *map;
	LodeTextLines *lines;
	LodeLiveRanges *live;
	GPtrArray *names; /* of the lines, borrowed from the map; the owners of the ranges */
} Reader;

static bool is_suffix(const char *text)
{
	static const char *const compressed[] = {"", ".gz", ".xz", ".zst", ".bz2"};

	if (!g_str_has_prefix(text, NAME_SUFFIX))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(compressed); i++)
		if (strcmp(text + strlen(NAME_SUFFIX), compressed[i]) == 0)
			return true;
	return false;
}

/* The number in perf-NUMBER.map, or in that with a compressor's suffix; false for another name or a
 * number that is not a PID. */
static bool pid_of(const char *path, uint32_t *out_pid)
{
	g_autofree char *name = g_path_get_basename(path);
	char *end;
	uint64_t pid;

	if (!g_str_has_prefix(name, NAME_PREFIX) || !g_ascii_isdigit(name[strlen(NAME_PREFIX)]))
		return false;
	pid = g_ascii_strtoull(name + strlen(NAME_PREFIX), &end, 10);
	if (!is_suffix(end) || pid > UINT32_MAX)
		return false;
	*out_pid = (uint32_t)pid;
	return true;
}

bool lode_perf_map_is_name(const char *path)
{
	uint32_t pid;

	return pid_of(path, &pid);
}

/* A number in hex, with or without 0x, and the blanks after it, if the line does not end. */
static bool parse_hex(const char **text, uint64_t *out_value)
{
	const char *start = *text;
	char *end;

	if (start[0] == '0' && (start[1] == 'x' || start[1] == 'X'))
		start += 2;
	if (!g_ascii_isxdigit(*start))
		return false;
	*out_value = g_ascii_strtoull(start, &end, 16);
	if (strchr(" \t", *end) == NULL || end - start > 16)
		return false;
	*text = end + strspn(end, " \t");
	return true;
}

static const char *keep_name(LodePerfMap *self, const char *name, uint64_t address)
{
	g_autofree char *made = NULL;

	if (*name == '\0')
		made = g_strdup_printf("code_%" PRIx64, address);
	else if (!g_utf8_validate(name, -1, NULL))
		made = g_utf8_make_valid(name, -1);
	return g_string_chunk_insert_const(self->strings, made != NULL ? made : name);
}

static bool read_line(Reader *self, const char *line, GError **error)
{
	LodeLiveRange range = {.owner = self->names->len};
	uint64_t size, number = lode_text_lines_number(self->lines);

	if (!parse_hex(&line, &range.start) || !parse_hex(&line, &size)) {
		/* the program may have been killed while it wrote its last line */
		return !lode_text_lines_is_terminated(self->lines) ||
		       lode_text_lines_error_at(self->lines, number, error, LODE_ERROR_CORRUPT,
			       "not a start, a size and a name");
	}
	if (size > UINT64_MAX - range.start)
		return lode_text_lines_error_at(self->lines, number, error, LODE_ERROR_CORRUPT,
			"the code ends after the last address");
	if (self->names->len == MAX_LINES)
		return lode_text_lines_error_at(
			self->lines, number, error, LODE_ERROR_LIMIT, "too many lines");
	if (size == 0)
		return true;
	range.end = range.start + size;
	range.origin = range.start;
	g_ptr_array_add(self->names, (void *)keep_name(self->map, line, range.start));
	lode_live_ranges_put(self->live, &range, NULL);
	return true;
}

static bool read_lines(Reader *self, GError **error)
{
	const char *line;
	size_t length;
	int state;

	while ((state = lode_text_lines_next(self->lines, &line, &length, error)) > 0) {
		if (length > 0 && !read_line(self, line, error))
			return false;
	}
	return state == 0;
}

static void list_entries(const Reader *self)
{
	g_autoptr(GArray) ranges = g_array_new(FALSE, FALSE, sizeof(LodeLiveRange));

	lode_live_ranges_list(self->live, ranges);
	for (guint i = 0; i < ranges->len; i++) {
		const LodeLiveRange *range = &g_array_index(ranges, LodeLiveRange, i);
		LodePerfMapEntry entry = {.address = range->start,
			.size = range->end - range->start,
			.name = g_ptr_array_index(self->names, range->owner)};

		g_array_append_val(self->map->entries, entry);
	}
}

/*
 * Where anyone may write, as in /tmp, another user may have put a map for a process of ours, or a
 * link to a file that we can read. As perf does (tools/perf/util/symbol.c, dso__load()), only the
 * files of root and our own are read there. The descriptor is checked, not the name, which may be
 * that of a different file a moment later.
 */
static int open_map(const char *path, GError **error)
{
	g_autofree char *directory = g_path_get_dirname(path);
	struct stat where, status = {0};
	bool is_shared = stat(directory, &where) == 0 && (where.st_mode & S_IWOTH) != 0;
	g_autoptr(GError) cause = NULL;
	int fd = lode_regular_file_open(path, is_shared ? O_NOFOLLOW : 0, &cause);
	const char *why = NULL;

	if (fd < 0)
		why = is_shared && errno == ELOOP
		              ? "a symbolic link in a directory where anyone may write"
		              : cause->message;
	else if (fstat(fd, &status) != 0)
		why = g_strerror(errno);
	else if (is_shared && status.st_uid != 0 && status.st_uid != geteuid())
		why = "neither yours nor root's, in a directory where anyone may write";
	if (why == NULL)
		return fd;
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", path, why);
	if (fd >= 0)
		close(fd);
	return -1;
}

LodePerfMap *lode_perf_map_read(const char *path, GError **error)
{
	g_autoptr(LodePerfMap) self = g_new0(LodePerfMap, 1);
	g_autoptr(LodeTextLines) lines = NULL;
	g_autoptr(LodeLiveRanges) live = lode_live_ranges_new();
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	self->strings = g_string_chunk_new(1 << 14);
	self->entries = g_array_new(FALSE, FALSE, sizeof(LodePerfMapEntry));
	pid_of(path, &self->pid);
	int fd = open_map(path, error);
	if (fd >= 0)
		lines = lode_text_lines_new(fd, path, 0, NULL, error);
	if (lines == NULL)
		return NULL;
	Reader reader = {self, lines, live, names};
	if (!read_lines(&reader, error))
		return NULL;
	list_entries(&reader);
	return g_steal_pointer(&self);
}

void lode_perf_map_free(LodePerfMap *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->entries);
	g_string_chunk_free(self->strings);
	g_free(self);
}

const LodePerfMapEntry *lode_perf_map_find(const LodePerfMap *self, uint64_t address)
{
	const LodePerfMapEntry *entries = (const LodePerfMapEntry *)(void *)self->entries->data;
	size_t low = LODE_PARTITION_POINT(self->entries->len, i, entries[i].address <= address);
	if (low == 0 || address - entries[low - 1].address >= entries[low - 1].size)
		return NULL;
	return &entries[low - 1];
}
