/* SPDX-License-Identifier: MIT */
/*
 * C++'s special member functions: default constructors, copies, moves and destructors. The compiler
 * makes them where the class does not have them. All of their code then has the line at which the
 * class begins, which says nothing of who makes the object.
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

/* "Board::Board(Board const&)", "Board::operator=(Board const&)". */
bool lode_is_copy_of_object(const char *function);

/* Any of them, by a demangled name with its parameters. */
bool lode_is_special_member(const char *function);

/* The names of those that have one own line alone, as implicit ones do; they borrow from the
 * profile. The caller unrefs the set. */
GHashTable *lode_implicit_members(const LodeProfile *profile, const LodeOwnLines *own);
