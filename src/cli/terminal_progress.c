/* SPDX-License-Identifier: MIT */
#include "cli/terminal_progress.h"

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

static char *compose(
	const char *stage, double done, double total, const char *detail, double seconds)
{
	GString *line = g_string_new(stage);
	char number[LODE_NUMBER_SIZE];

	if (total > 0)
		g_string_append_printf(line, "  %.0f %%", CLAMP(100 * done / total, 0, 100));
	else if (done > 0)
		g_string_append_printf(line, "  %s", lode_number_format_count(done, number));
	if (detail != NULL && *detail != '\0')
		g_string_append_printf(line, "  %s", detail);
	g_string_append_printf(line, "  %.0f s", seconds);
	return g_string_free(line, FALSE);
}

static void draw(const char *stage, double done, double total, const char *detail, void *user_data)
{
	LodeTerminalProgress *self = user_data;
	gint64 now_us = g_get_monotonic_time();

	if (stage == NULL) {
		lode_terminal_progress_hide(self);
		return;
	}
	if (now_us - self->start_us < DELAY_US || now_us - self->drawn_us < INTERVAL_US)
		return;
	double seconds = (double)(now_us - self->start_us) / G_USEC_PER_SEC;
	g_autofree char *line = compose(stage, done, total, detail, seconds);
	g_autoptr(GString) shown = g_string_new(NULL);
	bool is_ascii = !g_get_charset(NULL);

	/* The name of the item may come from a recording. */
	lode_display_append(shown, line, is_ascii);
	/* A line that wraps cannot be erased. */
	lode_display_shorten(shown, terminal_width() - 1, is_ascii);
	fprintf(stderr, "\r%s\033[K", shown->str);
	fflush(stderr);
	self->drawn_us = now_us;
	self->is_visible = true;
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
	double seconds = (double)(now_us - self->start_us) / G_USEC_PER_SEC;
	g_autofree char *line = compose(stage, done, total, detail, seconds);
	lode_display_line(stderr, "lode: %s", line);
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
	if (!self->is_visible)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	self->is_visible = false;
}

void lode_terminal_progress_clear(LodeTerminalProgress *self)
{
	lode_terminal_progress_hide(self);
}
