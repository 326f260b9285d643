/* SPDX-License-Identifier: MIT */
#include "ingest/waits/wait_names.h"

#include "base/arrays/partition_point.h"
#include "ingest/memory/memory_loads.h"
#include "model/index.h"
#include "model/lines/own_lines.h"

#include <string.h>

/* The program's own callers that are asked, and all that are passed by until then. */
enum { MAX_ASKED = 4, MAX_CALLERS = 24 };

/* A pthread_rwlock_t, the largest lock of glibc, has 56: what is larger has it as a part. */
enum { MAX_LOCK_BYTES = 64 };

struct LodeWaitNames {
	LodePlaces *places;
	LodeMemoryLoads *loads; /* NULL: not used yet */
	GHashTable *functions;  /* a function's name, as the images have it → LodeWaitFunction */
	GHashTable *variables;  /* image and address → its name, or NULL */
	GHashTable *arguments[2]; /* likewise, of a call: its first and its second one */
};

static guint hash_place(const void *data)
{
	const LodePlace *place = data;

	return g_int64_hash(&place->address) * 31 + place->image;
}

static gboolean is_equal_place(const void *a, const void *b)
{
	const LodePlace *left = a, *right = b;

	return left->address == right->address && left->image == right->image;
}

LodeWaitNames *lode_wait_names_new(LodePlaces *places)
{
	LodeWaitNames *self = g_new0(LodeWaitNames, 1);

	self->places = places;
	self->functions = g_hash_table_new(NULL, NULL);
	self->variables = g_hash_table_new_full(hash_place, is_equal_place, g_free, g_free);
	for (size_t i = 0; i < G_N_ELEMENTS(self->arguments); i++)
		self->arguments[i] = g_hash_table_new_full(
			hash_place, is_equal_place, g_free, g_free);
	return self;
}

void lode_wait_names_free(LodeWaitNames *self)
{
	if (self == NULL)
		return;
	lode_memory_loads_free(self->loads);
	g_hash_table_unref(self->functions);
	g_hash_table_unref(self->variables);
	for (size_t i = 0; i < G_N_ELEMENTS(self->arguments); i++)
		g_hash_table_unref(self->arguments[i]);
	g_free(self);
}

/* --- functions --- */

static LodeCodeImage *image_at(const LodeWaitNames *self, const LodePlace *place)
{
	LodeCodeImages *images = lode_places_images(self->places);

	return place->image < lode_code_images_count(images)
	               ? lode_code_images_at(images, place->image)
	               : NULL;
}

const LodeWaitFunction *lode_wait_names_function(LodeWaitNames *self, const LodePlace *place)
{
	const LodeCodeImage *image = image_at(self, place);
	const LodeBinaryFunction *function =
		image != NULL ? lode_code_image_function(image, place->address) : NULL;
	void *says;

	if (function == NULL)
		return NULL;
	if (!g_hash_table_lookup_extended(self->functions, function->name, NULL, &says)) {
		says = (void *)lode_wait_function_find(function->name);
		g_hash_table_insert(self->functions, (void *)function->name, says);
	}
	return says;
}

/* --- variables --- */

/* "struct account.lock" of "struct account.lock.__data.__lock": names that begin with an underscore
 * are the implementation's (ISO C, 7.1.3). */
static char *outer_part(char *name)
{
	char *inner = name != NULL ? strstr(name, "._") : NULL;

	if (inner != NULL)
		*inner = '\0';
	return name;
}

static const LodeAccessShape word_shape = {.size = sizeof(uint32_t)};

/* The member at an address of a variable that is no lock itself; NULL: not known. */
static char *member_name(LodeCodeImage *image, uint64_t address)
{
	LodeDataTypes *types = lode_code_image_types(image);
	LodeDataReference reference;

	if (types == NULL ||
		!lode_data_types_find_static(types, address, &word_shape, &reference) ||
		reference.type == LODE_NONE)
		return NULL;
	return outer_part(lode_data_reference_text(types, &reference));
}

static char *find_variable(const LodeWaitNames *self, const LodePlace *place)
{
	LodeCodeImage *image = image_at(self, place);
	LodeDataSymbol symbol;

	if (image == NULL || image->kind != LODE_IMAGE_FILE)
		return NULL;
	if (image->binary == NULL ||
		!lode_binary_image_find_data_symbol(image->binary, place->address, &symbol)) {
		g_autofree char *base = g_path_get_basename(image->path);
		return g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x", base, place->address);
	}
	char *member = symbol.size > MAX_LOCK_BYTES && lode_wait_variable_words(symbol.name) == NULL
	                       ? member_name(image, place->address)
	                       : NULL;
	return member != NULL ? member : g_strdup(symbol.name);
}

const char *lode_wait_names_variable(
	LodeWaitNames *self, uint32_t pid, uint64_t time_ns, uint64_t address)
{
	const LodeLoadedAddress wanted = {
		.recording = lode_places_selected(self->places),
		.pid = pid,
		.time_ns = time_ns,
		.address = address,
	};
	LodePlace place;
	void *name;

	if (self->loads == NULL)
		self->loads = lode_memory_loads_new(self->places);
	if (!lode_memory_loads_find_at(self->loads, &wanted, &place.image, &place.address))
		return NULL;
	if (!g_hash_table_lookup_extended(self->variables, &place, NULL, &name)) {
		name = find_variable(self, &place);
		g_hash_table_insert(self->variables, g_memdup2(&place, sizeof(place)), name);
	}
	return name;
}

/* --- arguments --- */

/* Whether it is of a lock's library: the program's own are asked, and no further ones. */
static bool is_own(LodeWaitNames *self, const LodePlace *place)
{
	const LodeCodeImage *image = image_at(self, place);

	return image != NULL && image->path != NULL && !lode_is_system_library(image->path) &&
	       lode_wait_names_function(self, place) == NULL;
}

/* "Mutex<Receiver<app::Job>>" of "alloc::sync::ArcInner<std::sync::poison::mutex::Mutex<
 * std::sync::mpsc::Receiver<app::Job>>>.data.inner.futex.v.value": the standard library's modules,
 * counts of references, and members say nothing. Takes the name. */
static char *outer_part_of_rust(char *name)
{
	static const char modules[] =
		", alloc::alloc::Global(?=>)|(?<![:\\w])(?:std|core|alloc)::(?:[a-z_0-9]+::)*";
	static const char counted[] = "ArcInner<", data[] = ">.data";
	char *inner = strstr(name, ".inner.");

	if (inner == NULL || strstr(inner, "futex") == NULL)
		return name;
	*inner = '\0';
	g_autoptr(GRegex) regex = g_regex_new(modules, 0, 0, NULL);
	g_autofree char *whole = name;
	g_autofree char *plain = g_regex_replace_literal(regex, whole, -1, 0, "", 0, NULL);
	bool is_counted = plain != NULL && g_str_has_prefix(plain, counted) &&
	                  g_str_has_suffix(plain, data);
	return plain == NULL ? g_steal_pointer(&whole)
	       : is_counted  ? g_strndup(plain + strlen(counted),
				       strlen(plain) - strlen(counted) - strlen(data))
	                     : g_steal_pointer(&plain);
}

/* A structure's member, or a variable: a lock's own type says nothing. */
static char *reference_name(const LodeDataTypes *types, const LodeDataReference *reference)
{
	bool is_member = reference->type != LODE_NONE &&
	                 (reference->member != LODE_NONE || reference->group != NULL);
	char *name = outer_part(lode_data_reference_text(types, reference));

	if (name != NULL && is_member && strchr(name, '.') != NULL)
		return outer_part_of_rust(name);
	g_free(name);
	return g_strdup(reference->variable);
}

static char *find_argument(const LodeWaitNames *self, const LodePlace *place, unsigned n_argument)
{
	static const int registers[] = {7, 6}; /* rdi, rsi (System V ABI for AMD64, 3.2.3) */
	LodeCodeImage *image = image_at(self, place);
	LodeDataTypes *types = lode_code_image_types(image);
	const LodeControlFlow *flow = types != NULL ? lode_code_image_flow(image, place->address)
	                                            : NULL;
	LodeDataReference reference;

	if (flow == NULL)
		return NULL;
	size_t n = LODE_PARTITION_POINT(flow->instructions->len, i,
		g_array_index(flow->instructions, LodeStaticInstruction, i).address <=
			place->address);
	if (n == 0)
		return NULL;
	uint64_t call = g_array_index(flow->instructions, LodeStaticInstruction, n - 1).address;
	if (!lode_data_types_find_pointed(
		    types, call, registers[n_argument - 1], &word_shape, flow, &reference))
		return NULL;
	return reference_name(types, &reference);
}

static const char *argument_of(LodeWaitNames *self, const LodePlace *place, unsigned n)
{
	GHashTable *known = self->arguments[n - 1];
	void *name;

	if (!g_hash_table_lookup_extended(known, place, NULL, &name)) {
		name = find_argument(self, place, n);
		g_hash_table_insert(known, g_memdup2(place, sizeof(*place)), name);
	}
	return name;
}

const char *lode_wait_names_argument(LodeWaitNames *self, const GArray *callers, unsigned n)
{
	const char *name = NULL;
	unsigned n_asked = 0;

	for (guint i = 0; i < MIN(callers->len, MAX_CALLERS) && name == NULL; i++) {
		const LodePlace *place = &g_array_index(callers, LodePlace, i);
		if (!is_own(self, place)) {
			if (n_asked > 0)
				return NULL;
			continue;
		}
		name = argument_of(self, place, n);
		if (++n_asked == MAX_ASKED)
			break;
	}
	return name;
}
