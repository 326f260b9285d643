/* SPDX-License-Identifier: MIT */
/*
 * What the processes of a program took, by when each of their threads ran:
 *
 *   make   ━╮                  ╭━╮          ╭━     two programs, cc1 twice
 *   cc1     ╰━━━━━━━━━━━━━━━━━━╯ │          │      on the critical path; alone once the other
 *   cc1     ╰───────╯            │          │      had ended
 *   ld                           ╰━━━━━━━━━━╯      on the critical path, and alone
 */
#include "ingest/sampled/waits/sampled_waits.h"

#include "base/arrays/sort_order.h"
#include "ingest/sampled/waits/process_commands.h"
#include "ingest/waits/critical_path.h"
#include "model/process.h"
#include "model/waits.h"

typedef struct {
	uint64_t begin_ns, end_ns;
	uint32_t program;
} Life;

/* A thread begins or ends to run. */
typedef struct {
	uint64_t time_ns;
	uint32_t program;
	bool is_end;
} Step;

typedef struct {
	const LodeWaitTimes *times;
	const LodeThreads *threads;
	GArray *programs;     /* LodeWaitProgram */
	uint32_t *program_of; /* of each of the times' threads */
	uint32_t *leader_of;  /* likewise, of LodeThreads: its process's first one */
	GArray *lives;        /* Life, of processes */
} Summing;

LODE_ORDER(compare_lives, Life, LODE_ASCENDING(program), LODE_ASCENDING(begin_ns))
LODE_ORDER(compare_steps, Step, LODE_ASCENDING(time_ns), LODE_DESCENDING(is_end))
LODE_ORDER(compare_programs, LodeWaitProgram, LODE_DESCENDING(running_ns),
	LODE_DESCENDING(processes), g_strcmp0(left->name, right->name))

static LodeWaitProgram *program_at(const Summing *self, uint32_t program)
{
	return &LODE_AT(self->programs, LodeWaitProgram, program);
}

/* A thread's name may be its own; that of the first one is the program's. */
static void find_programs(Summing *self)
{
	g_autoptr(GHashTable) numbers = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < self->times->threads->len; i++) {
		const LodeWaitThread *life = &LODE_AT(self->times->threads, LodeWaitThread, i);
		const LodeThread *thread = &LODE_AT(
			self->threads->threads, LodeThread, life->thread);
		uint32_t first = thread->pid != thread->tid
		                         ? lode_threads_look_up(self->threads, thread->pid,
						   thread->pid, life->begin_ns)
		                         : life->thread;
		const LodeThread *leader = first != LODE_NONE ? &LODE_AT(self->threads->threads,
									LodeThread, first)
		                                              : thread;
		self->leader_of[i] = first != LODE_NONE ? first : life->thread;
		char *name = leader->name;
		const char *key = name != NULL ? name : "";
		const LodeWaitProgram added = {.name = name};
		void *known;
		if (!g_hash_table_lookup_extended(numbers, key, NULL, &known)) {
			known = GUINT_TO_POINTER(self->programs->len);
			g_hash_table_insert(numbers, (char *)key, known);
			g_array_append_val(self->programs, added);
		}
		self->program_of[i] = GPOINTER_TO_UINT(known);
		if (thread->pid != thread->tid)
			continue;
		const Life process = {life->begin_ns, life->end_ns, self->program_of[i]};
		g_array_append_val(self->lives, process);
	}
}

static void sum_lives(Summing *self)
{
	uint64_t until_ns = 0;

	g_array_sort(self->lives, compare_lives);
	for (guint i = 0; i < self->lives->len; i++) {
		const Life *life = &LODE_AT(self->lives, Life, i);
		LodeWaitProgram *program = program_at(self, life->program);
		if (program->processes == 0)
			until_ns = 0;
		program->processes++;
		program->lives_ns += (double)(life->end_ns - life->begin_ns);
		if (life->end_ns <= until_ns)
			continue;
		program->lived_ns += (double)(life->end_ns - MAX(life->begin_ns, until_ns));
		until_ns = life->end_ns;
	}
}

/* Appends a step for each begin and end of running, and sums it up. */
static void list_steps(const Summing *self, GArray *steps)
{
	for (guint i = 0; i < self->times->threads->len; i++) {
		const LodeWaitThread *life = &LODE_AT(self->times->threads, LodeWaitThread, i);
		for (uint32_t k = life->first; k < life->first + life->n; k++) {
			const LodeWaitInterval *interval = &LODE_AT(
				self->times->intervals, LodeWaitInterval, k);
			const Step begin = {interval->begin_ns, self->program_of[i], false};
			const Step end = {interval->end_ns, self->program_of[i], true};
			if (interval->kind != LODE_PATH_RUN || end.time_ns <= begin.time_ns)
				continue;
			program_at(self, self->program_of[i])->running_ns +=
				(double)(end.time_ns - begin.time_ns);
			g_array_append_val(steps, begin);
			g_array_append_val(steps, end);
		}
	}
}

static void sum_running(Summing *self)
{
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(Step));
	/* The sum of the programs of those that run: of one, that is it. */
	uint64_t last_ns = 0, n_running = 0, sum = 0;

	list_steps(self, steps);
	g_array_sort(steps, compare_steps);
	for (guint i = 0; i < steps->len; i++) {
		const Step *step = &LODE_AT(steps, Step, i);
		if (n_running == 1)
			program_at(self, (uint32_t)sum)->alone_ns += (double)(step->time_ns -
									      last_ns);
		last_ns = step->time_ns;
		n_running = step->is_end ? n_running - 1 : n_running + 1;
		sum = step->is_end ? sum - step->program : sum + step->program;
	}
}

static void sum_path(Summing *self, const GArray *pieces)
{
	for (guint i = 0; pieces != NULL && i < pieces->len; i++) {
		const LodePathPiece *piece = &LODE_AT(pieces, LodePathPiece, i);
		if (piece->interval != LODE_NONE &&
			LODE_AT(self->times->intervals, LodeWaitInterval, piece->interval).kind ==
				LODE_PATH_RUN)
			program_at(self, self->program_of[piece->thread])->path_ns +=
				(double)(piece->end_ns - piece->begin_ns);
	}
}

/* Where switches were recorded for a part of the time, that stands for all. */
static void scale(Summing *self, double running_ns)
{
	double known_ns = 0;

	for (guint i = 0; i < self->programs->len; i++)
		known_ns += program_at(self, i)->running_ns;
	double factor = known_ns > 0 && running_ns > known_ns ? running_ns / known_ns : 1;
	for (guint i = 0; i < self->programs->len; i++) {
		LodeWaitProgram *program = program_at(self, i);
		program->running_ns *= factor;
		program->alone_ns *= factor;
	}
}

/* --- processes --- */

/* What it executed; one that was there before the recording is one, too. */
static LodeProcessCommand command_of(const Summing *self, uint32_t recording, uint32_t thread)
{
	const LodeThread *leader = &LODE_AT(self->threads->threads, LodeThread, thread);
	LodeProcessCommand found = lode_process_commands_find(
		self->times->commands, recording, leader->pid, leader->begin_ns, leader->end_ns);

	found.has_executed |= lode_threads_starter(self->threads, thread) == LODE_NONE;
	return found;
}

static LodeWaitProcess process_of(
	const Summing *self, const LodeWaitThread *life, const LodeCommandLook *look)
{
	const LodeThread *leader = &LODE_AT(self->threads->threads, LodeThread, life->thread);
	LodeWaitProcess process = {.pid = leader->pid,
		.parent = LODE_NONE,
		.name = leader->name,
		.begin_ns = life->begin_ns,
		.end_ns = life->end_ns};

	if (look == NULL)
		return process;
	process.command = look->command[0] != '\0' ? (char *)look->command : NULL;
	process.directory = look->directory[0] != '\0' ? (char *)look->directory : NULL;
	process.input = look->input[0] != '\0' ? (char *)look->input : NULL;
	process.output = look->output[0] != '\0' ? (char *)look->output : NULL;
	process.environment = look->environment;
	process.is_cut = (look->flags & LODE_COMMAND_IS_CUT) != 0;
	return process;
}

LODE_ORDER(compare_threads, LodeWaitThread, LODE_ASCENDING(recording), LODE_ASCENDING(begin_ns),
	LODE_ASCENDING(thread))

/* Whose first threads they are, in the order of their beginnings. */
static GArray *list_processes(const Summing *self)
{
	GArray *leaders = g_array_new(FALSE, FALSE, sizeof(LodeWaitThread));

	for (guint i = 0; i < self->times->threads->len; i++) {
		const LodeWaitThread *life = &LODE_AT(self->times->threads, LodeWaitThread, i);
		if (life->thread == self->leader_of[i] &&
			command_of(self, life->recording, life->thread).has_executed)
			g_array_append_val(leaders, *life);
	}
	g_array_sort(leaders, compare_threads);
	g_array_set_size(leaders, MIN(leaders->len, LODE_MAX_WAIT_PROCESSES));
	return leaders;
}

/* The nearest of those that led to a process, copies left out. */
static uint32_t find_parent(const Summing *self, GHashTable *rows, uint32_t thread)
{
	enum { MOST_COPIES = 64 };

	for (int i = 0; i < MOST_COPIES; i++) {
		void *row;
		thread = lode_threads_starter(self->threads, thread);
		if (thread == LODE_NONE)
			break;
		const LodeThread *starter = &LODE_AT(self->threads->threads, LodeThread, thread);
		uint32_t leader = starter->pid == starter->tid
		                          ? thread
		                          : lode_threads_look_up(self->threads, starter->pid,
						    starter->pid, starter->begin_ns);
		if (leader != LODE_NONE &&
			g_hash_table_lookup_extended(rows, GUINT_TO_POINTER(leader), NULL, &row))
			return GPOINTER_TO_UINT(row);
		thread = leader != LODE_NONE ? leader : thread;
	}
	return LODE_NONE;
}

static void sum_processes(const Summing *self, GHashTable *rows, GArray *processes)
{
	for (guint i = 0; i < self->times->threads->len; i++) {
		const LodeWaitThread *life = &LODE_AT(self->times->threads, LodeWaitThread, i);
		void *row;
		if (!g_hash_table_lookup_extended(
			    rows, GUINT_TO_POINTER(self->leader_of[i]), NULL, &row))
			continue;
		LodeWaitProcess *process = &LODE_AT(
			processes, LodeWaitProcess, GPOINTER_TO_UINT(row));
		for (uint32_t k = life->first; k < life->first + life->n; k++) {
			const LodeWaitInterval *one = &LODE_AT(
				self->times->intervals, LodeWaitInterval, k);
			if (one->kind == LODE_PATH_RUN && one->end_ns > one->begin_ns)
				process->running_ns += (double)(one->end_ns - one->begin_ns);
		}
	}
}

static void find_processes(const Summing *self, GArray *processes)
{
	g_autoptr(GHashTable) rows = g_hash_table_new(NULL, NULL);
	g_autoptr(GArray) leaders = list_processes(self);

	for (guint i = 0; i < leaders->len; i++) {
		const LodeWaitThread *life = &LODE_AT(leaders, LodeWaitThread, i);
		LodeWaitProcess process = process_of(
			self, life, command_of(self, life->recording, life->thread).look);
		g_hash_table_insert(
			rows, GUINT_TO_POINTER(life->thread), GUINT_TO_POINTER(processes->len));
		g_array_append_val(processes, process);
	}
	for (guint i = 0; i < processes->len; i++)
		LODE_AT(processes, LodeWaitProcess, i).parent = find_parent(
			self, rows, LODE_AT(leaders, LodeWaitThread, i).thread);
	sum_processes(self, rows, processes);
}

void lode_program_times_find(LodeWaits *waits, const LodeWaitTimes *times,
	const LodeThreads *threads, const GArray *pieces)
{
	Summing self = {.times = times, .threads = threads, .programs = waits->programs};

	self.program_of = g_new(uint32_t, (gsize)times->threads->len + 1);
	self.leader_of = g_new(uint32_t, (gsize)times->threads->len + 1);
	self.lives = g_array_new(FALSE, FALSE, sizeof(Life));
	find_programs(&self);
	if (times->commands != NULL)
		find_processes(&self, waits->processes);
	sum_lives(&self);
	sum_running(&self);
	sum_path(&self, pieces);
	scale(&self, waits->running_ns);
	g_array_sort(waits->programs, compare_programs);
	g_free(self.program_of);
	g_free(self.leader_of);
	g_array_unref(self.lives);
}
