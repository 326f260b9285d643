/* SPDX-License-Identifier: MIT */
/*
 * The places are those of gdb's manual, "Debugging Information in Separate Files".
 * dwfl_standard_find_debuginfo() knows them too, but it contacts the servers in DEBUGINFOD_URLS by
 * itself when it finds nothing, and lode uses the network only with --debuginfod.
 */
#include "images/dwarf/debug_file.h"

#include "machine/late_library.h"

#include <elfutils/libdwelf.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#ifdef LODE_HAVE_DEBUGINFOD
#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#endif

enum { BLOCK_BYTES = 1 << 16 };

/* Debug information of the largest programs, such as browsers, has somewhat less. */
#define MAX_ANSWER_BYTES (UINT64_C(2) << 30)

#define DEFAULT_DEBUG_DIRECTORY "/usr/lib/debug"

/* Where .gnu_debuglink leads. */
typedef struct {
	const char *name;
	GElf_Word checksum;
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

/* The checksum of the whole file, as in .gnu_debuglink. */
static bool has_checksum(const LodeElfFile *file, GElf_Word checksum)
{
	g_autofree uint8_t *block = g_malloc(BLOCK_BYTES);
	uLong sum = crc32(0, NULL, 0);
	ssize_t n = 1;

	for (uint64_t at = 0; n > 0 && at < file->size; at += (uint64_t)n) {
		n = pread(file->fd, block, BLOCK_BYTES, (off_t)at);
		sum = n > 0 ? crc32(sum, block, (uInt)n) : sum;
	}
	return n > 0 && sum == checksum;
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
	} else if (!has_checksum(file, link->checksum)) {
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

	link.name = dwelf_elf_gnu_debuglink(image->elf, &link.checksum);
	if (link.name == NULL || strchr(link.name, '/') != NULL)
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

typedef enum { WANTS_DEBUG_FILE, WANTS_BINARY } Wanted;

#ifdef LODE_HAVE_DEBUGINFOD
/* The client library needs curl and, with it, 25 more libraries. */
typedef struct {
	__typeof__(&debuginfod_begin) begin;
	__typeof__(&debuginfod_set_progressfn) set_progress;
	__typeof__(&debuginfod_find_debuginfo) find_debuginfo;
	__typeof__(&debuginfod_find_executable) find_executable;
	__typeof__(&debuginfod_end) end;
} Debuginfod;

static bool open_debuginfod(Debuginfod *out)
{
	const LodeLateSymbol symbols[] = {
		{"debuginfod_begin", &out->begin},
		{"debuginfod_set_progressfn", &out->set_progress},
		{"debuginfod_find_debuginfo", &out->find_debuginfo},
		{"debuginfod_find_executable", &out->find_executable},
		{"debuginfod_end", &out->end},
	};

	return lode_late_library_open(
		"libdebuginfod.so.1", RTLD_LAZY, symbols, G_N_ELEMENTS(symbols), NULL);
}

static guint64 most_bytes(void)
{
	const char *given = g_getenv(DEBUGINFOD_MAXSIZE_ENV_VAR);
	guint64 most = given != NULL ? g_ascii_strtoull(given, NULL, 10) : 0;

	return most > 0 ? MIN(most, MAX_ANSWER_BYTES) : MAX_ANSWER_BYTES;
}

/* The client itself has a limit only if it is set, and only for answers that state their size.
 * Nonzero ends the answer, which is discarded. */
static int is_too_large(debuginfod_client *client, long done, long whole)
{
	(void)client;
	return MAX(done, whole) > 0 && (guint64)MAX(done, whole) > most_bytes();
}

/* Only a file that this request has just put into the client's cache is checked for its size, not
 * one that was there before. */
static bool is_kept(const char *path, int descriptor, time_t asked)
{
	struct stat status;

	if (fstat(descriptor, &status) == 0 && (guint64)status.st_size <= most_bytes())
		return true;
	bool is_new = status.st_ctim.tv_sec >= asked;
	if (is_new)
		unlink(path);
	return !is_new;
}

/* The path in the client's cache; NULL: nothing, or nothing within the limit. */
static char *fetch(const char *build_id, Wanted wanted)
{
	const unsigned char *text = (const unsigned char *)build_id;
	debuginfod_client *client;
	Debuginfod debuginfod;
	char *path = NULL, *kept = NULL;
	int fd;

	if (build_id == NULL || g_getenv(DEBUGINFOD_URLS_ENV_VAR) == NULL ||
		!open_debuginfod(&debuginfod))
		return NULL;
	client = debuginfod.begin();
	if (client == NULL)
		return NULL;
	debuginfod.set_progress(client, is_too_large);
	time_t asked = time(NULL) - 1; /* times of files are rounded down */
	/* length 0: the build-id is given as hexadecimal text */
	fd = wanted == WANTS_BINARY ? debuginfod.find_executable(client, text, 0, &path)
	                            : debuginfod.find_debuginfo(client, text, 0, &path);
	if (fd >= 0) {
		if (is_kept(path, fd, asked))
			kept = g_strdup(path);
		free(path);
		close(fd);
	}
	debuginfod.end(client);
	return kept;
}
#else
static char *fetch(const char *build_id, Wanted wanted)
{
	(void)build_id;
	(void)wanted;
	return NULL;
}
#endif

char *lode_debug_file_fetch_binary(const char *build_id)
{
	return fetch(build_id, WANTS_BINARY);
}

static LodeElfFile *find_by_server(const LodeElfFile *image)
{
	g_autofree char *path = fetch(image->build_id, WANTS_DEBUG_FILE);

	return path != NULL ? open_quietly(path) : NULL;
}

LodeElfFile *lode_debug_file_find(const LodeElfFile *image, const LodeBinaryImageOptions *options)
{
	const char *directory = options != NULL && options->debug_directory != NULL
	                                ? options->debug_directory
	                                : DEFAULT_DEBUG_DIRECTORY;
	LodeElfFile *file = options != NULL && options->debug_file != NULL
	                            ? open_quietly(options->debug_file)
	                            : NULL;

	if (file != NULL && g_strcmp0(file->build_id, image->build_id) != 0)
		g_clear_pointer(&file, lode_elf_file_close);
	if (file == NULL)
		file = find_by_build_id(image, directory);
	if (file == NULL)
		file = find_by_link(image, directory);
	if (file == NULL && options != NULL && options->allow_debuginfod)
		file = find_by_server(image);
	return file;
}
