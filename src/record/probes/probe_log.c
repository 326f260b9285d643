/* SPDX-License-Identifier: MIT */
#include "record/probes/probe_log.h"

#include <string.h>
#include <unistd.h>

enum { MAX_BYTES = 64 << 20 };

struct LodeProbeLog {
	GByteArray *bytes;
	LodeWindowLogHeader header;
	/* The open window: */
	LodeWindowHead head;
	guint start;
	uint64_t address, registers[LODE_WINDOW_REGISTERS], time_ns;
};

LodeProbeLog *lode_probe_log_new(pid_t pid)
{
	LodeProbeLog *self = g_new0(LodeProbeLog, 1);

	self->header = (LodeWindowLogHeader){
		.magic = LODE_WINDOW_LOG_MAGIC,
		.version = LODE_WINDOW_LOG_TIMES_VERSION,
		.page = LODE_WINDOW_LOG_PAGE,
		.pid = (uint32_t)pid,
		.parent = (uint32_t)getpid(),
		.begin_ns = (uint64_t)g_get_monotonic_time() * 1000,
		.flags = LODE_WINDOW_LOG_UNDERFLOWS,
	};
	self->bytes = g_byte_array_new();
	g_byte_array_set_size(self->bytes, LODE_WINDOW_LOG_PAGE);
	memset(self->bytes->data, 0, LODE_WINDOW_LOG_PAGE);
	return self;
}

void lode_probe_log_free(LodeProbeLog *self)
{
	if (self == NULL)
		return;
	g_byte_array_unref(self->bytes);
	g_free(self);
}

void lode_probe_log_begin(LodeProbeLog *self, const LodeWindowHead *head)
{
	self->start = self->bytes->len;
	self->head = *head;
	self->head.n_steps = 0;
	self->address = self->time_ns = 0;
	memset(self->registers, 0, sizeof(self->registers));
	g_byte_array_append(self->bytes, (const uint8_t *)&self->head, sizeof(self->head));
}

static uint8_t *put_number(uint8_t *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	return at;
}

static uint8_t *put_difference(uint8_t *at, uint64_t value, uint64_t before)
{
	uint64_t difference = value - before;

	return put_number(at, difference << 1 ^ -(difference >> 63));
}

bool lode_probe_log_add(LodeProbeLog *self, const LodeProbeStep *step)
{
	uint32_t mask = (step->raised != 0 ? LODE_WINDOW_STEP_RAISED : 0) |
	                (step->is_gap ? LODE_WINDOW_STEP_GAP : 0);
	uint8_t coded[LODE_WINDOW_STEP_MAX_BYTES], *at;

	if (self->head.n_steps == LODE_WINDOW_MAX_STEPS || self->bytes->len > MAX_BYTES)
		return false;
	for (unsigned i = 0; i < LODE_WINDOW_REGISTERS; i++)
		if (step->registers[i] != self->registers[i])
			mask |= 1u << i;
	at = put_number(put_difference(coded, step->address, self->address), mask);
	if (step->raised != 0)
		*at++ = step->raised;
	for (unsigned i = 0; i < LODE_WINDOW_REGISTERS; i++)
		if ((mask & 1u << i) != 0)
			at = put_difference(at, step->registers[i], self->registers[i]);
	if ((self->head.flags & LODE_WINDOW_HAS_TIMES) != 0) {
		at = put_number(at, MAX(step->time_ns, self->time_ns) - self->time_ns);
		self->time_ns = MAX(step->time_ns, self->time_ns);
	}
	g_byte_array_append(self->bytes, coded, (guint)(at - coded));
	self->address = step->address;
	memcpy(self->registers, step->registers, sizeof(self->registers));
	self->head.n_steps++;
	self->header.n_hits += step->is_gap && (self->head.flags & LODE_WINDOW_IS_PROBES) != 0;
	return true;
}

void lode_probe_log_end(LodeProbeLog *self, uint64_t end_ns, LodeWindowEnd end)
{
	static const uint8_t zeros[8];

	if (self->head.n_steps == 0) {
		g_byte_array_set_size(self->bytes, self->start);
		return;
	}
	g_byte_array_append(self->bytes, zeros, (8 - self->bytes->len % 8) % 8);
	self->head.size = self->bytes->len - self->start;
	self->head.end = (uint8_t)end;
	self->head.end_ns = MAX(end_ns, self->head.begin_ns);
	memcpy(self->bytes->data + self->start, &self->head, sizeof(self->head));
	self->header.n_windows++;
	self->header.n_steps += self->head.n_steps;
	self->header.window_ns += self->head.end_ns - self->head.begin_ns;
}

void lode_probe_log_charge(LodeProbeLog *self, uint64_t user_ns, uint64_t system_ns)
{
	self->header.user_ns += user_ns;
	self->header.system_ns += system_ns;
}

const uint8_t *lode_probe_log_bytes(LodeProbeLog *self, size_t *out_size)
{
	self->header.used = self->bytes->len;
	memcpy(self->bytes->data, &self->header, sizeof(self->header));
	*out_size = self->bytes->len;
	return self->bytes->data;
}
