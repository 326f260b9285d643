/* SPDX-License-Identifier: MIT */
/* The pages of text: help, and what the program wrote. */
#include "views/live/live_parts.h"

#include <string.h>

enum { FIRST_LINE = 2, LINES_AROUND = 3 };

static const char help[] =
	"Rows are threads, columns are ranges of addresses. The darker, the more\n"
	"samples: from 50 %, 20 %, 5 %, 1 % of the hottest place on, and less.\n"
	"A line between columns stands for a gap in which nothing was accessed.\n"
	"\n"
	"  left right      choose a column       home end   the first, the last\n"
	"  up down         choose a thread       page up, page down   the ranges\n"
	"  + enter         zoom into the column  - backspace   out again   0 all\n"
	"  g               by page, line, word   < >   half, twice the granularity\n"
	"  l               loads and stores, loads, stores\n"
	"  space           tag the thread        u   untag all\n"
	"  f               only tagged threads (or the chosen one), or all again\n"
	"  p               pause the picture: it stands still, counting goes on\n"
	"  s               stop or start sampling: what comes is not recorded\n"
	"  z               freeze the counts: what comes is only recorded\n"
	"  r               reset the counts, not the recording\n"
	"  o               what the program wrote\n"
	"  ctrl-l          draw all again\n"
	"  h ? F1          this help\n"
	"  q F10           quit the picture; the recording goes on\n"
	"  ctrl-c          interrupt the program\n"
	"\n"
	"Where samples come by time, a place that makes the program wait looks hotter\n"
	"than its accesses are many. Unresolved are samples whose address could not be\n"
	"found while the program runs; the recording keeps them for 'lode import', which\n"
	"finds more.\n"
	"Functions are those that access a range most.\n";

static GStrv lines_of(const LodeLiveDrawing *self)
{
	bool is_help = self->state->page == LODE_LIVE_SHOWS_HELP;
	const char *output = self->output != NULL && *self->output != '\0'
	                             ? self->output
	                             : "(the program has written nothing here)";
	g_autofree char *text = g_strdup(is_help ? help : output);

	g_strdelimit(text, "\t\r", ' ');
	/* What follows the last line's end is not a line. */
	if (g_str_has_suffix(text, "\n"))
		text[strlen(text) - 1] = '\0';
	return g_strsplit(text, "\n", -1);
}

unsigned lode_live_last_scroll(const LodeLiveDrawing *drawing, unsigned height)
{
	unsigned n_seen = height > LINES_AROUND ? height - LINES_AROUND : 0;

	if (drawing->state->page == LODE_LIVE_SHOWS_ADDRESSES)
		return 0;
	g_auto(GStrv) lines = lines_of(drawing);
	unsigned n = g_strv_length(lines);
	return n > n_seen ? n - n_seen : 0;
}

/* Help is read from its start on, output from its end back. */
void lode_live_draw_text(const LodeLiveDrawing *self, LodeCellGrid *grid)
{
	unsigned last = lode_live_last_scroll(self, grid->height);
	unsigned scroll = MIN(self->state->scroll, last);
	bool is_help = self->state->page == LODE_LIVE_SHOWS_HELP;
	g_auto(GStrv) lines = lines_of(self);
	guint first = is_help ? scroll : last - scroll, n = g_strv_length(lines);

	for (guint i = first; i < n && i - first + LINES_AROUND < grid->height; i++) {
		const LodeCellPlace place = {
			.y = FIRST_LINE + i - first,
			.width = grid->width,
			.is_ascii = self->terminal.is_ascii,
		};
		lode_cell_grid_write(grid, &place, lines[i]);
	}
}
