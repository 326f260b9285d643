/* SPDX-License-Identifier: MIT */
/*
 * A mapping says a path and an offset in the file; a profile wants the virtual address that the
 * file's own program headers give this offset. Anonymous memory is code that was made at run time,
 * which only a jitdump or a perf map explains: these are looked for where JITs leave them.
 */
#include "ingest/sampled/sampled_files.h"

#include "sources/load_map_segments.h"

#include <string.h>
#include <unistd.h>

typedef enum {
	FILE_IMAGE,
	FILE_ANONYMOUS,
	FILE_SPECIAL,
} FileKind;

typedef struct {
	char *path;
	char *build_id; /* hex; NULL: unknown */
	FileKind kind;
	bool is_opened;
	GArray *segments; /* LodeLoadMapSegment; NULL: the file cannot be read */
	uint32_t object;  /* LODE_NONE until something lies in it */
} File;

static void file_clear(void *data)
{
	File *self = data;

	g_free(self->path);
	g_free(self->build_id);
	g_clear_pointer(&self->segments, g_array_unref);
}

void lode_sampled_files_init(LodeSampledFiles *self, LodeRecording *recording, LodeJitCodeSet *jit)
{
	*self = (LodeSampledFiles){.recording = recording, .jit = jit};
	self->files = g_array_new(FALSE, FALSE, sizeof(File));
	g_array_set_clear_func(self->files, file_clear);
	self->file_ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	self->object_ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	self->perf_map_pids = g_hash_table_new(NULL, NULL);
}

void lode_sampled_files_clear(LodeSampledFiles *self)
{
	g_clear_pointer(&self->files, g_array_unref);
	g_clear_pointer(&self->file_ids, g_hash_table_unref);
	g_clear_pointer(&self->object_ids, g_hash_table_unref);
	g_clear_pointer(&self->perf_map_pids, g_hash_table_unref);
}

/* Memory that is of no file on a disk, where code can be made. */
static bool is_anonymous(const char *path)
{
	static const char *const starts[] = {"//anon", "/dev/zero", "/anon_hugepage", "/SYSV",
		"[heap]", "[stack", "[anon", "/memfd:", "anon_inode:", "/dev/shm/", "???"};

	for (size_t i = 0; i < G_N_ELEMENTS(starts); i++)
		if (g_str_has_prefix(path, starts[i]))
			return true;
	return path[0] == '\0';
}

static FileKind kind_of(const char *path)
{
	if (is_anonymous(path))
		return FILE_ANONYMOUS;
	return path[0] == '[' ? FILE_SPECIAL : FILE_IMAGE;
}

static char *hex_text(const uint8_t *bytes, size_t n)
{
	GString *text = g_string_sized_new(2 * n);

	for (size_t i = 0; i < n; i++)
		g_string_append_printf(text, "%02x", bytes[i]);
	return g_string_free(text, FALSE);
}

static char *key_of(const char *path, const char *build_id)
{
	return g_strconcat(path, "\n", build_id, NULL);
}

/* The error stays silent: what the dump would have explained is counted as unknown code. */
static void add_jit_file(LodeSampledFiles *self, const char *path)
{
	if (access(path, R_OK) == 0 && lode_jit_code_set_is_file(path))
		lode_jit_code_set_add(self->jit, path, NULL);
}

void lode_sampled_files_find_code(
	LodeSampledFiles *self, uint32_t pid, const LodePerfMapping *mapping)
{
	g_autofree char *name = g_path_get_basename(mapping->path);

	if (g_str_has_prefix(name, "jit-") && g_str_has_suffix(name, ".dump")) {
		add_jit_file(self, mapping->path);
		return;
	}
	if (kind_of(mapping->path) != FILE_ANONYMOUS ||
		!g_hash_table_add(self->perf_map_pids, GUINT_TO_POINTER(pid)))
		return;
	g_autofree char *map = g_strdup_printf("/tmp/perf-%" G_GUINT32_FORMAT ".map", pid);
	if (!lode_jit_code_set_has_pid(self->jit, pid))
		add_jit_file(self, map);
}

uint32_t lode_sampled_files_add(
	LodeSampledFiles *self, uint32_t pid, const LodePerfMapping *mapping)
{
	g_autofree char *build_id = mapping->build_id != NULL
	                                    ? hex_text(mapping->build_id, mapping->build_id_size)
	                                    : NULL;
	char *key = key_of(mapping->path, build_id);
	void *found = g_hash_table_lookup(self->file_ids, key);
	uint32_t id = found != NULL ? GPOINTER_TO_UINT(found) - 1 : self->files->len;

	if (found == NULL) {
		const File file = {
			.path = g_strdup(mapping->path),
			.build_id = g_steal_pointer(&build_id),
			.kind = kind_of(mapping->path),
			.object = LODE_NONE,
		};
		g_array_append_val(self->files, file);
		g_hash_table_insert(
			self->file_ids, g_steal_pointer(&key), GUINT_TO_POINTER(self->files->len));
	}
	if (!self->is_live)
		lode_sampled_files_find_code(self, pid, mapping);
	g_free(key);
	return id;
}

void lode_sampled_files_set_build_ids(LodeSampledFiles *self, const LodePerfInfo *info)
{
	g_autoptr(GHashTable) by_path = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < info->build_ids->len; i++) {
		const LodePerfBuildId *row = &g_array_index(info->build_ids, LodePerfBuildId, i);
		g_hash_table_insert(by_path, (char *)row->path, (char *)row->build_id);
	}
	for (guint i = self->first_of_recording; i < self->files->len; i++) {
		File *file = &g_array_index(self->files, File, i);
		if (file->build_id == NULL)
			file->build_id = g_strdup(g_hash_table_lookup(by_path, file->path));
	}
	/* The next recording may have another file under the same path. */
	self->first_of_recording = self->files->len;
	g_hash_table_remove_all(self->file_ids);
}

static uint32_t add_object(
	LodeSampledFiles *self, const char *path, const char *build_id, bool is_jit)
{
	LodeRecording *recording = self->recording;
	g_autofree char *key = key_of(path, build_id);
	void *found = g_hash_table_lookup(self->object_ids, key);
	LodeRecordedObject object = {.is_jit = is_jit};

	if (found != NULL)
		return GPOINTER_TO_UINT(found) - 1;
	object.path = g_string_chunk_insert(recording->strings, path);
	if (build_id != NULL)
		object.build_id = g_string_chunk_insert(recording->strings, build_id);
	g_array_append_val(recording->objects, object);
	g_hash_table_insert(
		self->object_ids, g_steal_pointer(&key), GUINT_TO_POINTER(recording->objects->len));
	return recording->objects->len - 1;
}

/* File offset → virtual address. Of a file that is not here, the offset must do. */
static uint64_t virtual_address(File *file, uint64_t offset)
{
	if (!file->is_opened)
		file->segments = lode_load_map_segments_read(file->path, NULL);
	file->is_opened = true;
	for (guint i = 0; file->segments != NULL && i < file->segments->len; i++) {
		const LodeLoadMapSegment *segment = &g_array_index(
			file->segments, LodeLoadMapSegment, i);
		if (offset - segment->offset < segment->file_size_bytes)
			return segment->address + (offset - segment->offset);
	}
	return offset;
}

static bool find_jit_code(LodeSampledFiles *self, uint32_t pid, uint64_t time_ns, uint64_t address,
	LodeSampledPlace *out_place)
{
	LodeJitPlace place;

	if (!lode_jit_code_set_find(self->jit, pid, address, time_ns, &place))
		return false;
	*out_place = (LodeSampledPlace){add_object(self, place.path, NULL, true), place.address};
	return true;
}

LodeSampledOutcome lode_sampled_files_place(LodeSampledFiles *self, const LodeMappedRange *range,
	uint32_t pid, uint64_t time_ns, uint64_t address, LodeSampledPlace *out_place)
{
	File *file = range != NULL ? &g_array_index(self->files, File, range->file) : NULL;

	if (file == NULL || file->kind == FILE_ANONYMOUS) {
		if (find_jit_code(self, pid, time_ns, address, out_place))
			return LODE_SAMPLED_RESOLVED;
		return file == NULL ? LODE_SAMPLED_UNMAPPED : LODE_SAMPLED_JIT_UNKNOWN;
	}
	if (file->kind == FILE_SPECIAL)
		return LODE_SAMPLED_SPECIAL;
	if (file->object == LODE_NONE)
		file->object = add_object(self, file->path, file->build_id, false);
	*out_place = (LodeSampledPlace){
		file->object, virtual_address(file, address - range->start + range->offset)};
	return LODE_SAMPLED_RESOLVED;
}

const char *lode_sampled_outcome_reason(LodeSampledOutcome outcome)
{
	static const char *const reasons[LODE_SAMPLED_N_OUTCOMES] = {
		[LODE_SAMPLED_RESOLVED] = "",
		[LODE_SAMPLED_KERNEL] = "sample in the kernel outside its functions",
		[LODE_SAMPLED_HYPERVISOR] = "sample in the hypervisor",
		[LODE_SAMPLED_GUEST] = "sample in a guest",
		[LODE_SAMPLED_UNMAPPED] = "sample outside any mapping",
		[LODE_SAMPLED_JIT_UNKNOWN] =
			"sample in code made at run time that no jitdump or perf map knows",
		[LODE_SAMPLED_SPECIAL] = "sample in the kernel's pages of a process",
	};

	return reasons[outcome];
}
