/* SPDX-License-Identifier: MIT */
#include "sources/code/load_map.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "sources/code/load_map_segments.h"
#include "sources/text_lines.h"

#include <stdlib.h>
#include <string.h>

/*
 * Entries are collected in the order of the file and laid into the map from the last to the first,
 * so that an earlier one that overlaps is left out.
 */

enum {
	MAX_ENTRIES = 1 << 20,
	MAX_SKIPPED = 1000,
	MAX_PIDS = 1 << 16,
};

typedef struct {
	LodeLoadMap *map;
	LodeTextLines *lines;
	GHashTable *segments; /* path → GArray of LodeLoadMapSegment; NULL: cannot be read */
	GArray *found;        /* LodeLoadMapEntry, in the order of the file */
	uint32_t pid;         /* of the current line of a log */
	uint32_t path_pid;
	char *path;         /* the image whose addresses come next in a log */
	bool is_recognized; /* at least one line was of a form that we know */
} Reader;

LodeLoadMap *lode_load_map_new(void)
{
	LodeLoadMap *self = g_new0(LodeLoadMap, 1);

	self->entries = g_array_new(FALSE, FALSE, sizeof(LodeLoadMapEntry));
	self->pids = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->skipped = g_ptr_array_new();
	self->strings = g_string_chunk_new(1 << 12);
	return self;
}

void lode_load_map_free(LodeLoadMap *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->entries);
	g_array_unref(self->pids);
	g_ptr_array_unref(self->skipped);
	g_string_chunk_free(self->strings);
	g_free(self);
}

/* ---- images ---- */

static void add_skipped(LodeLoadMap *self, const char *path, const char *why)
{
	g_autofree char *shown = g_utf8_make_valid(path, -1);
	g_autofree char *text = g_strdup_printf("%s: %s", shown, why);

	if (self->skipped->len < MAX_SKIPPED &&
		!g_ptr_array_find_with_equal_func(self->skipped, text, g_str_equal, NULL))
		g_ptr_array_add(self->skipped, g_string_chunk_insert_const(self->strings, text));
}

/* The executable segments of an image, looked up once; NULL when it cannot be read. */
static const GArray *segments_of(Reader *self, const char *path)
{
	g_autoptr(GError) error = NULL;
	void *known;

	if (g_hash_table_lookup_extended(self->segments, path, NULL, &known))
		return known;
	GArray *segments = lode_load_map_segments_read(path, &error);
	if (segments == NULL)
		add_skipped(self->map, path, error->message);
	g_hash_table_insert(self->segments, g_strdup(path), segments);
	return segments;
}

static bool add_entry(Reader *self, LodeLoadMapEntry entry, const char *path, GError **error)
{
	if (self->found->len == MAX_ENTRIES)
		return lode_text_lines_error_at(self->lines, lode_text_lines_number(self->lines),
			error, LODE_ERROR_LIMIT, "more than %d mappings", MAX_ENTRIES);
	entry.path = g_string_chunk_insert_const(self->map->strings, path);
	g_array_append_val(self->found, entry);
	return true;
}

/* ---- valgrind's log ---- */

static bool scan_hex(const char **at, uint64_t *out_number)
{
	char *end;

	if (!g_ascii_isxdigit(**at))
		return false;
	*out_number = g_ascii_strtoull(*at, &end, 16);
	if (end - *at > 16 && *out_number == UINT64_MAX)
		return false;
	*at = end;
	return true;
}

/* "--PID-- " or "==PID== " at the head of a line; gives what follows, or NULL. */
static const char *scan_pid(const char *line, uint32_t *out_pid)
{
	char mark = line[0];
	char *end;

	if ((mark != '-' && mark != '=') || line[1] != mark || !g_ascii_isdigit(line[2]))
		return NULL;
	uint64_t pid = g_ascii_strtoull(line + 2, &end, 10);
	if (pid == 0 || pid > INT32_MAX || end[0] != mark || end[1] != mark)
		return NULL;
	*out_pid = (uint32_t)pid;
	return end[2] == ' ' ? end + 3 : end + 2;
}

static void add_pid(LodeLoadMap *self, uint32_t pid)
{
	guint n = self->pids->len;

	/* Lines of one process stand together. */
	if (n > 0 && g_array_index(self->pids, uint32_t, n - 1) == pid)
		return;
	if (n < MAX_PIDS && !lode_load_map_has_pid(self, pid))
		g_array_append_val(self->pids, pid);
}

/* In valgrind's log, svma is an address as the file states it, avma the actual one. Both are given
 * for several sections; the first is enough, since all of an image moves by one distance. */
static bool read_addresses(Reader *self, const char *text, GError **error)
{
	uint64_t file_address, address;
	g_autofree char *path = g_steal_pointer(&self->path);

	if (path == NULL || self->path_pid != self->pid)
		return true;
	text += strlen("svma 0x");
	bool is_valid = scan_hex(&text, &file_address) && g_str_has_prefix(text, ", avma 0x");
	text += is_valid ? strlen(", avma 0x") : 0;
	if (!is_valid || !scan_hex(&text, &address) || *text != '\0')
		return lode_text_lines_error_at(self->lines, lode_text_lines_number(self->lines),
			error, LODE_ERROR_CORRUPT, "expected 'svma 0xADDRESS, avma 0xADDRESS'");
	const GArray *segments = segments_of(self, path);
	for (guint i = 0; segments != NULL && i < segments->len; i++) {
		const LodeLoadMapSegment *segment = &g_array_index(segments, LodeLoadMapSegment, i);
		LodeLoadMapEntry entry = {.bias = address - file_address};
		entry.start = segment->address + entry.bias;
		entry.end = entry.start + segment->size_bytes;
		if (entry.start < entry.end && !add_entry(self, entry, path, error))
			return false;
	}
	return true;
}

/* A line without its PID. */
static bool read_log_line(Reader *self, const char *text, GError **error)
{
	static const char reading[] = "Reading syms from ",
			  parent[] = "Parent PID: ", command[] = "Command: ";

	if (g_str_has_prefix(text, reading)) {
		g_free(self->path);
		self->path = g_strdup(text + strlen(reading));
		self->path_pid = self->pid;
		return true;
	}
	if (g_str_has_prefix(text, parent) && self->map->parent_pid == 0)
		self->map->parent_pid = (uint32_t)MIN(
			g_ascii_strtoull(text + strlen(parent), NULL, 10), INT32_MAX);
	if (g_str_has_prefix(text, command) && self->map->command == NULL)
		self->map->command = g_string_chunk_insert(
			self->map->strings, text + strlen(command));
	/* Valgrind says so when it starts, not when it goes on after a fork. */
	self->map->has_start |= g_str_has_prefix(text, "Scheduler: using ");
	while (*text == ' ')
		text++;
	/* A line that the process was killed in would give a wrong address. */
	if (g_str_has_prefix(text, "svma 0x") && lode_text_lines_is_terminated(self->lines))
		return read_addresses(self, text, error);
	return true;
}

/* ---- /proc/PID/maps ---- */

typedef struct {
	uint64_t start, end, offset;
	bool is_executable;
	const char *path; /* in the line; empty for none */
} Mapping;

static bool scan_character(const char **at, char expected)
{
	if (**at != expected)
		return false;
	(*at)++;
	return true;
}

/* Goes over a field of other characters and the blank after it. */
static bool skip_field(const char **at)
{
	size_t length = strcspn(*at, " ");

	*at += length;
	return length > 0 && (**at == '\0' || scan_character(at, ' '));
}

static bool scan_mapping(const char *line, Mapping *out_mapping)
{
	const char *at = line;
	Mapping mapping;

	if (!scan_hex(&at, &mapping.start) || !scan_character(&at, '-') ||
		!scan_hex(&at, &mapping.end) || !scan_character(&at, ' ') ||
		strspn(at, "rwxsp-") != 4 || at[4] != ' ')
		return false;
	mapping.is_executable = at[2] == 'x';
	at += 5;
	if (!scan_hex(&at, &mapping.offset) || !scan_character(&at, ' ') || !skip_field(&at) ||
		!skip_field(&at) || mapping.start >= mapping.end)
		return false;
	mapping.path = at + strspn(at, " ");
	*out_mapping = mapping;
	return true;
}

/* The kernel writes a line feed in a path as \012 (proc(5)), and nothing else so. */
static char *unescape_path(const char *text)
{
	GString *path = g_string_new(text);

	g_string_replace(path, "\\012", "\n", 0);
	return g_string_free(path, FALSE);
}

static bool read_mapping(Reader *self, const Mapping *mapping, GError **error)
{
	LodeLoadMapEntry entry = {.start = mapping->start, .end = mapping->end};

	if (!mapping->is_executable || mapping->path[0] != '/')
		return true;
	g_autofree char *path = unescape_path(mapping->path);
	if (g_str_has_suffix(path, " (deleted)")) {
		path[strlen(path) - strlen(" (deleted)")] = '\0';
		add_skipped(self->map, path, "was deleted while the program ran");
		return true;
	}
	const GArray *segments = segments_of(self, path);
	for (guint i = 0; segments != NULL && i < segments->len; i++) {
		const LodeLoadMapSegment *segment = &g_array_index(segments, LodeLoadMapSegment, i);
		/* Mappings begin at a page, segments need not. */
		if (mapping->offset + (mapping->end - mapping->start) <= segment->offset ||
			mapping->offset >= segment->offset + segment->file_size_bytes)
			continue;
		entry.bias = mapping->start -
		             (segment->address + (mapping->offset - segment->offset));
		return add_entry(self, entry, path, error);
	}
	if (segments != NULL)
		add_skipped(self->map, path, "has no executable segment where it was mapped");
	return true;
}

/* ---- the whole ---- */

static bool read_line(Reader *self, const char *line, GError **error)
{
	uint64_t number = lode_text_lines_number(self->lines);
	const char *text = scan_pid(line, &self->pid);
	Mapping mapping;

	if (text != NULL) {
		self->is_recognized = true;
		add_pid(self->map, self->pid);
		return read_log_line(self, text, error);
	}
	if (scan_mapping(line, &mapping)) {
		self->is_recognized = true;
		return read_mapping(self, &mapping, error);
	}
	/* Valgrind's log also has lines of other forms, but it begins with one that we know. */
	if (self->is_recognized && self->map->pids->len > 0)
		return true;
	return lode_text_lines_error_at(self->lines, number, error, LODE_ERROR_CORRUPT,
		"expected a line of /proc/PID/maps or of the log of 'valgrind -v -v -v'");
}

LODE_ORDER(compare_entries, LodeLoadMapEntry, LODE_ASCENDING(start))

static bool is_free(GTree *tree, const LodeLoadMapEntry *entry)
{
	GTreeNode *above = g_tree_upper_bound(tree, entry);
	GTreeNode *below = above != NULL ? g_tree_node_previous(above) : g_tree_node_last(tree);
	const LodeLoadMapEntry *next = above != NULL ? g_tree_node_key(above) : NULL;
	const LodeLoadMapEntry *previous = below != NULL ? g_tree_node_key(below) : NULL;

	return (next == NULL || entry->end <= next->start) &&
	       (previous == NULL || previous->end <= entry->start);
}

/* Lays what was found over what the map had, the last first. */
static void merge(LodeLoadMap *self, GArray *found)
{
	g_autoptr(GTree) tree = g_tree_new(compare_entries);
	g_autoptr(GArray) all = g_array_copy(self->entries);

	g_array_append_vals(all, found->data, found->len);
	g_array_set_size(self->entries, 0);
	for (guint i = all->len; i > 0; i--) {
		LodeLoadMapEntry *entry = &g_array_index(all, LodeLoadMapEntry, i - 1);
		if (!is_free(tree, entry))
			continue;
		g_tree_insert(tree, entry, entry);
		g_array_append_val(self->entries, *entry);
	}
	g_array_sort(self->entries, compare_entries);
}

static void unref_segments(void *data)
{
	if (data != NULL)
		g_array_unref(data);
}

static bool read_lines(Reader *self, GError **error)
{
	const char *line;
	size_t length;
	int found;

	while ((found = lode_text_lines_next(self->lines, &line, &length, error)) > 0)
		if (!read_line(self, line, error))
			return false;
	return found == 0;
}

bool lode_load_map_read(LodeLoadMap *self, const char *path, GError **error)
{
	g_autoptr(LodeTextLines) lines = lode_text_lines_open(path, 0, NULL, error);
	g_autoptr(GHashTable)
		segments = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, unref_segments);
	g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(LodeLoadMapEntry));
	Reader reader = {.map = self, .lines = lines, .segments = segments, .found = found};

	if (lines == NULL)
		return false;
	bool is_read = read_lines(&reader, error);
	g_free(reader.path);
	if (is_read)
		merge(self, found);
	return is_read;
}

const LodeLoadMapEntry *lode_load_map_find(const LodeLoadMap *self, uint64_t address)
{
	guint low = LODE_PARTITION_POINT(self->entries->len, i,
		g_array_index(self->entries, LodeLoadMapEntry, i).end <= address);
	if (low == self->entries->len)
		return NULL;
	const LodeLoadMapEntry *entry = &g_array_index(self->entries, LodeLoadMapEntry, low);
	return entry->start <= address ? entry : NULL;
}

bool lode_load_map_has_pid(const LodeLoadMap *self, uint32_t pid)
{
	for (guint i = 0; i < self->pids->len; i++)
		if (g_array_index(self->pids, uint32_t, i) == pid)
			return true;
	return false;
}

uint32_t lode_load_map_pid(const LodeLoadMap *self)
{
	return self->pids->len > 0 ? g_array_index(self->pids, uint32_t, 0) : 0;
}

static void free_map(void *data)
{
	lode_load_map_free(data);
}

LodeLoadMapSet *lode_load_map_set_new(void)
{
	LodeLoadMapSet *self = g_new0(LodeLoadMapSet, 1);

	self->maps = g_ptr_array_new_with_free_func(free_map);
	return self;
}

void lode_load_map_set_free(LodeLoadMapSet *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->maps);
	g_free(self);
}

bool lode_load_map_set_read(LodeLoadMapSet *self, const char *path, GError **error)
{
	g_autoptr(LodeLoadMap) map = lode_load_map_new();

	if (!lode_load_map_read(map, path, error))
		return false;
	g_ptr_array_add(self->maps, g_steal_pointer(&map));
	return true;
}

/* The map whose own process this is, else one whose log has lines of it. */
static const LodeLoadMap *map_of(const LodeLoadMapSet *self, uint32_t pid)
{
	const LodeLoadMap *found = NULL;

	for (guint i = 0; i < self->maps->len; i++) {
		const LodeLoadMap *map = g_ptr_array_index(self->maps, i);
		if (pid != 0 && lode_load_map_pid(map) == pid)
			return map;
		if (found == NULL && pid != 0 && lode_load_map_has_pid(map, pid))
			found = map;
	}
	return found;
}

/* Length of the first word, where a backslash stands before a blank that is part of it. */
static size_t program_length(const char *command)
{
	size_t n = 0;

	while (command[n] != '\0' && command[n] != ' ')
		n += command[n] == '\\' && command[n + 1] != '\0' ? 2 : 1;
	return n;
}

static bool is_same_program(const LodeLoadMap *a, const LodeLoadMap *b)
{
	if (a->command == NULL || b->command == NULL)
		return false;
	size_t length = program_length(a->command);
	return length == program_length(b->command) && memcmp(a->command, b->command, length) == 0;
}

/* Valgrind loads a program at the same addresses each time. */
static const LodeLoadMap *map_of_same_program(const LodeLoadMapSet *self, const LodeLoadMap *like)
{
	for (guint i = 0; i < self->maps->len; i++) {
		const LodeLoadMap *map = g_ptr_array_index(self->maps, i);
		if (map->has_start && is_same_program(map, like))
			return map;
	}
	return NULL;
}

/* A parent's log with another command was begun anew by an exec: what the parent had loaded when it
 * forked is not in it any more. */
static const LodeLoadMap *parent_of(const LodeLoadMapSet *self, const LodeLoadMap *child)
{
	const LodeLoadMap *parent = map_of(self, child->parent_pid);

	if (parent != NULL && g_strcmp0(parent->command, child->command) == 0)
		return parent;
	return map_of_same_program(self, child);
}

static const LodeLoadMapEntry *find_without_pid(const LodeLoadMapSet *self, uint64_t address)
{
	const LodeLoadMapEntry *entry = NULL;

	for (guint i = 0; i < self->maps->len && entry == NULL; i++) {
		const LodeLoadMap *map = g_ptr_array_index(self->maps, i);
		if (lode_load_map_pid(map) == 0 || self->maps->len == 1)
			entry = lode_load_map_find(map, address);
	}
	return entry;
}

const LodeLoadMapEntry *lode_load_map_set_find(
	const LodeLoadMapSet *self, uint32_t pid, uint64_t address)
{
	const LodeLoadMap *map = map_of(self, pid);

	if (map == NULL)
		return find_without_pid(self, address);
	/* A PID that was used again could make the parents a circle. */
	for (guint steps = 0; map != NULL && steps <= self->maps->len; steps++) {
		const LodeLoadMapEntry *entry = lode_load_map_find(map, address);
		if (entry != NULL || map->has_start)
			return entry;
		map = parent_of(self, map);
	}
	return NULL;
}
