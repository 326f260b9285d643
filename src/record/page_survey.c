/* SPDX-License-Identifier: MIT */
#include "record/page_survey.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	FIRST_US = G_USEC_PER_SEC / 10,
	INTERVAL_US = G_USEC_PER_SEC,
	COST_FACTOR = 50,
	/* The limit of single pages in one survey: some 30 ms. */
	MAX_PAGES = 1 << 17,
	PAGES_AT_ONCE = 1 << 10,
};

struct LodePageSurvey {
	FILE *file;
	char *path, *proc;
	gint64 due_us;
	unsigned n_pages_left; /* of the look at hand */
};

/* A line of numa_maps, and where the mapping ends. */
typedef struct {
	uint64_t start, end;
	unsigned kb;      /* of a page */
	unsigned n_nodes; /* that have some of it */
	unsigned node;    /* the last one of them */
} Mapping;

LodePageSurvey *lode_page_survey_open(const char *path, const char *proc, GError **error)
{
	int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;

	if (file == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: cannot write: %s", path,
			g_strerror(errno));
		return NULL;
	}
	LodePageSurvey *self = g_new0(LodePageSurvey, 1);
	self->file = file;
	self->path = g_strdup(path);
	self->proc = g_strdup(proc);
	self->due_us = g_get_monotonic_time() + FIRST_US;
	fputs("lode-pages 1\n", file);
	return self;
}

bool lode_page_survey_close(LodePageSurvey *self, GError **error)
{
	bool is_written = ferror(self->file) == 0;

	is_written &= fclose(g_steal_pointer(&self->file)) == 0;
	if (!is_written)
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: cannot write", self->path);
	lode_page_survey_free(self);
	return is_written;
}

void lode_page_survey_free(LodePageSurvey *self)
{
	if (self == NULL)
		return;
	if (self->file != NULL)
		fclose(self->file);
	g_free(self->path);
	g_free(self->proc);
	g_free(self);
}

bool lode_page_survey_is_due(const LodePageSurvey *self)
{
	return g_get_monotonic_time() >= self->due_us;
}

static char *read_file(const LodePageSurvey *self, pid_t pid, const char *name)
{
	g_autofree char *path = g_strdup_printf("%s/%d/%s", self->proc, (int)pid, name);
	char *text = NULL;

	return g_file_get_contents(path, &text, NULL, NULL) ? text : NULL;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end != NULL ? end + 1 : line + strlen(line);
}

/* start → end, for numa_maps says no ends. */
static GHashTable *read_ends(const LodePageSurvey *self, pid_t pid)
{
	GHashTable *ends = g_hash_table_new(NULL, NULL);
	g_autofree char *text = read_file(self, pid, "maps");

	for (const char *line = text; line != NULL && *line != '\0'; line = next_line(line)) {
		char *rest = NULL;
		guint64 start = g_ascii_strtoull(line, &rest, 16);
		if (*rest == '-')
			g_hash_table_insert(ends, GSIZE_TO_POINTER(start),
				GSIZE_TO_POINTER(g_ascii_strtoull(rest + 1, NULL, 16)));
	}
	return ends;
}

/* "7f12c8000000 default anon=33 dirty=33 N0=20 N1=13 kernelpagesize_kB=4" */
static bool read_mapping(const char *line, GHashTable *ends, Mapping *out_mapping)
{
	char *rest = NULL;
	Mapping mapping = {.start = g_ascii_strtoull(line, &rest, 16), .kb = 4};
	g_autofree char *text = g_strndup(rest, (gsize)(next_line(rest) - rest));
	g_auto(GStrv) words = g_strsplit_set(text, " \n", -1);

	mapping.end = GPOINTER_TO_SIZE(g_hash_table_lookup(ends, GSIZE_TO_POINTER(mapping.start)));
	for (size_t i = 0; words[i] != NULL; i++) {
		unsigned node, n;
		if (sscanf(words[i], "N%u=%u", &node, &n) == 2 && n > 0) {
			mapping.n_nodes++;
			mapping.node = node;
		}
		sscanf(words[i], "kernelpagesize_kB=%u", &mapping.kb);
	}
	*out_mapping = mapping;
	return mapping.end > mapping.start && mapping.n_nodes > 0 && mapping.kb > 0;
}

static void write_row(
	LodePageSurvey *self, uint64_t start, uint64_t end, const Mapping *mapping, unsigned node)
{
	fprintf(self->file, "%" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER "x %u %u\n", start, end,
		mapping->kb, node);
}

/* Neighbours on one node become one row; pages that are not there end it. */
static void write_page_nodes(LodePageSurvey *self, pid_t pid, const Mapping *mapping)
{
	uint64_t page = (uint64_t)mapping->kb << 10, begun = 0;
	int last = -1;
	void *pages[PAGES_AT_ONCE];
	int nodes[PAGES_AT_ONCE];

	for (uint64_t at = mapping->start; at < mapping->end && self->n_pages_left > 0;) {
		unsigned n = 0;
		for (; n < PAGES_AT_ONCE && n < self->n_pages_left && at + n * page < mapping->end;
			n++)
			pages[n] = (void *)(uintptr_t)(at + n * page);
		if (syscall(SYS_move_pages, pid, (unsigned long)n, pages, NULL, nodes, 0) != 0)
			break;
		for (unsigned i = 0; i < n; i++) {
			if (nodes[i] == last)
				continue;
			if (last >= 0)
				write_row(self, begun, at + i * page, mapping, (unsigned)last);
			begun = at + i * page;
			last = nodes[i];
		}
		at += n * page;
		self->n_pages_left -= n;
		if ((at >= mapping->end || self->n_pages_left == 0) && last >= 0)
			write_row(self, begun, MIN(at, mapping->end), mapping, (unsigned)last);
	}
}

static void survey_process(LodePageSurvey *self, pid_t pid, uint64_t now_ns)
{
	g_autofree char *text = read_file(self, pid, "numa_maps");
	g_autoptr(GHashTable) ends = text != NULL ? read_ends(self, pid) : NULL;

	if (text == NULL || *text == '\0')
		return;
	fprintf(self->file, "time %" G_GUINT64_FORMAT " %d\n", now_ns, (int)pid);
	for (const char *line = text; *line != '\0'; line = next_line(line)) {
		Mapping mapping;
		if (!read_mapping(line, ends, &mapping))
			continue;
		if (mapping.n_nodes == 1)
			write_row(self, mapping.start, mapping.end, &mapping, mapping.node);
		else
			write_page_nodes(self, pid, &mapping);
	}
}

void lode_page_survey_run(LodePageSurvey *self, const GArray *pids, uint64_t now_ns)
{
	gint64 start_us = g_get_monotonic_time();

	self->n_pages_left = MAX_PAGES;
	for (guint i = 0; i < pids->len; i++)
		survey_process(self, g_array_index(pids, pid_t, i), now_ns);
	gint64 end_us = g_get_monotonic_time();
	self->due_us = end_us + MAX(INTERVAL_US, COST_FACTOR * (end_us - start_us));
}
