/* SPDX-License-Identifier: MIT */
#include "window_log_writer.h"

#include <string.h>

void window_log_init(WindowLogWriter *self, uint32_t pid)
{
	*self = (WindowLogWriter){
		.bytes = g_byte_array_new(),
		.header =
			{
				.magic = LODE_WINDOW_LOG_MAGIC,
				.version = LODE_WINDOW_LOG_VERSION,
				.page = LODE_WINDOW_LOG_PAGE,
				.pid = pid,
			},
	};
	g_byte_array_set_size(self->bytes, LODE_WINDOW_LOG_PAGE);
	memset(self->bytes->data, 0, LODE_WINDOW_LOG_PAGE);
}

void window_log_clear(WindowLogWriter *self)
{
	g_clear_pointer(&self->bytes, g_byte_array_unref);
}

static void put(WindowLogWriter *self, uint8_t byte)
{
	g_byte_array_append(self->bytes, &byte, 1);
}

static void put_number(WindowLogWriter *self, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put(self, (uint8_t)(value | 0x80));
	put(self, (uint8_t)value);
}

static void put_difference(WindowLogWriter *self, uint64_t before, uint64_t now)
{
	int64_t difference = (int64_t)(now - before);

	put_number(self, (uint64_t)difference << 1 ^ (uint64_t)(difference >> 63));
}

void window_log_begin(WindowLogWriter *self, const LodeWindowHead *head)
{
	self->window = self->bytes->len;
	self->head = *head;
	self->head.n_steps = 0;
	self->last = (LodeWindowStep){0};
	g_byte_array_append(self->bytes, (const guint8 *)&self->head, sizeof(self->head));
}

void window_log_add(WindowLogWriter *self, const LodeWindowStep *step)
{
	uint64_t mask = (step->raised != 0 ? LODE_WINDOW_STEP_RAISED : 0) |
	                (step->is_gap ? LODE_WINDOW_STEP_GAP : 0);

	for (unsigned i = 0; i < LODE_WINDOW_REGISTERS; i++)
		if ((self->head.flags & LODE_WINDOW_HAS_REGISTERS) != 0 &&
			step->registers[i] != self->last.registers[i])
			mask |= 1u << i;
	put_difference(self, self->last.address, step->address);
	put_number(self, mask);
	if (step->raised != 0)
		put(self, step->raised);
	for (unsigned i = 0; i < LODE_WINDOW_REGISTERS; i++)
		if ((mask >> i & 1) != 0)
			put_difference(self, self->last.registers[i], step->registers[i]);
	self->last = *step;
	self->head.n_steps++;
}

void window_log_end(WindowLogWriter *self)
{
	while (self->bytes->len % 8 != 0)
		put(self, 0);
	self->head.size = self->bytes->len - self->window;
	memcpy(self->bytes->data + self->window, &self->head, sizeof(self->head));
	self->header.n_windows++;
	self->header.n_steps += self->head.n_steps;
	self->header.window_ns += self->head.end_ns - self->head.begin_ns;
}

GBytes *window_log_finish(WindowLogWriter *self)
{
	if (self->header.used == 0)
		self->header.used = self->bytes->len;
	memcpy(self->bytes->data, &self->header, sizeof(self->header));
	return g_bytes_new(self->bytes->data, self->bytes->len);
}
