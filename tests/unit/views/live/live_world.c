/* SPDX-License-Identifier: MIT */
#include "live_world.h"

#include "model/address_rule.h"

const char live_world_heap[] = "[heap]";
const char live_world_library[] = "/usr/lib/libdata.so.1";
const char live_world_stack[] = "[stack]";

static void clear_thread(void *data)
{
	LodeLiveThread *thread = data;

	g_free(thread->label);
	g_free(thread->name);
}

static void add_thread(LiveWorld *self, const char *name)
{
	LodeLiveThread thread = {
		.label = g_strdup_printf("%u", self->threads->len),
		.name = g_strdup(name),
		.tid = 100 + self->threads->len,
		.n_samples = 1,
	};

	g_array_append_val(self->threads, thread);
}

void live_world_access(LiveWorld *self, const LiveAccesses *accesses)
{
	for (unsigned i = 0; i < accesses->n; i++) {
		const LodeLiveAccess access = {
			.thread = accesses->thread,
			.access = accesses->access,
			.address = accesses->address + i * accesses->step,
			.weight = 1,
			.mapping = accesses->mapping,
			.function = accesses->function,
		};
		lode_live_counts_add(self->counts, &access);
	}
}

void live_world_init(LiveWorld *self, unsigned width, unsigned height)
{
	static const char sum[] = "sum_all", fill[] = "fill";
	const LiveAccesses all[] = {
		{0, LODE_ACCESS_LOAD, 0x405000, 64, 640, live_world_heap, sum},
		{0, LODE_ACCESS_LOAD, 0x405000, 8, 100, live_world_heap, sum},
		{1, LODE_ACCESS_STORE, 0x420000, 512, 80, live_world_heap, fill},
		{1, LODE_ACCESS_LOAD | LODE_ACCESS_STORE, 0x7f0000001000, 0, 40, live_world_library,
			fill},
		{0, LODE_ACCESS_STORE, 0x7ffffffde000, 16, 30, live_world_stack, NULL},
	};

	*self = (LiveWorld){
		.counts = lode_live_counts_new(0),
		.threads = g_array_new(FALSE, FALSE, sizeof(LodeLiveThread)),
		.status =
			{
				.program = "./program",
				.seconds = 12.34,
				.samples_per_second = 9876.4,
				.n_samples = 1000,
				.n_accesses = 1000,
				.n_lost = 23,
				.reason = "blocked",
				.is_sampling = true,
				.is_stall_weighted = true,
			},
		.width = width,
		.height = height,
		.terminal = {.width = width, .is_ascii = true},
	};
	g_array_set_clear_func(self->threads, clear_thread);
	lode_live_state_init(&self->state);
	add_thread(self, "main");
	add_thread(self, "worker");
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		live_world_access(self, &all[i]);
}

static void make_scene(LiveWorld *self)
{
	LodeLiveRoom room = lode_live_room(self->width, self->height, self->threads->len);

	lode_live_scene_clear(&self->scene);
	lode_live_scene_init(&self->scene, self->counts, self->threads, &self->state, &room);
}

void live_world_clear(LiveWorld *self)
{
	lode_live_scene_clear(&self->scene);
	lode_live_state_clear(&self->state);
	g_array_unref(self->threads);
	lode_live_counts_free(self->counts);
}

LodeLiveWish live_world_press(LiveWorld *self, uint32_t key)
{
	make_scene(self);
	return lode_live_state_key(&self->state, &self->scene, key);
}

void live_world_type(LiveWorld *self, const char *keys)
{
	for (; *keys != '\0'; keys++)
		live_world_press(self, (unsigned char)*keys);
}

char *live_world_draw(LiveWorld *self, LodeCellGrid *out_grid)
{
	const LodeLiveDrawing drawing = {
		.scene = &self->scene,
		.state = &self->state,
		.status = &self->status,
		.output = "first\nlast\n",
		.terminal = self->terminal,
	};
	LodeCellGrid grid;

	make_scene(self);
	lode_cell_grid_init(&grid, self->width, self->height);
	lode_live_draw(&drawing, &grid);
	char *text = lode_cell_grid_text(&grid);
	if (out_grid != NULL)
		*out_grid = grid;
	else
		lode_cell_grid_clear(&grid);
	return text;
}
