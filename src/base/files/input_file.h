/* SPDX-License-Identifier: MIT */
/*
 * A regular file that is read, never mapped into memory: another program may cut it short at any
 * time, and to touch a page of a mapping that the file has lost kills the process (SIGBUS).
 *
 * Errors name the file: "x.data: No such file or directory"; of a file that changed meanwhile also
 * the offset: "x.data: at offset 4096: the file was cut short while it was read".
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	char *path;
	int fd;
	uint64_t size; /* bytes, when it was opened */
} LodeInputFile;

/* Opens without blocking: a path that comes from another input may name a pipe. Errors: _IO. */
LodeInputFile *lode_input_file_open(const char *path, GError **error);
void lode_input_file_close(LodeInputFile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeInputFile, lode_input_file_close)

/*
 * The same, but a compressed file (gzip, xz, zstd, bzip2) is unpacked to a file without a name in
 * the directory for temporary files. Its size is limited by that of the compressed file. Errors:
 * also _CORRUPT, _LIMIT; they say how to decompress it first.
 */
LodeInputFile *lode_input_file_open_unpacked(const char *path, GError **error);

/* The first bytes of what a file holds, unpacked, fewer only if it has fewer. Errors as above. */
bool lode_input_file_read_start(
	const char *path, void *out, size_t size, size_t *out_n, GError **error);

/* Exactly `size` bytes from `offset` on. Errors: _IO. */
bool lode_input_file_read(
	const LodeInputFile *self, uint64_t offset, void *out, size_t size, GError **error);

/* The same into new memory that the caller owns (g_free), and a NUL after them. The range must lie
 * inside the file. Errors: _IO, _LIMIT (no memory for them). */
char *lode_input_file_load(
	const LodeInputFile *self, uint64_t offset, uint64_t size, GError **error);
