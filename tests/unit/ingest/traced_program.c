/* SPDX-License-Identifier: MIT */
#include "traced_program.h"

#include "sources/code/load_map_segments.h"
#include "sources/references/reference_file.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/mman.h>
#include <unistd.h>

void traced_program_init(TracedProgram *self)
{
	self->directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	self->trace = g_build_filename(self->directory, "x.rps", NULL);
	self->callgrind = g_build_filename(self->directory, "callgrind.out", NULL);
}

void traced_program_clear(TracedProgram *self)
{
	if (self->directory == NULL)
		return;
	g_unlink(self->trace);
	g_unlink(self->callgrind);
	g_rmdir(self->directory);
	g_free(self->directory);
	g_free(self->trace);
	g_free(self->callgrind);
}

static void run(const char *const *arguments)
{
	const char *environment[] = {"PATH=/usr/bin:/bin", NULL};
	g_autoptr(GError) error = NULL;
	int status;

	g_assert_true(g_spawn_sync(NULL, (char **)arguments, (char **)environment,
		G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, NULL, NULL,
		&status, &error));
	g_assert_no_error(error);
	g_assert_cmpint(status, ==, 0);
}

void traced_program_describe(LodeTraceDescription *description, const char *program)
{
	const uint64_t page = 4096;
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) code = lode_load_map_segments_read(program, &error);
	g_autoptr(GArray) all = lode_load_map_segments_read_all(program, &error);

	g_assert_no_error(error);
	for (guint i = 0; i < all->len; i++) {
		const LodeLoadMapSegment *segment = &g_array_index(all, LodeLoadMapSegment, i);
		uint64_t start = segment->address & ~(page - 1), within = segment->address - start;
		bool is_file = segment->file_size_bytes > 0;
		LodeTraceMapping mapping = {
			.start = start,
			.end = (segment->address + segment->size_bytes + page - 1) & ~(page - 1),
			.offset = is_file ? segment->offset - within : 0,
			.protection = PROT_READ | PROT_WRITE,
			.path = lode_trace_description_intern(
				description, is_file ? program : "[anon]"),
		};
		for (guint j = 0; j < code->len; j++)
			if (g_array_index(code, LodeLoadMapSegment, j).address == segment->address)
				mapping.protection = PROT_READ | PROT_EXEC;
		g_array_append_val(description->mappings, mapping);
	}
	/* Where valgrind puts it. */
	LodeTraceMapping stack = {.start = UINT64_C(0x1ffe001000),
		.end = UINT64_C(0x1fff001000),
		.protection = PROT_READ | PROT_WRITE,
		.path = lode_trace_description_intern(description, "[stack]")};
	g_array_append_val(description->mappings, stack);
	description->command = lode_trace_description_intern(description, program);
	description->tool = lode_trace_description_intern(description, "lackey");
}

void traced_program_write(TracedProgram *self, const LodeReference *references, size_t n,
	const LodeTraceDescription *description)
{
	traced_program_write_frames(self, references, n, 0, description);
}

void traced_program_write_frames(TracedProgram *self, const LodeReference *references, size_t n,
	uint64_t frame_references, const LodeTraceDescription *description)
{
	const LodeTraceWriterOptions options = {
		.level = LODE_TRACE_LEVEL_FAST, .threads = 1, .frame_references = frame_references};
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeTraceStream)
		writer = lode_trace_writer_open(self->trace, &options, NULL, &error);

	g_assert_no_error(error);
	g_assert_true(lode_trace_stream_add(writer, references, n, &error));
	g_assert_true(lode_trace_stream_finish(writer, description, &error));
	g_assert_no_error(error);
}

static GArray *read_references(const char *path)
{
	GArray *references = g_array_new(FALSE, FALSE, sizeof(LodeReference));
	g_autoptr(GError) error = NULL;
	LodeReference some[256];
	ptrdiff_t n;
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	g_autoptr(LodeReferenceReader) reader = lode_reference_reader_open(
		descriptor, path, LODE_REFERENCE_FORM_LACKEY, &error);

	g_assert_no_error(error);
	while ((n = lode_reference_reader_next(reader, some, G_N_ELEMENTS(some), &error)) > 0)
		g_array_append_vals(references, some, (guint)n);
	g_assert_no_error(error);
	close(descriptor);
	return references;
}

bool traced_program_record(TracedProgram *self, const char *program)
{
	g_autofree char *valgrind = g_find_program_in_path("valgrind");

	if (valgrind == NULL || *program == '\0') {
		g_test_skip(valgrind == NULL ? "no valgrind" : "not built for this machine");
		return false;
	}
	traced_program_init(self);
	g_autofree char *log = g_build_filename(self->directory, "log", NULL);
	g_autofree char *log_option = g_strconcat("--log-file=", log, NULL);
	g_autofree char *out_option = g_strconcat("--callgrind-out-file=", self->callgrind, NULL);
	const char *lackey[] = {
		valgrind, "--tool=lackey", "--trace-mem=yes", log_option, program, NULL};
	const char *callgrind[] = {valgrind, "--tool=callgrind", "--dump-instr=yes",
		"--collect-jumps=yes", "--cache-sim=yes", "--skip-plt=no", out_option, program,
		NULL};
	run(lackey);
	run(callgrind);
	g_autoptr(GArray) references = read_references(log);
	g_autoptr(LodeTraceDescription) description = lode_trace_description_new();
	traced_program_describe(description, program);
	traced_program_write(
		self, (const LodeReference *)references->data, references->len, description);
	g_unlink(log);
	return true;
}
