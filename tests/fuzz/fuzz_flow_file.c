/* SPDX-License-Identifier: MIT */
/* Any bytes as a flow file; what can be read must survive being written and read again. */
#include "fuzz_target.h"
#include "model/profile.h"
#include "sources/flow_file/flow_file.h"

#include <stdlib.h>
#include <string.h>

static char *write_text(const LodeProfile *profile, size_t *out_size)
{
	g_autoptr(GError) error = NULL;
	char *text = NULL;
	FILE *out = open_memstream(&text, out_size);

	bool is_written = lode_flow_file_write(
		profile, profile->code.weight_event, 0.01, out, &error);
	fclose(out);
	if (!is_written)
		g_error("what was read cannot be written: %s", error->message);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeProfile) profile = lode_flow_file_read(fuzz_file(data, size), NULL, &error);
	size_t once_size, twice_size;

	if ((profile == NULL) != (error != NULL))
		g_error("a result and an error");
	if (profile == NULL)
		return 0;
	char *once = write_text(profile, &once_size);
	g_autoptr(LodeProfile) again = lode_flow_file_read(
		fuzz_file((const uint8_t *)once, once_size), NULL, &error);
	if (again == NULL)
		g_error("what was written cannot be read: %s", error->message);
	char *twice = write_text(again, &twice_size);
	if (once_size != twice_size || memcmp(once, twice, once_size) != 0)
		g_error("the round trip changes the file");
	free(once);
	free(twice);
	return 0;
}
