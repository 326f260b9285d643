/* SPDX-License-Identifier: MIT */
/*
 * xz packs a gigabyte of zeros into some hundred kilobytes, so that the unpacked size is limited to
 * a multiple of the packed one. Symbols become about a fifth.
 */
#include "images/elf/packed_symbols.h"

#include <lzma.h>

enum {
	FIRST_BYTES = 1 << 16,
	FREE_BYTES = 16 << 20,
	MAX_EXPANSION = 32,            /* times the packed size, beyond FREE_BYTES */
	MAX_DECODER_BYTES = 128 << 20, /* xz -9 asks for 65 MiB */
};

/* False: broken, or too large. */
static bool unpack(const uint8_t *packed, size_t size, GByteArray *out)
{
	const uint64_t limit = FREE_BYTES + (uint64_t)size * MAX_EXPANSION;
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret status = lzma_stream_decoder(&stream, MAX_DECODER_BYTES, 0);

	stream.next_in = packed;
	stream.avail_in = size;
	while (status == LZMA_OK && stream.total_out < limit && out->len <= G_MAXINT32) {
		guint room = MAX(out->len, FIRST_BYTES), begin = out->len;

		g_byte_array_set_size(out, begin + room);
		stream.next_out = out->data + begin;
		stream.avail_out = room;
		status = lzma_code(&stream, LZMA_FINISH);
		g_byte_array_set_size(out, begin + room - (guint)stream.avail_out);
	}
	lzma_end(&stream);
	return status == LZMA_STREAM_END;
}

LodeElfFile *lode_packed_symbols_open(const LodeElfFile *image, const char **out_warning)
{
	const LodeElfSection *section = lode_elf_file_find_section(image, ".gnu_debugdata");
	const uint8_t *bytes = section != NULL ? lode_elf_section_bytes(section) : NULL;
	g_autofree char *name = g_strconcat(image->path, ": .gnu_debugdata", NULL);
	g_autoptr(GByteArray) unpacked = g_byte_array_new();
	LodeElfFile *file = NULL;

	if (bytes == NULL || section->size == 0)
		return NULL;
	if (unpack(bytes, (size_t)section->size, unpacked))
		file = lode_elf_file_open_bytes(name, unpacked->data, unpacked->len, NULL);
	if (file == NULL)
		*out_warning = "the symbols in .gnu_debugdata cannot be unpacked";
	return file;
}
