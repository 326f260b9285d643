/* SPDX-License-Identifier: MIT */
/*
 * Dumps are asked before maps: they hold the code, and know what lay at an address at which time.
 */
#include "sources/jit_code_set.h"

#include "base/error.h"
#include "sources/jitdump.h"
#include "sources/perf_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One file: a dump or a map, the other is NULL. */
typedef struct {
	char *path, *real_path;
	LodeJitdump *dump;
	LodePerfMap *map;
	uint32_t pids[2]; /* of the header and of the name; a container has its own numbers */
} CodeFile;

struct LodeJitCodeSet {
	GPtrArray *files; /* CodeFile, as added */
};

static void file_free(void *data)
{
	CodeFile *self = data;

	lode_jitdump_close(self->dump);
	lode_perf_map_free(self->map);
	g_free(self->path);
	free(self->real_path);
	g_free(self);
}

LodeJitCodeSet *lode_jit_code_set_new(void)
{
	LodeJitCodeSet *self = g_new0(LodeJitCodeSet, 1);

	self->files = g_ptr_array_new_with_free_func(file_free);
	return self;
}

void lode_jit_code_set_free(LodeJitCodeSet *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->files);
	g_free(self);
}

bool lode_jit_code_set_is_file(const char *path)
{
	char head[4];
	FILE *file;
	size_t n;

	/* A named pipe would hold us up. */
	if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
		return false;
	if (lode_perf_map_is_name(path))
		return true;
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	n = fread(head, 1, sizeof head, file);
	fclose(file);
	return lode_jitdump_is_format(head, n);
}

/* The number in jit-NUMBER.dump; 0: it has another name. */
static uint32_t pid_in_name(const char *path)
{
	g_autofree char *name = g_path_get_basename(path);
	unsigned pid;
	int length = 0;

	if (sscanf(name, "jit-%9u.dump%n", &pid, &length) != 1 || length == 0 ||
		name[length] != '\0')
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

static bool is_of(const CodeFile *self, uint32_t pid)
{
	return self->pids[0] == pid || self->pids[1] == pid;
}

bool lode_jit_code_set_has_pid(const LodeJitCodeSet *self, uint32_t pid)
{
	for (guint i = 0; i < self->files->len; i++)
		if (is_of(g_ptr_array_index(self->files, i), pid))
			return true;
	return false;
}

static bool find_in_dump(
	const CodeFile *file, uint64_t address, uint64_t time_ns, LodeJitPlace *out_place)
{
	const LodeJitPlacement *placement;

	/* Times of the processor's counter cannot be compared with anyone else's. */
	if (file->dump->is_arch_clock)
		time_ns = UINT64_MAX;
	placement = lode_jitdump_find(file->dump, address, time_ns);
	if (placement == NULL)
		placement = lode_jitdump_find_next(file->dump, address, time_ns);
	if (placement == NULL)
		return false;
	*out_place = (LodeJitPlace){
		file->path, lode_jitdump_image_address(file->dump, placement, address)};
	return true;
}

bool lode_jit_code_set_find(const LodeJitCodeSet *self, uint32_t pid, uint64_t address,
	uint64_t time_ns, LodeJitPlace *out_place)
{
	for (guint i = 0; i < self->files->len; i++) {
		const CodeFile *file = g_ptr_array_index(self->files, i);

		if (file->dump != NULL && is_of(file, pid) &&
			find_in_dump(file, address, time_ns, out_place))
			return true;
	}
	for (guint i = 0; i < self->files->len; i++) {
		const CodeFile *file = g_ptr_array_index(self->files, i);

		if (file->map == NULL || !is_of(file, pid) ||
			lode_perf_map_find(file->map, address) == NULL)
			continue;
		*out_place = (LodeJitPlace){file->path, address};
		return true;
	}
	return false;
}
