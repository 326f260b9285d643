/* SPDX-License-Identifier: MIT */
/* Random expressions over random samples give what SQLite gives for them, row by row. */
#include "analyses/memory/expressions/expression.h"
#include "analyses/memory/sample_attributes.h"
#include "model/memory.h"
#include "random_expression.h"
#include "sample_profile.h"
#include "seeds.h"

#include <regex.h>
#include <sqlite3.h>
#include <string.h>

enum { N_SAMPLES = 120, N_EXPRESSIONS = 1500, DEPTH = 5 };

/* POSIX's own expressions, so that matching has an oracle too. */
static void matches(sqlite3_context *context, int n, sqlite3_value **values)
{
	const char *text = (const char *)sqlite3_value_text(values[0]);
	regex_t pattern;

	(void)n;
	if (text == NULL) {
		sqlite3_result_null(context);
		return;
	}
	if (regcomp(&pattern, (const char *)sqlite3_value_text(values[1]),
		    REG_EXTENDED | REG_NOSUB) != 0)
		g_error("pattern");
	sqlite3_result_int(context, regexec(&pattern, text, 0, NULL, 0) == 0);
	regfree(&pattern);
}

static void vary(LodeMemorySample *sample, GRand *rand)
{
	if (g_rand_boolean(rand))
		sample->latency = (uint64_t)g_rand_int_range(rand, 0, 300);
	if (g_rand_boolean(rand))
		sample->data_source = (uint64_t)g_rand_int_range(rand, 0, 15) << 33;
	if (g_rand_int_range(rand, 0, 4) == 0)
		sample->cpu = sample->node = UINT32_MAX;
	if (g_rand_int_range(rand, 0, 4) == 0)
		sample->size = 0;
	sample->weight = g_rand_int_range(rand, 0, 64) / 4.0;
	sample->is_unverified = g_rand_boolean(rand);
}

static LodeProfile *make_profile(GRand *rand)
{
	SampleProfileOptions options = {.seed = g_rand_int(rand),
		.n_threads = 4,
		.n_samples = N_SAMPLES,
		.anon_bytes = 1 << 16,
		.unresolved = 0.2,
		.faults = 0.1};
	LodeProfile *profile = sample_profile_random(&options);

	for (guint i = 0; i < profile->memory->samples->len; i++)
		vary(&LODE_AT(profile->memory->samples, LodeMemorySample, i), rand);
	return profile;
}

static void bind_value(sqlite3_stmt *statement, int column, const LodeValue *value)
{
	switch (value->kind) {
	case LODE_VALUE_NONE:
		sqlite3_bind_null(statement, column);
		break;
	case LODE_VALUE_INTEGER:
		sqlite3_bind_int64(statement, column, (sqlite3_int64)value->integer);
		break;
	case LODE_VALUE_REAL:
		sqlite3_bind_double(statement, column, value->real);
		break;
	case LODE_VALUE_TEXT:
		sqlite3_bind_text(statement, column, value->text, -1, SQLITE_TRANSIENT);
		break;
	case LODE_VALUE_BOOLEAN:
		sqlite3_bind_int(statement, column, value->truth);
		break;
	}
}

static void insert_sample(sqlite3_stmt *insert, const LodeSampleAttributes *attributes,
	const LodeMemorySample *sample)
{
	size_t n;
	const LodeSampleAttribute *table = lode_sample_attribute_table(&n);

	for (int i = 0; random_expression_attributes[i] != NULL; i++) {
		int attribute = lode_sample_attribute_find(random_expression_attributes[i]);
		LodeValue value = table[attribute].value(attributes, sample);
		bind_value(insert, i + 1, &value);
	}
	g_assert_cmpint(sqlite3_step(insert), ==, SQLITE_DONE);
	sqlite3_reset(insert);
}

static sqlite3 *make_table(const LodeProfile *profile, const LodeSampleAttributes *attributes)
{
	g_autoptr(GString) columns = g_string_new(NULL);
	g_autoptr(GString) marks = g_string_new(NULL);
	sqlite3 *database;
	sqlite3_stmt *insert;

	for (int i = 0; random_expression_attributes[i] != NULL; i++) {
		g_string_append_printf(
			columns, "%s%s", i > 0 ? "," : "", random_expression_attributes[i]);
		g_string_append(marks, i > 0 ? ",?" : "?");
	}
	g_autofree char *create = g_strdup_printf("CREATE TABLE samples(%s)", columns->str);
	g_autofree char *text = g_strdup_printf("INSERT INTO samples VALUES(%s)", marks->str);
	g_assert_cmpint(sqlite3_open(":memory:", &database), ==, SQLITE_OK);
	sqlite3_create_function(database, "matches", 2, SQLITE_UTF8, NULL, matches, NULL, NULL);
	g_assert_cmpint(sqlite3_exec(database, create, NULL, NULL, NULL), ==, SQLITE_OK);
	g_assert_cmpint(sqlite3_prepare_v2(database, text, -1, &insert, NULL), ==, SQLITE_OK);
	for (guint i = 0; i < profile->memory->samples->len; i++)
		insert_sample(insert, attributes,
			&LODE_AT(profile->memory->samples, LodeMemorySample, i));
	sqlite3_finalize(insert);
	return database;
}

static bool is_equal(const LodeValue *value, sqlite3_stmt *statement)
{
	int type = sqlite3_column_type(statement, 0);

	switch (value->kind) {
	case LODE_VALUE_NONE:
		return type == SQLITE_NULL;
	case LODE_VALUE_INTEGER:
		return type == SQLITE_INTEGER &&
		       sqlite3_column_int64(statement, 0) == value->integer;
	case LODE_VALUE_REAL:
		return type == SQLITE_FLOAT && sqlite3_column_double(statement, 0) == value->real;
	case LODE_VALUE_TEXT:
		return type == SQLITE_TEXT &&
		       strcmp((const char *)sqlite3_column_text(statement, 0), value->text) == 0;
	case LODE_VALUE_BOOLEAN:
		return type == SQLITE_INTEGER && sqlite3_column_int(statement, 0) == value->truth;
	}
	return false;
}

static void compare(sqlite3 *database, const LodeSampleAttributes *attributes,
	const GArray *samples, const RandomExpression *random, uint64_t *n_values)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeExpressionScope)
		scope = lode_expression_scope_new(&lode_sample_attribute_source);
	g_autoptr(LodeExpression) expression = lode_expression_new(random->lode, scope, &error);
	g_autofree char *query = g_strdup_printf("SELECT %s FROM samples", random->sql);
	sqlite3_stmt *select;

	g_assert_no_error(error);
	g_autoptr(LodeEvaluator) evaluator = lode_evaluator_new(expression, attributes);
	if (sqlite3_prepare_v2(database, query, -1, &select, NULL) != SQLITE_OK)
		g_error("%s: %s", query, sqlite3_errmsg(database));
	for (guint i = 0; i < samples->len; i++) {
		LodeValue value;
		g_assert_cmpint(sqlite3_step(select), ==, SQLITE_ROW);
		g_assert_true(lode_evaluator_run(
			evaluator, &LODE_AT(samples, LodeMemorySample, i), &value, &error));
		if (!is_equal(&value, select))
			g_error("sample %u: %s\nSQL %s gives %s", i, random->lode, random->sql,
				sqlite3_column_text(select, 0));
		*n_values += value.kind != LODE_VALUE_NONE;
	}
	sqlite3_finalize(select);
}

static void test_against_sqlite(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(7));
	g_autoptr(LodeProfile) profile = make_profile(rand);
	g_autoptr(LodeSampleAttributes) attributes = lode_sample_attributes_new(profile, NULL);
	sqlite3 *database = make_table(profile, attributes);
	uint64_t n_values = 0;

	for (int i = 0; i < N_EXPRESSIONS; i++) {
		RandomKind kind = i % 2 == 0 ? RANDOM_CONDITION : (RandomKind)(i / 2 % 3);
		RandomExpression random = random_expression(
			rand, kind, g_rand_int_range(rand, 0, DEPTH + 1));
		compare(database, attributes, profile->memory->samples, &random, &n_values);
		random_expression_clear(&random);
	}
	/* Not all of them none. */
	g_assert_cmpuint(n_values, >, (uint64_t)N_EXPRESSIONS * N_SAMPLES / 2);
	g_test_message("%d expressions, %" G_GUINT64_FORMAT " values", N_EXPRESSIONS, n_values);
	sqlite3_close(database);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/expression/against_sqlite", test_against_sqlite);
	return g_test_run();
}
