/* SPDX-License-Identifier: MIT */
#include "record/jit_runtime.h"

#include "base/own_library.h"
#include "record/preloaded_library.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AGENT LODE_OWN_LIBRARY("jvm-agent")
#define V8_LOG "v8.log"

/* A kind of program; a new one is a new row. */
typedef struct {
	const char *name;
	const char *programs[3]; /* what the file is called; NULL after them */
	/* Appends what comes between the program and its arguments. */
	void (*add_arguments)(LodeJitRuntime *self, const char *const *argv);
} Runtime;

static void add(LodeJitRuntime *self, const char *argument)
{
	g_ptr_array_add(self->argv, g_strdup(argument));
}

static bool has_option_in(const char *variable, const char *option)
{
	const char *text = g_getenv(variable);

	return text != NULL && strstr(text, option) != NULL;
}

/*
 * V8 writes the dump into the current directory, whatever is said; beside it a log, which can be
 * sent elsewhere. Where the directory cannot be written to it goes on without.
 */
static void add_node_arguments(LodeJitRuntime *self, const char *const *argv)
{
	static const char option[] = "--perf-prof";
	bool is_users = g_strv_contains(argv, option) || has_option_in("NODE_OPTIONS", option);

	if (!is_users) {
		g_autoptr(GString) log = g_string_new(self->directory);

		/* in its name, % starts a placeholder */
		g_string_replace(log, "%", "%%", 0);
		g_string_prepend(log, "--logfile=");
		g_string_append(log, "/" V8_LOG);
		add(self, option);
		add(self, log->str);
		self->is_dump_moved = true;
	}
	if (access(self->start_directory, W_OK) != 0)
		self->warning = g_strdup("Node.js writes down what it compiles in the current "
					 "directory, which cannot be written to; its functions "
					 "stay unknown");
}

/* The environment may name another one. */
static char *find_agent(void)
{
	const char *given = g_getenv("LODE_JVM_AGENT");

	if (given == NULL)
		return lode_preloaded_library_locate("jvm_agent", AGENT, NULL);
	return access(given, R_OK) == 0 ? g_canonicalize_filename(given, NULL) : NULL;
}

/* Arguments, since of options in the environment the virtual machine tells on standard error. */
static void add_java_arguments(LodeJitRuntime *self, const char *const *argv)
{
	g_autofree char *agent = find_agent();

	(void)argv;
	if (agent != NULL) {
		g_autofree char *argument = g_strdup_printf(
			"-agentpath:%s=%s", agent, self->directory);
		add(self, argument);
	} else {
		self->warning = g_strdup(
			"the agent that writes down what Java compiles, " AGENT
			", is not installed; lode must be built with a JDK (-Djava-agent=enabled)");
	}
}

static const Runtime runtimes[] = {
	{"Node.js", {"node", "nodejs"}, add_node_arguments},
	{"Java", {"java"}, add_java_arguments},
};

static const Runtime *find_runtime(const char *program)
{
	g_autofree char *found = g_find_program_in_path(program);
	g_autofree char *path = found != NULL ? realpath(found, NULL) : NULL;
	g_autofree char *name = path != NULL ? g_path_get_basename(path) : NULL;

	for (size_t i = 0; name != NULL && i < G_N_ELEMENTS(runtimes); i++)
		if (g_strv_contains(runtimes[i].programs, name))
			return &runtimes[i];
	return NULL;
}

static bool is_dump_name(const char *name, uint32_t *out_pid)
{
	char *end;
	uint64_t pid;

	if (!g_str_has_prefix(name, "jit-") || !g_ascii_isdigit(name[4]))
		return false;
	pid = g_ascii_strtoull(name + 4, &end, 10);
	*out_pid = (uint32_t)pid;
	return strcmp(end, ".dump") == 0 && pid <= UINT32_MAX;
}

/* When a file was written last, for a comparison; NULL: not a file. */
static char *time_of(const char *directory, const char *name)
{
	g_autofree char *path = g_build_filename(directory, name, NULL);
	struct stat status;

	if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return NULL;
	return g_strdup_printf(
		"%jd.%09ld", (intmax_t)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

static void list_old_dumps(LodeJitRuntime *self)
{
	g_autoptr(GDir) listing = g_dir_open(self->start_directory, 0, NULL);
	const char *name;
	uint32_t pid;

	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL)
		if (is_dump_name(name, &pid))
			g_hash_table_insert(self->old_dumps, g_strdup(name),
				time_of(self->start_directory, name));
}

LodeJitRuntime *lode_jit_runtime_prepare(const char *const *argv, const char *directory)
{
	const Runtime *runtime = find_runtime(argv[0]);
	LodeJitRuntime *self = g_new0(LodeJitRuntime, 1);

	self->argv = g_ptr_array_new_with_free_func(g_free);
	self->directory = g_canonicalize_filename(directory, NULL);
	self->start_directory = g_get_current_dir();
	self->old_dumps = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	add(self, argv[0]);
	if (runtime != NULL) {
		self->name = runtime->name;
		runtime->add_arguments(self, argv);
		list_old_dumps(self);
	}
	for (size_t i = 1; argv[i] != NULL; i++)
		add(self, argv[i]);
	g_ptr_array_add(self->argv, NULL);
	return self;
}

void lode_jit_runtime_free(LodeJitRuntime *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->argv);
	g_hash_table_unref(self->old_dumps);
	g_free(self->directory);
	g_free(self->start_directory);
	g_free(self->warning);
	g_free(self);
}

static bool has_pid(const GArray *pids, uint32_t pid)
{
	for (guint i = 0; pids != NULL && i < pids->len; i++)
		if (g_array_index(pids, uint32_t, i) == pid)
			return true;
	return pids == NULL;
}

static bool is_new(const LodeJitRuntime *self, const char *name)
{
	g_autofree char *now = time_of(self->start_directory, name);

	return now != NULL && g_strcmp0(g_hash_table_lookup(self->old_dumps, name), now) != 0;
}

/* The names of the dumps of these processes in a directory. */
static GPtrArray *list_dumps(const char *directory, const GArray *pids)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GDir) listing = g_dir_open(directory, 0, NULL);
	const char *name;
	uint32_t pid;

	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL)
		if (is_dump_name(name, &pid) && has_pid(pids, pid))
			g_ptr_array_add(names, g_strdup(name));
	return names;
}

/* Gives the path where the dump is afterwards. */
static char *move_dump(const LodeJitRuntime *self, const char *name)
{
	g_autofree char *source = g_build_filename(self->start_directory, name, NULL);
	g_autofree char *target = g_build_filename(self->directory, name, NULL);
	g_autoptr(GFile) from = g_file_new_for_path(source);
	g_autoptr(GFile) to = g_file_new_for_path(target);

	if (!self->is_dump_moved ||
		!g_file_move(from, to, G_FILE_COPY_NOFOLLOW_SYMLINKS, NULL, NULL, NULL, NULL))
		return g_steal_pointer(&source);
	return g_steal_pointer(&target);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* V8's own logs, which nobody asked for. */
static void remove_logs(const LodeJitRuntime *self)
{
	g_autoptr(GDir) listing = g_dir_open(self->directory, 0, NULL);
	const char *name;

	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL) {
		g_autofree char *path = g_build_filename(self->directory, name, NULL);
		if (g_str_has_prefix(name, "isolate-") && g_str_has_suffix(name, V8_LOG))
			g_unlink(path);
	}
}

void lode_jit_runtime_collect(LodeJitRuntime *self, const GArray *pids, GPtrArray *out_files)
{
	if (self->name == NULL)
		return;
	if (self->is_dump_moved)
		remove_logs(self);
	g_autoptr(GPtrArray) in_place = list_dumps(self->directory, pids);
	g_autoptr(GPtrArray) left = list_dumps(self->start_directory, pids);
	bool is_same = strcmp(self->directory, self->start_directory) == 0;

	for (guint i = 0; i < in_place->len; i++)
		g_ptr_array_add(
			out_files, g_build_filename(self->directory, in_place->pdata[i], NULL));
	for (guint i = 0; i < left->len && !is_same; i++)
		if (is_new(self, left->pdata[i]))
			g_ptr_array_add(out_files, move_dump(self, left->pdata[i]));
	g_ptr_array_sort(out_files, compare_texts);
}
