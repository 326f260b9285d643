/* SPDX-License-Identifier: MIT */
#include "views/live/live_drawing.h"

#include "base/text/number_format.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"
#include "views/memory/memory_coverage.h"

#include <math.h>
#include <string.h>

/* --- bars --- */

/* The text above and below the picture, and the form of its figures. */

enum { NARROW = 60, SEGMENT_GAP = 2, PROGRAM_PART = 4, LOST_THREADS_SHOWN = 2 };

/* "12 %" or "3.4 %" of a whole; "-" of nothing. */
static char *live_share(double part, double whole, char buffer[LODE_NUMBER_SIZE])
{
	double percent = whole > 0 ? 100 * part / whole : 0;

	if (whole <= 0)
		g_strlcpy(buffer, "-", LODE_NUMBER_SIZE);
	else if (percent > 0 && percent < 9.95)
		g_snprintf(buffer, LODE_NUMBER_SIZE, "%.1f %%", percent);
	else
		g_snprintf(buffer, LODE_NUMBER_SIZE, "%.0f %%", percent);
	return buffer;
}

/* At least three digits, and a letter for the power of the step. */
static char *scale(double value, double step, const char *const *units, char *buffer)
{
	size_t unit = 0;

	for (; value >= step && units[unit + 1] != NULL; unit++)
		value /= step;
	g_snprintf(buffer, LODE_NUMBER_SIZE, "%.*f%s",
		value == floor(value) || value >= 100 ? 0 : 1, value, units[unit]);
	return buffer;
}

/* "64 B", "4 KiB", "1.5 GiB". */
static char *live_size(uint64_t size_bytes, char buffer[LODE_NUMBER_SIZE])
{
	static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " EiB", NULL};

	return scale((double)size_bytes, 1024, units, buffer);
}

/* "99999", "123k", "4.56M". */
static char *live_count(uint64_t count, char buffer[LODE_NUMBER_SIZE])
{
	static const char *const units[] = {"k", "M", "G", "T", NULL};

	if (count < 100000)
		g_snprintf(buffer, LODE_NUMBER_SIZE, "%" G_GUINT64_FORMAT, count);
	else
		scale((double)count / 1000, 1000, units, buffer);
	return buffer;
}

/* The last part of a path; the caller frees it. */
static char *live_mapping_name(const char *mapping)
{
	if (mapping == NULL)
		return g_strdup("?");
	return mapping[0] == '/' && mapping[1] != '/' ? g_path_get_basename(mapping)
	                                              : g_strdup(mapping);
}

typedef struct {
	const char *text; /* NULL: left out */
	LodeCellStyle style;
} Segment;

/* Segments that do not fit are left out. */
static void write_segments(const LodeLiveDrawing *self, LodeCellGrid *grid, unsigned y,
	const Segment *segments, size_t n)
{
	unsigned x = 0;

	for (size_t i = 0; i < n; i++) {
		const char *text = segments[i].text;
		if (text == NULL || *text == '\0' ||
			x + (unsigned)g_utf8_strlen(text, -1) > grid->width)
			continue;
		const LodeCellPlace place = {
			.x = x,
			.y = y,
			.width = grid->width - x,
			.style = segments[i].style,
			.is_ascii = self->terminal.is_ascii,
		};
		x += lode_cell_grid_write(grid, &place, text) + SEGMENT_GAP;
	}
}

char *lode_live_lost_threads(const GArray *threads)
{
	g_autoptr(GArray) losses = g_array_new(FALSE, TRUE, sizeof(LodeAddressLoss));
	LodeAddressLosses all = {.threads = losses};
	char share[LODE_NUMBER_SIZE];

	for (guint i = 0; i < threads->len; i++) {
		const LodeLiveThread *thread = &g_array_index(threads, LodeLiveThread, i);
		const LodeAddressLoss loss = {.thread = i,
			.total.weight = (double)thread->n_accesses,
			.lost.weight = (double)thread->n_lost};
		all.all.total.weight += loss.total.weight;
		if (thread->n_accesses > 0)
			g_array_append_val(losses, loss);
	}
	g_autoptr(GArray) much = lode_memory_loss_threads(&all);
	if (much->len == 0)
		return NULL;
	GString *text = g_string_new(NULL);
	for (guint i = 0; i < MIN(much->len, LOST_THREADS_SHOWN); i++) {
		const LodeAddressLoss *loss = &g_array_index(much, LodeAddressLoss, i);
		const LodeLiveThread *thread = &g_array_index(
			threads, LodeLiveThread, loss->thread);
		g_autofree char *name = lode_display_text(
			thread->name != NULL ? thread->name : "", false);
		g_string_append_printf(text, "%s%s%s%s %s", i > 0 ? ", " : "", thread->label,
			*name != '\0' ? " " : "", name,
			live_share(loss->lost.weight, loss->total.weight, share));
	}
	if (much->len > LOST_THREADS_SHOWN)
		g_string_append_printf(text, " and %u more", much->len - LOST_THREADS_SHOWN);
	return g_string_free(text, FALSE);
}

static void draw_status(const LodeLiveDrawing *self, LodeCellGrid *grid)
{
	const LodeLiveStatus *status = self->status;
	const LodeLiveState *state = self->state;
	char count[LODE_NUMBER_SIZE], number[LODE_NUMBER_SIZE], dropped[LODE_NUMBER_SIZE];
	g_autofree char *name = live_mapping_name(status->program);
	g_autofree char *program = g_strndup(name, grid->width / PROGRAM_PART);
	bool is_narrow = grid->width < NARROW;
	g_autofree char *rate = g_strdup_printf("%s%s/s",
		live_count((uint64_t)llround(status->samples_per_second), count),
		is_narrow ? "" : " samples");
	g_autofree char *lost = g_strdup_printf("%s %s", is_narrow ? "lost" : "no address",
		live_share((double)status->n_lost, (double)status->n_accesses, number));
	g_autofree char *why = status->reason != NULL && status->n_lost > 0
	                               ? g_strdup_printf("(most: %s)", status->reason)
	                               : NULL;
	g_autofree char *threads = lode_live_lost_threads(self->scene->known_threads);
	g_autofree char *who = threads != NULL ? g_strdup_printf("of thread %s", threads) : NULL;
	g_autofree char *seconds = g_strdup_printf("%.1f s", status->seconds);
	g_autofree char *not_shown = g_strdup_printf(
		"%s records not shown", live_count(status->n_dropped, dropped));
	const Segment segments[] = {
		{status->is_sampling ? NULL : "SAMPLING OFF", LODE_CELL_WARNING},
		{state->is_paused ? "PAUSED" : NULL, LODE_CELL_WARNING},
		{state->is_frozen ? "FROZEN" : NULL, LODE_CELL_WARNING},
		{program, LODE_CELL_BAR},
		{seconds, LODE_CELL_BAR},
		{rate, LODE_CELL_BAR},
		{lost, LODE_CELL_BAR},
		{status->n_dropped > 0 ? not_shown : NULL, LODE_CELL_WARNING},
		{who, LODE_CELL_WARNING},
		{why, LODE_CELL_BAR},
	};

	lode_cell_grid_paint(grid, 0, 0, grid->width, LODE_CELL_BAR);
	write_segments(self, grid, 0, segments, G_N_ELEMENTS(segments));
}

static const char *granularity_word(uint64_t granularity)
{
	switch (granularity) {
	case 4096:
		return "page";
	case 64:
		return "line";
	case 8:
		return "word";
	default:
		return NULL;
	}
}

static void draw_choices(const LodeLiveDrawing *self, LodeCellGrid *grid)
{
	static const char *const measures[] = {"loads+stores", "loads", "stores"};
	const LodeLiveScene *scene = self->scene;
	const char *word = granularity_word(scene->granularity);
	bool is_all = self->state->zooms->len == 0;
	char size[LODE_NUMBER_SIZE], seen[LODE_NUMBER_SIZE];
	g_autofree char *granularity = g_strdup_printf("%s%s%s%s", word != NULL ? word : "by ",
		word != NULL ? " (" : "", live_size(scene->granularity, size),
		word != NULL ? ")" : "");
	g_autofree char *zoom = g_strdup_printf("zoom %u: %" G_GINT64_MODIFIER
						"x-%" G_GINT64_MODIFIER "x",
		self->state->zooms->len, scene->zoom.start, scene->zoom.end - 1);
	g_autofree char *share = g_strdup_printf(
		"%s in view", live_share(scene->seen, scene->total, seen));
	const Segment segments[] = {
		{granularity},
		{measures[self->state->measure]},
		{is_all ? "all addresses" : zoom, is_all ? LODE_CELL_PLAIN : LODE_CELL_BOLD},
		{self->state->only_tagged ? "tagged threads" : NULL, LODE_CELL_BOLD},
		{is_all && !self->state->only_tagged ? NULL : share},
		{self->status->is_stall_weighted ? "time, not accesses" : NULL, LODE_CELL_DIM},
	};

	write_segments(self, grid, 1, segments, G_N_ELEMENTS(segments));
}

static void draw_keys(const LodeLiveDrawing *self, LodeCellGrid *grid)
{
	static const Segment keys[] = {{"h help", LODE_CELL_BAR}, {"q quit", LODE_CELL_BAR},
		{"+- zoom", LODE_CELL_BAR}, {"g granularity", LODE_CELL_BAR},
		{"p pause", LODE_CELL_BAR}, {"s sampling", LODE_CELL_BAR},
		{"l loads/stores", LODE_CELL_BAR}, {"f threads", LODE_CELL_BAR},
		{"r reset", LODE_CELL_BAR}, {"o output", LODE_CELL_BAR}};
	static const Segment page_keys[] = {
		{"any key: back", LODE_CELL_BAR}, {"arrows: scroll", LODE_CELL_BAR}};
	bool is_page = self->state->page != LODE_LIVE_SHOWS_ADDRESSES;
	unsigned y = grid->height - 1;

	lode_cell_grid_paint(grid, 0, y, grid->width, LODE_CELL_BAR);
	write_segments(self, grid, y, is_page ? page_keys : keys,
		is_page ? G_N_ELEMENTS(page_keys) : G_N_ELEMENTS(keys));
}

/* --- pages of text --- */

/* The pages of text: help, and what the program wrote. */

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
	/* The empty text after the last line's end is not a line. */
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

/*
 * The page of help, or the program's output, between the bars. Help is read from its start on,
 * output from its end back.
 */
static void live_draw_text(const LodeLiveDrawing *self, LodeCellGrid *grid)
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

/* --- ranges --- */

/* The table of the hottest ranges. */

/* Later columns take the remaining width. */
enum {
	ADDRESS_WIDTH = 12,
	SHARE_WIDTH = 6,
	COUNT_WIDTH = 7,
	THREADS_WIDTH = 8,
	OBJECT_WIDTH = 20,
};

typedef struct {
	const char *words[7];
} Line;

static void write_line(const LodeLiveDrawing *self, LodeCellGrid *grid, unsigned y,
	LodeCellStyle style, const Line *line)
{
	static const unsigned widths[] = {ADDRESS_WIDTH, SHARE_WIDTH, COUNT_WIDTH, COUNT_WIDTH,
		THREADS_WIDTH, OBJECT_WIDTH, G_MAXINT};
	enum { FIRST_TEXT = 4 };
	unsigned x = 0;

	for (unsigned i = 0; i < G_N_ELEMENTS(widths) && x < grid->width; i++) {
		unsigned width = MIN(widths[i], grid->width - x);
		unsigned length = (unsigned)g_utf8_strlen(line->words[i], -1);
		/* Half a column says nothing. */
		if (width < widths[i] && i < G_N_ELEMENTS(widths) - 1)
			break;
		const LodeCellPlace place = {
			.x = x + (i < FIRST_TEXT && length < width ? width - length : 0),
			.y = y,
			.width = width,
			.style = style,
			.is_ascii = self->terminal.is_ascii,
		};
		lode_cell_grid_write(grid, &place, line->words[i]);
		x += width + 1;
	}
}

static char *thread_list(const LodeLiveDrawing *self, const LodeHotRange *range)
{
	GString *text = g_string_new(NULL);
	guint n_kept = MIN(range->n_threads, LODE_LIVE_THREADS_OF_RANGE);

	for (guint i = 0; i < n_kept; i++) {
		const LodeLiveThread *thread = &g_array_index(
			self->scene->known_threads, LodeLiveThread, range->threads[i]);
		g_string_append_printf(text, "%s%s", i > 0 ? "," : "", thread->label);
	}
	if (range->n_threads > n_kept)
		g_string_append(text, ",+");
	return g_string_free(text, FALSE);
}

static bool is_under_cursor(const LodeLiveScene *scene, uint64_t address)
{
	if (scene->cursor_column < 0)
		return false;
	const LodeLiveColumn *column = &g_array_index(
		scene->columns.columns, LodeLiveColumn, scene->cursor_column);
	return column->start <= address && address < column->end;
}

static void draw_range(
	const LodeLiveDrawing *self, LodeCellGrid *grid, const LodeHotRange *range, unsigned y)
{
	char address[LODE_NUMBER_SIZE], share[LODE_NUMBER_SIZE];
	char loads[LODE_NUMBER_SIZE], stores[LODE_NUMBER_SIZE];
	g_autofree char *threads = thread_list(self, range);
	g_autofree char *object = live_mapping_name(range->object);
	g_autofree char *function = lode_function_name_short(
		range->function != NULL ? range->function : "?");
	const Line line = {{
		address,
		live_share(range->measure, self->scene->total, share),
		live_count(range->n_loads, loads),
		live_count(range->n_stores, stores),
		threads,
		object,
		function,
	}};

	g_snprintf(address, sizeof(address), "%" G_GINT64_MODIFIER "x", range->address);
	write_line(self, grid, y,
		is_under_cursor(self->scene, range->address) ? LODE_CELL_BOLD : LODE_CELL_PLAIN,
		&line);
}

/* The table of ranges, from row `y` to the last but one. */
static void live_draw_ranges(const LodeLiveDrawing *self, LodeCellGrid *grid, unsigned y)
{
	static const Line titles = {
		{"address", "share", "loads", "stores", "threads", "object", "function"}};
	const GArray *ranges = self->scene->ranges;
	unsigned first = self->state->first_range < ranges->len ? self->state->first_range : 0;

	write_line(self, grid, y, LODE_CELL_DIM, &titles);
	for (unsigned i = 0; i < self->scene->n_visible_ranges && first + i < ranges->len; i++)
		draw_range(self, grid, &g_array_index(ranges, LodeHotRange, first + i), y + 1 + i);
}

/* --- the histogram --- */

enum { N_HEAD_LINES = 3, N_LINES_AROUND = 6 };
enum { WIDE = 100, NARROW_LABEL = 6, MIDDLE_LABEL = 18, WIDE_LABEL = 26 };

static unsigned label_width(unsigned width)
{
	return width < NARROW ? NARROW_LABEL : width < WIDE ? MIDDLE_LABEL : WIDE_LABEL;
}

LodeLiveRoom lode_live_room(unsigned width, unsigned height, unsigned n_threads)
{
	unsigned left = height > N_LINES_AROUND ? height - N_LINES_AROUND : 1;
	unsigned n_rows = n_threads > 1 ? n_threads + 1 : 1;
	LodeLiveRoom room = {
		.n_places = MAX(width, label_width(width) + 2) - label_width(width) - 1};

	room.n_rows = CLAMP(n_rows, 1, MAX(left / 2, 1));
	room.n_ranges = left > room.n_rows ? left - room.n_rows : 0;
	return room;
}

static LodeCellPlace place_at(const LodeLiveDrawing *self, unsigned x, unsigned y, unsigned width)
{
	return (LodeCellPlace){
		.x = x,
		.y = y,
		.width = width,
		.is_ascii = self->terminal.is_ascii,
	};
}

/* --- the histogram --- */

static gunichar heat_character(int heat, bool is_ascii)
{
	static const gunichar blocks[] = {0xb7, 0x2591, 0x2592, 0x2593, 0x2588};
	static const gunichar signs[] = {'.', ':', '+', '#', '@'};

	return is_ascii ? signs[heat] : blocks[heat];
}

/* Shares of the hottest from which on the next heat begins. */
static int heat_of(double value, double hottest)
{
	static const double begins[] = {0, 0.01, 0.05, 0.2, 0.5};
	int heat = -1;

	for (int i = 0; i < LODE_CELL_N_HEATS; i++)
		if (value > 0 && value >= begins[i] * hottest)
			heat = i;
	return heat;
}

static void draw_columns(
	const LodeLiveDrawing *self, LodeCellGrid *grid, const LodeLiveRow *row, unsigned y)
{
	const LodeLiveScene *scene = self->scene;
	unsigned x = label_width(grid->width) + 1;

	for (guint i = 0; i < scene->columns.columns->len; i++) {
		const LodeLiveColumn *column = &g_array_index(
			scene->columns.columns, LodeLiveColumn, i);
		int heat = heat_of(row->columns[i], scene->hottest);
		if (heat >= 0)
			lode_cell_grid_put(grid, x + column->place, y,
				heat_character(heat, self->terminal.is_ascii),
				(LodeCellStyle)(LODE_CELL_HEAT + heat));
	}
}

static void draw_gaps(const LodeLiveDrawing *self, LodeCellGrid *grid, unsigned y)
{
	const LodeLiveScene *scene = self->scene;
	unsigned x = label_width(grid->width);
	gunichar line = self->terminal.is_ascii ? '|' : 0x2502;

	lode_cell_grid_put(grid, x, y, line, LODE_CELL_DIM);
	for (guint i = 1; i < scene->columns.extents->len; i++) {
		const LodeLiveExtent *extent = &g_array_index(
			scene->columns.extents, LodeLiveExtent, i);
		lode_cell_grid_put(grid, x + extent->first + i, y, line, LODE_CELL_DIM);
	}
}

static void draw_label(
	const LodeLiveDrawing *self, LodeCellGrid *grid, const LodeLiveRow *row, unsigned y)
{
	unsigned width = label_width(grid->width);
	bool is_all = row->thread == UINT32_MAX;
	const LodeLiveThread *thread = is_all ? NULL
	                                      : &g_array_index(self->scene->known_threads,
							LodeLiveThread, row->thread);
	bool is_tagged = !is_all &&
	                 g_hash_table_contains(self->state->tagged, GUINT_TO_POINTER(row->thread));
	bool is_chosen = row->thread == self->state->thread;
	g_autofree char *text = g_strdup_printf("%c%s%s%s", is_tagged ? '*' : ' ',
		is_all ? "all" : thread->label, is_all || thread->name == NULL ? "" : " ",
		is_all || thread->name == NULL ? "" : thread->name);
	LodeCellPlace place = place_at(self, 0, y, width);
	char share[LODE_NUMBER_SIZE];

	place.style = !is_all && thread->has_ended ? LODE_CELL_DIM : LODE_CELL_PLAIN;
	if (width >= MIDDLE_LABEL) {
		place.width = width - SHARE_WIDTH - 1;
		live_share(row->sum, self->scene->total, share);
		LodeCellPlace right = place_at(
			self, width - (unsigned)strlen(share) - 1, y, SHARE_WIDTH);
		right.style = place.style;
		lode_cell_grid_write(grid, &right, share);
	}
	lode_cell_grid_write(grid, &place, text);
	if (is_chosen)
		lode_cell_grid_paint(grid, 0, y, width, LODE_CELL_CHOSEN);
}

/* The names of the mappings, each above its own columns. */
static void draw_extents(const LodeLiveDrawing *self, LodeCellGrid *grid, unsigned y)
{
	const GArray *extents = self->scene->columns.extents;
	unsigned x = label_width(grid->width) + 1;

	draw_gaps(self, grid, y);
	for (guint i = 0; i < extents->len; i++) {
		const LodeLiveExtent *extent = &g_array_index(extents, LodeLiveExtent, i);
		bool is_last = i + 1 == extents->len;
		unsigned start = extent->first + i;
		unsigned end = is_last ? grid->width - x : start + extent->n;
		LodeCellPlace place = place_at(self, x + start, y, end - start);
		g_autofree char *name = live_mapping_name(extent->mapping);
		place.style = LODE_CELL_BOLD;
		lode_cell_grid_write(grid, &place, name);
	}
}

static void draw_rows(const LodeLiveDrawing *self, LodeCellGrid *grid)
{
	const LodeLiveScene *scene = self->scene;
	unsigned last = scene->rows->len > scene->n_visible_rows
	                        ? scene->rows->len - scene->n_visible_rows
	                        : 0;
	unsigned first = MIN(self->state->first_row, last);

	for (unsigned i = 0; i < scene->n_visible_rows; i++) {
		draw_gaps(self, grid, N_HEAD_LINES + i);
		if (first + i >= scene->rows->len)
			continue;
		const LodeLiveRow *row = &g_array_index(scene->rows, LodeLiveRow, first + i);
		draw_columns(self, grid, row, N_HEAD_LINES + i);
		draw_label(self, grid, row, N_HEAD_LINES + i);
	}
}

static char *describe_column(const LodeLiveDrawing *self, const LodeLiveColumn *column)
{
	const LodeLiveScene *scene = self->scene;
	const LodeLiveExtent *extent = &g_array_index(
		scene->columns.extents, LodeLiveExtent, column->extent);
	g_autofree char *name = live_mapping_name(extent->mapping);
	char size[LODE_NUMBER_SIZE], share[LODE_NUMBER_SIZE];
	double measure = 0;

	for (guint i = 0; i < scene->rows->len; i++) {
		const LodeLiveRow *row = &g_array_index(scene->rows, LodeLiveRow, i);
		if (row->thread != UINT32_MAX)
			measure += row->columns[scene->cursor_column];
	}
	live_share(measure, scene->total, share);
	return g_strdup_printf("%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER "x %s %s %s",
		column->start, column->end - 1, share, live_size(column->end - column->start, size),
		name);
}

/* The text goes to that side of the mark where there is more room. */
static void draw_cursor(const LodeLiveDrawing *self, LodeCellGrid *grid, unsigned y)
{
	const LodeLiveScene *scene = self->scene;

	if (scene->cursor_column < 0)
		return;
	const LodeLiveColumn *column = &g_array_index(
		scene->columns.columns, LodeLiveColumn, scene->cursor_column);
	unsigned x = label_width(grid->width) + 1 + column->place;
	g_autofree char *text = describe_column(self, column);
	unsigned length = (unsigned)g_utf8_strlen(text, -1);
	bool is_left = x > grid->width / 2;
	LodeCellPlace place = place_at(self, is_left ? x - MIN(x, length + 1) : x + 2, y,
		is_left ? MIN(x - 1, length) : grid->width);
	lode_cell_grid_put(grid, x, y, self->terminal.is_ascii ? '^' : 0x25b2, LODE_CELL_BOLD);
	lode_cell_grid_write(grid, &place, text);
}

static void draw_addresses(const LodeLiveDrawing *self, LodeCellGrid *grid)
{
	unsigned y = N_HEAD_LINES + self->scene->n_visible_rows;

	draw_extents(self, grid, N_HEAD_LINES - 1);
	draw_rows(self, grid);
	draw_cursor(self, grid, y);
	live_draw_ranges(self, grid, y + 1);
}

void lode_live_draw(const LodeLiveDrawing *drawing, LodeCellGrid *grid)
{
	if (grid->width < LODE_LIVE_MIN_WIDTH || grid->height < LODE_LIVE_MIN_HEIGHT) {
		LodeCellPlace place = place_at(drawing, 0, 0, grid->width);
		lode_cell_grid_write(grid, &place, "too small: 40x10 at least");
		return;
	}
	draw_status(drawing, grid);
	draw_choices(drawing, grid);
	draw_keys(drawing, grid);
	if (drawing->state->page == LODE_LIVE_SHOWS_ADDRESSES)
		draw_addresses(drawing, grid);
	else
		live_draw_text(drawing, grid);
}
