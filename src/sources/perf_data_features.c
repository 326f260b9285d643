/* SPDX-License-Identifier: MIT */
/*
 * What perf wrote about the machine and the run. A text is a length, and as many bytes with NULs
 * after the text. A feature that ends before its counts say is left out from there on and counted:
 * no sample depends on it.
 */
#include "sources/perf_data_reader.h"

#include <string.h>

static const char *read_text(LodePerfData *self, LodeByteCursor *cursor)
{
	uint32_t size = lode_byte_cursor_u32(cursor);
	const uint8_t *text = lode_byte_cursor_bytes(cursor, size);

	return text != NULL ? lode_perf_data_keep_text(self, text, size) : NULL;
}

static void read_one_text(LodePerfData *self, LodeByteCursor *cursor, const char **out_text)
{
	const char *text = read_text(self, cursor);

	if (text != NULL)
		*out_text = text;
}

static void append_word(GString *command, const char *word)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_-+=./:,@%";

	if (command->len > 0)
		g_string_append_c(command, ' ');
	if (*word != '\0' && word[strspn(word, safe)] == '\0') {
		g_string_append(command, word);
		return;
	}
	g_autofree char *quoted = g_shell_quote(word);
	g_string_append(command, quoted);
}

static void read_command_line(LodePerfData *self, LodeByteCursor *cursor)
{
	g_autoptr(GString) command = g_string_new(NULL);

	for (uint32_t n = lode_byte_cursor_u32(cursor); n > 0 && !cursor->is_overrun; n--) {
		const char *word = read_text(self, cursor);
		if (word != NULL)
			append_word(command, word);
	}
	if (!cursor->is_overrun)
		self->info.command = g_string_chunk_insert(self->strings, command->str);
}

static bool read_time(const char *text, const char *name, uint64_t *out_time_ns)
{
	guint64 value;

	if (!g_str_has_prefix(text, name) ||
		!g_ascii_string_to_unsigned(text + strlen(name), 10, 0, INT64_MAX, &value, NULL))
		return false;
	*out_time_ns = value;
	return true;
}

/* "user-ns=1200000", "system-ns=…", then "--" and the words of the program. */
static void read_program(LodePerfData *self, LodeByteCursor *cursor)
{
	g_autoptr(GString) program = g_string_new(NULL);
	bool is_program = false;

	for (uint32_t n = lode_byte_cursor_u32(cursor); n > 0 && !cursor->is_overrun; n--) {
		const char *text = read_text(self, cursor);
		if (text == NULL)
			break;
		if (is_program)
			append_word(program, text);
		else if (strcmp(text, "--") == 0)
			is_program = true;
		else if (!read_time(text, "user-ns=", &self->info.user_ns))
			read_time(text, "system-ns=", &self->info.system_ns);
	}
	if (!cursor->is_overrun && program->len > 0)
		self->info.program = g_string_chunk_insert(self->strings, program->str);
}

/* The names come in the order of the attributes. */
static void read_event_description(LodePerfData *self, LodeByteCursor *cursor)
{
	uint32_t n = lode_byte_cursor_u32(cursor);
	uint32_t attribute_size = lode_byte_cursor_u32(cursor);

	for (uint32_t i = 0; i < n && !cursor->is_overrun; i++) {
		lode_byte_cursor_skip(cursor, attribute_size);
		uint32_t n_ids = lode_byte_cursor_u32(cursor);
		const char *name = read_text(self, cursor);
		lode_byte_cursor_skip(cursor, 8 * (uint64_t)n_ids);
		if (name != NULL)
			lode_perf_data_name_event(self, i, name);
	}
}

static void read_text_list(LodePerfData *self, LodeByteCursor *cursor, GPtrArray *out_texts)
{
	g_ptr_array_set_size(out_texts, 0);
	for (uint32_t n = lode_byte_cursor_u32(cursor); n > 0 && !cursor->is_overrun; n--) {
		const char *text = read_text(self, cursor);
		if (text != NULL)
			g_ptr_array_add(out_texts, (char *)text);
	}
}

static void read_numa_topology(LodePerfData *self, LodeByteCursor *cursor)
{
	g_array_set_size(self->info.numa_nodes, 0);
	for (uint32_t n = lode_byte_cursor_u32(cursor); n > 0 && !cursor->is_overrun; n--) {
		LodePerfNumaNode node = {.node = lode_byte_cursor_u32(cursor)};
		node.total_kib = lode_byte_cursor_u64(cursor);
		node.free_kib = lode_byte_cursor_u64(cursor);
		node.cpus = read_text(self, cursor);
		if (node.cpus != NULL)
			g_array_append_val(self->info.numa_nodes, node);
	}
}

static void read_pmu_mappings(LodePerfData *self, LodeByteCursor *cursor)
{
	bool is_first = g_hash_table_size(self->pmu_names) == 0;

	for (uint32_t n = lode_byte_cursor_u32(cursor); n > 0 && !cursor->is_overrun; n--) {
		uint32_t type = lode_byte_cursor_u32(cursor);
		const char *name = read_text(self, cursor);
		if (name != NULL)
			g_hash_table_insert(self->pmu_names, GUINT_TO_POINTER(type), (char *)name);
	}
	if (is_first)
		lode_perf_data_make_names(self, 0);
}

static void read_clock_data(LodePerfData *self, LodeByteCursor *cursor)
{
	uint32_t version = lode_byte_cursor_u32(cursor);
	uint32_t clock_id = lode_byte_cursor_u32(cursor);

	if (version == 1 && !cursor->is_overrun)
		self->info.clock_id = (int32_t)clock_id;
}

/* Old perf gives 20 bytes always, and ids of 16 bytes are followed by zeros then. */
static unsigned count_build_id_bytes(uint16_t misc, const uint8_t *build_id)
{
	static const uint8_t zeros[4];

	if (misc & LODE_PERF_MISC_BUILD_ID_SIZE)
		return MIN(build_id[LODE_PERF_BUILD_ID_BYTES], LODE_PERF_BUILD_ID_BYTES);
	return memcmp(build_id + 16, zeros, 4) == 0 ? 16 : LODE_PERF_BUILD_ID_BYTES;
}

bool lode_perf_data_read_build_id(LodePerfData *self, uint16_t misc, LodeByteCursor *cursor)
{
	LodePerfBuildId entry = {.pid = lode_byte_cursor_u32(cursor)};
	const uint8_t *build_id = lode_byte_cursor_bytes(cursor, LODE_PERF_BUILD_ID_BYTES + 4);
	size_t size = lode_byte_cursor_left(cursor);
	const char *path = (const char *)lode_byte_cursor_bytes(cursor, size);
	char hex[2 * LODE_PERF_BUILD_ID_BYTES + 1] = "";

	if (cursor->is_overrun || strnlen(path, size) == size)
		return false;
	for (unsigned i = 0; i < count_build_id_bytes(misc, build_id); i++)
		g_snprintf(hex + (size_t)2 * i, 3, "%02x", build_id[i]);
	entry.mode = (LodePerfMode)MIN(
		misc & PERF_RECORD_MISC_CPUMODE_MASK, LODE_PERF_MODE_GUEST_USER);
	entry.build_id = g_string_chunk_insert(self->strings, hex);
	entry.path = g_string_chunk_insert(self->strings, path);
	g_array_append_val(self->info.build_ids, entry);
	return true;
}

static void read_build_ids(LodePerfData *self, LodeByteCursor *cursor)
{
	while (lode_byte_cursor_left(cursor) > 0 && !cursor->is_overrun) {
		LodePerfRawRecord raw;
		size_t left = lode_byte_cursor_left(cursor);
		size_t size = lode_perf_data_split_record(self, cursor->at, left, &raw);
		/* A size of 0 or one without a header passes the end too. */
		lode_byte_cursor_skip(cursor, size == 0 ? SIZE_MAX : size);
		if (!cursor->is_overrun)
			cursor->is_overrun = !lode_perf_data_read_build_id(
				self, raw.misc, &raw.payload);
	}
}

static void read_known_feature(LodePerfData *self, uint64_t feature, LodeByteCursor *cursor)
{
	LodePerfInfo *info = &self->info;

	switch (feature) {
	case LODE_PERF_FEATURE_BUILD_ID:
		read_build_ids(self, cursor);
		return;
	case LODE_PERF_FEATURE_HOSTNAME:
		read_one_text(self, cursor, &info->host);
		return;
	case LODE_PERF_FEATURE_OS_RELEASE:
		read_one_text(self, cursor, &info->os_release);
		return;
	case LODE_PERF_FEATURE_VERSION:
		read_one_text(self, cursor, &info->version);
		return;
	case LODE_PERF_FEATURE_ARCHITECTURE:
		read_one_text(self, cursor, &info->architecture);
		return;
	case LODE_PERF_FEATURE_CPU_COUNT:
		info->n_cpus_available = lode_byte_cursor_u32(cursor);
		info->n_cpus_online = lode_byte_cursor_u32(cursor);
		return;
	case LODE_PERF_FEATURE_CPU_DESCRIPTION:
		read_one_text(self, cursor, &info->cpu_description);
		return;
	case LODE_PERF_FEATURE_CPU_ID:
		read_one_text(self, cursor, &info->cpu_id);
		return;
	case LODE_PERF_FEATURE_TOTAL_MEMORY:
		info->total_memory_kib = lode_byte_cursor_u64(cursor);
		return;
	case LODE_PERF_FEATURE_COMMAND_LINE:
		read_command_line(self, cursor);
		return;
	case LODE_PERF_FEATURE_EVENT_DESCRIPTION:
		read_event_description(self, cursor);
		return;
	case LODE_PERF_FEATURE_CPU_TOPOLOGY:
		read_text_list(self, cursor, info->core_siblings);
		read_text_list(self, cursor, info->thread_siblings);
		return;
	case LODE_PERF_FEATURE_NUMA_TOPOLOGY:
		read_numa_topology(self, cursor);
		return;
	case LODE_PERF_FEATURE_PMU_MAPPINGS:
		read_pmu_mappings(self, cursor);
		return;
	case LODE_PERF_FEATURE_CLOCK_DATA:
		read_clock_data(self, cursor);
		return;
	case LODE_PERF_FEATURE_LODE:
		read_program(self, cursor);
		return;
	default:
		return;
	}
}

void lode_perf_data_read_feature(LodePerfData *self, uint64_t feature, LodeByteCursor cursor)
{
	/* In a pipe, an empty one with the number after the last says that all have come. */
	if (feature > LODE_PERF_FEATURE_LAST_KNOWN && feature != LODE_PERF_FEATURE_LODE)
		self->info.n_unknown_features += lode_byte_cursor_left(&cursor) > 0;
	else
		read_known_feature(self, feature, &cursor);
	if (cursor.is_overrun)
		self->info.n_damaged_features++;
}
