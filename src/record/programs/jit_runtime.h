/* SPDX-License-Identifier: MIT */
/*
 * Programs that compile while they run, and how each is made to write its compiled code to a dump.
 *
 *   node     writes jit-PID.dump itself (--perf-prof): into the directory that we name where it has
 *            --perf-prof-path (from 21 on), else into its current directory
 *   java     has an agent of ours write it, into the directory that we name; for stacks it is told
 *            to keep frame pointers (-XX:+PreserveFramePointer), which node has always
 *   javac …  the other tools of a JDK are Java, too: their launchers take such options after -J
 *
 * They are known by the program's name after all symbolic links, also where env starts them, or the
 * first line of a script names them: then the interpreter is run with the script, as the kernel
 * would. A script of a shell that mentions java has the agent in JDK_JAVA_OPTIONS, of which Java
 * says a line on standard error. A script of a shell that starts node has nothing: in NODE_OPTIONS
 * files could not be kept out of the current directory.
 *
 * In its current directory a dump lies beside files of others, such as the dumps of another run. So
 * only those of processes that were recorded are taken, and from there at once: no name is left
 * that would stay if we were killed.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum {
	LODE_JIT_CALLS = 1, /* compiled code keeps frame pointers, unless the user's arguments say
	                       otherwise */
	LODE_JIT_HEAP = 2,  /* its heap's objects are written to heap-PID.log, beside the dump */
} LodeJitWants;

typedef struct {
	const char *name;   /* "Node.js"; NULL: none is known, the arguments are as they were */
	GPtrArray *argv;    /* char *, with a NULL at the end */
	char *warning;      /* what of its code will stay unknown, and why; NULL: nothing */
	char *java_options; /* JDK_JAVA_OPTIONS in its environment; NULL: as they are */

	char *directory, *start_directory; /* private: where dumps go, where the program starts */
	GHashTable *old_dumps;             /* private: name → its time, before the program ran */
	GHashTable *processes;             /* private: recorded ones, as a set of their ids */
	GHashTable *held; /* private: path that a dump will have → descriptor; it has none now */
	bool are_dumps_ours; /* private: not requested by the user */
	unsigned wants;      /* private: of lode_jit_runtime_prepare() */
} LodeJitRuntime;

/*
 * The command to run in place of `argv`, which is copied, so that dumps are written to `directory`.
 * Never NULL; a program that does not exist is not a runtime. Node.js is run once to list its
 * options. `wants`: of LodeJitWants.
 */
LodeJitRuntime *lode_jit_runtime_prepare(
	const char *const *argv, const char *directory, unsigned wants);
void lode_jit_runtime_free(LodeJitRuntime *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeJitRuntime, lode_jit_runtime_free)

/* The program's environment (NULL: ours) with what it needs besides; NULL: nothing. The caller
 * frees it by g_strfreev(). */
char **lode_jit_runtime_environment(const LodeJitRuntime *self, const char *const *environment);

/* A process that is recorded. */
void lode_jit_runtime_add_process(LodeJitRuntime *self, uint32_t pid);

/*
 * A recorded process has mapped an executable file, as each writer of a dump does with its dump. If
 * it is its dump, and the user has not requested it, its name there is removed.
 */
void lode_jit_runtime_add_mapping(LodeJitRuntime *self, uint32_t pid, const char *path);

/*
 * After the program has ended: moves the dumps that recorded processes left in its current
 * directory, unless the user requested them, and appends the paths of all to `out_files` (char *,
 * sorted). Files of other processes, and files that are not dumps, stay as they are. A dump that
 * cannot be moved is used where it is.
 */
void lode_jit_runtime_collect(LodeJitRuntime *self, GPtrArray *out_files);
