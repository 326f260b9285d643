/* SPDX-License-Identifier: MIT */
#include "record/perf_features.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MAX_BUILD_ID = 20,
	PATH_ALIGNMENT = 64,
	RECORD_BUILD_ID = 67,         /* perf's number */
	MISC_BUILD_ID_SIZE = 1 << 15, /* the byte after the id is its size */
};

typedef struct {
	struct perf_event_header header;
	int32_t pid;
	uint8_t build_id[MAX_BUILD_ID], size, reserved[3];
} Entry;

/* False: not an ELF file, or one without. A named pipe must not hold us up. */
static bool read_build_id(const char *path, Entry *entry)
{
	struct stat status;
	const void *bytes;
	int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t size = -1;

	if (descriptor < 0)
		return false;
	if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
		Elf *elf = elf_begin(descriptor, ELF_C_READ_MMAP, NULL);
		size = elf != NULL ? dwelf_elf_gnu_build_id(elf, &bytes) : -1;
		if (size > 0) {
			entry->size = (uint8_t)MIN(size, MAX_BUILD_ID);
			memcpy(entry->build_id, bytes, entry->size);
		}
		elf_end(elf);
	}
	close(descriptor);
	return size > 0;
}

static void add_file(GByteArray *section, const char *path)
{
	static const guint8 zeros[PATH_ALIGNMENT];
	guint length = (guint)strlen(path);
	guint padded = (length + PATH_ALIGNMENT) / PATH_ALIGNMENT * PATH_ALIGNMENT;
	Entry entry = {
		.header = {RECORD_BUILD_ID, PERF_RECORD_MISC_USER | MISC_BUILD_ID_SIZE,
			(uint16_t)(sizeof(entry) + padded)},
		.pid = -1,
	};

	if (!read_build_id(path, &entry))
		return;
	g_byte_array_append(section, (const guint8 *)&entry, sizeof(entry));
	g_byte_array_append(section, (const guint8 *)path, length);
	g_byte_array_append(section, zeros, padded - length);
}

GByteArray *lode_perf_build_ids_make(const GHashTable *paths)
{
	GByteArray *section = g_byte_array_new();
	g_autoptr(GList) keys = g_hash_table_get_keys((GHashTable *)paths);

	elf_version(EV_CURRENT);
	keys = g_list_sort(keys, (GCompareFunc)strcmp);
	for (const GList *at = keys; at != NULL; at = at->next)
		add_file(section, at->data);
	return section;
}
