/* SPDX-License-Identifier: MIT */
/*
 * The command line: finds the verb, parses its options by its table, runs it, and checks that all
 * output was written. The verbs are in verb_<name>.c.
 */
#include "cli/verb.h"

#include "base/arrays/large_blocks.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "base/text/suggestion.h"
#include "cli/fatal_faults.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/mpi_ranks.h"
#include "cli/terminal_asker.h"
#include "cli/verb_table.h"
#include "questions/questions.h"
#include "questions/report.h"
#include "views/form/display_text.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- standard streams --- */

/*
 * Standard input, output and error: opened at the start if closed, so that no other file gets their
 * numbers, and checked at the end, so that lost output is a failure.
 */

static void do_nothing(int signal)
{
	(void)signal;
}

/*
 * Opened in the opposite direction, so that reading or writing fails as with a closed descriptor;
 * closed in programs that we start.
 */
static void fill_closed(void)
{
	for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++) {
		if (fcntl(number, F_GETFD) != -1 || errno != EBADF)
			continue;
		int mode = number == STDIN_FILENO ? O_WRONLY : O_RDONLY;
		int opened = open("/dev/null", mode | O_CLOEXEC);
		if (opened != number)
			_exit(LODE_EXIT_FAILED);
	}
}

/* Fills closed descriptors 0 … 2, and makes a closed pipe an error instead of a sudden end. */
static void standard_streams_open(void)
{
	/* A write then fails with an error: a closed pipe, a file above RLIMIT_FSIZE. */
	static const int signals[] = {SIGPIPE, SIGXFSZ};
	const struct sigaction action = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};
	struct sigaction old;

	fill_closed();
	/* A handler, not SIG_IGN: a program that we start would inherit SIG_IGN. */
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
}

/*
 * Whether printing failed because the pipe's reader has closed it. stdio's error flag does not say
 * which error it was, so the pipe is polled.
 */
static bool standard_output_is_broken_pipe(void)
{
	struct pollfd pipe = {.fd = STDOUT_FILENO, .events = POLLOUT};

	fflush(stdout);
	return ferror(stdout) && poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR) != 0;
}

/*
 * Flushes and closes standard output. Gives `status`, or the status of a failed write, which it
 * reports: a full disk with a message, a closed pipe by the exit status of SIGPIPE, without a
 * message.
 */
static int standard_streams_close(int status)
{
	int reason = fflush(stdout) != 0 ? errno : 0;
	bool is_broken = standard_output_is_broken_pipe();
	bool has_failed = ferror(stdout) != 0;

	if (fclose(stdout) != 0 && !has_failed) {
		has_failed = true;
		reason = errno;
	}
	/* A verb that failed has printed its error already. */
	if (!has_failed || (status != LODE_EXIT_OK && !is_broken))
		return status;
	if (is_broken)
		return LODE_EXIT_BY_SIGNAL + SIGPIPE;
	lode_display_line(stderr, "lode: cannot write to standard output%s%s",
		reason != 0 ? ": " : "", reason != 0 ? g_strerror(reason) : "");
	return LODE_EXIT_FAILED;
}

/* --- the command line --- */

static int fail_usage(const char *place, const char *message)
{
	/* A wrong expression and the mark below it are indented lines of their own; line breaks
	 * within names are escaped. */
	g_auto(GStrv) lines = g_strsplit(message, "\n  ", -1);

	lode_display_line(stderr, "lode%s%s: %s", *place != '\0' ? " " : "", place,
		lines[0] != NULL ? lines[0] : "");
	for (size_t i = 1; lines[0] != NULL && lines[i] != NULL; i++)
		lode_display_line(stderr, "  %s", lines[i]);
	lode_display_line(stderr, "Try 'lode%s%s --help'.", *place != '\0' ? " " : "", place);
	return LODE_EXIT_USAGE;
}

static int fail_unknown(const char *kind, const char *word, const char *const *candidates)
{
	const char *nearest = lode_suggestion(word, candidates);
	g_autofree char *message = g_strdup_printf("unknown %s '%s'%s%s%s", kind, word,
		nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
		nearest != NULL ? "'?" : "");

	return fail_usage("", message);
}

/* The verbs whose first word this is, "'trace record', 'trace pack'"; NULL: none. */
static char *verbs_beginning(const char *word)
{
	g_autofree char *beginning = g_strconcat(word, " ", NULL);
	GString *list = g_string_new(NULL);

	for (size_t i = 0; lode_verbs[i] != NULL; i++)
		if (g_str_has_prefix(lode_verbs[i]->name, beginning))
			g_string_append_printf(
				list, "%s'%s'", list->len > 0 ? ", " : "", lode_verbs[i]->name);
	return g_string_free(list, list->len == 0);
}

/* "lode trace --help": no verb is called 'trace'. */
static bool is_help_of_many(char *const *words)
{
	return words[1] == NULL || strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0;
}

/* The words are not a verb, but verbs begin with the first word. */
static int fail_incomplete_verb(char *const *words, const char *list)
{
	bool has_second = words[1] != NULL && words[1][0] != '-';
	g_autofree char *message = g_strdup_printf("unknown verb '%s%s%s'; there are %s", words[0],
		has_second ? " " : "", has_second ? words[1] : "", list);

	return fail_usage(words[0], message);
}

/* A verb is missing before the name of a file: which one, by what the file is. NULL: it is none.
 * The caller frees it. */
static char *missing_verb(const char *word)
{
	switch (lode_file_kind(word)) {
	case LODE_FILE_KIND_PROFILE:
		return g_strdup_printf("'lode report %s' shows the profile", word);
	case LODE_FILE_KIND_RECORDING:
		return g_strdup_printf(
			"'lode import %s -o x.lode' makes a profile of the recording", word);
	case LODE_FILE_KIND_PACKED_TRACE:
		return g_strdup_printf("'lode trace info %s' shows the trace", word);
	default:
		break;
	}
	bool is_program = strchr(word, '/') != NULL && access(word, X_OK) == 0 &&
	                  !g_file_test(word, G_FILE_TEST_IS_DIR);
	return is_program ? g_strdup_printf("'lode run -- %s' records the program", word) : NULL;
}

static int fail_unknown_verb(char *const *words)
{
	g_autofree char *verb = missing_verb(words[0]);
	if (verb != NULL) {
		g_autofree char *message = g_strdup_printf("a verb is missing: %s", verb);
		return fail_usage("", message);
	}
	g_autofree char *list = verbs_beginning(words[0]);
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	if (list != NULL)
		return fail_incomplete_verb(words, list);
	for (size_t i = 0; lode_verbs[i] != NULL; i++)
		g_ptr_array_add(names, (void *)lode_verbs[i]->name);
	g_ptr_array_add(names, (void *)"help");
	g_ptr_array_add(names, NULL);
	return fail_unknown("verb", words[0], (const char *const *)names->pdata);
}

static int exit_status_of(const LodeVerb *verb, const void *options, const GError *error)
{
	if (g_error_matches(error, LODE_ERROR, LODE_ERROR_USAGE)) {
		if (verb->is_silent == NULL || !verb->is_silent(options))
			return fail_usage(verb->name, error->message);
		/* mpirun kills all processes when one fails, also the one that prints the error. */
		g_usleep(G_USEC_PER_SEC);
		return LODE_EXIT_USAGE;
	}
	/* The reader closed the pipe: not an error, and no message. */
	if (standard_output_is_broken_pipe())
		return LODE_EXIT_FAILED;
	if (g_error_matches(error, LODE_ERROR, LODE_ERROR_CANCELLED) &&
		lode_interrupt_signal() != 0) {
		lode_display_line(stderr, "lode %s: stopped", verb->name);
		return LODE_EXIT_BY_SIGNAL + lode_interrupt_signal();
	}
	lode_display_line(stderr, "lode %s: %s", verb->name, error->message);
	return LODE_EXIT_FAILED;
}

/* The words after the file become parameters; what is left are files. */
static bool take_words(
	const LodeVerb *verb, char **words, LodeParameterPairs *pairs, GError **error)
{
	char **after = words[0] != NULL ? words + 1 : words;

	if (verb->take_words == NULL)
		return true;
	if (!verb->take_words(after, pairs, error))
		return false;
	for (; *after != NULL; after++)
		g_clear_pointer(after, g_free);
	return true;
}

static int write_page(const LodeReportQuestion *options, char **arguments, GError **error)
{
	if (lode_parameter_take_one(arguments, "profile", "x.lode", error))
		return lode_report_page_write(options, arguments[0], error);
	return LODE_EXIT_USAGE;
}

/* Answers a question, or runs the part of it that only the command line has. */
static int answer(const LodeVerb *question, void *options, char **arguments, GError **error)
{
	bool is_program = arguments[0] != NULL && strcmp(arguments[0], "--") == 0;

	if (question == &lode_question_trace_simulate && is_program)
		return lode_trace_simulate_program(options, arguments, error);
	if (question == &lode_question_report && ((LodeReportQuestion *)options)->html != NULL)
		return write_page(options, arguments, error);
	return lode_terminal_ask(question, options, arguments, error);
}

/* A file that an option names for output. */
typedef struct {
	const LodeParameter *row;
	const char *path, *option; /* "-o" */
} Output;

static bool check_distinct(const Output *self, const char *input, GError **error)
{
	return !lode_file_is_same(self->path, input) ||
	       lode_parameter_refuse(error, "'%s' is read and written; give %s another name",
		       self->path, self->option);
}

/* Files of other options. */
static bool check_other_files(
	const Output *self, const LodeVerb *verb, const LodeParameterPairs *pairs, GError **error)
{
	for (guint i = 0; i < pairs->names->len; i++) {
		const LodeParameter *row = lode_parameter_find(
			verb->groups, pairs->names->pdata[i]);
		const char *path = pairs->values->pdata[i];
		bool is_file = row->kind == LODE_PARAMETER_FILE ||
		               row->kind == LODE_PARAMETER_FILES;
		if (!is_file || row == self->row)
			continue;
		if (row->writes == LODE_FILE_KIND_NONE && !check_distinct(self, path, error))
			return false;
		if (row->writes != LODE_FILE_KIND_NONE && lode_file_is_same(self->path, path))
			return lode_parameter_refuse(error,
				"'%s' is written twice; give %s another name", self->path,
				self->option);
	}
	return true;
}

/* Inputs; of a program's command line only the program. */
static bool check_inputs(
	const Output *self, const LodeVerb *verb, char *const *arguments, GError **error)
{
	for (; *arguments != NULL && strcmp(*arguments, "--") != 0; arguments++) {
		if (!check_distinct(self, *arguments, error))
			return false;
		if (verb->is_wrapper)
			break;
	}
	return true;
}

/* Checks each option that writes a file, before anything is read or run: no file of a different
 * kind is replaced (base/file_kind.h), and the command names the file once. */
static bool check_outputs(const LodeVerb *verb, const LodeParameterPairs *pairs,
	char *const *arguments, GError **error)
{
	for (guint i = 0; i < pairs->names->len; i++) {
		const LodeParameter *row = lode_parameter_find(
			verb->groups, pairs->names->pdata[i]);
		const char *path = pairs->values->pdata[i];
		g_autofree char *option = row->letter != 0 ? g_strdup_printf("-%c", row->letter)
		                                           : g_strconcat("--", row->name, NULL);
		const Output output = {row, path, option};
		if (row->writes != LODE_FILE_KIND_NONE && strcmp(path, "-") != 0 &&
			(!check_inputs(&output, verb, arguments, error) ||
				!lode_file_kind_may_replace(row->writes, path, option, error) ||
				!check_other_files(&output, verb, pairs, error)))
			return false;
	}
	return true;
}

static int run_verb(const LodeVerb *verb, char **arguments)
{
	const LodeParameterLine line = {verb->groups, verb->is_wrapper, verb->may_wrap};
	g_auto(LodeParameterPairs) pairs;
	g_autoptr(GPtrArray) lists = NULL;
	g_autofree void *options = g_malloc0(verb->size);
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) rest = NULL;
	LodeHelp help = LODE_HELP_NONE;

	lode_parameter_pairs_init(&pairs);
	if (!lode_parameter_line_split(&line, arguments, &pairs, &help, &rest, &error))
		return exit_status_of(verb, options, error);
	if (help != LODE_HELP_NONE) {
		lode_help_write_verb(verb, help, stdout);
		return LODE_EXIT_OK;
	}
	if (verb->init != NULL)
		verb->init(options);
	if (!take_words(verb, rest, &pairs, &error) ||
		!lode_parameters_fill(verb->groups, &pairs, LODE_PARAMETER_FOR_TERMINAL, options,
			&lists, &error) ||
		!check_outputs(verb, &pairs, rest, &error))
		return exit_status_of(verb, options, error);
	int status = verb->answer != NULL ? answer(verb, options, rest, &error)
	                                  : verb->run(options, rest, &error);
	return error != NULL ? exit_status_of(verb, options, error) : status;
}

/* False: no verb begins with this word. */
static bool write_help_of_many(char *const *words, FILE *out)
{
	g_autofree char *list = verbs_beginning(words[0]);

	if (list != NULL)
		lode_help_write_verbs(words[0], out);
	return list != NULL;
}

static int run_help(char **arguments)
{
	if (arguments[0] == NULL) {
		lode_help_write_overview(stdout);
		return LODE_EXIT_OK;
	}
	size_t n_words;
	const LodeVerb *verb = lode_verb_find(arguments, &n_words);
	if (verb == NULL && arguments[1] == NULL && write_help_of_many(arguments, stdout))
		return LODE_EXIT_OK;
	if (verb == NULL)
		return fail_unknown_verb(arguments);
	lode_help_write_verb(verb, LODE_HELP_BRIEF, stdout);
	return LODE_EXIT_OK;
}

static int run_completion(const char *shell)
{
	if (shell != NULL && lode_completion_write(shell, stdout))
		return LODE_EXIT_OK;
	return fail_usage("", "--completion takes the name of a shell: bash or zsh");
}

/* Options that stand before any verb. */
static int run_option(char **arguments)
{
	static const char *const options[] = {"--help", "--version", "--completion", NULL};
	const char *word = arguments[0];

	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return run_help(arguments + 1);
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
		printf("lode %s\nMPI: %s\n", LODE_VERSION, lode_mpi_is_built() ? "yes" : "no");
		return LODE_EXIT_OK;
	}
	if (strcmp(word, "--completion") == 0)
		return run_completion(arguments[1]);
	if (g_str_has_prefix(word, "--completion="))
		return run_completion(strchr(word, '=') + 1);
	if (strcmp(word, "-v") == 0)
		return fail_usage("", "unknown option '-v'; did you mean '-V' or '--version'?");
	return fail_unknown("option", word, options);
}

static int run_line(char **arguments)
{
	if (arguments[0] == NULL) {
		lode_help_write_overview(stderr);
		return LODE_EXIT_USAGE;
	}
	if (arguments[0][0] == '-')
		return run_option(arguments);
	if (strcmp(arguments[0], "help") == 0)
		return run_help(arguments + 1);
	size_t n_words;
	const LodeVerb *verb = lode_verb_find(arguments, &n_words);
	if (verb != NULL)
		return run_verb(verb, arguments + n_words);
	bool wants_help = arguments[1] != NULL;
	if (is_help_of_many(arguments) &&
		write_help_of_many(arguments, wants_help ? stdout : stderr))
		return wants_help ? LODE_EXIT_OK : LODE_EXIT_USAGE;
	return fail_unknown_verb(arguments);
}

int main(int argc, char **argv)
{
	static char *none[] = {NULL};

	lode_fatal_faults_catch();
	lode_map_large_blocks();
	standard_streams_open();
	setlocale(LC_ALL, "");
	/* Numbers are read and written with a decimal point in all locales. */
	setlocale(LC_NUMERIC, "C");
	g_set_prgname("lode");
	int status = run_line(argc > 0 ? argv + 1 : none);
	status = standard_streams_close(status);
	if (status >= LODE_EXIT_BY_SIGNAL)
		lode_interrupt_die(status - LODE_EXIT_BY_SIGNAL);
	return status;
}
