/* SPDX-License-Identifier: MIT */
/*
 * The binaries in a tar archive, compressed or not, as 'perf archive' makes of the files that a
 * recording needs. Read by libarchive, which is opened when it is needed. Private to process/.
 */
#pragma once

#include "base/files/private_folder.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct LodeImageArchive LodeImageArchive;

/* Whether the first bytes of a file, unpacked, are those of a tar archive (POSIX or GNU). */
bool lode_image_archive_is_format(const char *data, size_t size);

/* Errors: _IO, _CORRUPT, _LIMIT, _UNSUPPORTED (libarchive is not installed). */
LodeImageArchive *lode_image_archive_open(const char *path, GError **error);
void lode_image_archive_close(LodeImageArchive *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeImageArchive, lode_image_archive_close)

/*
 * Unpacks the next ELF file to a new file in the folder: 1, with the name that it has in the
 * archive, valid until the next call, and the path, which the caller frees; 0: there is none. −1:
 * errors as above. More than 2^20 entries, and than 16 GiB unpacked, are an error.
 */
int lode_image_archive_next(LodeImageArchive *self, LodePrivateFolder *folder,
	const char **out_name, char **out_path, GError **error);
