/* SPDX-License-Identifier: MIT */
/* The pages of this process that the kernel made, as an image. */
#include "images/elf/elf_file.h"
#include "images/elf/vdso_image.h"

static void test_write(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodePrivateFolder) folder = lode_private_folder_new(&error);
	size_t size;

	g_assert_no_error(error);
	g_autofree char *path = lode_vdso_image_write(folder, &error);
	if (lode_vdso_image_bytes(&size) == NULL) {
		g_assert_null(path);
		g_test_skip(error->message);
		return;
	}
	g_assert_no_error(error);
	g_autofree char *second = lode_vdso_image_write(folder, &error);
	g_assert_cmpstr(path, !=, second);
	g_autoptr(LodeElfFile) file = lode_elf_file_open(path, &error);
	g_assert_no_error(error);
	g_autofree char *build_id = lode_vdso_image_build_id();
	g_assert_cmpstr(file->build_id, ==, build_id);
	g_assert_nonnull(lode_elf_file_find_type(file, SHT_DYNSYM));
	g_autofree char *place = g_strdup(folder->path);
	lode_private_folder_free(g_steal_pointer(&folder));
	g_assert_false(g_file_test(place, G_FILE_TEST_EXISTS));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vdso-image/write", test_write);
	return g_test_run();
}
