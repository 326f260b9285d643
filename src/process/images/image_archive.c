/* SPDX-License-Identifier: MIT */
#include "process/images/image_archive.h"

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/files/write_at.h"
#include "machine/late_library.h"

#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ENTRIES = 1 << 20, BLOCK_BYTES = 1 << 16 };
#define MAX_UNPACKED_BYTES (UINT64_C(16) << 30)

/* libarchive needs libxml2 and, with it, ICU. */
typedef struct {
	__typeof__(&archive_read_new) read_new;
	__typeof__(&archive_read_support_format_tar) support_format_tar;
	__typeof__(&archive_read_open_fd) open_fd;
	__typeof__(&archive_read_next_header) next_header;
	__typeof__(&archive_read_data_block) data_block;
	__typeof__(&archive_read_free) read_free;
	__typeof__(&archive_error_string) error_string;
	__typeof__(&archive_filter_bytes) filter_bytes;
	__typeof__(&archive_entry_pathname) pathname;
	__typeof__(&archive_entry_filetype) filetype;
} Library;

struct LodeImageArchive {
	Library library;
	LodeInputFile *file; /* unpacked */
	char *path;
	struct archive *archive;
	uint64_t n_entries, unpacked_bytes;
};

bool lode_image_archive_is_format(const char *data, size_t size)
{
	enum { MAGIC_OFFSET = 257 };

	return size >= MAGIC_OFFSET + 5 && memcmp(data + MAGIC_OFFSET, "ustar", 5) == 0;
}

static bool open_library(Library *out, GError **error)
{
	const LodeLateSymbol symbols[] = {
		{"archive_read_new", &out->read_new},
		{"archive_read_support_format_tar", &out->support_format_tar},
		{"archive_read_open_fd", &out->open_fd},
		{"archive_read_next_header", &out->next_header},
		{"archive_read_data_block", &out->data_block},
		{"archive_read_free", &out->read_free},
		{"archive_error_string", &out->error_string},
		{"archive_filter_bytes", &out->filter_bytes},
		{"archive_entry_pathname", &out->pathname},
		{"archive_entry_filetype", &out->filetype},
	};

	return lode_late_library_open(
		"libarchive.so.13", RTLD_LAZY, symbols, G_N_ELEMENTS(symbols), error);
}

/* Warnings are about names or attributes that this locale or system does not have. */
static bool is_usable(int status)
{
	return status == ARCHIVE_OK || status == ARCHIVE_WARN;
}

static void set_damaged(const LodeImageArchive *self, GError **error)
{
	const char *why = self->library.error_string(self->archive);

	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
		"%s: at offset %" G_GINT64_FORMAT " of the archive: %s", self->path,
		(gint64)self->library.filter_bytes(self->archive, -1),
		why != NULL ? why : "not a tar archive");
}

LodeImageArchive *lode_image_archive_open(const char *path, GError **error)
{
	g_autoptr(LodeImageArchive) self = g_new0(LodeImageArchive, 1);

	self->path = g_strdup(path);
	self->file = lode_input_file_open_unpacked(path, error);
	if (self->file == NULL)
		return NULL;
	if (!open_library(&self->library, error)) {
		g_prefix_error(error, "%s: ", path);
		return NULL;
	}
	self->archive = self->library.read_new();
	self->library.support_format_tar(self->archive);
	if (lseek(self->file->fd, 0, SEEK_SET) == 0 &&
		self->library.open_fd(self->archive, self->file->fd, BLOCK_BYTES) == ARCHIVE_OK)
		return g_steal_pointer(&self);
	set_damaged(self, error);
	return NULL;
}

void lode_image_archive_close(LodeImageArchive *self)
{
	if (self == NULL)
		return;
	if (self->archive != NULL)
		self->library.read_free(self->archive);
	lode_input_file_close(self->file);
	g_free(self->path);
	g_free(self);
}

static bool write_block(LodeImageArchive *self, int descriptor, const void *block, size_t size,
	int64_t offset, GError **error)
{
	self->unpacked_bytes += size;
	if (self->unpacked_bytes > MAX_UNPACKED_BYTES) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT, "%s: more than %d GiB of binaries",
			self->path, (int)(MAX_UNPACKED_BYTES >> 30));
		return false;
	}
	if (descriptor >= 0 && lode_write_at(descriptor, block, size, (uint64_t)offset))
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: cannot be unpacked: %s", self->path,
		g_strerror(errno));
	return false;
}

/* *out_path NULL: the entry at hand is not an ELF file. */
static bool unpack(LodeImageArchive *self, LodePrivateFolder *folder, const char *name,
	char **out_path, GError **error)
{
	g_autofree char *path = NULL;
	int descriptor = -1, status;
	bool is_elf = true, is_written = true;
	const void *block;
	int64_t offset;
	size_t size;

	while (is_elf && is_written &&
		is_usable(
			status = self->library.data_block(self->archive, &block, &size, &offset))) {
		if (path == NULL) {
			is_elf = offset == 0 && size >= 4 && memcmp(block, "\177ELF", 4) == 0;
			if (!is_elf)
				break;
			path = lode_private_folder_next(folder, name);
			descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		}
		is_written = write_block(self, descriptor, block, size, offset, error);
	}
	if (descriptor >= 0)
		close(descriptor);
	if (is_elf && is_written && status != ARCHIVE_EOF) {
		set_damaged(self, error);
		is_written = false;
	}
	if (is_written)
		*out_path = g_steal_pointer(&path);
	return is_written;
}

int lode_image_archive_next(LodeImageArchive *self, LodePrivateFolder *folder,
	const char **out_name, char **out_path, GError **error)
{
	struct archive_entry *entry;
	int status;

	*out_path = NULL;
	while (is_usable(status = self->library.next_header(self->archive, &entry))) {
		const char *name = self->library.pathname(entry);
		if (++self->n_entries > MAX_ENTRIES) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT, "%s: more than %d files",
				self->path, MAX_ENTRIES);
			return -1;
		}
		if (self->library.filetype(entry) != AE_IFREG)
			continue;
		if (name == NULL)
			name = "unnamed";
		if (!unpack(self, folder, name, out_path, error))
			return -1;
		*out_name = name;
		if (*out_path != NULL)
			return 1;
	}
	if (status == ARCHIVE_EOF)
		return 0;
	set_damaged(self, error);
	return -1;
}
