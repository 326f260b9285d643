/* SPDX-License-Identifier: MIT */
#include "process/images/image_files.h"

#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "base/files/input_file.h"
#include "images/dwarf/debug_file.h"
#include "images/elf/elf_file.h"
#include "images/elf/mapped_file.h"
#include "images/elf/vdso_image.h"
#include "process/images/image_archive.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	MAX_DEPTH = 64,      /* of folders in a folder */
	MAX_FILES = 1 << 20, /* that are examined in all given files */
};

/* A binary that was given, or that a recording has kept. */
typedef struct {
	char *path;
	char *name;                 /* the last part of the path that it has by itself */
	char *build_id;             /* NULL: none */
	char *mapped_path;          /* of a copy: the path of its original; else NULL */
	LodeImageIdentity identity; /* likewise; its path is mapped_path */
} Given;

struct LodeImageFiles {
	GPtrArray *roots; /* char * */
	GPtrArray *given; /* Given */
	/* → GPtrArray of Given, borrowed; by_build_id without zeros at the end, copies by path. */
	GHashTable *by_build_id, *by_name, *copies;
	GHashTable *debug_files;   /* build-id → path, of those without code */
	char *own_cache;           /* ~/.debug */
	LodePrivateFolder *folder; /* NULL: nothing was unpacked */
	GMutex lock;               /* of the folder, and of what follows */
	char *vdso;                /* NULL: not written yet */
	uint64_t n_looked_at;
	bool allow_debuginfod;
};

static void given_free(void *data)
{
	Given *self = data;

	g_free(self->path);
	g_free(self->name);
	g_free(self->build_id);
	g_free(self->mapped_path);
	g_free(self);
}

static void list_free(void *data)
{
	g_ptr_array_unref(data);
}

LodeImageFiles *lode_image_files_new(bool allow_debuginfod)
{
	LodeImageFiles *self = g_new0(LodeImageFiles, 1);

	self->roots = g_ptr_array_new_with_free_func(g_free);
	self->given = g_ptr_array_new_with_free_func(given_free);
	self->debug_files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	self->by_build_id = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, list_free);
	self->copies = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, list_free);
	self->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, list_free);
	/* Here, since GLib finds out at the first call where that is. */
	self->own_cache = g_build_filename(g_get_home_dir(), ".debug", NULL);
	g_mutex_init(&self->lock);
	self->allow_debuginfod = allow_debuginfod;
	return self;
}

void lode_image_files_free(LodeImageFiles *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->debug_files);
	g_hash_table_unref(self->by_build_id);
	g_hash_table_unref(self->copies);
	g_hash_table_unref(self->by_name);
	g_ptr_array_unref(self->given);
	g_ptr_array_unref(self->roots);
	lode_private_folder_free(self->folder);
	g_mutex_clear(&self->lock);
	g_free(self->vdso);
	g_free(self->own_cache);
	g_free(self);
}

void lode_found_image_file_clear(LodeFoundImageFile *self)
{
	g_clear_pointer(&self->path, g_free);
	g_clear_pointer(&self->why_not, g_free);
	g_clear_pointer(&self->note, g_free);
	g_clear_pointer(&self->debug, g_free);
}

/* --- identities --- */

/* The digits without the zero bytes at their end. */
static size_t length_without_zeros(const char *build_id)
{
	size_t n = strlen(build_id);

	while (n >= 2 && build_id[n - 1] == '0' && build_id[n - 2] == '0')
		n -= 2;
	return n;
}

/* The build-id as a key: the zeros at the end of a padded one may not belong to it. */
static char *key_of(const char *build_id)
{
	return g_strndup(build_id, length_without_zeros(build_id));
}

static bool is_same_build_id(const char *a, const char *b, bool is_padded)
{
	size_t n = length_without_zeros(a);

	if (!is_padded)
		return strcmp(a, b) == 0;
	return n == length_without_zeros(b) && strncmp(a, b, n) == 0;
}

/* Whether a file's build-id, NULL for none, is the recorded one; false too where none was
 * recorded. */
static bool has_build_id(const LodeImageIdentity *self, const char *build_id)
{
	return self->build_id != NULL && build_id != NULL &&
	       is_same_build_id(self->build_id, build_id, self->is_build_id_padded);
}

static bool is_same_inode(const LodeImageIdentity *a, const LodeImageIdentity *b)
{
	return a->inode == b->inode && a->device_major == b->device_major &&
	       a->device_minor == b->device_minor &&
	       (a->generation == b->generation || a->generation == 0 || b->generation == 0);
}

static bool has_same_name(const char *a, const char *b)
{
	g_autofree char *name_a = g_path_get_basename(a);
	g_autofree char *name_b = g_path_get_basename(b);

	return strcmp(name_a, name_b) == 0;
}

/* Linker options can give each program the same build-id: the name must be the same too. */
bool lode_image_identity_is_same(const LodeImageIdentity *self, const LodeImageIdentity *other)
{
	if (self->build_id != NULL && other->build_id != NULL)
		return is_same_build_id(self->build_id, other->build_id,
			       self->is_build_id_padded || other->is_build_id_padded) &&
		       has_same_name(self->path, other->path);
	if (strcmp(self->path, other->path) != 0)
		return false;
	if (self->inode != 0 && other->inode != 0)
		return is_same_inode(self, other);
	/* One is known by its build-id, the other by its inode: the found files decide. */
	if ((self->build_id != NULL && other->inode != 0) ||
		(other->build_id != NULL && self->inode != 0))
		return false;
	return !(self->build_id != NULL && other->has_no_build_id) &&
	       !(other->build_id != NULL && self->has_no_build_id);
}

char *lode_image_files_path_of(const char *mapped)
{
	static const char suffix[] = " (deleted)";
	size_t n = strlen(mapped);

	if (g_str_has_suffix(mapped, suffix))
		n -= sizeof(suffix) - 1;
	return g_strndup(mapped, n);
}

/* --- given files --- */

static void add_to_list(GHashTable *lists, const char *key, Given *given)
{
	GPtrArray *list = g_hash_table_lookup(lists, key);

	if (list == NULL) {
		list = g_ptr_array_new();
		g_hash_table_insert(lists, g_strdup(key), list);
	}
	g_ptr_array_add(list, given);
}

static void add_given(LodeImageFiles *self, Given *given)
{
	g_autofree char *key = given->build_id != NULL ? key_of(given->build_id) : NULL;

	g_ptr_array_add(self->given, given);
	if (key != NULL)
		add_to_list(self->by_build_id, key, given);
	if (given->mapped_path != NULL)
		add_to_list(self->copies, given->mapped_path, given);
	else
		add_to_list(self->by_name, given->name, given);
}

/* A separate debug file has no code, and serves the binary of its build-id. */
static bool add_binary(LodeImageFiles *self, const char *path, const char *name)
{
	g_autoptr(LodeElfFile) file = lode_elf_file_open(path, NULL);
	Given *given;

	if (file != NULL && file->executable->len == 0 && file->build_id != NULL) {
		g_hash_table_insert(self->debug_files, g_strdup(file->build_id), g_strdup(path));
		return true;
	}
	if (file == NULL || file->executable->len == 0)
		return false;
	given = g_new0(Given, 1);
	given->path = g_strdup(path);
	given->name = g_path_get_basename(name);
	given->build_id = g_strdup(file->build_id);
	add_given(self, given);
	return true;
}

static bool set_too_many(const char *path, GError **error)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
		"%s: more than %d files are not searched for binaries", path, MAX_FILES);
	return false;
}

static bool add_folder(LodeImageFiles *self, const char *path, unsigned depth, GError **error)
{
	g_autoptr(GError) why = NULL;
	g_autoptr(GDir) folder = g_dir_open(path, 0, &why);
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	const char *name;

	if (folder == NULL) {
		/* Folders inside that the user may not read are skipped. */
		if (depth > 0)
			return true;
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", path, why->message);
		return false;
	}
	while ((name = g_dir_read_name(folder)) != NULL)
		g_ptr_array_add(names, g_strdup(name));
	g_ptr_array_sort(names, lode_compare_texts);
	for (guint i = 0; i < names->len; i++) {
		g_autofree char *inside = g_build_filename(path, names->pdata[i], NULL);
		struct stat status;
		if (++self->n_looked_at > MAX_FILES)
			return set_too_many(path, error);
		if (lstat(inside, &status) != 0)
			continue;
		if (S_ISDIR(status.st_mode) && depth < MAX_DEPTH &&
			!add_folder(self, inside, depth + 1, error))
			return false;
		if (S_ISREG(status.st_mode) && lode_elf_file_is_at(inside))
			add_binary(self, inside, names->pdata[i]);
	}
	return true;
}

static bool open_folder(LodeImageFiles *self, GError **error)
{
	if (self->folder == NULL)
		self->folder = lode_private_folder_new(error);
	return self->folder != NULL;
}

/* Neither names nor links of an archive lead anywhere: a file counts by its own build-id. */
static bool add_archive(LodeImageFiles *self, const char *path, GError **error)
{
	g_autoptr(LodeImageArchive) archive = lode_image_archive_open(path, error);
	const char *name;
	char *unpacked;
	int found = -1;

	if (archive == NULL || !open_folder(self, error))
		return false;
	while ((found = lode_image_archive_next(archive, self->folder, &name, &unpacked, error)) >
		0) {
		/* perf's cache has a file as its original path, then its build-id, then "elf". */
		bool is_cached = g_str_has_suffix(name, "/elf") || g_str_has_suffix(name, "/vdso");
		g_autofree char *folder = g_path_get_dirname(name);
		g_autofree char *original = g_path_get_dirname(folder);
		if (!add_binary(self, unpacked, is_cached ? original : name))
			unlink(unpacked);
		g_free(unpacked);
	}
	return found == 0;
}

bool lode_image_files_add_root(LodeImageFiles *self, const char *folder, GError **error)
{
	if (!g_file_test(folder, G_FILE_TEST_IS_DIR)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: not a folder", folder);
		return false;
	}
	g_ptr_array_add(self->roots, g_strdup(folder));
	return true;
}

bool lode_image_files_is_format(const char *data, size_t size)
{
	return (size >= 4 && memcmp(data, "\177ELF", 4) == 0) ||
	       lode_image_archive_is_format(data, size);
}

static bool is_packed_binary(const char *path)
{
	char head[4];
	size_t n;

	return lode_input_file_read_start(path, head, sizeof(head), &n, NULL) &&
	       n == sizeof(head) && memcmp(head, "\177ELF", 4) == 0;
}

bool lode_image_files_give(LodeImageFiles *self, const char *path, GError **error)
{
	if (g_file_test(path, G_FILE_TEST_IS_DIR))
		return add_folder(self, path, 0, error);
	if (!lode_elf_file_is_at(path) && is_packed_binary(path)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"%s: a compressed binary: decompress it first", path);
		return false;
	}
	if (!lode_elf_file_is_at(path))
		return add_archive(self, path, error);
	g_autoptr(LodeElfFile) file = lode_elf_file_open(path, error);
	if (file == NULL)
		return false;
	if (add_binary(self, path, path))
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED, "%s: has no code", path);
	return false;
}

bool lode_image_files_add_copies(LodeImageFiles *self, LodePerfData *data, GError **error)
{
	const GArray *files = lode_perf_data_info(data)->files;

	for (guint i = 0; i < files->len; i++) {
		const LodePerfFile *file = &g_array_index(files, LodePerfFile, i);
		g_autofree char *path = NULL;
		if (file->content_size == 0)
			continue;
		if (!open_folder(self, error))
			return false;
		path = lode_private_folder_next(self->folder, file->path);
		if (!lode_perf_data_unpack(data, file, path, error))
			return false;
		Given *given = g_new0(Given, 1);
		given->path = g_steal_pointer(&path);
		given->name = g_path_get_basename(file->path);
		given->build_id = g_strdup(file->build_id);
		given->mapped_path = g_strdup(file->path);
		given->identity = (LodeImageIdentity){
			.path = given->mapped_path,
			.device_major = file->device_major,
			.device_minor = file->device_minor,
			.inode = file->inode,
			.generation = file->generation,
		};
		add_given(self, given);
	}
	return true;
}

/* --- finding --- */

/* Among the given files, or among the copies in a recording, which are known by inode too. */
static bool find_given(const LodeImageFiles *self, const LodeImageIdentity *identity,
	bool wants_copies, LodeFoundImageFile *out)
{
	g_autofree char *key = identity->build_id != NULL ? key_of(identity->build_id)
	                                                  : g_strdup(identity->path);
	const GPtrArray *list = g_hash_table_lookup(
		identity->build_id != NULL ? self->by_build_id : self->copies, key);

	for (guint i = 0; list != NULL && i < list->len; i++) {
		const Given *given = list->pdata[i];
		bool is_it = identity->build_id != NULL
		                     ? has_build_id(identity, given->build_id)
		                     : identity->inode != 0 &&
		                               is_same_inode(&given->identity, identity);
		if (!is_it || (given->mapped_path != NULL) != wants_copies)
			continue;
		out->path = g_strdup(given->path);
		return true;
	}
	return false;
}

/* Files that have this name, where no build-id was recorded. */
static bool find_by_name(
	const LodeImageFiles *self, const LodeImageIdentity *identity, LodeFoundImageFile *out)
{
	g_autofree char *path = lode_image_files_path_of(identity->path);
	g_autofree char *name = g_path_get_basename(path);
	const GPtrArray *list = g_hash_table_lookup(self->by_name, name);

	if (list == NULL || identity->build_id != NULL || identity->has_other_builds)
		return false;
	const Given *given = NULL;
	for (guint i = 0; i < list->len && given == NULL; i++) {
		const Given *one = list->pdata[i];
		if (!identity->has_no_build_id || one->build_id == NULL)
			given = one;
	}
	if (given == NULL)
		return false;
	out->path = g_strdup(given->path);
	out->note = g_strdup_printf("%s: taken by its name for %s, whose build-id is not recorded",
		given->path, identity->path);
	return true;
}

static const char *text_or_none(const char *build_id)
{
	return build_id != NULL ? build_id : "none";
}

static char *mismatch_text(const LodeImageIdentity *identity, const char *path, const char *now)
{
	return g_strdup_printf("%s: not the file that was recorded: its build-id is %s, it was %s",
		path, text_or_none(now), text_or_none(identity->build_id));
}

static char *several_builds_text(const char *path)
{
	return g_strdup_printf("%s: not known to be the file that was recorded: the recording has "
			       "several builds of this path",
		path);
}

static int64_t changed_ns(const struct stat *status)
{
	return (int64_t)status->st_mtim.tv_sec * G_GINT64_CONSTANT(1000000000) +
	       status->st_mtim.tv_nsec;
}

/*
 * A file at the recorded path, where no build-id was recorded. The inode decides where the device
 * is the same, and on the machine that recorded; a device has another number on another machine,
 * and may have one after the next start.
 */
static bool check_without_build_id(const LodeImageIdentity *identity, const char *path,
	const char *now, LodeFoundImageFile *out)
{
	const char *host = identity->host;
	bool is_own_host = host != NULL && strcmp(host, g_get_host_name()) == 0;
	const LodeMappedFile recorded = {
		.device_major = identity->device_major,
		.device_minor = identity->device_minor,
		.inode = identity->inode,
		.generation = identity->generation,
		.path = path,
	};
	LodeMappedFileMatch match = identity->inode != 0 ? lode_mapped_file_match(&recorded, path)
	                                                 : LODE_MAPPED_FILE_OTHER_DEVICE;
	struct stat status;

	if (stat(path, &status) != 0)
		return false;
	bool is_newer = identity->recorded_ns != 0 && changed_ns(&status) > identity->recorded_ns;
	if (match == LODE_MAPPED_FILE_SAME && !is_newer)
		return true;
	if (match == LODE_MAPPED_FILE_SAME || (identity->inode == 0 && is_newer))
		out->why_not = g_strdup_printf(
			"%s: not the file that was recorded: it was changed after the recording",
			path);
	else if (match == LODE_MAPPED_FILE_OTHER_INODE || (identity->inode != 0 && is_own_host))
		out->why_not = g_strdup_printf("%s: not the file that was recorded: its inode is "
					       "%" G_GUINT64_FORMAT ", it was %" G_GUINT64_FORMAT,
			path, (guint64)status.st_ino, identity->inode);
	else if (identity->has_no_build_id && now != NULL)
		out->why_not = mismatch_text(identity, path, now);
	else if (identity->has_other_builds)
		out->why_not = several_builds_text(path);
	else if (host != NULL && !is_own_host)
		out->why_not = g_strdup_printf("%s: not known to be the file that was recorded, "
					       "without a build-id, on %s",
			path, host);
	if (out->why_not != NULL)
		return false;
	if (identity->inode != 0 || is_newer)
		out->note = g_strdup_printf("%s: taken by its name: no build-id was recorded, "
					    "and %s",
			path,
			is_newer ? "it was changed after the recording"
				 : "its device and inode are different");
	return true;
}

static bool check_file(const LodeImageIdentity *identity, const char *path, LodeFoundImageFile *out)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeElfFile) file = NULL;

	if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
		return false;
	file = lode_elf_file_open(path, &error);
	if (file == NULL) {
		g_free(out->why_not);
		out->why_not = g_strdup(error->message);
		return false;
	}
	g_clear_pointer(&out->why_not, g_free);
	if (identity->build_id == NULL)
		return check_without_build_id(identity, path, file->build_id, out);
	if (has_build_id(identity, file->build_id))
		return true;
	out->why_not = mismatch_text(identity, path, file->build_id);
	return false;
}

/* A path of the recorded machine, as links lead there: those that begin with "/" stay below the
 * root. NULL: there is no file. */
static char *path_in_root(const char *root, const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT,
	};
	enum { MAX_TRIES = 64 };
	int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), descriptor = -1;
	g_autofree char *link = NULL;
	char *found = NULL;

	/* EAGAIN: something was renamed while ".." was followed. */
	for (unsigned i = 0; folder >= 0 && i < MAX_TRIES; i++) {
		descriptor = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
		if (descriptor >= 0 || errno != EAGAIN)
			break;
	}
	if (descriptor >= 0) {
		link = g_strdup_printf("/proc/self/fd/%d", descriptor);
		found = g_file_read_link(link, NULL);
		close(descriptor);
	} else if (errno == ENOSYS || errno == EPERM) {
		found = g_build_filename(root, path, NULL);
	}
	if (folder >= 0)
		close(folder);
	return found;
}

char *lode_image_files_find_below_roots(const LodeImageFiles *self, const char *path)
{
	for (guint i = 0; i < self->roots->len; i++) {
		char *found = path_in_root(self->roots->pdata[i], path);
		if (found != NULL && g_file_test(found, G_FILE_TEST_IS_REGULAR))
			return found;
		g_free(found);
	}
	return NULL;
}

static bool find_in_roots(
	const LodeImageFiles *self, const LodeImageIdentity *identity, LodeFoundImageFile *out)
{
	g_autofree char *recorded = lode_image_files_path_of(identity->path);

	for (guint i = 0; i < self->roots->len; i++) {
		g_autofree char *path = path_in_root(self->roots->pdata[i], recorded);
		g_autoptr(LodeElfFile)
			file = path != NULL && g_file_test(path, G_FILE_TEST_IS_REGULAR)
		                       ? lode_elf_file_open(path, NULL)
		                       : NULL;
		if (file == NULL)
			continue;
		bool is_unsure = identity->build_id == NULL && identity->has_other_builds;
		if (is_unsure ||
			(identity->build_id != NULL
					? !has_build_id(identity, file->build_id)
					: identity->has_no_build_id && file->build_id != NULL)) {
			g_free(out->why_not);
			out->why_not = is_unsure ? several_builds_text(path)
			                         : mismatch_text(identity, path, file->build_id);
			continue;
		}
		if (identity->build_id == NULL)
			out->note = g_strdup_printf(
				"%s: taken by its name: no build-id was recorded", path);
		out->path = g_steal_pointer(&path);
		return true;
	}
	return false;
}

static bool find_at_path(const LodeImageIdentity *identity, LodeFoundImageFile *out)
{
	g_autofree char *path = lode_image_files_path_of(identity->path);
	bool is_deleted = strcmp(path, identity->path) != 0;

	/* The file there now is known to be the same by its build-id alone. */
	if (path[0] == '[' || (is_deleted && identity->build_id == NULL) ||
		!check_file(identity, path, out))
		return false;
	out->path = g_steal_pointer(&path);
	return true;
}

/* perf's cache has a folder for each build-id, distributions have links to the files. */
static bool find_by_build_id(
	const LodeImageFiles *self, const LodeImageIdentity *identity, LodeFoundImageFile *out)
{
	static const char *const ends[] = {"/elf", "/vdso", ""};
	const char *const folders[] = {self->own_cache, "/usr/lib/debug", "/usr/lib"};
	size_t n = identity->build_id != NULL ? strlen(identity->build_id) : 0;
	size_t shortest = identity->is_build_id_padded ? length_without_zeros(identity->build_id)
	                                               : n;

	/* The padding may be a part of the id. */
	for (; n > 2 && n >= shortest; n -= 2)
		for (size_t i = 0; i < G_N_ELEMENTS(folders); i++)
			for (size_t j = 0; j < G_N_ELEMENTS(ends); j++) {
				g_autofree char *path = g_strdup_printf("%s/.build-id/%.2s/%.*s%s",
					folders[i], identity->build_id, (int)(n - 2),
					identity->build_id + 2, ends[j]);
				g_autoptr(LodeElfFile)
					file = g_file_test(path, G_FILE_TEST_IS_REGULAR)
				                       ? lode_elf_file_open(path, NULL)
				                       : NULL;
				if (file == NULL || file->executable->len == 0 ||
					!has_build_id(identity, file->build_id))
					continue;
				out->path = g_steal_pointer(&path);
				return true;
			}
	return false;
}

/* The vDSO of this kernel is the recorded one if it has its build-id, or, without one, on the
 * machine that recorded. */
static bool find_vdso(
	LodeImageFiles *self, const LodeImageIdentity *identity, LodeFoundImageFile *out)
{
	g_autofree char *now = NULL;

	if (strcmp(identity->path, "[vdso]") != 0)
		return false;
	now = lode_vdso_image_build_id();
	if (identity->build_id != NULL ? !has_build_id(identity, now)
				       : g_strcmp0(identity->host, g_get_host_name()) != 0) {
		g_free(out->why_not);
		out->why_not = g_strdup("[vdso]: not known to be that of this kernel");
		return false;
	}
	g_mutex_lock(&self->lock);
	if (self->vdso == NULL && open_folder(self, NULL))
		self->vdso = lode_vdso_image_write(self->folder, NULL);
	out->path = g_strdup(self->vdso);
	g_mutex_unlock(&self->lock);
	return out->path != NULL;
}

static bool find_debug_below(const char *folder, const char *build_id, const char *end, char **out)
{
	g_autofree char *path = g_strdup_printf(
		"%s/.build-id/%.2s/%s%s", folder, build_id, build_id + 2, end);

	if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
		return false;
	*out = g_steal_pointer(&path);
	return true;
}

/* Files in /usr/lib/debug are found without this. */
static void find_debug(
	const LodeImageFiles *self, const LodeImageIdentity *identity, LodeFoundImageFile *out)
{
	g_autoptr(LodeElfFile) file = NULL;
	const char *build_id = identity->is_build_id_padded ? NULL : identity->build_id;

	if (build_id == NULL && (self->roots->len > 0 || g_hash_table_size(self->debug_files) > 0))
		file = lode_elf_file_open(out->path, NULL);
	if (file != NULL)
		build_id = file->build_id;
	if (build_id == NULL || strlen(build_id) < 4)
		return;
	out->debug = g_strdup(g_hash_table_lookup(self->debug_files, build_id));
	for (guint i = 0; i < self->roots->len && out->debug == NULL; i++) {
		g_autofree char *folder = path_in_root(self->roots->pdata[i], "usr/lib/debug");
		if (folder != NULL)
			find_debug_below(folder, build_id, ".debug", &out->debug);
	}
	if (out->debug == NULL)
		find_debug_below(self->own_cache, build_id, "/debug", &out->debug);
}

static bool find_by_server(
	const LodeImageFiles *self, const LodeImageIdentity *identity, LodeFoundImageFile *out)
{
	/* A padded build-id is not asked for: how many of the zeros at its end belong to it is a
	 * guess. */
	g_autofree char *path = self->allow_debuginfod && !identity->is_build_id_padded
	                                ? lode_debug_file_fetch_binary(identity->build_id)
	                                : NULL;
	g_autoptr(LodeElfFile) file = path != NULL && g_file_test(path, G_FILE_TEST_IS_REGULAR)
	                                      ? lode_elf_file_open(path, NULL)
	                                      : NULL;

	/* A server may answer with any file. */
	if (file != NULL && has_build_id(identity, file->build_id))
		out->path = g_steal_pointer(&path);
	return out->path != NULL;
}

void lode_image_files_find(
	LodeImageFiles *self, const LodeImageIdentity *identity, LodeFoundImageFile *out)
{
	*out = (LodeFoundImageFile){NULL};
	if (find_given(self, identity, false, out) || find_in_roots(self, identity, out) ||
		find_given(self, identity, true, out) || find_at_path(identity, out) ||
		find_by_build_id(self, identity, out) || find_vdso(self, identity, out) ||
		find_by_name(self, identity, out) || find_by_server(self, identity, out))
		g_clear_pointer(&out->why_not, g_free);
	if (out->path != NULL)
		find_debug(self, identity, out);
}
