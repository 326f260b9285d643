/* SPDX-License-Identifier: MIT */
#include "record/programs/jit_runtime.h"

#include "base/arrays/sort_order.h"
#include "base/files/own_library.h"
#include "base/files/regular_file.h"
#include "record/programs/preloaded_library.h"

#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AGENT LODE_OWN_LIBRARY("jvm-agent")
#define V8_LOG "v8.log"
#define KEPT_FRAMES "-XX:+PreserveFramePointer"
#define JAVA_VARIABLE "JDK_JAVA_OPTIONS"

enum {
	PROBE_S = 10,
	HEADER_PID_OFFSET = 20,
	DUMP_MODE = 0600, /* as of the recordings beside it */
	SCRIPT_BYTES = 64 * 1024,
	INTERPRETER_BYTES = 256, /* of a script's first line, as the kernel reads it */
};

/* A kind of program; a new one is a new row. */
typedef struct {
	const char *name;
	const char *programs[20]; /* what the file is called; NULL after them */
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

/* Between fork() and execve(). */
static void limit_time(gpointer data)
{
	(void)data;
	alarm(PROBE_S);
}

/* Its options, which the caller frees; NULL: it says none. One that is not Node.js, but called so,
 * may do anything: it gets neither our input nor output, and no more than some seconds. */
static char *list_node_options(const char *program)
{
	const char *command[] = {program, "--v8-options", NULL};
	char *options = NULL;

	g_spawn_sync(NULL, (char **)command, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL,
		limit_time, NULL, &options, NULL, NULL, NULL);
	return options;
}

static void add_node_arguments(LodeJitRuntime *self, const char *const *argv)
{
	static const char option[] = "--perf-prof", path_option[] = "--perf-prof-path",
			  interpreted[] = "--interpreted-frames-native-stack";
	bool is_users = g_strv_contains(argv, option) || has_option_in("NODE_OPTIONS", option);
	g_autofree char *options = is_users ? NULL : list_node_options(argv[0]);
	bool has_path = options != NULL && strstr(options, path_option) != NULL;

	if (!is_users) {
		g_autoptr(GString) log = g_string_new(self->directory);

		/* in its name, % starts a placeholder */
		g_string_replace(log, "%", "%%", 0);
		g_string_prepend(log, "--logfile=");
		g_string_append(log, "/" V8_LOG);
		add(self, option);
		/* functions that are interpreted have code of their own, by which they are known */
		if (options != NULL && strstr(options, interpreted) != NULL)
			add(self, interpreted);
		add(self, log->str);
		self->are_dumps_ours = true;
	}
	if (has_path) {
		g_autofree char *argument = g_strdup_printf("%s=%s", path_option, self->directory);
		add(self, argument);
	} else if (access(self->start_directory, W_OK) != 0) {
		/* where it cannot write, it goes on without */
		self->warning = g_strdup("Node.js writes down what it compiles in the current "
					 "directory, which cannot be written to; its functions "
					 "stay unknown");
	}
}

/* The environment may name another one. */
static char *find_agent(void)
{
	const char *given = g_getenv("LODE_JVM_AGENT");

	if (given == NULL)
		return lode_preloaded_library_locate("jvm_agent", AGENT, NULL);
	return access(given, R_OK) == 0 ? g_canonicalize_filename(given, NULL) : NULL;
}

/* NULL: it is not installed. */
static char *agent_option(const LodeJitRuntime *self)
{
	g_autofree char *agent = find_agent();

	return agent != NULL
	               ? g_strdup_printf("-agentpath:%s=%s%s", agent,
				 (self->wants & LODE_JIT_HEAP) != 0 ? "heap:" : "", self->directory)
	               : NULL;
}

/* Adds the options for a virtual machine, each after `mark`: arguments, since the machine reports
 * those from the environment on standard error. */
static void add_machine_options(LodeJitRuntime *self, const char *mark)
{
	g_autofree char *option = agent_option(self);
	g_autofree char *frames = g_strconcat(mark, KEPT_FRAMES, NULL);
	g_autofree char *agent = option != NULL ? g_strconcat(mark, option, NULL) : NULL;

	if ((self->wants & LODE_JIT_CALLS) != 0)
		add(self, frames);
	if (agent != NULL) {
		add(self, agent);
	} else if (self->warning == NULL) {
		self->warning = g_strdup(
			"the agent that writes down what Java compiles, " AGENT
			", is not installed; lode must be built with a JDK (-Djava-agent=enabled)");
	}
}

static void add_java_arguments(LodeJitRuntime *self, const char *const *argv)
{
	(void)argv;
	add_machine_options(self, "");
}

/* The launchers of the JDK's tools take options for the virtual machine that they run in after -J,
 * and hand on the others as they are (JDK Tool Specifications, "javac", -Jflag). */
static void add_tool_arguments(LodeJitRuntime *self, const char *const *argv)
{
	(void)argv;
	add_machine_options(self, "-J");
}

/* It evaluates in a second virtual machine, whose options come after -R. */
static void add_shell_arguments(LodeJitRuntime *self, const char *const *argv)
{
	(void)argv;
	add_machine_options(self, "-J");
	add_machine_options(self, "-R");
}

static const Runtime runtimes[] = {
	{"Node.js", {"node", "nodejs"}, add_node_arguments},
	{"Java", {"java"}, add_java_arguments},
	{"Java", {"jshell"}, add_shell_arguments},
	{"Java",
		{"jar", "jarsigner", "javac", "javadoc", "javap", "jdeprscan", "jdeps", "jfr",
			"jimage", "jlink", "jmod", "jpackage", "jrunscript", "keytool", "serialver",
			"jwebserver"},
		add_tool_arguments},
};

/* Whether a program of a JDK is at this path: others may be called so, too. */
static bool is_in_jdk(const char *path)
{
	g_autofree char *folder = g_path_get_dirname(path);
	g_autofree char *java = g_build_filename(folder, "java", NULL);
	g_autofree char *modules = g_build_filename(folder, "..", "lib", "modules", NULL);

	return access(java, X_OK) == 0 && access(modules, R_OK) == 0;
}

static const Runtime *find_runtime(const char *program)
{
	g_autofree char *found = g_find_program_in_path(program);
	g_autofree char *path = found != NULL ? realpath(found, NULL) : NULL;
	g_autofree char *name = path != NULL ? g_path_get_basename(path) : NULL;

	for (size_t i = 0; name != NULL && i < G_N_ELEMENTS(runtimes); i++) {
		bool is_tool = runtimes[i].add_arguments == add_tool_arguments ||
		               runtimes[i].add_arguments == add_shell_arguments;
		if (g_strv_contains(runtimes[i].programs, name))
			return !is_tool || is_in_jdk(path) ? &runtimes[i] : NULL;
	}
	return NULL;
}

/* The beginning of a program's file; the caller frees it. Empty where there is none. */
static char *beginning_of(const char *program, size_t n_bytes)
{
	g_autofree char *path = g_find_program_in_path(program);
	char *text = g_malloc0(n_bytes + 1);
	int descriptor = path != NULL ? lode_regular_file_open(path, 0, NULL) : -1;

	if (descriptor < 0)
		return text;
	ssize_t n = read(descriptor, text, n_bytes);
	text[MAX(n, 0)] = '\0';
	close(descriptor);
	return text;
}

/* Whether it is a script of a shell that has this word near its beginning. */
static bool is_script_with(const char *program, const char *word)
{
	g_autofree char *text = beginning_of(program, SCRIPT_BYTES);
	size_t line = strcspn(text, "\n");

	return g_str_has_prefix(text, "#!") && g_strstr_len(text, (gssize)line, "sh") != NULL &&
	       strstr(text + line, word) != NULL;
}

static bool is_env(const char *program)
{
	g_autofree char *name = g_path_get_basename(program);

	return strcmp(name, "env") == 0;
}

/* Where a command begins that env starts; the options of env are not known here. */
static size_t skip_env(const char *const *argv)
{
	size_t at = 0;

	if (argv[0] == NULL || !is_env(argv[0]))
		return 0;
	for (at = 1; argv[at] != NULL && argv[at][0] != '-' && strchr(argv[at], '=') != NULL;)
		at++;
	return argv[at] != NULL && argv[at][0] != '-' ? at : 0;
}

/* Appends the command that a script's first line names: "#!/usr/bin/env node" is node. */
static bool add_interpreter(GPtrArray *command, const char *program)
{
	g_autofree char *text = beginning_of(program, INTERPRETER_BYTES);
	guint n = command->len;

	if (!g_str_has_prefix(text, "#!"))
		return false;
	text[strcspn(text, "\n")] = '\0';
	g_auto(GStrv) words = g_strsplit_set(text + 2, " \t\r", -1);
	for (size_t i = 0; words[i] != NULL; i++)
		if (words[i][0] != '\0' && (command->len > n || !is_env(words[i])) &&
			(command->len > n || strcmp(words[i], "-S") != 0))
			g_ptr_array_add(command, g_strdup(words[i]));
	return command->len > n;
}

/* The command with the runtime in it, by way of env and of a script's first line: NULL-terminated.
 * NULL: it starts none that is known. */
static GPtrArray *find_command(const char *const *argv, size_t *out_at, const Runtime **out_runtime)
{
	g_autoptr(GPtrArray) command = g_ptr_array_new_with_free_func(g_free);
	size_t at = *out_at = skip_env(argv);

	for (size_t i = 0; i < at; i++)
		g_ptr_array_add(command, g_strdup(argv[i]));
	*out_runtime = find_runtime(argv[at]);
	if (*out_runtime != NULL) {
		g_ptr_array_add(command, g_strdup(argv[at]));
	} else {
		if (!add_interpreter(command, argv[at]))
			return NULL;
		*out_runtime = find_runtime(command->pdata[at]);
		g_ptr_array_add(command, g_find_program_in_path(argv[at]));
	}
	for (size_t i = at + 1; argv[i] != NULL; i++)
		g_ptr_array_add(command, g_strdup(argv[i]));
	g_ptr_array_add(command, NULL);
	return *out_runtime != NULL ? g_steal_pointer(&command) : NULL;
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

/* A path in the variable's quotes cannot have one itself. */
static void prepare_script(LodeJitRuntime *self, const char *program)
{
	g_autofree char *option = agent_option(self);
	const char *given = g_getenv(JAVA_VARIABLE);

	if (option == NULL || strchr(option, '"') != NULL || !is_script_with(program, "java"))
		return;
	self->java_options = g_strdup_printf("%s%s%s\"%s\"", given != NULL ? given : "",
		given != NULL ? " " : "",
		(self->wants & LODE_JIT_CALLS) != 0 ? KEPT_FRAMES " " : "", option);
	list_old_dumps(self);
}

static void close_descriptor(gpointer descriptor)
{
	close(GPOINTER_TO_INT(descriptor));
}

LodeJitRuntime *lode_jit_runtime_prepare(
	const char *const *argv, const char *directory, unsigned wants)
{
	const Runtime *runtime;
	size_t at;
	g_autoptr(GPtrArray) command = find_command(argv, &at, &runtime);
	const char *const *words = command != NULL ? (const char *const *)command->pdata : argv;
	LodeJitRuntime *self = g_new0(LodeJitRuntime, 1);

	self->argv = g_ptr_array_new_with_free_func(g_free);
	self->directory = g_canonicalize_filename(directory, NULL);
	self->start_directory = g_get_current_dir();
	self->old_dumps = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	self->processes = g_hash_table_new(NULL, NULL);
	self->held = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, close_descriptor);
	self->wants = wants;
	for (size_t i = 0; i <= at; i++)
		add(self, words[i]);
	if (command != NULL) {
		self->name = runtime->name;
		runtime->add_arguments(self, words + at);
		list_old_dumps(self);
	} else {
		prepare_script(self, argv[at]);
	}
	for (size_t i = at + 1; words[i] != NULL; i++)
		add(self, words[i]);
	g_ptr_array_add(self->argv, NULL);
	return self;
}

void lode_jit_runtime_free(LodeJitRuntime *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->argv);
	g_hash_table_unref(self->old_dumps);
	g_hash_table_unref(self->processes);
	g_hash_table_unref(self->held);
	g_free(self->directory);
	g_free(self->start_directory);
	g_free(self->warning);
	g_free(self->java_options);
	g_free(self);
}

char **lode_jit_runtime_environment(const LodeJitRuntime *self, const char *const *environment)
{
	if (self->java_options == NULL)
		return NULL;
	return g_environ_setenv(
		environment != NULL ? g_strdupv((char **)environment) : g_get_environ(),
		JAVA_VARIABLE, self->java_options, TRUE);
}

void lode_jit_runtime_add_process(LodeJitRuntime *self, uint32_t pid)
{
	g_hash_table_add(self->processes, GUINT_TO_POINTER(pid));
}

static bool is_recorded(const LodeJitRuntime *self, uint32_t pid)
{
	return g_hash_table_contains(self->processes, GUINT_TO_POINTER(pid));
}

/* A regular file of ours; −1: it is not one. */
static int open_own(const char *path)
{
	int descriptor = lode_regular_file_open(path, O_NOFOLLOW, NULL);
	struct stat status;

	if (descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_uid == geteuid())
		return descriptor;
	if (descriptor >= 0)
		close(descriptor);
	return -1;
}

/* If a process executes another program, each program has a dump, of the same name. */
static char *free_path(const LodeJitRuntime *self, const char *name)
{
	char *path = g_build_filename(self->directory, name, NULL);

	for (unsigned i = 2; g_hash_table_contains(self->held, path) ||
			     g_file_test(path, G_FILE_TEST_EXISTS | G_FILE_TEST_IS_SYMLINK);
		i++) {
		g_free(path);
		path = g_strdup_printf("%s/%s.%u", self->directory, name, i);
	}
	return path;
}

/* On another file system it cannot get a name before it is whole, and is only held open. */
static void take(LodeJitRuntime *self, const char *path, const char *name)
{
	int descriptor = open_own(path);

	if (descriptor < 0)
		return;
	g_autofree char *target = free_path(self, name);
	fchmod(descriptor, DUMP_MODE);
	if (g_rename(path, target) != 0 && g_unlink(path) == 0)
		g_hash_table_insert(
			self->held, g_steal_pointer(&target), GINT_TO_POINTER(descriptor));
	else
		close(descriptor);
}

void lode_jit_runtime_add_mapping(LodeJitRuntime *self, uint32_t pid, const char *path)
{
	const char *slash = strrchr(path, '/');
	uint32_t named;

	lode_jit_runtime_add_process(self, pid);
	if (!self->are_dumps_ours || path[0] != '/' || !is_dump_name(slash + 1, &named) ||
		named != pid)
		return;
	g_autofree char *folder = g_strndup(path, (gsize)(slash - path));
	g_autofree char *own = realpath(self->directory, NULL);
	if (g_strcmp0(folder, own) != 0)
		take(self, path, slash + 1);
}

/* Whether a file in the current directory was written by a recorded process: a new one, whose
 * header agrees. It is empty where no file there may be mapped executable. */
static bool is_own_dump(LodeJitRuntime *self, const char *name, uint32_t pid)
{
	g_autofree char *now = time_of(self->start_directory, name);
	g_autofree char *path = g_build_filename(self->start_directory, name, NULL);
	uint32_t written = pid;

	if (now == NULL || g_strcmp0(g_hash_table_lookup(self->old_dumps, name), now) == 0)
		return false;
	int descriptor = open_own(path);
	if (descriptor < 0)
		return false;
	ssize_t n = pread(descriptor, &written, sizeof(written), HEADER_PID_OFFSET);
	close(descriptor);
	bool is_own = n == 0 || (n == (ssize_t)sizeof(written) && written == pid);
	if (!is_own && self->warning == NULL)
		self->warning = g_strdup_printf(
			"%s is not used, and stays: by its header it is not of process %u", name,
			pid);
	return is_own;
}

/* Gives the path where the dump is afterwards. */
static char *move_dump(const LodeJitRuntime *self, const char *name)
{
	g_autofree char *source = g_build_filename(self->start_directory, name, NULL);
	g_autofree char *target = free_path(self, name);
	g_autoptr(GFile) from = g_file_new_for_path(source);
	g_autoptr(GFile) to = g_file_new_for_path(target);

	if (!self->are_dumps_ours ||
		!g_file_move(from, to, G_FILE_COPY_NOFOLLOW_SYMLINKS, NULL, NULL, NULL, NULL))
		return g_steal_pointer(&source);
	g_chmod(target, DUMP_MODE);
	return g_steal_pointer(&target);
}

/* Gives the dumps that are only held open a name. */
static void write_held(LodeJitRuntime *self)
{
	GHashTableIter at;
	gpointer target, descriptor;

	g_hash_table_iter_init(&at, self->held);
	while (g_hash_table_iter_next(&at, &target, &descriptor)) {
		g_autofree char *source = g_strdup_printf(
			"/proc/self/fd/%d", GPOINTER_TO_INT(descriptor));
		g_autoptr(GFile) from = g_file_new_for_path(source);
		g_autoptr(GFile) to = g_file_new_for_path(target);
		g_autoptr(GError) error = NULL;
		if (g_file_copy(from, to, G_FILE_COPY_NONE, NULL, NULL, NULL, &error))
			continue;
		g_unlink(target);
		g_free(self->warning);
		self->warning = g_strdup_printf("what %s compiled is lost: %s: %s", self->name,
			(const char *)target, error->message);
	}
	g_hash_table_remove_all(self->held);
}

/* Whether it is a log of V8's own, which was not requested. */
static bool is_log(const char *name)
{
	return g_str_has_prefix(name, "isolate-") && g_str_has_suffix(name, V8_LOG);
}

/* "jit-7.dump", and "jit-7.dump.2" of free_path() */
static bool is_recorded_dump(const LodeJitRuntime *self, const char *name)
{
	const char *end = strstr(name, ".dump.");
	g_autofree char *plain = end != NULL ? g_strndup(name, (gsize)(end - name) + 5)
	                                     : g_strdup(name);
	uint32_t pid;

	return is_dump_name(plain, &pid) && is_recorded(self, pid);
}

static void collect_in_place(LodeJitRuntime *self, GPtrArray *out_files)
{
	g_autoptr(GDir) listing = g_dir_open(self->directory, 0, NULL);
	const char *name;

	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL) {
		g_autofree char *path = g_build_filename(self->directory, name, NULL);
		if (self->are_dumps_ours && is_log(name))
			g_unlink(path);
		if (!is_recorded_dump(self, name))
			continue;
		if (self->are_dumps_ours)
			g_chmod(path, DUMP_MODE);
		g_ptr_array_add(out_files, g_steal_pointer(&path));
	}
}

/* Collects the dumps whose mapping was not recorded, and those that the user requested. */
static void collect_left(LodeJitRuntime *self, GPtrArray *out_files)
{
	g_autoptr(GDir) listing = g_dir_open(self->start_directory, 0, NULL);
	const char *name;
	uint32_t pid;

	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL)
		if (is_dump_name(name, &pid) && is_recorded(self, pid) &&
			is_own_dump(self, name, pid))
			g_ptr_array_add(out_files, move_dump(self, name));
}

void lode_jit_runtime_collect(LodeJitRuntime *self, GPtrArray *out_files)
{
	if (self->name == NULL && self->java_options == NULL)
		return;
	write_held(self);
	collect_in_place(self, out_files);
	if (strcmp(self->directory, self->start_directory) != 0)
		collect_left(self, out_files);
	g_ptr_array_sort(out_files, lode_compare_texts);
}
