/* SPDX-License-Identifier: MIT */
#include "cli/live_picture.h"

#include "base/quiet_thread.h"
#include "cli/interrupt.h"
#include "cli/live_terminal.h"
#include "cli/program_output.h"
#include "record/record_queue.h"
#include "views/live/live_model.h"

#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { MAX_QUEUED_BYTES = 16 << 20, TAIL_BYTES = 64 << 10 };
/* Between two pictures, and between two looks at the queue and the keys. */
enum { REFRESH_US = G_USEC_PER_SEC / 2, LOOK_MS = 100 };

/* What the picture wants of the sampling. */
typedef enum { WISH_NONE, WISH_ON, WISH_OFF } SamplingWish;

struct LodeLivePicture {
	LodeLivePictureOptions options;
	LodePerfObserver observer;
	LodeLiveTerminal *terminal; /* NULL: the user has quit the picture */
	LodeProgramOutput output;
	LodeLiveModel model;
	LodeLiveScene scene; /* that is seen */
	LodeRecordQueue queue;
	GThread *thread;
	int wake; /* written to when the recording has ended */
	gint64 drawn_us;
	/* Between the threads, atomic. */
	gint has_begun, is_ending, is_over, is_sampling, wish;
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
	gint wish = g_atomic_int_get(&self->wish);

	lode_record_queue_end_batch(&self->queue);
	if (wish != WISH_NONE) {
		is_sampling = wish == WISH_ON;
		/* This wish alone: the user may have asked again meanwhile. */
		g_atomic_int_compare_and_exchange(&self->wish, wish, WISH_NONE);
	}
	g_atomic_int_set(&self->is_sampling, is_sampling);
	return is_sampling;
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
	g_autofree char *output = shows_output ? lode_program_output_tail(&self->output, TAIL_BYTES)
	                                       : NULL;
	bool has_begun = g_atomic_int_get(&self->has_begun);
	LodeLiveStatus status = {
		.program = self->options.program,
		.n_dropped = lode_record_queue_n_dropped(&self->queue) +
	                     lode_live_addresses_n_unreadable(self->model.addresses),
		.is_stall_weighted = has_begun &&
	                             lode_live_addresses_is_by_time(self->model.addresses),
		.is_sampling = g_atomic_int_get(&self->is_sampling),
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
	lode_program_output_say(&self->output,
		"lode memory record: the recording goes on; Ctrl-C interrupts the program");
}

static void ask_for_sampling(LodeLivePicture *self)
{
	bool is_sampling = g_atomic_int_get(&self->is_sampling);

	g_atomic_int_set(&self->wish, is_sampling ? WISH_OFF : WISH_ON);
	/* Shown at once; the recorder's next round makes it true. */
	g_atomic_int_set(&self->is_sampling, !is_sampling);
}

static void take_key(LodeLivePicture *self, uint32_t key)
{
	switch (lode_live_model_key(&self->model, &self->scene, key)) {
	case LODE_LIVE_QUIT:
		quit_picture(self);
		return;
	case LODE_LIVE_SAMPLE:
		ask_for_sampling(self);
		break;
	case LODE_LIVE_REPAINT:
		lode_live_terminal_spoil(self->terminal);
		break;
	default:
		break;
	}
	/* The next key is meant for what this one has made. */
	draw(self);
}

static void look(LodeLivePicture *self)
{
	uint32_t key;

	if (!lode_live_terminal_wait(self->terminal, self->wake, LOOK_MS)) {
		quit_picture(self);
		return;
	}
	take_records(self);
	while (self->terminal != NULL && (key = lode_live_terminal_key(self->terminal)) != 0)
		take_key(self, key);
	if (self->terminal != NULL && g_get_monotonic_time() - self->drawn_us >= REFRESH_US)
		draw(self);
}

/* Without a picture, the program's output comes as it is written. */
static void pass_output_on(LodeLivePicture *self)
{
	struct pollfd wait = {.fd = self->wake, .events = POLLIN};

	lode_program_output_show(&self->output);
	poll(&wait, 1, LOOK_MS);
}

static void *run(void *data)
{
	LodeLivePicture *self = data;

	while (!g_atomic_int_get(&self->is_ending)) {
		if (self->terminal != NULL)
			look(self);
		else
			pass_output_on(self);
	}
	return NULL;
}

/* --- both --- */

LodeLivePicture *lode_live_picture_open(const LodeLivePictureOptions *options, GError **error)
{
	LodeLivePicture *self = g_new0(LodeLivePicture, 1);

	self->output.file = self->wake = -1;
	/* Ours come before those that ncurses would set. */
	lode_interrupt_cancellable();
	self->terminal = lode_live_terminal_open(error);
	if (self->terminal == NULL ||
		!lode_program_output_divert(&self->output, options->directory, error)) {
		lode_live_terminal_close(self->terminal);
		g_free(self);
		return NULL;
	}
	self->options = *options;
	self->observer = (LodePerfObserver){begin, take_record, end_round, self};
	self->is_sampling = !options->start_stopped;
	self->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	lode_record_queue_init(&self->queue, MAX_QUEUED_BYTES);
	lode_live_model_init(&self->model, "/proc", options->charges_next_access);
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
	lode_program_output_clear(&self->output);
	lode_live_scene_clear(&self->scene);
	lode_live_model_clear(&self->model);
	lode_record_queue_clear(&self->queue);
	g_free(self);
}
