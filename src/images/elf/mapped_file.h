/* SPDX-License-Identifier: MIT */
/*
 * The file that a mapping of a process is of, while the process runs. At its path as we see it may
 * lie another file, or none: in a container or chroot, after the file was replaced or removed, of
 * one that never had a path (memfd). Then the process leads to it:
 *
 *   PATH ─▶ /proc/PID/map_files/START-END ─▶ /proc/PID/exe ─▶ /proc/PID/root/PATH
 *
 * map_files is right by itself, but needs CAP_CHECKPOINT_RESTORE; the others count only when device
 * and inode are those of the mapping.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A mapping as in PERF_RECORD_MMAP2 or /proc/PID/maps. */
typedef struct {
	pid_t pid;
	uint64_t start, end;
	uint32_t device_major, device_minor;
	uint64_t inode, generation; /* generation 0: unknown */
	const char *path;           /* as the kernel writes it: "/a/b", "/a/b (deleted)" */
} LodeMappedFile;

typedef enum {
	LODE_MAPPED_FILE_SAME,
	LODE_MAPPED_FILE_OTHER_INODE,  /* another file of the same file system */
	LODE_MAPPED_FILE_OTHER_DEVICE, /* of another one, as it is numbered now; or no file */
} LodeMappedFileMatch;

/* Whether the file at a path is the mapped one, by device, inode and generation. */
LodeMappedFileMatch lode_mapped_file_match(const LodeMappedFile *mapped, const char *path);

/*
 * Opens it to be read; the caller closes the descriptor. −1: it cannot be found, or is not a
 * regular file. *out_path is where it was found, which opens it again as long as the process runs
 * and has it mapped; the caller frees it. May be NULL.
 */
int lode_mapped_file_open(const LodeMappedFile *mapped, char **out_path);

/* Whether a file is the one at a path, as this process sees it. */
bool lode_mapped_file_is_at(const struct stat *file, const char *path);
