/* SPDX-License-Identifier: MIT */
#include "machine/cpu_meter.h"

#include "machine/process_tree.h"

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

void lode_cpu_meter_begin(LodeCpuMeter *self, const char *proc, pid_t pid, bool is_new)
{
	lode_cpu_meter_clear(self);
	*self = (LodeCpuMeter){.proc = proc, .pid = pid};
	self->older = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	if (!is_new && !read_time(proc, pid, &self->start))
		self->pid = 0;
	self->last = self->start;
}

void lode_cpu_meter_follow(LodeCpuMeter *self, pid_t pid)
{
	LodeCpuTime start;

	if (self->pid != 0 && pid != self->pid && read_time(self->proc, pid, &start))
		g_hash_table_replace(
			self->older, GINT_TO_POINTER(pid), g_memdup2(&start, sizeof(start)));
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

/* The kernel computes the split into user and system time at each read, so that one of them may
 * seem to decrease. */
static uint64_t passed(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

/* The processes that ran before, and those that the metered one has started since. */
static void add_running(LodeCpuMeter *self)
{
	const LodeProcessTree tree = {.pid = self->pid};
	g_autoptr(GArray) running = lode_process_tree_list(&tree, self->proc);
	GHashTableIter at;
	void *pid, *start;

	for (guint i = 1; i < running->len; i++) {
		pid_t child = g_array_index(running, pid_t, i);
		if (!g_hash_table_contains(self->older, GINT_TO_POINTER(child)))
			lode_cpu_meter_add(self, child);
	}
	g_hash_table_iter_init(&at, self->older);
	while (g_hash_table_iter_next(&at, &pid, &start)) {
		const LodeCpuTime *before = start;
		LodeCpuTime now;
		if (!read_time(self->proc, GPOINTER_TO_INT(pid), &now))
			continue;
		self->others.user_ns += passed(before->user_ns, now.user_ns);
		self->others.system_ns += passed(before->system_ns, now.system_ns);
	}
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
		add_running(self);
	}
	out_time->user_ns = passed(self->start.user_ns, self->last.user_ns);
	out_time->system_ns = passed(self->start.system_ns, self->last.system_ns);
	add_to(out_time, &self->others);
	self->pid = 0;
	return out_time->user_ns + out_time->system_ns > 0;
}
