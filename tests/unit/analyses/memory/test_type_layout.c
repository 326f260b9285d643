/* SPDX-License-Identifier: MIT */
/* Layouts of types: holes, bits, unions, lines, who is beside whom; and what absurd sizes do. */
#include "analyses/memory/objects/type_layout.h"
#include "base/error.h"
#include "model/memory.h"
#include "sample_profile.h"

#include <gio/gio.h>
#include <string.h>

static void add_type(LodeProfile *profile, const char *name, uint64_t size,
	const LodeDataMember *members, uint32_t n)
{
	LodeDataType type = {.name = lode_profile_intern(profile, name),
		.size = size,
		.first_member = profile->memory->members->len,
		.n_members = n};

	if (n > 0)
		g_array_append_vals(profile->memory->members, members, n);
	g_array_append_val(profile->memory->types, type);
}

/* A sample of an object that is this member (LODE_NONE: none) of the last type. */
static LodeMemorySample *hit(LodeProfile *profile, uint32_t member, double weight)
{
	LodeMemory *memory = profile->memory;
	const LodeDataType *type = &LODE_AT(memory->types, LodeDataType, memory->types->len - 1);
	LodeDataObject object = {.name = "object",
		.layer = LODE_LAYER_TYPE,
		.type = memory->types->len - 1,
		.member = member != LODE_NONE ? type->first_member + member : LODE_NONE,
		.site = LODE_NONE};
	LodeMemorySample *sample = sample_profile_access(
		profile, 0, SAMPLE_ANON, LODE_ACCESS_LOAD, 0);

	sample->object = memory->objects->len;
	sample->weight = weight;
	g_array_append_val(memory->objects, object);
	return sample;
}

static GPtrArray *find(const LodeProfile *profile, const char *name, GError **error)
{
	const LodeTypeLayoutOptions options = {.type = name};
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < profile->memory->samples->len; i++)
		g_array_append_val(all, i);
	return lode_type_layout_find(
		profile, (const uint32_t *)(void *)all->data, all->len, &options, error);
}

/* "kind offset:bit size/bits name weight" of each row. */
static char *describe(const LodeTypeLayout *layout)
{
	static const char *const kinds[] = {"line", "member", "hole", "padding", "rest"};
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < layout->rows->len; i++) {
		const LodeLayoutRow *row = &g_array_index(layout->rows, LodeLayoutRow, i);
		g_string_append_printf(text, "%s%s", i > 0 ? "|" : "", kinds[row->kind]);
		if (row->kind == LODE_LAYOUT_LINE)
			g_string_append_printf(text, " %" G_GUINT64_FORMAT, row->first_line);
		else if (row->kind != LODE_LAYOUT_NO_MEMBER)
			g_string_append_printf(text, " %" G_GUINT64_FORMAT "+%" G_GUINT64_FORMAT,
				row->offset, row->size);
		if (row->bit_size > 0)
			g_string_append_printf(text, ":%u+%u", row->bit_offset, row->bit_size);
		if (row->member != NULL)
			g_string_append_printf(text, " %s", row->member->name);
		if (row->totals.n_samples > 0)
			g_string_append_printf(text, " =%g", row->totals.weight);
		if (row->is_beside_hottest)
			g_string_append(text, " !");
		if (i == layout->hottest)
			g_string_append(text, " *");
	}
	return g_string_free(text, FALSE);
}

static void check(const LodeProfile *profile, const char *name, const char *expected)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) layouts = find(profile, name, &error);

	g_assert_no_error(error);
	g_assert_cmpuint(layouts->len, ==, 1);
	g_autofree char *text = describe(layouts->pdata[0]);
	g_assert_cmpstr(text, ==, expected);
}

static void test_holes_and_lines(void)
{
	static const LodeDataMember members[] = {
		{"next", "struct item *", 0, 8, 0, 0},
		{"key", "char", 8, 1, 0, 0},
		{"value", "int", 12, 4, 0, 0},
		{"text", "char [60]", 16, 60, 0, 0}, /* into the second line */
		{"tail", "char", 128, 1, 0, 0},
	};
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 1 << 16);

	add_type(profile, "struct item", 136, members, G_N_ELEMENTS(members));
	check(profile, "struct item",
		"line 0|member 0+8 next|member 8+1 key|hole 9+3|member 12+4 value|"
		"member 16+60 text|hole 76+52|line 2|member 128+1 tail|padding 129+7|rest");
	hit(profile, 0, 5);
	hit(profile, 3, 7);
	hit(profile, 4, 6);
	hit(profile, LODE_NONE, 1);
	sample_profile_unresolved(profile, 0, LODE_REASON_TLS)->weight = 2;
	sample_profile_fault(profile, 0, SAMPLE_ANON, 1, 0);
	check(profile, "item",
		"line 0 =12|member 0+8 next =5 !|member 8+1 key !|hole 9+3|member 12+4 value !|"
		"member 16+60 text =7 *|hole 76+52|line 2 =6|member 128+1 tail =6|padding 129+7|"
		"rest =1");
	g_autoptr(GPtrArray) layouts = find(profile, "item", NULL);
	const LodeTypeLayout *layout = layouts->pdata[0];
	g_assert_cmpuint(layout->hole_bytes, ==, 3 + 52 + 7);
	g_assert_cmpfloat(layout->total.weight, ==, 19);
	g_assert_cmpuint(layout->total.n_samples, ==, 4);
	g_assert_cmpfloat(layout->all_weight, ==, 21);
}

static void test_bit_fields(void)
{
	static const LodeDataMember members[] = {
		{"low", "unsigned", 0, 4, 0, 3},
		{"high", "unsigned", 0, 4, 5, 4},
		{"wide", "unsigned", 0, 4, 9, 23},
		{"after", "int", 4, 4, 0, 0},
		{"bit", "unsigned", 8, 4, 0, 1},
		{"far", "unsigned", 8, 4, 30, 1},
	};
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 1 << 16);

	add_type(profile, "struct flags", 16, members, G_N_ELEMENTS(members));
	check(profile, "struct flags",
		"line 0|member 0+4:0+3 low|hole 0+0:3+2|member 0+4:5+4 high|"
		"member 0+4:9+23 wide|member 4+4 after|"
		"member 8+4:0+1 bit|hole 8+0:1+7|hole 9+2|hole 11+0:0+6|member 8+4:30+1 far|"
		"padding 11+0:7+1|padding 12+4|rest");
}

/* Members that overlap leave no hole; their order is that of the declaration. */
static void test_union(void)
{
	static const LodeDataMember members[] = {
		{"whole", "long", 0, 8, 0, 0},
		{"half", "int", 0, 4, 0, 0},
		{"upper", "int", 4, 4, 0, 0},
		{"empty", "char []", 8, 0, 0, 0},
	};
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 1 << 16);

	add_type(profile, "union word", 8, members, G_N_ELEMENTS(members));
	hit(profile, 2, 1);
	check(profile, "word",
		"line 0 =1|member 0+8 whole !|member 0+4 half !|member 4+4 upper =1 *|"
		"member 8+0 empty !|rest");
}

/* What lies between the first element's members and the next member is more elements. */
static void test_array_of_structures(void)
{
	static const LodeDataMember members[] = {
		{"first", "long", 0, 8, 0, 0, 0, 0},
		{"pairs[].code", "short", 8, 2, 0, 0, 4, 30},
		{"pairs[].length", "short", 10, 2, 0, 0, 4, 30},
		{"last", "long", 136, 8, 0, 0, 0, 0},
	};
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 1 << 16);

	add_type(profile, "struct tree", 144, members, G_N_ELEMENTS(members));
	hit(profile, 1, 3);
	check(profile, "tree",
		"line 0 =3|member 0+8 first !|member 8+2 pairs[].code =3 *|"
		"member 10+2 pairs[].length !|hole 128+8|line 2|member 136+8 last|rest");
}

static void test_no_members(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 1 << 16);

	add_type(profile, "long", 8, NULL, 0);
	hit(profile, LODE_NONE, 3);
	check(profile, "long", "rest =3");
}

/* What broken debug information may claim. */
static void test_absurd_sizes(void)
{
	static const LodeDataMember members[] = {
		{"a", "t", 0, UINT64_MAX, 0, 0},
		{"b", "t", UINT64_MAX, UINT64_MAX, 0, 0},
		{"c", "t", UINT64_MAX, 1, UINT32_MAX, UINT32_MAX},
		{"d", NULL, 1, 1, 7, UINT32_MAX},
	};
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 1 << 16);
	g_autoptr(GError) error = NULL;

	add_type(profile, "struct absurd", UINT64_MAX, members, G_N_ELEMENTS(members));
	hit(profile, 1, 1);
	g_autoptr(GPtrArray) layouts = find(profile, "absurd", &error);
	g_assert_no_error(error);
	const LodeTypeLayout *layout = layouts->pdata[0];
	g_assert_cmpuint(layout->hottest, !=, LODE_NONE);
	g_assert_cmpuint(layout->rows->len, <=, 4 * 5 + 4);
}

static void test_levels(void)
{
	static const LodeDataMember member = {"m", "int", 0, 4, 0, 0};
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 1 << 16);

	add_type(profile, "struct one", 4, &member, 1);
	hit(profile, 0, 1)->data_source = UINT64_C(1) << 33;
	hit(profile, 0, 2)->data_source = UINT64_C(13) << 33;
	hit(profile, 0, 2)->data_source = UINT64_C(1) << 33;
	hit(profile, 0, 9);
	g_autoptr(GPtrArray) layouts = find(profile, "one", NULL);
	const LodeTypeLayout *layout = layouts->pdata[0];
	const GArray *levels = g_array_index(layout->rows, LodeLayoutRow, 1).levels;
	g_assert_cmpuint(levels->len, ==, 2);
	g_assert_cmpstr(g_array_index(levels, LodeLevelWeight, 0).level, ==, "L1");
	g_assert_cmpfloat(g_array_index(levels, LodeLevelWeight, 0).weight, ==, 3);
	g_assert_cmpstr(g_array_index(levels, LodeLevelWeight, 1).level, ==, "RAM");
}

static void test_several(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 1 << 16);
	g_autoptr(GError) error = NULL;

	add_type(profile, "struct node", 16, NULL, 0);
	add_type(profile, "class node", 8, NULL, 0);
	g_autoptr(GPtrArray) both = find(profile, "struct node", &error);
	g_assert_no_error(error);
	g_assert_cmpuint(both->len, ==, 2);
	g_autoptr(GPtrArray) all = find(profile, "node", &error);
	g_assert_no_error(error);
	g_assert_cmpuint(all->len, ==, 3);
}

static void check_missing(const LodeProfile *profile, const char *name, const char *message)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(find(profile, name, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	g_assert_cmpstr(error->message, ==, message);
}

static void test_left_out(void)
{
	static const LodeDataMember members[] = {{"a", "long", 0, 8, 0, 0, 0, 0}};
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 1 << 20);
	g_autoptr(GPtrArray) layouts = NULL;
	const LodeTypeLayout *layout;

	/* of another type, of none, without an address */
	sample_profile_access(profile, 0, SAMPLE_NODES, LODE_ACCESS_LOAD, 0)->weight = 5;
	sample_profile_access(profile, 0, SAMPLE_ANON, LODE_ACCESS_LOAD, 0)->weight = 3;
	sample_profile_unresolved(profile, 0, LODE_REASON_CLOBBERED)->weight = 2;
	add_type(profile, "struct left", 8, members, 1);
	hit(profile, 0, 10);
	layouts = find(profile, "left", NULL);
	g_assert_nonnull(layouts);
	layout = layouts->pdata[0];
	g_assert_cmpfloat(layout->total.weight, ==, 10);
	g_assert_cmpfloat(layout->untyped_weight, ==, 5);
	g_assert_cmpfloat(layout->all_weight, ==, 20);
}

static void test_missing(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 1 << 16);

	check_missing(profile, "nod",
		"no type 'nod' was accessed in this profile; there are 'struct node'");
	check_missing(profile, "struct nude",
		"no type 'struct nude' was accessed in this profile; did you mean 'struct node'?");
	check_missing(profile, "zzzzzzzz", "no type 'zzzzzzzz' was accessed in this profile");
}

/* Of samples that are being added up, too: the layout would be of a part of them. */
static void test_stopped(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 1 << 16);
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	const LodeProgress progress = {.cancellable = cancellable};
	const LodeTypeLayoutOptions options = {"struct own", &progress};
	g_autoptr(GError) error = NULL;
	const uint32_t first = 0;

	add_type(profile, "struct own", 16, NULL, 0);
	hit(profile, LODE_NONE, 1);
	g_autoptr(GPtrArray) layouts = lode_type_layout_find(profile, &first, 1, &options, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(layouts->len, ==, 1);
	g_cancellable_cancel(cancellable);
	g_assert_null(lode_type_layout_find(profile, &first, 1, &options, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CANCELLED);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/type_layout/holes_and_lines", test_holes_and_lines);
	g_test_add_func("/type_layout/bit_fields", test_bit_fields);
	g_test_add_func("/type_layout/union", test_union);
	g_test_add_func("/type_layout/array_of_structures", test_array_of_structures);
	g_test_add_func("/type_layout/no_members", test_no_members);
	g_test_add_func("/type_layout/absurd_sizes", test_absurd_sizes);
	g_test_add_func("/type_layout/levels", test_levels);
	g_test_add_func("/type_layout/several", test_several);
	g_test_add_func("/type_layout/left_out", test_left_out);
	g_test_add_func("/type_layout/missing", test_missing);
	g_test_add_func("/type_layout/stopped", test_stopped);
	return g_test_run();
}
