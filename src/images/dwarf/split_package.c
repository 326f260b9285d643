/* SPDX-License-Identifier: MIT */
/*
 * libdw reads .dwo files, but no packages before 0.191. So the package is mapped as a private copy,
 * in which units are changed to be whole ones, and gets section headers under which libdw takes it
 * for an ordinary file:
 *
 *   the package, mapped         .debug_info.dwo, .debug_str.dwo … under the names without .dwo
 *   then, in memory of its own  .debug_abbrev: tables of the units, with what units lack
 *                               .debug_addr, .debug_ranges: copies of the program's
 *                               section headers
 *
 * A unit is changed where it stands, so that nothing in it moves:
 *   - Its header has the new table of abbreviations.
 *   - Where the unit's strings, addresses and lists begin are attributes of its root, whose values
 *     stand in the table (DW_FORM_implicit_const) and need no room in the unit.
 *   - The skeleton's low address needs 8 bytes. In DWARF 5 they are those of the id in the header,
 *     which a whole unit does not have; in DWARF 4 those of the attribute with the id, which moves
 *     into the table.
 *   - Offsets of lists that count from the unit's part of a section are raised by where that part
 *     begins, at the first use of the unit.
 */
#include "images/dwarf/split_package.h"

#include "base/files/regular_file.h"

#include <dwarf.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MAX_ROWS = 1 << 24,          /* of an index */
	FREE_ABBREV_BYTES = 1 << 20, /* beyond MAX_ABBREV_COPIES of the package's */
	MAX_ABBREV_COPIES = 4,
	MAX_DEPTH = 256,
	MAX_SKELETONS = 4 * 1000 * 1000,
	PAGE = 4096,
	HEADER_4 = 11, /* bytes of a unit's header in DWARF 4; in .debug_types 12 more */
	HEADER_5 = 20, /* in DWARF 5, with the id; of a type unit 4 more */
	HEADER_WHOLE_5 = 12,
	TYPE_HEADER_4 = 23,
	TYPE_HEADER_5 = 24,
};

/* The parts that an index has columns for; the columns of DWARF 4 and 5 differ. */
typedef enum {
	PART_INFO,
	PART_TYPES, /* DWARF 4 */
	PART_ABBREV,
	PART_STR_OFFSETS,
	PART_LOCATIONS, /* .debug_loc, .debug_loclists */
	PART_RANGES,    /* .debug_rnglists: DWARF 5 */
	N_PARTS,
} Part;

typedef struct {
	uint64_t offset, size; /* in the package's file; 0: there is none */
} Section;

typedef enum {
	SECTION_INFO,
	SECTION_TYPES,
	SECTION_ABBREV,
	SECTION_STR,
	SECTION_STR_OFFSETS,
	SECTION_LOC,
	SECTION_LOCLISTS,
	SECTION_RNGLISTS,
	SECTION_CU_INDEX,
	SECTION_TU_INDEX,
	N_SECTIONS,
} SectionName;

static const char *const section_names[] = {".debug_info.dwo", ".debug_types.dwo",
	".debug_abbrev.dwo", ".debug_str.dwo", ".debug_str_offsets.dwo", ".debug_loc.dwo",
	".debug_loclists.dwo", ".debug_rnglists.dwo", ".debug_cu_index", ".debug_tu_index"};

/* A row of an index: parts of the sections, in bytes from where the sections begin. */
typedef struct {
	uint64_t id;
	uint16_t version; /* of DWARF */
	uint32_t offsets[N_PARTS], sizes[N_PARTS];
} Row;

typedef struct {
	uint64_t low, address_base, ranges_base;
} Skeleton;

typedef struct {
	uint64_t root; /* offset in .debug_info */
	uint16_t version;
	uint64_t locations, ranges; /* to be added to offsets of lists */
	bool is_raised;
} Unit;

struct LodeSplitPackage {
	uint8_t *image;
	size_t file_size, size, room;
	Section sections[N_SECTIONS];
	Section abbreviations, addresses, ranges; /* of the memory after the file */
	uint64_t max_abbreviations;
	GHashTable *units;     /* id → Unit */
	GHashTable *skeletons; /* id → Skeleton; while it is opened */
	Elf *elf;
	Dwarf *dwarf;
	/* the table of abbreviations of the last type unit, for the next one mostly has the same */
	uint64_t last_abbreviations, last_strings, last_code, last_table;
};

static uint64_t get(const uint8_t *bytes, size_t n)
{
	uint64_t value = 0;

	memcpy(&value, bytes, n);
	return GUINT64_FROM_LE(value);
}

static void put(uint8_t *bytes, uint64_t value, size_t n)
{
	value = GUINT64_TO_LE(value);
	memcpy(bytes, &value, n);
}

/* False at the end. */
static bool read_leb(const uint8_t **at, const uint8_t *end, uint64_t *out_value)
{
	uint64_t value = 0;

	for (unsigned shift = 0; *at < end; shift += 7) {
		uint8_t byte = *(*at)++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if ((byte & 0x80) == 0) {
			*out_value = value;
			return true;
		}
	}
	return false;
}

/* --- the table of abbreviations --- */

typedef struct {
	uint64_t attribute;
	uint64_t value;
} Constant;

static void append_byte(LodeSplitPackage *self, uint8_t byte)
{
	Section *table = &self->abbreviations;

	if (table->size < self->max_abbreviations)
		self->image[table->offset + table->size] = byte;
	table->size++;
}

static void append_leb(LodeSplitPackage *self, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		append_byte(self, (uint8_t)(value | 0x80));
	append_byte(self, (uint8_t)value);
}

static void append_signed_leb(LodeSplitPackage *self, int64_t value)
{
	for (; value < -0x40 || value > 0x3f; value >>= 7)
		append_byte(self, (uint8_t)(value | 0x80));
	append_byte(self, (uint8_t)(value & 0x7f));
}

/* One abbreviation of a table. */
typedef struct {
	uint64_t code;
	const uint8_t *attributes, *end; /* of pairs of attribute and form, without the last, 0 0 */
	const uint8_t *next;             /* the next abbreviation */
} Abbreviation;

static bool read_pair(
	const uint8_t **at, const uint8_t *end, uint64_t *out_attribute, uint64_t *out_form)
{
	uint64_t constant;

	return read_leb(at, end, out_attribute) && read_leb(at, end, out_form) &&
	       (*out_form != DW_FORM_implicit_const || read_leb(at, end, &constant));
}

/* False at the table's end. */
static bool read_abbreviation(const uint8_t *at, const uint8_t *end, Abbreviation *out)
{
	uint64_t tag, attribute, form;

	out->next = NULL;
	if (!read_leb(&at, end, &out->code) || out->code == 0 || !read_leb(&at, end, &tag) ||
		at == end)
		return false;
	out->attributes = ++at;
	do {
		out->end = at;
		if (!read_pair(&at, end, &attribute, &form))
			return false;
	} while (attribute != 0 || form != 0);
	out->next = at;
	return true;
}

/* The size of an attribute's value in a root, by the forms that compilers use there; false: some
 * other one. */
static bool skip_value(uint64_t form, const uint8_t **at, const uint8_t *end)
{
	uint64_t value;
	size_t n;

	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return true;
	case DW_FORM_data1:
	case DW_FORM_flag:
		n = 1;
		break;
	case DW_FORM_data2:
		n = 2;
		break;
	case DW_FORM_data4:
	case DW_FORM_sec_offset:
	case DW_FORM_strp:
		n = 4;
		break;
	case DW_FORM_data8:
	case DW_FORM_addr:
		n = 8;
		break;
	case DW_FORM_string: {
		const uint8_t *nul = memchr(*at, '\0', (size_t)(end - *at));

		*at = nul != NULL ? nul + 1 : *at;
		return nul != NULL;
	}
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_GNU_str_index:
	case DW_FORM_GNU_addr_index:
		return read_leb(at, end, &value);
	default:
		return false;
	}
	if ((size_t)(end - *at) < n)
		return false;
	*at += n;
	return true;
}

/* Where the id stands in a root of DWARF 4; NULL: it has none. */
static const uint8_t *find_id(
	const Abbreviation *root, const uint8_t *values, const uint8_t *values_end)
{
	const uint8_t *at = root->attributes;
	uint64_t attribute, form;

	while (at < root->end && read_pair(&at, root->end, &attribute, &form)) {
		if (attribute == DW_AT_GNU_dwo_id)
			return form == DW_FORM_data8 && values_end - values >= 8 ? values : NULL;
		if (!skip_value(form, &values, values_end))
			return NULL;
	}
	return NULL;
}

/* The entries of a table for a root. */
typedef struct {
	uint64_t code;
	const Constant *constants;
	size_t n_constants;
	bool has_low_first; /* DW_AT_low_pc before the other attributes */
	bool has_low_as_id; /* in place of DW_AT_GNU_dwo_id */
} Change;

/* Appends a table with the root changed; gives its offset, or UINT64_MAX when it is broken. */
static uint64_t append_table(
	LodeSplitPackage *self, const uint8_t *table, const uint8_t *end, const Change *change)
{
	uint64_t offset = self->abbreviations.size, attribute, form;
	Abbreviation own = {0};
	const uint8_t *at = table;

	while (read_abbreviation(at, end, &own) && own.code != change->code)
		at = own.next;
	if (own.code != change->code || own.next == NULL)
		return UINT64_MAX;
	for (const uint8_t *byte = table; byte < own.attributes; byte++)
		append_byte(self, *byte);
	for (size_t i = 0; i < change->n_constants; i++) {
		append_leb(self, change->constants[i].attribute);
		append_leb(self, DW_FORM_implicit_const);
		append_signed_leb(self, (int64_t)change->constants[i].value);
	}
	if (change->has_low_first) {
		append_leb(self, DW_AT_low_pc);
		append_leb(self, DW_FORM_addr);
	}
	for (at = own.attributes; at < own.end;) {
		const uint8_t *pair = at;

		if (!read_pair(&at, own.end, &attribute, &form))
			return UINT64_MAX;
		if (change->has_low_as_id && attribute == DW_AT_GNU_dwo_id) {
			append_leb(self, DW_AT_low_pc);
			append_leb(self, DW_FORM_addr);
			continue;
		}
		for (; pair < at; pair++)
			append_byte(self, *pair);
	}
	for (at = own.end; at < end; at++)
		append_byte(self, *at);
	append_byte(self, 0);
	return self->abbreviations.size <= self->max_abbreviations ? offset : UINT64_MAX;
}

/* --- units --- */

static const uint8_t *part_of(const LodeSplitPackage *self, SectionName name, const Row *row,
	Part part, const uint8_t **out_end)
{
	const Section *section = &self->sections[name];
	uint64_t offset = row->offsets[part], size = row->sizes[part];

	if (size == 0 || offset > section->size || size > section->size - offset)
		return NULL;
	*out_end = self->image + section->offset + offset + size;
	return self->image + section->offset + offset;
}

/* The strings' offsets have a header of their own in DWARF 5. */
static uint64_t strings_base(const Row *row)
{
	return row->offsets[PART_STR_OFFSETS] + (row->version == 5 ? 8 : 0);
}

/* Where the lists of a unit begin after the header of their part. */
static uint64_t lists_base(const Row *row, Part part)
{
	enum { LISTS_HEADER = 12 };

	return row->offsets[part] + LISTS_HEADER;
}

/* Writes a new header and root; false: the unit is none that is known here. */
static bool change_unit(LodeSplitPackage *self, const Row *row, const Skeleton *skeleton)
{
	const uint8_t *end = NULL, *table_end = NULL;
	uint8_t *unit = (uint8_t *)part_of(self, SECTION_INFO, row, PART_INFO, &end);
	const uint8_t *table = part_of(self, SECTION_ABBREV, row, PART_ABBREV, &table_end);
	bool is_5 = row->version == 5;
	size_t header = is_5 ? HEADER_5 : HEADER_4;
	const Constant constants[] = {
		{DW_AT_str_offsets_base, strings_base(row)},
		{DW_AT_addr_base, skeleton->address_base},
		{is_5 ? DW_AT_rnglists_base : DW_AT_GNU_dwo_id,
			is_5 ? lists_base(row, PART_RANGES) : row->id},
		{DW_AT_loclists_base, lists_base(row, PART_LOCATIONS)},
	};
	Change change = {.constants = constants,
		.n_constants = is_5 ? G_N_ELEMENTS(constants) : G_N_ELEMENTS(constants) - 1,
		.has_low_first = is_5};

	if (unit == NULL || table == NULL || (size_t)(end - unit) <= header ||
		get(unit, 4) + 4 > (size_t)(end - unit) || get(unit + 4, 2) != row->version)
		return false;
	if (is_5 &&
		(unit[6] != DW_UT_split_compile || unit[7] != 8 || get(unit + 12, 8) != row->id))
		return false;
	const uint8_t *values = unit + header, *values_end = end;
	if (!read_leb(&values, values_end, &change.code))
		return false;
	uint8_t *low = NULL;
	if (!is_5) {
		Abbreviation root = {0};
		const uint8_t *at = table;

		while (read_abbreviation(at, table_end, &root) && root.code != change.code)
			at = root.next;
		if (unit[10] != 8 || root.next == NULL || root.code != change.code)
			return false;
		low = (uint8_t *)find_id(&root, values, values_end);
		change.has_low_as_id = true;
		if (low == NULL || get(low, 8) != row->id)
			return false;
	}
	uint64_t offset = append_table(self, table, table_end, &change);
	if (offset > UINT32_MAX)
		return false;
	if (is_5) {
		size_t n_code = (size_t)(values - (unit + header));

		unit[6] = DW_UT_compile;
		put(unit + 8, offset, 4);
		memmove(unit + HEADER_WHOLE_5, unit + HEADER_5, n_code);
		low = unit + HEADER_WHOLE_5 + n_code;
	} else {
		put(unit + 6, offset, 4);
	}
	put(low, skeleton->low, 8);
	const Unit known = {
		.root = row->offsets[PART_INFO] + (is_5 ? HEADER_WHOLE_5 : HEADER_4),
		.version = row->version,
		.locations = row->offsets[PART_LOCATIONS],
		.ranges = is_5 ? row->offsets[PART_RANGES] : skeleton->ranges_base,
	};
	g_hash_table_insert(
		self->units, g_memdup2(&row->id, sizeof row->id), g_memdup2(&known, sizeof known));
	return true;
}

static void change_type_unit(LodeSplitPackage *self, const Row *row)
{
	const uint8_t *end = NULL, *table_end = NULL;
	bool is_5 = row->version == 5;
	uint8_t *unit = (uint8_t *)part_of(self, is_5 ? SECTION_INFO : SECTION_TYPES, row,
		is_5 ? PART_INFO : PART_TYPES, &end);
	const uint8_t *table = part_of(self, SECTION_ABBREV, row, PART_ABBREV, &table_end);
	size_t header = is_5 ? TYPE_HEADER_5 : TYPE_HEADER_4;
	const Constant strings = {DW_AT_str_offsets_base, strings_base(row)};
	Change change = {.constants = &strings, .n_constants = 1};

	if (unit == NULL || table == NULL || (size_t)(end - unit) <= header ||
		get(unit, 4) + 4 > (size_t)(end - unit) || get(unit + 4, 2) != row->version ||
		(is_5 && unit[6] != DW_UT_split_type))
		return;
	const uint8_t *values = unit + header;
	if (!read_leb(&values, end, &change.code))
		return;
	if (self->last_abbreviations != row->offsets[PART_ABBREV] ||
		self->last_strings != strings.value || self->last_code != change.code) {
		self->last_table = append_table(self, table, table_end, &change);
		self->last_abbreviations = row->offsets[PART_ABBREV];
		self->last_strings = strings.value;
		self->last_code = change.code;
	}
	if (self->last_table <= UINT32_MAX)
		put(unit + (is_5 ? 8 : 6), self->last_table, 4);
}

/* --- the indices --- */

/* Which part a column of that number is of; N_PARTS: one that is not needed. */
static Part part_of_column(uint64_t version, uint64_t column)
{
	switch (column) {
	case 1:
		return PART_INFO;
	case 2:
		return version == 2 ? PART_TYPES : N_PARTS;
	case 3:
		return PART_ABBREV;
	case 5:
		return PART_LOCATIONS;
	case 6:
		return PART_STR_OFFSETS;
	case 8:
		return version == 5 ? PART_RANGES : N_PARTS;
	default:
		return N_PARTS;
	}
}

static const Skeleton no_skeleton;

static void change_row(LodeSplitPackage *self, const Row *row, bool is_types)
{
	const Skeleton *skeleton = g_hash_table_lookup(self->skeletons, &row->id);

	if (is_types)
		change_type_unit(self, row);
	else if (!g_hash_table_contains(self->units, &row->id))
		change_unit(self, row, skeleton != NULL ? skeleton : &no_skeleton);
}

/*
 *   version, columns, rows, slots │ slots × id │ slots × row, from 1; 0: empty │ columns × number │
 *   rows × columns × offset │ rows × columns × size
 */
static bool read_index(LodeSplitPackage *self, SectionName name)
{
	enum { HEAD = 16 };
	const Section *section = &self->sections[name];
	const uint8_t *bytes = self->image + section->offset;
	uint64_t version, n_columns, n_rows, n_slots, head;

	if (section->size == 0)
		return name == SECTION_TU_INDEX;
	if (section->size < HEAD)
		return false;
	/* 2 is GNU's, in 4 bytes; then 5, in 2 */
	version = get(bytes, 2);
	n_columns = get(bytes + 4, 4);
	n_rows = get(bytes + 8, 4);
	n_slots = get(bytes + 12, 4);
	head = HEAD + n_slots * 12;
	if ((version != 2 && version != 5) || n_columns > 16 || n_rows > MAX_ROWS ||
		n_slots > 4 * (uint64_t)MAX_ROWS ||
		head + 4 * n_columns + 8 * n_columns * n_rows > section->size)
		return false;
	for (uint64_t i = 0; i < n_slots; i++) {
		uint64_t number = get(bytes + HEAD + 8 * n_slots + 4 * i, 4);
		Row row = {.id = get(bytes + HEAD + 8 * i, 8), .version = version == 2 ? 4 : 5};

		if (number == 0 || number > n_rows)
			continue;
		for (uint64_t k = 0; k < n_columns; k++) {
			Part part = part_of_column(version, get(bytes + head + 4 * k, 4));
			uint64_t at = head + 4 * n_columns + 4 * (n_columns * (number - 1) + k);

			if (part == N_PARTS)
				continue;
			row.offsets[part] = (uint32_t)get(bytes + at, 4);
			row.sizes[part] = (uint32_t)get(bytes + at + 4 * n_columns * n_rows, 4);
		}
		change_row(self, &row, name == SECTION_TU_INDEX);
	}
	return true;
}

static uint64_t constant_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;
	Dwarf_Word value;

	return dwarf_formudata(dwarf_attr(die, attribute, &found), &value) == 0 ? value : 0;
}

static void read_skeletons(LodeSplitPackage *self, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;

	for (int i = 0; i < MAX_SKELETONS; i++) {
		Skeleton skeleton = {0};
		uint64_t id;

		if (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL) != 0)
			break;
		if (type != DW_UT_skeleton ||
			dwarf_cu_info(unit, NULL, NULL, NULL, NULL, &id, NULL, NULL) != 0)
			continue;
		if (dwarf_lowpc(&die, &skeleton.low) != 0)
			skeleton.low = 0;
		skeleton.address_base = dwarf_hasattr(&die, DW_AT_GNU_addr_base)
		                                ? constant_of(&die, DW_AT_GNU_addr_base)
		                                : constant_of(&die, DW_AT_addr_base);
		skeleton.ranges_base = constant_of(&die, DW_AT_GNU_ranges_base);
		g_hash_table_insert(self->skeletons, g_memdup2(&id, sizeof id),
			g_memdup2(&skeleton, sizeof skeleton));
	}
}

/* --- the file --- */

static bool map_file(LodeSplitPackage *self, int fd, uint64_t extra)
{
	const uint64_t pages = (self->file_size + PAGE - 1) / PAGE * PAGE;
	void *place;

	self->room = pages + extra;
	place = mmap(NULL, self->room, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (place == MAP_FAILED)
		return false;
	self->image = place;
	self->size = pages;
	return mmap(place, self->file_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd,
		       0) != MAP_FAILED;
}

/* Before libelf sees the file, which allocates for as many sections as the first one says. */
static bool has_known_header(int fd)
{
	Elf64_Ehdr header;

	return pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
	       memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
	       header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
	       header.e_shnum != 0;
}

/* The sections by name; false: not those of a package, or one is packed. */
static bool find_sections(Elf *elf, uint64_t size, Section out_sections[N_SECTIONS])
{
	size_t names;
	Elf_Scn *place = NULL;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((place = elf_nextscn(elf, place)) != NULL) {
		const Elf64_Shdr *section = elf64_getshdr(place);
		const char *name = section != NULL ? elf_strptr(elf, names, section->sh_name)
		                                   : NULL;

		for (size_t i = 0; name != NULL && i < N_SECTIONS; i++) {
			if (strcmp(name, section_names[i]) != 0)
				continue;
			if ((section->sh_flags & SHF_COMPRESSED) ||
				section->sh_type == SHT_NOBITS || section->sh_offset > size ||
				section->sh_size > size - section->sh_offset)
				return false;
			out_sections[i] = (Section){section->sh_offset, section->sh_size};
		}
	}
	return out_sections[SECTION_CU_INDEX].size > 0 && out_sections[SECTION_INFO].size > 0;
}

/* A section of the program, which libdw has unpacked where it was compressed. */
static const Elf_Data *section_of(Dwarf *dwarf, const char *name)
{
	Elf *elf = dwarf_getelf(dwarf);
	Elf_Scn *place = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((place = elf_nextscn(elf, place)) != NULL) {
		GElf_Shdr shape;
		const char *own = gelf_getshdr(place, &shape) != NULL
		                          ? elf_strptr(elf, names, shape.sh_name)
		                          : NULL;

		/* .debug_addr, .zdebug_addr */
		if (own != NULL && g_str_has_suffix(own, name) && shape.sh_type != SHT_NOBITS)
			return elf_getdata(place, NULL);
	}
	return NULL;
}

static void append_copy(LodeSplitPackage *self, const Elf_Data *data, Section *out_section)
{
	if (data == NULL || data->d_buf == NULL)
		return;
	*out_section = (Section){self->size, data->d_size};
	memcpy(self->image + self->size, data->d_buf, data->d_size);
	self->size += data->d_size;
}

/* Under these names libdw takes it for an ordinary file. */
static void append_headers(LodeSplitPackage *self)
{
	const struct {
		const char *name;
		Section section;
	} all[] = {
		{".debug_info", self->sections[SECTION_INFO]},
		{".debug_types", self->sections[SECTION_TYPES]},
		{".debug_str", self->sections[SECTION_STR]},
		{".debug_str_offsets", self->sections[SECTION_STR_OFFSETS]},
		{".debug_loc", self->sections[SECTION_LOC]},
		{".debug_loclists", self->sections[SECTION_LOCLISTS]},
		{".debug_rnglists", self->sections[SECTION_RNGLISTS]},
		{".debug_abbrev", self->abbreviations},
		{".debug_addr", self->addresses},
		{".debug_ranges", self->ranges},
	};
	Elf64_Shdr headers[G_N_ELEMENTS(all) + 2] = {0};
	Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)self->image;
	uint16_t n = 1;
	g_autoptr(GByteArray) names = g_byte_array_new();

	g_byte_array_append(names, (const uint8_t *)"", 1);
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		if (all[i].section.size == 0)
			continue;
		headers[n++] = (Elf64_Shdr){.sh_name = names->len,
			.sh_type = SHT_PROGBITS,
			.sh_offset = all[i].section.offset,
			.sh_size = all[i].section.size,
			.sh_addralign = 1};
		g_byte_array_append(
			names, (const uint8_t *)all[i].name, (guint)strlen(all[i].name) + 1);
	}
	headers[n] = (Elf64_Shdr){.sh_name = 0,
		.sh_type = SHT_STRTAB,
		.sh_offset = self->size,
		.sh_size = names->len,
		.sh_addralign = 1};
	memcpy(self->image + self->size, names->data, names->len);
	self->size = (self->size + names->len + 15) / 16 * 16;
	header->e_shoff = self->size;
	header->e_shentsize = sizeof *headers;
	header->e_shstrndx = n++;
	header->e_shnum = n;
	header->e_phoff = 0;
	header->e_phnum = 0;
	memcpy(self->image + self->size, headers, n * sizeof *headers);
	/* what follows stays zero, which ends a string that has no end */
	self->size += n * sizeof *headers + 1;
}

static bool read_package(LodeSplitPackage *self, int fd, Dwarf *dwarf)
{
	enum { HEADERS = 4096 };
	const Elf_Data *addresses = section_of(dwarf, "debug_addr");
	const Elf_Data *ranges = section_of(dwarf, "debug_ranges");
	Elf *elf = has_known_header(fd) ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	bool is_found = elf != NULL && find_sections(elf, self->file_size, self->sections);

	elf_end(elf);
	if (!is_found)
		return false;
	self->max_abbreviations = FREE_ABBREV_BYTES +
	                          MAX_ABBREV_COPIES * self->sections[SECTION_ABBREV].size;
	uint64_t extra = self->max_abbreviations + (addresses != NULL ? addresses->d_size : 0) +
	                 (ranges != NULL ? ranges->d_size : 0) + HEADERS;
	if (!map_file(self, fd, extra))
		return false;
	self->abbreviations.offset = self->size;
	read_skeletons(self, dwarf);
	if (!read_index(self, SECTION_CU_INDEX) || !read_index(self, SECTION_TU_INDEX))
		return false;
	self->abbreviations.size = MIN(self->abbreviations.size, self->max_abbreviations);
	self->size += self->abbreviations.size;
	append_copy(self, addresses, &self->addresses);
	append_copy(self, ranges, &self->ranges);
	append_headers(self);
	self->elf = elf_memory((char *)self->image, self->size);
	self->dwarf = self->elf != NULL ? dwarf_begin_elf(self->elf, DWARF_C_READ, NULL) : NULL;
	return self->dwarf != NULL;
}

LodeSplitPackage *lode_split_package_open(
	const char *path, Dwarf *skeletons, const char **out_warning)
{
	g_autoptr(LodeSplitPackage) self = NULL;
	struct stat status;
	int fd = lode_regular_file_open(path, 0, NULL);
	bool is_read = false;

	if (fd < 0)
		return NULL;
	self = g_new0(LodeSplitPackage, 1);
	self->units = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	self->skeletons = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	self->last_abbreviations = UINT64_MAX;
	if (fstat(fd, &status) == 0 && status.st_size >= (off_t)sizeof(Elf64_Ehdr)) {
		self->file_size = (size_t)status.st_size;
		is_read = read_package(self, fd, skeletons);
	}
	close(fd);
	g_clear_pointer(&self->skeletons, g_hash_table_unref);
	if (is_read)
		return g_steal_pointer(&self);
	*out_warning = "the package of split debug information (.dwp) cannot be read";
	return NULL;
}

void lode_split_package_close(LodeSplitPackage *self)
{
	if (self == NULL)
		return;
	dwarf_end(self->dwarf);
	elf_end(self->elf);
	if (self->image != NULL)
		munmap(self->image, self->room);
	g_clear_pointer(&self->skeletons, g_hash_table_unref);
	g_hash_table_unref(self->units);
	g_free(self);
}

/* --- offsets of lists --- */

typedef struct {
	const LodeSplitPackage *package;
	const Unit *unit;
} Raising;

static int raise_offset(Dwarf_Attribute *attribute, void *data)
{
	const Raising *self = data;
	uint8_t *value = attribute->valp;
	uint64_t base;

	if (attribute->form != DW_FORM_sec_offset)
		return DWARF_CB_OK;
	switch (attribute->code) {
	case DW_AT_ranges:
	case DW_AT_start_scope:
		base = self->unit->ranges;
		break;
	case DW_AT_location:
	case DW_AT_string_length:
	case DW_AT_return_addr:
	case DW_AT_data_member_location:
	case DW_AT_frame_base:
	case DW_AT_segment:
	case DW_AT_static_link:
	case DW_AT_use_location:
	case DW_AT_vtable_elem_location:
	case DW_AT_call_value:
	case DW_AT_call_data_value:
		base = self->unit->locations;
		break;
	default:
		return DWARF_CB_OK;
	}
	put(value, get(value, 4) + base, 4);
	return DWARF_CB_OK;
}

/* Once for each entry of the unit's tree. */
static void raise_offsets(const LodeSplitPackage *self, const Unit *unit, Dwarf_Die *root)
{
	Raising raising = {self, unit};
	Dwarf_Die path[MAX_DEPTH];
	uint64_t last = 0;
	uint32_t depth = 0;

	path[0] = *root;
	for (;;) {
		Dwarf_Die *die = &path[depth];

		/* in a broken tree there may be ways back, and no offset is raised twice */
		if (dwarf_dieoffset(die) <= last)
			return;
		last = dwarf_dieoffset(die);
		dwarf_getattrs(die, raise_offset, &raising, 0);
		if (depth + 1 < MAX_DEPTH && dwarf_child(die, &path[depth + 1]) == 0) {
			depth++;
			continue;
		}
		while (depth == 0 || dwarf_siblingof(&path[depth], &path[depth]) != 0)
			if (depth-- == 0)
				return;
	}
}

bool lode_split_package_unit(LodeSplitPackage *self, uint64_t id, Dwarf_Die *out_die)
{
	Unit *unit = g_hash_table_lookup(self->units, &id);
	Dwarf_Die die;

	if (unit == NULL || dwarf_offdie(self->dwarf, unit->root, &die) == NULL ||
		dwarf_tag(&die) != DW_TAG_compile_unit)
		return false;
	if (!unit->is_raised && (unit->ranges != 0 || unit->locations != 0))
		raise_offsets(self, unit, &die);
	unit->is_raised = true;
	*out_die = die;
	return true;
}
