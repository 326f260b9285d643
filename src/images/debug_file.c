/* SPDX-License-Identifier: MIT */
/* The places are those of gdb's manual, "Debugging Information in Separate Files". */
#include "images/debug_file.h"

#include <string.h>
#ifdef LODE_HAVE_DEBUGINFOD
#include <elfutils/debuginfod.h>
#include <stdlib.h>
#include <unistd.h>
#endif

#define DEFAULT_DEBUG_DIRECTORY "/usr/lib/debug"

typedef struct {
	const char *name;
	uint32_t checksum;
} DebugLink;

static LodeElfFile *open_quietly(const char *path)
{
	if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
		return NULL;
	return lode_elf_file_open(path, NULL);
}

static LodeElfFile *find_by_build_id(const LodeElfFile *image, const char *directory)
{
	g_autoptr(LodeElfFile) file = NULL;
	g_autofree char *path = NULL;

	if (image->build_id == NULL || strlen(image->build_id) < 4)
		return NULL;
	path = g_strdup_printf(
		"%s/.build-id/%.2s/%s.debug", directory, image->build_id, image->build_id + 2);
	file = open_quietly(path);
	if (file == NULL || g_strcmp0(file->build_id, image->build_id) != 0)
		return NULL;
	return g_steal_pointer(&file);
}

/* CRC-32 of IEEE 802.3, as .gnu_debuglink wants it. */
static uint32_t checksum_of(const LodeElfFile *file)
{
	uint32_t table[256], checksum = UINT32_MAX;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = (table[i] >> 1) ^ (table[i] & 1 ? 0xedb88320U : 0);
	}
	for (size_t i = 0; i < file->size; i++)
		checksum = (checksum >> 8) ^ table[(checksum ^ file->data[i]) & 0xff];
	return ~checksum;
}

static bool read_link(const LodeElfFile *image, DebugLink *out_link)
{
	const LodeElfSection *section = lode_elf_file_find_section(image, ".gnu_debuglink");
	size_t n;

	if (section == NULL || section->size < 8 ||
		memchr(section->bytes, '\0', (size_t)section->size - 4) == NULL)
		return false;
	out_link->name = (const char *)section->bytes;
	n = (strlen(out_link->name) + 4) & ~(size_t)3;
	if (n + 4 > section->size || strchr(out_link->name, '/') != NULL)
		return false;
	memcpy(&out_link->checksum, section->bytes + n, sizeof out_link->checksum);
	return true;
}

static LodeElfFile *open_linked(const LodeElfFile *image, const DebugLink *link, char *path)
{
	g_autofree char *owned = path;
	g_autoptr(LodeElfFile) file = NULL;

	if (strcmp(owned, image->path) == 0)
		return NULL;
	file = open_quietly(owned);
	if (file == NULL)
		return NULL;
	if (image->build_id != NULL && file->build_id != NULL) {
		if (strcmp(image->build_id, file->build_id) != 0)
			return NULL;
	} else if (checksum_of(file) != link->checksum) {
		return NULL;
	}
	return g_steal_pointer(&file);
}

static LodeElfFile *find_by_link(const LodeElfFile *image, const char *directory)
{
	g_autofree char *real = g_canonicalize_filename(image->path, NULL);
	g_autofree char *folder = g_path_get_dirname(real);
	LodeElfFile *file;
	DebugLink link;

	if (!read_link(image, &link))
		return NULL;
	file = open_linked(image, &link, g_build_filename(folder, link.name, NULL));
	if (file == NULL)
		file = open_linked(
			image, &link, g_build_filename(folder, ".debug", link.name, NULL));
	if (file == NULL)
		file = open_linked(
			image, &link, g_build_filename(directory, folder, link.name, NULL));
	return file;
}

#ifdef LODE_HAVE_DEBUGINFOD
static LodeElfFile *find_by_server(const LodeElfFile *image)
{
	LodeElfFile *file = NULL;
	debuginfod_client *client;
	char *path = NULL;
	int fd;

	if (image->build_id == NULL || g_getenv(DEBUGINFOD_URLS_ENV_VAR) == NULL)
		return NULL;
	client = debuginfod_begin();
	if (client == NULL)
		return NULL;
	/* length 0: the build-id is given as hexadecimal text */
	fd = debuginfod_find_debuginfo(client, (const unsigned char *)image->build_id, 0, &path);
	if (fd >= 0) {
		file = open_quietly(path);
		free(path);
		close(fd);
	}
	debuginfod_end(client);
	return file;
}
#else
static LodeElfFile *find_by_server(const LodeElfFile *image)
{
	(void)image;
	return NULL;
}
#endif

LodeElfFile *lode_debug_file_find(const LodeElfFile *image, const LodeBinaryImageOptions *options)
{
	const char *directory = options != NULL && options->debug_directory != NULL
	                                ? options->debug_directory
	                                : DEFAULT_DEBUG_DIRECTORY;
	LodeElfFile *file = find_by_build_id(image, directory);

	if (file == NULL)
		file = find_by_link(image, directory);
	if (file == NULL && options != NULL && options->allow_debuginfod)
		file = find_by_server(image);
	return file;
}
