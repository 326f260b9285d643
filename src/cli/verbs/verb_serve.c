/* SPDX-License-Identifier: MIT */
/* lode serve: profiles in a browser. */
#include "base/error.h"
#include "base/file_kind.h"
#include "cli/interrupt.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "questions/asking.h"
#include "questions/parts/rows.h"
#include "serve/page_asset.h"
#include "serve/server.h"
#include "traces/trace_reader.h"
#include "views/form/display_text.h"

#include <errno.h>
#include <string.h>

typedef struct {
	LodeSourceAccess source;
	const char *bind;
	uint32_t port;
	bool is_network_allowed, opens;
} Options;

static const LodeParameter rows[] = {
	{"port", LODE_COUNT(Options, port), .most = UINT16_MAX, .value = "N",
		.summary = "listen at this port (default: any that is free)"},
	{"open", LODE_FLAG(Options, opens),
		.summary = "open the page in the browser that xdg-open starts"},
	{"source", LODE_FILES(Options, source.folders), .value = "DIR",
		.summary = LODE_SOURCE_SUMMARY},
	{"bind", LODE_TEXT(Options, bind), .value = "ADDRESS",
		.summary = "listen at this numeric address (default: 127.0.0.1); any but this "
			   "machine's own loopback needs --allow-network"},
	{"allow-network", LODE_FLAG(Options, is_network_allowed),
		.summary = "let other machines connect, which send and receive everything "
			   "unencrypted"},
	{NULL},
};

static const LodeParameterGroup groups[] = {{"Options", rows, 0}, {NULL}};

static void log_line(const char *line, void *user_data)
{
	(void)user_data;
	lode_display_line(stderr, "lode serve: %s", line);
}

static bool is_loopback(const char *text)
{
	g_autoptr(GInetAddress) address = g_inet_address_new_from_string(text);

	return address == NULL || g_inet_address_get_is_loopback(address);
}

static bool check(const Options *self, char *const *paths, GError **error)
{
	if (paths[0] == NULL)
		return lode_parameter_refuse(
			error, "serve takes profiles and address traces: PROFILE.lode… TRACE.rps…");
	if (self->bind != NULL && !is_loopback(self->bind) && !self->is_network_allowed)
		return lode_parameter_refuse(error,
			"--bind %s lets other machines connect, unencrypted: add --allow-network "
			"if that is what you want",
			self->bind);
	return lode_source_folders_check(self->source.folders, error);
}

static void close_profile(void *profile)
{
	lode_served_profile_close(profile);
}

static void close_trace(void *trace)
{
	lode_served_trace_close(trace);
}

/* Sorts the files into profiles and traces by their contents. */
static bool open_files(char **paths, LodeServedFiles *files, GError **error)
{
	g_auto(LodeTerminalProgress) screen;

	lode_terminal_progress_init(&screen);
	for (size_t i = 0; paths[i] != NULL; i++) {
		bool is_trace = lode_file_kind(paths[i]) == LODE_FILE_KIND_PACKED_TRACE;
		void *opened = is_trace ? (void *)lode_served_trace_open(paths[i], error)
		                        : (void *)lode_served_profile_open(
						  paths[i], &screen.progress, error);
		if (opened == NULL)
			return false;
		g_ptr_array_add(is_trace ? files->traces : files->profiles, opened);
	}
	return true;
}

/* A browser that cannot be started is not a reason to stop: the address has been printed. */
static void open_browser(const LodeServer *server)
{
	g_autofree char *link = lode_server_link(server, true);
	const char *arguments[] = {"xdg-open", link, NULL};
	g_autoptr(GError) error = NULL;

	if (!g_spawn_async(NULL, (char **)arguments, NULL,
		    G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL,
		    NULL, NULL, NULL, &error))
		lode_display_line(stderr, "lode serve: --open: %s", error->message);
}

static int run(void *options, char **arguments, GError **error)
{
	const Options *given = options;

	if (!check(given, arguments, error))
		return LODE_EXIT_USAGE;
	if (!lode_page_is_built()) {
		g_set_error_literal(
			error, LODE_ERROR, LODE_ERROR_UNSUPPORTED, LODE_PAGE_IS_MISSING);
		return LODE_EXIT_FAILED;
	}
	g_autoptr(GPtrArray) profiles = g_ptr_array_new_with_free_func(close_profile);
	g_autoptr(GPtrArray) traces = g_ptr_array_new_with_free_func(close_trace);
	LodeServedFiles files = {.profiles = profiles, .traces = traces, .source = &given->source};
	const LodeServerOptions server_options = {
		.address = given->bind, .port = (uint16_t)given->port, .log = log_line};
	if (!open_files(arguments, &files, error))
		return LODE_EXIT_FAILED;
	g_autoptr(LodeServer) server = lode_server_start(&files, &server_options, error);
	if (server == NULL)
		return LODE_EXIT_FAILED;
	g_autofree char *link = lode_server_link(server, false);
	printf("%s\nCtrl-C ends it. Whoever has this address can read the profile.\n", link);
	if (fflush(stdout) != 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "cannot print the address: %s",
			g_strerror(errno));
		return LODE_EXIT_FAILED;
	}
	if (given->opens)
		open_browser(server);
	lode_interrupt_wait();
	return LODE_EXIT_OK;
}

const LodeVerb lode_verb_serve = {
	.name = "serve",
	.arguments = "PROFILE.lode... [TRACE.rps...]",
	.summary = "show profiles in a browser",
	.description =
		"Serves a page with the findings, the sequences, the code and the data addresses "
		"of one profile or several, and with what caches miss in address traces, on this "
		"machine only, until Ctrl-C. It prints the "
		"address, which has a token that lets the browser in: without it the server "
		"answers nobody. The profiles are only read, and nothing but them is shown, apart "
		"from the source files that their code was compiled from.\n"
		"\n"
		"Refused requests are lines on standard error.\n"
		"\n"
		"Examples:\n"
		"  lode serve x.lode --open\n"
		"  lode serve before.lode after.lode --port 8123\n"
		"  lode serve x.lode x.rps",
	.groups = groups,
	.size = sizeof(Options),
	.run = run,
};
