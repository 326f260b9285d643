/* SPDX-License-Identifier: MIT */
/* Special member functions: by their names, and implicit ones by their lines. */
#include "analyses/calls/special_members.h"
#include "made_profile.h"
#include "model/lines/own_lines.h"
#include "model/profile.h"

#define NONE LODE_OBJECT_WORK_NONE
#define COPY LODE_OBJECT_WORK_COPY
#define END LODE_OBJECT_WORK_END

static void test_names(void)
{
	static const struct {
		const char *name;
		bool is_member;
		LodeObjectWork work;
	} cases[] = {
		{"Board::Board(Board const&)", true, COPY},
		{"Board::operator=(Board const&)", true, COPY},
		{"Board::Board(Board&&)", true, NONE},
		{"Board::~Board()", true, END},
		{"Board::Board()", true, NONE},
		{"a::Map<int, b::C<d> >::Map(a::Map<int, b::C<d> > const&)", true, COPY},
		{"std::vector<char, std::allocator<char> >::vector(std::vector<char, "
		 "std::allocator<char> > const&)",
			true, COPY},
		{"(anonymous namespace)::Board::Board((anonymous namespace)::Board const&)", true,
			COPY},
		{"Board::Board(Board const&) [clone .isra.0]", true, COPY},
		{"Board::Board(int)", false, NONE},
		{"Board::Board(Board const*)", false, NONE},
		{"Board::Board(Boards const&)", false, NONE},
		{"Board::board(Board const&)", false, NONE},
		{"Board::operator==(Board const&) const", false, NONE},
		{"Board::operator()(Board const&)", false, NONE},
		{"~Board()", false, NONE},
		{"Board(Board const&)", false, NONE},
		{"::Board()", false, NONE},
		{"main", false, NONE},
		{"", false, NONE},
		{"<T as core::clone::Clone>::clone", false, COPY},
		{"<alloc::collections::btree::map::BTreeMap<K,V,A> as "
		 "core::clone::Clone>::clone::clone_subtree",
			false, COPY},
		{"<hashbrown::raw::RawTable<T,A> as core::ops::drop::Drop>::drop", false, END},
		{"core::ptr::drop_in_place<w::World>", false, END},
		{"std::_Rb_tree_node<int>* std::_Rb_tree<int, int>::_M_copy<false>(int)", false,
			COPY},
		{"std::_Rb_tree<int, int>::_M_erase(std::_Rb_tree_node<int>*)", false, END},
		{"std::_Rb_tree<int, int>::_M_erase_aux(int)", false, NONE},
		{"std::_Rb_tree<int, int>::find(int const&)", false, NONE},
		{"java.util.HashMap.<init>()", false, NONE},
		{"std::(", false, NONE},
		{">>::a(", false, NONE},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		if (lode_is_special_member(cases[i].name) != cases[i].is_member ||
			lode_object_work_of(cases[i].name) != cases[i].work)
			g_test_fail_printf("'%s'", cases[i].name);
	}
}

/* One line alone; another inlined into it counts for itself, lines of the toolchain do not count.
 */
static void test_implicit(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	const LodeInstruction row = {.size = 4};

	profile->code.weight_event = lode_profile_add_event(
		profile, "clock", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	made_image(profile, "/home/me/program");
	made_function(profile, (LodeFunction){.name = (char *)"A::A(A const&)"});
	made_instruction(profile, row, NULL, 0);
	made_line(profile, "a.cpp", 12, NULL);
	made_instruction(profile, row, NULL, 0);
	made_line(profile, "/usr/include/c++/12/bits/stl_vector.h", 98,
		"std::vector<int>::vector(std::vector<int> const&)");
	made_instruction(profile, row, NULL, 0);
	made_line(profile, "b.cpp", 7, "B::~B()");
	made_function(profile, (LodeFunction){.name = (char *)"C::~C()"});
	made_instruction(profile, row, NULL, 0);
	made_line(profile, "c.cpp", 3, NULL);
	made_instruction(profile, row, NULL, 0);
	made_line(profile, "c.cpp", 4, NULL);
	made_function(profile, (LodeFunction){.name = (char *)"f(A const&)"});
	made_instruction(profile, row, NULL, 0);
	made_line(profile, "a.cpp", 30, NULL);

	g_autoptr(LodeOwnLines) own = lode_own_lines_new(profile, NULL);
	g_autoptr(GHashTable) members = lode_implicit_members(profile, own);
	g_assert_cmpuint(g_hash_table_size(members), ==, 2);
	g_assert_true(g_hash_table_contains(members, "A::A(A const&)"));
	g_assert_true(g_hash_table_contains(members, "B::~B()"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/special_members/names", test_names);
	g_test_add_func("/special_members/implicit", test_implicit);
	return g_test_run();
}
