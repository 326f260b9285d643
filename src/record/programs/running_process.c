/* SPDX-License-Identifier: MIT */
#include "record/programs/running_process.h"

#include "base/error.h"

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
