/* SPDX-License-Identifier: MIT */
#include "base/text/maps_line.h"

#include <stdio.h>

bool lode_maps_line_read(const char *line, LodeMapsLine *out_mapping)
{
	LodeMapsLine map = {.path = 0};
	unsigned long long start, end, offset, inode;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, map.access, &offset,
		    &map.device_major, &map.device_minor, &inode, &map.path) < 7 ||
		end <= start)
		return false;
	map.start = start;
	map.end = end;
	map.offset = offset;
	map.inode = inode;
	*out_mapping = map;
	return true;
}
