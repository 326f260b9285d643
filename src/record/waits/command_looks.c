/* SPDX-License-Identifier: MIT */
#include "record/waits/looks.h"

#include "base/monotonic_clock.h"
#include "base/text/command_words.h"
#include "record/waits/look_record.h"
#include "record/waits/waited_process.h"
#include "sources/perf_data/script_look.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 4096, PATH_BYTES = 64 };

/* Of a process: beyond these it has what it executes for good. */
enum { MOST_READS = 3 };

/* That are asked for at one look. */
enum { MOST_STARTED = 64 };

/* A process of which a command was written. */
typedef struct {
	guint hash; /* of its arguments */
	unsigned reads, listed;
} Known;

struct LodeCommandLooks {
	GHashTable *known;  /* pid → Known */
	GHashTable *hashes; /* set of theirs */
	unsigned listed;
	GString *words;
};

LodeCommandLooks *lode_command_looks_new(void)
{
	LodeCommandLooks *self = g_new0(LodeCommandLooks, 1);

	self->known = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	self->hashes = g_hash_table_new(NULL, NULL);
	self->words = g_string_new(NULL);
	return self;
}

void lode_command_looks_free(LodeCommandLooks *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->known);
	g_hash_table_unref(self->hashes);
	g_string_free(self->words, TRUE);
	g_free(self);
}

/* The bytes of a file of the process, as many as have room before a NUL. */
static size_t read_file(pid_t pid, const char *name, char bytes[MOST_BYTES])
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = descriptor >= 0 ? read(descriptor, bytes, MOST_BYTES - 1) : -1;
	if (descriptor >= 0)
		close(descriptor);
	bytes[MAX(n, 0)] = '\0';
	return (size_t)MAX(n, 0);
}

/* Valid UTF-8; empty: not known. */
static char *read_link(pid_t pid, const char *name)
{
	char path[PATH_BYTES], target[LODE_COMMAND_MAX_TEXT];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	/* What does not fit is not told from others that begin with it. */
	return g_utf8_make_valid(target, n < (ssize_t)sizeof(target) - 1 ? MAX(n, 0) : 0);
}

static guint hash_of(const char *bytes, size_t n)
{
	guint hash = 5381;

	for (size_t i = 0; i < n; i++)
		hash = hash * 33 + (guchar)bytes[i];
	return hash;
}

/* The same for the same variables in any order, as a shell puts them anew; `_` is only the shell's
 * last word. */
static guint hash_of_variables(const char *bytes, size_t n)
{
	guint sum = 0;

	for (const char *at = bytes; at < bytes + n; at += strlen(at) + 1)
		sum += g_str_has_prefix(at, "_=") ? 0 : hash_of(at, strlen(at));
	return sum;
}

/* Characters that a terminal would act upon are told by their numbers. */
static char *harmless_word(const char *word)
{
	g_autofree char *valid = g_utf8_make_valid(word, -1);
	GString *text = g_string_new(NULL);

	for (const char *at = valid; *at != '\0'; at = g_utf8_next_char(at)) {
		gunichar c = g_utf8_get_char(at);
		if (g_unichar_iscntrl(c))
			g_string_append_printf(text, "\\x%02x", (unsigned)c);
		else
			g_string_append_unichar(text, c);
	}
	return g_string_free(text, FALSE);
}

/* The arguments, each of which ends with a NUL, as a shell reads them; whether all have room. */
static bool join_words(GString *out, const char *bytes, size_t n)
{
	g_string_truncate(out, 0);
	for (const char *at = bytes; at < bytes + n && out->len < LODE_COMMAND_MAX_TEXT;
		at += strlen(at) + 1) {
		g_autofree char *word = harmless_word(at);
		lode_command_words_append(out, word);
	}
	return out->len < LODE_COMMAND_MAX_TEXT && n < MOST_BYTES - 1;
}

static void write_record(
	LodeCommandLooks *self, pid_t pid, const char *arguments, size_t n, GByteArray *records)
{
	char bytes[MOST_BYTES];
	g_autofree char *directory = read_link(pid, "cwd"), *input = read_link(pid, "fd/0"),
			*output = read_link(pid, "fd/1");
	size_t n_environment = read_file(pid, "environ", bytes);
	guint environment = hash_of_variables(bytes, n_environment);
	LodeCommandLook look = {.environment = n_environment > 0 ? MAX(environment, 1) : 0,
		.directory = directory,
		.input = input,
		.output = output};

	look.flags = join_words(self->words, arguments, n) ? 0 : LODE_COMMAND_IS_CUT;
	look.command = self->words->str;
	guint begin = lode_look_record_begin(records,
		&(LodeLookRecord){
			.id = LODE_SCRIPT_ID, .time_ns = lode_now_ns(), .pid = pid, .tid = pid});
	lode_command_look_append(&look, records);
	lode_look_record_end_raw(records, begin);
	lode_look_record_end(records, begin);
}

static bool is_known(const LodeCommandLooks *self, pid_t pid)
{
	return g_hash_table_contains(self->known, GINT_TO_POINTER(pid));
}

/* `parent`: 0: not known. A process that has its parent's arguments may not have executed its own
 * program yet. */
static bool take(LodeCommandLooks *self, pid_t pid, pid_t parent, GByteArray *records)
{
	Known *known = g_hash_table_lookup(self->known, GINT_TO_POINTER(pid));
	const Known *of_parent = g_hash_table_lookup(self->known, GINT_TO_POINTER(parent));
	char bytes[MOST_BYTES];
	size_t n = read_file(pid, "cmdline", bytes);
	guint hash = hash_of(bytes, n);
	bool is_copy = known == NULL && (of_parent != NULL ? of_parent->hash == hash
							   : g_hash_table_contains(self->hashes,
								     GUINT_TO_POINTER(hash)));

	if (n == 0 || is_copy)
		return false;
	if (known == NULL) {
		known = g_new0(Known, 1);
		g_hash_table_insert(self->known, GINT_TO_POINTER(pid), known);
	} else if (known->hash == hash) {
		known->reads++;
		return false;
	}
	g_hash_table_add(self->hashes, GUINT_TO_POINTER(hash));
	*known = (Known){hash, known->reads + 1, self->listed + 1};
	write_record(self, pid, bytes, n, records);
	return true;
}

typedef struct {
	pid_t pid;
	pid_t copied; /* what it, or what it is a copy of, has executed */
} Started;

static void list_started(GArray *list, pid_t pid, pid_t tid, pid_t copied)
{
	g_autoptr(GArray) children = g_array_new(FALSE, FALSE, sizeof(pid_t));

	lode_list_children(pid, tid, children);
	for (guint i = 0; i < children->len && list->len < MOST_STARTED; i++) {
		const Started one = {g_array_index(children, pid_t, i), copied};
		g_array_append_val(list, one);
	}
}

bool lode_command_looks_take_children(
	LodeCommandLooks *self, pid_t pid, pid_t tid, GByteArray *records)
{
	g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(Started));
	bool is_new = false;

	if (!is_known(self, pid))
		take(self, pid, 0, records);
	list_started(list, pid, tid, pid);
	for (guint i = 0; i < list->len; i++) {
		const Started one = g_array_index(list, Started, i);
		if (is_known(self, one.pid))
			continue;
		is_new |= take(self, one.pid, one.copied, records);
		list_started(
			list, one.pid, one.pid, is_known(self, one.pid) ? one.pid : one.copied);
	}
	return is_new;
}

void lode_command_looks_take(
	LodeCommandLooks *self, pid_t pid, unsigned listed, GByteArray *records)
{
	Known *known = g_hash_table_lookup(self->known, GINT_TO_POINTER(pid));

	self->listed = listed;
	if (known == NULL || known->reads < MOST_READS)
		take(self, pid, 0, records);
	known = g_hash_table_lookup(self->known, GINT_TO_POINTER(pid));
	if (known != NULL)
		known->listed = listed;
}

void lode_command_looks_forget(LodeCommandLooks *self, unsigned listed)
{
	GHashTableIter at;
	void *value;

	g_hash_table_remove_all(self->hashes);
	g_hash_table_iter_init(&at, self->known);
	while (g_hash_table_iter_next(&at, NULL, &value)) {
		const Known *known = value;
		if (known->listed < listed)
			g_hash_table_iter_remove(&at);
		else
			g_hash_table_add(self->hashes, GUINT_TO_POINTER(known->hash));
	}
}
