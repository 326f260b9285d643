/* SPDX-License-Identifier: MIT */
#include "cli/terminal_progress.h"

#include "base/quiet_thread.h"
#include "base/text/number_format.h"
#include "cli/interrupt.h"
#include "views/form/display_text.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DELAY_US = 2 * G_USEC_PER_SEC, INTERVAL_US = G_USEC_PER_SEC / 10, SECONDS_PER_LINE = 10 };

static unsigned terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return 80;
	return size.ws_col;
}

/* What is done of a stage, without the time that it took so far. */
static char *compose(const char *stage, double done, double total, const char *detail)
{
	GString *line = g_string_new(stage);

	if (total > 0)
		g_string_append_printf(line, "  %.0f %%", CLAMP(100 * done / total, 0, 100));
	else if (done > 0)
		g_string_append_printf(line, "  %s", LODE_COUNT_TEXT(done));
	if (detail != NULL && *detail != '\0')
		g_string_append_printf(line, "  %s", detail);
	return g_string_free(line, FALSE);
}

static double seconds_since(gint64 start_us)
{
	return (double)(g_get_monotonic_time() - start_us) / G_USEC_PER_SEC;
}

/* With the mutex. */
static void draw_line(LodeTerminalProgress *self)
{
	g_autoptr(GString) shown = g_string_new(NULL);
	g_autofree char *line = g_strdup_printf(
		"%s  %.0f s", self->drawn, seconds_since(self->start_us));
	bool is_ascii = !g_get_charset(NULL);

	/* The name of the item may come from a recording. */
	lode_display_append(shown, line, is_ascii);
	/* A line that wraps cannot be erased. */
	lode_display_shorten(shown, terminal_width() - 1, is_ascii);
	fprintf(stderr, "\r%s\033[K", shown->str);
	fflush(stderr);
	self->drawn_us = g_get_monotonic_time();
	self->is_visible = true;
}

static gpointer tick(gpointer user_data)
{
	LodeTerminalProgress *self = user_data;

	g_mutex_lock(&self->mutex);
	while (!self->is_ending) {
		gint64 next_us = g_get_monotonic_time() + G_USEC_PER_SEC;
		g_cond_wait_until(&self->ends, &self->mutex, next_us);
		gint64 now_us = g_get_monotonic_time();
		bool is_due = now_us - self->start_us >= DELAY_US &&
		              now_us - self->drawn_us >= G_USEC_PER_SEC;
		if (!self->is_ending && self->is_working && is_due)
			draw_line(self);
	}
	g_mutex_unlock(&self->mutex);
	return NULL;
}

static void draw(const char *stage, double done, double total, const char *detail, void *user_data)
{
	LodeTerminalProgress *self = user_data;
	gint64 now_us = g_get_monotonic_time();

	if (stage == NULL) {
		lode_terminal_progress_hide(self);
		return;
	}
	g_mutex_lock(&self->mutex);
	self->is_working = true;
	g_free(self->drawn);
	self->drawn = compose(stage, done, total, detail);
	if (now_us - self->start_us >= DELAY_US && now_us - self->drawn_us >= INTERVAL_US)
		draw_line(self);
	g_mutex_unlock(&self->mutex);
	if (self->ticker == NULL)
		self->ticker = lode_quiet_thread_new("progress", tick, self);
}

/* A log has lines, and few. */
static void print(const char *stage, double done, double total, const char *detail, void *user_data)
{
	LodeTerminalProgress *self = user_data;
	gint64 now_us = g_get_monotonic_time();
	bool is_due = self->drawn_us != 0 ? now_us - self->drawn_us >= self->line_interval_us
	                                  : now_us - self->start_us >= DELAY_US;

	if (stage == NULL || !is_due)
		return;
	g_autofree char *line = compose(stage, done, total, detail);
	lode_display_line(stderr, "lode: %s  %.0f s", line, seconds_since(self->start_us));
	self->drawn_us = now_us;
}

static void note(const char *text, void *user_data)
{
	lode_terminal_progress_hide(user_data);
	lode_display_line(stderr, "lode: %s", text);
}

static gint64 line_interval_us(void)
{
	const char *given = g_getenv("LODE_PROGRESS");
	guint64 seconds;

	if (given == NULL || !g_ascii_string_to_unsigned(given, 10, 0, G_MAXINT, &seconds, NULL))
		seconds = SECONDS_PER_LINE;
	return (gint64)seconds * G_USEC_PER_SEC;
}

void lode_terminal_progress_init(LodeTerminalProgress *self)
{
	const char *terminal = g_getenv("TERM");
	bool is_terminal = isatty(STDERR_FILENO) && terminal != NULL &&
	                   strcmp(terminal, "dumb") != 0;

	*self = (LodeTerminalProgress){
		.progress = {.user_data = self,
			.cancellable = lode_interrupt_cancellable(),
			.note = note},
		.start_us = g_get_monotonic_time(),
		.line_interval_us = line_interval_us(),
	};
	if (is_terminal)
		self->progress.report = draw;
	else if (self->line_interval_us > 0)
		self->progress.report = print;
}

void lode_terminal_progress_hide(LodeTerminalProgress *self)
{
	g_mutex_lock(&self->mutex);
	if (self->is_visible) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
		self->is_visible = false;
	}
	self->is_working = false;
	g_mutex_unlock(&self->mutex);
}

void lode_terminal_progress_clear(LodeTerminalProgress *self)
{
	g_mutex_lock(&self->mutex);
	self->is_ending = true;
	g_cond_signal(&self->ends);
	g_mutex_unlock(&self->mutex);
	if (self->ticker != NULL)
		g_thread_join(g_steal_pointer(&self->ticker));
	lode_terminal_progress_hide(self);
	g_clear_pointer(&self->drawn, g_free);
}
