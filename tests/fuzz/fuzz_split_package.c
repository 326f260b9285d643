/* SPDX-License-Identifier: MIT */
/*
 * A program and its package of split debug information, hostile both: the length of the program (4
 * bytes, little-endian), the program, the package. They are files of a directory that stays.
 */
#include "images/elf/binary_image.h"
#include "images/types/data_types.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_SIZE = 1 << 20, MAX_FUNCTIONS = 32, PER_FUNCTION = 8 };

static char *directory;

static void remove_directory(void)
{
	g_autofree char *program = g_build_filename(directory, "program", NULL);
	g_autofree char *package = g_build_filename(directory, "program.dwp", NULL);

	g_unlink(program);
	g_unlink(package);
	g_rmdir(directory);
	g_free(directory);
}

static char *write_file(const char *name, const uint8_t *data, size_t size)
{
	char *path = g_build_filename(directory, name, NULL);

	g_assert_true(g_file_set_contents_full(
		path, (const char *)data, (gssize)size, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const LodeBinaryImageOptions options = {.debug_directory = "/nonexistent"};
	uint64_t addresses[MAX_FUNCTIONS * PER_FUNCTION];
	LodeBinaryLocation locations[G_N_ELEMENTS(addresses)];
	uint32_t n_program;
	size_t n, n_addresses = 0;

	if (size < sizeof n_program || size > MAX_SIZE)
		return 0;
	if (directory == NULL) {
		directory = g_dir_make_tmp("lode-fuzz-XXXXXX", NULL);
		g_assert_nonnull(directory);
		atexit(remove_directory);
	}
	memcpy(&n_program, data, sizeof n_program);
	data += sizeof n_program;
	size -= sizeof n_program;
	n_program = (uint32_t)MIN(n_program, size);
	g_autofree char *program = write_file("program", data, n_program);
	G_GNUC_UNUSED g_autofree char *package = write_file(
		"program.dwp", data + n_program, size - n_program);
	g_autoptr(LodeBinaryImage) image = lode_binary_image_open(program, &options, NULL);
	if (image == NULL)
		return 0;
	const LodeBinaryFunction *functions = lode_binary_image_functions(image, &n);
	for (size_t i = 0; i < MIN(n, MAX_FUNCTIONS); i++)
		for (size_t k = 0; k < PER_FUNCTION; k++)
			addresses[n_addresses++] = functions[i].address +
			                           k * functions[i].size / PER_FUNCTION;
	lode_binary_image_locate(image, addresses, n_addresses, locations);
	g_autoptr(LodeDataTypes) types = lode_data_types_new(image);
	for (size_t i = 0; i < n_addresses; i++) {
		LodeDataReference reference;

		lode_data_types_find(types, addresses[i], 0, NULL, &reference);
	}
	lode_data_types_find_name(types, "struct node");
	return 0;
}
