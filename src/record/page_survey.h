/* SPDX-License-Identifier: MIT */
/*
 * The nodes of the pages of processes, read from the kernel at intervals:
 *
 *   /proc/PID/numa_maps ─▶ mappings whose pages are all on one node ─┐
 *   move_pages(2)       ─▶ each page of the others                  ─┴─▶ sources/code/page_file.h
 *
 * The size of a page is that of its mapping, as the kernel calls it there: 4 kB also where it has
 * joined pages to transparent huge ones.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct LodePageSurvey LodePageSurvey;

/* Writes to a new file; `proc`: "/proc". Errors: _IO. */
LodePageSurvey *lode_page_survey_open(const char *path, const char *proc, GError **error);

/* Ends the file. Errors: _IO: what could not be written. */
bool lode_page_survey_close(LodePageSurvey *self, GError **error);
void lode_page_survey_free(LodePageSurvey *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePageSurvey, lode_page_survey_free)

/* Whether to look again: a tenth of a second after the beginning, then each second, and less often
 * where that would take more than a fiftieth of the time. */
bool lode_page_survey_is_due(const LodePageSurvey *self);

/* Surveys the pages of these processes (pid_t); one that has ended is skipped. */
void lode_page_survey_run(LodePageSurvey *self, const GArray *pids, uint64_t now_ns);
