/* SPDX-License-Identifier: MIT */
/* lode guide: one page for a reader who has a question, and knows no verb yet. */
#include "cli/verb.h"

#include <stdio.h>

typedef struct {
	const char *question, *command, *tells; /* command and tells NULL: a heading */
} Line;

static const Line lines[] = {
	{"Make a profile", NULL, NULL},
	{"of a program", "lode run -o x.lode -- ./program argument",
		"runs it at nearly full speed, and prints the first screen"},
	{"of a service", "lode run -p PID --duration 10 -o x.lode", "it goes on as before"},
	{"of a recording", "lode import perf.data -o x.lode", "of perf, callgrind and others"},

	{"What to change", NULL, NULL},
	{"what costs most, and why", "lode report x.lode",
		"D1 is the first to act on: cause, place, saving, remedy"},
	{"for a program to read", "lode report x.lode --format json",
		"'name' of a diagnosis stays the same from run to run"},
	{"why lode says so", "lode report x.lode --explain D1",
		"evidence, what was ruled out, where the remedy is from"},
	{"which code is meant", "lode annotate x.lode D1",
		"source and instructions with what each costs; also of a FUNCTION or FILE:LINE"},
	{"where the time is", "lode report x.lode --functions", "self; --sort inclusive; --lines"},
	{"who calls it", "lode report x.lode --callers NAME", "and --callees NAME"},
	{"what it waits for", "lode report x.lode --waits",
		"reasons, objects, places, and who holds a lock"},
	{"which process or thread", "lode report x.lode --programs",
		"then --thread, --pid, --time, --where for a part of the profile"},
	{"what costs over and over", "lode report x.lode --findings",
		"patterns of instructions at many places; 'lode mine' finds sequences"},

	{"Did the change help", NULL, NULL},
	{"before and after", "lode diff old.lode new.lode",
		"diagnoses gone and new, functions, lines; chance is left out"},
	{"by how much, for certain", "lode compare -- ./old --- ./new",
		"runs both by turns; --fail-above 2: exit status 3 where the new one is slower"},
	{"never this cause again", "lode report x.lode --fail-on CAUSE",
		"exit status 3: it is there"},

	{"Data and memory", NULL, NULL},
	{"which data costs",
		"lode memory record -o m.lode -- ./program; lode memory m.lode --by object",
		"members, allocations, threads, pages"},
	{"which thread, which node",
		"lode place m.lode -o m.place; lode place apply m.place -- ./program",
		"puts threads next to their memory"},
	{"what another cache would do", "lode trace simulate --cache d1=48K:12:64 -- ./program",
		"replays every access; size, ways and line in bytes"},

	{"Exactness", NULL, NULL},
	{"is this profile good", "lode info x.lode", "samples, what is known and what is missing"},
	{"exact counts", "lode run --count -- ./program",
		"a second run, in qemu, counts all executions"},
};

static int run(void *options, char **arguments, GError **error)
{
	(void)options;
	if (arguments[0] != NULL) {
		lode_parameter_refuse(error, "guide takes no arguments");
		return LODE_EXIT_USAGE;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
		const Line *line = &lines[i];
		if (line->command == NULL)
			printf("%s%s\n", i > 0 ? "\n" : "", line->question);
		else
			printf("  %s:\n    %s\n      %s\n", line->question, line->command,
				line->tells);
	}
	printf("\nShares are of the processor time unless the clock's is said. 'lode VERB --help' "
	       "has "
	       "a verb's options;\n'lode mcp' answers the same questions to an agent.\n");
	return LODE_EXIT_OK;
}

const LodeVerb lode_verb_guide = {
	.name = "guide",
	.arguments = "",
	.summary = "say which question is answered by which command",
	.description =
		"Prints one page: the questions that one has about a program's time, and the "
		"command that answers each.",
	.groups = NULL,
	.size = 1,
	.run = run,
};
