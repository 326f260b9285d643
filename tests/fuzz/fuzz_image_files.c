/* SPDX-License-Identifier: MIT */
/* Binaries that are given for an import: files, and archives of them, whatever their bytes are. */
#include "fuzz_target.h"
#include "process/images/image_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const LodeImageIdentity wanted[] = {
		{.path = "/usr/bin/program"}, {.path = "/gone", .build_id = "0123456789abcdef"}};
	g_autoptr(LodeImageFiles) files = lode_image_files_new(false);
	g_autoptr(GError) error = NULL;
	const char *path = fuzz_file(data, size);

	lode_image_files_is_format((const char *)data, size);
	bool is_taken = lode_image_files_give(files, path, &error);
	if (is_taken == (error != NULL))
		g_error("a result and an error");
	for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++) {
		LodeFoundImageFile found;
		lode_image_files_find(files, &wanted[i], &found);
		if (found.path != NULL && !g_file_test(found.path, G_FILE_TEST_IS_REGULAR))
			g_error("'%s' is not there", found.path);
		lode_found_image_file_clear(&found);
	}
	return 0;
}
