/* SPDX-License-Identifier: MIT */
/*
 * The header of a perf.data file.
 *
 *   header mode                                        pipe mode
 *   0   magic                                          0  magic
 *   8   size of the header                             8  size of the header: 16
 *   16  size of one attribute entry                    16 records
 *   24  attributes, data, event types: offset, size
 *   72  256 bits: the features there are; their sections stand after the data
 *
 * The byte order of the magic is that of the numbers, except before perf 3.4, where the size shows
 * it. Linux: tools/perf/Documentation/perf.data-file-format.txt.
 */
#include "base/bits.h"
#include "base/text/command_words.h"
#include "machine/figures/core_figures.h"
#include "machine/figures/memory_rates.h"
#include "sources/perf_data/perf_data_reader.h"

#include <string.h>

/*
 * The command line of perf that a recording has, of which only a part is the program that ran:
 *
 *     perf record -F 999 -e cycles:u ./program argument
 */

/* Options of 'perf record' whose value may be the next word (linux: tools/perf/builtin-record.c);
 * of a letter it may also be the rest of the word, of a name what comes after '='. */
static const char letters_with_value[] = "eprtCcoFmGDkju";
static const char *const names_with_value[] = {"affinity", "branch-filter", "call-graph", "cgroup",
	"clang-opt", "clang-path", "clockid", "control", "count", "cpu", "delay", "event", "filter",
	"freq", "max-size", "mmap-flush", "mmap-pages", "num-thread-synthesize", "off-cpu-thresh",
	"output", "pid", "proc-map-timeout", "realtime", "switch-max-files", "switch-output-event",
	"synth", "tid", "uid", "vmlinux", NULL};

/* With these what is recorded is not, or not only, the program. */
static const char letters_of_others[] = "aptCu";
static const char *const names_of_others[] = {"all-cpus", "pid", "tid", "cpu", "uid", NULL};

typedef struct {
	bool has_value; /* in the next word */
	bool is_of_others;
} Option;

static Option read_letters(const char *letters)
{
	Option option = {0};

	for (; *letters != '\0'; letters++) {
		option.is_of_others |= strchr(letters_of_others, *letters) != NULL;
		if (strchr(letters_with_value, *letters) != NULL) {
			option.has_value = letters[1] == '\0';
			break;
		}
	}
	return option;
}

static Option read_name(const char *text)
{
	g_auto(GStrv) parts = g_strsplit(text, "=", 2);

	return (Option){
		.has_value = parts[0] != NULL && parts[1] == NULL &&
	                     g_strv_contains(names_with_value, parts[0]),
		.is_of_others = parts[0] != NULL && g_strv_contains(names_of_others, parts[0]),
	};
}

static bool is_recording(const char *const *words, guint n_words)
{
	if (n_words < 3)
		return false;
	g_autofree char *recorder = g_path_get_basename(words[0]);
	return g_str_has_prefix(recorder, "perf") && strcmp(words[1], "record") == 0;
}

/*
 * The number of the word that the program begins with; 0: there is none, or it was not recorded, as
 * in 'perf record -p 4711 sleep 10'. As of perf 6.1; an unknown option is taken to have no word of
 * its own after it.
 */
static guint first_program_word(const char *const *words, guint n_words)
{
	if (!is_recording(words, n_words))
		return 0;
	for (guint i = 2; i < n_words; i++) {
		if (strcmp(words[i], "--") == 0)
			return i + 1 < n_words ? i + 1 : 0;
		if (words[i][0] != '-')
			return i;
		Option option = words[i][1] == '-' ? read_name(words[i] + 2)
		                                   : read_letters(words[i] + 1);
		if (option.is_of_others)
			return 0;
		i += option.has_value;
	}
	return 0;
}

/* --- features: host, CPUs, build-ids, … --- */

/*
 * The features: perf's description of the machine and the run. A text is a length, and as many
 * bytes with NULs after the text. A feature that ends before its counts say is left out from there
 * on and counted: no sample depends on it.
 */

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

static char *join_words(const GPtrArray *words, guint first)
{
	GString *command = g_string_new(NULL);

	for (guint i = first; i < words->len; i++)
		lode_command_words_append(command, words->pdata[i]);
	return g_string_free(command, FALSE);
}

static void read_command_line(LodePerfData *self, LodeByteCursor *cursor)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new();

	for (uint32_t n = lode_byte_cursor_u32(cursor); n > 0 && !cursor->is_overrun; n--) {
		const char *word = read_text(self, cursor);
		if (word != NULL)
			g_ptr_array_add(words, (char *)word);
	}
	if (cursor->is_overrun)
		return;
	g_autofree char *command = join_words(words, 0);
	self->info.command = g_string_chunk_insert(self->strings, command);
	guint first = first_program_word((const char *const *)words->pdata, words->len);
	if (first == 0 || self->info.program != NULL)
		return;
	g_autofree char *program = join_words(words, first);
	self->info.program = g_string_chunk_insert(self->strings, program);
}

static void read_number(const char *text, const char *name, uint64_t *out_number)
{
	guint64 value;

	if (g_str_has_prefix(text, name) &&
		g_ascii_string_to_unsigned(text + strlen(name), 10, 0, INT64_MAX, &value, NULL))
		*out_number = value;
}

/* "read-l1-mb=130000": millions of bytes a second. */
static void read_rate(const char *text, LodeMemoryRates *rates)
{
	for (LodeRateLevel i = LODE_RATE_L1; i < LODE_N_RATES; i++) {
		const char *name = lode_rate_level_name(i);
		g_autofree char *read = g_strconcat("read-", name, "-mb=", NULL);
		g_autofree char *write = g_strconcat("write-", name, "-mb=", NULL);
		uint64_t read_mb = 0, write_mb = 0;
		read_number(text, read, &read_mb);
		read_number(text, write, &write_mb);
		if (read_mb > 0)
			rates->read[i] = (double)read_mb / 1e3;
		if (write_mb > 0)
			rates->write[i] = (double)write_mb / 1e3;
	}
}

static void read_speed(const char *text, LodeMachineSpeed *speed)
{
	const struct {
		const char *name;
		double *value, unit;
	} numbers[] = {
		{"speed-runs=", &speed->runs, 1},
		{"chain-fs=", &speed->chain_ns, 1e-6},
		{"chain-scatter-ppm=", &speed->chain_scatter, 1e-6},
		{"walk-fs=", &speed->walk_ns, 1e-6},
		{"walk-scatter-ppm=", &speed->walk_scatter, 1e-6},
		{"steal-ppm=", &speed->steal, 1e-6},
		{"others-ppm=", &speed->others, 1e-6},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
		uint64_t number = 0;
		read_number(text, numbers[i].name, &number);
		if (number > 0)
			*numbers[i].value = (double)number * numbers[i].unit;
	}
}

/* Three numbers of thousandths, with commas in between. */
static bool read_cycles(const char *text, LodeCoreCycles *out)
{
	g_auto(GStrv) words = g_strsplit(text, ",", 4);
	double *const values[] = {&out->median, &out->low, &out->high};

	if (g_strv_length(words) != G_N_ELEMENTS(values))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
		guint64 value;
		if (!g_ascii_string_to_unsigned(words[i], 10, 0, INT64_MAX, &value, NULL))
			return false;
		*values[i] = (double)value / 1e3;
	}
	return lode_core_cycles_are_valid(out);
}

/* "cycles-load=4000,3990,4020" */
static void read_core_figure(const char *text, LodeCoreFigures *figures)
{
	static const char prefix[] = "cycles-";
	const char *name = text + strlen(prefix), *number = strchr(text, '=');

	if (!g_str_has_prefix(text, prefix) || number == NULL)
		return;
	for (unsigned i = 0; i < LODE_N_CORE_FIGURES; i++) {
		const char *known = lode_core_figure_name((LodeCoreFigure)i);
		LodeCoreCycles cycles;
		if (strlen(known) == (size_t)(number - name) &&
			strncmp(known, name, strlen(known)) == 0 &&
			read_cycles(number + 1, &cycles))
			figures->of[i] = cycles;
	}
}

static void read_sampling(const char *text, LodePerfInfo *info)
{
	static const char by_ptrace[] = "by-ptrace=", otherwise[] = "sampling=";

	if (g_str_has_prefix(text, by_ptrace)) {
		info->run.sampling = text + strlen(by_ptrace);
		info->run.is_by_ptrace = true;
	} else if (g_str_has_prefix(text, otherwise)) {
		info->run.sampling = text + strlen(otherwise);
	}
}

/* Numbers, as "user-ns=1200000", then "--" and the words of the program. */
static void read_program(LodePerfData *self, LodeByteCursor *cursor)
{
	const struct {
		const char *name;
		uint64_t *value;
	} numbers[] = {
		{"user-ns=", &self->info.run.user_ns},
		{"system-ns=", &self->info.run.system_ns},
		{"page-faults=", &self->info.run.n_page_faults},
		{"processors=", &self->info.run.n_processors},
		{"sample-ns=", &self->info.run.sample_ns},
		{"sample-error-ns=", &self->info.run.sample_error_ns},
		{"clock-khz=", &self->info.run.clock_khz},
		{"wall-ns=", &self->info.run.wall_ns},
	};
	g_autoptr(GString) program = g_string_new(NULL);
	bool is_program = false;

	for (uint32_t n = lode_byte_cursor_u32(cursor); n > 0 && !cursor->is_overrun; n--) {
		const char *text = read_text(self, cursor);
		if (text == NULL)
			break;
		if (is_program)
			lode_command_words_append(program, text);
		else if (strcmp(text, "--") == 0)
			is_program = true;
		for (size_t i = 0; !is_program && i < G_N_ELEMENTS(numbers); i++)
			read_number(text, numbers[i].name, numbers[i].value);
		if (!is_program) {
			read_rate(text, &self->info.run.rates);
			read_speed(text, &self->info.run.speed);
			read_core_figure(text, &self->info.run.core_figures);
			read_sampling(text, &self->info);
		}
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
	bool is_first = g_hash_table_size(self->names.pmus) == 0;

	for (uint32_t n = lode_byte_cursor_u32(cursor); n > 0 && !cursor->is_overrun; n--) {
		uint32_t type = lode_byte_cursor_u32(cursor);
		const char *name = read_text(self, cursor);
		if (name != NULL)
			g_hash_table_insert(self->names.pmus, GUINT_TO_POINTER(type), (char *)name);
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

/* Zeros pad it. An id seldom ends by chance in as many zeros as the linkers' sizes differ by: 8
 * (lld's own), 16 (MD5, UUID), 20 (SHA-1). */
size_t lode_perf_data_guess_build_id_size(const uint8_t *build_id)
{
	static const size_t usual[] = {8, 16};
	size_t size = LODE_PERF_BUILD_ID_BYTES;

	while (size > 0 && build_id[size - 1] == 0)
		size--;
	for (size_t i = 0; i < G_N_ELEMENTS(usual); i++)
		if (size > 0 && size <= usual[i])
			return usual[i];
	return size > 0 ? LODE_PERF_BUILD_ID_BYTES : 0;
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
	entry.is_padded = (misc & LODE_PERF_MISC_BUILD_ID_SIZE) == 0;
	size_t n_bytes = entry.is_padded ? lode_perf_data_guess_build_id_size(build_id)
	                                 : MIN(build_id[LODE_PERF_BUILD_ID_BYTES],
						   LODE_PERF_BUILD_ID_BYTES);
	if (n_bytes == 0)
		return true;
	for (size_t i = 0; i < n_bytes; i++)
		g_snprintf(hex + 2 * i, 3, "%02x", build_id[i]);
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
	case LODE_PERF_FEATURE_DIRECTORY:
		/* Version 0 has all records beside the header (perf record --kcore). */
		self->is_divided = lode_byte_cursor_u64(cursor) > 0;
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
		self->info.left_out.n_unknown_features += lode_byte_cursor_left(&cursor) > 0;
	else
		read_known_feature(self, feature, &cursor);
	if (cursor.is_overrun)
		self->info.left_out.n_damaged_features++;
}

/* --- the header --- */

enum {
	PIPE_HEADER_BYTES = 16,
	HEADER_BYTES_WITHOUT_FEATURES = 72,
	HEADER_BYTES = HEADER_BYTES_WITHOUT_FEATURES + LODE_PERF_FEATURE_BITS / 8,
	SECTION_BYTES = 16,
	LARGEST_PLAUSIBLE_HEADER = 65536,
	/* perf writes some kilobytes; a system's whole table of build-ids has some megabytes */
	MAX_SECTION_BYTES = 1 << 28,
};

typedef struct {
	uint64_t offset, size;
} Section;

static bool corrupt(const LodePerfData *self, uint64_t offset, const char *message, GError **error)
{
	return lode_perf_data_fail(self, offset, LODE_ERROR_CORRUPT, message, error);
}

static bool read_byte_order(
	LodePerfData *self, const char *header, size_t header_bytes, GError **error)
{
	bool is_host_big = G_BYTE_ORDER == G_BIG_ENDIAN;
	uint64_t header_size;

	if (header_bytes < PIPE_HEADER_BYTES || !lode_perf_data_is_format(header, header_bytes))
		return corrupt(self, 0, "not a perf.data file", error);
	memcpy(&header_size, header + 8, sizeof(header_size));
	if (memcmp(header, "PERFFILE", 8) == 0)
		self->is_swapped = header_size > LARGEST_PLAUSIBLE_HEADER;
	else
		self->is_swapped = (header[0] == '2') != is_host_big;
	self->is_big_endian = is_host_big != self->is_swapped;
	self->info.is_swapped = self->is_swapped;
	return true;
}

static Section read_section(LodeByteCursor *cursor)
{
	Section section;

	section.offset = lode_byte_cursor_u64(cursor);
	section.size = lode_byte_cursor_u64(cursor);
	return section;
}

static bool has_section(const LodePerfData *self, const Section *section)
{
	return section->offset <= self->size && section->size <= self->size - section->offset;
}

/* The bytes of a section that the file has; the caller owns them and keeps them as long as the
 * cursor. */
static char *load_section(const LodePerfData *self, const Section *section,
	LodeByteCursor *out_cursor, GError **error)
{
	char *bytes = NULL;

	if (section->size > MAX_SECTION_BYTES)
		lode_perf_data_fail(self, section->offset, LODE_ERROR_LIMIT,
			"a section of the header has more than 256 MB", error);
	else
		bytes = lode_input_file_load(self->file, section->offset, section->size, error);
	if (bytes != NULL)
		lode_byte_cursor_init(out_cursor, bytes, section->size, self->is_swapped);
	return bytes;
}

static bool read_ids(LodePerfData *self, const Section *ids, uint64_t *left, GError **error)
{
	uint32_t event = self->events->len - 1;

	if (!has_section(self, ids))
		return corrupt(self, ids->offset, "ids of an event outside the file", error);
	/* Sections that all lie on each other would make many ids of a small file. */
	if (ids->size > *left)
		return corrupt(self, ids->offset, "more ids than the file holds", error);
	*left -= ids->size;
	LodeByteCursor cursor;
	g_autofree char *bytes = load_section(self, ids, &cursor, error);
	if (bytes == NULL)
		return false;
	for (uint64_t n = ids->size / sizeof(uint64_t); n > 0; n--)
		lode_perf_data_add_id(self, lode_byte_cursor_u64(&cursor), event);
	return true;
}

static bool read_attributes(
	LodePerfData *self, const Section *section, uint64_t entry_size, GError **error)
{
	uint64_t ids_left = self->size;

	if (!has_section(self, section))
		return corrupt(self, section->offset, "attributes outside the file", error);
	if (entry_size < LODE_PERF_ATTRIBUTE_MIN_BYTES + SECTION_BYTES)
		return corrupt(self, 16, "attributes too short", error);
	LodeByteCursor entries;
	g_autofree char *bytes = load_section(self, section, &entries, error);
	for (uint64_t i = 0; bytes != NULL && i < section->size / entry_size; i++) {
		uint64_t offset = section->offset + i * entry_size;
		LodeByteCursor cursor = entries, place = entries;
		lode_byte_cursor_skip(&entries, entry_size);
		cursor.end = place.at = entries.at - SECTION_BYTES;
		LodePerfAttribute attribute = lode_perf_data_read_attribute(self, &cursor);
		if (cursor.is_overrun)
			return corrupt(self, offset, "an attribute of wrong size", error);
		Section ids = read_section(&place);
		lode_perf_data_add_event(self, &attribute);
		if (!read_ids(self, &ids, &ids_left, error))
			return false;
	}
	return bytes != NULL;
}

/* Names of tracepoints, as perf wrote them before it described events. */
static bool read_event_types(LodePerfData *self, const Section *section, GError **error)
{
	LodeByteCursor cursor;

	if (!has_section(self, section))
		return true;
	g_autofree char *bytes = load_section(self, section, &cursor, error);
	while (bytes != NULL && lode_byte_cursor_left(&cursor) >= 8 + LODE_PERF_EVENT_NAME_BYTES) {
		uint64_t id = lode_byte_cursor_u64(&cursor);
		const uint8_t *name = lode_byte_cursor_bytes(&cursor, LODE_PERF_EVENT_NAME_BYTES);
		g_hash_table_insert(self->names.tracepoints, g_memdup2(&id, sizeof(id)),
			(char *)lode_perf_data_keep_text(self, name, LODE_PERF_EVENT_NAME_BYTES));
	}
	return bytes != NULL;
}

/* The map is one of longs, so that a machine with long of 32 bits and the other order has the
 * halves of each word swapped; the host's name, a feature that all files have, shows whether they
 * are. */
static void read_feature_map(LodeByteCursor *cursor, uint64_t *out_map)
{
	const uint64_t hostname = LODE_BIT(LODE_PERF_FEATURE_HOSTNAME);
	bool is_halves;

	for (int i = 0; i < LODE_PERF_FEATURE_BITS / 64; i++)
		out_map[i] = lode_byte_cursor_u64(cursor);
	is_halves = cursor->is_swapped && (out_map[0] & hostname) == 0 &&
	            (out_map[0] >> 32 & hostname) != 0;
	for (int i = 0; i < LODE_PERF_FEATURE_BITS / 64 && is_halves; i++)
		out_map[i] = out_map[i] << 32 | out_map[i] >> 32;
}

static bool read_features(LodePerfData *self, const uint64_t *map, GError **error)
{
	Section table = {self->data_end,
		MIN(self->size - self->data_end, LODE_PERF_FEATURE_BITS * SECTION_BYTES)};
	LodeByteCursor sections, feature;
	g_autofree char *table_bytes = load_section(self, &table, &sections, error);

	for (uint32_t bit = 1; table_bytes != NULL && bit < LODE_PERF_FEATURE_BITS; bit++) {
		if ((map[bit / 64] >> (bit % 64) & 1) == 0)
			continue;
		Section section = read_section(&sections);
		if (sections.is_overrun || !has_section(self, &section)) {
			self->info.left_out.n_damaged_features++;
			continue;
		}
		if (bit == LODE_PERF_FEATURE_LODE_FILES) {
			if (!lode_perf_data_read_files(self, section.offset, section.size, error))
				return false;
			continue;
		}
		if (bit == LODE_PERF_FEATURE_LODE_WINDOWS) {
			if (!lode_perf_data_read_windows(self, section.offset, section.size, error))
				return false;
			continue;
		}
		/* These are not looked into, and a trace's description of its events is long. */
		if (bit == LODE_PERF_FEATURE_TRACING_DATA ||
			(bit > LODE_PERF_FEATURE_LAST_KNOWN && bit != LODE_PERF_FEATURE_LODE))
			section.size = MIN(section.size, 1);
		g_autofree char *bytes = load_section(self, &section, &feature, error);
		if (bytes == NULL)
			return false;
		lode_perf_data_read_feature(self, bit, feature);
	}
	return table_bytes != NULL;
}

static bool place_data(LodePerfData *self, const Section *data, GError **error)
{
	if (data->offset > self->size)
		return corrupt(self, 40, "the data begins after the end of the file", error);
	self->data_start = data->offset;
	/* perf writes the size last: it is 0 when it did not come to that. */
	self->info.is_truncated = data->size == 0;
	self->data_end = data->size == 0 ? self->size : data->offset + data->size;
	if (has_section(self, data))
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
		"%s: cut short: the data ends at offset %" G_GUINT64_FORMAT
		", the file at %" G_GUINT64_FORMAT,
		self->path, data->offset + data->size, self->size);
	return false;
}

static bool read_header_mode(
	LodePerfData *self, LodeByteCursor *cursor, uint64_t header_size, GError **error)
{
	uint64_t entry_size = lode_byte_cursor_u64(cursor);
	Section attributes = read_section(cursor);
	Section data = read_section(cursor);
	Section event_types = read_section(cursor);
	uint64_t map[LODE_PERF_FEATURE_BITS / 64] = {0};

	if (header_size > HEADER_BYTES_WITHOUT_FEATURES)
		read_feature_map(cursor, map);
	if (cursor->is_overrun)
		return corrupt(self, 8, "the header is cut short", error);
	if (!read_event_types(self, &event_types, error) ||
		!read_attributes(self, &attributes, entry_size, error) ||
		!place_data(self, &data, error))
		return false;
	if (!self->info.is_truncated && !read_features(self, map, error))
		return false;
	lode_perf_data_make_names(self, 0);
	return true;
}

bool lode_perf_data_read_header(LodePerfData *self, GError **error)
{
	char header[HEADER_BYTES];
	size_t header_bytes = (size_t)MIN(self->size, HEADER_BYTES);
	LodeByteCursor cursor;

	if (!lode_input_file_read(self->file, 0, header, header_bytes, error) ||
		!read_byte_order(self, header, header_bytes, error))
		return false;
	lode_byte_cursor_init(&cursor, header, header_bytes, self->is_swapped);
	lode_byte_cursor_skip(&cursor, 8);
	uint64_t header_size = lode_byte_cursor_u64(&cursor);
	if (header_size == PIPE_HEADER_BYTES) {
		self->info.is_pipe = true;
		self->data_start = PIPE_HEADER_BYTES;
		self->data_end = self->size;
		return true;
	}
	if (header_size < HEADER_BYTES_WITHOUT_FEATURES || header_size > LARGEST_PLAUSIBLE_HEADER)
		return corrupt(self, 8, "a header of impossible size", error);
	return read_header_mode(self, &cursor, header_size, error);
}
