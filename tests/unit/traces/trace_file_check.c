/* SPDX-License-Identifier: MIT */
#include "trace_file_check.h"

#include <glib/gstdio.h>
#include <malloc.h>
#include <sys/mman.h>

enum { BATCH = 777, KEPT_BYTES = 64 << 20 };

char *lode_new_trace_path(void)
{
	g_autofree char *folder = g_dir_make_tmp("lode-trace-XXXXXX", NULL);

	/* Thousands of readers, one after the other, would each return their memory to the kernel,
	 * which has to clear it for the next. */
	mallopt(M_TOP_PAD, KEPT_BYTES);
	return g_build_filename(folder, "x.rps", NULL);
}

void lode_remove_trace(const char *path)
{
	g_autofree char *folder = g_path_get_dirname(path);

	g_unlink(path);
	g_assert_cmpint(g_rmdir(folder), ==, 0);
}

static LodeTraceDescription *describe(void)
{
	LodeTraceDescription *self = lode_trace_description_new();
	LodeTraceMapping mapping = {0x400000, 0x401000, 4096, 0, PROT_READ | PROT_EXEC,
		lode_trace_description_intern(self, "/usr/bin/program"),
		lode_trace_description_intern(self, "0123456789abcdef")};
	LodeTraceMapping stack = {
		0x7ffe00000000, 0x7ffe00002000, 0, 12, PROT_READ | PROT_WRITE, NULL, NULL};
	LodeTraceThread thread = {42, lode_trace_description_intern(self, "main")};
	LodeTraceTotal total = {
		lode_trace_description_intern(self, "instructions"), UINT64_C(1) << 40};

	stack.path = lode_trace_description_intern(self, "[stack]");
	self->command = lode_trace_description_intern(self, "program --fast 'a b'");
	self->tool = lode_trace_description_intern(self, "tests");
	self->is_partial = true;
	g_array_append_val(self->mappings, mapping);
	g_array_append_val(self->mappings, stack);
	g_array_append_val(self->threads, thread);
	g_array_append_val(self->totals, total);
	return self;
}

void lode_write_trace(
	const char *path, const GArray *references, const LodeTraceWriterOptions *options)
{
	g_autoptr(LodeTraceDescription) description = describe();
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeTraceStream) writer = lode_trace_writer_open(
		path, options, options->frame_references > 0 ? description : NULL, &error);

	g_assert_no_error(error);
	for (guint at = 0; at < references->len; at += BATCH) {
		lode_trace_stream_add(writer, &g_array_index(references, LodeReference, at),
			MIN(BATCH, references->len - at), &error);
		g_assert_no_error(error);
	}
	g_assert_cmpuint(lode_trace_stream_n_references(writer), ==, references->len);
	lode_trace_stream_finish(writer, description, &error);
	g_assert_no_error(error);
}

GArray *lode_read_trace(LodeTraceReader *reader, GError **error)
{
	GArray *out = g_array_new(FALSE, FALSE, sizeof(LodeReference));
	const LodeTraceFrame *frame;

	while (lode_trace_reader_next(reader, &frame, error) > 0) {
		g_autofree LodeReference *some = g_new(LodeReference, BATCH);
		LodeTraceReferences walk;
		size_t n;

		lode_trace_references_init(&walk, frame);
		while ((n = lode_trace_references_next(&walk, some, BATCH)) > 0)
			g_array_append_vals(out, some, (guint)n);
	}
	return out;
}

void lode_assert_references(const GArray *part, const GArray *whole, uint64_t first)
{
	g_assert_cmpuint(first + part->len, <=, whole->len);
	for (guint i = 0; i < part->len; i++) {
		const LodeReference *a = &g_array_index(part, LodeReference, i);
		const LodeReference *b = &g_array_index(whole, LodeReference, first + i);

		if (a->address != b->address || a->size != b->size || a->thread != b->thread ||
			a->kind != b->kind)
			g_error("reference %" G_GUINT64_FORMAT " differs", first + i);
	}
}
