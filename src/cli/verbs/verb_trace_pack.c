/* SPDX-License-Identifier: MIT */
/* lode trace pack: packs an address trace of a different tool. */
#include "base/error.h"
#include "base/text/number_format.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "sources/references/trace_conversion.h"
#include "traces/trace_writer.h"
#include "views/form/display_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_THREADS = 1024 };

typedef struct {
	LodeTraceWriterOptions writing;
	const char *output, *command;
	int form; /* LodeReferenceForm; −1: recognised */
	bool is_verbose;
} Options;

static const LodeParameter rows[] = {
	{"output", 'o', LODE_OUTPUT(Options, output, PACKED_TRACE), .value = "FILE",
		.summary = "the packed trace to write; an existing one is replaced"},
	{"form", LODE_WORD(Options, form), .value = LODE_REFERENCE_FORM_WORDS,
		.summary = "the form of the trace (default: recognised by its first bytes)"},
	{"level", LODE_WORD(Options, writing.level), .value = "fast|default|small",
		.standard = "default", .summary = "compression level (default: default)"},
	{"threads", LODE_COUNT(Options, writing.threads), .most = MAX_THREADS, .value = "N",
		.summary = "the number of threads (default: all processors)"},
	{"command", LODE_TEXT(Options, command), .value = "TEXT",
		.summary = "the command line to store in the trace (default: as recorded)"},
	{"verbose", 'v', LODE_FLAG(Options, is_verbose),
		.summary = "also print the form and the speed"},
	{NULL},
};

static const LodeParameterGroup groups[] = {{"Options", rows, 0}, {NULL}};

static void init(void *options)
{
	((Options *)options)->form = -1;
}

/* −1 with an error. */
static int open_input(const char *path, struct stat *out_status, GError **error)
{
	bool is_standard = strcmp(path, "-") == 0;
	int descriptor = is_standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);

	if (descriptor >= 0 && fstat(descriptor, out_status) == 0)
		return descriptor;
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", path, g_strerror(errno));
	if (descriptor >= 0 && !is_standard)
		close(descriptor);
	return -1;
}

static void print_summary(const LodeReferenceReader *reader, const LodeTraceStream *writer,
	const Options *given, gint64 start_us)
{
	double n = (double)lode_trace_stream_n_references(writer);
	double size = (double)lode_trace_stream_n_bytes(writer);
	double seconds = (double)(g_get_monotonic_time() - start_us) / G_USEC_PER_SEC;
	g_autofree char *losses = lode_reference_reader_losses(reader);

	g_autofree char *bits = n > 0 ? g_strdup_printf(", %.4f bits per reference", 8 * size / n)
	                              : g_strdup("");

	lode_display_line(stdout, "%s: %s references in %s bytes%s", given->output,
		LODE_COUNT_TEXT(n), LODE_COUNT_TEXT(size), bits);
	if (given->is_verbose)
		lode_display_line(stdout, "form %s, %.1f s, %.1f million references per second",
			lode_reference_form_to_text(lode_reference_reader_form(reader)), seconds,
			seconds > 0 ? n / seconds / 1e6 : 0);
	if (losses != NULL)
		lode_display_line(stderr, "lode trace pack: left out: %s", losses);
}

static bool pack(
	LodeReferenceReader *reader, uint64_t size_bytes, const Options *given, GError **error)
{
	g_autoptr(LodeTraceDescription) description = lode_trace_description_new();
	gint64 start_us = g_get_monotonic_time();
	g_auto(LodeTerminalProgress) screen;

	lode_terminal_progress_init(&screen);
	g_autoptr(LodeTraceStream)
		writer = lode_trace_writer_open(given->output, &given->writing, NULL, error);
	if (writer == NULL ||
		!lode_trace_conversion_pack(reader, size_bytes, writer, &screen.progress, error))
		return false;
	lode_reference_reader_describe(reader, description);
	if (given->command != NULL)
		description->command = lode_trace_description_intern(description, given->command);
	description->build = lode_trace_description_intern(description, "lode " LODE_VERSION);
	if (!lode_trace_stream_finish(writer, description, error))
		return false;
	lode_terminal_progress_hide(&screen);
	print_summary(reader, writer, given, start_us);
	return true;
}

static int run(void *options, char **arguments, GError **error)
{
	const Options *given = options;
	struct stat status;

	if (!lode_parameter_take_one(
		    arguments, "trace", "trace.din, or - for standard input", error))
		return LODE_EXIT_USAGE;
	if (given->output == NULL) {
		lode_parameter_refuse(error, "-o is missing: the trace to write, such as -o x.rps");
		return LODE_EXIT_USAGE;
	}
	const char *path = arguments[0], *name = strcmp(path, "-") == 0 ? "standard input" : path;
	int descriptor = open_input(path, &status, error);
	if (descriptor < 0)
		return LODE_EXIT_FAILED;
	g_autoptr(LodeReferenceReader)
		reader = lode_reference_reader_open(descriptor, name, given->form, error);
	bool is_packed = reader != NULL &&
	                 pack(reader, S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0, given,
				 error);
	if (descriptor != STDIN_FILENO)
		close(descriptor);
	return is_packed ? LODE_EXIT_OK : LODE_EXIT_FAILED;
}

const LodeVerb lode_verb_trace_pack = {
	.name = "trace pack",
	.arguments = "FILE",
	.summary = "pack an address trace of another tool",
	.description =
		"FILE is the text of valgrind's lackey, a trace of Dinero III (din) or IV "
		"(xdin), of ChampSim, or CSV, plain or compressed by gzip, xz, zstd or bzip2; - is "
		"standard input. The packed trace contains the same references in the same "
		"order; lode-trace-pack(1) says which parts of each form are not references.\n"
		"\n"
		"Examples:\n"
		"  lode trace pack trace.din.gz -o x.rps\n"
		"  valgrind --tool=lackey --trace-mem=yes --log-fd=9 ls 9>&1 >/dev/null |\n"
		"    lode trace pack - -o ls.rps --level fast",
	.groups = groups,
	.size = sizeof(Options),
	.init = init,
	.run = run,
};
