/* SPDX-License-Identifier: MIT */
/* With which words processes were started: a look after what they executed, before it, and of
 * another process that had the number. */
#include "ingest/sampled/waits/process_commands.h"

enum { FIRST, SECOND };

static LodeCommandLook look_of(const char *command)
{
	return (LodeCommandLook){
		.command = command, .directory = "/", .input = "", .output = "pipe:[1]"};
}

static void look(LodeProcessCommands *self, uint32_t pid, uint64_t time_ns, const char *command)
{
	const LodeCommandLook told = look_of(command);

	lode_process_commands_note_look(self, FIRST, pid, time_ns, &told);
}

static void execute(LodeProcessCommands *self, uint32_t pid, uint64_t time_ns)
{
	const LodePerfRecord record = {
		.kind = LODE_PERF_COMMAND, .pid = pid, .tid = pid, .is_exec = true, .text = "x"};

	lode_process_commands_note(self, FIRST, &record, time_ns);
}

static void expect(LodeProcessCommands *self, uint32_t pid, uint64_t begin_ns, uint64_t end_ns,
	const char *command, bool has_executed)
{
	const LodeProcessCommand found = lode_process_commands_find(
		self, FIRST, pid, begin_ns, end_ns);

	g_assert_cmpint(found.has_executed, ==, has_executed);
	g_assert_cmpstr(found.look != NULL ? found.look->command : NULL, ==, command);
}

static void test_find(void)
{
	LodeProcessCommands *self = lode_process_commands_new();
	const LodePerfRecord renamed = {
		.kind = LODE_PERF_COMMAND, .pid = 6, .tid = 6, .text = "worker"};

	execute(self, 5, 20);
	look(self, 5, 25, "sed a");
	look(self, 5, 15, "sh");
	look(self, 6, 15, "sh");
	lode_process_commands_note(self, FIRST, &renamed, 16);
	look(self, 7, 15, "env sed");
	execute(self, 7, 12);
	execute(self, 7, 18);
	look(self, 5, 130, "sed b");
	execute(self, 5, 120);
	expect(self, 5, 10, 100, "sed a", true);
	expect(self, 5, 110, 200, "sed b", true);
	expect(self, 5, 10, 22, NULL, true);
	expect(self, 5, 10, 17, "sh", false);
	expect(self, 6, 10, 100, "sh", false);
	expect(self, 7, 10, 100, NULL, true);
	expect(self, 8, 10, 100, NULL, false);
	/* what comes later is found, too; other recordings have their own processes */
	look(self, 7, 19, "sed c");
	expect(self, 7, 10, 100, "sed c", true);
	g_assert_null(lode_process_commands_find(self, SECOND, 5, 10, 100).look);
	lode_process_commands_free(self);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ingest/process_commands/find", test_find);
	return g_test_run();
}
