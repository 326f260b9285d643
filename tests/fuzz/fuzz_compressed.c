/* SPDX-License-Identifier: MIT */
/* Any bytes as a file that may be compressed: what comes out is bounded by what goes in, and its
 * start is that of the whole. */
#include "base/files/input_file.h"
#include "fuzz_target.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL, why = NULL;
	const char *path = fuzz_file(data, size);
	g_autoptr(LodeInputFile) file = lode_input_file_open_unpacked(path, &error);
	char start[64];
	size_t n;

	if ((file == NULL) != (error != NULL))
		g_error("a result and an error");
	bool has_start = lode_input_file_read_start(path, start, sizeof(start), &n, &why);
	if (has_start == (why != NULL))
		g_error("a start and an error");
	if (file == NULL)
		return 0;
	if (!has_start || n != MIN(file->size, sizeof(start)))
		g_error("the start of a whole file is not there");
	g_autofree char *bytes = lode_input_file_load(file, 0, file->size, NULL);
	if (bytes == NULL || memcmp(bytes, start, n) != 0)
		g_error("a start of another file");
	return 0;
}
