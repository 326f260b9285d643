/* SPDX-License-Identifier: MIT */
#include "sources/code/load_map_segments.h"

#include "base/error.h"
#include "base/files/regular_file.h"

#include <gelf.h>
#include <stdbool.h>
#include <unistd.h>

enum { MAX_SEGMENTS = 4096 };

static void add_segments(GArray *segments, Elf *elf, uint32_t flags)
{
	size_t n;

	if (elf_getphdrnum(elf, &n) != 0)
		return;
	for (size_t i = 0; i < MIN(n, MAX_SEGMENTS); i++) {
		GElf_Phdr header;
		if (gelf_getphdr(elf, (int)i, &header) == NULL || header.p_type != PT_LOAD ||
			(header.p_flags & flags) != flags || header.p_memsz == 0 ||
			header.p_vaddr > UINT64_MAX - header.p_memsz)
			continue;
		LodeLoadMapSegment segment = {.address = header.p_vaddr,
			.size_bytes = header.p_memsz,
			.offset = header.p_offset,
			.file_size_bytes = MIN(header.p_filesz, header.p_memsz),
			.is_executable = (header.p_flags & PF_X) != 0};
		g_array_append_val(segments, segment);
	}
}

static GArray *read_segments(int fd, uint32_t flags, GError **error)
{
	g_autoptr(GArray) segments = g_array_new(FALSE, FALSE, sizeof(LodeLoadMapSegment));

	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf != NULL && elf_kind(elf) == ELF_K_ELF)
		add_segments(segments, elf, flags);
	elf_end(elf);
	if (segments->len > 0)
		return g_steal_pointer(&segments);
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "not an ELF file with %s segment",
		flags != 0 ? "an executable" : "a loaded");
	return NULL;
}

static GArray *read_file(const char *path, uint32_t flags, GError **error)
{
	int fd = lode_regular_file_open(path, 0, error);

	if (fd < 0)
		return NULL;
	GArray *segments = read_segments(fd, flags, error);
	close(fd);
	return segments;
}

GArray *lode_load_map_segments_read(const char *path, GError **error)
{
	return read_file(path, PF_X, error);
}

GArray *lode_load_map_segments_read_all(const char *path, GError **error)
{
	return read_file(path, 0, error);
}
