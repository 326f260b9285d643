/* SPDX-License-Identifier: MIT */
/* The first screen of many diagnoses made by hand: 25 lines of 80 columns, no figure cut. */
#include "model/findings.h"
#include "model/profile.h"
#include "sample_profile.h"
#include "views/findings/report.h"
#include "views/form/display_text.h"

#include <string.h>

enum { WIDTH = 80, LINES = 25 };

static LodeMiningRun *run_without_findings(void)
{
	LodeMiningRun *run = sample_run();

	run->findings = lode_findings_new();
	run->findings->samples = 100;
	return run;
}

/* Long names everywhere; each saves one percent less than the one before. */
static LodeDiagnoses *many(guint n)
{
	LodeDiagnoses *self = lode_diagnoses_new();

	self->weight = g_strdup("time");
	for (guint i = 0; i < n; i++) {
		LodeDiagnosis *one = lode_diagnosis_new("division", LODE_SCOPE_FUNCTIONS);
		one->title = g_strdup("divisions");
		one->name = g_strdup_printf("division@f%u", i);
		one->site.function = g_strdup_printf(
			"a_namespace_of_many_words::a_class_of_even_more_words::"
			"and_at_last_a_function_that_has_the_number_%u",
			i);
		one->site.file = g_strdup("/a/folder/that/is/long/table.c");
		one->site.line = 4100 + i;
		one->functions = 40;
		one->low = (20 - i) / 100.0;
		one->high = (40 - i) / 100.0;
		lode_diagnosis_add_evidence(one, 36.1, "%", "36.1 %% of the time at 40 of them");
		one->explanation = g_strdup("Division is slow.");
		one->source = g_strdup("A book");
		one->remedy = g_strdup("Divide by constants, or by a number that stays the same "
				       "(the reciprocal is kept); mask in place of % by a power");
		g_ptr_array_add(self->diagnoses, one);
	}
	return self;
}

static char **write_run(const LodeProfile *profile, const LodeMiningRun *run,
	const LodeDiagnoses *diagnoses, const LodeReportOptions *given)
{
	g_autoptr(GError) error = NULL;
	LodeReportOptions options = *given;
	FILE *file = sample_open();

	options.diagnoses = diagnoses;
	if (options.profile_path == NULL)
		options.profile_path = "x.lode";
	options.terminal.width = WIDTH;
	g_assert_true(lode_report_write(profile, run, &options, NULL, file, &error));
	g_assert_no_error(error);
	g_autofree char *text = sample_close(file);
	g_test_message("%s", text);
	return g_strsplit(text, "\n", -1);
}

static char **write_lines(const LodeDiagnoses *diagnoses, const LodeReportOptions *given)
{
	g_autoptr(LodeProfile) profile = sample_profile();
	g_autoptr(LodeMiningRun) run = run_without_findings();

	return write_run(profile, run, diagnoses, given);
}

static guint count(char **lines, const char *part)
{
	guint n = 0;

	for (; *lines != NULL; lines++)
		n += strstr(*lines, part) != NULL;
	return n;
}

static void test_fits(void)
{
	LodeReportOptions options;

	lode_report_options_init(&options);
	for (guint n = 1; n <= 12; n++) {
		g_autoptr(LodeDiagnoses) diagnoses = many(n);
		g_auto(GStrv) lines = write_lines(diagnoses, &options);
		guint n_titles = count(lines, "divisions");
		guint n_shown = count(lines, "  → Divide by constants, or by a number that stays "
					     "the same");
		/* The text ends with a line break. */
		g_assert_cmpuint(g_strv_length(lines) - 1, <=, LINES);
		for (char **line = lines; *line != NULL; line++)
			g_assert_cmpuint(lode_display_width(*line), <=, WIDTH);
		g_assert_cmpuint(n_shown, >=, MIN(n, 3));
		guint n_placed = count(lines, "(table.c:41");
		g_assert_cmpuint(count(lines, ") and 39 more functions"), ==, n_placed);
		/* Lines that are left have places and remedies. */
		g_assert_true(n_placed == n_shown || n_placed == n_shown + 1);
		if (n_titles == n && n_shown < n)
			g_assert_cmpuint(g_strv_length(lines) - 1, ==, LINES);
		g_assert_cmpuint(count(lines, "saves 20–40 %"), ==, 1);
		/* One is never hidden, and of several the costliest are told. */
		g_autofree char *more = g_strdup_printf("%u more: lode report ", n - n_titles);
		g_assert_cmpuint(n - n_titles, !=, 1);
		g_assert_cmpuint(count(lines, more), ==, n > n_titles);
	}
}

/* Whatever stands above and below: there are fewer functions then, and fewer sentences. */
static void test_long_head(void)
{
	g_autofree char *words = g_strnfill(900, 'a');
	LodeReportOptions options;

	for (size_t i = 9; i < strlen(words); i += 10)
		words[i] = ' ';
	lode_report_options_init(&options);
	for (guint n_lines = 0; n_lines <= 10; n_lines++) {
		g_autoptr(LodeProfile) profile = sample_profile();
		g_autoptr(LodeMiningRun) run = run_without_findings();
		g_autoptr(LodeDiagnoses) diagnoses = many(3);
		LodeDiagnosis *small = lode_diagnoses_at(diagnoses, 2);
		g_autofree char *long_text = g_strndup(words, n_lines * 75);

		small->time = 0.03;
		lode_diagnoses_set_aside(diagnoses, 2);
		lode_diagnoses_at(diagnoses, 1)->is_muted = true;
		diagnoses->user = 1;
		diagnoses->foreign = 0.5;
		diagnoses->foreigners = g_strdup(long_text);
		if (n_lines > 0)
			profile->part = lode_profile_intern(profile, long_text);
		g_auto(GStrv) lines = write_run(profile, run, diagnoses, &options);
		g_assert_cmpuint(g_strv_length(lines) - 1, <=, LINES);
		g_assert_cmpuint(count(lines, "D1  saves 20–40 %"), ==, 1);
		g_assert_cmpuint(count(lines, "→ Divide by constants"), ==, 1);
		g_assert_cmpuint(count(lines, "--explain D1"), ==, 1);
		g_assert_cmpuint(count(lines, "Set aside: "), ==, n_lines <= 3);
	}
}

/* An interval whose ends differ by more than a factor of five has its upper end alone. */
static void test_wide(void)
{
	g_autoptr(LodeDiagnoses) diagnoses = many(3);
	LodeReportOptions options;

	lode_report_options_init(&options);
	lode_diagnoses_at(diagnoses, 2)->low = 0.6;
	lode_diagnoses_at(diagnoses, 2)->high = 0.99;
	lode_diagnoses_at(diagnoses, 0)->low = 0.05;
	lode_diagnoses_at(diagnoses, 0)->high = 0.75;
	lode_diagnoses_at(diagnoses, 1)->low = 0.1;
	lode_diagnoses_at(diagnoses, 1)->high = 0.5;
	g_auto(GStrv) lines = write_lines(diagnoses, &options);
	g_assert_cmpuint(count(lines, "saves up to 75 %"), ==, 1);
	g_assert_cmpuint(count(lines, "saves 10–50 %"), ==, 1);
	g_assert_cmpuint(count(lines, "saves 60 % or more"), ==, 1);
}

/* The line is the inlined function's, which its author knows; of a short name what it is in, too.
 */
static void test_inlined(void)
{
	g_autoptr(LodeDiagnoses) diagnoses = many(2);
	LodeReportOptions options;

	lode_report_options_init(&options);
	for (guint i = 0; i < 2; i++)
		lode_diagnoses_at(diagnoses, i)->site.inlined = i == 0 ? "smooth" : "blur";
	g_free(lode_diagnoses_at(diagnoses, 0)->site.function);
	lode_diagnoses_at(diagnoses, 0)->site.function = g_strdup("main");
	g_auto(GStrv) lines = write_lines(diagnoses, &options);
	g_assert_cmpuint(
		count(lines, "    smooth (table.c:4100), in main and 39 more functions"), ==, 1);
	g_assert_cmpuint(count(lines, "    blur (table.c:4101) and 39 more functions"), ==, 1);
}

/* By their titles without names, one for each cause, in one line. */
static void test_smaller(void)
{
	static const char *const titles[] = {"copies: memcpy, called in a loop", "copies: memmove",
		"pow, called in a loop",
		"registers that are stored for lack of registers and read again"};
	static const char *const causes[] = {"copy", "copy", "math", "spill"};
	LodeReportOptions options;

	lode_report_options_init(&options);
	for (guint first = 0; first < G_N_ELEMENTS(titles); first += 3) {
		g_autoptr(LodeDiagnoses) diagnoses = many(1 + G_N_ELEMENTS(titles) - first);
		for (guint i = first; i < G_N_ELEMENTS(titles); i++) {
			LodeDiagnosis *one = lode_diagnoses_at(diagnoses, 1);
			g_free(one->title);
			g_free(one->cause);
			one->title = g_strdup(titles[i]);
			one->cause = g_strdup(causes[i]);
			one->time = 0.02;
			lode_diagnoses_set_aside(diagnoses, 1);
		}
		g_auto(GStrv) lines = write_lines(diagnoses, &options);
		g_assert_cmpuint(
			count(lines,
				first == 0
					? "Smaller: copies 4 %, pow 2 % and 1 more; see --explain."
					: "Smaller: registers that are stored for lack of"),
			==, 1);
		for (char **line = lines; *line != NULL; line++)
			g_assert_cmpuint(lode_display_width(*line), <=, WIDTH);
	}
}

static void test_muted(void)
{
	g_autoptr(LodeDiagnoses) diagnoses = many(3);
	LodeReportOptions options;

	lode_report_options_init(&options);
	lode_diagnoses_at(diagnoses, 0)->is_muted = true;
	g_auto(GStrv) lines = write_lines(diagnoses, &options);
	g_assert_cmpuint(count(lines, "divisions"), ==, 2);
	g_assert_cmpuint(count(lines, "D1 "), ==, 0);
	g_assert_cmpuint(count(lines, "D3  saves 18–38 %"), ==, 1);
	g_assert_cmpuint(count(lines, "1 muted by .lode-mute."), ==, 1);
	g_assert_cmpuint(count(lines, "--explain D2"), ==, 1);
	for (guint i = 0; i < 3; i++)
		lode_diagnoses_at(diagnoses, i)->is_muted = true;
	options.muting = "known";
	g_auto(GStrv) none = write_lines(diagnoses, &options);
	g_assert_cmpuint(count(none, "divisions"), ==, 0);
	g_assert_cmpuint(count(none, "3 muted by known."), ==, 1);
	g_assert_cmpuint(count(none, " more: "), ==, 0);
}

/* It has no remedy: it takes time, and saves nothing. No code is proposed where none is known. */
static void test_without_remedy(void)
{
	g_autoptr(LodeDiagnoses) diagnoses = many(1);
	LodeDiagnosis *one = lode_diagnoses_at(diagnoses, 0);
	const LodeFindingPlace place = {0, 0.36};
	LodeReportOptions options;

	lode_report_options_init(&options);
	one->low = one->high = 0;
	one->time = 0.36;
	g_auto(GStrv) lines = write_lines(diagnoses, &options);
	g_assert_cmpuint(count(lines, "D1  takes 36 %  divisions"), ==, 1);
	g_assert_cmpuint(count(lines, "saves"), ==, 0);
	g_assert_cmpuint(count(lines, "lode annotate"), ==, 0);
	g_array_append_val(one->at, place);
	g_auto(GStrv) with_code = write_lines(diagnoses, &options);
	g_assert_cmpuint(count(with_code, "lode annotate x.lode D1"), ==, 1);
}

static void test_authors(void)
{
	g_autoptr(LodeDiagnoses) diagnoses = many(1);
	LodeReportOptions options;

	lode_report_options_init(&options);
	lode_diagnoses_at(diagnoses, 0)->authors = g_strdup("xz");
	g_auto(GStrv) lines = write_lines(diagnoses, &options);
	g_assert_cmpuint(count(lines, "  → for the authors of xz: Divide by constants"), ==, 1);
	options.is_explained = true;
	g_auto(GStrv) whole = write_lines(diagnoses, &options);
	g_assert_cmpuint(count(whole, "What its authors could do in xz: Divide by"), ==, 1);
}

/* A sampled program without a diagnosis: what costs most in words, and the next questions. */
static void test_undiagnosed(void)
{
	g_autoptr(LodeDiagnoses) diagnoses = many(0);
	g_autoptr(LodeProfile) profile = sample_profile();
	g_autoptr(LodeMiningRun) with = sample_run_with_findings(),
				 without = run_without_findings();
	LodeReportOptions options;

	lode_report_options_init(&options);
	profile->run.n_samples = 2000;
	g_auto(GStrv) lines = write_run(profile, with, diagnoses, &options);
	g_assert_cmpuint(g_strv_length(lines) - 1, <=, LINES);
	for (char **line = lines; *line != NULL; line++)
		g_assert_cmpuint(lode_display_width(*line), <=, WIDTH);
	g_assert_cmpuint(count(lines, "⟪"), ==, 0);
	g_assert_cmpuint(count(lines, "F1  40.0 %  add at 2 places of 2 functions"), ==, 1);
	g_assert_cmpuint(count(lines, "F2  20.0 %  hot (sample.c:1)  mov"), ==, 1);
	g_assert_cmpuint(count(lines, "lode annotate x.lode F1 "), ==, 1);
	/* What a command shows is not wrapped. */
	options.profile_path = "/home/me/a/folder/of/many/profiles/x.lode";
	g_auto(GStrv) long_path = write_run(profile, with, diagnoses, &options);
	g_assert_cmpuint(count(long_path, "/x.lode F1"), ==, 1);
	g_assert_cmpuint(count(long_path, "its code"), ==, 0);
	options.profile_path = NULL;
	g_auto(GStrv) bare = write_run(profile, without, diagnoses, &options);
	g_assert_cmpuint(count(bare, "F1"), ==, 0);
	g_assert_cmpuint(count(bare, "lode annotate x.lode hot "), ==, 1);
	diagnoses->is_too_short = true;
	g_auto(GStrv) brief = write_run(profile, with, diagnoses, &options);
	g_assert_cmpuint(count(brief, "Too short to tell"), ==, 1);
	g_assert_cmpuint(count(brief, "F1"), ==, 0);
}

/* The findings below diagnoses are together no more than what none covers. */
static void test_uncovered(void)
{
	g_autoptr(LodeDiagnoses) diagnoses = many(1);
	g_autoptr(LodeProfile) profile = sample_profile();
	g_autoptr(LodeMiningRun) run = sample_run_with_findings();
	LodeReportOptions options;

	lode_report_options_init(&options);
	diagnoses->user = 1;
	for (guint pass = 0; pass < 2; pass++) {
		diagnoses->covered = pass == 0 ? 0.5 : 0.39;
		g_auto(GStrv) lines = write_run(profile, run, diagnoses, &options);
		g_assert_cmpuint(count(lines, "F1  40.0 %"), ==, 1);
		g_assert_cmpuint(count(lines, "F2  20.0 %"), ==, pass);
	}
}

/* Names that a terminal or a spreadsheet would act upon. */
static void test_hostile_names(void)
{
	static const char name[] = "=a\x1b[2Jb\x07\xc2\x9b\r\n,\"\xff";
	g_autoptr(LodeDiagnoses) diagnoses = many(1);
	LodeDiagnosis *one = lode_diagnoses_at(diagnoses, 0);
	char **const names[] = {
		&one->site.function, &one->site.file, &one->object, &one->service, &one->name};
	LodeReportOptions options;

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_free(*names[i]);
		*names[i] = g_strdup(name);
	}
	lode_report_options_init(&options);
	for (int format = LODE_VIEW_TEXT; format <= LODE_VIEW_CSV; format++) {
		for (guint number = 0; number < 2; number++) {
			options.format = (LodeViewFormat)format;
			options.diagnosis = number;
			g_auto(GStrv) lines = write_lines(diagnoses, &options);
			g_assert_cmpuint(count(lines, "divisions"), ==, 1);
			for (char **line = lines; *line != NULL; line++) {
				g_assert_null(strpbrk(*line, "\x1b\x07"));
				g_assert_null(strstr(*line, "\xc2\x9b"));
				g_assert_true(g_utf8_validate(*line, -1, NULL));
				g_assert_null(strstr(*line, ",=a"));
			}
		}
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/views/first_screen/fits", test_fits);
	g_test_add_func("/views/first_screen/long_head", test_long_head);
	g_test_add_func("/views/first_screen/wide", test_wide);
	g_test_add_func("/views/first_screen/smaller", test_smaller);
	g_test_add_func("/views/first_screen/inlined", test_inlined);
	g_test_add_func("/views/first_screen/muted", test_muted);
	g_test_add_func("/views/first_screen/without_remedy", test_without_remedy);
	g_test_add_func("/views/first_screen/authors", test_authors);
	g_test_add_func("/views/first_screen/undiagnosed", test_undiagnosed);
	g_test_add_func("/views/first_screen/uncovered", test_uncovered);
	g_test_add_func("/views/first_screen/hostile_names", test_hostile_names);
	return g_test_run();
}
