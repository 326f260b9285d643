/* SPDX-License-Identifier: MIT */
/* The records of a process that /proc describes, and lines that none of ours would be. */
#include "record/events/perf_existing.h"

#include <glib/gstdio.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char maps[] =
	"55d000000000-55d000001000 r--p 00000000 fe:00 1311 /usr/bin/x\n"
	"55d000001000-55d000003000 r-xp 00001000 fe:00 1311 /usr/bin/x y (deleted)\n"
	"7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
	"7f0000002000-7f0000001000 r-xp 00000000 00:00 0 /backwards\n"
	"nonsense\n"
	"7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0                          [vdso]\n"
	"7ffe00000000-7ffe00002000 r-xp 00000000 00:00 0 /cut off";

typedef struct {
	char *proc;
	GPtrArray *found;
} Fixture;

static void write_file(const Fixture *self, const char *folder, const char *name, const char *text)
{
	g_autofree char *directory = g_build_filename(self->proc, folder, NULL);
	g_autofree char *path = g_build_filename(directory, name, NULL);

	g_assert_cmpint(g_mkdir_with_parents(directory, 0700), ==, 0);
	g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void found(const LodeMappedFile *mapped, void *user_data)
{
	g_assert_cmpint(mapped->pid, ==, 77);
	g_ptr_array_add(user_data, g_strdup(mapped->path));
}

static void set_up(Fixture *self, const void *data)
{
	(void)data;
	self->proc = g_dir_make_tmp("lode-test-proc-XXXXXX", NULL);
	self->found = g_ptr_array_new_with_free_func(g_free);
	write_file(self, "77", "maps", maps);
	write_file(self, "77/task/77", "comm", "main\n");
	write_file(self, "77/task/78", "comm", "a name that is far too long\n");
}

static void tear_down(Fixture *self, const void *data)
{
	static const char *const paths[] = {"77/task/77/comm", "77/task/78/comm", "77/task/77",
		"77/task/78", "77/task", "77/maps", "77", "kallsyms", "modules", ""};

	(void)data;
	for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
		g_autofree char *path = g_build_filename(self->proc, paths[i], NULL);
		g_remove(path);
	}
	g_free(self->proc);
	g_ptr_array_unref(self->found);
}

static GByteArray *records_of(Fixture *self, bool has_data)
{
	const LodePerfExisting wanted = {
		.pid = 77,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	                       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.has_data = has_data,
		.proc = self->proc,
		.found = found,
		.user_data = self->found,
	};

	return lode_perf_existing_records(&wanted);
}

/* "COMM main", "MMAP2 /usr/bin/x", one a line; each record is whole. */
static char *summary(const GByteArray *records)
{
	GString *text = g_string_new(NULL);

	for (guint at = 0; at < records->len;) {
		struct perf_event_header header;
		memcpy(&header, records->data + at, sizeof(header));
		const char *body = (const char *)records->data + at + sizeof(header);
		g_assert_cmpuint(header.size % 8, ==, 0);
		g_assert_cmpuint(at + header.size, <=, records->len);
		if (header.type == PERF_RECORD_COMM)
			g_string_append_printf(text, "COMM %s\n", body + 8);
		else if (header.type == PERF_RECORD_FORK)
			g_string_append_printf(text, "FORK %d\n", ((const int *)body)[2]);
		else
			g_string_append_printf(text, "MMAP2%s %s\n",
				header.misc & PERF_RECORD_MISC_MMAP_DATA ? " data" : "", body + 64);
		at += header.size;
	}
	return g_string_free(text, FALSE);
}

static void test_records(Fixture *self, const void *data)
{
	g_autoptr(GByteArray) code = records_of(self, false), all = records_of(self, true);
	g_autofree char *code_text = summary(code);
	g_autofree char *all_text = summary(all);

	(void)data;
	g_assert_cmpstr(code_text, ==,
		"COMM main\nFORK 78\nCOMM a name that is \nMMAP2 /usr/bin/x y (deleted)\n"
		"MMAP2 //anon\nMMAP2 [vdso]\n");
	g_assert_cmpstr(all_text, ==,
		"COMM main\nFORK 78\nCOMM a name that is \nMMAP2 data /usr/bin/x\n"
		"MMAP2 /usr/bin/x y (deleted)\nMMAP2 //anon\nMMAP2 [vdso]\n");
	g_assert_cmpuint(self->found->len, ==, 6);
	/* The last record of code: pid, tid, address, size, offset. */
	const guint8 *vdso = code->data + code->len - (8 + 64 + 8 + 32);
	const uint64_t expected[] = {0x4d0000004d, 0x7ffd00000000, 0x2000, 0};
	g_assert_cmpint(memcmp(vdso + 8, expected, sizeof(expected)), ==, 0);
	const uint32_t protection = PROT_READ | PROT_EXEC;
	g_assert_cmpint(memcmp(vdso + 8 + 56, &protection, sizeof(protection)), ==, 0);
}

static void test_kernel(Fixture *self, const void *data)
{
	const uint64_t type = PERF_SAMPLE_TID | PERF_SAMPLE_IDENTIFIER;
	const struct {
		struct perf_event_header header;
		int32_t pid, tid;
		uint64_t start, size, offset;
		char name[24];
		int32_t sample_pid, sample_tid;
		uint64_t identifier;
	} expected = {
		.header = {PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, sizeof(expected)},
		.pid = -1,
		.start = 0xffffffff81000000,
		.size = 0x600000,
		.offset = 0xffffffff81000000,
		.name = "[kernel.kallsyms]_text",
		.sample_pid = -1,
	};

	(void)data;
	g_autoptr(GByteArray) hidden = lode_perf_existing_kernel(self->proc, type);
	g_assert_cmpuint(hidden->len, ==, 0);
	write_file(self, "", "kallsyms",
		"0000000000000000 A fixed\nffffffff81000000 T _text\nnonsense\n"
		"ffffffff81600000 T _etext\n");
	write_file(self, "", "modules",
		"fat 81920 1 - Live 0xffffffffc0000000\nhidden 1 0 - Live 0x0\n");
	g_autoptr(GByteArray) records = lode_perf_existing_kernel(self->proc, type);
	g_assert_cmpuint(records->len, >, sizeof(expected));
	g_assert_cmpint(memcmp(records->data, &expected, sizeof(expected)), ==, 0);
	const char *module = (const char *)records->data + sizeof(expected) + 8 + 32;
	g_assert_cmpstr(module, ==, "[fat]");
	g_assert_cmpuint(records->len, ==, sizeof(expected) + 8 + 32 + 8 + 16);
}

static void test_nobody(Fixture *self, const void *data)
{
	const LodePerfExisting wanted = {.pid = 99, .proc = self->proc};
	g_autoptr(GByteArray) records = lode_perf_existing_records(&wanted);

	(void)data;
	g_assert_cmpuint(records->len, ==, 0);
}

static void test_ourselves(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) threads = lode_perf_existing_threads(getpid(), &error);

	g_assert_no_error(error);
	g_assert_cmpuint(threads->len, >=, 1);
	g_assert_null(lode_perf_existing_threads(G_MAXINT32, &error));
	g_assert_nonnull(error);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/record/perf-existing/records", Fixture, NULL, set_up, test_records, tear_down);
	g_test_add("/record/perf-existing/kernel", Fixture, NULL, set_up, test_kernel, tear_down);
	g_test_add("/record/perf-existing/nobody", Fixture, NULL, set_up, test_nobody, tear_down);
	g_test_add_func("/record/perf-existing/ourselves", test_ourselves);
	return g_test_run();
}
