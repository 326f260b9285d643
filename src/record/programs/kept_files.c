/* SPDX-License-Identifier: MIT */
#include "record/programs/kept_files.h"

#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "base/files/write_at.h"
#include "images/elf/vdso_image.h"
#include "record/programs/packed_frames.h"
#include "sources/perf_data/perf_data_format.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	MAX_FILES = 1 << 16,
	MAX_HELD = 256, /* and no more than a part of what may be open: */
	PART_OF_LIMIT = 4,
	MAX_TRIES = 64, /* to find a file, by as many processes that map it */
};

#define VDSO "[vdso]"

/* The images that 32-bit processes get lie below, and are others. */
#define LOWEST_VDSO (UINT64_C(1) << 32)

struct LodeKeptFiles {
	GHashTable *known; /* LodeKeptFile, as a set */
	GPtrArray *list;   /* the same */
	unsigned n_held, max_held, n_too_large;
	const char *too_large; /* the path of one; borrowed from the list */
	bool is_full;          /* nothing held can be let go */
	pid_t guide; /* the last process that led to a file that is not at its path; 0: none */
};

/* --- which files there are --- */

static guint hash_file(const void *file)
{
	const LodeMappedFile *mapped = &((const LodeKeptFile *)file)->mapped;

	return g_str_hash(mapped->path) ^ (guint)mapped->inode ^ (guint)mapped->generation;
}

LODE_ORDER(compare_files, LodeKeptFile, strcmp(left->mapped.path, right->mapped.path),
	LODE_ASCENDING(mapped.device_major), LODE_ASCENDING(mapped.device_minor),
	LODE_ASCENDING(mapped.inode), LODE_ASCENDING(mapped.generation))

static gboolean are_same(const void *a, const void *b)
{
	return compare_files(a, b) == 0;
}

static void close_file(LodeKeptFiles *self, LodeKeptFile *file)
{
	if (file->descriptor < 0)
		return;
	close(file->descriptor);
	file->descriptor = -1;
	self->n_held--;
}

static void free_file(void *data)
{
	LodeKeptFile *file = data;

	if (file->descriptor >= 0)
		close(file->descriptor);
	g_free((char *)file->mapped.path);
	g_free(file);
}

LodeKeptFiles *lode_kept_files_new(void)
{
	LodeKeptFiles *self = g_new0(LodeKeptFiles, 1);
	struct rlimit limit = {0};

	elf_version(EV_CURRENT);
	getrlimit(RLIMIT_NOFILE, &limit);
	self->known = g_hash_table_new_full(hash_file, are_same, free_file, NULL);
	self->list = g_ptr_array_new();
	self->max_held = (unsigned)MIN(limit.rlim_cur / PART_OF_LIMIT, MAX_HELD);
	return self;
}

void lode_kept_files_free(LodeKeptFiles *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->list);
	g_hash_table_unref(self->known);
	g_free(self);
}

/* Makes room for what lies nowhere else. */
static bool can_hold_more(LodeKeptFiles *self)
{
	if (self->n_held < self->max_held)
		return true;
	for (guint i = 0; i < self->list->len && !self->is_full; i++) {
		LodeKeptFile *file = self->list->pdata[i];
		if (file->descriptor >= 0 &&
			lode_mapped_file_is_at(&file->status, file->mapped.path))
			close_file(self, file);
	}
	self->is_full = self->n_held >= self->max_held;
	return !self->is_full;
}

static void set_build_id(LodeKeptFile *file, Elf *elf)
{
	const void *bytes;
	ssize_t size = elf != NULL ? dwelf_elf_gnu_build_id(elf, &bytes) : -1;

	if (size > 0) {
		file->build_id_size = MIN((size_t)size, sizeof(file->build_id));
		memcpy(file->build_id, bytes, file->build_id_size);
	}
}

static bool is_jitdump_name(const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	return g_str_has_prefix(name, "jit-") && strstr(name, ".dump") != NULL;
}

/* A process that has ended leads nowhere, but one that runs on may see the same files. */
static int open_file(LodeKeptFiles *self, const LodeMappedFile *mapped)
{
	int descriptor = lode_mapped_file_open(mapped, NULL);
	LodeMappedFile guided = *mapped;
	struct stat status;

	if (descriptor >= 0) {
		if (fstat(descriptor, &status) == 0 &&
			!lode_mapped_file_is_at(&status, mapped->path))
			self->guide = mapped->pid;
		return descriptor;
	}
	/* its mapping at these addresses may be of a different file */
	guided.start = guided.end = 0;
	guided.pid = self->guide;
	return self->guide != 0 ? lode_mapped_file_open(&guided, NULL) : -1;
}

static void find(LodeKeptFiles *self, LodeKeptFile *file, const LodeMappedFile *mapped)
{
	int descriptor;

	if (file->is_found || file->n_tries >= MAX_TRIES)
		return;
	file->n_tries++;
	descriptor = open_file(self, mapped);
	if (descriptor < 0 || fstat(descriptor, &file->status) != 0) {
		if (descriptor >= 0)
			close(descriptor);
		return;
	}
	file->is_found = true;
	/* It is read, not mapped: who writes to it meanwhile would end us (SIGBUS). */
	Elf *elf = elf_begin(descriptor, ELF_C_READ, NULL);
	bool is_binary = elf != NULL && elf_kind(elf) == ELF_K_ELF;
	if (is_binary)
		set_build_id(file, elf);
	elf_end(elf);
	if ((is_binary || is_jitdump_name(file->mapped.path)) && can_hold_more(self)) {
		file->descriptor = descriptor;
		self->n_held++;
	} else {
		close(descriptor);
	}
}

static void find_vdso(LodeKeptFile *file)
{
	size_t size = 0;
	const uint8_t *bytes = lode_vdso_image_bytes(&size);
	Elf *elf = bytes != NULL ? elf_memory((char *)bytes, size) : NULL;

	file->is_found = true;
	file->status.st_size = (off_t)size;
	set_build_id(file, elf);
	elf_end(elf);
}

/* "//anon", "[heap]" and the like are the kernel's names for what does not come from a file. */
static bool is_of_file(const LodeMappedFile *mapped)
{
	return mapped->path[0] == '/' && mapped->path[1] != '/' && mapped->inode != 0;
}

static bool is_vdso(const LodeMappedFile *mapped)
{
	return strcmp(mapped->path, VDSO) == 0 && mapped->start >= LOWEST_VDSO;
}

void lode_kept_files_add(LodeKeptFiles *self, const LodeMappedFile *mapped)
{
	const LodeKeptFile wanted = {.mapped = *mapped};
	LodeKeptFile *file = g_hash_table_lookup(self->known, &wanted);

	if (!is_of_file(mapped) && !is_vdso(mapped))
		return;
	if (file == NULL && self->list->len < MAX_FILES) {
		file = g_new0(LodeKeptFile, 1);
		file->mapped = *mapped;
		file->mapped.path = g_strdup(mapped->path);
		file->descriptor = -1;
		g_hash_table_add(self->known, file);
		g_ptr_array_add(self->list, file);
		if (is_vdso(mapped))
			find_vdso(file);
	}
	if (file != NULL)
		find(self, file, mapped);
}

LODE_ORDER_OF_POINTERS(compare_pointers, LodeKeptFile, compare_files(left, right))

const GPtrArray *lode_kept_files_list(LodeKeptFiles *self)
{
	g_ptr_array_sort(self->list, compare_pointers);
	return self->list;
}

guint lode_kept_files_count(const LodeKeptFiles *self)
{
	return self->list->len;
}

/* --- the section --- */

/* The written data of one file. */
typedef struct {
	const LodeKeptFile *file;
	uint64_t size, offset, n_bytes; /* of the file; of its content, in the section */
} Entry;

typedef struct {
	LodePackedFrames frames;
	uint64_t start; /* of the section, in the file */
	uint64_t left;  /* bytes that may still be kept */
	LodeKeptFiles *files;
} Section;

/* As much as can be read, or the vDSO; how much that is, is what counts: a file may change. */
static bool copy_content(Section *self, Entry *entry)
{
	LodePackedFrames *frames = &self->frames;
	uint64_t start = frames->end;
	const uint8_t *vdso = NULL;
	size_t vdso_size = 0;
	ssize_t n = 1;

	if (entry->file->descriptor < 0)
		vdso = lode_vdso_image_bytes(&vdso_size);
	for (entry->size = 0; n > 0; entry->size += (uint64_t)n) {
		uint64_t most = MIN(LODE_PERF_FILES_MAX_BYTES_EACH, self->left) - entry->size;
		size_t size = (size_t)MIN(most, LODE_PACKED_BLOCK_BYTES);
		if (vdso != NULL) {
			n = (ssize_t)MIN(vdso_size - entry->size, size);
			memcpy(frames->input, vdso + entry->size, (size_t)n);
		} else {
			n = pread(entry->file->descriptor, frames->input, size, (off_t)entry->size);
			n = MAX(n, 0);
		}
		if (!lode_packed_frames_add(frames, (size_t)n, n == 0))
			return false;
	}
	self->left -= entry->size;
	entry->offset = start - self->start;
	entry->n_bytes = frames->end - start;
	return true;
}

static bool is_nowhere_else(const LodeKeptFile *file)
{
	return strcmp(file->mapped.path, VDSO) == 0 ||
	       (file->descriptor >= 0 && !lode_mapped_file_is_at(&file->status, file->mapped.path));
}

/* The entry of the same file whose content is there already; NULL: none. */
static const Entry *find_copy(const GArray *entries, const LodeKeptFile *file)
{
	for (guint i = 0; i < entries->len && file->descriptor >= 0; i++) {
		const Entry *entry = &g_array_index(entries, Entry, i);
		if (entry->n_bytes > 0 && entry->file->status.st_dev == file->status.st_dev &&
			entry->file->status.st_ino == file->status.st_ino)
			return entry;
	}
	return NULL;
}

static bool add_content(Section *self, const GArray *entries, Entry *entry)
{
	const Entry *copy = find_copy(entries, entry->file);

	if (copy != NULL) {
		entry->size = copy->size;
		entry->offset = copy->offset;
		entry->n_bytes = copy->n_bytes;
		return true;
	}
	if (entry->size == 0)
		return true;
	if (entry->size > MIN(LODE_PERF_FILES_MAX_BYTES_EACH, self->left)) {
		self->files->n_too_large++;
		self->files->too_large = entry->file->mapped.path;
		return true;
	}
	return copy_content(self, entry);
}

static size_t padded(size_t size)
{
	return (size + 7) / 8 * 8;
}

static size_t entry_bytes(const LodeKeptFile *file)
{
	return padded(
		LODE_PERF_FILES_ENTRY_BYTES + file->build_id_size + strlen(file->mapped.path) + 1);
}

static void put_u32(GByteArray *bytes, uint32_t value)
{
	g_byte_array_append(bytes, (const guint8 *)&value, sizeof(value));
}

static void put_u64(GByteArray *bytes, uint64_t value)
{
	g_byte_array_append(bytes, (const guint8 *)&value, sizeof(value));
}

static void put_entry(GByteArray *index, const Entry *entry)
{
	static const guint8 zeros[8];
	const LodeKeptFile *file = entry->file;
	guint start = index->len;
	size_t size = entry_bytes(file);

	put_u32(index, (uint32_t)size);
	put_u32(index, (uint32_t)file->build_id_size);
	put_u32(index, file->mapped.device_major);
	put_u32(index, file->mapped.device_minor);
	put_u64(index, file->mapped.inode);
	put_u64(index, file->mapped.generation);
	put_u64(index, entry->size);
	put_u64(index, entry->offset);
	put_u64(index, entry->n_bytes);
	put_u64(index, 0);
	g_byte_array_append(index, file->build_id, (guint)file->build_id_size);
	g_byte_array_append(
		index, (const guint8 *)file->mapped.path, (guint)strlen(file->mapped.path) + 1);
	g_byte_array_append(index, zeros, (guint)(start + size - index->len));
}

/* Contents first, as the entries say how large they have become. */
static bool write_section(Section *self)
{
	const GPtrArray *files = lode_kept_files_list(self->files);
	g_autoptr(GArray) entries = g_array_new(FALSE, TRUE, sizeof(Entry));
	g_autoptr(GByteArray) index = g_byte_array_new();
	uint64_t index_bytes = 0;

	for (guint i = 0; i < files->len; i++) {
		Entry entry = {.file = files->pdata[i]};
		struct stat status = entry.file->status;
		/* jitdumps and perf maps have grown since */
		if (entry.file->descriptor >= 0)
			fstat(entry.file->descriptor, &status);
		entry.size = (uint64_t)status.st_size;
		if (!entry.file->is_found ||
			index_bytes + entry_bytes(entry.file) > LODE_PERF_FILES_MAX_INDEX_BYTES)
			continue;
		g_array_append_val(entries, entry);
		index_bytes += entry_bytes(entry.file);
	}
	if (entries->len == 0)
		return true;
	self->frames.end += LODE_PERF_FILES_HEAD_BYTES + index_bytes;
	for (guint i = 0; i < entries->len; i++) {
		Entry *entry = &g_array_index(entries, Entry, i);
		if (is_nowhere_else(entry->file) && !add_content(self, entries, entry))
			return false;
	}
	put_u32(index, LODE_PERF_FILES_VERSION);
	put_u32(index, entries->len);
	put_u64(index, index_bytes);
	for (guint i = 0; i < entries->len; i++)
		put_entry(index, &g_array_index(entries, Entry, i));
	return lode_write_at(self->frames.descriptor, index->data, index->len, self->start);
}

unsigned lode_kept_files_too_large(const LodeKeptFiles *self, const char **out_path)
{
	*out_path = self->too_large;
	return self->n_too_large;
}

bool lode_kept_files_write(
	LodeKeptFiles *self, int descriptor, uint64_t offset, uint64_t *out_size, GError **error)
{
	Section section = {.files = self, .start = offset, .left = LODE_PERF_FILES_MAX_BYTES};
	bool is_done = lode_packed_frames_init(&section.frames, descriptor, offset) &&
	               write_section(&section);

	if (is_done)
		*out_size = section.frames.end - section.start;
	else
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_IO, g_strerror(errno));
	lode_packed_frames_clear(&section.frames);
	return is_done;
}
