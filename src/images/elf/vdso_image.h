/* SPDX-License-Identifier: MIT */
/*
 * The vDSO: an ELF image that the kernel maps into each process, so that calls like
 * clock_gettime(2) need not enter the kernel (vdso(7)). No file holds it, but the pages of this
 * process are those of all 64-bit processes of the kernel that runs.
 */
#pragma once

#include "base/files/private_folder.h"

#include <stddef.h>
#include <stdint.h>

/* The image as it is mapped, to the end of its last page; NULL: the kernel maps none. */
const uint8_t *lode_vdso_image_bytes(size_t *out_size);

/* Its build-id in hex; NULL: none. The caller frees it. */
char *lode_vdso_image_build_id(void);

/* Writes it to a new file in the folder, whose path the caller frees. Errors: _IO, _NOT_FOUND (the
 * kernel maps none). */
char *lode_vdso_image_write(LodePrivateFolder *folder, GError **error);
