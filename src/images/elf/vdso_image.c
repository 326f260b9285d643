/* SPDX-License-Identifier: MIT */
#include "images/elf/vdso_image.h"

#include "base/error.h"
#include "base/text/hex_text.h"

#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <sys/auxv.h>

const uint8_t *lode_vdso_image_bytes(size_t *out_size)
{
	const unsigned long address = getauxval(AT_SYSINFO_EHDR);
	FILE *maps = address != 0 ? fopen("/proc/self/maps", "re") : NULL;
	const uint8_t *bytes = NULL;
	unsigned long start, end;
	char line[512];

	/* Its own header has a size too, but not how much of that is mapped. */
	while (maps != NULL && bytes == NULL && fgets(line, sizeof(line), maps) != NULL) {
		if (sscanf(line, "%lx-%lx", &start, &end) != 2 || start != address)
			continue;
		bytes = (const uint8_t *)address; // NOLINT(performance-no-int-to-ptr)
		*out_size = end - start;
	}
	if (maps != NULL)
		fclose(maps);
	return bytes;
}

char *lode_vdso_image_build_id(void)
{
	char *hex = NULL;
	const void *id;
	size_t size;
	const uint8_t *bytes = lode_vdso_image_bytes(&size);

	elf_version(EV_CURRENT);
	/* libelf does not write to memory that it only reads */
	Elf *elf = bytes != NULL ? elf_memory((char *)bytes, size) : NULL;
	ssize_t n = elf != NULL ? dwelf_elf_gnu_build_id(elf, &id) : -1;
	if (n > 0)
		hex = lode_hex_text(id, (size_t)n);
	elf_end(elf);
	return hex;
}

char *lode_vdso_image_write(LodePrivateFolder *folder, GError **error)
{
	size_t size;
	const uint8_t *bytes = lode_vdso_image_bytes(&size);

	if (bytes == NULL) {
		g_set_error_literal(
			error, LODE_ERROR, LODE_ERROR_NOT_FOUND, "the kernel maps no vDSO here");
		return NULL;
	}
	g_autofree char *path = lode_private_folder_next(folder, "vdso.so");
	g_autoptr(GError) cause = NULL;
	if (g_file_set_contents(path, (const char *)bytes, (gssize)size, &cause))
		return g_steal_pointer(&path);
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_IO, cause->message);
	return NULL;
}
