/* SPDX-License-Identifier: MIT */
/*
 * Bounds what events cost where threads and processes are started. Each new one inherits every open
 * event, disabled ones too, and gives it back at its end: a program that starts 20,000 threads a
 * second takes three times as long with six events on each of two processors.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint64_t n; /* tasks, at the beginning of the time that is looked at… */
	gint64 since_us;
	double rate; /* …and how many a second there were in the last one */
} LodeTaskBudget;

void lode_task_budget_init(LodeTaskBudget *self, gint64 now_us);

/* Takes the number of threads and processes that were started so far. Whether those of the last
 * tenth of a second had to pay more for so many descriptors than the budget has. */
bool lode_task_budget_is_over(
	LodeTaskBudget *self, uint64_t n_tasks, size_t n_descriptors, gint64 now_us);
