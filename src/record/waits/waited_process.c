/* SPDX-License-Identifier: MIT */
#include "record/waits/waited_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Processes that are asked for one wait, and descriptors of each. */
enum { MOST_PROCESSES = 32, MOST_DESCRIPTORS = 24, MOST_COPIES = 8 };
enum { PATH_BYTES = 64, TEXT_BYTES = 512 };

static bool read_file(const char *path, char text[TEXT_BYTES])
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = descriptor >= 0 ? read(descriptor, text, TEXT_BYTES - 1) : -1;

	text[MAX(n, 0)] = '\0';
	if (descriptor >= 0)
		close(descriptor);
	return n > 0;
}

void lode_list_children(pid_t pid, pid_t tid, GArray *out)
{
	char path[PATH_BYTES], text[TEXT_BYTES], *at = text, *end;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)tid);
	if (!read_file(path, text))
		return;
	while (out->len < MOST_PROCESSES) {
		pid_t child = (pid_t)strtol(at, &end, 10);
		/* the last one may be cut */
		if (end == at || *end == '\0')
			break;
		g_array_append_val(out, child);
		at = end;
	}
}

/* Name, state and parent of "7 (a name) S 1 …". */
typedef struct {
	char name[TEXT_BYTES];
	char state;
	pid_t parent;
} Status;

static bool read_status(pid_t pid, Status *out)
{
	char path[PATH_BYTES], text[TEXT_BYTES];
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!read_file(path, text))
		return false;
	const char *begin = strchr(text, '('), *end = strrchr(text, ')');
	if (begin == NULL || end == NULL || end < begin ||
		sscanf(end + 1, " %c %d", &out->state, &parent) != 2)
		return false;
	g_strlcpy(out->name, begin + 1, MIN((gsize)(end - begin), sizeof(out->name)));
	out->parent = (pid_t)parent;
	return true;
}

/* The first that has not ended. */
static pid_t first_alive(const GArray *processes, Status *out)
{
	for (guint i = 0; i < processes->len; i++) {
		pid_t pid = g_array_index(processes, pid_t, i);
		if (read_status(pid, out) && out->state != 'Z' && out->state != 'X')
			return pid;
	}
	return 0;
}

pid_t lode_waited_child(pid_t pid, pid_t tid, pid_t wanted)
{
	g_autoptr(GArray) children = g_array_new(FALSE, FALSE, sizeof(pid_t));
	Status own, child, next;
	pid_t found = wanted;

	if (!read_status(pid, &own))
		return 0;
	if (wanted <= 0) {
		lode_list_children(pid, tid, children);
		found = first_alive(children, &child);
	} else if (!read_status(wanted, &child)) {
		return wanted;
	}
	for (unsigned i = 0; found > 0 && i < MOST_COPIES && strcmp(child.name, own.name) == 0;
		i++) {
		g_array_set_size(children, 0);
		lode_list_children(found, found, children);
		pid_t inner = first_alive(children, &next);
		if (inner == 0)
			break;
		found = inner;
		child = next;
	}
	return found;
}

/* --- pipes --- */

static bool is_end(const char *path, const char *name, bool can_write)
{
	char text[PATH_BYTES];
	struct stat status;
	ssize_t n = readlink(path, text, sizeof(text) - 1);

	text[MAX(n, 0)] = '\0';
	return strcmp(text, name) == 0 && lstat(path, &status) == 0 &&
	       (status.st_mode & (can_write ? S_IWUSR : S_IRUSR)) != 0;
}

static bool has_end(pid_t pid, const char *name, bool can_write)
{
	char path[PATH_BYTES + NAME_MAX];
	const struct dirent *entry;
	bool has = false;

	/* mostly it is its input or output */
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, can_write ? 2 - i : i);
		if (is_end(path, name, can_write))
			return true;
	}
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *listing = opendir(path);
	for (unsigned i = 0; listing != NULL && !has && i < MOST_DESCRIPTORS; i++) {
		entry = readdir(listing);
		if (entry == NULL)
			break;
		if (!g_ascii_isdigit(entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)pid, entry->d_name);
		has = is_end(path, name, can_write);
	}
	if (listing != NULL)
		closedir(listing);
	return has;
}

/* The last of those that the first ones of the array started, or are; `but`: not that one. */
static pid_t find_end(GArray *processes, pid_t but, const char *name, bool can_write)
{
	pid_t found = 0;

	for (guint i = 0; i < processes->len; i++) {
		pid_t pid = g_array_index(processes, pid_t, i);
		if (pid == but)
			continue;
		if (has_end(pid, name, can_write))
			found = pid;
		lode_list_children(pid, pid, processes);
	}
	return found;
}

pid_t lode_waited_pipe_end(pid_t pid, pid_t tid, const char *name, bool reads)
{
	g_autoptr(GArray) processes = g_array_new(FALSE, FALSE, sizeof(pid_t));
	Status own;

	lode_list_children(pid, tid, processes);
	if (tid != pid)
		lode_list_children(pid, pid, processes);
	bool has_children = processes->len > 0;
	pid_t found = find_end(processes, pid, name, reads);
	if (found == 0 && has_children && has_end(pid, name, reads))
		return lode_waited_child(pid, tid, 0);
	if (found != 0 || !read_status(pid, &own) || own.parent <= 1)
		return found;
	g_array_set_size(processes, 0);
	lode_list_children(own.parent, own.parent, processes);
	found = find_end(processes, pid, name, reads);
	return found == 0 && has_end(own.parent, name, reads) ? own.parent : found;
}
