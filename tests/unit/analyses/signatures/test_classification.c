/* SPDX-License-Identifier: MIT */
/* Classification of made-up profiles whose parts are known. */
#include "analyses/signatures/capacity.h"
#include "analyses/signatures/signature_builder.h"
#include "analyses/signatures/signature_model.h"
#include "flow_text.h"
#include "model/profile.h"
#include "seeds.h"

#include <math.h>
#include <string.h>

/* Kinds of work are graphs that have the same instructions at each call, by their own seed. */
static void append_work(GString *text, const char *prefix, guint32 seed, double count)
{
	g_autofree char *name = g_strdup_printf("%s_%u", prefix, seed);
	flow_text_append_graph(text, name, prefix, 6, 40, count);
}

static LodeSignature *sign(const char *name, double min_support, ...)
{
	g_autoptr(LodeSignatureBuilder) builder = lode_signature_builder_new("kind,mem");
	g_autoptr(GError) error = NULL;
	const LodeProfile *profile;
	va_list profiles;

	va_start(profiles, min_support);
	while ((profile = va_arg(profiles, const LodeProfile *)) != NULL)
		g_assert_true(lode_signature_builder_add(builder, profile, &error));
	va_end(profiles);
	LodeSignature *signature = lode_signature_builder_finish(
		builder, name, min_support, 0, &error);
	g_assert_no_error(error);
	return signature;
}

static GPtrArray *both(LodeSignature *first, LodeSignature *second)
{
	GPtrArray *signatures = g_ptr_array_new_with_free_func((GDestroyNotify)lode_signature_free);

	g_ptr_array_add(signatures, first);
	g_ptr_array_add(signatures, second);
	return signatures;
}

/* Two works, and profiles of each alone. */
typedef struct {
	GString *a, *b;
	LodeProfile *profile_a, *profile_b;
	GPtrArray *signatures;
} Works;

static void works_init(Works *self)
{
	self->a = g_string_new(NULL);
	self->b = g_string_new(NULL);
	append_work(self->a, "p", 1, 4000);
	append_work(self->b, "q", 2, 4000);
	self->profile_a = flow_text_read(self->a->str);
	self->profile_b = flow_text_read(self->b->str);
	self->signatures = both(
		sign("a", 1e-4, self->profile_a, NULL), sign("b", 1e-4, self->profile_b, NULL));
}

static void works_clear(Works *self)
{
	g_string_free(self->a, TRUE);
	g_string_free(self->b, TRUE);
	lode_profile_free(self->profile_a);
	lode_profile_free(self->profile_b);
	g_ptr_array_unref(self->signatures);
}

static LodeClassification *classify(const LodeProfile *profile, const GPtrArray *signatures)
{
	g_autoptr(GError) error = NULL;
	LodeClassification *found = lode_classify(profile, signatures, NULL, &error);

	g_assert_no_error(error);
	return found;
}

static void test_same(void)
{
	Works works;

	works_init(&works);
	g_autoptr(LodeClassification) found = classify(works.profile_b, works.signatures);
	g_assert_cmpuint(found->nearest, ==, 1);
	g_assert_false(found->is_mixture);
	const LodeSignatureMatch *own = lode_classification_match(found, 1);
	const LodeSignatureMatch *other = lode_classification_match(found, 0);
	g_assert_cmpfloat(own->distance, <, 1e-3);
	g_assert_cmpfloat(own->share, >, 0.999);
	g_assert_cmpfloat(own->explained, >, 0.999);
	g_assert_cmpfloat(other->distance, >, 0.5);
	g_assert_cmpfloat(other->share, ==, 0);
	g_assert_cmpfloat(found->rest, <, 1e-3);
	g_assert_cmpuint(found->places->len, ==, 0);
	g_assert_cmpuint(own->n_for, ==, LODE_EVIDENCE_MAX);
	works_clear(&works);
}

/* Appends the graphs of a text with their counts times that. */
static void append_scaled(GString *text, const char *graphs, double factor)
{
	g_auto(GStrv) lines = g_strsplit(graphs, "\n", -1);
	bool is_first = text->len == 0;

	for (char **line = lines; *line != NULL; line++) {
		g_auto(GStrv) words = g_strsplit(*line, " ", 5);
		if (!g_str_has_prefix(*line, "e ") && !g_str_has_prefix(*line, "v ")) {
			if (is_first || g_str_has_prefix(*line, "graph"))
				g_string_append_printf(text, "%s\n", *line);
			continue;
		}
		g_string_append_printf(text, "%s %s %s %.0f%s%s\n", words[0], words[1], words[2],
			g_ascii_strtod(words[3], NULL) * factor, words[4] != NULL ? " " : "",
			words[4] != NULL ? words[4] : "");
	}
}

/* Two kinds of work and what is none of them, 60, 30 and 10 % of the executions. */
static void test_mixture_with_foreign_part(void)
{
	Works works;
	g_autoptr(GString) text = g_string_new(NULL);

	works_init(&works);
	append_scaled(text, works.a->str, 6);
	append_scaled(text, works.b->str, 3);
	flow_text_append_graph(text, "foreign", "x", 6, 40, 4000);
	g_autoptr(LodeProfile) mixed = flow_text_read(text->str);
	g_autoptr(LodeClassification) found = classify(mixed, works.signatures);
	g_assert_true(found->is_mixture);
	g_assert_cmpuint(found->nearest, ==, LODE_NONE);
	g_assert_cmpfloat(fabs(lode_classification_match(found, 0)->share - 0.6), <, 0.01);
	g_assert_cmpfloat(fabs(lode_classification_match(found, 1)->share - 0.3), <, 0.01);
	g_assert_cmpfloat(fabs(found->rest - 0.1), <, 0.01);
	g_assert_cmpfloat(fabs(found->rest_placed - 0.1), <, 0.01);
	g_assert_cmpuint(found->places->len, ==, 1);
	const LodeUnknownPlace *place = &LODE_AT(found->places, LodeUnknownPlace, 0);
	g_assert_cmpstr(lode_profile_function(mixed, place->function)->name, ==, "foreign");
	g_assert_cmpfloat(fabs(place->executions - 0.1), <, 1e-9);
	works_clear(&works);
}

/* Workloads of three functions, of which the last one is the same code in both. */
typedef struct {
	GString *parts[2][3];
} Varied;

/* One run of a workload: each of its functions takes its usual part, give or take a third. */
static void append_run(GString *text, const Varied *works, unsigned which, double share)
{
	double factors[3], sum = 0;

	for (unsigned i = 0; i < 3; i++)
		sum += factors[i] = (i == 2 ? 0.5 : 1) * random_int_range(67, 134) / 100.0;
	for (unsigned i = 0; i < 3; i++)
		append_scaled(text, works->parts[which][i]->str, 1000 * share * factors[i] / sum);
}

/*
 * Signatures of four runs each, and mixtures of further runs in random shares: the stated intervals
 * hold in 95 of 100, nearly every one is a mixture of both, and none is named after one.
 */
static void test_coverage(void)
{
	enum { N_DRAWS = 100, N_RUNS = 4 };
	const unsigned n_draws = random_rounds(N_DRAWS, N_DRAWS);
	Varied works;
	unsigned n_held = 0, n_mixtures = 0;
	LodeSignature *signatures[2];

	for (unsigned w = 0; w < 2; w++)
		for (unsigned i = 0; i < 3; i++) {
			g_autofree char *name = g_strdup_printf("f%u_%u", w, i);
			works.parts[w][i] = g_string_new(NULL);
			if (w == 1 && i == 2)
				g_string_append(works.parts[w][i], works.parts[0][i]->str);
			else
				flow_text_append_graph(works.parts[w][i], name, "o", 40, 40, 4000);
		}
	for (unsigned w = 0; w < 2; w++) {
		g_autoptr(LodeSignatureBuilder) builder = lode_signature_builder_new("kind,mem");
		for (unsigned run = 0; run < N_RUNS; run++) {
			g_autoptr(GString) text = g_string_new(NULL);
			append_run(text, &works, w, 1);
			g_autoptr(LodeProfile) profile = flow_text_read(text->str);
			g_assert_true(lode_signature_builder_add(builder, profile, NULL));
		}
		signatures[w] = lode_signature_builder_finish(
			builder, w == 0 ? "a" : "b", 1e-4, 0, NULL);
	}
	g_autoptr(GPtrArray) known = both(signatures[0], signatures[1]);
	for (unsigned draw = 0; draw < n_draws; draw++) {
		g_autoptr(GString) text = g_string_new(NULL);
		double share = random_int_range(20, 81) / 100.0;
		append_run(text, &works, 0, share);
		append_run(text, &works, 1, 1 - share);
		g_autoptr(LodeProfile) mixed = flow_text_read(text->str);
		g_autoptr(LodeClassification) found = classify(mixed, known);
		const LodeSignatureMatch *match = lode_classification_match(found, 0);
		n_held += fabs(match->share - share) <= match->share_error;
		n_mixtures += found->is_mixture;
		g_assert_cmpuint(found->nearest, ==, LODE_NONE);
		/* An interval that says nothing would hold, too. */
		g_assert_cmpfloat(match->share_error, <, 0.25);
	}
	g_assert_cmpuint(n_held * 100, >=, 95 * n_draws);
	g_assert_cmpuint(n_mixtures * 100, >=, 94 * n_draws);
	for (unsigned w = 0; w < 2; w++)
		for (unsigned i = 0; i < 3; i++)
			g_string_free(works.parts[w][i], TRUE);
}

/* Two signatures of the same work are named together, with one share that is known. */
static void test_alike(void)
{
	Works works;

	works_init(&works);
	g_ptr_array_add(works.signatures, sign("c", 1e-4, works.profile_a, NULL));
	g_autoptr(GString) text = g_string_new(NULL);
	append_scaled(text, works.a->str, 4);
	append_scaled(text, works.b->str, 6);
	g_autoptr(LodeProfile) mixed = flow_text_read(text->str);
	g_autoptr(LodeClassification) found = classify(mixed, works.signatures);
	const LodeSignatureMatch *first = lode_classification_match(found, 0);
	const LodeSignatureMatch *again = lode_classification_match(found, 2);
	g_assert_true(found->is_mixture);
	g_assert_cmpuint(first->group, ==, again->group);
	g_assert_cmpfloat(fabs(first->group_share - 0.4), <, 0.02);
	g_assert_cmpfloat(first->share_error, >, 0.1);
	g_assert_cmpfloat(first->group_error, <, 0.1);
	g_autoptr(LodeClassification) one = classify(works.profile_a, works.signatures);
	g_assert_cmpuint(one->nearest, !=, LODE_NONE);
	g_assert_cmpuint(lode_classification_match(one, 0)->group, ==,
		lode_classification_match(one, 2)->group);
	works_clear(&works);
}

/* What is known of where a small foreign part is: its file, and by how many samples. */
typedef struct {
	const char *build_id; /* of its file; NULL: it is in that of the known work */
	double n_samples;     /* of all; 0: executions are counted */
	bool has_rest, is_new_file;
} Foreign;

static LodeProfile *with_foreign(const GString *known, const Foreign *foreign)
{
	g_autoptr(GString) text = g_string_new(known->str);

	/* 50 instructions of 7,000 or so have a sample's weight each. */
	flow_text_append_graph(text, "foreign", "x", 6, 40, 40);
	LodeProfile *profile = flow_text_read(text->str);
	LodeImage *image = lode_profile_image(profile, 0);
	image->kind = LODE_IMAGE_FILE;
	image->build_id = (char *)"aa";
	if (foreign->n_samples > 0) {
		profile->run.frequency = LODE_FREQUENCY_INFERRED;
		profile->run.n_samples = foreign->n_samples;
	}
	if (foreign->build_id != NULL) {
		LodeImage other = *image;
		other.build_id = (char *)foreign->build_id;
		g_array_append_val(profile->code.images, other);
		for (guint i = 0; i < profile->code.functions->len; i++)
			if (strcmp(lode_profile_function(profile, i)->name, "foreign") == 0)
				lode_profile_function(profile, i)->image = 1;
	}
	return profile;
}

/* One in a hundred executions is too little of what the known program's file may execute, but code
 * of another file is not chance, unless it is a single sample. */
static void test_new_file(void)
{
	static const Foreign cases[] = {
		{NULL, 0, false, false},
		{"bb", 0, true, true},
		{"bb", 8, true, true},
		{"bb", 2, false, true},
		{"aa", 8, false, false},
	};
	g_autoptr(GString) known = g_string_new(NULL);

	append_work(known, "p", 1, 4000);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) first = with_foreign(known, &(Foreign){0});
		g_autoptr(LodeProfile) profile = with_foreign(known, &cases[i]);
		/* Of the first only what it shares with the second is signed. */
		for (guint k = 0; k < first->code.instructions->len; k++) {
			LodeInstruction *one = lode_profile_instruction(first, k);
			if (strcmp(lode_profile_function(first, one->function)->name, "foreign") ==
				0)
				one->count = 0;
		}
		g_autoptr(GPtrArray) signatures = both(
			sign("a", 1e-4, first, NULL), sign("again", 1e-4, first, NULL));
		g_assert_cmpuint(((LodeSignature *)signatures->pdata[0])->files->len, ==, 1);
		g_autoptr(LodeClassification) found = classify(profile, signatures);
		g_assert_cmpint(found->has_rest, ==, cases[i].has_rest);
		bool is_new_file = found->places->len > 0 &&
		                   LODE_AT(found->places, LodeUnknownPlace, 0).is_new_file;
		g_assert_cmpint(is_new_file, ==, cases[i].is_new_file);
	}
}

/* Puts each graph into the file that the first letter of its name names. */
static LodeProfile *read_in_files(const GString *text)
{
	static const char letters[] = "pqcx";
	static const char *const build_ids[] = {"aa", "bb", "cc", "dd"};
	LodeProfile *profile = flow_text_read(text->str);
	const LodeImage first = *lode_profile_image(profile, 0);

	g_array_set_size(profile->code.images, 0);
	for (guint i = 0; i < strlen(letters); i++) {
		LodeImage image = first;
		image.kind = LODE_IMAGE_FILE;
		image.build_id = (char *)build_ids[i];
		g_array_append_val(profile->code.images, image);
	}
	for (guint i = 0; i < profile->code.functions->len; i++) {
		LodeFunction *function = lode_profile_function(profile, i);
		function->image = (uint32_t)(strchr(letters, function->name[0]) - letters);
	}
	return profile;
}

/*
 * A known program beside an unknown one, both of which execute a library that all signatures have:
 * the unknown one some of it, or none; and one that the other signature alone has. The known share
 * is as its own file and its signature say.
 */
static void test_common_file(void)
{
	GString *parts[5];
	g_autoptr(GString) a = g_string_new(NULL), b = g_string_new(NULL);

	for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++) {
		const char name[] = {"pqcxq"[i], "01234"[i], 0};
		parts[i] = g_string_new(NULL);
		flow_text_append_graph(parts[i], name, "o", 40, 40, 4000);
	}
	append_scaled(a, parts[0]->str, 8);
	append_scaled(a, parts[2]->str, 2);
	append_scaled(b, parts[1]->str, 7);
	append_scaled(b, parts[2]->str, 3);
	g_autoptr(LodeProfile) profile_a = read_in_files(a);
	g_autoptr(LodeProfile) profile_b = read_in_files(b);
	g_autoptr(GPtrArray)
		known = both(sign("a", 1e-4, profile_a, NULL), sign("b", 1e-4, profile_b, NULL));
	for (unsigned in_library = 0; in_library <= 3; in_library++) {
		g_autoptr(GString) text = g_string_new(NULL);
		append_scaled(text, a->str, 1);
		append_scaled(text, parts[3]->str, 4);
		append_scaled(text, parts[in_library == 3 ? 4 : 2]->str, in_library);
		g_autoptr(LodeProfile) mixed = read_in_files(text);
		double truth = profile_a->run.total_count / mixed->run.total_count;
		g_autoptr(LodeClassification) found = classify(mixed, known);
		const LodeSignatureMatch *match = lode_classification_match(found, 0);
		g_assert_true(found->is_mixture);
		g_assert_cmpfloat(fabs(match->share - truth), <, 0.02);
		g_assert_cmpfloat(fabs(match->share - truth), <=, match->share_error);
		g_assert_cmpfloat(fabs(found->rest_share - (1 - truth)), <=, found->rest_error);
		g_assert_cmpfloat(lode_classification_match(found, 1)->share, ==, 0);
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++)
		g_string_free(parts[i], TRUE);
}

/* What has nothing in common with any signature is none of them. */
static void test_none(void)
{
	Works works;
	g_autoptr(GString) text = g_string_new(NULL);

	works_init(&works);
	flow_text_append_graph(text, "foreign", "x", 6, 40, 4000);
	g_autoptr(LodeProfile) other = flow_text_read(text->str);
	g_autoptr(LodeClassification) found = classify(other, works.signatures);
	g_assert_cmpuint(found->nearest, ==, LODE_NONE);
	g_assert_false(found->is_mixture);
	g_assert_cmpfloat(found->rest, >, 0.99);
	works_clear(&works);
}

/* Σ over the texts of a signature's section and one outcome for all else, as the definition has it.
 */
static double naive_divergence(const LodeSignature *signature, unsigned kind, unsigned length,
	const LodeSequenceTable *supports, LodeSymbols *symbols)
{
	const GArray *sequences = signature->sequences[kind][length];
	double sum = 0, p_else = 1, q_else = 1;

	for (guint i = 0; i <= sequences->len; i++) {
		double p = MAX(p_else, 0), q = MAX(q_else, 0);
		if (i < sequences->len) {
			const LodeSignatureSequence *one = &LODE_AT(
				sequences, LodeSignatureSequence, i);
			p = lode_sequence_table_get(
				supports, lode_symbols_key(symbols, one->text), 0);
			q = one->support;
		}
		p_else -= p;
		q_else -= q;
		sum += p > 0 ? p * log(2 * p / (p + q)) / 2 : 0;
		sum += q > 0 ? q * log(2 * q / (p + q)) / 2 : 0;
	}
	return sum / log(2);
}

static void test_distance(void)
{
	Works works;
	double totals[LODE_SIGNATURE_LENGTHS], sum = 0;

	works_init(&works);
	/* Both works in one, and a signature that lists a part of its sequences. */
	g_autofree char *text = g_strconcat(works.a->str, strstr(works.b->str, "graph"), NULL);
	g_autoptr(LodeProfile) mixed = flow_text_read(text);
	g_ptr_array_add(works.signatures, sign("c", 0.02, mixed, NULL));
	g_autoptr(LodeClassification) found = classify(works.profile_a, works.signatures);
	g_autoptr(LodeSymbols) symbols = lode_symbols_new();
	g_autoptr(LodeExecutedSequences)
		executed = lode_executed_sequences_new(works.profile_a, "kind,mem", symbols, NULL);
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++) {
		LodeSequenceTable supports = {0};
		lode_executed_sequences_count(executed, kind, &supports, totals);
		for (unsigned length = 0; length < LODE_SIGNATURE_LENGTHS; length++)
			sum += naive_divergence(
				works.signatures->pdata[2], kind, length, &supports, symbols);
		lode_sequence_table_clear(&supports);
	}
	double distance = lode_classification_match(found, 2)->distance;
	g_assert_cmpfloat(distance, >, 0.1);
	g_assert_cmpfloat(fabs(distance - sqrt(sum / 8)), <, 1e-9);
	works_clear(&works);
}

/* What is not listed is made of its parts, down to single opcodes, and never more than min-support.
 */
static void test_unlisted(void)
{
	g_autoptr(LodeSignature) signature = lode_signature_new("s", "kind,mem");
	g_autoptr(LodeSymbols) symbols = lode_symbols_new();
	g_auto(LodeSignatureModel) model;

	signature->min_support = 0.1;
	lode_signature_add(signature, LODE_SEQUENCES_OPCODES, 1, "a", 0.5, 0);
	lode_signature_add(signature, LODE_SEQUENCES_OPCODES, 1, "b", 0.4, 0);
	lode_signature_add(signature, LODE_SEQUENCES_OPCODES, 2, "a b", 0.3, 0);
	lode_signature_add(signature, LODE_SEQUENCES_OPCODES, 2, "b a", 0.2, 0);
	lode_signature_add(signature, LODE_SEQUENCES_OPCODES, 3, "a b a", 0.15, 0);
	g_assert_true(lode_signature_model_init(&model, signature, symbols, NULL));
	const struct {
		const char *text;
		double support;
	} cases[] = {
		{"a b", 0.3},
		{"a b a", 0.15},
		{"b b", 0.1},   /* 0.4·0.4 is more than unlisted ones have */
		{"b a b", 0.1}, /* 0.2·0.3/0.5 likewise */
		{"b b a", 0.1 * 0.2 / 0.4},
		{"b b a b", 0.05 * 0.1 / 0.2},
		{"x", 1e-9},
		{"a x", 0.5e-9},
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		double found = lode_signature_model_support(
			&model, LODE_SEQUENCES_OPCODES, lode_symbols_key(symbols, cases[i].text));
		g_assert_cmpfloat(fabs(found - cases[i].support), <, 1e-12);
	}
}

/* The mean and the deviation of two profiles, and the limit that follows from them. */
static void test_variances(void)
{
	static const char head[] = "lode-flow 1\nevent cycles\ngraph g\n";
	g_autofree char *first = g_strconcat(head, "v a 1 30 op:add\nv b 1 70 op:sub\n", NULL);
	g_autofree char *second = g_strconcat(head, "v a 1 50 op:add\nv b 1 50 op:sub\n", NULL);
	g_autoptr(LodeProfile) one = flow_text_read(first), two = flow_text_read(second);
	g_autoptr(LodeSignature) signature = sign("s", 1e-6, one, two, NULL);
	const GArray *singles = signature->sequences[LODE_SEQUENCES_OPCODES][0];

	g_assert_cmpuint(singles->len, ==, 2);
	const LodeSignatureSequence *sub = &LODE_AT(singles, LodeSignatureSequence, 0);
	g_assert_cmpstr(sub->text, ==, "sub");
	g_assert_cmpfloat(fabs(sub->support - 0.6), <, 1e-6);
	g_assert_cmpfloat(fabs(sub->deviation - sqrt(0.02)), <, 1e-6);
	g_assert_cmpfloat(signature->totals[LODE_SEQUENCES_OPCODES][1], ==, 0);
}

static LodeSignature *sign_measured(const char *name, LodeProfile *profile, double seconds)
{
	g_autoptr(LodeSignatureBuilder) builder = lode_signature_builder_new("kind,mem");

	profile->run.user_seconds = seconds;
	g_assert_true(lode_signature_builder_add(builder, profile, NULL));
	g_assert_true(lode_signature_builder_add(builder, profile, NULL));
	return lode_signature_builder_finish(builder, name, 1e-4, 10, NULL);
}

/* Equal executions of two kinds, one of which takes three times as long: 0.1 and 0.3 s a unit. */
static void test_capacity(void)
{
	const LodeCapacityOptions options = {.elapsed_seconds = 8, .processors = 1};
	g_autoptr(GError) error = NULL;
	Works works;

	works_init(&works);
	g_autoptr(GPtrArray) signatures = both(
		sign_measured("a", works.profile_a, 1), sign_measured("b", works.profile_b, 3));
	g_autofree char *text = g_strconcat(works.a->str, strstr(works.b->str, "graph"), NULL);
	g_autoptr(LodeProfile) mixed = flow_text_read(text);
	g_autoptr(LodeClassification) found = classify(mixed, signatures);
	g_auto(LodeCapacity) capacity = {0};
	g_assert_false(lode_capacity_find(mixed, signatures, found, &options, &capacity, &error));
	g_clear_error(&error);
	mixed->run.user_seconds = 4;
	g_assert_true(lode_capacity_find(mixed, signatures, found, &options, &capacity, &error));
	g_assert_no_error(error);
	g_assert_cmpfloat(capacity.used, ==, 0.5);
	g_assert_cmpfloat(capacity.growth, ==, 2);
	g_assert_false(capacity.is_by_executions);
	g_assert_cmpuint(capacity.rows->len, ==, 3);
	const LodeCapacityRow *rows = (const LodeCapacityRow *)(void *)capacity.rows->data;
	g_assert_cmpuint(rows[0].signature, ==, 1);
	g_assert_cmpfloat(fabs(rows[0].share - 0.375), <, 0.005);
	g_assert_cmpfloat(fabs(rows[1].share - 0.125), <, 0.005);
	g_assert_cmpfloat(fabs(rows[0].rate - 1.25), <, 0.02);
	g_assert_cmpfloat(fabs(rows[1].rate - 1.25), <, 0.05);
	g_assert_cmpfloat(fabs(rows[1].most - 6.25), <, 0.05);
	g_assert_cmpuint(rows[2].signature, ==, LODE_NONE);
	works_clear(&works);
}

static void test_different_attributes(void)
{
	Works works;
	g_autoptr(GError) error = NULL;

	works_init(&works);
	g_autoptr(LodeSignatureBuilder) builder = lode_signature_builder_new("kind");
	g_assert_true(lode_signature_builder_add(builder, works.profile_a, NULL));
	g_ptr_array_add(
		works.signatures, lode_signature_builder_finish(builder, "c", 1e-3, 0, NULL));
	g_assert_null(lode_classify(works.profile_a, works.signatures, NULL, &error));
	g_assert_true(g_str_has_suffix(
		error->message, "signatures that are compared have the same --attributes"));
	works_clear(&works);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/classification/same", test_same, "R02S00000000000000000000000000000041",
		"R02S00000000000000000000000000000042", NULL);
	add_random_test("/classification/mixture_with_foreign_part", test_mixture_with_foreign_part,
		"R02S00000000000000000000000000000051", "R02S00000000000000000000000000000052",
		NULL);
	add_random_test(
		"/classification/none", test_none, "R02S00000000000000000000000000000061", NULL);
	add_random_test("/classification/distance", test_distance,
		"R02S00000000000000000000000000000071", "R02S00000000000000000000000000000072",
		NULL);
	add_random_test("/classification/coverage", test_coverage,
		"R02S000000000000000000000000000000a1", "R02S000000000000000000000000000000a2",
		NULL);
	add_random_test(
		"/classification/alike", test_alike, "R02S000000000000000000000000000000b1", NULL);
	add_random_test("/classification/common_file", test_common_file,
		"R02S000000000000000000000000000000c1", "R02S000000000000000000000000000000c2",
		NULL);
	g_test_add_func("/classification/new_file", test_new_file);
	g_test_add_func("/classification/unlisted", test_unlisted);
	g_test_add_func("/classification/variances", test_variances);
	g_test_add_func("/classification/capacity", test_capacity);
	g_test_add_func("/classification/different_attributes", test_different_attributes);
	return g_test_run();
}
