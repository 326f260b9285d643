/* SPDX-License-Identifier: MIT */
#include "record/programs/closed_programs.h"

#include <stdbool.h>

enum { NAME_BYTES = 16 }; /* TASK_COMM_LEN of the kernel */

typedef struct {
	uint64_t executed_ns, mapped_ns, ended_ns; /* the last time; 0: never */
	char name[NAME_BYTES];
} Process;

struct LodeClosedPrograms {
	GHashTable *processes; /* pid → Process */
};

LodeClosedPrograms *lode_closed_programs_new(void)
{
	LodeClosedPrograms *self = g_new0(LodeClosedPrograms, 1);

	self->processes = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	return self;
}

void lode_closed_programs_free(LodeClosedPrograms *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->processes);
	g_free(self);
}

static Process *process_of(LodeClosedPrograms *self, uint32_t pid)
{
	Process *process = g_hash_table_lookup(self->processes, GUINT_TO_POINTER(pid));

	if (process == NULL) {
		process = g_new0(Process, 1);
		g_hash_table_insert(self->processes, GUINT_TO_POINTER(pid), process);
	}
	return process;
}

void lode_closed_programs_execute(
	LodeClosedPrograms *self, uint32_t pid, uint64_t time_ns, const char *name)
{
	Process *process = process_of(self, pid);

	if (time_ns < process->executed_ns)
		return;
	process->executed_ns = time_ns;
	g_strlcpy(process->name, name, sizeof(process->name));
}

void lode_closed_programs_map(LodeClosedPrograms *self, uint32_t pid, uint64_t time_ns)
{
	Process *process = process_of(self, pid);

	process->mapped_ns = MAX(process->mapped_ns, time_ns);
}

/* Processes that were sampled are forgotten, so that a build of a million processes takes no
 * memory. */
void lode_closed_programs_end(LodeClosedPrograms *self, uint32_t pid, uint64_t time_ns)
{
	Process *process = process_of(self, pid);

	process->ended_ns = MAX(process->ended_ns, time_ns);
	if (process->executed_ns != 0 && process->mapped_ns > process->executed_ns)
		g_hash_table_remove(self->processes, GUINT_TO_POINTER(pid));
}

static bool is_closed(const Process *process)
{
	return process->executed_ns != 0 && process->mapped_ns < process->executed_ns &&
	       process->ended_ns >= process->executed_ns;
}

unsigned lode_closed_programs_count(const LodeClosedPrograms *self, const char **out_name)
{
	const Process *first = NULL;
	unsigned n = 0;
	GHashTableIter at;
	void *value;

	g_hash_table_iter_init(&at, self->processes);
	while (g_hash_table_iter_next(&at, NULL, &value)) {
		const Process *process = value;
		if (!is_closed(process))
			continue;
		n++;
		if (first == NULL || process->executed_ns < first->executed_ns)
			first = process;
	}
	*out_name = first != NULL ? first->name : NULL;
	return n;
}
