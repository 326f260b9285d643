/* SPDX-License-Identifier: MIT */
/*
 * Dumps are searched before maps: they have the code, and the times at which it was at an address.
 */
#include "sources/code/jit_code_set.h"

#include "base/files/input_file.h"
#include "sources/code/jitdump.h"
#include "sources/code/perf_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* One file: a dump or a map, the other is NULL. */
typedef struct {
	char *path, *real_path;
	LodeJitdump *dump;
	LodePerfMap *map;
	uint32_t pids[2];   /* of the header and of the name; a container has its own numbers */
	GHashTable *owners; /* processes that have it mapped, as a set of their ids */
	bool is_used;       /* a process of a recording has it */
} CodeFile;

typedef struct {
	char *path;
	uint64_t device, inode;
	uint32_t pid;
} Mapping;

struct LodeJitCodeSet {
	GPtrArray *files; /* CodeFile, as added */
	GArray *mappings; /* Mapping, not settled */
};

static void file_free(void *data)
{
	CodeFile *self = data;

	lode_jitdump_close(self->dump);
	lode_perf_map_free(self->map);
	g_hash_table_unref(self->owners);
	g_free(self->path);
	free(self->real_path);
	g_free(self);
}

static void mapping_clear(void *data)
{
	g_free(((Mapping *)data)->path);
}

LodeJitCodeSet *lode_jit_code_set_new(void)
{
	LodeJitCodeSet *self = g_new0(LodeJitCodeSet, 1);

	self->files = g_ptr_array_new_with_free_func(file_free);
	self->mappings = g_array_new(FALSE, FALSE, sizeof(Mapping));
	g_array_set_clear_func(self->mappings, mapping_clear);
	return self;
}

void lode_jit_code_set_free(LodeJitCodeSet *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->files);
	g_array_unref(self->mappings);
	g_free(self);
}

bool lode_jit_code_set_is_file(const char *path)
{
	char head[4];
	size_t n;

	/* A named pipe would hold us up. */
	if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
		return false;
	if (lode_perf_map_is_name(path))
		return true;
	return lode_input_file_read_start(path, head, sizeof(head), &n, NULL) &&
	       lode_jitdump_is_format(head, n);
}

/* The number in jit-NUMBER.dump; 0: it has another name. */
static uint32_t pid_in_name(const char *path)
{
	g_autofree char *name = g_path_get_basename(path);
	unsigned pid;
	int length = 0;

	/* A compressor may have added to it. */
	if (sscanf(name, "jit-%9u.dump%n", &pid, &length) != 1 || length == 0 ||
		(name[length] != '\0' && name[length] != '.'))
		return 0;
	return pid;
}

static bool open_file(CodeFile *self, GError **error)
{
	if (lode_perf_map_is_name(self->path)) {
		self->map = lode_perf_map_read(self->path, error);
		if (self->map != NULL)
			self->pids[0] = self->pids[1] = self->map->pid;
		return self->map != NULL;
	}
	self->dump = lode_jitdump_open(self->path, error);
	if (self->dump == NULL)
		return false;
	self->pids[0] = self->dump->pid;
	self->pids[1] = pid_in_name(self->path);
	if (self->pids[1] == 0)
		self->pids[1] = self->pids[0];
	return true;
}

static bool has_file(const LodeJitCodeSet *self, const char *real_path)
{
	for (guint i = 0; i < self->files->len; i++) {
		const CodeFile *file = g_ptr_array_index(self->files, i);

		if (g_strcmp0(file->real_path, real_path) == 0)
			return true;
	}
	return false;
}

bool lode_jit_code_set_add(LodeJitCodeSet *self, const char *path, GError **error)
{
	CodeFile *file = g_new0(CodeFile, 1);
	bool is_known, is_read;

	file->path = g_strdup(path);
	file->owners = g_hash_table_new(NULL, NULL);
	file->real_path = realpath(path, NULL);
	is_known = file->real_path != NULL && has_file(self, file->real_path);
	is_read = !is_known && open_file(file, error);
	if (is_read)
		g_ptr_array_add(self->files, file);
	else
		file_free(file);
	return is_known || is_read;
}

unsigned lode_jit_code_set_n_files(const LodeJitCodeSet *self)
{
	return self->files->len;
}

/* A dump that a process has mapped is its own; the process numbers in others may be those of a
 * namespace. */
static bool is_of(const CodeFile *self, uint32_t pid)
{
	if (g_hash_table_size(self->owners) > 0)
		return g_hash_table_contains(self->owners, GUINT_TO_POINTER(pid));
	return self->pids[0] == pid || self->pids[1] == pid;
}

bool lode_jit_code_set_has_pid(const LodeJitCodeSet *self, uint32_t pid)
{
	for (guint i = 0; i < self->files->len; i++)
		if (is_of(g_ptr_array_index(self->files, i), pid))
			return true;
	return false;
}

void lode_jit_code_set_note_mapping(
	LodeJitCodeSet *self, uint32_t pid, const char *path, uint64_t device, uint64_t inode)
{
	const Mapping mapping = {g_strdup(path), device, inode, pid};

	g_array_append_val(self->mappings, mapping);
}

/* The first mapping of each name, or NULL if mappings of it are of several files. */
static GHashTable *find_names(const LodeJitCodeSet *self)
{
	GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (guint i = 0; i < self->mappings->len; i++) {
		Mapping *mapping = &g_array_index(self->mappings, Mapping, i);
		char *name = g_path_get_basename(mapping->path);
		void *first = NULL;
		bool is_new = !g_hash_table_lookup_extended(names, name, NULL, &first);
		const Mapping *known = first;
		bool is_other = known != NULL && (known->inode != mapping->inode ||
							 known->device != mapping->device ||
							 strcmp(known->path, mapping->path) != 0);
		if (is_new || is_other)
			g_hash_table_replace(names, name, is_new ? mapping : NULL);
		else
			g_free(name);
	}
	return names;
}

static bool is_mapped_file(const CodeFile *file, const Mapping *mapping, const char *real_path)
{
	struct stat status;

	if (mapping->inode != 0 && stat(file->path, &status) == 0 &&
		status.st_dev == mapping->device)
		return status.st_ino == mapping->inode;
	return file->real_path != NULL && g_strcmp0(file->real_path, real_path) == 0;
}

/* By inode or path, else by the name alone, if only one dump and one mapped file have it. */
static CodeFile *find_mapped(const LodeJitCodeSet *self, const Mapping *mapping, GHashTable *names)
{
	g_autofree char *name = g_path_get_basename(mapping->path);
	char *real_path = realpath(mapping->path, NULL);
	CodeFile *named = NULL, *found = NULL;
	unsigned n_named = 0;

	for (guint i = 0; i < self->files->len && found == NULL; i++) {
		CodeFile *file = g_ptr_array_index(self->files, i);
		g_autofree char *own_name = g_path_get_basename(file->path);
		if (file->dump == NULL)
			continue;
		if (is_mapped_file(file, mapping, real_path))
			found = file;
		if (strcmp(own_name, name) == 0) {
			named = file;
			n_named++;
		}
	}
	free(real_path);
	if (found == NULL && n_named == 1 && g_hash_table_lookup(names, name) != NULL)
		found = named;
	return found;
}

void lode_jit_code_set_settle(LodeJitCodeSet *self)
{
	g_autoptr(GHashTable) names = find_names(self);

	for (guint i = 0; i < self->mappings->len; i++) {
		const Mapping *mapping = &g_array_index(self->mappings, Mapping, i);
		CodeFile *file = find_mapped(self, mapping, names);
		if (file == NULL)
			continue;
		file->is_used = true;
		g_hash_table_add(file->owners, GUINT_TO_POINTER(mapping->pid));
	}
	g_array_set_size(self->mappings, 0);
}

void lode_jit_code_set_mark_used(LodeJitCodeSet *self, uint32_t pid)
{
	for (guint i = 0; i < self->files->len; i++) {
		CodeFile *file = g_ptr_array_index(self->files, i);
		file->is_used |= is_of(file, pid);
	}
}

const char *lode_jit_code_set_find_unused(const LodeJitCodeSet *self, uint32_t *out_pid)
{
	for (guint i = 0; i < self->files->len; i++) {
		const CodeFile *file = g_ptr_array_index(self->files, i);
		if (file->is_used)
			continue;
		*out_pid = file->pids[0];
		return file->path;
	}
	return NULL;
}

static LodeJitOutcome find_in_dump(
	const CodeFile *file, uint64_t address, uint64_t time_ns, LodeJitPlace *out_place)
{
	const LodeJitPlacement *placement, *first;
	bool is_unknown = time_ns == LODE_JIT_TIME_UNKNOWN || file->dump->is_arch_clock;

	/* Times of the processor's counter cannot be compared with anyone else's. */
	if (is_unknown)
		time_ns = LODE_JIT_TIME_LAST;
	placement = lode_jitdump_find(file->dump, address, time_ns);
	if (placement == NULL)
		placement = lode_jitdump_find_next(file->dump, address, time_ns);
	if (placement == NULL)
		return LODE_JIT_NONE;
	first = is_unknown ? lode_jitdump_find_next(file->dump, address, 0) : NULL;
	if (first != NULL && first->unit != placement->unit)
		return LODE_JIT_AMBIGUOUS;
	out_place->path = file->path;
	out_place->address = lode_jitdump_image_address(file->dump, placement, address);
	return LODE_JIT_FOUND;
}

LodeJitOutcome lode_jit_code_set_find(const LodeJitCodeSet *self, uint32_t pid, uint64_t address,
	uint64_t time_ns, LodeJitPlace *out_place)
{
	LodeJitOutcome in_dumps = LODE_JIT_NONE;
	LodeJitPlace place;

	for (guint i = 0; i < self->files->len; i++) {
		const CodeFile *file = g_ptr_array_index(self->files, i);
		LodeJitOutcome outcome = file->dump != NULL && is_of(file, pid)
		                                 ? find_in_dump(file, address, time_ns, &place)
		                                 : LODE_JIT_NONE;
		if (outcome == LODE_JIT_NONE)
			continue;
		/* In two recordings, of containers, two processes may have one number. */
		if (in_dumps != LODE_JIT_NONE)
			return LODE_JIT_AMBIGUOUS;
		in_dumps = outcome;
		place.file = i;
	}
	if (in_dumps == LODE_JIT_FOUND)
		*out_place = place;
	if (in_dumps != LODE_JIT_NONE)
		return in_dumps;
	for (guint i = 0; i < self->files->len; i++) {
		const CodeFile *file = g_ptr_array_index(self->files, i);

		if (file->map == NULL || !is_of(file, pid) ||
			lode_perf_map_find(file->map, address) == NULL)
			continue;
		*out_place = (LodeJitPlace){file->path, address, i};
		return LODE_JIT_FOUND;
	}
	return LODE_JIT_NONE;
}
