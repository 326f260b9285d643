/* SPDX-License-Identifier: MIT */
/*
 * How often an event happens on an instruction, as attributes: ev:NAME, ev:NAME:10 and ev:NAME:50
 * say that it does in at least 1 % (or what the user sets), 10 % and 50 % of the executions.
 */
#pragma once

enum { LODE_N_EVENT_GRADES = 3 };

/* The suffix of the event's name: "", ":10", ":50". */
const char *lode_event_grade_suffix(unsigned grade);

/* The events per execution that it takes; `first_rate` is that of grade 0. Infinite where a grade
 * would say no more than one below it. */
double lode_event_grade_rate(unsigned grade, double first_rate);
