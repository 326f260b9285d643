/* SPDX-License-Identifier: MIT */
/*
 * A mapping has a path, an offset in the file, and the identity of the file; a profile wants an
 * address as the file's own program headers have it. Anonymous memory is code that was made at run
 * time, which only a jitdump or a perf map explains, or a copy of a file's text: some programs move
 * their text to huge pages.
 */
#include "process/places.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/text/hex_text.h"
#include "images/elf/elf_file.h"
#include "images/elf/mapped_file.h"
#include "model/index.h"
#include "model/run/unresolved.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

typedef enum {
	FILE_IMAGE,
	FILE_ANONYMOUS,
	FILE_SPECIAL,
} FileKind;

/* The file of a mapping. */
typedef struct {
	LodeImageIdentity identity; /* its strings are the places' */
	FileKind kind;
	uint32_t image; /* LODE_NONE until something lies in it */
	uint32_t recording;
} File;

typedef struct {
	LodeAddressSpaces *spaces;
	GHashTable *dump_times; /* pid → GArray of uint64_t, sorted: when it mapped jitdumps */
	bool has_code_times;    /* its clock is that of jitdumps */
} Recording;

struct LodePlaces {
	LodePlacesOptions options;
	GArray *recordings; /* Recording */
	uint32_t selected;
	GArray *files;        /* File */
	GHashTable *file_ids; /* a file's identity in a record → index + 1, of one recording */
	GArray *mappings;     /* LodePlacedMapping; live: none */
	GArray *jit_images;   /* uint32_t × files of the set of code: image, LODE_NONE */
	GHashTable *perf_map_pids; /* processes whose perf map was looked for */
	GStringChunk *strings;
	LodeAddressSpaces *loads; /* live: where images lie as a whole; files are the images */
	LodeMappedPeriod period;
	uint64_t n_forgetting;
};

LodePlaces *lode_places_new(const LodePlacesOptions *options)
{
	LodePlaces *self = g_new0(LodePlaces, 1);

	self->options = *options;
	self->recordings = g_array_new(FALSE, TRUE, sizeof(Recording));
	self->files = g_array_new(FALSE, FALSE, sizeof(File));
	self->file_ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	self->mappings = g_array_new(FALSE, TRUE, sizeof(LodePlacedMapping));
	self->jit_images = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->perf_map_pids = g_hash_table_new(NULL, NULL);
	self->strings = g_string_chunk_new(4096);
	if (options->is_live) {
		self->loads = lode_address_spaces_new_live();
		lode_places_begin(self);
	}
	return self;
}

void lode_places_free(LodePlaces *self)
{
	if (self == NULL)
		return;
	for (guint i = 0; i < self->recordings->len; i++) {
		const Recording *recording = &g_array_index(self->recordings, Recording, i);
		lode_address_spaces_free(recording->spaces);
		g_hash_table_unref(recording->dump_times);
	}
	g_array_unref(self->recordings);
	g_array_unref(self->files);
	g_hash_table_unref(self->file_ids);
	g_array_unref(self->mappings);
	g_array_unref(self->jit_images);
	g_hash_table_unref(self->perf_map_pids);
	g_string_chunk_free(self->strings);
	lode_address_spaces_free(self->loads);
	g_free(self);
}

static void free_array(void *data)
{
	g_array_unref(data);
}

uint32_t lode_places_begin(LodePlaces *self)
{
	const Recording added = {
		.spaces = self->options.is_live ? lode_address_spaces_new_live()
	                                        : lode_address_spaces_new(),
		.dump_times = g_hash_table_new_full(NULL, NULL, NULL, free_array),
	};

	g_array_append_val(self->recordings, added);
	/* The same path may be another file. */
	g_hash_table_remove_all(self->file_ids);
	self->selected = self->recordings->len - 1;
	return self->selected;
}

void lode_places_select(LodePlaces *self, uint32_t recording)
{
	while (self->recordings->len <= recording)
		lode_places_begin(self);
	self->selected = recording;
}

uint32_t lode_places_selected(const LodePlaces *self)
{
	return self->selected;
}

static Recording *selected(const LodePlaces *self)
{
	return &g_array_index(self->recordings, Recording, self->selected);
}

LodeAddressSpaceBirth lode_places_find_birth(
	const LodePlaces *self, uint32_t recording, uint32_t pid, uint64_t time)
{
	return lode_address_spaces_find_birth(
		g_array_index(self->recordings, Recording, recording).spaces, pid, time);
}

uint64_t lode_places_generation(const LodePlaces *self)
{
	return lode_address_spaces_generation(selected(self)->spaces);
}

void lode_places_set_stack(LodePlaces *self, uint32_t pid, uint64_t pointer, uint32_t ordinal)
{
	lode_address_spaces_set_stack(selected(self)->spaces, pid, pointer, ordinal);
}

LodeCodeImages *lode_places_images(const LodePlaces *self)
{
	return self->options.images;
}

GArray *lode_places_mappings(const LodePlaces *self)
{
	return self->mappings;
}

LodeMappedPeriod lode_places_period(const LodePlaces *self)
{
	return self->period;
}

uint64_t lode_places_n_forgetting(const LodePlaces *self)
{
	return self->n_forgetting;
}

/* --- files --- */

/* Memory that is of no file on a disk, where code can be made. */
static bool is_anonymous(const char *path)
{
	static const char *const starts[] = {"//anon", "/dev/zero", "/anon_hugepage", "/SYSV",
		"[heap]", "[stack", "[anon", "/memfd:", "anon_inode:", "/dev/shm/",
		"/dev/hugepages/", "???"};

	for (size_t i = 0; i < G_N_ELEMENTS(starts); i++)
		if (g_str_has_prefix(path, starts[i]))
			return true;
	return path[0] == '\0' || strstr(path, "/libhugetlbfs.tmp.") != NULL;
}

static FileKind kind_of(const LodeImageIdentity *identity)
{
	/* A program can be run from memory, as by fexecve(3) of a memfd. */
	if (is_anonymous(identity->path))
		return identity->build_id != NULL ||
		                       (g_str_has_prefix(identity->path, "/dev/shm/") &&
					       lode_elf_file_is_at(identity->path))
		               ? FILE_IMAGE
		               : FILE_ANONYMOUS;
	return identity->path[0] == '[' && strcmp(identity->path, "[vdso]") != 0 ? FILE_SPECIAL
	                                                                         : FILE_IMAGE;
}

static uint32_t add_file(LodePlaces *self, const LodePerfMapping *source)
{
	LodePerfMapping plain = *source, *mapping = &plain;

	/* Each mapping of shared memory has an inode of its own, of which live places would grow.
	 */
	if (self->options.is_live && is_anonymous(source->path) && source->build_id == NULL)
		plain.device_major = plain.device_minor = 0, plain.inode = plain.generation = 0;
	g_autofree char *build_id = mapping->build_id != NULL ? lode_hex_text(mapping->build_id,
									mapping->build_id_size)
	                                                      : NULL;
	char *key = g_strdup_printf("%s\n%s\n%x %x %" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER "x",
		mapping->path, build_id != NULL ? build_id : "", mapping->device_major,
		mapping->device_minor, mapping->inode, mapping->generation);
	void *found = g_hash_table_lookup(self->file_ids, key);
	uint32_t id = found != NULL ? GPOINTER_TO_UINT(found) - 1 : self->files->len;

	if (found == NULL) {
		File file = {
			.identity = {.path = g_string_chunk_insert_const(
					     self->strings, mapping->path),
				.build_id = build_id != NULL ? g_string_chunk_insert_const(
								       self->strings, build_id)
		                                             : NULL,
				.is_build_id_padded = mapping->is_build_id_padded,
				.device_major = mapping->device_major,
				.device_minor = mapping->device_minor,
				.inode = mapping->inode,
				.generation = mapping->generation,
				.host = self->options.is_live ? g_get_host_name() : NULL},
			.image = LODE_NONE,
			.recording = self->selected,
		};
		file.kind = kind_of(&file.identity);
		g_array_append_val(self->files, file);
		g_hash_table_insert(
			self->file_ids, g_steal_pointer(&key), GUINT_TO_POINTER(self->files->len));
	}
	g_free(key);
	return id;
}

static File *file_at(const LodePlaces *self, uint32_t file)
{
	return &g_array_index(self->files, File, file);
}

/* The file that a mapped range is of; NULL: none is known. */
static File *file_of(const LodePlaces *self, const LodeMappedRange *range)
{
	uint32_t file =
		self->options.is_live || range->file == LODE_NONE
			? range->file
			: g_array_index(self->mappings, LodePlacedMapping, range->file).file;

	return file != LODE_NONE ? file_at(self, file) : NULL;
}

static uint32_t image_of(LodePlaces *self, File *file)
{
	if (file->image == LODE_NONE && file->kind == FILE_IMAGE)
		file->image = lode_code_images_add(self->options.images, &file->identity);
	return file->image;
}

uint32_t lode_places_image_of(LodePlaces *self, uint32_t mapping)
{
	uint32_t file = g_array_index(self->mappings, LodePlacedMapping, mapping).file;

	return file != LODE_NONE ? image_of(self, file_at(self, file)) : LODE_NONE;
}

uint32_t lode_places_known_image_of(const LodePlaces *self, uint32_t mapping)
{
	uint32_t file = g_array_index(self->mappings, LodePlacedMapping, mapping).file;

	return file != LODE_NONE ? file_at(self, file)->image : LODE_NONE;
}

/* --- code made at run time --- */

/* The error stays silent: what the dump would have explained is counted as unknown code. */
static void add_jit_file(LodePlaces *self, const char *path)
{
	if (access(path, R_OK) == 0 && lode_jit_code_set_is_file(path))
		lode_jit_code_set_add(self->options.jit, path, NULL);
}

static bool is_jitdump_name(const char *path)
{
	g_autofree char *name = g_path_get_basename(path);

	return g_str_has_prefix(name, "jit-") && g_str_has_suffix(name, ".dump");
}

static LodeMappedFile mapped_file_of(uint32_t pid, const LodePerfMapping *mapping)
{
	return (LodeMappedFile){
		.pid = (pid_t)pid,
		.start = mapping->start,
		.end = mapping->start + mapping->size,
		.device_major = mapping->device_major,
		.device_minor = mapping->device_minor,
		.inode = mapping->inode,
		.generation = mapping->generation,
		.path = mapping->path,
	};
}

static void note_dump_time(LodePlaces *self, uint32_t pid, uint64_t time)
{
	GHashTable *dump_times = selected(self)->dump_times;
	GArray *times = g_hash_table_lookup(dump_times, GUINT_TO_POINTER(pid));

	if (times == NULL) {
		times = g_array_new(FALSE, FALSE, sizeof(uint64_t));
		g_hash_table_insert(dump_times, GUINT_TO_POINTER(pid), times);
	}
	g_array_append_val(times, time);
}

static void sort_dump_times(GHashTable *dump_times)
{
	GHashTableIter iterator;
	void *times;

	g_hash_table_iter_init(&iterator, dump_times);
	while (g_hash_table_iter_next(&iterator, NULL, &times))
		g_array_sort(times, lode_compare_u64);
}

/* A program that is executed discards the code of the last one. */
static bool has_left_dumps(const LodePlaces *self, uint32_t pid, const LodeAddressSpaceBirth *birth)
{
	const GArray *times = g_hash_table_lookup(
		selected(self)->dump_times, GUINT_TO_POINTER(pid));

	if (times == NULL)
		return false;
	guint first = LODE_PARTITION_POINT(
		times->len, i, g_array_index(times, uint64_t, i) < birth->time_ns);
	return first == times->len || g_array_index(times, uint64_t, first) > birth->end_ns;
}

/* Below a root of the recorded machine, else at its path. */
static void add_dump(
	LodePlaces *self, uint32_t pid, const LodePerfMapping *mapping, const char *path)
{
	const LodeImageFiles *files = lode_code_images_files(self->options.images);
	g_autofree char *below = files != NULL ? lode_image_files_find_below_roots(files, path)
	                                       : NULL;
	const char *found = below != NULL ? below : path;
	const LodeMappedFile mapped = mapped_file_of(pid, mapping);
	bool is_removed = below == NULL && strcmp(path, mapping->path) != 0;

	/* A later process of this number may have left its own. */
	if (!is_removed && lode_mapped_file_match(&mapped, found) != LODE_MAPPED_FILE_OTHER_INODE)
		add_jit_file(self, found);
}

static void find_code(LodePlaces *self, uint32_t pid, const LodePerfMapping *mapping, uint64_t time)
{
	g_autofree char *path = lode_image_files_path_of(mapping->path);

	if (is_jitdump_name(path)) {
		note_dump_time(self, pid, time);
		add_dump(self, pid, mapping, path);
		lode_jit_code_set_note_mapping(self->options.jit, pid, path,
			makedev(mapping->device_major, mapping->device_minor), mapping->inode);
		return;
	}
	if (!is_anonymous(mapping->path) ||
		!g_hash_table_add(self->perf_map_pids, GUINT_TO_POINTER(pid)))
		return;
	g_autofree char *map = g_strdup_printf("/tmp/perf-%" G_GUINT32_FORMAT ".map", pid);
	if (!lode_jit_code_set_has_pid(self->options.jit, pid))
		add_jit_file(self, map);
}

/* The process's own code, or what an ancestor had made when it forked. */
static LodeJitOutcome find_in_dumps(LodePlaces *self, uint32_t pid, uint64_t time,
	uint64_t code_time_ns, uint64_t address, LodeJitPlace *out_place)
{
	enum { MAX_ANCESTORS = 64 };
	LodeJitOutcome outcome = LODE_JIT_NONE;

	for (unsigned i = 0; i < MAX_ANCESTORS && outcome == LODE_JIT_NONE; i++) {
		const LodeAddressSpaceBirth birth = lode_address_spaces_find_birth(
			selected(self)->spaces, pid, time);
		if (!has_left_dumps(self, pid, &birth))
			outcome = lode_jit_code_set_find(
				self->options.jit, pid, address, code_time_ns, out_place);
		if (birth.parent == UINT32_MAX)
			break;
		pid = birth.parent;
		time = birth.time_ns;
		if (code_time_ns != LODE_JIT_TIME_UNKNOWN)
			code_time_ns = time;
	}
	return outcome;
}

static LodePlaceOutcome find_jit_code(LodePlaces *self, uint32_t pid, uint64_t time,
	uint64_t code_time_ns, uint64_t address, LodePlace *out_place)
{
	const uint32_t none = LODE_NONE;
	LodeJitPlace place;

	if (self->options.jit == NULL)
		return LODE_PLACE_NO_CODE;
	switch (find_in_dumps(self, pid, time, code_time_ns, address, &place)) {
	case LODE_JIT_AMBIGUOUS:
		return LODE_PLACE_OTHER_CLOCK;
	case LODE_JIT_FOUND:
		break;
	default:
		return LODE_PLACE_NO_CODE;
	}
	while (self->jit_images->len <= place.file)
		g_array_append_val(self->jit_images, none);
	uint32_t *image = &g_array_index(self->jit_images, uint32_t, place.file);
	if (*image == LODE_NONE)
		*image = lode_code_images_add_kind(
			self->options.images, LODE_IMAGE_JIT, place.path);
	*out_place = (LodePlace){*image, place.address};
	return LODE_PLACE_FOUND;
}

/* --- what happened --- */

/* Old perf.data files do not record the mode. */
static bool is_of_user(LodePerfMode mode)
{
	return mode == LODE_PERF_MODE_USER || mode == LODE_PERF_MODE_UNKNOWN;
}

/* The process leads to its file while it runs, also where that is not at its path. */
static void find_running_file(
	LodePlaces *self, uint32_t pid, const LodePerfMapping *mapping, uint32_t image)
{
	g_autofree char *path = NULL;
	const LodeMappedFile mapped = mapped_file_of(pid, mapping);
	int descriptor;

	const LodeCodeImage *known = lode_code_images_peek(self->options.images, image);

	if (self->options.proc == NULL || mapping->inode == 0 || known->file != NULL ||
		known->is_looked_for)
		return;
	descriptor = lode_mapped_file_open(&mapped, &path);
	if (descriptor < 0)
		return;
	close(descriptor);
	lode_code_images_set_file(self->options.images, image, path);
	/* A path by way of the process is good as long as that lives. */
	if (strcmp(path, mapping->path) != 0)
		lode_code_images_at(self->options.images, image);
}

/* Variables that begin as zeros are in memory of no file. */
static void take_load(LodePlaces *self, uint32_t pid, const LodeMappedRange *mapped, uint32_t image)
{
	LodeCodeLoad load;

	if (!lode_code_images_find_load(self->options.images, image, mapped, &load))
		return;
	const LodeMappedRange whole = {
		.start = load.low,
		.end = load.high,
		.offset = load.low - load.bias,
		.file = image,
	};
	lode_address_spaces_map(self->loads, pid, LODE_TIME_NOW, &whole);
}

#define HUGE_PAGE_BYTES (UINT64_C(2) << 20)

/*
 * Whether anonymous memory over a file's text is a copy of it: of the whole mapping, or of its huge
 * pages. A library that was unmapped leaves its place to any memory, which hardly has such bounds.
 */
static bool is_copy(const LodeMappedRange *copy, const LodeMappedRange *text)
{
	bool is_whole = copy->start == text->start && copy->end == text->end;
	bool has_huge_bounds = (copy->start % HUGE_PAGE_BYTES == 0 || copy->start == text->start) &&
	                       (copy->end % HUGE_PAGE_BYTES == 0 || copy->end == text->end);
	bool is_around = copy->start >= text->start - text->start % HUGE_PAGE_BYTES &&
	                 copy->end <= text->end + HUGE_PAGE_BYTES;

	return is_whole || (has_huge_bounds && is_around);
}

/* Live: earlier mappings are forgotten, so that a copy is recognised when it is made. */
static void take_copy(LodePlaces *self, uint32_t pid, LodeMappedRange *range)
{
	const LodeMappedRange *text = lode_address_spaces_find(
		selected(self)->spaces, pid, range->start, LODE_TIME_NOW, NULL);

	if (text == NULL || (text->protection & PROT_EXEC) == 0 ||
		file_at(self, range->file)->kind != FILE_ANONYMOUS ||
		file_at(self, text->file)->kind != FILE_IMAGE || !is_copy(range, text))
		return;
	range->offset = text->offset + (range->start - text->start);
	range->file = text->file;
	range->name = text->name;
}

static void add_mapping(LodePlaces *self, const LodePerfRecord *record, uint64_t time)
{
	const LodePerfMapping *source = &record->mapping;
	LodeAddressSpaces *spaces = selected(self)->spaces;
	LodeMappedRange range = {
		.start = source->start,
		.end = source->start + MIN(source->size, UINT64_MAX - source->start),
		.offset = source->offset,
		.protection = source->protection,
		.file = LODE_NONE,
	};
	bool is_code = (source->protection & PROT_EXEC) != 0;

	if (record->pid == UINT32_MAX || !is_of_user(record->mode) ||
		(self->options.is_for_code && !is_code) || self->mappings->len == LODE_NONE - 1)
		return;
	range.name = lode_address_spaces_name(spaces, source->path);
	range.file = add_file(self, source);
	if (is_code && self->options.jit != NULL)
		find_code(self, record->pid, source, time);
	if (self->options.is_live) {
		File *file = file_at(self, range.file);
		if (is_code && !self->options.is_for_code)
			take_copy(self, record->pid, &range);
		if (is_code && file->kind == FILE_IMAGE) {
			find_running_file(self, record->pid, source, image_of(self, file));
			take_load(self, record->pid, &range, file->image);
		}
	} else {
		const LodePlacedMapping mapping = {
			.mapping = {record->pid, range.protection, range.start, range.end, time,
				(char *)range.name},
			.offset = range.offset,
			.recording = self->selected,
			.file = range.file,
			.stack_of = LODE_NONE,
		};
		range.file = self->mappings->len;
		g_array_append_val(self->mappings, mapping);
	}
	lode_address_spaces_map(spaces, record->pid, time, &range);
}

void lode_places_note(LodePlaces *self, const LodePerfRecord *record, uint64_t time)
{
	LodeAddressSpaces *spaces = selected(self)->spaces;

	switch (record->kind) {
	case LODE_PERF_MAPPING:
		add_mapping(self, record, time);
		break;
	case LODE_PERF_COMMAND:
		if (!record->is_exec)
			break;
		lode_address_spaces_exec(spaces, record->pid, time);
		if (self->loads != NULL)
			lode_address_spaces_exit(self->loads, record->pid);
		break;
	case LODE_PERF_FORK:
		lode_address_spaces_fork(spaces, record->pid, record->parent_pid, time);
		if (self->loads != NULL)
			lode_address_spaces_fork(
				self->loads, record->pid, record->parent_pid, time);
		break;
	case LODE_PERF_EXIT:
		if (record->pid != record->tid)
			break;
		lode_address_spaces_exit(spaces, record->pid);
		if (self->loads != NULL)
			lode_address_spaces_exit(self->loads, record->pid);
		break;
	default:
		return;
	}
	if (self->options.jit != NULL)
		lode_jit_code_set_mark_used(self->options.jit, record->pid);
}

/* The bytes that a hexadecimal text stands for; 0 where it is none. */
static size_t parse_build_id(const char *text, uint8_t *out_bytes, size_t room)
{
	size_t n = text != NULL ? strlen(text) / 2 : 0;

	if (n > room || (text != NULL && strlen(text) % 2 != 0))
		return 0;
	for (size_t i = 0; i < n; i++) {
		int high = g_ascii_xdigit_value(text[2 * i]);
		int low = g_ascii_xdigit_value(text[2 * i + 1]);
		if (high < 0 || low < 0)
			return 0;
		out_bytes[i] = (uint8_t)(high << 4 | low);
	}
	return n;
}

void lode_places_note_traced(
	LodePlaces *self, uint32_t pid, const LodeTraceMapping *mapping, uint64_t time)
{
	uint8_t build_id[64];
	LodePerfRecord record = {
		.kind = LODE_PERF_MAPPING,
		.mode = LODE_PERF_MODE_USER,
		.pid = pid,
		.mapping = {.start = mapping->start,
			.size = mapping->end > mapping->start ? mapping->end - mapping->start : 0,
			.offset = mapping->offset,
			.protection = mapping->protection,
			.path = mapping->path != NULL ? mapping->path : ""},
	};

	record.mapping.build_id_size = (uint8_t)parse_build_id(
		mapping->build_id, build_id, sizeof(build_id));
	if (record.mapping.build_id_size > 0)
		record.mapping.build_id = build_id;
	lode_places_note(self, &record, time);
}

void lode_places_limit(LodePlaces *self, uint32_t pid, uint64_t begin, uint64_t end)
{
	lode_address_spaces_exec(selected(self)->spaces, pid, begin);
	lode_address_spaces_exec(selected(self)->spaces, pid, end);
}

/* --- files as a recording lists them --- */

static bool is_listed_as(const LodeImageIdentity *identity, const LodePerfFile *row)
{
	return strcmp(identity->path, row->path) == 0 && identity->inode == row->inode &&
	       identity->device_major == row->device_major &&
	       identity->device_minor == row->device_minor &&
	       (identity->generation == row->generation || row->generation == 0);
}

/* The rows of lode's own list, by path: GArray of uint32_t. */
static GHashTable *read_list(const LodePerfInfo *info)
{
	GHashTable *by_path = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_array);

	for (guint i = 0; i < info->files->len; i++) {
		const char *path = g_array_index(info->files, LodePerfFile, i).path;
		GArray *rows = g_hash_table_lookup(by_path, path);
		if (rows == NULL) {
			rows = g_array_new(FALSE, FALSE, sizeof(uint32_t));
			g_hash_table_insert(by_path, (char *)path, rows);
		}
		g_array_append_val(rows, i);
	}
	return by_path;
}

/* It knows all files that were mapped to be executed: one without a build-id in it has none. */
static bool take_listed(LodePlaces *self, File *file, GHashTable *list, const LodePerfInfo *info)
{
	enum { MAX_OF_PATH = 256 };
	const GArray *rows = g_hash_table_lookup(list, file->identity.path);

	for (guint i = 0; rows != NULL && i < MIN(rows->len, MAX_OF_PATH); i++) {
		const LodePerfFile *row = &g_array_index(
			info->files, LodePerfFile, g_array_index(rows, uint32_t, i));
		if (!is_listed_as(&file->identity, row))
			continue;
		if (row->build_id != NULL)
			file->identity.build_id = g_string_chunk_insert_const(
				self->strings, row->build_id);
		file->identity.has_no_build_id = row->build_id == NULL;
		file->kind = row->content_size > 0 ? FILE_IMAGE : kind_of(&file->identity);
		return true;
	}
	return false;
}

/* The entries of a path in perf's table, and its mapped files. */
typedef struct {
	const LodePerfBuildId *row;
	const LodeImageIdentity *first; /* that was mapped; NULL: none */
	bool has_other_ids, has_other_files;
	bool was_replaced; /* perf looks when it ends: an id is of the last of its files */
} TableRow;

static GHashTable *read_table(const LodePerfInfo *info)
{
	GHashTable *by_path = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);

	for (guint i = 0; i < info->build_ids->len; i++) {
		const LodePerfBuildId *row = &g_array_index(info->build_ids, LodePerfBuildId, i);
		TableRow *known = g_hash_table_lookup(by_path, row->path);
		if (row->mode == LODE_PERF_MODE_GUEST_KERNEL ||
			row->mode == LODE_PERF_MODE_GUEST_USER)
			continue;
		if (known != NULL) {
			known->has_other_ids |= strcmp(known->row->build_id, row->build_id) != 0;
			continue;
		}
		known = g_new0(TableRow, 1);
		known->row = row;
		g_hash_table_insert(by_path, (char *)row->path, known);
	}
	return by_path;
}

/* One path on one device: a file that took another's place. Containers have devices of their own,
 * with files that are often the same. */
static void note_mapped_file(TableRow *row, const LodeImageIdentity *identity)
{
	const LodeImageIdentity *first = row->first;

	if (first == NULL) {
		row->first = identity;
		return;
	}
	bool is_on_same_device = first->device_major == identity->device_major &&
	                         first->device_minor == identity->device_minor;
	row->has_other_files = true;
	row->was_replaced |= is_on_same_device && first->inode != 0 && identity->inode != 0;
}

static void take_from_table(LodePlaces *self, File *file, const TableRow *row)
{
	LodeImageIdentity *identity = &file->identity;

	if (row->has_other_ids || row->was_replaced) {
		identity->has_other_builds = true;
		/* A file that was overwritten where it lies. */
		if (!row->has_other_files)
			identity->inode = 0;
		return;
	}
	identity->build_id = g_string_chunk_insert_const(self->strings, row->row->build_id);
	identity->is_build_id_padded = row->row->is_padded;
}

static int64_t written_ns(const char *path)
{
	g_autofree char *inside = path != NULL ? g_build_filename(path, "data", NULL) : NULL;
	struct stat status;

	/* The time of a directory is that of its last entry's beginning. */
	if (path == NULL || (stat(inside, &status) != 0 && stat(path, &status) != 0))
		return 0;
	return (int64_t)status.st_mtim.tv_sec * G_GINT64_CONSTANT(1000000000) +
	       status.st_mtim.tv_nsec;
}

static void complete_files(LodePlaces *self, const LodePerfInfo *info, const char *path)
{
	g_autoptr(GHashTable) table = read_table(info);
	g_autoptr(GHashTable) list = read_list(info);
	g_autoptr(GPtrArray) of_table = g_ptr_array_new(); /* File */
	int64_t recorded_ns = written_ns(path);
	const char *host = info->host != NULL
	                           ? g_string_chunk_insert_const(self->strings, info->host)
	                           : NULL;

	for (guint i = 0; i < self->files->len; i++) {
		File *file = file_at(self, i);
		if (file->recording != self->selected)
			continue;
		file->identity.host = host;
		file->identity.recorded_ns = recorded_ns;
		if (file->identity.build_id != NULL || take_listed(self, file, list, info))
			continue;
		TableRow *row = g_hash_table_lookup(table, file->identity.path);
		if (row == NULL)
			continue;
		note_mapped_file(row, &file->identity);
		g_ptr_array_add(of_table, file);
	}
	for (guint i = 0; i < of_table->len; i++) {
		File *file = of_table->pdata[i];
		take_from_table(self, file, g_hash_table_lookup(table, file->identity.path));
		file->kind = kind_of(&file->identity);
	}
}

void lode_places_freeze(
	LodePlaces *self, LodePerfData *data, const char *path, const LodeProgress *progress)
{
	if (data != NULL) {
		const LodePerfInfo *info = lode_perf_data_info(data);
		complete_files(self, info, path);
		selected(self)->has_code_times = lode_perf_data_has_times(data) &&
		                                 info->clock_id == CLOCK_MONOTONIC;
	}
	if (self->options.jit != NULL)
		lode_jit_code_set_settle(self->options.jit);
	sort_dump_times(selected(self)->dump_times);
	self->n_forgetting += lode_address_spaces_freeze(selected(self)->spaces, progress);
}

/* --- where an address lies --- */

static LodePlaceOutcome find_in_file(LodePlaces *self, File *file, const LodeMappedRange *range,
	uint64_t address, LodePlace *out_place)
{
	uint64_t offset = address - range->start + range->offset, in_image = offset;
	uint32_t image = image_of(self, file);

	/* Without the file, the offset must do. */
	lode_code_images_place(self->options.images, image, offset, &in_image);
	*out_place = (LodePlace){image, in_image};
	return LODE_PLACE_FOUND;
}

static bool ask(LodePlaces *self, uint32_t pid)
{
	return self->options.ask != NULL && self->options.ask(self->options.data, pid);
}

LodePlaceOutcome lode_places_find_at(LodePlaces *self, uint32_t pid, uint64_t time,
	uint64_t code_time_ns, uint64_t address, LodePlace *out_place)
{
	LodeAddressSpaces *spaces = selected(self)->spaces;
	LodeMappedPeriod period = {0, 0};
	const LodeMappedRange *under = NULL;
	const LodeMappedRange *range = lode_address_spaces_find_code(
		spaces, pid, address, time, &period, &under);
	if (range == NULL && ask(self, pid))
		range = lode_address_spaces_find_code(spaces, pid, address, time, &period, &under);
	File *file = range != NULL ? file_of(self, range) : NULL;
	File *text = under != NULL ? file_of(self, under) : NULL;

	self->period = (LodeMappedPeriod){0, 0};
	*out_place = (LodePlace){LODE_NONE, address};
	if (file != NULL && file->kind == FILE_SPECIAL)
		return LODE_PLACE_SPECIAL;
	if (file != NULL && file->kind == FILE_IMAGE) {
		self->period = period;
		return find_in_file(self, file, range, address, out_place);
	}
	LodePlaceOutcome outcome = find_jit_code(self, pid, time, code_time_ns, address, out_place);
	if (outcome != LODE_PLACE_NO_CODE)
		return outcome;
	if (text != NULL && text->kind == FILE_IMAGE && !self->options.is_for_code &&
		is_copy(range, under))
		return find_in_file(self, text, under, address, out_place);
	return file == NULL ? LODE_PLACE_UNMAPPED : LODE_PLACE_NO_CODE;
}

LodePlaceOutcome lode_places_find(
	LodePlaces *self, uint32_t pid, uint64_t time, uint64_t address, LodePlace *out_place)
{
	return lode_places_find_at(self, pid, time,
		selected(self)->has_code_times ? time : LODE_JIT_TIME_UNKNOWN, address, out_place);
}

const LodeMappedRange *lode_places_find_mapping(
	LodePlaces *self, uint32_t pid, uint64_t time, uint64_t address)
{
	LodeAddressSpaces *spaces = selected(self)->spaces;
	const LodeMappedRange *found = lode_address_spaces_find(spaces, pid, address, time, NULL);

	if (found != NULL || !ask(self, pid))
		return found;
	return lode_address_spaces_find(spaces, pid, address, time, NULL);
}

bool lode_places_find_data(LodePlaces *self, uint32_t pid, uint64_t address, LodePlace *out_place)
{
	const LodeMappedRange *load = lode_address_spaces_find(
		self->loads, pid, address, LODE_TIME_NOW, NULL);

	if (load != NULL)
		*out_place = (LodePlace){load->file, address - load->start + load->offset};
	return load != NULL;
}

const char *lode_place_outcome_reason(LodePlaceOutcome outcome)
{
	static const char *const reasons[LODE_PLACE_N_OUTCOMES] = {
		[LODE_PLACE_FOUND] = "",
		[LODE_PLACE_KERNEL] = "sample in the kernel outside its functions",
		[LODE_PLACE_HYPERVISOR] = "sample in the hypervisor",
		[LODE_PLACE_GUEST] = "sample in a guest",
		[LODE_PLACE_UNMAPPED] = "sample outside any mapping",
		[LODE_PLACE_NO_CODE] = LODE_UNRESOLVED_UNNAMED,
		[LODE_PLACE_OTHER_CLOCK] =
			"sample in replaced JIT code, not by the jitdump's clock (perf -k mono)",
		[LODE_PLACE_SPECIAL] = "sample in the kernel's pages of a process",
	};

	return reasons[outcome];
}
