/* SPDX-License-Identifier: MIT */
#include "model/page_fault_event.h"

#include <stddef.h>
#include <string.h>

bool lode_is_page_fault_event(const char *name)
{
	static const char *const names[] = {
		"page-faults", "minor-faults", "major-faults", "faults"};
	size_t length = strcspn(name, ":");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == length && strncmp(name, names[i], length) == 0)
			return true;
	return false;
}
