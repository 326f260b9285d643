/* SPDX-License-Identifier: MIT */
/* What the fuzz targets of the forms of address traces share: in, out, and in again. */
#pragma once

#include "base/files/stream_decoder.h"
#include "fuzz_target.h"
#include "sources/references/reference_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUZZ_MAX_REFERENCES = 1 << 20 }; /* a decompression bomb is not waited for */

static inline GArray *fuzz_read_references(const uint8_t *data, size_t size, int form)
{
	g_autoptr(GError) error = NULL;
	GArray *all = g_array_new(FALSE, TRUE, sizeof(LodeReference));
	int descriptor = open(fuzz_file(data, size), O_RDONLY | O_CLOEXEC);
	g_autoptr(LodeReferenceReader)
		reader = lode_reference_reader_open(descriptor, "x", form, &error);
	LodeReference some[1000];
	ptrdiff_t n = 0;

	while (reader != NULL && all->len < FUZZ_MAX_REFERENCES &&
		(n = lode_reference_reader_next(reader, some, 1000, &error)) > 0)
		g_array_append_vals(all, some, (guint)n);
	if ((reader == NULL || n < 0) != (error != NULL))
		g_error("a result and an error");
	if (reader != NULL)
		g_free(lode_reference_reader_losses(reader));
	close(descriptor);
	return all;
}

/* NULL: the form cannot hold one of them. */
static inline char *fuzz_write_references(const GArray *all, int form, size_t *out_size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, out_size);
	g_autoptr(LodeReferenceWriter)
		writer = lode_reference_writer_new((LodeReferenceForm)form, out);
	bool is_written = lode_reference_writer_add(
				  writer, (const LodeReference *)all->data, all->len, NULL) &&
	                  lode_reference_writer_finish(writer, NULL);

	g_free(lode_reference_writer_losses(writer));
	fclose(out);
	if (!is_written)
		g_clear_pointer(&text, free);
	return text;
}

/* Reads as the form; what is written of it must be read as the same references. */
static inline void fuzz_round_trip(const uint8_t *data, size_t size, int form)
{
	g_autoptr(GArray) all = fuzz_read_references(data, size, form);
	size_t text_size;
	g_autofree char *text = fuzz_write_references(all, form, &text_size);

	if (text == NULL)
		g_error("what was read cannot be written");
	/* One in 2^24 addresses begins as gzip's files do. */
	if (lode_stream_decoder_find((const uint8_t *)text, text_size) != NULL)
		return;
	g_autoptr(GArray) again = fuzz_read_references((const uint8_t *)text, text_size, form);
	if (again->len != all->len)
		g_error("%u references, then %u", all->len, again->len);
	for (guint i = 0; i < all->len; i++) {
		const LodeReference *a = &g_array_index(all, LodeReference, i);
		const LodeReference *b = &g_array_index(again, LodeReference, i);
		if (a->address != b->address || a->size != b->size || a->kind != b->kind ||
			a->thread != b->thread)
			g_error("reference %u is another one", i);
	}
}
