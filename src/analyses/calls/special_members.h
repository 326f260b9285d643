/* SPDX-License-Identifier: MIT */
/*
 * Functions that make and end objects. C++'s special member functions: default constructors,
 * copies, moves and destructors. The compiler makes them where the class does not have them. All of
 * their code then has the line at which the class begins, which says nothing of who makes the
 * object.
 *
 *   board.cpp:12  class Board {              Board::Board(Board const&)   ◀ implicit
 *   board.cpp:61  bool attacked(Board b)
 *   board.cpp:68    attacked(board)          calls it
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct LodeOwnLines LodeOwnLines;
typedef struct LodeProfile LodeProfile;

/* Work on a whole object, with all that it owns. */
typedef enum {
	LODE_OBJECT_WORK_NONE, /* nothing, or it is not known */
	/* "Board::Board(Board const&)", "Board::operator=(Board const&)", "<State as
	 * core::clone::Clone>::clone", and parts of the containers' copies */
	LODE_OBJECT_WORK_COPY,
	LODE_OBJECT_WORK_END, /* "Board::~Board()", likewise */
} LodeObjectWork;

/* By a demangled name with its parameters. */
LodeObjectWork lode_object_work_of(const char *function);

/* Any special member, by a demangled name with its parameters. */
bool lode_is_special_member(const char *function);

/* The names of those that have one own line alone, as implicit ones do, and of Rust's Clone, whose
 * derived ones have those of the fields; they borrow from the profile. The caller unrefs the set.
 */
GHashTable *lode_implicit_members(const LodeProfile *profile, const LodeOwnLines *own);
