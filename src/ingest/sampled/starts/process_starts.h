/* SPDX-License-Identifier: MIT */
/*
 * Where in scripts processes were started (LodeWaits.starts): the commands of processes, compared
 * with the texts of the shell scripts and Makefiles that started them, as they are when the
 * recording is imported. What is started by a program without such a text, as xargs, has the place
 * where that was started.
 */
#pragma once

#include "model/waits.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeScriptCommands LodeScriptCommands;

/* Fills `starts`, whose strings live as long as `processes`' do or are interned by the profile. */
void lode_process_starts_find(LodeProfile *profile, LodeWaits *waits);

/*
 * The commands that the text of a shell script or a Makefile has, and which of them a process
 * executes. What the shell or make expands ($x, $(…), `…`, *) stands for any text:
 *
 *   7  name=$(echo "$f" | cut -d. -f1)      echo *, line 7      cut -d. -f1, line 7
 *   9  @sort $< > $@                        sort *, line 9, of the target before it
 *
 * The text is read as a shell reads it (POSIX, Shell Command Language), without what only execution
 * tells: aliases, eval, commands whose name is expanded.
 */

typedef enum {
	LODE_SCRIPT_OF_SHELL,
	LODE_SCRIPT_OF_MAKE,
} LodeScriptLanguage;

typedef struct {
	uint32_t line;
	const char *function; /* of a shell; a target, or the variable that is set; NULL: none */
	char *name;           /* of the program, without its folder; NULL: it is expanded */
	char *words;          /* a glob of its words, each of which ends with a line feed */
	char *text;           /* a glob of what make gives a shell; NULL: it is a simple command */
	guint literal;        /* letters that are not expanded */
} LodeScriptCommand;

/* Of any text in UTF-8; never NULL. */
LodeScriptCommands *lode_script_commands_new(const char *text, LodeScriptLanguage language);
void lode_script_commands_free(LodeScriptCommands *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeScriptCommands, lode_script_commands_free)

guint lode_script_commands_n(const LodeScriptCommands *self);
const LodeScriptCommand *lode_script_commands_at(const LodeScriptCommands *self, guint index);

/*
 * The command that a process of a name executes, with its words as a shell reads them (UTF-8);
 * where these are not known (NULL), the only one of that name. The first of those with most letters
 * that are alike; NULL: none, or several without words.
 */
const LodeScriptCommand *lode_script_commands_find(
	const LodeScriptCommands *self, const char *name, const char *command);
