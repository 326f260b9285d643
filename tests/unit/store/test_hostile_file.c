/* SPDX-License-Identifier: MIT */
/* Files that are broken, foreign or made to harm: an error that says where, never a crash. */
#include "base/error.h"
#include "model/memory.h"
#include "old_profile.h"
#include "random_profile.h"
#include "seeds.h"
#include "store/profile_store.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
	char *folder, *path;
} Fixture;

enum { N_FUNCTIONS = 12, N_SEQUENCES = 20 };

static void write_sample(const char *path)
{
	g_autoptr(LodeProfile) profile = random_profile_new(5, N_FUNCTIONS);
	g_autoptr(LodeMiningRun) run = random_run_new(5, "a", N_SEQUENCES);

	g_unlink(path);
	g_assert_true(lode_profile_store_write(path, profile, NULL, NULL));
	g_assert_true(lode_profile_store_add_run(path, profile, run, NULL, NULL));
}

/* A test gets a copy of one sample, which is much quicker than writing it anew. */
typedef struct {
	const struct Harm *harm;
	GBytes *sample;
} Case;

static void set_up(Fixture *fixture, const void *data)
{
	const Case *test_case = data;
	gsize size;
	const char *bytes = g_bytes_get_data(test_case->sample, &size);

	fixture->folder = make_folder();
	fixture->path = g_build_filename(fixture->folder, "x.lode", NULL);
	g_assert_true(g_file_set_contents(fixture->path, bytes, (gssize)size, NULL));
}

static void tear_down(Fixture *fixture, const void *data)
{
	(void)data;
	g_free(fixture->path);
	remove_folder(fixture->folder);
}

static void change(const char *path, const char *sql)
{
	sqlite3 *handle;
	char *message = NULL;

	g_assert_cmpint(sqlite3_open(path, &handle), ==, SQLITE_OK);
	sqlite3_exec(handle, sql, NULL, NULL, &message);
	g_assert_cmpstr(message, ==, NULL);
	sqlite3_close(handle);
}

/* Reads profile and run; the first failure. */
static GError *read_all(const char *path)
{
	GError *error = NULL;

	lode_profile_free(lode_profile_store_read_with_memory(path, NULL, &error));
	if (error == NULL)
		lode_mining_run_free(lode_profile_store_read_run(path, "a", &error));
	return error;
}

static void assert_fails(const char *path, int code, const char *message)
{
	g_autoptr(GError) error = read_all(path);

	g_assert_error(error, LODE_ERROR, code);
	if (strstr(error->message, message) == NULL)
		g_error("'%s' is not in '%s'", message, error->message);
	g_assert_true(g_str_has_prefix(error->message, path));
}

typedef struct Harm {
	const char *sql, *message;
} Harm;

static const Harm harms[] = {
	/* references */
	{"UPDATE function SET image = 99 WHERE id = 2", "table 'function', row 2: its image"},
	{"UPDATE function SET image = 0 WHERE id = 2", "table 'function', row 2: "},
	{"UPDATE function SET image = -1 WHERE id = 2",
		"table 'function', row 2: column 'image' is out of range"},
	{"UPDATE function SET image = 4294967297 WHERE id = 2",
		"table 'function', row 2: column 'image' is out of range"},
	{"UPDATE block SET function = 13 WHERE id = 3", "table 'block', row"},
	{"UPDATE instruction SET function = 1 WHERE id = 30", "table 'instruction', row"},
	{"UPDATE instruction SET function = 12 WHERE id = 30", "table 'instruction', row"},
	{"UPDATE instruction SET block = 99 WHERE id = 3",
		"table 'instruction', row 3: its block does not exist"},
	{"UPDATE instruction SET block = (SELECT max(id) FROM block) WHERE id = 3",
		"table 'instruction', row 3: its block is not of its function"},
	{"UPDATE instruction SET attribute_set = 999 WHERE id = 3",
		"table 'instruction', row 3: its attribute_set does not exist"},
	{"UPDATE instruction SET location = 999 WHERE id = 3",
		"table 'instruction', row 3: its location does not exist"},
	{"UPDATE instruction SET next_count = 1 WHERE id = (SELECT max(id) FROM instruction)",
		"next_count, but it is the last of its function"},
	{"UPDATE edge SET target = 9999 WHERE id = 3",
		"table 'edge', row 3: its target does not exist"},
	{"UPDATE edge SET source = 1 WHERE id = 30",
		"table 'edge', row 30: it is not in the order"},
	{"UPDATE cost SET instruction = 9999 WHERE instruction = 40",
		"its instruction does not exist"},
	{"INSERT INTO cost VALUES (0, 2, 1)", "table 'cost', row 1: "},
	{"INSERT INTO cost VALUES (3, 99, 1)", "its event does not exist"},
	{"INSERT INTO cost VALUES (3, 1, 1)", "its event does not exist or has no costs"},
	{"UPDATE event_term SET source = 5", "table 'event', row 5: a term is broken"},
	{"UPDATE event_term SET source = 55", "table 'event', row 5: a term is broken"},
	{"UPDATE event_term SET event = 1", "table 'event_term', row 1: no derived event"},
	{"UPDATE event_term SET position = position + 10", "table 'event_term', row 1: "},
	{"UPDATE meta SET value = 99 WHERE key = 'weight_event'", "table 'meta': the weight event"},
	{"UPDATE meta SET value = NULL WHERE key = 'weight_event'",
		"table 'meta': the weight event"},
	{"UPDATE attribute_set_member SET attribute = 999 WHERE attribute_set = 3 AND attribute = "
	 "(SELECT max(attribute) FROM attribute_set_member WHERE attribute_set = 3)",
		"table 'attribute_set', row 3: an attribute does not exist"},
	{"DELETE FROM attribute_set_member WHERE attribute_set = 3", "its set has more or fewer"},
	{"INSERT INTO attribute_set_member VALUES (3, 999)", "its set has more or fewer"},
	{"INSERT INTO attribute_set_member VALUES (999, 1)", "its set does not exist"},
	{"UPDATE attribute_set SET size = 4294967295 WHERE id = 2", "its set has more or fewer"},
	{"UPDATE attribute_set SET size = -1 WHERE id = 2", "column 'size' is out of range"},
	{"UPDATE location SET file = 999 WHERE id = 3",
		"table 'location', row 3: a string does not exist"},
	{"UPDATE attribute SET name = 'op:0' WHERE id = 4", "table 'attribute', row 4: its name"},
	{"UPDATE location SET file = 1, inlined = 1, line = 1",
		"table 'location', row 2: it has been there before"},
	/* identifiers with gaps */
	{"DELETE FROM instruction WHERE id = 3", "table 'instruction', row 3: its id is 4"},
	{"UPDATE image SET id = -1 WHERE id = 1", "table 'image', row 1: its id is -1"},
	{"DELETE FROM meta WHERE key = 'frequency'", "table 'meta': key 'frequency' is missing"},
	{"DELETE FROM meta", "is missing"},
	/* types and ranges */
	{"UPDATE instruction SET count = -1 WHERE id = 3",
		"table 'instruction', row 3: column 'count' is negative"},
	{"UPDATE instruction SET count = 9e999 WHERE id = 3", "column 'count' is not a number"},
	{"UPDATE instruction SET count = 'many' WHERE id = 3", "column 'count' is not a number"},
	{"UPDATE instruction SET address = 'x' WHERE id = 3", "column 'address' is not an integer"},
	{"UPDATE instruction SET address = 9e99 WHERE id = 3",
		"column 'address' is not an integer"},
	{"UPDATE instruction SET size = 4294967296 WHERE id = 3", "column 'size' is out of range"},
	{"UPDATE instruction SET name = x'00' WHERE id = 3", "column 'name' is not text"},
	{"UPDATE instruction SET name = 'a' || char(0) || 'b' WHERE id = 3", "has a zero byte"},
	{"UPDATE instruction SET next_count = -1 WHERE id = 3", "'next_count' is negative"},
	{"UPDATE function SET code = 'text' WHERE id = 3", "column 'code' is not a blob"},
	{"UPDATE function SET code = zeroblob(65) WHERE id = 3", "its code is longer than it"},
	{"UPDATE function SET size = -1 WHERE id = 3", "column 'size' is out of range"},
	{"UPDATE function SET address = -1 WHERE id = 3", "its end is out of range"},
	{"UPDATE function SET source = 'nowhere' WHERE id = 3",
		"column 'source' is an unknown word"},
	{"UPDATE block SET loop_depth = 256 WHERE id = 3", "column 'loop_depth' is out of range"},
	{"UPDATE block SET is_loop_head = 2 WHERE id = 3", "column 'is_loop_head' is out of range"},
	{"UPDATE block SET end_address = address - 1 WHERE id = 3", "it ends before it begins"},
	{"UPDATE block SET count = -1 WHERE id = 3", "column 'count' is negative"},
	{"UPDATE edge SET kind = 'x' WHERE id = 3", "column 'kind' is an unknown word"},
	{"UPDATE event SET kind = x'41' WHERE id = 1", "column 'kind' is not text"},
	{"UPDATE event SET total = 'x' WHERE id = 1", "column 'total' is not a number"},
	{"UPDATE event SET kind = 'recorded' WHERE id = 5", "table 'event_term', row 1: "},
	{"UPDATE event_term SET factor = 9e999", "column 'factor' is not a number"},
	{"UPDATE cost SET value = -9e999", "column 'value' is not a number"},
	{"UPDATE meta SET value = 'a' WHERE key = 'total_count'", "table 'meta', row"},
	{"UPDATE meta SET value = 'a' WHERE key = 'frequency'", "is an unknown word"},
	{"UPDATE meta SET value = zeroblob(9) WHERE key = 'creator'", "is not text"},
	{"UPDATE unresolved SET places = -1", "column 'places' is out of range"},
	{"UPDATE unresolved SET count = -1", "column 'count' is negative"},
	{"UPDATE thread_time SET end_ns = begin_ns - 1 WHERE id = 2",
		"table 'thread_time', row 2: it ends before it begins"},
	{"UPDATE thread_time SET running_ns = -1 WHERE id = 2", "'running_ns' is negative"},
	{"UPDATE thread_time SET name = x'00' WHERE id = 2", "column 'name' is not text"},
	/* windows */
	{"UPDATE window_edge SET target = 9999 WHERE source = (SELECT min(source) FROM "
	 "window_edge) AND target = (SELECT min(target) FROM window_edge e WHERE e.source = "
	 "window_edge.source)",
		"table 'window_edge', row"},
	{"UPDATE window_edge SET source = 0 WHERE source = (SELECT max(source) FROM window_edge)",
		"table 'window_edge', row"},
	{"UPDATE window_edge SET steps = 4294967296", "column 'steps' is out of range"},
	{"UPDATE window_edge SET steps = windows - 1", "it has more windows than steps"},
	{"UPDATE window_edge SET steps = 1.5", "column 'steps' is not an integer"},
	{"UPDATE window_instruction SET instruction = 9999 WHERE id = 2",
		"table 'window_instruction', row 2: its instruction does not exist"},
	{"UPDATE window_instruction SET instruction = (SELECT w.instruction FROM "
	 "window_instruction w WHERE w.id = 1) WHERE id = 2",
		"table 'window_instruction', row 2: it does not come after the one before"},
	{"UPDATE window_fact SET fact = 'unheard' WHERE id = 1", "table 'window_fact', row 1"},
	{"UPDATE window_fact SET n = 4294967295 WHERE fact = 'same_arguments'",
		"it has more of a kind than there are"},
	{"UPDATE window_fact SET instruction = 9999 WHERE id = 1",
		"table 'window_fact', row 1: its instruction was not executed in windows"},
	{"UPDATE window_instruction SET unforetold = outcomes + 1 WHERE id = 2",
		"table 'window_instruction', row 2: it has more of a kind than there are"},
	{"UPDATE window_instruction SET accesses = 0, strided = 1 WHERE id = 2",
		"it has more of a kind than there are"},
	{"UPDATE window_instruction SET stride = 'x' WHERE id = 2",
		"column 'stride' is not an integer"},
	{"DELETE FROM window_instruction WHERE id = 2", "row 2: its id is 3"},
	{"UPDATE window_recording SET steps = -1", "column 'steps' is out of range"},
	{"UPDATE window_recording SET user_seconds = -1", "column 'user_seconds' is negative"},
	{"INSERT INTO window_recording SELECT 2, windows, steps, unresolved_steps, "
	 "dropped_samples, dropped_weight, user_seconds, system_seconds FROM window_recording",
		"table 'window_recording', row 2: there is one already"},
	{"UPDATE window_process SET obstacle = x'00' WHERE id = 2",
		"column 'obstacle' is not text"},
	{"UPDATE window_process SET windows = -1 WHERE id = 2", "column 'windows' is out of range"},
	{"ALTER TABLE window_edge ADD COLUMN address INTEGER",
		"table 'window_edge' is not as lode makes it"},
	/* loops */
	{"UPDATE loop SET head = 9999 WHERE id = 2",
		"table 'loop', row 2: its head does not exist"},
	{"UPDATE loop SET head = (SELECT l.head FROM loop l WHERE l.id = 1) WHERE id = 2",
		"table 'loop', row 2: it does not come after the one before"},
	{"UPDATE loop SET divider = -1 WHERE id = 2", "column 'divider' is negative"},
	{"UPDATE loop SET iteration_ns = 1e999 WHERE id = 2", "table 'loop', row 2: "},
	{"UPDATE loop SET recurrence = x'00' WHERE id = 2", "column 'recurrence' is not text"},
	{"UPDATE loop SET width = 'x' WHERE id = 2", "table 'loop', row 2: "},
	/* data addresses */
	{"UPDATE memory_sample SET thread = 9 WHERE id = 2",
		"table 'memory_sample', row 2: its thread does not exist"},
	{"UPDATE memory_sample SET object = 99 WHERE id = 2",
		"table 'memory_sample', row 2: its object does not exist"},
	{"UPDATE memory_sample SET access_location = 99999 WHERE id = 2",
		"table 'memory_sample', row 2: its access_location does not exist"},
	{"UPDATE memory_sample SET weight = -1 WHERE id = 2", "column 'weight' is negative"},
	{"UPDATE memory_sample SET rule = 'guessed' WHERE id = 2",
		"column 'rule' is an unknown word"},
	{"UPDATE memory_sample SET access = 'x' WHERE id = 2", "'access' is an unknown word"},
	{"UPDATE memory_sample SET is_unverified = 2 WHERE id = 2", "out of range"},
	{"UPDATE data_object SET layer = 'x' WHERE id = 2", "column 'layer' is an unknown word"},
	{"UPDATE data_object SET member = 999 WHERE id = 2",
		"table 'data_object', row 2: its member does not exist"},
	{"UPDATE data_type SET members = 4294967295 WHERE id = 1",
		"table 'data_type', row 1: its members are not its own"},
	{"UPDATE data_type SET first_member = first_member + 1 WHERE id = 3",
		"table 'data_type', row 3: its members are not its own"},
	{"UPDATE mapping SET end_address = 0, start_address = 1 WHERE id = 2",
		"table 'mapping', row 2: it ends before it begins"},
	{"UPDATE allocation SET site = 0 WHERE id = 1",
		"table 'allocation', row 1: its site does not exist"},
	{"UPDATE thread SET name = x'00' WHERE id = 1", "column 'name' is not text"},
	{"UPDATE memory_recording SET has_allocations = 7", "'has_allocations' is out of range"},
	/* runs */
	{"UPDATE run SET parameters = '{\"gap\":-1}'", "table 'run', row 'a': its parameter 'gap'"},
	{"UPDATE run SET parameters = x'00'", "column 'parameters' is not text"},
	{"UPDATE run SET sequences = 21", "table 'run', row 'a': 21 sequences are 20"},
	{"UPDATE run SET seconds = -1", "column 'seconds' is negative"},
	{"UPDATE run SET is_complete = 7", "column 'is_complete' is out of range"},
	{"UPDATE run SET id = -id", "table 'run', row 1: column 'id'"},
	{"DELETE FROM run_attribute WHERE id = 2", "table 'run_attribute', row 2: its id is 3"},
	{"UPDATE run_attribute SET name = 'op:add'", "its name has been there before"},
	{"INSERT INTO run_event SELECT 1, max(id) + 2, 'x' FROM run_event",
		"table 'run_event', row"},
	{"INSERT INTO run_event SELECT 1, max(id) + 1, 'x' FROM run_event",
		"table 'mined_support': no such column: event_"},
	{"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
	 "INSERT OR IGNORE INTO run_event SELECT 1, i, 'x' FROM n",
		"table 'run_event': too many rows"},
	{"DELETE FROM mined_sequence WHERE id = 5", "table 'mined_sequence', row 5: its id is 6"},
	{"UPDATE mined_sequence SET elements = '' WHERE id = 5",
		"table 'mined_sequence', row 5: column 'elements'"},
	{"UPDATE mined_sequence SET elements = '[]' WHERE id = 5", "column 'elements'"},
	{"UPDATE mined_sequence SET elements = '[0]' WHERE id = 5", "column 'elements'"},
	{"UPDATE mined_sequence SET elements = '[-1]' WHERE id = 5", "column 'elements'"},
	{"UPDATE mined_sequence SET elements = '[1.5]' WHERE id = 5", "column 'elements'"},
	{"UPDATE mined_sequence SET elements = '[\"1\"]' WHERE id = 5", "column 'elements'"},
	{"UPDATE mined_sequence SET elements = '[null]' WHERE id = 5", "column 'elements'"},
	{"UPDATE mined_sequence SET elements = '[99999]' WHERE id = 5", "column 'elements'"},
	{"UPDATE mined_sequence SET elements = '[1,]' WHERE id = 5", "column 'elements'"},
	{"UPDATE mined_sequence SET elements = '[1' WHERE id = 5", "column 'elements'"},
	{"UPDATE mined_sequence SET elements = '[1]1' WHERE id = 5", "column 'elements'"},
	{"UPDATE mined_sequence SET elements = replace(hex(zeroblob(50000)), '0', '[') "
	 "WHERE id = 5",
		"column 'elements'"},
	{"UPDATE mined_sequence SET elements = '[' || replace(hex(zeroblob(50)), '0', '1,') || "
	 "'1]' WHERE id = 5",
		"column 'elements'"},
	{"UPDATE mined_sequence SET support = 0 WHERE id = 5",
		"table 'mined_sequence', row 5: its support does not exist"},
	{"UPDATE mined_sequence SET support = 99999 WHERE id = 5", "its support does not exist"},
	{"UPDATE mined_sequence SET support = -1 WHERE id = 5", "column 'support' is out of range"},
	{"DELETE FROM mined_element", "table 'mined_sequence', row 1: column 'elements'"},
	{"DELETE FROM mined_element WHERE id = 2", "table 'mined_element', row 2: its id is 3"},
	{"UPDATE mined_element SET attributes = '' WHERE id = 2",
		"table 'mined_element', row 2: column 'attributes'"},
	{"UPDATE mined_element SET attributes = '[]' WHERE id = 2", "column 'attributes'"},
	{"UPDATE mined_element SET attributes = '[1]' WHERE id = 2", "column 'attributes'"},
	{"UPDATE mined_element SET attributes = '[\"op:add\"' WHERE id = 2", "column 'attributes'"},
	{"UPDATE mined_element SET attributes = '[\"op:sub\"]' WHERE id = 2",
		"column 'attributes'"},
	{"UPDATE mined_element SET attributes = '[' || replace(hex(zeroblob(50)), '0', "
	 "'\"op:add\",') || '\"op:add\"]' WHERE id = 1",
		"column 'elements'"},
	{"DELETE FROM mined_support WHERE id = 2", "table 'mined_support', row 2: its id is 3"},
	{"UPDATE mined_support SET weight = -0.1 WHERE id = 5", "column 'weight' is negative"},
	{"UPDATE mined_support SET places = 9e9 WHERE id = 5", "column 'places' is out of range"},
	{"UPDATE mined_support SET event_1 = 'x' WHERE id = 5", "column 'event_1' is not a number"},
	/* findings */
	{"UPDATE finding SET kind = 'x' WHERE id = 3", "table 'finding', row 3: "},
	{"UPDATE finding SET items = '[[1]]' WHERE id = 3",
		"table 'finding', row 3: column 'items' is not a list of lists of attributes"},
	{"UPDATE finding SET items = '[]' WHERE id = 3",
		"table 'finding', row 3: column 'items' is not a list of lists of attributes"},
	{"UPDATE finding SET items = '[[\"a\"],[' WHERE id = 3",
		"table 'finding', row 3: column 'items' is not a list of lists of attributes"},
	{"UPDATE finding SET focus = 9 WHERE id = 3",
		"table 'finding', row 3: its focus is not one of its elements"},
	{"UPDATE finding SET focus = -1 WHERE id = 3", "column 'focus' is out of range"},
	{"UPDATE finding SET time = -1 WHERE id = 3", "column 'time' is negative"},
	{"UPDATE finding SET each = 9e999 WHERE id = 3", "column 'each' is not a number"},
	{"UPDATE finding SET executed = 'x' WHERE id = 3", "column 'executed' is not a number"},
	{"UPDATE finding SET places = -1 WHERE id = 3", "column 'places' is out of range"},
	{"DELETE FROM finding WHERE id = 2", "table 'finding', row 2: its id is 3"},
	{"DELETE FROM finding", "does not exist"},
	{"DELETE FROM finding; DELETE FROM finding_place",
		"table 'run_findings', row 'a': 10 findings are 0"},
	{"UPDATE finding_place SET instruction = 99999 WHERE finding = 3 AND position = 1",
		"table 'finding', row 3: one of its places is out of range"},
	{"UPDATE finding_place SET instruction = 0 WHERE finding = 3 AND position = 1",
		"table 'finding', row 3: one of its places is out of range"},
	{"UPDATE finding_place SET finding = 99 WHERE finding = 10 AND position = 9",
		"its finding does not exist"},
	{"DELETE FROM finding_place WHERE finding = 3 AND position = 1",
		"its position is not the one after the last"},
	{"UPDATE run_findings SET base = -1", "column 'base' is negative"},
	{"UPDATE run_findings SET findings = 99", "column 'findings' is out of range"},
	{"DROP TABLE finding; CREATE VIEW finding AS SELECT 1 AS id", "table 'finding' is missing"},
	{"DROP TABLE finding; CREATE TABLE finding(id)", "table 'finding' is not as lode makes it"},
	/* the schema */
	{"DROP TABLE edge", "table 'edge' is missing"},
	{"DROP TABLE edge; CREATE VIEW edge AS SELECT 1 AS id", "table 'edge' is missing"},
	{"DROP TABLE edge; CREATE VIRTUAL TABLE edge USING fts5(a)", "table 'edge' is missing"},
	{"DROP TABLE edge; CREATE TABLE edge(id, source, target, kind, count)",
		"table 'edge' is not as lode makes it"},
	{"ALTER TABLE edge ADD COLUMN more AS (zeroblob(1000000000))",
		"table 'edge' is not as lode makes it"},
	{"ALTER TABLE mined_support ADD COLUMN event_x",
		"table 'mined_support' is not as lode makes it"},
	{"DROP TABLE mined_sequence", "table 'mined_sequence' is missing"},
	{"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE' "
	 "WHERE name = 'edge'",
		"the profile is damaged or was cut short: copy it or record it again"},
	{"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 9999 "
	 "WHERE name = 'edge'",
		""},
	{"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = "
	 "(SELECT rootpage FROM sqlite_schema WHERE name = 'cost') WHERE name = 'edge'",
		"table 'edge', row 1: "},
	{"UPDATE allocation_call SET inner_call = 5 WHERE id = 4",
		"table 'allocation_call', row 4: what it calls does not stand before it"},
	{"UPDATE allocation_call SET role = 'x' WHERE id = 4", "table 'allocation_call', row 4: "},
	{"UPDATE allocation_path SET call = 99 WHERE id = 2", "table 'allocation_path', row 2: "},
	{"UPDATE allocation_path SET lifetime_ns = -1 WHERE id = 2",
		"table 'allocation_path', row 2: "},
	{"DELETE FROM allocation_path_of WHERE id = (SELECT max(id) FROM allocation_path_of)",
		"table 'allocation_path_of', row 5: there are too many or too few"},
	{"INSERT INTO access_call VALUES (1000, NULL, 'x', 1000)", "table 'access_call', row "},
	{"DELETE FROM access_path_of; INSERT INTO access_path_of VALUES (1, NULL)",
		"table 'access_path_of', row 2: there are too many or too few"},
	{"UPDATE line_store SET size = 0 WHERE id = 3",
		"table 'line_store', row 3: it has no bytes"},
	{"UPDATE line_store SET size = 1 << 32 WHERE id = 3", "column 'size' is out of range"},
	{"UPDATE line_store SET sample = 1 WHERE id = 4",
		"table 'line_store', row 4: the one before it is of a later sample"},
	{"UPDATE line_store SET sample = 99 WHERE id = 5", "table 'line_store', row 5: "},
	{"UPDATE line_store SET thread = 99 WHERE id = 2", "table 'line_store', row 2: "},
	{"UPDATE line_store SET function = 99999 WHERE id = 2", "table 'line_store', row 2: "},
	{"UPDATE line_store SET location = 99999 WHERE id = 2", "table 'line_store', row 2: "},
	{"UPDATE line_store SET misses = 'x' WHERE id = 1", "table 'line_store', row 1: "},
	{"UPDATE lost_range SET size = 0 WHERE id = 3",
		"table 'lost_range', row 3: it has no bytes, or too many"},
	{"UPDATE lost_range SET start_address = -8, size = 9 WHERE id = 3",
		"table 'lost_range', row 3: it has no bytes, or too many"},
	{"UPDATE lost_range SET sample = (SELECT sample FROM lost_range WHERE id = 3) WHERE id = 4",
		"table 'lost_range', row 4: its sample is not after the one before"},
	{"UPDATE lost_range SET sample = 99 WHERE id = 5", "table 'lost_range', row 5: "},
	{"INSERT INTO heap_peak VALUES (2, 1, 1)", "it is one too many"},
	{"PRAGMA application_id = 7", "not a lode profile, but another SQLite file"},
};

/* Of a profile of schema version 3. */
static const Harm old_harms[] = {
	{"DELETE FROM sequence WHERE id = 5", "table 'sequence', row 5: its id is 6"},
	{"UPDATE sequence SET items = '' WHERE id = 5", "table 'sequence', row 5: column 'items'"},
	{"UPDATE sequence SET items = '[]' WHERE id = 5", "column 'items'"},
	{"UPDATE sequence SET items = '[[]]' WHERE id = 5", "column 'items'"},
	{"UPDATE sequence SET items = '[[\"op:add\"' WHERE id = 5", "column 'items'"},
	{"UPDATE sequence SET items = '[[\"op:add\"],]' WHERE id = 5", "column 'items'"},
	{"UPDATE sequence SET items = '[[\"op:sub\"]]' WHERE id = 5", "column 'items'"},
	{"UPDATE sequence SET items = replace(hex(zeroblob(50000)), '0', '[') WHERE id = 5",
		"column 'items'"},
	{"UPDATE sequence SET size = size + 1 WHERE id = 5", "column 'size' is not the number"},
	{"UPDATE sequence SET weight = -0.1 WHERE id = 5", "column 'weight' is negative"},
	{"UPDATE sequence SET weight = 1e305 WHERE id = 5", "a share is far above 1"},
	{"UPDATE sequence SET size = 65, items = '[[' || replace(hex(zeroblob(32)), '0', "
	 "'\"op:add\",') || '\"op:add\"]]' WHERE id = 5",
		"table 'sequence', row 5: it has too many attributes"},
	{"UPDATE sequence SET places = 9e9 WHERE id = 5", "column 'places' is out of range"},
	{"UPDATE sequence SET event_1 = 'x' WHERE id = 5", "column 'event_1' is not a number"},
	{"INSERT INTO run_event SELECT 1, max(id) + 1, 'x' FROM run_event",
		"table 'sequence': no such column: event_"},
	{"ALTER TABLE sequence ADD COLUMN event_x", "table 'sequence' is not as lode makes it"},
	{"DROP TABLE sequence", "table 'sequence' is missing"},
	{"DROP TABLE sequence; CREATE VIEW sequence AS SELECT 1 AS id",
		"table 'sequence' is missing"},
};

/* A profile of version 3 that is broken, or has what would be in the way, is not changed either. */
static void test_old_harm(Fixture *fixture, const void *data)
{
	g_autoptr(LodeMiningRun) run = random_run_new(6, "b", 5);
	gsize size;
	const char *bytes = g_bytes_get_data(((const Case *)data)->sample, &size);

	for (size_t i = 0; i < G_N_ELEMENTS(old_harms); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_true(g_file_set_contents(fixture->path, bytes, (gssize)size, NULL));
		make_old_profile(fixture->path);
		g_autoptr(LodeProfile) profile = lode_profile_store_read(fixture->path, NULL, NULL);
		change(fixture->path, old_harms[i].sql);
		assert_fails(fixture->path, LODE_ERROR_CORRUPT, old_harms[i].message);
		g_assert_false(
			lode_profile_store_add_run(fixture->path, profile, run, NULL, &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
		assert_fails(fixture->path, LODE_ERROR_CORRUPT, old_harms[i].message);
	}
}

/* Whoever has a table of a name that came later, or a view of the old one, keeps what is theirs. */
static void test_old_with_additions(Fixture *fixture, const void *data)
{
	g_autoptr(LodeMiningRun) run = random_run_new(6, "b", 5);
	g_autoptr(GError) error = NULL;

	(void)data;
	make_old_profile(fixture->path);
	change(fixture->path,
		"CREATE VIEW heavy AS SELECT id, weight FROM sequence WHERE weight > 0.5;"
		"CREATE INDEX more ON sequence(weight); CREATE TABLE mined_support(a)");
	g_autoptr(LodeProfile) profile = lode_profile_store_read(fixture->path, NULL, NULL);
	g_assert_false(lode_profile_store_add_run(fixture->path, profile, run, NULL, &error));
	g_assert_nonnull(strstr(error->message, "mined_support"));
	g_clear_error(&error);
	g_autoptr(GError) unchanged = read_all(fixture->path);
	g_assert_no_error(unchanged);
	change(fixture->path, "DROP TABLE mined_support");
	lode_profile_store_add_run(fixture->path, profile, run, NULL, &error);
	g_assert_no_error(error);
	g_autoptr(GError) failure = read_all(fixture->path);
	g_assert_no_error(failure);
	change(fixture->path, "SELECT count(*) FROM heavy");
}

static void test_harm(Fixture *fixture, const void *data)
{
	const Harm *harm = ((const Case *)data)->harm;

	change(fixture->path, harm->sql);
	assert_fails(fixture->path, LODE_ERROR_CORRUPT, harm->message);
}

/* As a profile is that was made before lode asked where pages lie, who called, and what took lines
 * away. */
static void test_without_pages(Fixture *fixture, const void *data)
{
	g_autoptr(GError) error = NULL;

	(void)data;
	change(fixture->path,
		"DROP TABLE memory_pages; DROP TABLE access_path_of; DROP TABLE access_call; "
		"DROP TABLE line_store; DROP TABLE lost_range");
	g_autoptr(LodeProfile)
		profile = lode_profile_store_read_with_memory(fixture->path, NULL, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(profile->memory->pages->len, ==, 0);
	g_assert_cmpuint(profile->memory->access_paths->len, ==, 0);
	g_assert_cmpuint(profile->memory->line_stores->len, ==, 0);
	g_assert_cmpuint(profile->memory->lost_ranges->len, ==, 0);
}

static void test_versions(Fixture *fixture, const void *data)
{
	(void)data;
	change(fixture->path, "PRAGMA user_version = 7");
	assert_fails(fixture->path, LODE_ERROR_UNSUPPORTED,
		"has schema version 7, this lode reads versions up to 6: update lode");
	for (int version = 0; version < 2; version++) {
		g_autofree char *sql = g_strdup_printf("PRAGMA user_version = %d", version);
		change(fixture->path, sql);
		assert_fails(fixture->path, LODE_ERROR_UNSUPPORTED, "import the recording again");
	}
}

/* A user may add tables, views and indexes, and vacuum; triggers stay silent. */
static void test_harmless_additions(Fixture *fixture, const void *data)
{
	g_autoptr(LodeMiningRun) run = random_run_new(6, "b", 5);
	g_autoptr(GError) error = NULL;

	(void)data;
	change(fixture->path,
		"CREATE TABLE notes(a); CREATE VIEW mine AS SELECT * FROM notes;"
		"CREATE INDEX more ON mined_support(weight);"
		"CREATE TRIGGER harm AFTER INSERT ON run BEGIN DELETE FROM function; END; VACUUM");
	g_autoptr(LodeProfile) profile = lode_profile_store_read(fixture->path, NULL, &error);
	g_assert_true(lode_profile_store_add_run(fixture->path, profile, run, NULL, &error));
	g_autoptr(GError) failure = read_all(fixture->path);
	g_assert_no_error(failure);
}

#define EDIT_SCHEMA(from, to)                                                                      \
	"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, " from ", " to   \
	") WHERE name = 'image'"

/* Comments in a table are no part of it; what only looks like one is. */
static void test_comments(Fixture *fixture, const void *data)
{
	(void)data;
	change(fixture->path, EDIT_SCHEMA("'-- file, jit, unresolved, graphs'", "'-- others'"));
	change(fixture->path,
		EDIT_SCHEMA("'	build_id'", "'-- a line''s' || char(10) || '	build_id'"));
	g_autoptr(GError) error = read_all(fixture->path);
	g_assert_no_error(error);
	change(fixture->path, EDIT_SCHEMA("' -- others'", "''"));
	g_autoptr(GError) second = read_all(fixture->path);
	g_assert_no_error(second);
	change(fixture->path,
		EDIT_SCHEMA("'path TEXT NOT NULL,'", "'path TEXT NOT NULL DEFAULT ''--'','"));
	assert_fails(fixture->path, LODE_ERROR_CORRUPT, "table 'image' is not as lode makes it");
}

/* Tables that came after the first profiles of this version. */
static void test_older(Fixture *fixture, const void *data)
{
	g_autoptr(GError) error = NULL;

	(void)data;
	change(fixture->path, "DROP TABLE allocation_path_of; DROP TABLE allocation_path;"
			      "DROP TABLE allocation_site_peak; DROP TABLE heap_peak; DROP TABLE "
			      "allocation_call; DROP VIEW observed_edge; DROP VIEW "
			      "observed_instruction; DROP TABLE window_recording; DROP TABLE "
			      "window_edge; DROP TABLE window_instruction; DROP TABLE "
			      "window_process; DROP VIEW loop_bound; DROP TABLE loop");
	g_autoptr(LodeProfile)
		profile = lode_profile_store_read_with_memory(fixture->path, NULL, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(profile->memory->calls->len, ==, 0);
	g_assert_cmpuint(profile->memory->sites->len, >, 0);
	g_assert_null(profile->windows);
	g_assert_cmpuint(profile->loops->len, ==, 0);
}

/* One of version 5 has windows, and no loops. */
static void test_version_5(Fixture *fixture, const void *data)
{
	g_autoptr(GError) error = NULL;

	(void)data;
	change(fixture->path, "DROP VIEW loop_bound; DROP TABLE loop; DELETE FROM meta WHERE key = "
			      "'core'; PRAGMA user_version = 5; UPDATE meta SET value = 5 WHERE "
			      "key = 'schema_version'");
	g_autoptr(LodeProfile) profile = lode_profile_store_read(fixture->path, NULL, &error);
	g_assert_no_error(error);
	g_assert_nonnull(profile->windows);
	g_assert_cmpuint(profile->loops->len, ==, 0);
	g_assert_null(profile->run.core);
}

/* A profile of version 4 is read, and stays one when a run is added: nothing else differs. */
static void test_version_4(Fixture *fixture, const void *data)
{
	g_autoptr(LodeMiningRun) run = random_run_new(6, "b", 5);
	g_autoptr(GError) error = NULL;

	test_older(fixture, data);
	change(fixture->path, "PRAGMA user_version = 4; UPDATE meta SET value = 4 WHERE key = "
			      "'schema_version'");
	g_autoptr(LodeProfile) profile = lode_profile_store_read(fixture->path, NULL, &error);
	g_assert_no_error(error);
	g_assert_null(profile->windows);
	g_assert_true(lode_profile_store_add_run(fixture->path, profile, run, NULL, &error));
	g_assert_no_error(error);
	g_autoptr(GError) failure = read_all(fixture->path);
	g_assert_no_error(failure);
}

static void assert_no_profile(const Fixture *fixture, const void *bytes, gssize size)
{
	g_assert_true(g_file_set_contents(fixture->path, bytes, size, NULL));
	assert_fails(fixture->path, LODE_ERROR_CORRUPT, "not a lode profile");
}

static void test_other_files(Fixture *fixture, const void *data)
{
	g_autofree char *junk = g_malloc0(100000);
	g_autofree char *pipe_path = g_build_filename(fixture->folder, "pipe", NULL);

	(void)data;
	assert_no_profile(fixture, "", 0);
	assert_no_profile(fixture, "lode-flow 1\n", -1);
	assert_no_profile(fixture, junk, 100000);
	/* Opening a pipe would wait for ever. */
	g_assert_cmpint(mkfifo(pipe_path, 0600), ==, 0);
	assert_fails(pipe_path, LODE_ERROR_CORRUPT, "not a regular file");
	assert_fails(fixture->folder, LODE_ERROR_CORRUPT, "a directory, not a profile");
	/* What is no profile can be replaced by one. */
	write_sample(fixture->path);
	g_autoptr(GError) error = read_all(fixture->path);
	g_assert_no_error(error);
}

/* SQLite says only that it cannot open the file. */
static void test_unreadable(Fixture *fixture, const void *data)
{
	enum { NOBODY = 65534 };
	bool is_root = geteuid() == 0;

	(void)data;
	write_sample(fixture->path);
	g_assert_cmpint(chmod(fixture->folder, 0755), ==, 0);
	g_assert_cmpint(chmod(fixture->path, 0), ==, 0);
	if (is_root)
		g_assert_cmpint(seteuid(NOBODY), ==, 0);
	assert_fails(fixture->path, LODE_ERROR_IO, ": Permission denied");
	if (is_root)
		g_assert_cmpint(seteuid(0), ==, 0);
}

/* A read that succeeds has passed every check; one that fails has said why. */
static void read_damaged(const char *path, const char *bytes, gsize size)
{
	/* A new file is not synced, one that takes the place of another is. */
	g_remove(path);
	g_assert_true(g_file_set_contents(path, bytes, (gssize)size, NULL));
	g_autoptr(GError) error = read_all(path);
	if (error != NULL && !g_error_matches(error, LODE_ERROR, LODE_ERROR_CORRUPT) &&
		!g_error_matches(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED) &&
		!g_error_matches(error, LODE_ERROR, LODE_ERROR_NOT_FOUND) &&
		!g_error_matches(error, LODE_ERROR, LODE_ERROR_IO))
		g_error("unexpected: %s", error->message);
}

static void test_truncated(Fixture *fixture, const void *data)
{
	g_autofree char *bytes = NULL;
	gsize size;

	(void)data;
	g_assert_true(g_file_get_contents(fixture->path, &bytes, &size, NULL));
	for (gsize cut = 0; cut < size; cut += cut < 200 ? 10 : 5000) {
		g_assert_true(g_file_set_contents(fixture->path, bytes, (gssize)cut, NULL));
		g_autoptr(GError) error = read_all(fixture->path);
		g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	}
}

static void test_bit_flips(Fixture *fixture, const void *data)
{
	GRand *rand = g_rand_new_with_seed(soak_seed(3));
	g_autofree char *bytes = NULL;
	gsize size;

	(void)data;
	change(fixture->path, "PRAGMA page_size = 512; VACUUM");
	g_assert_true(g_file_get_contents(fixture->path, &bytes, &size, NULL));
	for (unsigned i = 0; i < random_rounds(80, 2000); i++) {
		g_autofree char *damaged = g_memdup2(bytes, size);
		for (int k = g_rand_int_range(rand, 1, 4); k > 0; k--) {
			gsize at = g_rand_int(rand) % size;
			damaged[at] = (char)(damaged[at] ^ 1 << g_rand_int_range(rand, 0, 8));
		}
		read_damaged(fixture->path, damaged, size);
	}
	g_rand_free(rand);
}

static GBytes *make_sample(void)
{
	char *folder = make_folder();
	g_autofree char *path = g_build_filename(folder, "x.lode", NULL);
	char *bytes;
	gsize size;

	write_sample(path);
	g_assert_true(g_file_get_contents(path, &bytes, &size, NULL));
	remove_folder(folder);
	return g_bytes_new_take(bytes, size);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(Fixture *, const void *);
	} others[] = {
		{"/hostile_file/versions", test_versions},
		{"/hostile_file/without_pages", test_without_pages},
		{"/hostile_file/harmless_additions", test_harmless_additions},
		{"/hostile_file/comments", test_comments},
		{"/hostile_file/older", test_older},
		{"/hostile_file/version_4", test_version_4},
		{"/hostile_file/version_5", test_version_5},
		{"/hostile_file/old_harm", test_old_harm},
		{"/hostile_file/old_with_additions", test_old_with_additions},
		{"/hostile_file/other_files", test_other_files},
		{"/hostile_file/unreadable", test_unreadable},
		{"/hostile_file/truncated", test_truncated},
		{"/hostile_file/bit_flips", test_bit_flips},
	};
	Case cases[G_N_ELEMENTS(harms) + 1];
	g_autoptr(GBytes) sample = make_sample();

	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(harms); i++) {
		g_autofree char *name = g_strdup_printf("/hostile_file/harm/%zu", i);
		cases[i] = (Case){&harms[i], sample};
		g_test_add(name, Fixture, &cases[i], set_up, test_harm, tear_down);
	}
	cases[G_N_ELEMENTS(harms)] = (Case){NULL, sample};
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
		g_test_add(others[i].name, Fixture, &cases[G_N_ELEMENTS(harms)], set_up,
			others[i].run, tear_down);
	return g_test_run();
}
