/* SPDX-License-Identifier: MIT */
#include "traces/trace_range.h"

#include "base/arrays/hash.h"

#include <glib.h>

uint64_t lode_trace_range_end(const LodeTraceRange *self)
{
	return self->first + MIN(self->count, UINT64_MAX - self->first);
}

/* The start of a stretch's window, from the start of the stretch: the fractional parts of multiples
 * of the golden ratio are spread evenly, however many are taken. */
static uint64_t offset_of(const LodeTraceRange *self, uint64_t window)
{
	uint64_t room = self->every - self->length + 1;

	return (uint64_t)((unsigned __int128)(window * LODE_HASH_MULTIPLIER) * room >> 64);
}

static LodeTracePart before_window(
	const LodeTraceRange *self, uint64_t reference, uint64_t start, uint64_t window)
{
	if (start - reference <= self->warm_up)
		return (LodeTracePart){LODE_TRACE_WARM_UP, window, start};
	return (LodeTracePart){LODE_TRACE_LEFT_OUT, window, start - self->warm_up};
}

LodeTracePart lode_trace_range_part(const LodeTraceRange *self, uint64_t reference)
{
	const LodeTracePart after = {LODE_TRACE_LEFT_OUT, 0, UINT64_MAX};
	uint64_t end = lode_trace_range_end(self);

	if (reference >= end)
		return after;
	if (reference < self->first)
		return before_window(self, reference, self->first, 0);
	if (self->every == 0)
		return (LodeTracePart){LODE_TRACE_COUNTED, 0, end};
	uint64_t window = (reference - self->first) / self->every;
	uint64_t stretch = self->first + window * self->every;
	uint64_t start = offset_of(self, window);
	if (reference - stretch >= start && reference - stretch - start >= self->length) {
		if (end - stretch <= self->every)
			return after;
		stretch += self->every;
		start = offset_of(self, ++window);
	}
	if (end - stretch <= start)
		return after;
	start += stretch;
	if (reference < start)
		return before_window(self, reference, start, window);
	return (LodeTracePart){LODE_TRACE_COUNTED, window,
		self->length < end - start ? start + self->length : end};
}
