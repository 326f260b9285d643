/* SPDX-License-Identifier: MIT */
/* What a survey makes of numa_maps as a machine of two nodes would have it, of this process. */
#include "model/process.h"
#include "record/page_survey.h"
#include "sources/code/page_file.h"

#include <glib/gstdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, N_PAGES = 4 };

typedef struct {
	char *folder, *process, *maps, *numa_maps, *output;
} Fixture;

static void set_up(Fixture *self, const void *data)
{
	g_autofree char *pid = g_strdup_printf("%d", (int)getpid());

	(void)data;
	self->folder = g_dir_make_tmp("lode-pages-XXXXXX", NULL);
	self->process = g_build_filename(self->folder, pid, NULL);
	self->maps = g_build_filename(self->process, "maps", NULL);
	self->numa_maps = g_build_filename(self->process, "numa_maps", NULL);
	self->output = g_build_filename(self->folder, "pages.txt", NULL);
	g_assert_cmpint(g_mkdir(self->process, 0700), ==, 0);
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	g_unlink(self->maps);
	g_unlink(self->numa_maps);
	g_unlink(self->output);
	g_rmdir(self->process);
	g_rmdir(self->folder);
	g_free(self->folder);
	g_free(self->process);
	g_free(self->maps);
	g_free(self->numa_maps);
	g_free(self->output);
}

/* The rows of one look at this process and at one that has ended. */
static GArray *survey(Fixture *self, const char *maps, const char *numa_maps)
{
	g_autoptr(GArray) pids = g_array_new(FALSE, FALSE, sizeof(pid_t));
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(LodeMemoryPages));
	const pid_t own = getpid(), ended = G_MAXINT32;
	GError *error = NULL;

	g_assert_true(g_file_set_contents(self->maps, maps, -1, NULL));
	g_assert_true(g_file_set_contents(self->numa_maps, numa_maps, -1, NULL));
	g_array_append_val(pids, own);
	g_array_append_val(pids, ended);
	LodePageSurvey *pages = lode_page_survey_open(self->output, self->folder, &error);
	g_assert_no_error(error);
	g_assert_false(lode_page_survey_is_due(pages));
	lode_page_survey_run(pages, pids, 77);
	g_assert_true(lode_page_survey_close(pages, &error));
	g_assert_true(lode_page_file_read(self->output, rows, &error));
	g_assert_no_error(error);
	return rows;
}

static void check_row(
	const GArray *rows, guint i, uint64_t start, uint64_t end, uint32_t node, uint64_t size)
{
	const LodeMemoryPages *row = &g_array_index(rows, LodeMemoryPages, i);

	g_assert_cmpuint(row->pid, ==, (uint32_t)getpid());
	g_assert_cmpuint(row->time_ns, ==, 77);
	g_assert_cmphex(row->start, ==, start);
	g_assert_cmphex(row->end, ==, end);
	g_assert_cmpuint(row->node, ==, node);
	g_assert_cmpuint(row->page_size_bytes, ==, size);
}

static void test_mappings(Fixture *self, const void *data)
{
	(void)data;
	g_autoptr(GArray) rows = survey(self,
		"1000-3000 rw-p 00000000 00:00 0\n"
		"200000-600000 rw-p 00000000 00:00 0 [heap]\n"
		"700000-701000 rw-p 00000000 00:00 0\n",
		"00001000 default anon=2 dirty=2 N1=2 kernelpagesize_kB=4\n"
		"00200000 interleave:0-1 file=/a\\040b huge anon=2 N0=2 kernelpagesize_kB=2048\n"
		"00700000 default\n"
		"00900000 default anon=1 N0=1 kernelpagesize_kB=4\n" /* came after maps was read */
		"rubbish N0=1\n");

	g_assert_cmpuint(rows->len, ==, 2);
	check_row(rows, 0, 0x1000, 0x3000, 1, 4096);
	check_row(rows, 1, 0x200000, 0x600000, 0, 2 << 20);
}

/* A mapping that is on several nodes is asked for page by page: here all are on one, except the
 * page that nobody has touched. */
static void test_pages(Fixture *self, const void *data)
{
	char *memory = mmap(NULL, (size_t)N_PAGES * PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t start = (uintptr_t)memory;

	(void)data;
	g_assert_true(memory != MAP_FAILED);
	memory[0] = memory[PAGE] = memory[3 * PAGE] = 1;
	g_autofree char *maps = g_strdup_printf("%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER
						"x rw-p 00000000 00:00 0\n",
		start, start + N_PAGES * PAGE);
	g_autofree char *numa_maps = g_strdup_printf("%" G_GINT64_MODIFIER
						     "x default anon=3 N0=2 N1=1 "
						     "kernelpagesize_kB=4\n",
		start);
	g_autoptr(GArray) rows = survey(self, maps, numa_maps);
	munmap(memory, (size_t)N_PAGES * PAGE);
	/* A sandbox may forbid move_pages(2). */
	if (rows->len == 0) {
		g_test_skip("nodes of pages cannot be asked for here");
		return;
	}
	g_assert_cmpuint(rows->len, ==, 2);
	uint32_t node = g_array_index(rows, LodeMemoryPages, 0).node;
	check_row(rows, 0, start, start + 2 * PAGE, node, PAGE);
	check_row(rows, 1, start + 3 * PAGE, start + 4 * PAGE, node, PAGE);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/page-survey/mappings", Fixture, NULL, set_up, test_mappings, tear_down);
	g_test_add("/page-survey/pages", Fixture, NULL, set_up, test_pages, tear_down);
	return g_test_run();
}
