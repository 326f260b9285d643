/* SPDX-License-Identifier: MIT */
#include "record/ptrace/own_processor.h"

#include <stdio.h>
#include <string.h>

void lode_own_processor_init(LodeOwnProcessor *self)
{
	self->at = -1;
	if (sched_getaffinity(0, sizeof(self->allowed), &self->allowed) != 0)
		CPU_ZERO(&self->allowed);
}

bool lode_own_processor_may_go(const LodeOwnProcessor *self, int processor)
{
	return processor >= 0 && processor < CPU_SETSIZE &&
	       CPU_ISSET((unsigned)processor, &self->allowed);
}

bool lode_own_processor_go(LodeOwnProcessor *self, int processor)
{
	cpu_set_t there = self->allowed;

	if (processor == self->at)
		return true;
	if (processor >= 0) {
		if (!lode_own_processor_may_go(self, processor))
			return false;
		CPU_ZERO(&there);
		CPU_SET((unsigned)processor, &there);
	}
	if (sched_setaffinity(0, sizeof(there), &there) != 0)
		return false;
	self->at = processor;
	return true;
}

void lode_own_processor_leave(LodeOwnProcessor *self)
{
	cpu_set_t others = self->allowed;

	if (self->at < 0)
		return;
	CPU_CLR((unsigned)self->at, &others);
	if (CPU_COUNT(&others) > 0)
		sched_setaffinity(0, sizeof(others), &others);
	self->at = -1;
}

/* The field `n` of those that follow the name, which may have any character; NULL: there is none.
 * The state is the third one. */
static const char *find_field(const char *text, unsigned n)
{
	const char *field = strrchr(text, ')');

	for (unsigned i = 2; field != NULL && i < n; i++) {
		field = strchr(field, ' ');
		field = field != NULL ? field + 1 : NULL;
	}
	return field;
}

LodeThreadStat lode_thread_stat(const char *text)
{
	enum { USER_TIME = 14, PROCESSOR = 39 };
	const char *times = find_field(text, USER_TIME), *place = find_field(text, PROCESSOR);
	LodeThreadStat stat = {.processor = -1};
	double user, kernel;
	int processor, policy;

	if (times != NULL && sscanf(times, "%lf %lf", &user, &kernel) == 2 && user + kernel > 0)
		stat.kernel_share = kernel / (user + kernel);
	if (place != NULL && sscanf(place, "%d %*u %d", &processor, &policy) == 2 &&
		(policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE))
		stat.processor = processor;
	return stat;
}
