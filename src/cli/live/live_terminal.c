/* SPDX-License-Identifier: MIT */
#include "cli/live/live_terminal.h"

#include "base/error.h"
#include "views/live/live_state.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* Last, because it defines many macros. */
#include <curses.h>
#include <term.h>

enum { ESCAPE_DELAY_MS = 25, MAX_SIZE = 1000 };

static const int deadly_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

struct LodeLiveTerminal {
	SCREEN *screen;
	FILE *out, *in;
	attr_t styles[LODE_CELL_N_STYLES];
	short pairs[LODE_CELL_N_STYLES];
	bool has_colour;
	struct sigaction old_actions[G_N_ELEMENTS(deadly_signals)];
};

/* Used by the crash handler; static because a signal handler has no other state. */
static struct {
	volatile sig_atomic_t descriptor; /* −1: nothing to restore */
	struct termios modes;
	char leave[128]; /* the sequence that leaves the alternate screen */
	size_t leave_size;
} rescue = {.descriptor = -1};

static void write_rescue(void)
{
	int descriptor = rescue.descriptor;

	/* First, so that a crash in this handler does not call it again. */
	rescue.descriptor = -1;
	if (descriptor < 0)
		return;
	ssize_t written = write(descriptor, rescue.leave, rescue.leave_size);
	(void)written;
	tcsetattr(descriptor, TCSANOW, &rescue.modes);
}

static void on_crash(int number)
{
	write_rescue();
	signal(number, SIG_DFL);
	raise(number);
}

static void catch_crashes(LodeLiveTerminal *self)
{
	const struct sigaction action = {.sa_handler = on_crash};

	for (size_t i = 0; i < G_N_ELEMENTS(deadly_signals); i++)
		sigaction(deadly_signals[i], &action, &self->old_actions[i]);
}

static void release_crashes(const LodeLiveTerminal *self)
{
	for (size_t i = 0; i < G_N_ELEMENTS(deadly_signals); i++)
		sigaction(deadly_signals[i], &self->old_actions[i], NULL);
}

static void add_leave(const char *capability)
{
	const char *text = tigetstr(capability);
	size_t size = text != NULL && text != (char *)-1 ? strlen(text) : 0;

	if (size == 0 || rescue.leave_size + size > sizeof(rescue.leave))
		return;
	memcpy(rescue.leave + rescue.leave_size, text, size);
	rescue.leave_size += size;
}

static bool refuse(const char *why, GError **error)
{
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED, why);
	return false;
}

static bool is_dumb(void)
{
	const char *kind = g_getenv("TERM");

	return kind == NULL || *kind == '\0' || strcmp(kind, "dumb") == 0;
}

static bool open_streams(LodeLiveTerminal *self, GError **error)
{
	int descriptor;

	if (is_dumb())
		return refuse(
			"the terminal cannot show a picture (TERM is not set, or dumb)", error);
	descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (descriptor < 0)
		return refuse("no terminal to show the picture on", error);
	self->in = fdopen(descriptor, "r");
	self->out = fopen("/dev/tty", "we");
	if (self->in == NULL || self->out == NULL)
		return refuse("the terminal cannot be opened", error);
	/* A background job that changes the terminal's modes is stopped (SIGTTOU). */
	if (tcgetpgrp(descriptor) != getpgrp())
		return refuse("the terminal belongs to another job (this one runs in the "
			      "background)",
			error);
	return true;
}

static bool has_capability(const char *name)
{
	const char *text = tigetstr(name);

	return text != NULL && text != (char *)-1;
}

/* Checked first, as newterm() leaks memory when it fails. */
static bool is_known(const LodeLiveTerminal *self)
{
	int code;

	if (setupterm(NULL, fileno(self->out), &code) != OK)
		return false;
	bool can_move = has_capability("cup");
	del_curterm(cur_term);
	return can_move;
}

/* Ctrl-Z would leave the picture on the screen and the program stopped: it is an ordinary key here.
 */
static void set_modes(void)
{
	struct termios modes;

	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_DELAY_MS);
	curs_set(0);
	if (tcgetattr(rescue.descriptor, &modes) != 0)
		return;
	modes.c_cc[VSUSP] = _POSIX_VDISABLE;
	tcsetattr(rescue.descriptor, TCSANOW, &modes);
	def_prog_mode();
}

static void set_heat_colours(LodeLiveTerminal *self)
{
	static const short few[] = {COLOR_BLUE, COLOR_CYAN, COLOR_GREEN, COLOR_YELLOW, COLOR_RED};
	static const short many[] = {27, 37, 70, 178, 196};

	for (short i = 0; i < LODE_CELL_N_HEATS; i++) {
		short pair = (short)(i + 1);
		init_pair(pair, COLORS >= 256 ? many[i] : few[i], -1);
		self->pairs[LODE_CELL_HEAT + i] = pair;
	}
	init_pair(LODE_CELL_N_HEATS + 1, COLOR_RED, -1);
	self->pairs[LODE_CELL_WARNING] = LODE_CELL_N_HEATS + 1;
}

static void set_styles(LodeLiveTerminal *self)
{
	const char *no_color = g_getenv("NO_COLOR");

	self->styles[LODE_CELL_BOLD] = A_BOLD;
	self->styles[LODE_CELL_DIM] = A_DIM;
	self->styles[LODE_CELL_BAR] = A_REVERSE;
	self->styles[LODE_CELL_CHOSEN] = A_REVERSE;
	self->styles[LODE_CELL_WARNING] = A_REVERSE | A_BOLD;
	self->has_colour = (no_color == NULL || *no_color == '\0') && has_colors() &&
	                   start_color() == OK && use_default_colors() == OK;
	if (self->has_colour)
		set_heat_colours(self);
}

static bool open_screen(LodeLiveTerminal *self, GError **error)
{
	struct sigaction stop_action;

	if (!is_known(self))
		return refuse("the terminal is of a kind that is unknown or cannot show a picture "
			      "(TERM)",
			error);
	tcgetattr(fileno(self->in), &rescue.modes);
	sigaction(SIGTSTP, NULL, &stop_action);
	self->screen = newterm(NULL, self->out, self->in);
	if (self->screen == NULL)
		return refuse("the terminal cannot be opened", error);
	/* ncurses' handler would draw in the thread that gets the signal. */
	sigaction(SIGTSTP, &stop_action, NULL);
	rescue.leave_size = 0;
	add_leave("sgr0");
	add_leave("cnorm");
	add_leave("rmkx");
	add_leave("rmcup");
	rescue.descriptor = fileno(self->in);
	catch_crashes(self);
	set_modes();
	set_styles(self);
	return true;
}

LodeLiveTerminal *lode_live_terminal_open(GError **error)
{
	LodeLiveTerminal *self = g_new0(LodeLiveTerminal, 1);

	if (open_streams(self, error) && open_screen(self, error))
		return self;
	lode_live_terminal_close(self);
	return NULL;
}

static void close_screen(LodeLiveTerminal *self)
{
	endwin();
	delscreen(self->screen);
	if (rescue.descriptor < 0)
		return;
	tcsetattr(rescue.descriptor, TCSANOW, &rescue.modes);
	rescue.descriptor = -1;
	release_crashes(self);
}

void lode_live_terminal_close(LodeLiveTerminal *self)
{
	if (self == NULL)
		return;
	if (self->screen != NULL)
		close_screen(self);
	if (self->out != NULL)
		fclose(self->out);
	if (self->in != NULL)
		fclose(self->in);
	g_free(self);
}

LodeTerminal lode_live_terminal_kind(const LodeLiveTerminal *self)
{
	return (LodeTerminal){
		.width = (unsigned)COLS,
		.has_colour = self->has_colour,
		.is_ascii = !g_get_charset(NULL),
	};
}

void lode_live_terminal_size(LodeLiveTerminal *self, unsigned *out_width, unsigned *out_height)
{
	struct winsize size;

	if (ioctl(fileno(self->in), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0 &&
		is_term_resized(size.ws_row, size.ws_col))
		resizeterm(size.ws_row, size.ws_col);
	*out_width = (unsigned)CLAMP(COLS, 1, MAX_SIZE);
	*out_height = (unsigned)CLAMP(LINES, 1, MAX_SIZE);
}

bool lode_live_terminal_wait(LodeLiveTerminal *self, int wake_descriptor, int timeout_ms)
{
	struct pollfd waits[] = {
		{.fd = fileno(self->in), .events = POLLIN},
		{.fd = wake_descriptor, .events = POLLIN},
	};

	poll(waits, G_N_ELEMENTS(waits), timeout_ms);
	return (waits[0].revents & (POLLHUP | POLLERR | POLLNVAL)) == 0;
}

uint32_t lode_live_terminal_key(LodeLiveTerminal *self)
{
	static const struct {
		int curses;
		uint32_t key;
	} keys[] = {
		{KEY_UP, LODE_LIVE_KEY_UP},
		{KEY_DOWN, LODE_LIVE_KEY_DOWN},
		{KEY_LEFT, LODE_LIVE_KEY_LEFT},
		{KEY_RIGHT, LODE_LIVE_KEY_RIGHT},
		{KEY_PPAGE, LODE_LIVE_KEY_PAGE_UP},
		{KEY_NPAGE, LODE_LIVE_KEY_PAGE_DOWN},
		{KEY_HOME, LODE_LIVE_KEY_HOME},
		{KEY_END, LODE_LIVE_KEY_END},
		{KEY_ENTER, LODE_LIVE_KEY_ENTER},
		{'\r', LODE_LIVE_KEY_ENTER},
		{'\n', LODE_LIVE_KEY_ENTER},
		{KEY_BACKSPACE, LODE_LIVE_KEY_BACKSPACE},
		{'\b', LODE_LIVE_KEY_BACKSPACE},
		{0x7f, LODE_LIVE_KEY_BACKSPACE},
		{0x1b, LODE_LIVE_KEY_ESCAPE},
		{KEY_F(1), LODE_LIVE_KEY_F1},
		{KEY_F(10), LODE_LIVE_KEY_F10},
	};
	int key = getch();

	(void)self;
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		if (keys[i].curses == key)
			return keys[i].key;
	/* A different key of ncurses: ignored. */
	if (key >= KEY_MIN)
		return UINT32_MAX;
	return key > 0 ? (uint32_t)key : 0;
}

void lode_live_terminal_show(LodeLiveTerminal *self, const LodeCellGrid *grid)
{
	for (unsigned y = 0; y < grid->height; y++) {
		for (unsigned x = 0; x < grid->width; x++) {
			const LodeCell *cell = &grid->cells[y * grid->width + x];
			const wchar_t text[] = {(wchar_t)cell->character, L'\0'};
			cchar_t drawn;
			setcchar(&drawn, text, self->styles[cell->style], self->pairs[cell->style],
				NULL);
			mvadd_wch((int)y, (int)x, &drawn);
		}
	}
	refresh();
}

void lode_live_terminal_repaint(LodeLiveTerminal *self)
{
	(void)self;
	clearok(curscr, TRUE);
}
