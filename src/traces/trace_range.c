/* SPDX-License-Identifier: MIT */
#include "traces/trace_range.h"

#include <glib.h>

uint64_t lode_trace_range_end(const LodeTraceRange *self)
{
	return self->first + MIN(self->count, UINT64_MAX - self->first);
}

/* Between the end of a window and the start of the next one. */
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
	uint64_t start = self->first + window * self->every;
	if (reference - start < self->length)
		return (LodeTracePart){LODE_TRACE_COUNTED, window,
			self->length < end - start ? start + self->length : end};
	if (end - start <= self->every)
		return after;
	return before_window(self, reference, start + self->every, window + 1);
}
