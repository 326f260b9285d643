/* SPDX-License-Identifier: MIT */
/* Imports without any program: what is unresolved, how formats are told apart, and errors. */
#include "base/error.h"
#include "ingest/import.h"
#include "model/profile.h"
#include "model/run/unresolved.h"

#include <glib/gstdio.h>
#include <string.h>

typedef struct {
	char *directory;
	char *paths[2];
} Files;

static void files_init(Files *self, const char *first, const char *second)
{
	self->directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	self->paths[0] = g_build_filename(self->directory, "a", NULL);
	self->paths[1] = g_build_filename(self->directory, "b", NULL);
	g_assert_true(g_file_set_contents(self->paths[0], first, -1, NULL));
	g_assert_true(g_file_set_contents(self->paths[1], second, -1, NULL));
}

static void files_clear(Files *self)
{
	for (int i = 0; i < 2; i++) {
		g_unlink(self->paths[i]);
		g_free(self->paths[i]);
	}
	g_rmdir(self->directory);
	g_free(self->directory);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Files, files_clear)

static LodeProfile *import(const Files *files, size_t n, GError **error)
{
	LodeImportOptions options = {
		.paths = (const char *const *)files->paths, .n_paths = n, .threads = 2};

	return lode_import(&options, NULL, error);
}

#define RECORDING(pid, cost)                                                                       \
	"version: 1\npid: " pid "\ncmd: prog\npositions: instr line\nevents: Ir Dr D1mr\n"         \
	"ob=/nonexistent/prog\nfl=prog.c\nfn=main\n0x10 4 " cost "\njcnd=1/2 +4 *\n* *\n"          \
	"+4 +1 3\nfn=other\n+2 7 1\nob=???\nfn=0x99\n0x99 0 2\nsummary: 9\n"

static const LodeUnresolved *unresolved(const LodeProfile *profile, const char *reason)
{
	for (guint i = 0; i < profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(profile->unresolved, LodeUnresolved, i);
		if (strcmp(row->reason, reason) == 0)
			return row;
	}
	g_error("nothing unresolved by '%s'", reason);
}

static void test_no_images(void)
{
	g_auto(Files) files;
	g_autoptr(GError) error = NULL;

	files_init(&files, RECORDING("1", "3 2 1"), RECORDING("2", "30 20 10"));
	g_autoptr(LodeProfile) profile = import(&files, 2, &error);
	g_assert_no_error(error);
	/* prog, and what each process had without a name */
	g_assert_cmpuint(profile->code.images->len, ==, 3);
	g_assert_cmpuint(profile->code.functions->len, ==, 4);
	const LodeFunction *main_function = lode_profile_function(profile, 0);
	g_assert_cmpstr(main_function->name, ==, "main");
	g_assert_cmpint(main_function->source, ==, LODE_FUNCTION_RECORDED);
	g_assert_cmpuint(main_function->n_instructions, ==, 2);
	g_assert_cmpfloat(lode_profile_instruction(profile, 0)->count, ==, 33);
	uint32_t misses = lode_profile_find_event(profile, "l1d-miss");
	g_assert_cmpfloat(lode_profile_event_value(profile, misses, 0), ==, 11);
	g_assert_cmpfloat(
		lode_profile_event_value(profile, profile->code.weight_event, 0), ==, 33 + 10 * 11);
	g_assert_cmpfloat(unresolved(profile, "no image file")->count, ==, 41);
	g_assert_cmpuint(unresolved(profile, "no image file")->places, ==, 3);
	g_assert_cmpfloat(unresolved(profile, "address outside any known image")->count, ==, 4);
	g_assert_nonnull(
		strstr(unresolved(profile, "no image file")->example, "/nonexistent/prog"));
	/* Nothing could be decoded, so that nothing is claimed of the flow. */
	g_assert_cmpfloat(profile->run.inflow_checked, ==, 0);
	g_assert_cmpuint(profile->code.edges->len, ==, 1);
	const LodeLocation *location = &LODE_AT(profile->code.locations, LodeLocation, 0);
	g_assert_cmpstr(location->file, ==, "prog.c");
	g_assert_cmpuint(location->line, ==, 4);
}

static void test_flow_file(void)
{
	g_auto(Files) files;
	g_autoptr(GError) error = NULL;

	files_init(&files, "lode-flow 1\ngraph g\nv a 1 2 x\nv b 1 2\ne a b 2\n", "nothing\n");
	g_autoptr(LodeProfile) profile = import(&files, 1, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(profile->code.instructions->len, ==, 2);
	g_assert_cmpint(profile->run.frequency, ==, LODE_FREQUENCY_GIVEN);
}

static void assert_fails(const char *first, const char *second, int code, const char *message)
{
	g_auto(Files) files;
	g_autoptr(GError) error = NULL;

	files_init(&files, first, second);
	g_assert_null(import(&files, 2, &error));
	g_assert_error(error, LODE_ERROR, code);
	if (strstr(error->message, message) == NULL)
		g_error("'%s' does not hold '%s'", error->message, message);
}

static void test_errors(void)
{
	static const char flow[] = "lode-flow 1\ngraph g\nv a 1 2\n";
	g_autoptr(GError) error = NULL;
	Files none = {0};

	assert_fails(RECORDING("1", "3"), flow, LODE_ERROR_USAGE, "cannot be imported with other");
	assert_fails(flow, flow, LODE_ERROR_USAGE, "cannot be imported with other");
	assert_fails("\x7f"
		     "EFL",
		flow, LODE_ERROR_UNSUPPORTED, "a: neither perf.data");
	/* A binary, which says where the code of a recording is. */
	assert_fails("\x7f"
		     "ELF",
		RECORDING("1", "3"), LODE_ERROR_CORRUPT, "a: ");
	assert_fails(RECORDING("1", "3"), "version: 1\nevents: Dr\npositions: line\nob=a\n1 1\n",
		LODE_ERROR_UNSUPPORTED, "b: line 5: no instruction addresses");
	assert_fails("version: 1\npositions: instr\nevents: Dr\nob=a\n1 1\nsummary: 1\n",
		"version: 1\npositions: instr\nevents: Dr\nob=a\n1 1\nsummary: 1\n",
		LODE_ERROR_UNSUPPORTED, "event Ir");
	g_assert_null(import(&none, 0, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/import/no-images", test_no_images);
	g_test_add_func("/import/flow-file", test_flow_file);
	g_test_add_func("/import/errors", test_errors);
	return g_test_run();
}
