/* SPDX-License-Identifier: MIT */
/*
 * Bounds what events cost a program that starts threads and processes again and again. A new one
 * gets a copy of every open event, of disabled ones too, and gives it back at its end: a program
 * that starts 20,000 threads a second takes three times as long with six events on each of two
 * processors. So there is an allowance for it; when that is used up, the events that a recording
 * can do without are to be closed. Threads that are started once and used again pay once.
 *
 *   allowance   ╲___╱╲     grows with time, shrinks by what starts
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Processor time that an event costs a new thread or process, at its start and its end together.
 * Measured in a virtual machine; it is less on hardware. */
#define LODE_TASK_EVENT_NS 10e3

typedef struct {
	double left_ns; /* of the program's time */
	gint64 begin_us, since_us;
	uint64_t n;  /* threads and processes that were started */
	double rate; /* …a second, since the beginning */
} LodeTaskBudget;

void lode_task_budget_init(LodeTaskBudget *self, gint64 now_us);

/* Takes the number of threads and processes that were started so far, and that of the descriptors
 * that could be closed, for which each of these pays. Whether they are to be closed. */
bool lode_task_budget_is_over(
	LodeTaskBudget *self, uint64_t n_tasks, size_t n_descriptors, gint64 now_us);
