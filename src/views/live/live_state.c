/* SPDX-License-Identifier: MIT */
#include "views/live/live_state.h"

#include <string.h>

enum { PAGE = 4096, LINE = 64, WORD = 8 };
enum { MAX_GRANULARITY = 1 << 30, ZOOM_PARTS = 4, MAX_ZOOMS = 64 };

void lode_live_state_init(LodeLiveState *self)
{
	*self = (LodeLiveState){
		.granularity = PAGE,
		.zooms = g_array_new(FALSE, FALSE, sizeof(LodeLiveZoom)),
		.thread = UINT32_MAX,
		.tagged = g_hash_table_new(NULL, NULL),
	};
}

void lode_live_state_clear(LodeLiveState *self)
{
	g_clear_pointer(&self->zooms, g_array_unref);
	g_clear_pointer(&self->tagged, g_hash_table_unref);
}

static const LodeLiveColumn *column_at(const LodeLiveScene *scene, int number)
{
	if (number < 0 || (guint)number >= scene->columns.columns->len)
		return NULL;
	return &g_array_index(scene->columns.columns, LodeLiveColumn, number);
}

/* --- the cursor --- */

/* The cursor is an address: it stays at its place when new samples change the columns. */
static void move_to_column(LodeLiveState *self, const LodeLiveScene *scene, int number)
{
	int last = (int)scene->columns.columns->len - 1;
	const LodeLiveColumn *column = column_at(scene, CLAMP(number, 0, MAX(last, 0)));

	if (column != NULL)
		self->cursor = column->start;
}

static guint row_of_thread(const LodeLiveState *self, const LodeLiveScene *scene)
{
	for (guint i = 0; i < scene->rows->len; i++)
		if (g_array_index(scene->rows, LodeLiveRow, i).thread == self->thread)
			return i;
	return 0;
}

static void move_to_row(LodeLiveState *self, const LodeLiveScene *scene, int step)
{
	int last = (int)scene->rows->len - 1;
	int row = CLAMP((int)row_of_thread(self, scene) + step, 0, MAX(last, 0));

	if (last < 0)
		return;
	self->thread = g_array_index(scene->rows, LodeLiveRow, row).thread;
	if ((unsigned)row < self->first_row)
		self->first_row = (unsigned)row;
	else if ((unsigned)row >= self->first_row + scene->n_visible_rows)
		self->first_row = (unsigned)row + 1 - scene->n_visible_rows;
}

static void scroll_ranges(LodeLiveState *self, const LodeLiveScene *scene, int direction)
{
	unsigned page = MAX(scene->n_visible_ranges, 1), n = scene->ranges->len;

	if (direction > 0 && self->first_range + page < n)
		self->first_range += page;
	else if (direction < 0)
		self->first_range -= MIN(page, self->first_range);
}

/* --- what is looked at --- */

static void zoom_to(LodeLiveState *self, uint64_t start, uint64_t end)
{
	const LodeLiveZoom zoom = {start, end};

	if (self->zooms->len >= MAX_ZOOMS)
		return;
	g_array_append_val(self->zooms, zoom);
	self->first_range = 0;
}

/* Through the units in which memory is mapped, cached and accessed. */
static uint64_t finer(uint64_t granularity)
{
	return granularity > PAGE ? PAGE : granularity > LINE ? LINE : WORD;
}

/* First into an extent, then into its columns about the cursor, and from a single one that can be
 * no narrower into what it is made of. */
static void zoom_in(LodeLiveState *self, const LodeLiveScene *scene)
{
	const LodeLiveColumn *column = column_at(scene, scene->cursor_column);
	unsigned n = scene->columns.columns->len;

	if (column == NULL)
		return;
	if (scene->columns.extents->len > 1) {
		const LodeLiveExtent *extent = &g_array_index(
			scene->columns.extents, LodeLiveExtent, column->extent);
		zoom_to(self, extent->start, extent->end);
	} else if (n > 1) {
		int width = (int)MAX(n / ZOOM_PARTS, 1);
		int first = CLAMP(scene->cursor_column - width / 2, 0, (int)n - width);
		zoom_to(self, column_at(scene, first)->start,
			column_at(scene, first + width - 1)->end);
	} else {
		zoom_to(self, column->start, column->end);
		self->granularity = finer(self->granularity);
	}
}

static void zoom_out(LodeLiveState *self, guint levels)
{
	g_array_set_size(self->zooms, self->zooms->len - MIN(levels, self->zooms->len));
	self->first_range = 0;
}

static void set_granularity(LodeLiveState *self, uint64_t granularity)
{
	self->granularity = CLAMP(granularity, WORD, MAX_GRANULARITY);
	self->first_range = 0;
}

/* --- threads --- */

static void tag(LodeLiveState *self)
{
	void *thread = GUINT_TO_POINTER(self->thread);

	if (self->thread != UINT32_MAX && !g_hash_table_remove(self->tagged, thread))
		g_hash_table_add(self->tagged, thread);
}

static void filter_threads(LodeLiveState *self)
{
	/* Without tags the chosen thread is meant. */
	if (g_hash_table_size(self->tagged) == 0)
		tag(self);
	self->only_tagged = !self->only_tagged && g_hash_table_size(self->tagged) > 0;
	self->first_row = self->first_range = 0;
}

/* --- keys --- */

static void show(LodeLiveState *self, LodeLivePage page)
{
	self->page = self->page == page ? LODE_LIVE_SHOWS_ADDRESSES : page;
	self->scroll = 0;
}

static LodeLiveWish wish_of_key(LodeLiveState *self, uint32_t key)
{
	switch (key) {
	case 'q':
	case LODE_LIVE_KEY_F10:
		return LODE_LIVE_QUIT;
	case 'p':
		self->is_paused = !self->is_paused;
		return LODE_LIVE_PAUSE;
	case 'z':
		self->is_frozen = !self->is_frozen;
		return LODE_LIVE_FREEZE;
	case 's':
		return LODE_LIVE_SAMPLE;
	case 'r':
		self->first_range = 0;
		return LODE_LIVE_RESET;
	case '\f':
		return LODE_LIVE_REPAINT;
	default:
		return LODE_LIVE_NOTHING;
	}
}

static void move(LodeLiveState *self, const LodeLiveScene *scene, uint32_t key)
{
	switch (key) {
	case LODE_LIVE_KEY_LEFT:
		move_to_column(self, scene, scene->cursor_column - 1);
		return;
	case LODE_LIVE_KEY_RIGHT:
		move_to_column(self, scene, scene->cursor_column + 1);
		return;
	case LODE_LIVE_KEY_HOME:
		move_to_column(self, scene, 0);
		return;
	case LODE_LIVE_KEY_END:
		move_to_column(self, scene, G_MAXINT);
		return;
	case LODE_LIVE_KEY_UP:
	case LODE_LIVE_KEY_DOWN:
		move_to_row(self, scene, key == LODE_LIVE_KEY_UP ? -1 : 1);
		return;
	case LODE_LIVE_KEY_PAGE_UP:
	case LODE_LIVE_KEY_PAGE_DOWN:
		scroll_ranges(self, scene, key == LODE_LIVE_KEY_PAGE_UP ? -1 : 1);
		return;
	default:
		return;
	}
}

static void change_view(LodeLiveState *self, const LodeLiveScene *scene, uint32_t key)
{
	switch (key) {
	case '+':
	case LODE_LIVE_KEY_ENTER:
		zoom_in(self, scene);
		return;
	case '-':
	case LODE_LIVE_KEY_BACKSPACE:
		zoom_out(self, 1);
		return;
	case '0':
		zoom_out(self, G_MAXUINT);
		return;
	case 'g':
		set_granularity(self, self->granularity == WORD ? PAGE : finer(self->granularity));
		return;
	case '<':
	case '>':
		set_granularity(self, key == '<' ? self->granularity / 2 : self->granularity * 2);
		return;
	case 'l':
		self->measure = (self->measure + 1) % LODE_LIVE_N_MEASURES;
		return;
	case ' ':
		tag(self);
		return;
	case 'u':
		g_hash_table_remove_all(self->tagged);
		self->only_tagged = false;
		return;
	case 'f':
		filter_threads(self);
		return;
	default:
		move(self, scene, key);
		return;
	}
}

static void scroll_text(LodeLiveState *self, int lines)
{
	self->scroll = (unsigned)MAX((int)MIN(self->scroll, G_MAXINT / 2) + lines, 0);
}

/* On a page of text. The output is scrolled from its end, where new lines come, help from its
 * start. How far it can be scrolled is known when it is drawn. */
static LodeLiveWish read_on(LodeLiveState *self, uint32_t key)
{
	enum { SOME_LINES = 10 };
	int down = self->page == LODE_LIVE_SHOWS_OUTPUT ? -1 : 1;

	switch (key) {
	case LODE_LIVE_KEY_UP:
	case LODE_LIVE_KEY_DOWN:
		scroll_text(self, key == LODE_LIVE_KEY_DOWN ? down : -down);
		break;
	case LODE_LIVE_KEY_PAGE_UP:
	case LODE_LIVE_KEY_PAGE_DOWN:
		scroll_text(self, SOME_LINES * (key == LODE_LIVE_KEY_PAGE_DOWN ? down : -down));
		break;
	default:
		show(self, LODE_LIVE_SHOWS_ADDRESSES);
		break;
	}
	return LODE_LIVE_NOTHING;
}

LodeLiveWish lode_live_state_key(LodeLiveState *self, const LodeLiveScene *scene, uint32_t key)
{
	bool is_help = key == 'h' || key == '?' || key == LODE_LIVE_KEY_F1;

	if (key == '\f')
		return LODE_LIVE_REPAINT;
	if (is_help || key == 'o') {
		show(self, is_help ? LODE_LIVE_SHOWS_HELP : LODE_LIVE_SHOWS_OUTPUT);
		return LODE_LIVE_NOTHING;
	}
	if (self->page != LODE_LIVE_SHOWS_ADDRESSES)
		return read_on(self, key);
	change_view(self, scene, key);
	return wish_of_key(self, key);
}
