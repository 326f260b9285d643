/* SPDX-License-Identifier: MIT */
/*
 * Figures of this machine that take time to measure: kept for a week in a file of the user's cache
 * directory, a group for each machine and processor, as such a directory may be shared by machines,
 * and a virtual machine moves between processors.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct {
	char *path;
	char *group;
	GKeyFile *file;
} LodeKeptFigures;

/* Reads `path`, or if it is NULL `name` in the user's cache directory. A file that is damaged is as
 * an empty one. */
void lode_kept_figures_init(LodeKeptFigures *self, const char *path, const char *name);
void lode_kept_figures_clear(LodeKeptFigures *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeKeptFigures, lode_kept_figures_clear)

/* Whether there are figures of this machine that were measured within the last week. */
bool lode_kept_figures_are_new(const LodeKeptFigures *self);

/* A list of `n` numbers from 0 to 1e6. False, with `out` unchanged: there is none. */
bool lode_kept_figures_read(const LodeKeptFigures *self, const char *key, double *out, gsize n);

void lode_kept_figures_set(LodeKeptFigures *self, const char *key, const double *list, gsize n);

/* Keeps what was set as measured now, if the file can be written, which is replaced whole. */
void lode_kept_figures_write(LodeKeptFigures *self);
