/* SPDX-License-Identifier: MIT */
#include "record/programs/running_process.h"

#include "base/error.h"

#include <signal.h>
#include <string.h>

/* The kernel's name of a file that was removed since, as by an update of its package. */
#define REMOVED " (deleted)"

static char *name_of_program(pid_t pid)
{
	g_autofree char *link = g_strdup_printf("/proc/%d/exe", (int)pid);
	g_autofree char *path = g_file_read_link(link, NULL);

	if (path == NULL)
		return NULL;
	if (g_str_has_suffix(path, REMOVED))
		path[strlen(path) - strlen(REMOVED)] = '\0';
	return g_path_get_basename(path);
}

static char *own_name(pid_t pid, GError **error)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/comm", (int)pid);
	char *name = NULL;

	if (!g_file_get_contents(path, &name, NULL, NULL)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND, "process %d does not exist",
			(int)pid);
		return NULL;
	}
	return g_strchomp(name);
}

/* A process may overwrite it: one text in place of arguments, and NULs after it. */
static char **read_command(pid_t pid, const char *name)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/cmdline", (int)pid);
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	g_autofree char *text = NULL;
	gsize size = 0;

	g_file_get_contents(path, &text, &size, NULL);
	while (size > 0 && text[size - 1] == '\0')
		size--;
	for (const char *at = text; text != NULL && at < text + size; at += strlen(at) + 1)
		g_ptr_array_add(words, (char *)at);
	if (words->len == 0)
		g_ptr_array_add(words, (char *)name);
	g_ptr_array_add(words, NULL);
	return g_strdupv((char **)words->pdata);
}

bool lode_running_process_read(pid_t pid, LodeRunningProcess *out_process, GError **error)
{
	g_autofree char *own = own_name(pid, error);
	char *program = own != NULL ? name_of_program(pid) : NULL;

	if (own == NULL)
		return false;
	if (program == NULL || *program == '\0') {
		g_free(program);
		program = *own != '\0' ? g_strdelimit(g_steal_pointer(&own), "/", '_')
		                       : g_strdup_printf("%d", (int)pid);
	}
	*out_process = (LodeRunningProcess){program, read_command(pid, program)};
	return true;
}

void lode_running_process_clear(LodeRunningProcess *self)
{
	g_clear_pointer(&self->name, g_free);
	g_clear_pointer(&self->command, g_strfreev);
}

char *lode_thread_status_read(pid_t pid, pid_t tid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/task/%d/status", (int)pid, (int)tid);
	char *status = NULL;

	return g_file_get_contents(path, &status, NULL, NULL) ? status : NULL;
}

static const char *find_line(const char *status, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = status; at != NULL; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, name, length) == 0 && at[length] == ':')
			return at + length + 1;
	}
	return NULL;
}

uint64_t lode_thread_status_number(const char *status, const char *name, unsigned base)
{
	const char *at = find_line(status, name);

	return at != NULL ? g_ascii_strtoull(at, NULL, base) : 0;
}

static bool has_trap(const char *status, const char *name)
{
	return (lode_thread_status_number(status, name, 16) >> (SIGTRAP - 1) & 1) != 0;
}

LodeTrapUse lode_thread_status_trap(const char *status)
{
	return (LodeTrapUse){
		.is_known = find_line(status, "SigBlk") != NULL,
		.is_blocked = has_trap(status, "SigBlk"),
		.is_ignored = has_trap(status, "SigIgn"),
		.is_caught = has_trap(status, "SigCgt"),
		.is_pending = has_trap(status, "SigPnd") || has_trap(status, "ShdPnd"),
	};
}
