/* SPDX-License-Identifier: MIT */
/*
 * Load maps: our own /proc/self/maps against the addresses that the dynamic linker tells, real logs
 * of valgrind, and broken ones.
 */
#include "base/error.h"
#include "sources/code/load_map.h"

#include <glib/gstdio.h>
#include <inttypes.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

static char *write_file(const char *text)
{
	g_autofree char *path = NULL;
	int fd = g_file_open_tmp("lode-XXXXXX.map", &path, NULL);

	g_assert_cmpint(fd, >=, 0);
	close(fd);
	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	return g_steal_pointer(&path);
}

static bool read_text(LodeLoadMap *map, const char *text, GError **error)
{
	g_autofree char *path = write_file(text);
	bool is_read = lode_load_map_read(map, path, error);

	g_unlink(path);
	return is_read;
}

static LodeLoadMap *map_of_text(const char *text)
{
	LodeLoadMap *map = lode_load_map_new();
	GError *error = NULL;

	g_assert_true(read_text(map, text, &error));
	g_assert_no_error(error);
	return map;
}

static char *own_program(void)
{
	return g_file_read_link("/proc/self/exe", NULL);
}

/* A small function of this program, whose address in the file is known by its segment. */
static int marker(int value)
{
	return value * 3 + 1;
}

static int check_object(struct dl_phdr_info *info, size_t size, void *data)
{
	const LodeLoadMap *map = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const LodeLoadMapEntry *entry = lode_load_map_find(
			map, info->dlpi_addr + header->p_vaddr);
		if (header->p_type != PT_LOAD || (header->p_flags & PF_X) == 0 ||
			info->dlpi_name[0] != '/')
			continue;
		g_assert_nonnull(entry);
		g_assert_cmphex(entry->bias, ==, info->dlpi_addr);
	}
	return 0;
}

static void test_own_process(void)
{
	g_autoptr(LodeLoadMap) map = lode_load_map_new();
	g_autoptr(GError) error = NULL;
	g_autofree char *program = own_program();
	int local = 0;

	g_assert_true(lode_load_map_read(map, "/proc/self/maps", &error));
	g_assert_no_error(error);
	const LodeLoadMapEntry *entry = lode_load_map_find(map, (uint64_t)(uintptr_t)marker);
	g_assert_nonnull(entry);
	g_assert_cmpstr(entry->path, ==, program);
	g_assert_null(lode_load_map_find(map, (uint64_t)(uintptr_t)&local));
	g_assert_null(lode_load_map_find(map, 0));
	g_assert_null(lode_load_map_find(map, UINT64_MAX));
	g_assert_cmpuint(lode_load_map_pid(map), ==, 0);
	dl_iterate_phdr(check_object, map);
}

/* The address and size of this program's executable segment in its file. */
static int own_segment(struct dl_phdr_info *info, size_t size, void *data)
{
	uint64_t *out = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			out[0] = info->dlpi_phdr[i].p_vaddr;
			out[1] = info->dlpi_phdr[i].p_memsz;
		}
	return 1; /* the first object is the program */
}

static char *log_of(unsigned pid, unsigned parent, const char *path, uint64_t bias)
{
	return g_strdup_printf("==%u== Callgrind, a call-graph generating cache profiler\n"
			       "==%u== Parent PID: %u\n--%u-- \n"
			       "--%u-- Reading syms from %s\n"
			       "--%u--    svma 0x0000000010, avma 0x%010" PRIx64 "\n"
			       "0x30a: [0]={ 56(r3) { u  u }\n"
			       "--%u-- Scheduler: using generic scheduler lock implementation.\n",
		pid, pid, parent, pid, pid, path, pid, bias + 0x10, pid);
}

static void test_log(void)
{
	g_autofree char *program = own_program();
	g_autofree char *log = log_of(77, 5, program, 0x4000000);
	g_autoptr(LodeLoadMap) map = map_of_text(log);
	uint64_t segment[2];

	dl_iterate_phdr(own_segment, segment);
	g_assert_cmpuint(map->entries->len, ==, 1);
	const LodeLoadMapEntry *entry = lode_load_map_find(map, segment[0] + 0x4000000);
	g_assert_nonnull(entry);
	g_assert_cmphex(entry->bias, ==, 0x4000000);
	g_assert_cmphex(entry->start, ==, segment[0] + 0x4000000);
	g_assert_cmphex(entry->end, ==, segment[0] + segment[1] + 0x4000000);
	g_assert_null(lode_load_map_find(map, entry->end));
	g_assert_null(lode_load_map_find(map, entry->start - 1));
	g_assert_nonnull(lode_load_map_find(map, entry->end - 1));
	g_assert_cmpuint(lode_load_map_pid(map), ==, 77);
	g_assert_true(lode_load_map_has_pid(map, 77));
	g_assert_false(lode_load_map_has_pid(map, 5));
	g_assert_cmpuint(map->parent_pid, ==, 5);
	g_assert_true(map->has_start);
}

/* Of two images at one place the one that was loaded last is there. */
static void test_overlap(void)
{
	g_autofree char *program = own_program();
	g_autofree char *first = log_of(77, 5, program, 0x4000000);
	g_autofree char *second = log_of(77, 5, program, 0x4000100);
	g_autofree char *apart = log_of(77, 5, program, 0x90000000);
	g_autofree char *text = g_strconcat(first, apart, second, NULL);
	g_autoptr(LodeLoadMap) map = map_of_text(text);
	const LodeLoadMapEntry *entry = &g_array_index(map->entries, LodeLoadMapEntry, 0);

	g_assert_cmpuint(map->entries->len, ==, 2);
	g_assert_cmphex(entry[0].bias, ==, 0x4000100);
	g_assert_cmphex(entry[1].bias, ==, 0x90000000);
	g_assert_true(read_text(map, first, NULL));
	entry = &g_array_index(map->entries, LodeLoadMapEntry, 0);
	g_assert_cmpuint(map->entries->len, ==, 2);
	g_assert_cmphex(entry[0].bias, ==, 0x4000000);
}

static void test_skipped(void)
{
	g_autoptr(LodeLoadMap) map = map_of_text("--7-- Reading syms from /nonexistent/a\n"
						 "--7--    svma 0x00000034f0, avma 0x000010b4f0\n"
						 "--7-- Reading syms from /nonexistent/a\n"
						 "--7--    svma 0x00000034f0, avma 0x000010b4f0\n"
						 "--7-- Reading syms from /dev/null\n"
						 "--7--    svma 0x00000034f0, avma 0x000010b4f0\n"
						 "--7-- Reading syms from /proc/self/status\n"
						 "--7--    svma 0x00000034f0, avma 0x000010b4f0\n");
	g_autoptr(LodeLoadMap) maps = map_of_text(
		"00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/gone (deleted)\n"
		"00600000-00652000 r-xp 00000000 08:02 173521      /nonexistent/with blank\n"
		"00700000-00752000 r--p 00000000 08:02 173521      /nonexistent/data\n"
		"7fff0000-7fff1000 r-xp 00000000 00:00 0 [vdso]\n"
		"7fff2000-7fff3000 rwxp 00000000 00:00 0 \n");

	g_assert_cmpuint(map->entries->len, ==, 0);
	g_assert_cmpuint(map->skipped->len, ==, 3);
	g_assert_nonnull(strstr(g_ptr_array_index(map->skipped, 0), "/nonexistent/a: No such"));
	g_assert_nonnull(strstr(g_ptr_array_index(map->skipped, 1), "not a regular file"));
	g_assert_nonnull(strstr(g_ptr_array_index(map->skipped, 2), "not an ELF file"));
	g_assert_cmpuint(maps->entries->len, ==, 0);
	g_assert_cmpuint(maps->skipped->len, ==, 2);
	g_assert_nonnull(strstr(g_ptr_array_index(maps->skipped, 0), "/usr/bin/gone: was deleted"));
	g_assert_nonnull(strstr(g_ptr_array_index(maps->skipped, 1), "/nonexistent/with blank: "));
}

/* A process that was killed while it wrote gives no wrong address. */
static void test_truncated_log(void)
{
	g_autofree char *program = own_program();
	g_autofree char *log = log_of(77, 5, program, 0x4000000);
	const char *end = strstr(log, "\n0x30a");

	for (const char *cut = log; *cut != '\0'; cut++) {
		g_autoptr(LodeLoadMap) map = lode_load_map_new();
		g_autoptr(GError) error = NULL;
		g_autofree char *part = g_strndup(log, (gsize)(cut - log));
		if (!read_text(map, part, &error))
			g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
		g_assert_cmpuint(map->entries->len, ==, cut > end);
	}
}

static void test_errors(void)
{
	static const struct {
		const char *text;
		int line;
	} faults[] = {
		{"hello\n", 1},
		{"version: 1\ncreator: callgrind-3.19.0\n", 1},
		{"00400000-00452000 r-xp 00000000 08:02\n", 1},
		{"00400000-00452000 r-xp 00000000 08:02 1 /x\n00400000 r-xp\n", 2},
		{"00452000-00400000 r-xp 00000000 08:02 1 /x\n", 1},
		{"11111111100400000-00452000 r-xp 00000000 08:02 1 /x\n", 1},
		{"--7-- Reading syms from /x\n--7--    svma 0xzz, avma 0x1\n", 2},
		{"--7-- Reading syms from /x\n--7--    svma 0x1, avma\n", 2},
		{"--7-- Reading syms from /x\n--7--    svma 0x1, avma 0x1g\n", 2},
		{"--7-- Reading syms from /x\n--7--    svma 0x11111111111111111, avma 0x1\n", 2},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(faults); i++) {
		g_autoptr(LodeLoadMap) map = lode_load_map_new();
		g_autoptr(GError) error = NULL;
		g_autofree char *place = g_strdup_printf(".map: line %d: ", faults[i].line);
		g_assert_false(read_text(map, faults[i].text, &error));
		g_test_message("%s", error->message);
		g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
		g_assert_nonnull(strstr(error->message, place));
		g_assert_cmpuint(map->entries->len, ==, 0);
	}
}

static void test_many_entries(void)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *program = own_program();
	uint64_t segment[2];

	dl_iterate_phdr(own_segment, segment);
	for (uint64_t i = 0; i < 20000; i++)
		g_string_append_printf(text,
			"--7-- Reading syms from %s\n--7--    svma 0x1000, avma 0x%" PRIx64 "\n",
			program, 0x1000 + (i * 7919 % 10000) * 0x1000000);
	g_autoptr(LodeLoadMap) map = map_of_text(text->str);
	g_assert_cmpuint(map->entries->len, ==, 10000);
	for (uint64_t i = 0; i < 10000; i++) {
		const LodeLoadMapEntry *entry = lode_load_map_find(
			map, i * 0x1000000 + segment[0] + 5);
		g_assert_nonnull(entry);
		g_assert_cmphex(entry->bias, ==, i * 0x1000000);
	}
}

static void add_log(LodeLoadMapSet *set, const char *text)
{
	g_autofree char *path = write_file(text);
	GError *error = NULL;

	g_assert_true(lode_load_map_set_read(set, path, &error));
	g_assert_no_error(error);
	g_unlink(path);
}

static uint64_t bias_in(const LodeLoadMapSet *set, uint32_t pid, uint64_t address)
{
	const LodeLoadMapEntry *entry = lode_load_map_set_find(set, pid, address);

	return entry != NULL ? entry->bias : 0;
}

/* 10 starts 20, which is another program at the same place; 20 forks 30, which execs nothing. */
static void test_set(void)
{
	g_autoptr(LodeLoadMapSet) set = lode_load_map_set_new();
	g_autofree char *program = own_program();
	g_autofree char *first = log_of(10, 1, program, 0x4000000);
	g_autofree char *second = log_of(20, 10, program, 0x4000010);
	uint64_t segment[2];

	dl_iterate_phdr(own_segment, segment);
	uint64_t address = segment[0] + 0x4000020;
	add_log(set, first);
	g_assert_cmphex(bias_in(set, 99, address), ==, 0x4000000); /* the only map */
	add_log(set, second);
	add_log(set, "==30== Parent PID: 20\n--30-- Start dumping at BB 1\n");
	add_log(set, "==40== Parent PID: 40\n");
	g_assert_cmphex(bias_in(set, 10, address), ==, 0x4000000);
	g_assert_cmphex(bias_in(set, 20, address), ==, 0x4000010);
	g_assert_cmphex(bias_in(set, 30, address), ==, 0x4000010);
	g_assert_null(lode_load_map_set_find(set, 40, address));
	g_assert_null(lode_load_map_set_find(set, 99, address));
	g_assert_null(lode_load_map_set_find(set, 10, 0x10));
}

/* 10 forks 20 and then runs another program, in the same log; 30 runs what 10 ran before. */
static void test_exec_after_fork(void)
{
	g_autoptr(LodeLoadMapSet) set = lode_load_map_set_new();
	g_autofree char *program = own_program();
	g_autofree char *parent = log_of(10, 1, program, 0x4000000);
	g_autofree char *other = log_of(30, 1, program, 0x4000020);
	g_autofree char *parent_log = g_strconcat("==10== Command: /bin/b x\n", parent, NULL);
	g_autofree char *other_log = g_strconcat("==30== Command: /a\\ b/c y\n", other, NULL);
	uint64_t segment[2];

	dl_iterate_phdr(own_segment, segment);
	uint64_t address = segment[0] + 0x4000030;
	add_log(set, parent_log);
	add_log(set, "==20== Command: /a\\ b/c z\n==20== Parent PID: 10\n");
	add_log(set, "==21== Command: /bin/b x\n==21== Parent PID: 10\n");
	add_log(set, "==22== Command: /a\\ c z\n==22== Parent PID: 10\n");
	g_assert_null(lode_load_map_set_find(set, 20, address));
	add_log(set, other_log);
	g_assert_cmphex(bias_in(set, 20, address), ==, 0x4000020);
	g_assert_cmphex(bias_in(set, 21, address), ==, 0x4000000);
	g_assert_null(lode_load_map_set_find(set, 22, address));
}

static bool run_valgrind(const char *log)
{
	g_autofree char *log_option = g_strconcat("--log-file=", log, NULL);
	g_autofree char *valgrind = g_find_program_in_path("valgrind");
	const char *argv[] = {valgrind, "-v", "-v", "-v", "--tool=callgrind", log_option,
		"--callgrind-out-file=/dev/null", "/bin/true", NULL};
	int status;

	return valgrind != NULL &&
	       g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL,
		       NULL, &status, NULL) &&
	       status == 0;
}

static void test_valgrind(void)
{
	g_autofree char *path = write_file("");
	g_autoptr(LodeLoadMap) map = lode_load_map_new();
	g_autoptr(GError) error = NULL;
	bool has_program = false, has_library = false;

	if (!run_valgrind(path)) {
		g_unlink(path);
		g_test_skip("valgrind cannot be run");
		return;
	}
	g_assert_true(lode_load_map_read(map, path, &error));
	g_assert_no_error(error);
	g_unlink(path);
	for (guint i = 0; i < map->entries->len; i++) {
		const LodeLoadMapEntry *entry = &g_array_index(map->entries, LodeLoadMapEntry, i);
		has_program |= g_str_has_suffix(entry->path, "/bin/true") ||
		               g_str_has_suffix(entry->path, "/coreutils");
		has_library |= strstr(entry->path, "/libc.so") != NULL;
		g_assert_cmphex(entry->bias % 0x1000, ==, 0);
	}
	g_assert_true(has_program && has_library && map->has_start);
	g_assert_cmpuint(map->pids->len, ==, 1);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_assert_cmpint(marker(1), ==, 4);
	g_test_add_func("/load-map/own-process", test_own_process);
	g_test_add_func("/load-map/log", test_log);
	g_test_add_func("/load-map/overlap", test_overlap);
	g_test_add_func("/load-map/skipped", test_skipped);
	g_test_add_func("/load-map/truncated-log", test_truncated_log);
	g_test_add_func("/load-map/errors", test_errors);
	g_test_add_func("/load-map/many-entries", test_many_entries);
	g_test_add_func("/load-map/set", test_set);
	g_test_add_func("/load-map/exec-after-fork", test_exec_after_fork);
	g_test_add_func("/load-map/valgrind", test_valgrind);
	return g_test_run();
}
