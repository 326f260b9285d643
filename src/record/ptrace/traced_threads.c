/* SPDX-License-Identifier: MIT */
#include "record/ptrace/traced_threads.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Files of so many threads are kept open: a look then takes half of the time. */
enum { MAX_KEPT = 128 };

/* From when it is taken off to when who looks has read the clock. */
enum { SWITCH_NS = 60 * 1000 };

static void process_free(void *data)
{
	LodeTracedProcess *self = data;

	g_array_unref(self->code);
	g_free(self);
}

void lode_traced_threads_init(LodeTracedThreads *self)
{
	*self = (LodeTracedThreads){
		.threads = g_hash_table_new(NULL, NULL),
		.order = g_ptr_array_new(),
		.processes = g_hash_table_new_full(NULL, NULL, NULL, process_free),
	};
}

static void close_file(LodeTracedThreads *self, int *file)
{
	if (*file < 0)
		return;
	close(*file);
	*file = -1;
	self->n_kept--;
}

static void thread_free(LodeTracedThreads *self, LodeTracedThread *thread)
{
	close_file(self, &thread->status);
	close_file(self, &thread->delays);
	g_free(thread->parted);
	g_free(thread);
}

void lode_traced_threads_clear(LodeTracedThreads *self)
{
	for (guint i = 0; self->order != NULL && i < self->order->len; i++)
		thread_free(self, self->order->pdata[i]);
	g_clear_pointer(&self->order, g_ptr_array_unref);
	g_clear_pointer(&self->threads, g_hash_table_unref);
	g_clear_pointer(&self->processes, g_hash_table_unref);
}

LodeTracedThread *lode_traced_threads_find(const LodeTracedThreads *self, pid_t tid)
{
	return g_hash_table_lookup(self->threads, GINT_TO_POINTER(tid));
}

LodeTracedProcess *lode_traced_threads_find_process(const LodeTracedThreads *self, pid_t pid)
{
	return g_hash_table_lookup(self->processes, GINT_TO_POINTER(pid));
}

static LodeTracedProcess *add_process(
	LodeTracedThreads *self, pid_t pid, const LodeTracedProcess *parent)
{
	LodeTracedProcess *process = g_new0(LodeTracedProcess, 1);

	process->pid = pid;
	process->code = g_array_new(FALSE, FALSE, sizeof(LodeTracedRange));
	if (parent != NULL) {
		g_array_append_vals(process->code, parent->code->data, parent->code->len);
		process->mapped_ns = parent->mapped_ns;
		process->is_leaving = parent->is_leaving;
	}
	g_hash_table_insert(self->processes, GINT_TO_POINTER(pid), process);
	return process;
}

LodeTracedThread *lode_traced_threads_add(
	LodeTracedThreads *self, pid_t pid, pid_t tid, const LodeTracedProcess *parent)
{
	LodeTracedThread *thread = g_new0(LodeTracedThread, 1);

	thread->tid = tid;
	thread->process = lode_traced_threads_find_process(self, pid);
	if (thread->process == NULL)
		thread->process = add_process(self, pid, parent);
	thread->process->n_threads++;
	thread->status = thread->delays = -1;
	g_hash_table_insert(self->threads, GINT_TO_POINTER(tid), thread);
	g_ptr_array_add(self->order, thread);
	return thread;
}

void lode_traced_threads_remove(LodeTracedThreads *self, LodeTracedThread *thread)
{
	LodeTracedProcess *process = thread->process;

	g_hash_table_remove(self->threads, GINT_TO_POINTER(thread->tid));
	g_ptr_array_remove_fast(self->order, thread);
	if (--process->n_threads == 0)
		g_hash_table_remove(self->processes, GINT_TO_POINTER(process->pid));
	thread_free(self, thread);
}

LodeTracedThread *lode_traced_threads_execute(LodeTracedThreads *self, pid_t pid)
{
	LodeTracedThread *first = lode_traced_threads_find(self, pid);

	if (first == NULL)
		first = lode_traced_threads_add(self, pid, pid, NULL);
	for (guint i = self->order->len; i > 0; i--) {
		LodeTracedThread *thread = self->order->pdata[i - 1];
		if (thread->process == first->process && thread != first)
			lode_traced_threads_remove(self, thread);
	}
	first->is_asked = first->is_spoiled = first->is_frozen = first->is_late_for_user = false;
	first->counted_ns = 0;
	first->n_waited = first->n_samples = first->n_restarts = first->n_skips = 0;
	g_clear_pointer(&first->parted, g_free);
	first->name[0] = '\0';
	g_array_set_size(first->process->code, 0);
	first->process->checked_ns = 0;
	return first;
}

/* Reads a file of the thread's into `text`, which may be too short for it. */
static bool read_file(LodeTracedThreads *self, const LodeTracedThread *thread, const char *name,
	int *kept, char *text, size_t size)
{
	int file = *kept;

	if (file < 0) {
		char path[64];
		snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)thread->process->pid,
			(int)thread->tid, name);
		file = open(path, O_RDONLY | O_CLOEXEC);
		if (file < 0)
			return false;
	}
	ssize_t n = pread(file, text, size - 1, 0);
	text[MAX(n, 0)] = '\0';
	if (*kept < 0 && self->n_kept < MAX_KEPT) {
		*kept = file;
		self->n_kept++;
	} else if (*kept < 0) {
		close(file);
	}
	return n > 0;
}

LodeRunDelay lode_traced_thread_delay(LodeTracedThreads *self, LodeTracedThread *thread)
{
	char text[96];
	unsigned long long ran, waited, arrivals;

	if (!read_file(self, thread, "schedstat", &thread->delays, text, sizeof(text)) ||
		sscanf(text, "%llu %llu %llu", &ran, &waited, &arrivals) != 3 || arrivals == 0)
		return (LodeRunDelay){0};
	return (LodeRunDelay){ran, waited, arrivals, true};
}

bool lode_traced_thread_is_running(
	LodeTracedThreads *self, LodeTracedThread *thread, LodeRunDelay *out_delay)
{
	/* "4711 (name) R …": the name may have any character, and 15 of them. */
	char text[512];

	LodeRunDelay delay = lode_traced_thread_delay(self, thread);
	if (!read_file(self, thread, "stat", &thread->status, text, sizeof(text)))
		return false;
	const char *end = strrchr(text, ')');
	if (end == NULL || end[1] != ' ' || end[2] != 'R')
		return false;
	thread->stat = lode_thread_stat(text);
	*out_delay = delay;
	return true;
}

LodeRan lode_run_delay_compare(const LodeRunDelay *at_look, const LodeRunDelay *at_stop,
	uint64_t look_ns, uint64_t stop_ns)
{
	if (!at_look->is_known || !at_stop->is_known || at_stop->n_arrivals == at_look->n_arrivals)
		return LODE_RAN_ON;
	uint64_t waited_ns = at_stop->waited_ns - at_look->waited_ns;
	return at_stop->n_arrivals == at_look->n_arrivals + 1 &&
	                       stop_ns - waited_ns + SWITCH_NS >= look_ns
	               ? LODE_RAN_UNTIL
	               : LODE_RAN_BEFORE;
}
