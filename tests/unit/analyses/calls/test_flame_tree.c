/* SPDX-License-Identifier: MIT */
/*
 * The tree of call stacks: an example by hand, random stacks against a naive merge by the text of
 * each path, and stacks made to be too many.
 */
#include "analyses/calls/flame_tree.h"

#include "model/index.h"
#include "seeds.h"

#include <gio/gio.h>
#include <math.h>

static char *const names[] = {"main", "read", "copy", "write", NULL};

static uint32_t add_stack(LodeStacks *stacks, char *function, char *image, uint32_t outer)
{
	const LodeFrame frame = {
		.function = function, .image = image, .address = stacks->frames->len};
	const LodeStack stack = {stacks->frames->len, outer};

	g_array_append_val(stacks->frames, frame);
	g_array_append_val(stacks->stacks, stack);
	return stacks->stacks->len - 1;
}

static void add_sample(LodeStacks *stacks, uint32_t stack, uint32_t event, double weight)
{
	const LodeStackSample sample = {.weight = weight, .event = event, .stack = stack};

	g_array_append_val(stacks->samples, sample);
}

static const LodeFlameNode *node_at(const LodeFlameTree *tree, uint32_t i)
{
	return &g_array_index(tree->nodes, LodeFlameNode, i);
}

static const char *name_of(const LodeStacks *stacks, const LodeFlameTree *tree, uint32_t function)
{
	uint32_t frame = g_array_index(tree->functions, uint32_t, function);

	return g_array_index(stacks->frames, LodeFrame, frame).function;
}

/* The drawing in flame_tree.h, with copy called from two lines. */
static LodeStacks *example(void)
{
	LodeStacks *stacks = lode_stacks_new();
	uint32_t outermost = add_stack(stacks, names[0], NULL, LODE_NONE);
	uint32_t read = add_stack(stacks, names[1], NULL, outermost);

	add_sample(stacks, add_stack(stacks, names[2], NULL, read), 1, 1);
	add_sample(stacks, add_stack(stacks, names[2], NULL, read), 1, 2);
	add_sample(stacks, read, 1, 2);
	/* A row may stand for many samples. */
	LODE_AT(stacks->samples, LodeStackSample, 2).n_more = UINT32_MAX;
	add_sample(stacks, add_stack(stacks, names[3], NULL, outermost), 1, 1);
	add_sample(stacks, outermost, 0, 100); /* of a different event */
	return stacks;
}

static void assert_node(const LodeStacks *stacks, const LodeFlameTree *tree, uint32_t i,
	const char *name, const double *parent_weight_self)
{
	const LodeFlameNode *node = node_at(tree, i);

	g_assert_cmpstr(name_of(stacks, tree, node->function), ==, name);
	g_assert_cmpuint(node->parent, ==, (guint)parent_weight_self[0]);
	g_assert_cmpfloat(node->weight, ==, parent_weight_self[1]);
	g_assert_cmpfloat(node->self, ==, parent_weight_self[2]);
}

static void test_example(void)
{
	g_autoptr(LodeStacks) stacks = example();
	g_autoptr(LodeFlameTree) tree = lode_flame_tree_new(stacks, 1, false, NULL);
	const double expected[][3] = {{0, 6, 0}, {1, 5, 2}, {2, 3, 3}, {1, 1, 1}};

	g_assert_cmpuint(tree->nodes->len, ==, 5);
	g_assert_cmpfloat(node_at(tree, 0)->samples, ==, 4 + (double)UINT32_MAX);
	g_assert_cmpfloat(node_at(tree, 3)->samples, ==, 2);
	for (uint32_t i = 0; i < 4; i++)
		assert_node(stacks, tree, i + 1, names[i], expected[i]);
}

/* A node has the time of the first sample in it or below; samples without a time have none. */
static void test_first_times(void)
{
	g_autoptr(LodeStacks) stacks = example();
	const uint64_t times[] = {9, 4, 0, 7, 1};
	const uint64_t expected[] = {4, 4, 4, 4, 7};

	for (guint i = 0; i < G_N_ELEMENTS(times); i++)
		LODE_AT(stacks->samples, LodeStackSample, i).time_ns = times[i];
	g_autoptr(LodeFlameTree) tree = lode_flame_tree_new(stacks, 1, false, NULL);
	for (guint i = 0; i < G_N_ELEMENTS(expected); i++)
		g_assert_cmpuint(node_at(tree, i)->first_ns, ==, expected[i]);
	for (guint i = 0; i < G_N_ELEMENTS(times); i++)
		LODE_AT(stacks->samples, LodeStackSample, i).time_ns = 0;
	g_autoptr(LodeFlameTree) timeless = lode_flame_tree_new(stacks, 1, true, NULL);
	g_assert_cmpuint(node_at(timeless, 0)->first_ns, ==, UINT64_MAX);
}

static void test_inverted_example(void)
{
	g_autoptr(LodeStacks) stacks = example();
	g_autoptr(LodeFlameTree) tree = lode_flame_tree_new(stacks, 1, true, NULL);
	char *const found[] = {"read", "main", "copy", "read", "main", "write", "main"};
	const double expected[][3] = {
		{0, 2, 0}, {1, 2, 2}, {0, 3, 0}, {3, 3, 0}, {4, 3, 3}, {0, 1, 0}, {6, 1, 1}};

	g_assert_cmpuint(tree->nodes->len, ==, 8);
	for (uint32_t i = 0; i < 7; i++)
		assert_node(stacks, tree, i + 1, found[i], expected[i]);
	const bool are_chosen[] = {true, false, false, false};
	g_assert_cmpfloat(lode_flame_tree_weight_of(tree, are_chosen), ==, 6);
}

static const LodeFrame unknown_stack = {.function = (char *)"unknown stack"};

/* What a function in an image is called in the text of a path. */
static void append_frame(GString *path, const LodeFrame *frame)
{
	g_string_append_printf(path, "/%s@%s", frame->function != NULL ? frame->function : "?",
		frame->image != NULL ? frame->image : "?");
}

static const LodeFrame *frame_at(const LodeStacks *stacks, uint32_t stack)
{
	return &g_array_index(
		stacks->frames, LodeFrame, g_array_index(stacks->stacks, LodeStack, stack).frame);
}

/* The frames of a stack, from the outermost, or the innermost where it is inverted. */
static GArray *frames_of(const LodeStacks *stacks, uint32_t stack, bool is_inverted)
{
	GArray *frames = g_array_new(FALSE, FALSE, sizeof(LodeFrame));

	for (; stack != LODE_NONE; stack = g_array_index(stacks->stacks, LodeStack, stack).outer) {
		if (is_inverted)
			g_array_append_vals(frames, frame_at(stacks, stack), 1);
		else
			g_array_prepend_vals(frames, frame_at(stacks, stack), 1);
	}
	return frames;
}

/* Text of each path → its weight. */
static GHashTable *merge_naively(const LodeStacks *stacks, uint32_t event, bool is_inverted)
{
	GHashTable *weights = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &g_array_index(stacks->samples, LodeStackSample, i);
		g_autoptr(GArray) frames = frames_of(stacks, sample->stack, is_inverted);
		g_autoptr(GString) path = g_string_new("all");
		if (sample->event != event)
			continue;
		if (frames->len == 0)
			g_array_append_val(frames, unknown_stack);
		for (guint depth = 0; depth <= frames->len; depth++) {
			double *weight = g_hash_table_lookup(weights, path->str);
			if (weight == NULL)
				g_hash_table_insert(
					weights, g_strdup(path->str), weight = g_new0(double, 1));
			*weight += sample->weight;
			if (depth < frames->len)
				append_frame(path, &g_array_index(frames, LodeFrame, depth));
		}
	}
	return weights;
}

static void append_path(
	GString *path, const LodeStacks *stacks, const LodeFlameTree *tree, uint32_t i)
{
	uint32_t function = node_at(tree, i)->function;

	if (i == 0) {
		g_string_append(path, "all");
		return;
	}
	append_path(path, stacks, tree, node_at(tree, i)->parent);
	append_frame(path, function == LODE_NONE
				   ? &unknown_stack
				   : &g_array_index(stacks->frames, LodeFrame,
					     g_array_index(tree->functions, uint32_t, function)));
}

static LodeStacks *random_stacks(void)
{
	static char *images[] = {"program", "libc.so", NULL};
	LodeStacks *stacks = lode_stacks_new();
	guint n = (guint)random_int_range(1, 60);

	for (guint i = 0; i < n; i++)
		add_stack(stacks, names[random_int_range(0, 5)], images[random_int_range(0, 3)],
			i > 0 && random_int_range(0, 8) > 0
				? (uint32_t)random_int_range(0, (gint32)i)
				: LODE_NONE);
	for (int i = random_int_range(0, 80); i > 0; i--)
		add_sample(stacks,
			random_int_range(0, 20) > 0 ? (uint32_t)random_int_range(0, (gint32)n)
						    : LODE_NONE,
			(uint32_t)random_int_range(0, 2), random_int_range(0, 50));
	return stacks;
}

/* The weight of samples whose stacks have a function of this name. */
static double weight_with(const LodeStacks *stacks, uint32_t event, const char *name)
{
	double weight = 0;

	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &g_array_index(stacks->samples, LodeStackSample, i);
		g_autoptr(GArray) frames = frames_of(stacks, sample->stack, false);
		bool has_name = false;
		for (guint j = 0; j < frames->len; j++)
			has_name |= g_array_index(frames, LodeFrame, j).function == name;
		weight += has_name && sample->event == event ? sample->weight : 0;
	}
	return weight;
}

static void check_search(const LodeStacks *stacks, const LodeFlameTree *tree)
{
	g_autofree bool *are_chosen = g_new0(bool, tree->functions->len + 1);

	for (uint32_t i = 0; i < tree->functions->len; i++)
		are_chosen[i] = name_of(stacks, tree, i) == names[1];
	g_assert_cmpfloat(
		lode_flame_tree_weight_of(tree, are_chosen), ==, weight_with(stacks, 1, names[1]));
}

static bool is_below(const LodeFlameTree *tree, uint32_t node, uint32_t root)
{
	while (node != root && node != LODE_NONE)
		node = node_at(tree, node)->parent;
	return node == root;
}

/* As many as fit, and no node that is left out comes before one that is not. */
static void check_widest(const LodeFlameTree *tree, uint32_t root, uint32_t limit)
{
	g_autoptr(GArray) widest = lode_flame_tree_widest(tree, root, limit);
	g_autofree bool *are_in = g_new0(bool, tree->nodes->len);
	guint n_below = 0;

	for (guint i = 0; i < widest->len; i++) {
		uint32_t node = g_array_index(widest, uint32_t, i);
		g_assert_true(is_below(tree, node, root));
		g_assert_true(node == root || are_in[node_at(tree, node)->parent]);
		are_in[node] = true;
	}
	for (uint32_t out = 0; out < tree->nodes->len; out++) {
		n_below += is_below(tree, out, root) ? 1 : 0;
		for (uint32_t in = 0;
			!are_in[out] && is_below(tree, out, root) && in < tree->nodes->len; in++)
			if (are_in[in])
				g_assert_true(
					node_at(tree, in)->weight > node_at(tree, out)->weight ||
					(node_at(tree, in)->weight == node_at(tree, out)->weight &&
						in < out));
	}
	g_assert_cmpuint(widest->len, ==, MIN(n_below, limit));
}

static void test_random(void)
{
	for (unsigned round = random_rounds(300, 3000); round > 0; round--) {
		g_autoptr(LodeStacks) stacks = random_stacks();
		bool is_inverted = random_bit();
		g_autoptr(GHashTable) expected = merge_naively(stacks, 1, is_inverted);
		g_autoptr(LodeFlameTree) tree = lode_flame_tree_new(stacks, 1, is_inverted, NULL);
		g_assert_cmpuint(tree->nodes->len, ==, MAX(g_hash_table_size(expected), 1));
		for (uint32_t i = 0; g_hash_table_size(expected) > 0 && i < tree->nodes->len; i++) {
			g_autoptr(GString) path = g_string_new(NULL);
			append_path(path, stacks, tree, i);
			const double *weight = g_hash_table_lookup(expected, path->str);
			g_assert_nonnull(weight);
			g_assert_cmpfloat(node_at(tree, i)->weight, ==, *weight);
		}
		g_assert_cmpfloat(tree->cut, ==, 0);
		check_search(stacks, tree);
		check_widest(tree, (uint32_t)random_int_range(0, (gint32)tree->nodes->len),
			(uint32_t)random_int_range(1, 12));
	}
}

/* 10⁶ calls deep, with samples everywhere. */
static void test_deep(void)
{
	enum { DEEP = 1000000 };
	g_autoptr(LodeStacks) stacks = lode_stacks_new();
	uint32_t stack = LODE_NONE;

	for (guint i = 0; i < DEEP; i++) {
		stack = add_stack(stacks, names[i % 3], NULL, stack);
		add_sample(stacks, stack, 0, 1);
	}
	for (int is_inverted = 0; is_inverted < 2; is_inverted++) {
		g_autoptr(LodeFlameTree)
			tree = lode_flame_tree_new(stacks, 0, is_inverted != 0, NULL);
		g_autoptr(GArray) widest = lode_flame_tree_widest(tree, 0, 5000);
		g_assert_cmpfloat(node_at(tree, 0)->weight, ==, DEEP);
		g_assert_cmpuint(widest->len, <=, 5000);
		g_assert_cmpint(tree->cut > 0, ==, is_inverted != 0);
	}
}

static void test_cancelled(void)
{
	g_autoptr(LodeStacks) stacks = example();
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	const LodeProgress progress = {.cancellable = cancellable};

	g_cancellable_cancel(cancellable);
	g_assert_null(lode_flame_tree_new(stacks, 1, false, &progress));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/flame_tree/example", test_example);
	g_test_add_func("/flame_tree/first_times", test_first_times);
	g_test_add_func("/flame_tree/inverted_example", test_inverted_example);
	g_test_add_func("/flame_tree/deep", test_deep);
	g_test_add_func("/flame_tree/cancelled", test_cancelled);
	add_random_test(
		"/flame_tree/random", test_random, "R02S0b1c52f93ad04e6688f1c7a9d35e2740", NULL);
	return g_test_run();
}
