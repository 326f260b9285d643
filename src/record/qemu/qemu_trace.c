/* SPDX-License-Identifier: MIT */
/*
 * Traces a program in QEMU's user-mode emulation, with a plugin of ours that writes executions and
 * accesses into shared memory (trace_ring_format.h). One thread of ours empties it while this one
 * waits for the program.
 */
#include "base/error.h"
#include "base/file_kind.h"
#include "base/files/own_library.h"
#include "base/quiet_thread.h"
#include "images/dwarf/named_symbol.h"
#include "record/programs/preloaded_library.h"
#include "record/qemu/qemu_program.h"
#include "record/qemu/taker_queue.h"
#include "record/qemu/trace_intake.h"
#include "record/qemu/trace_mappings.h"
#include "record/qemu/trace_ring.h"
#include "record/qemu/trace_run.h"
#include "traces/trace_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- traced processes --- */

/*
 * A process has ended when the kernel reports it and all its chunks are read; a separate
 * thread then finishes its file, while others run.
 */

typedef struct TracedProcesses TracedProcesses;

/* --- one process --- */

/*
 * One process of a traced program. A program executed by a process counts as a new process here, as
 * it has a different address space. Each has a file of its own.
 */

typedef struct {
	uint32_t number; /* its number in the ring */
	pid_t pid;
	int descriptor; /* pidfd that reports its end; −1: none */
	bool is_recorded;
	bool has_ended;
	uint64_t end_stamp; /* chunks with lower stamps may belong to it; 0: it runs */
	char *path;         /* its file, or a name without files; NULL: the run's own */

	LodeTraceIntake *intake;           /* the run's, if it has no file of its own */
	LodeTraceDescription *description; /* the intake's */
	LodeTraceMappings *mappings;

	void *code;     /* g_malloc()ed, user data of the callback of `mappings` */
	char *executed; /* the untraced program that it is about to execute; NULL: none */
	GError *error;  /* of its file */

	int log; /* the allocation log; −1: none */
	uint64_t log_number, log_bytes;
} TracedProcess;

static TracedProcess *traced_process_new(uint32_t number, pid_t pid)
{
	TracedProcess *self = g_new0(TracedProcess, 1);

	self->number = number;
	self->pid = pid;
	self->descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
	self->log = -1;
	return self;
}

static void traced_process_free(TracedProcess *self)
{
	if (self == NULL)
		return;
	if (self->descriptor >= 0)
		close(self->descriptor);
	if (self->log >= 0)
		close(self->log);
	lode_trace_mappings_free(self->mappings);
	if (self->path != NULL)
		lode_trace_intake_free(self->intake);
	g_clear_error(&self->error);
	g_free(self->path);
	g_free(self->code);
	g_free(self->executed);
	g_free(self);
}

/* Whether the process still exists. */
static bool traced_process_is_alive(TracedProcess *self)
{
	struct pollfd end = {.fd = self->descriptor, .events = POLLIN};

	if (self->descriptor >= 0)
		return poll(&end, 1, 0) == 0;
	return kill(self->pid, 0) == 0 || errno != ESRCH;
}

/*
 * "x.rps" ─▶ "x.2.rps". The caller frees it.
 */
static char *traced_process_path(const char *output, unsigned number)
{
	static const char ending[] = ".rps";
	size_t length = strlen(output);
	bool has_ending = g_str_has_suffix(output, ending);

	if (has_ending)
		length -= strlen(ending);
	return g_strdup_printf("%.*s.%u%s", (int)length, output, number, has_ending ? ending : "");
}

/* Ends its file, which is removed if it is empty. The error is in `error`. */
static void traced_process_finish(TracedProcess *self, const LodeTraceRecordingOptions *options)
{
	self->error = lode_trace_intake_steal_error(self->intake);
	lode_trace_run_finish(options, self->intake,
		self->error == NULL && lode_trace_intake_n_references(self->intake) > 0,
		&self->error);
}

/* ---- its allocation log ---- */

/* The header's number of used bytes of the file; the rest is a hole. */
enum { LOG_USED_OFFSET = 32 };

/* Each program that a process executes has one log, by number. */
static void open_log(TracedProcess *self, const char *directory, uint64_t number)
{
	g_autofree char *path =
		number == 0 ? g_strdup_printf("%s/allocations-%d.log", directory, (int)self->pid)
			    : g_strdup_printf("%s/allocations-%d.%" G_GUINT64_FORMAT ".log",
				      directory, (int)self->pid, number);
	struct stat status;
	int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	self->log_number = number;
	if (descriptor >= 0 && (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))) {
		close(descriptor);
		descriptor = -1;
	}
	if (descriptor < 0)
		return;
	self->log = descriptor;
	self->log_bytes = (uint64_t)status.st_size;
	self->description->allocations = lode_trace_description_intern(self->description, path);
}

/* Writes the time of an allocation into the log. Times are numbers of references: this one is the
 * next reference plus one, so that it is after the last one. */
static void take_tick(TracedProcess *self, const char *directory, const TraceEvent *event)
{
	uint64_t time = lode_trace_intake_n_references(self->intake) + 1;
	uint64_t place = event->start;

	if (directory == NULL)
		return;
	if (self->log < 0)
		open_log(self, directory, event->size);
	/* the values come from the program and may be wrong */
	if (self->log < 0 || event->size != self->log_number || place % sizeof(time) != 0 ||
		place >= self->log_bytes || self->log_bytes - place < sizeof(time))
		return;
	if (pwrite(self->log, &time, sizeof(time), (off_t)place) != (ssize_t)sizeof(time))
		self->log_bytes = 0;
}

/* The path of the allocation log of a trace; the caller frees it. */
static char *log_path(const char *trace)
{
	return g_strconcat(trace, LODE_TRACE_LOG_SUFFIX, NULL);
}

/* Cuts off the hole, and moves the log next to the trace's file, if there is one. */
static void finish_log(TracedProcess *self, const char *output)
{
	const char *path = self->path != NULL ? self->path : output;
	g_autofree char *own = output != NULL ? log_path(path) : NULL;
	uint64_t used;

	if (own != NULL)
		g_unlink(own);
	if (self->log < 0)
		return;
	if (pread(self->log, &used, sizeof(used), LOG_USED_OFFSET) == (ssize_t)sizeof(used) &&
		used < self->log_bytes && ftruncate(self->log, (off_t)used) != 0)
		g_debug("the allocation log cannot be truncated");
	if (own != NULL)
		g_rename(self->description->allocations, own);
	close(self->log);
	self->log = -1;
}

/* --- all processes --- */

enum {
	POLL_US = 50 * 1000,
	MAX_FINISHING = 8, /* files waiting to be finished: each holds memory */
	FIRST_NUMBER = 2,  /* of the first file besides the run's own */
};

struct TracedProcesses {
	LodeTraceRun *run;
	LodeTraceRing *ring;
	GPtrArray *all;   /* TracedProcess, by number; NULL: not known, or lost */
	GPtrArray *alive; /* likewise, without those that have ended */
	LodeTraceRingChunk *rest;
	gint64 polled_us;

	GThread *finisher;
	GAsyncQueue *finishing; /* TracedProcess; `self`: no more */
	gint n_finishing;       /* atomic */

	bool has_own; /* a process writes to the run's own file */
	unsigned n_files;
	uint64_t n_ended_references, n_ended_bytes; /* of processes with files of their own */
	uint64_t n_forks, n_executed, n_lost_mappings, n_cut_off, n_lost_chunks;
	char *executed; /* the first */
	unsigned n_functions;
	bool has_started, has_too_many_functions;
};

/* ---- files that end ---- */

static gpointer run_finisher(gpointer data)
{
	TracedProcesses *self = data;
	gpointer process;

	while ((process = g_async_queue_pop(self->finishing)) != self) {
		traced_process_finish(process, self->run->options);
		g_atomic_int_add(&self->n_finishing, -1);
	}
	return NULL;
}

/* Both are borrowed. */
static TracedProcesses *traced_processes_new(LodeTraceRun *run, LodeTraceRing *ring)
{
	TracedProcesses *self = g_new0(TracedProcesses, 1);

	self->run = run;
	self->ring = ring;
	self->all = g_ptr_array_new_with_free_func((GDestroyNotify)traced_process_free);
	self->alive = g_ptr_array_new();
	self->rest = g_new(LodeTraceRingChunk, 1);
	self->finishing = g_async_queue_new();
	self->finisher = lode_quiet_thread_new("lode-finish", run_finisher, self);
	return self;
}

static void join_finisher(TracedProcesses *self)
{
	if (self->finisher == NULL)
		return;
	g_async_queue_push(self->finishing, self);
	g_thread_join(self->finisher);
	self->finisher = NULL;
}

static void traced_processes_free(TracedProcesses *self)
{
	if (self == NULL)
		return;
	join_finisher(self);
	g_ptr_array_unref(self->alive);
	g_ptr_array_unref(self->all);
	g_async_queue_unref(self->finishing);
	g_free(self->rest);
	g_free(self->executed);
	g_free(self);
}

/* ---- functions ---- */

static void add_function(TracedProcesses *self, uint32_t process, uint64_t address)
{
	if (lode_trace_ring_add_function(self->ring, process, address))
		self->n_functions++;
	else
		self->has_too_many_functions = true;
}

typedef struct {
	TracedProcesses *all;
	uint32_t process;
} CodeOfProcess;

static void find_functions(const LodeTraceMapping *mapping, void *user_data)
{
	const CodeOfProcess *code = user_data;
	g_autoptr(GArray) offsets = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	if (!lode_named_symbol_functions(
		    mapping->path, code->all->run->options->function, offsets, NULL))
		return;
	for (guint i = 0; i < offsets->len; i++) {
		uint64_t offset = g_array_index(offsets, uint64_t, i);
		if (offset >= mapping->offset &&
			offset - mapping->offset < mapping->end - mapping->start)
			add_function(code->all, code->process,
				mapping->start + (offset - mapping->offset));
	}
}

/* ---- processes that begin and end ---- */

static TracedProcess *find(const TracedProcesses *self, uint32_t number)
{
	return number < self->all->len ? self->all->pdata[number] : NULL;
}

static bool take_words(
	const TracedProcesses *self, const TracedProcess *process, const LodeTraceRingChunk *chunk)
{
	return lode_trace_intake_add_words(process->intake, lode_trace_ring_pieces(self->ring),
		chunk->words, chunk->n, chunk->thread, chunk->tid);
}

/* Ends a process whose ended chunks have all been taken. */
static void end(TracedProcesses *self, TracedProcess *process)
{
	g_ptr_array_remove_fast(self->alive, process);
	process->has_ended = true;
	while (lode_trace_ring_take_rest(self->ring, process->number, self->rest))
		if (process->is_recorded && self->rest->event == TRACE_EVENT_NONE)
			take_words(self, process, self->rest);
	if (process->executed != NULL && self->n_executed++ == 0)
		self->executed = g_strdup(process->executed);
	if (!process->is_recorded)
		return;
	finish_log(process, self->run->options->output);
	self->n_lost_mappings += lode_trace_mappings_n_lost(process->mappings);
	if (process->path == NULL)
		return;
	self->n_ended_references += lode_trace_intake_n_references(process->intake);
	lode_trace_intake_end(process->intake);
	self->n_ended_bytes += lode_trace_intake_n_bytes(process->intake);
	while (g_atomic_int_get(&self->n_finishing) >= MAX_FINISHING)
		g_usleep(1000);
	g_atomic_int_add(&self->n_finishing, 1);
	g_async_queue_push(self->finishing, process);
}

/* The first process gets the file that the options name. */
static bool open_file(TracedProcesses *self, TracedProcess *process, const char *command)
{
	LodeTraceRun *run = self->run;

	if (!self->has_own) {
		self->has_own = true;
		process->description = run->description;
		process->intake = run->intake;
		lode_trace_run_describe_program(run->description, command);
		return true;
	}
	process->path = run->queue != NULL ? g_strdup_printf("process %d", (int)process->pid)
	                                   : traced_process_path(run->options->output,
						     FIRST_NUMBER + self->n_files);
	process->intake = lode_trace_run_open(run, process->path, command, &process->error);
	/* the error is kept for run->error; the process is not recorded */
	if (process->intake == NULL)
		return false;
	process->description = lode_trace_intake_description(process->intake);
	process->description->tool = lode_trace_description_intern(
		process->description, run->description->tool);
	self->n_files++;
	return true;
}

static void begin_recording(TracedProcesses *self, TracedProcess *process, const TraceEvent *event)
{
	const TracedProcess *parent = event->kind == TRACE_PROCESS_FORKED
	                                      ? find(self, (uint32_t)event->size)
	                                      : NULL;
	const char *command = parent != NULL && parent->is_recorded ? parent->description->command
	                                                            : event->path;
	g_autofree char *valid = g_utf8_make_valid(command != NULL ? command : "", -1);

	process->is_recorded = open_file(self, process, valid);
	if (!process->is_recorded) {
		lode_trace_ring_stop_process(self->ring, process->number);
		return;
	}
	CodeOfProcess *code = g_new(CodeOfProcess, 1);
	*code = (CodeOfProcess){self, process->number};
	process->mappings = lode_trace_mappings_new(process->description,
		self->run->options->function != NULL ? find_functions : NULL, code);
	process->code = code;
	if (parent != NULL && parent->is_recorded)
		lode_trace_mappings_inherit(process->mappings, parent->mappings);
}

static void begin(TracedProcesses *self, const LodeTraceRingChunk *chunk)
{
	const TraceEvent *event = &chunk->details;

	if (chunk->process >= TRACE_RING_MAX_PROCESSES || find(self, chunk->process) != NULL)
		return;
	/* A process with this pid has executed the new program: its previous program has ended. */
	for (guint i = self->alive->len; i > 0; i--) {
		TracedProcess *old = self->alive->pdata[i - 1];
		if ((uint64_t)old->pid == event->start)
			end(self, old);
	}
	if (chunk->process >= self->all->len)
		g_ptr_array_set_size(self->all, (gint)chunk->process + 1);
	TracedProcess *process = traced_process_new(chunk->process, (pid_t)event->start);
	self->all->pdata[chunk->process] = process;
	g_ptr_array_add(self->alive, process);
	if (event->kind == TRACE_PROCESS_PASSED)
		self->has_started = true;
	else
		begin_recording(self, process, event);
}

static void take_event(
	TracedProcesses *self, TracedProcess *process, const LodeTraceRingChunk *chunk)
{
	const TraceEvent *event = &chunk->details;

	switch (chunk->event) {
	case TRACE_EVENT_START:
		self->has_started = true;
		break;
	case TRACE_EVENT_NAME:
		lode_trace_intake_name_thread(process->intake, chunk->thread, event->path);
		break;
	case TRACE_EVENT_FORK:
		self->n_forks++;
		break;
	case TRACE_EVENT_EXEC:
		g_free(process->executed);
		process->executed = g_utf8_make_valid(event->path, -1);
		break;
	case TRACE_EVENT_TICK:
		take_tick(process, self->run->options->allocations, event);
		break;
	case TRACE_EVENT_NO_EXEC:
		g_clear_pointer(&process->executed, g_free);
		break;
	default:
		lode_trace_mappings_note(process->mappings, chunk->event, event,
			lode_trace_intake_n_references(process->intake));
		break;
	}
}

/* Takes the next chunk of the ring; all chunks must be given, in their order. */
static void traced_processes_take(TracedProcesses *self, LodeTraceRingChunk *chunk)
{
	if (chunk->event == TRACE_EVENT_PROCESS) {
		begin(self, chunk);
		return;
	}
	TracedProcess *process = find(self, chunk->process);
	if (process == NULL || !process->is_recorded || process->has_ended) {
		self->n_lost_chunks += chunk->n > 0 && (process == NULL || process->has_ended);
		return;
	}
	if (chunk->event != TRACE_EVENT_NONE)
		take_event(self, process, chunk);
	else if (!take_words(self, process, chunk))
		lode_trace_ring_stop_process(self->ring, process->number);
}

/* ---- meanwhile ---- */

static void report(TracedProcesses *self)
{
	uint64_t references = self->n_ended_references, bytes = self->n_ended_bytes;

	for (guint i = 0; i < self->alive->len; i++) {
		const TracedProcess *process = self->alive->pdata[i];
		if (!process->is_recorded || process->path == NULL)
			continue;
		references += lode_trace_intake_n_references(process->intake);
		bytes += lode_trace_intake_n_bytes(process->intake);
	}
	lode_trace_intake_report(self->run->intake, references, bytes);
}

/* Ends the processes that have ended, and reports progress; does so every 50 ms at most. */
static void traced_processes_poll(TracedProcesses *self)
{
	gint64 now_us = g_get_monotonic_time();

	if (now_us - self->polled_us < POLL_US)
		return;
	self->polled_us = now_us;
	for (guint i = self->alive->len; i > 0; i--) {
		TracedProcess *process = self->alive->pdata[i - 1];
		if (process->end_stamp != 0) {
			if (lode_trace_ring_n_read(self->ring) >= process->end_stamp)
				end(self, process);
		} else if (!traced_process_is_alive(process)) {
			/* requested after its end */
			process->end_stamp = lode_trace_ring_n_stamped(self->ring);
		}
	}
	report(self);
}

/* Removes a trace of an earlier recording. False: it does not exist, or is not a packed trace. */
static bool remove_stale(const char *path)
{
	if (lode_file_kind(path) != LODE_FILE_KIND_PACKED_TRACE || g_unlink(path) != 0)
		return false;
	g_autofree char *log = log_path(path);
	g_unlink(log);
	return true;
}

static void remove_all_stale(const TracedProcesses *self)
{
	bool is_there = true;

	for (guint i = 0; i < self->all->len; i++) {
		const TracedProcess *process = self->all->pdata[i];
		if (process != NULL && process->path != NULL && process->intake != NULL &&
			lode_trace_intake_n_references(process->intake) == 0)
			remove_stale(process->path);
	}
	for (unsigned i = FIRST_NUMBER + self->n_files; is_there; i++) {
		g_autofree char *path = traced_process_path(self->run->options->output, i);
		is_there = remove_stale(path);
	}
}

/* After the last chunk: ends all files, and adds the recorded processes to `run`. */
static void traced_processes_finish(TracedProcesses *self)
{
	while (self->alive->len > 0) {
		TracedProcess *process = self->alive->pdata[self->alive->len - 1];
		/* a process that has just ended was not cut off */
		self->n_cut_off += traced_process_is_alive(process);
		end(self, process);
	}
	join_finisher(self);
	if (self->run->queue == NULL)
		remove_all_stale(self);
	else
		lode_taker_queue_wait(self->run->queue);
	for (guint i = 0; i < self->all->len; i++) {
		TracedProcess *process = self->all->pdata[i];
		if (process == NULL || process->path == NULL)
			continue;
		if (process->error != NULL && self->run->error == NULL)
			self->run->error = g_steal_pointer(&process->error);
		if (process->intake == NULL || lode_trace_intake_n_references(process->intake) == 0)
			continue;
		const LodeTraceRecordedProcess recorded = {
			.path = g_strdup(process->path),
			.command = g_strdup(process->description->command),
			.pid = process->pid,
			.n_references = lode_trace_intake_n_references(process->intake),
			.n_instructions = lode_trace_intake_n_instructions(process->intake),
			.n_bytes = lode_trace_intake_n_bytes(process->intake),
			.n_threads = process->description->threads->len,
		};
		g_array_append_val(self->run->processes, recorded);
	}
}

/* After the end: whether the program started, whether any process was recorded, and the number of
 * functions found. */
static bool traced_processes_have_started(const TracedProcesses *self)
{
	return self->has_started;
}

static bool traced_processes_have_any(const TracedProcesses *self)
{
	return self->has_own;
}

static unsigned traced_processes_n_functions(const TracedProcesses *self)
{
	return self->n_functions;
}

static void note_count(const LodeNotes *notes, uint64_t n, const char *one, const char *many)
{
	if (n == 1)
		lode_notes_add(notes, "%s", one);
	else if (n > 1)
		lode_notes_add(notes, "%" G_GUINT64_FORMAT " %s", n, many);
}

/* Adds notes on the processes and programs that were not traced. */
static void traced_processes_note(const TracedProcesses *self)
{
	const LodeTraceRecordingOptions *options = self->run->options;
	const LodeNotes *notes = &options->notes;
	uint32_t n_threads = lode_trace_ring_n_untraced_threads(self->ring);

	if (self->n_executed == 1)
		lode_notes_add(notes,
			"the program was replaced by '%s' (exec), which is not traced",
			self->executed);
	else if (self->n_executed > 1)
		lode_notes_add(notes,
			"%" G_GUINT64_FORMAT " programs that were executed (exec) are not traced, "
			"the first of them '%s'",
			self->n_executed, self->executed);
	note_count(notes, self->n_forks, "1 process that the program made is not traced",
		"processes that the program made are not traced");
	note_count(notes, self->n_cut_off,
		"1 process still ran when the program ended: the rest of it is not traced",
		"processes still ran when the program ended: the rest of them is not traced");
	note_count(notes, lode_trace_ring_n_untraced_processes(self->ring),
		"1 process is not traced: there were too many",
		"processes are not traced: there were too many");
	note_count(notes, self->n_lost_chunks, "a chunk of references of a process is lost",
		"chunks of references of processes are lost");
	note_count(notes, n_threads, "1 thread is not traced: too many at a time",
		"threads are not traced: too many at a time");
	note_count(notes, self->n_lost_mappings, "1 of the program's mappings dropped: table full",
		"of the program's mappings dropped: table full");
	if (lode_code_pieces_have_nonsense(lode_trace_ring_pieces(self->ring)))
		lode_notes_add(notes, "references are missing: the program wrote into the memory "
				      "by which lode traces it");
	if (self->has_too_many_functions)
		lode_notes_add(notes, "not all functions '%s' are traced: there are too many",
			options->function);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TracedProcesses, traced_processes_free)

/* --- qemu trace --- */

typedef struct {
	LodeTraceRun *run;
	LodeTraceRing *ring;
	TracedProcesses *processes;
	LodeTraceRingChunk chunk;
} Session;

static gpointer empty_ring(gpointer data)
{
	Session *self = data;

	for (;;) {
		/* checked first: records queued before the end are then found afterwards */
		bool has_ended = lode_trace_ring_has_ended(self->ring);
		if (lode_trace_ring_next(self->ring, &self->chunk))
			traced_processes_take(self->processes, &self->chunk);
		else if (has_ended)
			break;
		traced_processes_poll(self->processes);
	}
	traced_processes_finish(self->processes);
	return NULL;
}

#define LOG_LIBRARY_FOLDER "preload/allocations"
#define LOG_LIBRARY LODE_OWN_LIBRARY("allocations")

/* For the program, with the recorder of allocations; NULL with an error. */
static char **environment_of(const LodeTraceRecordingOptions *options, GError **error)
{
	g_autofree char *library = options->allocations != NULL
	                                   ? lode_preloaded_library_find(
						     LOG_LIBRARY_FOLDER, LOG_LIBRARY, error)
	                                   : NULL;
	g_autofree char *obstacle = library != NULL
	                                    ? lode_preloaded_library_obstacle(options->argv[0])
	                                    : NULL;

	if (options->allocations == NULL)
		return g_get_environ();
	if (library == NULL) {
		g_prefix_error(error, "allocations cannot be recorded: ");
		return NULL;
	}
	if (obstacle != NULL)
		lode_notes_add(&options->notes, "allocations are not recorded: %s", obstacle);
	char **environment = lode_preloaded_library_environment(NULL, library);
	environment = g_environ_setenv(environment, "LODE_ALLOCATIONS", options->allocations, TRUE);
	return g_environ_setenv(environment, "LODE_ALLOCATION_TICKS", "1", TRUE);
}

/* The most able processor that it emulates: programs for newer ones run too. */
static GPtrArray *command_line(
	const Session *self, const char *emulator, GPtrArray **out_environment, GError **error)
{
	const LodeTraceRecordingOptions *options = self->run->options;
	g_auto(GStrv) environment = environment_of(options, error);
	const LodeQemuProgram program = {
		.emulator = emulator,
		.program = self->run->program,
		.argv = options->argv,
		.cpu = "max",
		.plugin_option = "ring=",
		.plugin_value = lode_trace_ring_path(self->ring),
		.is_alone = options->is_alone,
		.only = options->only,
		.environment = (const char *const *)environment,
	};

	return environment != NULL ? lode_qemu_program_line(&program, out_environment, error)
	                           : NULL;
}

static bool run_program(
	Session *self, const GPtrArray *line, const GPtrArray *environment, GError **error)
{
	const LodeChildOptions child = {
		.argv = (const char *const *)line->pdata,
		.environment = (const char *const *)environment->pdata,
		.notes = self->run->options->notes,
	};
	GThread *reader = lode_quiet_thread_new("ring", empty_ring, self);
	bool is_started = lode_child_run(&child, &self->run->end, error);

	/* Processes that still run continue untraced. */
	lode_trace_ring_stop(self->ring);
	lode_trace_ring_end(self->ring);
	g_thread_join(reader);
	return is_started;
}

static bool check_functions(const Session *self, GError **error)
{
	const char *function = self->run->options->function;

	if (function == NULL || traced_processes_n_functions(self->processes) > 0)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"neither the program nor what it loaded has a function '%s'", function);
	return false;
}

static LodeTraceRunOutcome trace(Session *self, const char *emulator, GError **error)
{
	g_autoptr(GPtrArray) environment = NULL;
	g_autoptr(GPtrArray) line = command_line(self, emulator, &environment, error);

	if (line == NULL || !run_program(self, line, environment, error))
		return LODE_TRACE_RUN_UNFIT;
	if (!traced_processes_have_started(self->processes) && self->run->end.stop_signal == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"%s did not start the program", emulator);
		return LODE_TRACE_RUN_UNFIT;
	}
	traced_processes_note(self->processes);
	if (self->run->options->only != NULL && !traced_processes_have_any(self->processes)) {
		lode_qemu_program_fail_only(self->run->options->only, error);
		return LODE_TRACE_RUN_FAILED;
	}
	return check_functions(self, error) ? LODE_TRACE_RUN_DONE : LODE_TRACE_RUN_FAILED;
}

static LodeTraceRunOutcome run(LodeTraceRun *run, GError **error)
{
	g_autofree char *emulator = lode_qemu_program_emulator(error);
	g_autoptr(LodeTraceRing) ring = emulator != NULL ? lode_trace_ring_new(error) : NULL;

	if (ring == NULL)
		return LODE_TRACE_RUN_UNFIT;
	Session *session = g_new0(Session, 1);
	session->run = run;
	session->ring = ring;
	session->processes = traced_processes_new(run, ring);
	if (run->options->filter != NULL)
		lode_trace_ring_filter(ring, run->options->filter);
	if (run->options->function != NULL)
		lode_trace_ring_ask_for_functions(ring);
	g_autofree char *version = lode_trace_run_version(emulator);
	g_autofree char *tool = g_strdup_printf(
		LODE_QEMU_EMULATOR " %s", version != NULL ? version : "(unknown version)");
	run->description->tool = lode_trace_description_intern(run->description, tool);
	LodeTraceRunOutcome outcome = trace(session, emulator, error);
	traced_processes_free(session->processes);
	g_free(session);
	return outcome;
}

const LodeTraceRunWay lode_qemu_trace = {.name = "qemu", .run = run};
