/* SPDX-License-Identifier: MIT */
/* A walk over .eh_frame that reads no more of an entry than where it begins and how long it is. */
#include "images/dwarf/unwind_functions.h"

#include <string.h>

/* Pointer encodings (DW_EH_PE_…): low four bits the format, next three the base. */
enum {
	FORMAT_POINTER = 0x00,
	FORMAT_ULEB128 = 0x01,
	FORMAT_U16 = 0x02,
	FORMAT_U32 = 0x03,
	FORMAT_U64 = 0x04,
	FORMAT_SLEB128 = 0x09,
	FORMAT_S16 = 0x0a,
	FORMAT_S32 = 0x0b,
	FORMAT_S64 = 0x0c,
	BASE_ABSOLUTE = 0x00,
	BASE_PLACE = 0x10,
	ENCODING_INDIRECT = 0x80,
	ENCODING_OMITTED = 0xff,
};

/* A reader that stays inside [data, data + size): once it overran, all it gives is 0. */
typedef struct {
	const LodeElfFile *file; /* numbers are in its byte order */
	const uint8_t *data;
	uint64_t address; /* virtual address of data[0] */
	size_t size, offset;
	bool has_overrun;
} Cursor;

typedef struct {
	size_t offset; /* of the CIE; 0 is that of the first one, so is_known is needed */
	bool is_known;
	uint8_t encoding;
} Frame;

static uint64_t read_fixed(Cursor *cursor, size_t n)
{
	if (cursor->has_overrun || n > cursor->size - cursor->offset) {
		cursor->has_overrun = true;
		return 0;
	}
	cursor->offset += n;
	return lode_elf_file_number(cursor->file, cursor->data + cursor->offset - n, n);
}

static uint64_t read_leb128(Cursor *cursor, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)read_fixed(cursor, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) && !cursor->has_overrun);
	if (is_signed && shift < 64 && (byte & 0x40))
		value |= UINT64_MAX << shift;
	return value;
}

static uint64_t read_format(Cursor *cursor, uint8_t format)
{
	switch (format) {
	case FORMAT_POINTER:
		return read_fixed(cursor, cursor->file->is_32 ? 4 : 8);
	case FORMAT_U64:
	case FORMAT_S64:
		return read_fixed(cursor, 8);
	case FORMAT_ULEB128:
		return read_leb128(cursor, false);
	case FORMAT_SLEB128:
		return read_leb128(cursor, true);
	case FORMAT_U16:
		return read_fixed(cursor, 2);
	case FORMAT_S16:
		return (uint64_t)(int64_t)(int16_t)read_fixed(cursor, 2);
	case FORMAT_U32:
		return read_fixed(cursor, 4);
	case FORMAT_S32:
		return (uint64_t)(int64_t)(int32_t)read_fixed(cursor, 4);
	default:
		cursor->has_overrun = true;
		return 0;
	}
}

static uint64_t read_pointer(Cursor *cursor, uint8_t encoding)
{
	uint64_t place = cursor->address + cursor->offset;
	uint64_t value = read_format(cursor, encoding & 0x0f);

	switch (encoding & 0x70) {
	case BASE_ABSOLUTE:
		return value;
	case BASE_PLACE:
		return cursor->file->is_32 ? (uint32_t)(place + value) : place + value;
	default:
		cursor->has_overrun = true;
		return 0;
	}
}

/* The encoding that a CIE gives its entries: letter R of the augmentation. */
static bool read_cie(Cursor *cursor, uint8_t *out_encoding)
{
	uint8_t version = (uint8_t)read_fixed(cursor, 1);
	const char *letter = (const char *)cursor->data + cursor->offset;
	const void *end = memchr(letter, '\0', cursor->size - cursor->offset);

	*out_encoding = FORMAT_POINTER;
	/* 1 is what compilers write into .eh_frame; 3 and 4 are DWARF's own */
	if (cursor->has_overrun || end == NULL || (version != 1 && version != 3 && version != 4))
		return false;
	cursor->offset = (size_t)((const uint8_t *)end - cursor->data) + 1;
	/* without z the size of what the other letters stand for is not said, and cannot be passed
	 */
	if (*letter != 'z')
		return *letter == '\0';
	if (version == 4)
		read_fixed(cursor, 2);
	read_leb128(cursor, false);
	read_leb128(cursor, true);
	if (version == 1)
		read_fixed(cursor, 1);
	else
		read_leb128(cursor, false);
	read_leb128(cursor, false);
	for (letter++; *letter != '\0'; letter++) {
		if (*letter == 'R')
			*out_encoding = (uint8_t)read_fixed(cursor, 1);
		else if (*letter == 'P')
			read_format(cursor, (uint8_t)read_fixed(cursor, 1) & 0x0f);
		else if (*letter == 'L')
			read_fixed(cursor, 1);
		else if (*letter != 'S' && *letter != 'B')
			break;
	}
	return !cursor->has_overrun;
}

static void read_fde(Cursor *cursor, uint8_t encoding, GArray *out_ranges)
{
	LodeUnwindRange range;

	if (encoding == ENCODING_OMITTED || (encoding & ENCODING_INDIRECT))
		return;
	range.address = read_pointer(cursor, encoding);
	range.size = read_format(cursor, encoding & 0x0f);
	if (!cursor->has_overrun && range.size > 0 && range.size <= UINT64_MAX - range.address)
		g_array_append_val(out_ranges, range);
}

/* The CIE at `offset`; entries of one CIE mostly stand together, so the last one is remembered. */
static bool find_frame(const Cursor *table, size_t offset, Frame *frame)
{
	Cursor cursor = *table;
	uint64_t length, id;

	if (frame->is_known && frame->offset == offset)
		return true;
	cursor.offset = offset;
	length = read_fixed(&cursor, 4);
	if (length == UINT32_MAX)
		length = read_fixed(&cursor, 8);
	if (cursor.has_overrun || length > cursor.size - cursor.offset)
		return false;
	cursor.size = cursor.offset + (size_t)length;
	id = read_fixed(&cursor, 4);
	frame->is_known = id == 0 && read_cie(&cursor, &frame->encoding);
	frame->offset = offset;
	return frame->is_known;
}

/* One entry from its id on; `cursor` ends where the entry does. */
static bool read_entry(const Cursor *table, Cursor cursor, Frame *frame, GArray *out_ranges)
{
	size_t id_offset = cursor.offset;
	uint64_t id = read_fixed(&cursor, 4);

	if (cursor.has_overrun)
		return false;
	if (id == 0)
		return true;
	/* an entry's id is the way back to its CIE: unlike .debug_frame's, which counts from the
	 * start */
	if (id > id_offset || !find_frame(table, id_offset - (size_t)id, frame))
		return false;
	read_fde(&cursor, frame->encoding, out_ranges);
	return !cursor.has_overrun;
}

static bool read_table(Cursor table, GArray *out_ranges)
{
	Cursor cursor = table;
	Frame frame = {0};
	bool is_sound = true;

	while (cursor.offset < cursor.size) {
		uint64_t length = read_fixed(&cursor, 4);
		Cursor entry;

		/* the linker ends the table with a length of 0; what follows is padding */
		if (length == 0 && !cursor.has_overrun)
			break;
		if (length == UINT32_MAX)
			length = read_fixed(&cursor, 8);
		if (cursor.has_overrun || length > cursor.size - cursor.offset)
			return false;
		entry = cursor;
		entry.size = cursor.offset + (size_t)length;
		is_sound &= read_entry(&table, entry, &frame, out_ranges);
		cursor.offset += (size_t)length;
	}
	return is_sound;
}

/* Without section headers the table is found through the program header of .eh_frame_hdr. */
static bool find_by_segment(const LodeElfFile *file, Cursor *table)
{
	for (size_t i = 0; i < file->n_segments; i++) {
		Cursor header = {.file = file, .address = file->segments[i].p_vaddr};
		uint8_t encoding;

		if (file->segments[i].p_type != PT_GNU_EH_FRAME)
			continue;
		header.data = lode_elf_file_loaded_bytes(file, header.address, &header.size);
		if (header.data == NULL || read_fixed(&header, 1) != 1)
			return false;
		encoding = (uint8_t)read_fixed(&header, 1);
		read_fixed(&header, 2);
		table->address = read_pointer(&header, encoding);
		if (header.has_overrun)
			return false;
		table->data = lode_elf_file_loaded_bytes(file, table->address, &table->size);
		return table->data != NULL;
	}
	return false;
}

bool lode_unwind_functions_read(const LodeElfFile *file, GArray *out_ranges)
{
	const LodeElfSection *section = lode_elf_file_find_section(file, ".eh_frame");
	Cursor table = {.file = file};

	if (section != NULL && !(section->flags & SHF_COMPRESSED)) {
		table.data = lode_elf_section_bytes(section);
		if (table.data == NULL)
			return section->size == 0;
		table.size = (size_t)section->size;
		table.address = section->address;
	} else if (!find_by_segment(file, &table)) {
		return true;
	}
	return read_table(table, out_ranges);
}
