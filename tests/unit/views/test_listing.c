/* SPDX-License-Identifier: MIT */
/* Typed columns as text, JSON and CSV: those of a small table, and all that are declared. */
#include "sample_profile.h"
#include "views/form/declared_columns.h"
#include "views/form/format.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

/* --- a small table --- */

static const char *const kinds[] = {"file", "folder"};

typedef struct {
	uint32_t line;
	char *file;
} Place;

static const LodeColumn place_columns[] = {
	{"line", LODE_CELL_NUMBER(Place, line)},
	{"file", LODE_CELL_TEXT(Place, file), .only = LODE_IN_CSV},
};
static const LodeColumns places = LODE_COLUMNS("places", place_columns, Place);

typedef struct {
	const char *name;
	uint32_t kind, level;
	uint64_t address, bytes;
	double share, rate;
	bool is_open;
	LodeStyle style;
	char *note;
	Place place;
	double counts[2];
	GPtrArray *texts;
} Row;

static void put_counts(LodeJsonStream *json, const void *row, const void *user_data)
{
	g_assert_cmpstr(user_data, ==, "data");
	lode_json_begin(json, '[');
	for (unsigned i = 0; i < 2; i++)
		lode_json_number(json, ((const Row *)row)->counts[i]);
	lode_json_end(json, ']');
}

static const LodeColumn columns[] = {
	{"name", LODE_CELL_TEXT(Row, name), .at = 3, .missing = "?",
		.indented = offsetof(Row, level)},
	{"kind", LODE_CELL_NUMBER(Row, kind), .words = kinds},
	{"address", LODE_CELL_ADDRESS(Row, address)},
	{"share", LODE_CELL_SHARE(Row, share), .at = 1, .styled = offsetof(Row, style)},
	{"rate", LODE_CELL_NUMBER(Row, rate), .is_optional = true, .at = 5, .hides_empty = true},
	{"counts", LODE_GROUP("n:")},
	{"COUNT", LODE_CELL_NUMBER(Row, counts[0]), .is_repeated = true},
	LODE_GROUP_END,
	{"open", LODE_CELL_FLAG(Row, is_open), .only = LODE_IN_JSON},
	{"note", LODE_CELL_TEXT(Row, note), .only = LODE_IN_CSV, .when = 2},
	{"list", LODE_CELL_JSON(put_counts)},
	{"texts", LODE_CELL_TEXTS(Row, texts)},
	{"place", LODE_GROUP("at_"), .only = LODE_IN_CSV},
	{LODE_CELL_PART(Row, place, places)},
	{.kind = LODE_COLUMN_GROUP_END, .only = LODE_IN_CSV},
	{LODE_CELL_PART(Row, place, places), .when = 4},
	{.titled = 1, LODE_CELL_SIZE(Row, bytes), .at = 2},
	{.title = "never", LODE_CELL_SIZE(Row, bytes), .at = 4, .when = 4},
};
static const LodeColumns small = LODE_COLUMNS("rows", columns, Row);

static void fill(size_t number, void *out, const void *user_data)
{
	g_assert_cmpstr(user_data, ==, "data");
	Row *row = out;

	*row = number == 0 ? (Row){"a,b", 1, 0, 4096, 2048, 0.5, (double)NAN, true,
				     LODE_STYLE_PLAIN, g_strdup("x"), {5, g_strdup("f")}, {1, 2}}
	                   : (Row){NULL, 0, 1, 0, 1, 0.25, (double)NAN, false, LODE_STYLE_BLANK,
				     NULL, {0}, {3, 4}};
	row->texts = g_ptr_array_new();
	g_ptr_array_add(row->texts, "y");
}

static void test_small(void)
{
	static const char *const keys[] = {"one", "two"};
	const LodeTerminal pipe = {0};
	LodeJsonStream json;
	LodeColumns own;
	FILE *file;

	lode_columns_repeat(&small, keys, 2, &own);
	const LodeListing listing = {.columns = &own,
		.n_rows = 2,
		.fill = fill,
		.user_data = "data",
		.what = 2,
		.titles = {"size"}};
	lode_listing_write_text(&listing, &pipe, file = sample_open());
	g_autofree char *text = sample_close(file);
	g_assert_cmpstr(text, ==,
		" share   size  name\n"
		"50.0 %  2 KiB  a,b\n"
		"          1 B    ?\n");
	lode_listing_write_csv(&listing, file = sample_open());
	g_autofree char *csv = sample_close(file);
	g_assert_cmpstr(csv, ==,
		"name,kind,address,share,rate,n:one,n:two,note,list,texts,at_line,at_file\r\n"
		"\"a,b\",folder,0x1000,0.5,,1,2,x,\"[1,2]\",\"[\"\"y\"\"]\",5,f\r\n"
		",file,0x0,0.25,,3,4,,\"[3,4]\",\"[\"\"y\"\"]\",0,\r\n");
	lode_json_stream_init(&json, file = sample_open());
	lode_json_begin(&json, '{');
	lode_listing_put_json(&listing, &json);
	lode_json_end(&json, '}');
	g_autofree char *object = sample_close(file);
	g_assert_cmpstr(object, ==,
		"{\"rows\":[\n"
		"{\"name\":\"a,b\",\"kind\":\"folder\",\"address\":\"0x1000\",\"share\":0.5,"
		"\"counts\":{\"one\":1,\"two\":2},\"open\":true,\"list\":[1,2],\"texts\":[\"y\"],"
		"\"line\":5},\n"
		"{\"name\":null,\"kind\":\"file\",\"address\":\"0x0\",\"share\":0.25,"
		"\"counts\":{\"one\":3,\"two\":4},\"open\":false,\"list\":[3,4],\"texts\":[\"y\"],"
		"\"line\":0}]}\n");
	g_free((void *)own.columns);
}

/* --- all that are declared --- */

static void check_column(const LodeColumns *set, const LodeColumn *column)
{
	bool is_text = column->stored == LODE_STORED_TEXT ||
	               column->stored == LODE_STORED_OWNED_TEXT;
	const char *name = column->key != NULL ? column->key : column->title;

	if (column->at > 0 && column->title == NULL && column->key == NULL && column->titled == 0)
		g_error("%s: a column in text has no title", set->name);
	if (column->stored == LODE_STORED_NOWHERE) {
		if (column->at > 0 && column->append == NULL)
			g_error("%s: '%s' has no value", set->name, name);
		return;
	}
	g_assert_cmpuint(column->offset, <, set->row_size + (column->is_repeated ? 8 : 0));
	if ((column->kind <= LODE_COLUMN_NAME) != is_text ||
		(column->kind == LODE_COLUMN_ADDRESS) > (column->stored == LODE_STORED_UINT64) ||
		(column->kind == LODE_COLUMN_FLAG) != (column->stored == LODE_STORED_BOOL))
		g_error("%s: the value of '%s' is not of its kind", set->name, name);
}

/* Keys are unique among columns that can be shown together in one form. */
static void check_keys(const LodeColumns *set)
{
	for (unsigned i = 0; i < set->n_columns; i++) {
		const LodeColumn *one = &set->columns[i];
		for (unsigned k = 0; k < i && one->key != NULL; k++) {
			const LodeColumn *other = &set->columns[k];
			bool are_apart = (one->when != 0 && other->when != 0 &&
						 (one->when & other->when) == 0) ||
			                 (one->only != 0 && other->only != 0 &&
						 one->only != other->only);
			if (other->kind == LODE_COLUMN_GROUP)
				break;
			if (!are_apart && g_strcmp0(one->key, other->key) == 0)
				g_error("%s: two columns are called '%s'", set->name, one->key);
		}
	}
}

/* Columns whose cells only their view can make are left out, and parts, which are declared, too. */
static void write_forms(const LodeColumns *set, size_t n_rows)
{
	g_autofree LodeColumn *plain = g_new0(LodeColumn, set->n_columns);
	g_autofree void *row = g_malloc0(set->row_size + sizeof(double));
	const LodeTerminal pipe = {0};
	LodeColumns own = {set->name, plain, 0, set->row_size};
	LodeJsonStream json;
	FILE *file;

	for (unsigned i = 0; i < set->n_columns; i++)
		if (set->columns[i].append == NULL && set->columns[i].put == NULL &&
			set->columns[i].kind != LODE_COLUMN_PART)
			plain[own.n_columns++] = set->columns[i];
	const LodeListing listing = {.columns = &own,
		.n_rows = n_rows,
		.rows = row,
		.what = UINT32_MAX,
		.titles = {"one", "two"}};
	file = sample_open();
	if (own.n_columns > 0)
		lode_listing_write_csv(&listing, file);
	g_autofree char *csv = sample_close(file);
	g_autoptr(GPtrArray) lines = sample_parse_csv(csv);
	g_assert_cmpuint(lines->len, ==, 1 + n_rows);
	if (n_rows > 0)
		g_assert_cmpuint(((GPtrArray *)lines->pdata[0])->len, ==,
			((GPtrArray *)lines->pdata[1])->len);
	lode_json_stream_init(&json, file = sample_open());
	lode_json_begin(&json, '{');
	lode_listing_put_json(&listing, &json);
	lode_json_end(&json, '}');
	g_autofree char *object = sample_close(file);
	g_autoptr(JsonParser) parser = json_parser_new();
	g_assert_true(json_parser_load_from_data(parser, object, -1, NULL));
	bool has_text = false, has_titles = false;
	for (unsigned i = 0; i < own.n_columns; i++) {
		has_text |= plain[i].at > 0;
		has_titles |= plain[i].at > 0 && g_strcmp0(plain[i].title, "") != 0;
	}
	if (!has_text)
		return;
	lode_listing_write_text(&listing, &pipe, file = sample_open());
	g_autofree char *text = sample_close(file);
	size_t n_lines = 0;
	for (const char *end = text; (end = strchr(end, '\n')) != NULL; end++)
		n_lines++;
	g_assert_cmpuint(n_lines, ==, has_titles + n_rows);
}

static void test_declared(void)
{
	for (size_t i = 0; lode_declared_columns[i] != NULL; i++) {
		const LodeColumns *set = lode_declared_columns[i];
		for (unsigned k = 0; k < set->n_columns; k++)
			check_column(set, &set->columns[k]);
		check_keys(set);
		write_forms(set, 0);
		write_forms(set, 1);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/views/listing/small", test_small);
	g_test_add_func("/views/listing/declared", test_declared);
	return g_test_run();
}
