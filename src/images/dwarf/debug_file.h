/* SPDX-License-Identifier: MIT */
/* The separate file that holds a stripped image's symbols and debug
 * information. */
#pragma once

#include "images/elf/binary_image.h"
#include "images/elf/elf_file.h"

/*
 * Looks, in this order, at the file that the options name, by build-id under the debug directory,
 * by .gnu_debuglink beside the image and in the debug directory, and, when the options allow it, at
 * the debuginfod servers. A file that does not belong to the image (other build-id, other checksum)
 * is skipped. NULL: none.
 */
LodeElfFile *lode_debug_file_find(const LodeElfFile *image, const LodeBinaryImageOptions *options);

/* The binary of a build-id from the servers in DEBUGINFOD_URLS, in their client's cache; NULL: they
 * have none. The caller frees the path. */
char *lode_debug_file_fetch_binary(const char *build_id);
