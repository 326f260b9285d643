/* SPDX-License-Identifier: MIT */
#include "machine/cpu_meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads the time of a process and of the children that it has waited for; the state as in proc(5).
 */
static bool read_status(const char *proc, pid_t pid, LodeCpuTime *out_time, char *out_state)
{
	g_autofree char *path = g_strdup_printf("%s/%d/stat", proc, (int)pid);
	g_autofree char *text = NULL;
	unsigned long long user, system;
	long long child_user, child_system;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return false;
	/* The name, in parentheses, may contain any character. */
	const char *rest = strrchr(text, ')');
	if (rest == NULL || sscanf(rest + 1,
				    " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld "
				    "%lld",
				    out_state, &user, &system, &child_user, &child_system) != 5)
		return false;
	uint64_t tick_ns = 1000000000U / (uint64_t)MAX(sysconf(_SC_CLK_TCK), 1);
	out_time->user_ns = (user + (uint64_t)MAX(child_user, 0)) * tick_ns;
	out_time->system_ns = (system + (uint64_t)MAX(child_system, 0)) * tick_ns;
	return true;
}

static bool read_time(const char *proc, pid_t pid, LodeCpuTime *out_time)
{
	char state;

	return read_status(proc, pid, out_time, &state);
}

static void add_children_of_thread(const char *directory, const char *thread, GArray *processes)
{
	g_autofree char *path = g_build_filename(directory, thread, "children", NULL);
	g_autofree char *text = NULL;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return;
	for (char *at = text, *end;; at = end) {
		pid_t child = (pid_t)strtol(at, &end, 10);
		if (end == at)
			break;
		g_array_append_val(processes, child);
	}
}

static void add_children(const char *proc, pid_t pid, GArray *processes)
{
	g_autofree char *path = g_strdup_printf("%s/%d/task", proc, (int)pid);
	g_autoptr(GDir) listing = g_dir_open(path, 0, NULL);
	const char *name;

	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL)
		add_children_of_thread(path, name, processes);
}

/* All running descendants of a process, without the process. */
static GHashTable *descendants(const char *proc, pid_t pid)
{
	g_autoptr(GArray) processes = g_array_new(FALSE, FALSE, sizeof(pid_t));
	GHashTable *found = g_hash_table_new(NULL, NULL);

	add_children(proc, pid, processes);
	for (guint i = 0; i < processes->len; i++) {
		pid_t next = g_array_index(processes, pid_t, i);
		if (g_hash_table_add(found, GINT_TO_POINTER(next)))
			add_children(proc, next, processes);
	}
	return found;
}

void lode_cpu_meter_begin(LodeCpuMeter *self, const char *proc, pid_t pid, bool is_new)
{
	lode_cpu_meter_clear(self);
	*self = (LodeCpuMeter){.proc = proc, .pid = pid};
	self->older = is_new ? g_hash_table_new(NULL, NULL) : descendants(proc, pid);
	if (!is_new && !read_time(proc, pid, &self->start))
		self->pid = 0;
	self->last = self->start;
}

void lode_cpu_meter_clear(LodeCpuMeter *self)
{
	g_clear_pointer(&self->older, g_hash_table_unref);
	self->pid = 0;
}

void lode_cpu_meter_update(LodeCpuMeter *self)
{
	LodeCpuTime now;

	if (self->pid != 0 && read_time(self->proc, self->pid, &now))
		self->last = now;
}

static uint64_t nanoseconds(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;
}

static void add_to(LodeCpuTime *sum, const LodeCpuTime *time)
{
	sum->user_ns += time->user_ns;
	sum->system_ns += time->system_ns;
}

bool lode_cpu_meter_add(LodeCpuMeter *self, pid_t pid)
{
	LodeCpuTime time;
	char state;

	if (self->pid == 0 || !read_status(self->proc, pid, &time, &state))
		return false;
	add_to(&self->others, &time);
	return state != 'Z' && state != 'X';
}

static void add_running_children(LodeCpuMeter *self)
{
	g_autoptr(GHashTable) running = descendants(self->proc, self->pid);
	GHashTableIter at;
	void *child;

	g_hash_table_iter_init(&at, running);
	while (g_hash_table_iter_next(&at, &child, NULL)) {
		LodeCpuTime own;
		if (g_hash_table_contains(self->older, child) ||
			!read_time(self->proc, GPOINTER_TO_INT(child), &own))
			continue;
		add_to(&self->last, &own);
	}
}

/* The kernel computes the split into user and system time at each read, so that one of them may
 * seem to decrease. */
static uint64_t passed(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

bool lode_cpu_meter_end(LodeCpuMeter *self, const struct rusage *ended, LodeCpuTime *out_time)
{
	if (self->pid == 0)
		return false;
	if (ended != NULL) {
		self->last.user_ns = nanoseconds(&ended->ru_utime);
		self->last.system_ns = nanoseconds(&ended->ru_stime);
	} else {
		lode_cpu_meter_update(self);
		add_running_children(self);
	}
	out_time->user_ns = passed(self->start.user_ns, self->last.user_ns);
	out_time->system_ns = passed(self->start.system_ns, self->last.system_ns);
	add_to(out_time, &self->others);
	self->pid = 0;
	return out_time->user_ns + out_time->system_ns > 0;
}
