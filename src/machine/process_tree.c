/* SPDX-License-Identifier: MIT */
#include "machine/process_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* The name and the parent of a process; NULL: it does not run. The caller frees it. */
static char *read_name(const char *proc, pid_t pid, pid_t *out_parent)
{
	g_autofree char *path = g_strdup_printf("%s/%d/stat", proc, (int)pid);
	g_autofree char *text = NULL;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return NULL;
	/* The name, in parentheses, may contain any character. */
	const char *begin = strchr(text, '('), *end = strrchr(text, ')');
	if (begin == NULL || end == NULL || end < begin ||
		sscanf(end + 1, " %*c %d", out_parent) != 1)
		return NULL;
	return g_strndup(begin + 1, (gsize)(end - begin - 1));
}

static void add_siblings(const char *proc, pid_t pid, GArray *processes)
{
	pid_t parent, other;
	g_autofree char *name = read_name(proc, pid, &parent);
	g_autofree char *name_of_parent = name != NULL ? read_name(proc, parent, &other) : NULL;
	g_autoptr(GArray) children = g_array_new(FALSE, FALSE, sizeof(pid_t));

	if (name == NULL)
		return;
	if (g_strcmp0(name, name_of_parent) == 0)
		g_array_append_val(processes, parent);
	add_children(proc, parent, children);
	for (guint i = 0; i < children->len; i++) {
		pid_t child = g_array_index(children, pid_t, i);
		g_autofree char *its = read_name(proc, child, &other);
		if (child != pid && g_strcmp0(its, name) == 0)
			g_array_append_val(processes, child);
	}
}

/* Others' processes, as those of sudo, cannot be sampled: the kernel would refuse them all. */
static bool is_ours(const char *proc, pid_t pid)
{
	g_autofree char *path = g_strdup_printf("%s/%d", proc, (int)pid);
	struct stat status;

	return geteuid() == 0 || (stat(path, &status) == 0 && status.st_uid == geteuid());
}

GArray *lode_process_tree_list(const LodeProcessTree *self, const char *proc)
{
	GArray *processes = g_array_new(FALSE, FALSE, sizeof(pid_t));
	g_autoptr(GHashTable) found = g_hash_table_new(NULL, NULL);
	guint n = 0;

	g_array_append_val(processes, self->pid);
	if (self->has_siblings)
		add_siblings(proc, self->pid, processes);
	/* Where the tree is of the shell that started us, we and what we start are in it. */
	if (self->pid != getpid())
		g_hash_table_add(found, GINT_TO_POINTER(getpid()));
	/* The list grows while it is walked; what is there already is dropped. */
	for (guint i = 0; i < processes->len; i++) {
		pid_t next = g_array_index(processes, pid_t, i);
		if (!g_hash_table_add(found, GINT_TO_POINTER(next)) ||
			(i > 0 && !is_ours(proc, next)))
			continue;
		add_children(proc, next, processes);
		g_array_index(processes, pid_t, n++) = next;
	}
	g_array_set_size(processes, n);
	return processes;
}
