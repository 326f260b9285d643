/* SPDX-License-Identifier: MIT */
/* Functions that all views share: the terminal, the last flush. */
#include "views/form/format.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { FALLBACK_WIDTH = 80 };

static bool wants_colour(void)
{
	const char *no_color = g_getenv("NO_COLOR");
	const char *term = g_getenv("TERM");

	/* no-color.org: only a value that is not empty counts. */
	if (no_color != NULL && no_color[0] != '\0')
		return false;
	return term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
}

static unsigned terminal_width(int descriptor)
{
	struct winsize size = {0};
	const char *columns = g_getenv("COLUMNS");
	guint64 width = 0;

	if (columns != NULL && g_ascii_string_to_unsigned(columns, 10, 20, 10000, &width, NULL))
		return (unsigned)width;
	if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return FALLBACK_WIDTH;
}

LodeTerminal lode_terminal_of(FILE *out)
{
	LodeTerminal terminal = {.is_ascii = !g_get_charset(NULL)};
	int descriptor = fileno(out);

	if (descriptor >= 0 && isatty(descriptor)) {
		terminal.width = terminal_width(descriptor);
		terminal.has_colour = wants_colour();
	}
	return terminal;
}

LodeTerminal lode_terminal_screen(const LodeTerminal *self)
{
	LodeTerminal screen = *self;

	if (screen.width == 0 && !screen.has_full_names)
		screen.width = LODE_SCREEN_WIDTH;
	return screen;
}

bool lode_view_flush(FILE *out, GError **error)
{
	errno = 0;
	if (fflush(out) == 0 && !ferror(out))
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "cannot write the output: %s",
		errno != 0 ? g_strerror(errno) : "some of it was lost");
	return false;
}
