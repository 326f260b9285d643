/* SPDX-License-Identifier: MIT */
/*
 * A look at the frames of an interpreter, as lode writes it into perf.data: a sample of the event
 * "script", which no kernel has. Its raw data (PERF_SAMPLE_RAW) is, in the machine's byte order,
 * one of four things:
 *
 *   u32 version, LODE_SCRIPT_CODE, number, first_line, last_line, 0
 *   text, 0, text, 0, text, 0     the language, the function, its file
 *
 *   u32 version, LODE_SCRIPT_FRAMES, flags, n
 *   n × u32 code, line            the innermost first; a code's number was said before
 *
 *   u32 version, LODE_SCRIPT_LOOP
 *   u64 address                   in the function that executes the script's instructions
 *
 *   u32 version, LODE_SCRIPT_COMMAND, flags, environment
 *   text, 0, text, 0, text, 0, text, 0     the command, its directory, input and output
 *
 * docs/reference/formats/scripts.md describes it for others.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LODE_SCRIPT_EVENT "script"

/* The identifier of its samples: the kernel counts from 1. */
#define LODE_SCRIPT_ID UINT64_C(0x74706972637364ff)

enum {
	LODE_SCRIPT_VERSION = 1,
	LODE_SCRIPT_MAX_TEXT = 4096, /* bytes, with the NUL */
	LODE_COMMAND_MAX_TEXT = 512, /* likewise, of a command's */
	LODE_SCRIPT_MAX_FRAMES = 128,
	LODE_SCRIPT_MAX_LINE = (1 << 24) - 1,
};

typedef enum {
	LODE_SCRIPT_CODE = 1,
	LODE_SCRIPT_FRAMES = 2,
	LODE_SCRIPT_LOOP = 3,
	LODE_SCRIPT_COMMAND = 4,
} LodeScriptKind;

/* Of the flags. */
enum {
	LODE_SCRIPT_WAS_TORN = 1,   /* the frames changed while they were read: there are none */
	LODE_SCRIPT_IS_CUT = 2,     /* there were more than LODE_SCRIPT_MAX_FRAMES */
	LODE_SCRIPT_IS_WAITING = 4, /* the thread waited */
};

/* A function of a script. Texts are valid UTF-8; borrowed. */
typedef struct {
	uint32_t number;                /* of the recording's */
	uint32_t first_line, last_line; /* from 1 on */
	const char *language, *function, *file;
} LodeScriptCode;

typedef struct {
	uint32_t code, line;
} LodeScriptFrame;

/* What a process was started with. Texts are as above; empty: not known. */
typedef struct {
	uint32_t flags;
	uint32_t environment;       /* a hash; 0: not known */
	const char *command;        /* its arguments, as a shell reads them */
	const char *directory;      /* the current one */
	const char *input, *output; /* descriptors 0 and 1, as /proc/PID/fd names them */
} LodeCommandLook;

/* Of its flags. */
enum { LODE_COMMAND_IS_CUT = 1 /* there was more than the text has room for */ };

typedef struct {
	LodeScriptKind kind;
	LodeScriptCode code;     /* of that kind; borrows from the sample */
	uint64_t loop;           /* of that kind: an address */
	LodeCommandLook command; /* of that kind; borrows from the sample */
	uint32_t flags;          /* as the next two, of frames */
	uint32_t n_frames;
	LodeScriptFrame frames[LODE_SCRIPT_MAX_FRAMES]; /* the innermost first */
} LodeScriptLook;

/* Reads the raw data of a sample; false: it is not what lode of this version writes. */
bool lode_script_look_read(LodeScriptLook *out_look, const void *raw, size_t size);

/* Appends the raw data, as long as makes the next field of a sample aligned. Longer texts are cut.
 */
void lode_script_code_append(const LodeScriptCode *code, GByteArray *out);
void lode_script_loop_append(uint64_t address, GByteArray *out);
void lode_command_look_append(const LodeCommandLook *look, GByteArray *out);
void lode_script_frames_append(
	const LodeScriptFrame *frames, uint32_t n, uint32_t flags, GByteArray *out);
