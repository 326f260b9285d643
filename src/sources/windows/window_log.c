/* SPDX-License-Identifier: MIT */
#include "sources/windows/window_log.h"

#include "base/error.h"

#include <string.h>

struct LodeWindowLog {
	GBytes *bytes;
	const uint8_t *data;
	size_t size; /* of the used part */
	size_t at;
	LodeWindowLogHeader header;
};

LodeWindowLog *lode_window_log_new(GBytes *bytes, const char *name, GError **error)
{
	size_t size;
	const uint8_t *data = g_bytes_get_data(bytes, &size);
	LodeWindowLogHeader header;

	if (size < sizeof(header) || memcmp(data, LODE_WINDOW_LOG_MAGIC, 8) != 0) {
		g_set_error(
			error, LODE_ERROR, LODE_ERROR_CORRUPT, "%s: not a log of windows", name);
		return NULL;
	}
	memcpy(&header, data, sizeof(header));
	if (header.version < LODE_WINDOW_LOG_VERSION ||
		header.version > LODE_WINDOW_LOG_TIMES_VERSION) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"%s: a log of windows of version %u; this lode reads versions %d to %d",
			name, header.version, LODE_WINDOW_LOG_VERSION,
			LODE_WINDOW_LOG_TIMES_VERSION);
		return NULL;
	}
	if (header.version == LODE_WINDOW_LOG_VERSION)
		header.n_hits = 0;
	if (header.page < sizeof(header) || header.page % 8 != 0 || header.page > size ||
		header.used < header.page) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"%s: a log of windows whose header ends at byte %u of %" G_GSIZE_FORMAT,
			name, header.page, size);
		return NULL;
	}
	LodeWindowLog *self = g_new0(LodeWindowLog, 1);
	self->bytes = g_bytes_ref(bytes);
	self->data = data;
	self->size = MIN(size, header.used);
	self->header = header;
	self->at = header.page;
	return self;
}

void lode_window_log_free(LodeWindowLog *self)
{
	if (self == NULL)
		return;
	g_bytes_unref(self->bytes);
	g_free(self);
}

const LodeWindowLogHeader *lode_window_log_header(const LodeWindowLog *self)
{
	return &self->header;
}

void lode_window_log_rewind(LodeWindowLog *self)
{
	self->at = self->header.page;
}

uint64_t lode_window_log_damaged(const LodeWindowLog *self)
{
	return self->header.used - self->at;
}

/* Windows in which time goes backwards, or with more steps than bytes, were never written. */
static bool is_plausible(const LodeWindowHead *head, size_t left)
{
	return head->size >= sizeof(*head) && head->size % 8 == 0 && head->size <= left &&
	       head->n_steps > 0 && head->n_steps <= LODE_WINDOW_MAX_STEPS &&
	       head->n_steps <= head->size - sizeof(*head) && head->end < LODE_N_WINDOW_ENDS &&
	       head->begin_ns <= head->end_ns;
}

bool lode_window_log_next(LodeWindowLog *self, LodeWindow *out_window)
{
	size_t left = self->size - self->at;
	LodeWindowHead head;

	if (left < sizeof(head))
		return false;
	memcpy(&head, self->data + self->at, sizeof(head));
	if (!is_plausible(&head, left))
		return false;
	*out_window = (LodeWindow){
		.head = head,
		.at = self->data + self->at + sizeof(head),
		.end = self->data + self->at + head.size,
	};
	self->at += head.size;
	return true;
}

static bool read_number(LodeWindow *self, uint64_t *out)
{
	uint64_t value = 0;

	for (unsigned shift = 0; self->at < self->end && shift < 64; shift += 7) {
		uint8_t byte = *self->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if ((byte & 0x80) == 0) {
			*out = value;
			return true;
		}
	}
	return false;
}

static bool add_difference(LodeWindow *self, uint64_t *in_out)
{
	uint64_t coded;

	if (!read_number(self, &coded))
		return false;
	*in_out += coded >> 1 ^ -(coded & 1);
	return true;
}

static bool read_step(LodeWindow *self, LodeWindowStep *step)
{
	uint64_t mask;

	if (!add_difference(self, &step->address) || !read_number(self, &mask) ||
		mask >= LODE_WINDOW_STEP_GAP << 1)
		return false;
	step->is_gap = (mask & LODE_WINDOW_STEP_GAP) != 0;
	step->raised = 0;
	if ((mask & LODE_WINDOW_STEP_RAISED) != 0) {
		if (self->at == self->end)
			return false;
		step->raised = *self->at++;
	}
	for (unsigned i = 0; i < LODE_WINDOW_REGISTERS; i++)
		if ((mask & 1u << i) != 0 && !add_difference(self, &step->registers[i]))
			return false;
	uint64_t time_ns = 0;
	if ((self->head.flags & LODE_WINDOW_HAS_TIMES) != 0 && !read_number(self, &time_ns))
		return false;
	step->time_ns += time_ns;
	return true;
}

bool lode_window_next(LodeWindow *window)
{
	LodeWindowStep step = window->step;

	if (window->n_read == window->head.n_steps || !read_step(window, &step))
		return false;
	window->step = step;
	window->n_read++;
	return true;
}
