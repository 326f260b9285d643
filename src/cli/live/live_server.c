/* SPDX-License-Identifier: MIT */
#include "cli/live/live_server.h"

#include "base/error.h"
#include "cli/interrupt.h"
#include "serve/page_asset.h"
#include "serve/server.h"
#include "views/form/display_text.h"

#include <pthread.h>
#include <signal.h>

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

struct LodeLiveServer {
	const char *verb;
	LodeServedFiles files;
	LodeServer *server;
};

static void log_line(const char *line, void *user_data)
{
	const LodeLiveServer *self = user_data;

	lode_display_line(stderr, "lode %s: %s", self->verb, line);
}

static void close_profile(void *profile)
{
	lode_served_profile_close(profile);
}

static bool start(LodeLiveServer *self, const LodeLiveServerOptions *options, GError **error)
{
	const LodeServerOptions server = {.log = log_line, .user_data = self};
	sigset_t all, old;

	/* The recorder waits for signals, which must not be delivered to other threads. Threads
	 * inherit the mask of their creator. */
	sigfillset(&all);
	for (size_t i = 0; i < G_N_ELEMENTS(faults); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	self->files.live = lode_live_feed_open(&options->feed);
	self->server = lode_server_start(&self->files, &server, error);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return self->server != NULL;
}

LodeLiveServer *lode_live_server_open(const LodeLiveServerOptions *options, GError **error)
{
	if (!lode_page_is_built()) {
		g_set_error_literal(
			error, LODE_ERROR, LODE_ERROR_UNSUPPORTED, LODE_PAGE_IS_MISSING);
		return NULL;
	}
	g_autoptr(LodeLiveServer) self = g_new0(LodeLiveServer, 1);

	self->verb = options->verb;
	self->files.profiles = g_ptr_array_new_with_free_func(close_profile);
	self->files.traces = g_ptr_array_new();
	if (options->profile != NULL)
		g_ptr_array_add(self->files.profiles,
			lode_served_profile_expect(options->profile,
				"the program is being recorded; its profile is made when it has "
				"ended"));
	if (!start(self, options, error))
		return NULL;
	g_autofree char *link = lode_server_link(self->server, false);
	lode_display_line(stderr, "lode %s: %s", options->verb, link);
	return g_steal_pointer(&self);
}

const LodePerfObserver *lode_live_server_observer(LodeLiveServer *self)
{
	return lode_live_feed_observer(self->files.live);
}

void lode_live_server_end(LodeLiveServer *self)
{
	lode_live_feed_end(self->files.live);
}

void lode_live_server_stay(LodeLiveServer *self)
{
	g_autoptr(GError) fault = NULL;

	if (self->files.profiles->len > 0 &&
		!lode_served_profile_reload(
			g_ptr_array_index(self->files.profiles, 0), NULL, &fault))
		lode_display_line(stderr, "lode %s: %s", self->verb, fault->message);
	if (g_cancellable_is_cancelled(lode_interrupt_cancellable()))
		return;
	lode_display_line(stderr, "lode %s: the page stays until Ctrl-C", self->verb);
	lode_interrupt_wait();
}

void lode_live_server_close(LodeLiveServer *self)
{
	if (self == NULL)
		return;
	if (self->files.live != NULL)
		lode_live_feed_end(self->files.live);
	lode_server_stop(self->server);
	lode_live_feed_close(self->files.live);
	g_clear_pointer(&self->files.profiles, g_ptr_array_unref);
	g_clear_pointer(&self->files.traces, g_ptr_array_unref);
	g_free(self);
}
