/* SPDX-License-Identifier: MIT */
/* What the way costs in which programs of the system are called: the evidence that rules ask for,
 * and whose programs they are of. */
#include "analyses/diagnoses/diagnosis_context.h"
#include "analyses/diagnoses/programs/program_rules.h"
#include "base/error.h"
#include "made_profile.h"
#include "model/memory.h"
#include "model/process.h"

#include <string.h>

#define LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define CTYPE "/usr/lib/locale/C.utf8/LC_CTYPE"

typedef struct {
	const char *image, *process, *command;
	const char *function; /* of libc, that has half of the time, called by the program */
	const char *map;      /* NULL: none */
	bool has_lines;
	const char *rule; /* a word of the title that is expected; NULL: no diagnosis */
} Case;

static const Case cases[] = {
	{"/usr/bin/grep", "grep", "./audit.sh", "re_search_internal", CTYPE, false, "grep: text"},
	{"/usr/bin/grep", "grep", "./audit.sh", "malloc", CTYPE, false, "grep: text"},
	/* In the locale C there is nothing to gain. */
	{"/usr/bin/grep", "grep", "./audit.sh", "re_search_internal", NULL, false, NULL},
	{"/usr/bin/grep", "grep", "./audit.sh", "re_search_internal", LIBC, false, NULL},
	/* Built by its user. */
	{"/usr/bin/grep", "grep", "./audit.sh", "re_search_internal", CTYPE, true, NULL},
	{"/home/me/grep/src/grep", "grep", "grep x", "re_search_internal", CTYPE, false, NULL},
	/* Another program of the system. */
	{"/usr/bin/join", "join", "join a b", "re_search_internal", CTYPE, false, NULL},
	/* Options. */
	{"/usr/bin/grep", "grep", "grep -ci x a.txt", "read", CTYPE, false, "grep: text"},
	{"/usr/bin/grep", "grep", "grep -c x a.txt", "read", CTYPE, false, NULL},
	{"/usr/bin/grep", "grep", "sh -c 'cat a | A=b grep -i x | wc'", "read", CTYPE, false,
		"grep: text"},
	{"/usr/bin/grep", "grep", "sh -c 'sort -i a | grep x; ls -i'", "read", CTYPE, false, NULL},
	{"/usr/bin/grep", "grep", "sh -c 'echo grep -i'", "read", CTYPE, false, NULL},
	{"/usr/bin/sort", "sort", "sort a", "strcoll_l", CTYPE, false, "sort: order"},
	{"/usr/bin/sort", "sort", "sort -n a", "memchr", CTYPE, false, NULL},
	{"/usr/bin/wc", "wc", "wc -m a", "mbrtowc", CTYPE, false, "wc: characters"},
	{"/usr/bin/wc", "wc", "wc -w a", "mbrtowc", CTYPE, false, NULL},
	{"/usr/bin/gzip", "gzip", "gzip -k a", "read", NULL, false, "gzip: compression"},
	{"/usr/bin/gzip", "gzip", "gzip -dc a.gz", "read", NULL, false, NULL},
	{"/usr/bin/gzip", "gzip", "gzip -1 a", "read", NULL, false, NULL},
	{"/usr/bin/gzip", "gzip", "./pack.sh", "read", NULL, false, NULL},
	{"/usr/bin/xz", "xz", "xz -k a", "read", NULL, false, "xz: compression"},
	{"/usr/bin/xz", "xz", "xz -T0 a", "read", NULL, false, NULL},
	{"/usr/bin/xz", "xz", "xz -dk a.xz", "read", NULL, false, NULL},
	{"/usr/bin/bzip2", "bzip2", "bzip2 a", "read", NULL, false, "bzip2: compression"},
	{"/usr/bin/bzip2", "bzip2", "bzip2 -d a.bz2", "read", NULL, false, NULL},
	{"/usr/bin/zstd", "zstd", "zstd -19 a", "read", NULL, false, "zstd: compression"},
	{"/usr/bin/zstd", "zstd", "zstd -9 a", "read", NULL, false, NULL},
	{"/usr/bin/zstd", "zstd", "zstd -12 a", "read", NULL, false, NULL},
	{"/usr/bin/mawk", "awk", "awk -f a.awk", "__memcpy_evex", NULL, false, "awk: texts"},
	{"/usr/bin/mawk", "awk", "awk -f a.awk", "strtod", NULL, false, NULL},
	{"/usr/bin/bash", "bash", "bash a.sh", "_int_malloc", NULL, false, "bash: steps"},
	{"/usr/bin/dash", "sh", "sh a.sh", "_int_malloc", NULL, false, NULL},
	{"/usr/bin/sqlite3", "sqlite3", "sqlite3 a.db .dump", "sqlite3BtreeNext", NULL, false,
		"sqlite3: rows"},
	{"/usr/bin/sqlite3", "sqlite3", "sqlite3 a.db", "sqlite3BtreeInsert", NULL, false, NULL},
	{"/usr/bin/sha256sum", "sha256sum", "./sums.sh", "read", NULL, false, "sha256sum: digests"},
};

static LodeProfile *profile_of(const Case *one)
{
	LodeProfile *profile = made_profile("cpu-clock", LODE_EVENT_SAMPLED, one->image);
	const LodeStackThread thread = {(char *)one->process, 7, 7};
	const LodeMemoryMapping mapping = {.pid = 7, .end = 4096, .name = (char *)one->map};

	uint32_t main = made_small_function(profile, "fn_12d20", 1);
	if (one->has_lines)
		made_line(profile, "search.c", 1, NULL);
	made_image(profile, LIBC);
	uint32_t called = made_small_function(profile, one->function, 1);
	profile->run.program = lode_profile_intern(profile, one->command);
	profile->stacks = lode_stacks_new();
	g_array_append_val(profile->stacks->threads, thread);
	uint32_t outer = made_stack(profile, made_frame(profile, main), LODE_NONE);
	made_sample(profile, outer, 1);
	made_sample(profile, made_stack(profile, made_frame(profile, called), outer), 1);
	profile->memory = lode_memory_new();
	if (one->map != NULL)
		g_array_append_val(profile->memory->mappings, mapping);
	return profile;
}

static void test_evidence(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) profile = profile_of(&cases[i]);
		g_autoptr(LodeDiagnoses) all = lode_diagnoses_new();
		const LodeDiagnosisContext context = {.profile = profile, .total = 2, .user = 1};

		/* What the library's service says of the same is said once. */
		if (cases[i].rule != NULL && strcmp(cases[i].rule, "sqlite3: rows") == 0) {
			LodeDiagnosis *same = lode_diagnosis_new(
				"linear-search", LODE_SCOPE_SERVICE);
			same->title = g_strdup("rows that SQLite goes through: sqlite3_step");
			g_ptr_array_add(all->diagnoses, same);
		}
		lode_program_diagnoses_add(all, &context);
		g_test_message("%s, %s", cases[i].command, cases[i].function);
		g_assert_cmpuint(all->diagnoses->len, ==, cases[i].rule != NULL);
		if (cases[i].rule == NULL)
			continue;
		const LodeDiagnosis *diagnosis = lode_diagnoses_at(all, 0);
		g_assert_true(g_str_has_prefix(diagnosis->title, cases[i].rule));
		g_assert_cmpfloat(diagnosis->time, ==, 1);
		g_assert_cmpfloat(diagnosis->high, >, 0.3);
		/* It is what its user can do, and stays. */
		lode_foreign_diagnoses_set_aside(all, &context);
		g_assert_cmpuint(all->diagnoses->len, ==, 1);
		g_assert_cmpstr(all->foreigners, ==, cases[i].process);
	}
}

static void test_form(void)
{
	static const char texts[] = "cause = c\ntitle = t\nexplanation = e\nremedy = r\n"
				    "source = s\n";
	static const struct {
		const char *rest, *message; /* NULL: it is right */
	} forms[] = {{"programs = a\nsaves-least = 0.1\nsaves-most = 0.2\n", NULL},
		{"programs = a\nsaves-least = 0.3\nsaves-most = 0.2\n", "saves-least"},
		{"saves-least = 0.1\nsaves-most = 0.2\n", "programs"},
		{"programs = a\nsaves-least = 0.1\n", "saves-most"}};

	for (size_t i = 0; i < G_N_ELEMENTS(forms); i++) {
		g_autofree char *text = g_strconcat("[g]\n", texts, forms[i].rest, NULL);
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeProgramRules) rules = lode_program_rules_parse(text, &error);
		g_assert_true((rules != NULL) == (forms[i].message == NULL));
		if (forms[i].message == NULL)
			continue;
		g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
		g_assert_nonnull(strstr(error->message, forms[i].message));
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/program_diagnoses/evidence", test_evidence);
	g_test_add_func("/program_diagnoses/form", test_form);
	return g_test_run();
}
