/* SPDX-License-Identifier: MIT */
/*
 * Bounds what events cost where threads and processes are started. Each new one inherits every open
 * event, disabled ones too, and gives it back at its end: a program that starts 20,000 threads a
 * second takes three times as long with six events on each of two processors. A pool of threads
 * that is started once pays once.
 *
 *   left   ╲___╱╲     grows with time, shrinks by what starts; below 0 events are to be closed
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	double left_ns; /* of the program's time */
	gint64 begin_us, since_us;
	uint64_t n;  /* threads and processes that were started */
	double rate; /* …a second, since the beginning */
} LodeTaskBudget;

void lode_task_budget_init(LodeTaskBudget *self, gint64 now_us);

/* Takes the number of threads and processes that were started so far, each of which pays for so
 * many descriptors that could be closed. Whether they are to be. */
bool lode_task_budget_is_over(
	LodeTaskBudget *self, uint64_t n_tasks, size_t n_descriptors, gint64 now_us);
