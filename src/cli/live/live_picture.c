/* SPDX-License-Identifier: MIT */
#include "cli/live/live_picture.h"

#include "base/error.h"
#include "base/quiet_thread.h"
#include "cli/interrupt.h"
#include "cli/live/live_terminal.h"
#include "record/perf/record_queue.h"
#include "record/perf/sampling_switch.h"
#include "views/live/live_drawing.h"
#include "views/live/live_model.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* --- the program's output --- */

/*
 * The output that a program writes to the terminal while the picture is drawn: it goes to a file,
 * and is shown afterwards.
 *
 *   the program's output, error ──┐ where they are the terminal
 *   ours                        ──┴─▶ program-output.txt ─▶ the terminal, afterwards
 *
 * Our own descriptors are diverted; a program that we start inherits them. If standard input is the
 * terminal, it becomes an empty file, as the keys belong to the picture.
 */

#define PROGRAM_OUTPUT_NAME "program-output.txt"

typedef struct {
	int file;     /* −1: nothing is diverted */
	int saved[3]; /* the original descriptors; −1: not diverted */
	off_t shown;  /* bytes of the file that are shown already */
} ProgramOutput;

static bool fail(const char *path, GError **error)
{
	g_set_error(
		error, LODE_ERROR, LODE_ERROR_IO, "cannot write '%s': %s", path, g_strerror(errno));
	return false;
}

static bool divert(ProgramOutput *self, int descriptor, int to)
{
	int saved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (saved < 0)
		return false;
	self->saved[descriptor] = saved;
	return dup2(to, descriptor) >= 0;
}

static bool divert_input(ProgramOutput *self)
{
	int empty;
	bool is_done;

	if (!isatty(STDIN_FILENO))
		return true;
	empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
	is_done = empty >= 0 && divert(self, STDIN_FILENO, empty);
	if (empty >= 0)
		close(empty);
	return is_done;
}

/* Restores the descriptors. */
static void program_output_restore(ProgramOutput *self)
{
	fflush(NULL);
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
		if (self->saved[i] < 0)
			continue;
		dup2(self->saved[i], i);
		close(self->saved[i]);
		self->saved[i] = -1;
	}
}

/* The terminal, diverted or not. */
static int terminal_of(const ProgramOutput *self)
{
	for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++)
		if (self->saved[i] >= 0)
			return self->saved[i];
	return isatty(STDOUT_FILENO) ? STDOUT_FILENO : STDERR_FILENO;
}

static bool write_all(int descriptor, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t n = write(descriptor, bytes, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		size -= (size_t)n;
	}
	return true;
}

/* Writes the output since the last call to its original destination. */
static void program_output_show(ProgramOutput *self)
{
	char buffer[16384];
	ssize_t n;

	while (self->file >= 0 &&
		(n = pread(self->file, buffer, sizeof(buffer), self->shown)) > 0) {
		self->shown += n;
		if (!write_all(terminal_of(self), buffer, (size_t)n))
			return;
	}
}

/* Writes a line of our own there. */
static void program_output_say(ProgramOutput *self, const char *line)
{
	g_autofree char *text = g_strconcat(line, "\n", NULL);

	write_all(terminal_of(self), text, strlen(text));
}

/* At most that many of the last bytes of the file, from the start of a line on; the caller frees
 * them. */
static char *program_output_tail(const ProgramOutput *self, size_t size)
{
	struct stat status;

	if (self->file < 0 || fstat(self->file, &status) != 0)
		return g_strdup("");
	off_t start = MAX(status.st_size - (off_t)size, 0);
	char *text = g_malloc0(size + 1);
	ssize_t n = pread(self->file, text, size, start);
	text[MAX(n, 0)] = '\0';
	/* A program may write null bytes. */
	for (ssize_t i = 0; i < n; i++)
		text[i] = text[i] != '\0' ? text[i] : ' ';
	const char *line = start > 0 ? strchr(text, '\n') : NULL;
	if (line != NULL)
		memmove(text, line + 1, strlen(line));
	return text;
}

/* Restores and shows, unless that was done. */
static void program_output_clear(ProgramOutput *self)
{
	if (self->file < 0)
		return;
	program_output_restore(self);
	program_output_show(self);
	close(self->file);
	self->file = -1;
}

/* Errors: _IO. */
static bool program_output_divert(ProgramOutput *self, const char *directory, GError **error)
{
	g_autofree char *path = g_build_filename(directory, PROGRAM_OUTPUT_NAME, NULL);

	*self = (ProgramOutput){.file = -1, .saved = {-1, -1, -1}};
	/* It has output and error in the order in which they are written. */
	self->file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
	if (self->file < 0)
		return fail(path, error);
	bool is_done = divert_input(self);
	fflush(NULL);
	for (int i = STDOUT_FILENO; i <= STDERR_FILENO && is_done; i++)
		is_done = !isatty(i) || divert(self, i, self->file);
	if (is_done)
		return true;
	fail(path, error);
	program_output_clear(self);
	return false;
}

/* --- the picture --- */

enum { MAX_QUEUED_BYTES = 16 << 20, TAIL_BYTES = 64 << 10 };
/* Intervals between two pictures, and between two reads of the queue and the keys. */
enum { REFRESH_US = G_USEC_PER_SEC / 2, WAIT_MS = 100 };

struct LodeLivePicture {
	LodeLivePictureOptions options;
	LodePerfObserver observer;
	LodeLiveTerminal *terminal; /* NULL: the user has quit the picture */
	ProgramOutput output;
	LodeLiveModel model;
	LodeLiveScene scene; /* that is shown */
	LodeRecordQueue queue;
	GThread *thread;
	int wake; /* written to when the recording has ended */
	gint64 drawn_us;
	LodeSamplingSwitch sampling;
	/* Shared by the threads, atomic. */
	gint has_begun, is_ending, is_over;
};

/* --- the recorder's thread --- */

static void begin(const LodePerfObservedEvent *events, size_t n_events, void *user_data)
{
	LodeLivePicture *self = user_data;

	for (size_t i = 0; i < n_events; i++)
		lode_live_addresses_add_event(self->model.addresses, &events[i]);
	g_atomic_int_set(&self->has_begun, TRUE);
}

static void take_record(const void *record, size_t size, void *user_data)
{
	LodeLivePicture *self = user_data;

	if (!g_atomic_int_get(&self->is_over))
		lode_record_queue_put(&self->queue, record, size);
}

static bool end_round(bool is_sampling, void *user_data)
{
	LodeLivePicture *self = user_data;

	lode_record_queue_end_batch(&self->queue);
	return lode_sampling_switch_turn(&self->sampling, is_sampling);
}

/* --- the picture's thread --- */

static void take_records(LodeLivePicture *self)
{
	GByteArray *batch;

	if (!g_atomic_int_get(&self->has_begun))
		return;
	while ((batch = lode_record_queue_take(&self->queue)) != NULL) {
		lode_live_model_add(&self->model, batch->data, batch->len);
		g_byte_array_unref(batch);
	}
}

static void draw(LodeLivePicture *self)
{
	LodeLiveState *state = &self->model.state;
	bool shows_output = state->page == LODE_LIVE_SHOWS_OUTPUT;
	g_autofree char *output = shows_output ? program_output_tail(&self->output, TAIL_BYTES)
	                                       : NULL;
	bool has_begun = g_atomic_int_get(&self->has_begun);
	LodeLiveStatus status = {
		.program = self->options.program,
		.n_dropped = lode_record_queue_n_dropped(&self->queue) +
	                     lode_live_addresses_n_unreadable(self->model.addresses),
		.is_stall_weighted = has_begun &&
	                             lode_live_addresses_is_by_time(self->model.addresses),
		.is_sampling = lode_sampling_switch_is_on(&self->sampling),
	};
	g_auto(LodeCellGrid) grid = {0};
	unsigned width, height;

	lode_live_terminal_size(self->terminal, &width, &height);
	lode_live_model_status(&self->model, &status);
	lode_live_scene_clear(&self->scene);
	lode_live_model_scene(&self->model, &self->scene, width, height);
	const LodeLiveDrawing drawing = {
		.scene = &self->scene,
		.state = state,
		.status = &status,
		.output = output,
		.terminal = lode_live_terminal_kind(self->terminal),
	};
	state->scroll = MIN(state->scroll, lode_live_last_scroll(&drawing, height));
	lode_cell_grid_init(&grid, width, height);
	lode_live_draw(&drawing, &grid);
	lode_live_terminal_show(self->terminal, &grid);
	self->drawn_us = g_get_monotonic_time();
}

static void quit_picture(LodeLivePicture *self)
{
	g_atomic_int_set(&self->is_over, TRUE);
	lode_live_terminal_close(self->terminal);
	self->terminal = NULL;
	program_output_say(&self->output,
		"lode memory record: the recording goes on; Ctrl-C interrupts the program");
}

static void take_key(LodeLivePicture *self, uint32_t key)
{
	switch (lode_live_model_key(&self->model, &self->scene, key)) {
	case LODE_LIVE_QUIT:
		quit_picture(self);
		return;
	case LODE_LIVE_SAMPLE:
		lode_sampling_switch_request(
			&self->sampling, !lode_sampling_switch_is_on(&self->sampling));
		break;
	case LODE_LIVE_REPAINT:
		lode_live_terminal_repaint(self->terminal);
		break;
	default:
		break;
	}
	/* The next key refers to the picture after this one. */
	draw(self);
}

static void run_round(LodeLivePicture *self)
{
	uint32_t key;

	if (!lode_live_terminal_wait(self->terminal, self->wake, WAIT_MS)) {
		quit_picture(self);
		return;
	}
	take_records(self);
	while (self->terminal != NULL && (key = lode_live_terminal_key(self->terminal)) != 0)
		take_key(self, key);
	if (self->terminal != NULL && g_get_monotonic_time() - self->drawn_us >= REFRESH_US)
		draw(self);
}

/* Without a picture, the program's output is shown as it is written. */
static void pass_output_on(LodeLivePicture *self)
{
	struct pollfd wait = {.fd = self->wake, .events = POLLIN};

	program_output_show(&self->output);
	poll(&wait, 1, WAIT_MS);
}

static void *run(void *data)
{
	LodeLivePicture *self = data;

	while (!g_atomic_int_get(&self->is_ending)) {
		if (self->terminal != NULL)
			run_round(self);
		else
			pass_output_on(self);
	}
	return NULL;
}

/* --- both --- */

LodeLivePicture *lode_live_picture_open(const LodeLivePictureOptions *options, GError **error)
{
	LodeLivePicture *self = g_new0(LodeLivePicture, 1);
	const LodeLiveAddressesOptions addresses = {
		.proc = "/proc",
		.charges_next_access = options->charges_next_access,
		.log_directory = options->has_allocations ? options->directory : NULL,
		.skipped_frames = options->skipped_frames,
	};

	self->output.file = self->wake = -1;
	/* Our signal handlers are installed before those of ncurses. */
	lode_interrupt_cancellable();
	self->terminal = lode_live_terminal_open(error);
	if (self->terminal == NULL ||
		!program_output_divert(&self->output, options->directory, error)) {
		lode_live_terminal_close(self->terminal);
		g_free(self);
		return NULL;
	}
	self->options = *options;
	self->observer = (LodePerfObserver){begin, take_record, end_round, self};
	self->sampling.is_on = !options->start_stopped;
	self->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	lode_record_queue_init(&self->queue, MAX_QUEUED_BYTES);
	lode_live_model_init(&self->model, &addresses);
	draw(self);
	self->thread = lode_quiet_thread_new("lode-picture", run, self);
	return self;
}

const LodePerfObserver *lode_live_picture_observer(LodeLivePicture *self)
{
	return &self->observer;
}

static void end_thread(LodeLivePicture *self)
{
	const uint64_t one = 1;

	g_atomic_int_set(&self->is_ending, TRUE);
	ssize_t written = write(self->wake, &one, sizeof(one));
	(void)written;
	g_thread_join(self->thread);
	close(self->wake);
}

void lode_live_picture_close(LodeLivePicture *self)
{
	if (self == NULL)
		return;
	end_thread(self);
	lode_live_terminal_close(self->terminal);
	program_output_clear(&self->output);
	lode_live_scene_clear(&self->scene);
	lode_live_model_clear(&self->model);
	lode_record_queue_clear(&self->queue);
	g_free(self);
}
