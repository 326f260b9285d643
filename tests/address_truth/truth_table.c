/* SPDX-License-Identifier: MIT */
#include "truth_table.h"

#include <inttypes.h>

void truth_table_init(TruthTable *self)
{
	*self = (TruthTable){0};
	for (unsigned i = 0; i < TRUTH_N_ROWS; i++)
		self->shown[i] = g_string_new(NULL);
}

void truth_table_clear(TruthTable *self)
{
	for (unsigned i = 0; i < TRUTH_N_ROWS; i++)
		g_string_free(self->shown[i], TRUE);
}

static const TrueOperand *find_operand(const TrueAccess *truth, uint64_t address)
{
	for (unsigned i = 0; i < truth->n_operands; i++)
		if (truth->operands[i].address == address)
			return &truth->operands[i];
	return NULL;
}

static const char *operand_fault(const LodeDataOperand *claim, const TrueAccess *truth)
{
	const TrueOperand *operand = find_operand(truth, claim->address);

	/* Both operands of a copy onto itself lie at one address. */
	if (operand != NULL && truth->n_operands == 2 && operand->access != claim->access &&
		truth->operands[1].address == claim->address)
		operand = &truth->operands[1];
	if (operand == NULL)
		return "address";
	if (operand->access != claim->access)
		return "access";
	return operand->size != claim->size ? "size" : NULL;
}

const char *truth_fault(const LodeDataAccess *claim, uint64_t bias, const TrueAccess *truth)
{
	const char *fault = NULL;

	if (truth == NULL || (truth->n_operands == 0 && !truth->has_vector_index))
		return "no access";
	if (claim->pc + bias != truth->pc)
		return "pc";
	if (claim->n_operands != truth->n_operands)
		return "operands";
	for (unsigned i = 0; i < claim->n_operands && fault == NULL; i++)
		fault = operand_fault(&claim->operands[i], truth);
	return fault;
}

void truth_table_count(
	TruthTable *self, TruthRow row, const LodeDataAccess *answer, const char *fault)
{
	TruthCounts *counts = &self->rows[row];

	counts->n_points++;
	if (answer->rule == LODE_RULE_NONE) {
		counts->n_by_reason[answer->reason]++;
		counts->n_wrong += fault != NULL;
		return;
	}
	counts->n_claimed++;
	counts->n_by_rule[answer->rule]++;
	counts->n_unverified += answer->is_unverified;
	counts->n_wrong += fault != NULL;
}

bool truth_table_shows(TruthTable *self, TruthRow row, uint64_t pc)
{
	uint64_t *pcs = self->shown_pcs[row];
	unsigned i = 0;

	while (i < TRUTH_MAX_SHOWN && pcs[i] != 0 && pcs[i] != pc)
		i++;
	if (i == TRUTH_MAX_SHOWN || pcs[i] == pc)
		return false;
	pcs[i] = pc;
	return true;
}

const char *truth_row_name(TruthRow row)
{
	static const char *const names[TRUTH_N_ROWS] = {
		"at-pc", "forward", "backward", "waited", "together", "trigger-before", "stepped"};

	return names[row];
}

static double share(uint64_t part, uint64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

static void write_reasons(const TruthCounts *counts, FILE *out)
{
	for (unsigned i = 1; i < LODE_N_REASONS; i++)
		if (counts->n_by_reason[i] > 0)
			fprintf(out, " %s %.1f%%", lode_address_reason_to_text(i),
				100 * share(counts->n_by_reason[i], counts->n_points));
}

static void write_rules(const TruthCounts *counts, FILE *out)
{
	for (unsigned i = LODE_RULE_AT_PC; i < LODE_N_RULES; i++)
		fprintf(out, " %s %.1f%%", lode_address_rule_to_text(i),
			100 * share(counts->n_by_rule[i], counts->n_points));
}

void truth_table_write_text(const TruthTable *self, const char *program, FILE *out)
{
	fprintf(out,
		"%s: %" PRIu64 " steps, %" PRIu64 " accesses, %.1f %% of them proven, %" PRIu64
		" refuted\n",
		program, self->n_steps, self->n_accesses,
		100 * share(self->n_proven, self->n_accesses), self->n_refuted);
	fprintf(out, "  %-14s %10s %10s %7s %10s %6s  %s\n", "rule", "points", "claimed", "share",
		"unverified", "wrong", "not claimed");
	for (TruthRow row = 0; row < TRUTH_N_ROWS; row++) {
		const TruthCounts *counts = &self->rows[row];
		fprintf(out,
			"  %-14s %10" PRIu64 " %10" PRIu64 " %6.2f%% %10" PRIu64 " %6" PRIu64 " ",
			truth_row_name(row), counts->n_points, counts->n_claimed,
			100 * share(counts->n_claimed, counts->n_points), counts->n_unverified,
			counts->n_wrong);
		write_reasons(counts, out);
		fputc('\n', out);
	}
	for (TruthRow row = TRUTH_WAITED; row < TRUTH_N_ROWS; row++) {
		fprintf(out, "  %-14s by", truth_row_name(row));
		write_rules(&self->rows[row], out);
		if (row == TRUTH_WAITED)
			fprintf(out, "; one late: %" PRIu64 ", the same address: %" PRIu64,
				self->rows[row].n_late, self->rows[row].n_late_same);
		fputc('\n', out);
	}
	for (TruthRow row = 0; row < TRUTH_N_ROWS; row++)
		fputs(self->shown[row]->str, out);
}

static void write_csv_header(FILE *out)
{
	fputs("program,rule,points,claimed,share,unverified,wrong", out);
	for (unsigned i = LODE_RULE_AT_PC; i < LODE_N_RULES; i++)
		fprintf(out, ",by %s", lode_address_rule_to_text(i));
	for (unsigned i = 1; i < LODE_N_REASONS; i++)
		fprintf(out, ",%s", lode_address_reason_to_text(i));
	fputs(",late,late_same,steps,accesses,proven,refuted\n", out);
}

void truth_table_write_csv(const TruthTable *self, const char *program, bool has_header, FILE *out)
{
	if (has_header)
		write_csv_header(out);
	for (TruthRow row = 0; row < TRUTH_N_ROWS; row++) {
		const TruthCounts *counts = &self->rows[row];
		fprintf(out, "%s,%s,%" PRIu64 ",%" PRIu64 ",%.4f,%" PRIu64 ",%" PRIu64, program,
			truth_row_name(row), counts->n_points, counts->n_claimed,
			share(counts->n_claimed, counts->n_points), counts->n_unverified,
			counts->n_wrong);
		for (unsigned i = LODE_RULE_AT_PC; i < LODE_N_RULES; i++)
			fprintf(out, ",%" PRIu64, counts->n_by_rule[i]);
		for (unsigned i = 1; i < LODE_N_REASONS; i++)
			fprintf(out, ",%" PRIu64, counts->n_by_reason[i]);
		fprintf(out,
			",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			"\n",
			counts->n_late, counts->n_late_same, self->n_steps, self->n_accesses,
			self->n_proven, self->n_refuted);
	}
}

bool truth_table_is_right(const TruthTable *self)
{
	bool is_right = self->n_refuted == 0;

	for (TruthRow row = 0; row < TRUTH_N_ROWS; row++)
		is_right &= self->rows[row].n_wrong == 0;
	return is_right;
}
