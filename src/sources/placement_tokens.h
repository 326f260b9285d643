/* SPDX-License-Identifier: MIT */
/*
 * The words and numbers of a placement file, one at a time: commands end with their line unless a
 * backslash continues it, and what follows a # is a comment.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum {
	LODE_PLACEMENT_TOKEN_END,      /* of the command */
	LODE_PLACEMENT_TOKEN_WORD,     /* memories, cube */
	LODE_PLACEMENT_TOKEN_NUMBER,   /* 12, 0x7f00 */
	LODE_PLACEMENT_TOKEN_VARIABLE, /* $NAME; its text is the name */
	LODE_PLACEMENT_TOKEN_TEXT,     /* "in quotes"; its text is without them */
	LODE_PLACEMENT_TOKEN_SIGN,     /* one of + - * / % ( ) : */
	LODE_PLACEMENT_TOKEN_NAME,     /* only lode_placement_tokens_next_name() gives one */
} LodePlacementTokenKind;

typedef struct {
	LodePlacementTokenKind kind;
	const char *text; /* NUL-terminated; valid until the next token is taken */
	uint64_t number;
	uint64_t line;   /* from 1 */
	uint64_t column; /* in bytes, from 1 */
} LodePlacementToken;

typedef struct LodePlacementTokens LodePlacementTokens;

/* Errors: _IO. */
LodePlacementTokens *lode_placement_tokens_open(const char *path, GError **error);
void lode_placement_tokens_close(LodePlacementTokens *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePlacementTokens, lode_placement_tokens_close)

/* Goes to the first token of the next command that has one. Gives 1, 0 at the end of the file, −1
 * with an error. */
int lode_placement_tokens_next_command(LodePlacementTokens *self, GError **error);

/* The token we are at. */
const LodePlacementToken *lode_placement_tokens_at(const LodePlacementTokens *self);

/* Goes to the next one; stays at an END. Errors name file, line and column: _CORRUPT, _IO. */
bool lode_placement_tokens_next(LodePlacementTokens *self, GError **error);

/* Likewise, but all up to the next blank is one token of kind NAME, unless it is in quotes. */
bool lode_placement_tokens_next_name(LodePlacementTokens *self, GError **error);

/* Skips to the command's end. Gives the skipped text, including the current token; the caller frees
 * it. NULL with an error. */
char *lode_placement_tokens_skip_command(LodePlacementTokens *self, GError **error);

/* Sets "PATH: line 3, column 7: MESSAGE", the place being the token's; gives false. */
bool lode_placement_tokens_fail(const LodePlacementTokens *self, const LodePlacementToken *token,
	GError **error, const char *format, ...) G_GNUC_PRINTF(4, 5);
