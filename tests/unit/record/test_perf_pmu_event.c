/* SPDX-License-Identifier: MIT */
/* Events of a PMU that the test describes as the kernel does. */
#include "base/error.h"
#include "record/events/perf_pmu_event.h"

#include <glib/gstdio.h>
#include <stdint.h>
#include <string.h>

static const char *const files[][3] = {
	{"cpu", "type", "4\n"},
	{"cpu/format", "event", "config:0-7,32-35\n"},
	{"cpu/format", "umask", "config:8-15\n"},
	{"cpu/format", "edge", "config:18\n"},
	{"cpu/format", "ldlat", "config1:0-15\n"},
	{"cpu/format", "all", "config2:0-63\n"},
	{"cpu/format", "broken", "config:7-70\n"},
	{"cpu/format", "silly", "elsewhere:0\n"},
	{"cpu/events", "mem-loads", "event=0xcd,umask=0x1,ldlat=3\n"},
	{"cpu/events", "circle", "event=1,circle\n"},
};

typedef struct {
	char *devices;
} Fixture;

static void set_up(Fixture *self, const void *data)
{
	(void)data;
	self->devices = g_dir_make_tmp("lode-test-pmu-XXXXXX", NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
		g_autofree char *folder = g_build_filename(self->devices, files[i][0], NULL);
		g_autofree char *path = g_build_filename(folder, files[i][1], NULL);
		g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
		g_assert_true(g_file_set_contents(path, files[i][2], -1, NULL));
	}
}

static void tear_down(Fixture *self, const void *data)
{
	static const char *const folders[] = {"cpu/format", "cpu/events", "cpu", ""};

	(void)data;
	for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
		g_autofree char *path = g_build_filename(
			self->devices, files[i][0], files[i][1], NULL);
		g_remove(path);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(folders); i++) {
		g_autofree char *path = g_build_filename(self->devices, folders[i], NULL);
		g_rmdir(path);
	}
	g_free(self->devices);
}

static void test_events(Fixture *self, const void *data)
{
	static const struct {
		const char *text;
		uint64_t config, config1, config2;
	} cases[] = {
		{"cpu/event=0x3c/", 0x3c, 0, 0},
		{"cpu/event=0xabc,umask=0x12/", 0xa000012bc, 0, 0},
		{"cpu/mem-loads/", 0x1cd, 3, 0},
		{"cpu/mem-loads,ldlat=30/", 0x1cd, 30, 0},
		{"cpu/event=1,edge/", 0x40001, 0, 0},
		{"cpu/config=0xff,config1=7/", 0xff, 7, 0},
		{"cpu/all=0xffffffffffffffff/", 0, 0, G_MAXUINT64},
		{"cpu//", 0, 0, 0},
	};

	(void)data;
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		struct perf_event_attr attr;
		g_assert_true(
			lode_perf_pmu_event_read(self->devices, cases[i].text, &attr, &error));
		g_assert_no_error(error);
		g_assert_cmpuint(attr.type, ==, 4);
		g_assert_cmphex(attr.config, ==, cases[i].config);
		g_assert_cmphex(attr.config1, ==, cases[i].config1);
		g_assert_cmphex(attr.config2, ==, cases[i].config2);
	}
}

static void test_refused(Fixture *self, const void *data)
{
	static const struct {
		const char *text;
		int code;
		const char *words;
	} cases[] = {
		{"gpu/event=1/", LODE_ERROR_NOT_FOUND, "no PMU 'gpu'"},
		{"../event=1/", LODE_ERROR_NOT_FOUND, "no PMU"},
		{"/event=1/", LODE_ERROR_NOT_FOUND, "no PMU"},
		{"cpu/evnt=1/", LODE_ERROR_NOT_FOUND, "'evnt'"},
		{"cpu/../type/", LODE_ERROR_NOT_FOUND, "neither"},
		{"cpu/circle/", LODE_ERROR_NOT_FOUND, "'circle'"},
		{"cpu/event=0x1000/", LODE_ERROR_USAGE, "too great"},
		{"cpu/event=x/", LODE_ERROR_USAGE, "not a number"},
		{"cpu/event=/", LODE_ERROR_USAGE, "not a number"},
		{"cpu/broken=1/", LODE_ERROR_CORRUPT, "format/broken"},
		{"cpu/silly=1/", LODE_ERROR_CORRUPT, "format/silly"},
	};

	(void)data;
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		struct perf_event_attr attr;
		g_assert_false(
			lode_perf_pmu_event_read(self->devices, cases[i].text, &attr, &error));
		g_assert_error(error, LODE_ERROR, cases[i].code);
		if (strstr(error->message, cases[i].words) == NULL)
			g_error("'%s' is not in '%s'", cases[i].words, error->message);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/record/perf-pmu-event/events", Fixture, NULL, set_up, test_events, tear_down);
	g_test_add(
		"/record/perf-pmu-event/refused", Fixture, NULL, set_up, test_refused, tear_down);
	return g_test_run();
}
