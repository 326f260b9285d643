/* SPDX-License-Identifier: MIT */
#include "vm_structs.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MAX_VALUE = 4096, MAX_ENTRIES = 100000 };

/* The symbols of a table: its entries, and where these have their parts. */
typedef struct {
	const char *entries, *type, *field, *value, *stride; /* field NULL: none */
} Table;

static uint64_t value_of(void *library, const char *name)
{
	const uint64_t *value = dlsym(library, name);

	return value != NULL ? *value : 0;
}

static const char *text_at(const char *address)
{
	return *(const char *const *)(const void *)address;
}

static int64_t find(void *library, const Table *table, const char *type, const char *field)
{
	const char *entry = (const char *)(uintptr_t)value_of(library, table->entries);
	uint64_t of_type = value_of(library, table->type), value;
	uint64_t of_field = table->field != NULL ? value_of(library, table->field) : of_type;
	uint64_t of_value = value_of(library, table->value);
	uint64_t stride = value_of(library, table->stride);

	for (int i = 0; entry != NULL && stride > 0 && i < MAX_ENTRIES; i++, entry += stride) {
		if (text_at(entry + of_type) == NULL || text_at(entry + of_field) == NULL)
			break;
		if (strcmp(text_at(entry + of_type), type) != 0 ||
			(field != NULL && strcmp(text_at(entry + of_field), field) != 0))
			continue;
		memcpy(&value, entry + of_value, sizeof value);
		return value <= MAX_VALUE ? (int64_t)value : -1;
	}
	return -1;
}

static int64_t find_in_machine(const Table *table, const char *type, const char *field)
{
	void *library = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
	int64_t found = library != NULL ? find(library, table, type, field) : -1;

	if (library != NULL)
		dlclose(library);
	return found;
}

int64_t vm_struct_offset(const char *type, const char *field)
{
	static const Table table = {"gHotSpotVMStructs", "gHotSpotVMStructEntryTypeNameOffset",
		"gHotSpotVMStructEntryFieldNameOffset", "gHotSpotVMStructEntryOffsetOffset",
		"gHotSpotVMStructEntryArrayStride"};

	return find_in_machine(&table, type, field);
}

int64_t vm_struct_size(const char *type)
{
	static const Table table = {"gHotSpotVMTypes", "gHotSpotVMTypeEntryTypeNameOffset", NULL,
		"gHotSpotVMTypeEntrySizeOffset", "gHotSpotVMTypeEntryArrayStride"};

	return find_in_machine(&table, type, NULL);
}

bool vm_struct_read(uint64_t address, void *out, size_t size)
{
	struct iovec local = {out, size}, remote = {(void *)(uintptr_t)address, size};

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}
