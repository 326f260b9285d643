/* SPDX-License-Identifier: MIT */
#include "sources/signature_directory.h"

#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "sources/signature_file.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

/* Paths of the signatures of a directory, in the order of their names. */
static GPtrArray *list_signatures(const char *directory, GError **error)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
	DIR *listing = opendir(directory);
	const struct dirent *entry;

	if (listing == NULL) {
		int code = errno;
		g_set_error(
			error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", directory, g_strerror(code));
		return NULL;
	}
	while ((entry = readdir(listing)) != NULL)
		if (g_str_has_suffix(entry->d_name, ".sig"))
			g_ptr_array_add(paths, g_build_filename(directory, entry->d_name, NULL));
	closedir(listing);
	g_ptr_array_sort(paths, lode_compare_texts);
	if (paths->len == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"%s: no signature (*.sig); lode signature makes one", directory);
		return NULL;
	}
	return g_steal_pointer(&paths);
}

GPtrArray *lode_signature_directory_read(const char *path, GError **error)
{
	g_autoptr(GPtrArray) paths = list_signatures(path, error);
	g_autoptr(GPtrArray)
		signatures = g_ptr_array_new_with_free_func((GDestroyNotify)lode_signature_free);
	g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; paths != NULL && i < paths->len; i++) {
		const char *file = g_ptr_array_index(paths, i);
		LodeSignature *signature = lode_signature_file_read(file, error);
		if (signature == NULL)
			return NULL;
		g_ptr_array_add(signatures, signature);
		const char *other = g_hash_table_lookup(names, signature->name);
		if (other != NULL) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
				"%s: the name '%s' is also that of %s", file, signature->name,
				other);
			return NULL;
		}
		g_hash_table_insert(names, signature->name, (char *)file);
	}
	return paths != NULL ? g_steal_pointer(&signatures) : NULL;
}
