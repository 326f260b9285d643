/* SPDX-License-Identifier: MIT */
/* Lines as they come through a named pipe: in pieces, several at once, without an end. */
#include "base/error.h"
#include "record/events/perf_control_fifo.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
	char *directory, *path;
	LodePerfControlFifo fifo;
	int writer;
} Fixture;

static void set_up(Fixture *self, const void *data)
{
	(void)data;
	self->directory = g_dir_make_tmp("lode-test-XXXXXX", NULL);
	self->path = g_build_filename(self->directory, "pipe", NULL);
	g_assert_cmpint(mkfifo(self->path, 0600), ==, 0);
	g_assert_true(lode_perf_control_fifo_open(&self->fifo, self->path, NULL));
	self->writer = open(self->path, O_WRONLY);
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	close(self->writer);
	lode_perf_control_fifo_close(&self->fifo);
	g_remove(self->path);
	g_rmdir(self->directory);
	g_free(self->path);
	g_free(self->directory);
}

static void say(const Fixture *self, const char *text)
{
	g_assert_cmpint(write(self->writer, text, strlen(text)), ==, (gssize)strlen(text));
}

static void hear(Fixture *self, LodePerfControl expected)
{
	g_assert_cmpint(lode_perf_control_fifo_next(&self->fifo), ==, expected);
}

static void test_lines(Fixture *self, const void *data)
{
	(void)data;
	hear(self, LODE_PERF_CONTROL_NONE);
	say(self, "enable\ndisable \n\nenab");
	hear(self, LODE_PERF_CONTROL_ENABLE);
	hear(self, LODE_PERF_CONTROL_DISABLE);
	hear(self, LODE_PERF_CONTROL_UNKNOWN);
	hear(self, LODE_PERF_CONTROL_NONE);
	say(self, "le\nstop\n");
	hear(self, LODE_PERF_CONTROL_ENABLE);
	hear(self, LODE_PERF_CONTROL_STOP);
	hear(self, LODE_PERF_CONTROL_NONE);
}

static void test_endless(Fixture *self, const void *data)
{
	g_autofree char *flood = g_strnfill(30000, 'x');

	(void)data;
	say(self, flood);
	hear(self, LODE_PERF_CONTROL_NONE);
	g_assert_cmpuint(self->fifo.text->len, <, 8192);
	say(self, "\nstop\n");
	hear(self, LODE_PERF_CONTROL_UNKNOWN);
	hear(self, LODE_PERF_CONTROL_STOP);
}

static void test_refused(Fixture *self, const void *data)
{
	g_autoptr(GError) error = NULL;
	LodePerfControlFifo fifo;

	(void)self;
	(void)data;
	g_assert_false(lode_perf_control_fifo_open(&fifo, "/there/is/none", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	g_clear_error(&error);
	g_assert_false(lode_perf_control_fifo_open(&fifo, "/dev/null", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
	g_assert_true(lode_perf_control_fifo_open(&fifo, NULL, NULL));
	g_assert_cmpint(lode_perf_control_fifo_next(&fifo), ==, LODE_PERF_CONTROL_NONE);
	lode_perf_control_fifo_close(&fifo);
}

static void add(const char *name, void (*test)(Fixture *, const void *))
{
	g_autofree char *path = g_strconcat("/record/perf-control-fifo/", name, NULL);

	g_test_add(path, Fixture, NULL, set_up, test, tear_down);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add("lines", test_lines);
	add("endless", test_endless);
	add("refused", test_refused);
	return g_test_run();
}
