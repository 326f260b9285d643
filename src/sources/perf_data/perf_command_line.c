/* SPDX-License-Identifier: MIT */
#include "sources/perf_data/perf_command_line.h"

#include <stdbool.h>
#include <string.h>

/* Options of 'perf record' whose value may be the next word (linux: tools/perf/builtin-record.c);
 * of a letter it may also be the rest of the word, of a name what comes after '='. */
static const char letters_with_value[] = "eprtCcoFmGDkju";
static const char *const names_with_value[] = {"affinity", "branch-filter", "call-graph", "cgroup",
	"clang-opt", "clang-path", "clockid", "control", "count", "cpu", "delay", "event", "filter",
	"freq", "max-size", "mmap-flush", "mmap-pages", "num-thread-synthesize", "off-cpu-thresh",
	"output", "pid", "proc-map-timeout", "realtime", "switch-max-files", "switch-output-event",
	"synth", "tid", "uid", "vmlinux", NULL};

/* With these what is recorded is not, or not only, the program. */
static const char letters_of_others[] = "aptCu";
static const char *const names_of_others[] = {"all-cpus", "pid", "tid", "cpu", "uid", NULL};

typedef struct {
	bool has_value; /* in the next word */
	bool is_of_others;
} Option;

static Option read_letters(const char *letters)
{
	Option option = {0};

	for (; *letters != '\0'; letters++) {
		option.is_of_others |= strchr(letters_of_others, *letters) != NULL;
		if (strchr(letters_with_value, *letters) != NULL) {
			option.has_value = letters[1] == '\0';
			break;
		}
	}
	return option;
}

static Option read_name(const char *text)
{
	g_auto(GStrv) parts = g_strsplit(text, "=", 2);

	return (Option){
		.has_value = parts[0] != NULL && parts[1] == NULL &&
	                     g_strv_contains(names_with_value, parts[0]),
		.is_of_others = parts[0] != NULL && g_strv_contains(names_of_others, parts[0]),
	};
}

static bool is_recording(const char *const *words, guint n_words)
{
	if (n_words < 3)
		return false;
	g_autofree char *recorder = g_path_get_basename(words[0]);
	return g_str_has_prefix(recorder, "perf") && strcmp(words[1], "record") == 0;
}

guint lode_perf_command_line_program(const char *const *words, guint n_words)
{
	if (!is_recording(words, n_words))
		return 0;
	for (guint i = 2; i < n_words; i++) {
		if (strcmp(words[i], "--") == 0)
			return i + 1 < n_words ? i + 1 : 0;
		if (words[i][0] != '-')
			return i;
		Option option = words[i][1] == '-' ? read_name(words[i] + 2)
		                                   : read_letters(words[i] + 1);
		if (option.is_of_others)
			return 0;
		i += option.has_value;
	}
	return 0;
}
