/* SPDX-License-Identifier: MIT */
/* A program in QEMU's user-mode emulation, with our plugin. Private to record/. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#define LODE_QEMU_EMULATOR "qemu-x86_64"

/* The path of the emulator, the caller's. Errors: _NOT_FOUND with what to install. */
char *lode_qemu_program_emulator(GError **error);

typedef struct {
	const char *emulator;
	const char *program;       /* path of argv[0] */
	const char *const *argv;   /* NULL-terminated; of a script that of its interpreter is run */
	const char *cpu;           /* "max" */
	const char *plugin_option; /* "ring=" … */
	const char *plugin_value;  /* a path */
	const char *more_options;  /* of the plugin: "caches=…"; NULL: none */
	const char *const *environment; /* of the program; NULL: ours */
	/* How its forks and executed programs are treated, see tools/qemu_plugin/follow.h. */
	bool is_alone;           /* they are not recorded */
	const char *const *only; /* record only programs of these names; NULL: all */
} LodeQemuProgram;

/* The command line, and the environment for it, each with a NULL at its end; the caller owns both.
 * Errors: _NOT_FOUND where the plugin is not installed. */
GPtrArray *lode_qemu_program_line(
	const LodeQemuProgram *self, GPtrArray **out_environment, GError **error);

/* Sets an error, _NOT_FOUND: no executed program has a name like one of `only`. */
void lode_qemu_program_fail_only(const char *const *only, GError **error);

/* The processor that libraries see, so that they choose the same variants as on this machine, as
 * far as QEMU can emulate it: "max,vendor=GenuineIntel,…". The caller owns it. */
char *lode_qemu_program_cpu(void);

/*
 * The reason why QEMU cannot run a program, if it is known beforehand: it requires AVX-512. NULL:
 * none is known. The caller owns it.
 */
char *lode_qemu_program_obstacle(const char *path);
