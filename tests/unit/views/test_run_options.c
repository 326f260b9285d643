/* SPDX-License-Identifier: MIT */
/* Parameters as options: what stands there, typed again, means the same. */
#include "model/mining_run.h"
#include "views/profile/run_options.h"

static void check(const LodeMiningParameters *parameters, const char *expected)
{
	g_autofree char *text = lode_run_options(parameters);

	g_assert_cmpstr(text, ==, expected);
}

static void test_sequences(void)
{
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	check(&parameters, "");
	parameters.threads = 3;
	parameters.memory_bytes = 17;
	check(&parameters, ""); /* of no effect on the result */
	parameters.min_support = 0.0025;
	parameters.min_differential = 0.1;
	parameters.gap = 1;
	parameters.window = 2;
	parameters.flow = LODE_FLOW_DEFINITE;
	parameters.only_closed = true;
	parameters.weight = "l1d-miss";
	parameters.exclude = "op:mov*,ev:a b";
	parameters.granularity = LODE_GRANULARITY_BLOCK;
	parameters.max_sequences = 12345678;
	check(&parameters,
		"--min-support 0.25% --min-differential 10% --gap 1 --window 2 --flow definite "
		"--closed --weight l1d-miss --exclude 'op:mov*' --exclude 'ev:a b' "
		"--granularity block --max-sequences 12345678");
	parameters.across_calls = true;
	parameters.top = 20; /* which finds the support */
	parameters.min_support = 0.125;
	parameters.exclude = NULL;
	check(&parameters, "--across-calls --min-differential 10% --top 20 --gap 1 --window 2 "
			   "--flow definite --closed "
			   "--weight l1d-miss --granularity block --max-sequences 12345678");
}

static void test_instructions(void)
{
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	parameters.is_instruction_mode = true;
	check(&parameters, "--instructions --min-count 100");
	parameters.across_calls = true;
	parameters.min_count = 0;
	parameters.iterations = 3;
	parameters.functions = "^(a|b)$";
	check(&parameters, "--instructions --across-calls --min-count 0 --max-length 3 "
			   "--functions '^(a|b)$'");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/run_options/sequences", test_sequences);
	g_test_add_func("/run_options/instructions", test_instructions);
	return g_test_run();
}
