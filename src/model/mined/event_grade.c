/* SPDX-License-Identifier: MIT */
#include "model/mined/event_grade.h"

#include <math.h>

static const struct {
	const char *suffix;
	double rate;
} grades[LODE_N_EVENT_GRADES] = {{"", 0}, {":10", 0.1}, {":50", 0.5}};

const char *lode_event_grade_suffix(unsigned grade)
{
	return grades[grade].suffix;
}

double lode_event_grade_rate(unsigned grade, double first_rate)
{
	if (grade == 0)
		return first_rate;
	return grades[grade].rate > first_rate ? grades[grade].rate : INFINITY;
}
