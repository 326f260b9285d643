/* SPDX-License-Identifier: MIT */
/* Families: the patterns that are compiled in, the form of their file, and costs by hand. */
#include "analyses/calls/function_families.h"
#include "base/error.h"
#include "made_profile.h"

#include <math.h>

/* One of each group of families.ini, and neighbours that are none. */
static const struct {
	const char *family; /* NULL: none */
	const char *function, *image;
} cases[] = {
	{"allocator", "malloc", "/usr/lib/libc.so.6"},
	{"allocator", "malloc@plt", "/usr/bin/program"},
	{"allocator", "operator new(unsigned long)", "/usr/lib/libstdc++.so.6"},
	{"allocator", "_int_malloc", "/usr/lib/libc.so.6"},
	{"allocator", "unlink_chunk.constprop.0", "/usr/lib/libc.so.6"},
	{"allocator", "malloc_consolidate", "/usr/lib/libc.so.6"},
	{"allocator", "je_malloc", "/usr/bin/redis-server"},
	{"allocator", "runtime.mallocgc", "/usr/bin/program"},
	{"allocator", "fn_1230", "/usr/lib/libmimalloc.so.2"},
	{"allocator", "_PyObject_Malloc", "/usr/bin/python3.11"},
	{NULL, "mallocate", "/usr/bin/program"},
	{NULL, "malloc_table", "/usr/bin/program"},
	{NULL, "free_list", "/usr/bin/program"},
	{"allocator", "operator delete[](void*, unsigned long)", "/usr/lib/libstdc++.so.6"},
	{"allocator", "_int_free.part.0", "/usr/lib/libc.so.6"},
	{"allocator", "__rustc::__rust_alloc", "/usr/bin/program"},
	{"strings and memory", "std::filesystem::__cxx11::path::_M_split_cmpts()",
		"/usr/lib/libstdc++.so.6"},
	{NULL, "std::filesystem::status(std::filesystem::__cxx11::path const&)",
		"/usr/lib/libstdc++.so.6"},
	{"strings and memory", "core::str::converts::from_utf8", "/usr/bin/program"},
	{"strings and memory", "core::str::validations::run_utf8_validation", "/usr/bin/program"},
	{"strings and memory", "<core::str::pattern::CharSearcher>::next_match",
		"/usr/bin/program"},
	{"strings and memory", "g_utf8_validate", "/usr/lib/libglib-2.0.so.0"},
	{"random numbers", "std::random_device::_M_getval()", "/usr/lib/libstdc++.so.6"},
	{"stdio", "core::num::dec2flt::dec2flt", "/usr/bin/program"},
	{"strings and memory", "memcpy", "/usr/lib/libc.so.6"},
	{"strings and memory", "__memcpy_avx512_unaligned_erms", "/usr/lib/libc.so.6"},
	{"strings and memory", "__strlen_evex", "/usr/lib/libc.so.6"},
	{"strings and memory",
		"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> "
		">::_M_append(char const*, unsigned long)",
		"/usr/lib/libstdc++.so.6"},
	{"strings and memory", "memcpy@@GLIBC_2.14", "/usr/lib/libc.so.6"},
	{"strings and memory", "strlen", "/usr/bin/static"},
	{"strings and memory", "__memcpy_chk", "/usr/lib/libc.so.6"},
	{NULL, "memory_of", "/usr/bin/program"},
	{NULL, "strlen_often", "/usr/bin/program"},
	{NULL, "memcpy_rows(int)", "/usr/bin/program"},
	{NULL, "strcmp_by_name", "/usr/bin/program"},
	{NULL, "read /home/me/@strlen/x.js:1", "/tmp/jit-7.dump"},
	{NULL, "main", "/usr/bin/program"},
	{"locale and iconv", "__strcoll_l", "/usr/lib/libc.so.6"},
	{"locale and iconv", "__gconv_transform_utf8_internal", "/usr/lib/libc.so.6"},
	{"stdio", "__vfprintf_internal", "/usr/lib/libc.so.6"},
	{"stdio", "_IO_file_xsputn", "/usr/lib/libc.so.6"},
	{"stdio", "____strtol_l_internal", "/usr/lib/libc.so.6"},
	{NULL, "getcwd", "/usr/lib/libc.so.6"},
	{"stdio", "getc", "/usr/lib/libc.so.6"},
	{NULL, "getline_of", "/usr/bin/program"},
	{NULL, "rewind", "/usr/bin/program"},
	{NULL, "freadable", "/usr/bin/program"},
	{"locale and iconv", "fn_1230", "/usr/lib/x86_64-linux-gnu/gconv/UTF-16.so"},
	{NULL, "iconv_state_free", "/usr/bin/program"},
	{NULL, "gettext_lines", "/usr/bin/program"},
	{"locale and iconv", "bool std::has_facet<std::ctype<char> >(std::locale const&)",
		"/usr/lib/libstdc++.so.6"},
	{"locale and iconv", "strftime", "/usr/lib/libc.so.6"},
	{"stdio", "__fprintf_chk", "/usr/lib/libc.so.6"},
	{"stdio", "vwprintf", "/usr/lib/libc.so.6"},
	{NULL, "my_printf", "/usr/bin/program"},
	{"strings and memory", "__memcmpeq", "/usr/lib/libc.so.6"},
	{NULL, "index", "/usr/bin/program"},
	{NULL, "bool (*table)(int)", "/usr/bin/program"},
	{"locks", "pthread_mutex_lock", "/usr/lib/libc.so.6"},
	{"locks", "__lll_lock_wait", "/usr/lib/libc.so.6"},
	{"locks", "do_wait", "/usr/lib/libgomp.so.1"},
	{NULL, "do_wait", "/usr/bin/program"},
	{NULL, "mtx_multiply", "/usr/bin/program"},
	{NULL, "sem_wait_all", "/usr/bin/program"},
	{"locks", "futex_wait", "/usr/lib/libc.so.6"},
	{NULL, "futex_wait", "/usr/bin/program"},
	{"exceptions", "_Unwind_RaiseException", "/usr/lib/libgcc_s.so.1"},
	{"exceptions", "uw_update_context", "/usr/lib/libgcc_s.so.1"},
	{NULL, "search_object", "/usr/bin/program"},
	{"dynamic_cast", "__dynamic_cast", "/usr/lib/libstdc++.so.6"},
	{"hashing", "std::_Hash_bytes(void const*, unsigned long, unsigned long)",
		"/usr/lib/libstdc++.so.6"},
	{"search trees", "std::_Rb_tree_increment(std::_Rb_tree_node_base*)",
		"/usr/lib/libstdc++.so.6"},
	{"search trees", "g_tree_lookup", "/usr/lib/libglib-2.0.so.0"},
	{"stdio", "fmt.(*pp).doPrintf", "/usr/bin/program"},
	{"stdio", "std::io::stdio::_print", "/usr/bin/program"},
	{"strings and memory", "runtime.concatstrings", "/usr/bin/program"},
	{NULL, "fmt_line", "/usr/bin/program"},
	{"hashing", "g_hash_table_lookup", "/usr/lib/libglib-2.0.so.0"},
	{"reflection", "reflect.DeepEqual", "/usr/bin/program"},
	{"reflection", "encoding/json.(*decodeState).object", "/usr/bin/program"},
	{NULL, "encoding/hex.EncodeToString", "/usr/bin/program"},
	{NULL, "reflect_light", "/usr/bin/program"},
	{"sorting", "sort.pdqsort_func", "/usr/bin/program"},
	{NULL, "sort", "/usr/bin/program"},
	{"dates and clocks", "time.Time.Format", "/usr/bin/program"},
	{NULL, "time_step", "/usr/bin/program"},
	{"random numbers", "crypto/rand.Read", "/usr/bin/program"},
	{"locks", "math/rand.(*lockedSource).Int63", "/usr/bin/program"},
	{"compression", "compress/flate.(*compressor).deflate", "/usr/bin/program"},
	{NULL, "compress/flate.NewWriter", "/usr/bin/program"},
	{"SQLite", "sqlite3_step", "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0.8.6"},
	{"SQLite", "sqlite3.Connection.execute",
		"/usr/lib/python3.11/lib-dynload/_sqlite3.cpython-311-x86_64-linux-gnu.so"},
	{"streams of Java", "java.util.stream.ReferencePipeline.map(…) [tier 4]",
		"/tmp/jit-7.dump"},
	{"types and deferred calls of Go", "runtime.deferproc", "/usr/bin/program"},
	{"locks", "runtime.chansend1", "/usr/bin/program"},
	{"strings and memory", "strings.Split", "/usr/bin/program"},
	{NULL, "strings.(*Builder).WriteString", "/usr/bin/program"},
	{"hashing", "java.util.HashMap.getNode(…) [tier 4]", "/tmp/jit-7.dump"},
	{NULL, "Main$HashMap.get(…) [tier 4]", "/tmp/jit-7.dump"},
	{"locale and iconv", "icu_74::RuleBasedCollator::doCompare(char16_t const*)",
		"/usr/bin/node"},
	{"hashing", "EVP_DigestUpdate", "/usr/bin/node"},
	{"dates and clocks", "v8::internal::(anonymous namespace)::ParseDateTimeString(int)",
		"/usr/bin/node"},
	{"mathematics", "__ieee754_pow_fma", "/usr/lib/libm.so.6"},
	{"mathematics", "sin", "/usr/lib/libm.so.6"},
	{"mathematics", "sin@plt", "/usr/bin/program"},
	{"mathematics", "__udivti3", "/usr/bin/program"},
	{"mathematics", "__popcountdi2", "/usr/lib/libgcc_s.so.1"},
	{NULL, "log", "/usr/bin/program"},
	{NULL, "round", "/usr/bin/program"},
	{NULL, "logger", "/usr/lib/libm_of_mine.so"},
	{NULL, "sinus_wave", "/usr/bin/program"},
	{"mathematics", "fn_12", "/usr/lib/libm.so.6"},
	{"garbage collector", "gc_collect_main", "/usr/lib/libpython3.so"},
	{"garbage collector", "visit_decref", "/usr/bin/python3.11"},
	{"garbage collector", "luaC_step", "/usr/bin/lua5.4"},
	{"garbage collector", "propagatemark", "/usr/bin/lua5.4"},
	{"garbage collector", "runtime.scanobject", "/usr/bin/program"},
	{"garbage collector", "G1ParScanThreadState::trim_queue(unsigned int)",
		"/usr/lib/jvm/lib/server/libjvm.so"},
	{NULL, "atomic", "/usr/bin/program"},
	{"garbage collector", "OtherRegionsTable::add_reference(void*, unsigned int)",
		"/usr/lib/jvm/lib/server/libjvm.so"},
	{"look-ups", "Builtins_LoadIC", "/usr/bin/node"},
	{"look-ups", "Builtins_KeyedLoadIC_Megamorphic", "/usr/bin/node"},
	{"look-ups", "Builtin:KeyedStoreIC", "/tmp/perf-7.map"},
	{"look-ups", "PyObject_GetAttr", "/usr/bin/python3.11"},
	{"look-ups", "Perl_hv_common", "/usr/bin/perl"},
	{"look-ups", "luaH_getshortstr", "/usr/bin/lua5.4"},
	{"run-time builtins", "Builtins_ArrayMap", "/usr/bin/node"},
	{"run-time builtins", "call_stub", "/tmp/jit-7.dump"},
	{"copies and lists of V8", "v8::internal::JsonStringifier::SerializeString()",
		"/usr/bin/node"},
	{"regular expressions", "Builtins_RegExpReplace", "/usr/bin/node"},
	{"regular expressions", "regex_syntax::parser::Parser::parse", "/home/me/program"},
	{"regular expressions", "sre_ucs1_match", "/usr/bin/python3.11"},
	{"regular expressions", "transit_state", "/usr/lib/x86_64-linux-gnu/libc.so.6"},
	{"regular expressions", "fn_1230", "/usr/lib/libpcre2-8.so.0"},
	{"regular expressions", "java.util.regex.Pattern$Start.match(…) [tier 4]",
		"/tmp/jit-7.dump"},
	{NULL, "transit_state", "/usr/bin/program"},
	{NULL, "regenerate", "/usr/bin/program"},
	{"run-time compilers", "v8::internal::compiler::PipelineImpl::OptimizeGraph()",
		"/usr/bin/node"},
	{"run-time compilers", "PhaseChaitin::gather_lrg_masks(bool)",
		"/usr/lib/jvm/lib/server/libjvm.so"},
	{"run-time compilers", "PhiNode::Ideal(PhaseGVN*, bool)",
		"/usr/lib/jvm/lib/server/libjvm.so"},
	{NULL, "PhiNode::Ideal(PhaseGVN*, bool)", "/usr/bin/program"},
	{"run-time builtins", "fn_99", "/usr/lib/jvm/lib/server/libjvm.so"},
	{"interpreter", "_PyEval_EvalFrameDefault", "/usr/bin/python3.11"},
	{"interpreter", "Perl_pp_add", "/usr/bin/perl"},
	{"interpreter", "luaV_execute", "/usr/bin/lua5.4"},
	{"elements that are shifted", "<alloc::vec::Vec<u32>>::remove", "/home/u/program"},
	{"elements that are shifted",
		"std::vector<int, std::allocator<int> "
		">::_M_erase(__gnu_cxx::__normal_iterator<int*, "
		"std::vector<int, std::allocator<int> > >)",
		"/home/u/program"},
	{"elements that are shifted", "java.util.ArrayList.remove(int)", "/tmp/jit-7.dump"},
	{"searches in lists", "java.util.ArrayList.contains(Object)", "/tmp/jit-7.dump"},
	{"deleted properties", "v8::internal::Runtime::DeleteObjectProperty(int)", "/usr/bin/node"},
	{"files that are read whole", "java.util.Properties.load(Reader)", "/tmp/jit-7.dump"},
	{"lists that are copied", "java.util.concurrent.CopyOnWriteArrayList.add(Object)",
		"/tmp/jit-7.dump"},
	{"searches in lists", "java.util.LinkedList.get(int)", "/tmp/jit-7.dump"},
	{NULL, "std::vector<int, std::allocator<int> >::push_back(int const&)", "/home/u/program"},
	{"interpreter", "vm_exec_core", "/usr/lib/libruby.so.3.1"},
	{NULL, "PyLong_FromString", "/usr/bin/python3.11"},
	{"interpreter", "PyLong_FromLong", "/usr/bin/python3.11"},
	{"interpreter", "execute_ex", "/usr/bin/php"},
	{"interpreter", "find_variable", "/usr/bin/bash"},
	{"interpreter", "Interpreter", "/tmp/jit-7.dump"},
	{"interpreter", "Builtins_LdaSmiHandler", "/usr/bin/node"},
	{"interpreter", "Builtins_InterpreterEntryTrampoline", "/usr/bin/node"},
	{NULL, "find_variable", "/usr/bin/program"},
	{"searches of sequences", "list.__contains__", "/usr/bin/python3.11"},
	{"searches of texts", "str.find", "/usr/bin/python3.11"},
	{"shifted lists", "list.insert", "/usr/bin/python3.11"},
	{"sorting by templates", "std::__adjust_heap<double*, long, double>(double*, long)",
		"/usr/bin/program"},
	{"sorting in Python", "list.sort.part.5af2d0", "/usr/bin/python3.11"},
	{"sorting in Python", "median", "/usr/lib/python3.11/statistics.py"},
	{"exact numbers in Python", "variance", "/usr/lib/python3.11/statistics.py"},
	{"copies of containers", "dict.copy", "/usr/bin/python3.11"},
	{"copies of objects in Python", "deepcopy", "/usr/lib/python3.11/copy.py"},
	{"texts that grow", "PyUnicode_Append", "/usr/bin/python3.11"},
	{"texts of values", "float.__repr__", "/usr/bin/python3.11"},
	{"sums and extremes", "max", "/usr/bin/python3.11"},
	{"pickle", "_pickle.dumps", "/usr/bin/python3.11"},
	{"JSON in Python", "_json.scanstring",
		"/usr/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so"},
	{"dates in Python", "_strptime", "/usr/lib/python3.11/_strptime.py"},
	{"exact numbers in Python", "Fraction._add", "/usr/lib/python3.11/fractions.py"},
	{"structures of bytes", "_struct.unpack", "/usr/bin/python3.11"},
	{"errors of Python", "BaseException.__new__", "/usr/bin/python3.11"},
	{"classes that are asked for", "EnumType.__call__", "/usr/lib/python3.11/enum.py"},
	{"operations on numpy's arrays", "numpy.ufunc.part.2a6060",
		"/usr/lib/python3/dist-packages/numpy/core/"
		"_multiarray_umath.cpython-311-x86_64-linux-gnu.so"},
	{NULL, "_mean", "/usr/lib/python3/dist-packages/numpy/core/_methods.py"},
	{"elements of numpy's arrays", "DataFrame.iterrows",
		"/usr/lib/python3/dist-packages/pandas/core/frame.py"},
	{"elements of numpy's arrays", "numpy.ndarray.__getitem__",
		"/usr/lib/python3/dist-packages/numpy/core/"
		"_multiarray_umath.cpython-311-x86_64-linux-gnu.so"},
	{"random numbers of Python", "Random.randint", "/usr/lib/python3.11/random.py"},
	{"compiling of Python's regular expressions", "_compile",
		"/usr/lib/python3.11/re/__init__.py"},
	{"logging in Python", "Logger.debug", "/usr/lib/python3.11/logging/__init__.py"},
	{"imports of Python", "_find_and_load", "<frozen importlib._bootstrap>"},
	{"imports of Python", "PyImport_ImportModuleLevelObject", "/usr/bin/python3.11"},
	{"regular expressions", "re.Pattern.match", "/usr/bin/python3.11"},
	{"allocator", "tuple.dealloc", "/usr/bin/python3.11"},
	{"garbage collector", "dict.traverse", "/usr/bin/python3.11"},
	{NULL, "list.sort", "/usr/bin/program"},
	{NULL, "deepcopy", "/home/a/python/copy.py"},
	{NULL, "max", "/home/a/python/app.py"},
	{"searches in Perl", "Perl_pp_grepwhile", "/usr/bin/perl"},
	{"sorting in Perl", "S_mergesortsv", "/usr/bin/perl"},
	{"shifted arrays of Perl", "Perl_pp_splice", "/usr/bin/perl"},
	{"copies in Perl", "dclone",
		"/usr/lib/x86_64-linux-gnu/perl/5.36/auto/Storable/Storable.so"},
	{"regular expressions", "Perl_pp_match", "/usr/bin/perl"},
	{"searches in Ruby", "rb_ary_includes", "/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2"},
	{"sorting in Ruby", "rb_ary_sort_bang", "/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2"},
	{"shifted arrays of Ruby", "rb_ary_unshift",
		"/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2"},
	{"copies in Ruby", "Marshal.load", "<internal:marshal>"},
	{"slices of texts in Perl", "Perl_pp_substr", "/usr/bin/perl"},
	{"arrays of Ruby that are made anew", "rb_ary_plus",
		"/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2"},
	{"slices of texts", "PyUnicode_Substring", "/usr/bin/python3.11"},
	{"exact numbers in Python", "__complex__.__str__",
		"/usr/lib/python3.11/lib-dynload/_decimal.cpython-311-x86_64-linux-gnu.so"},
	{"texts of values", "complex.__str__", "/usr/bin/python3.11"},
	{"hashing", "_hashlib.new", "/usr/bin/python3.11"},
	{"texts that grow in Ruby", "rb_str_plus",
		"/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2"},
	{"loader", "_dl_relocate_object", "/usr/lib/ld-linux-x86-64.so.2"},
	{"loader", "handle_amd", "/usr/lib/ld-linux-x86-64.so.2"},
	{"kernel: page faults", "asm_exc_page_fault", "[kernel]"},
	{"kernel: page faults", "clear_page_erms", "[kernel]"},
	{NULL, "do_anonymous_page", "/usr/bin/program"},
	{"kernel: interrupts", "asm_sysvec_apic_timer_interrupt", "[kernel]"},
	{"kernel: system calls", "entry_SYSCALL_64_after_hwframe", "[kernel]"},
	{"kernel: system calls", "__x64_sys_write", "[kernel]"},
	{"kernel", "[kernel]", "[kernel]"},
	{"kernel", "_raw_spin_lock", "[kernel]"},
};

static const char *family_of(const LodeFamilies *families, const char *function, const char *image)
{
	uint32_t found = lode_families_find(families, function, image,
		!g_str_has_prefix(image, "/usr/lib") && !g_str_has_suffix(function, "@plt"));

	return found != LODE_NONE ? lode_families_at(families, found)->name : NULL;
}

static void test_builtin(void)
{
	g_autoptr(LodeFamilies) families = lode_families_new();

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_test_message("%s", cases[i].function);
		g_assert_cmpstr(family_of(families, cases[i].function, cases[i].image), ==,
			cases[i].family);
	}
	for (uint32_t i = 0; i < lode_families_n(families); i++) {
		const LodeFamily *family = lode_families_at(families, i);
		bool is_reached = false;
		for (size_t j = 0; j < G_N_ELEMENTS(cases); j++)
			is_reached |= g_strcmp0(cases[j].family, family->name) == 0;
		g_test_message("%s", family->name);
		g_assert_true(is_reached);
		g_assert_cmpint(family->is_kernel, ==, g_str_has_prefix(family->name, "kernel"));
		g_assert_cmpint(family->is_self_only, ==,
			g_strcmp0(family->name, "interpreter") == 0 ||
				g_strcmp0(family->name, "look-ups") == 0 ||
				g_strcmp0(family->name, "run-time builtins") == 0);
	}
}

static void test_errors(void)
{
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{"[a]\nfunctions = x\n",
			"families.ini: group 'a': 'description': expected a text of the first "
			"group of a family, and of no other one"},
		{"[b]\ndescription = d\nfunctions = x\n[a]\nfamily = b\n"
		 "description = e\nfunctions = y\n",
			"families.ini: group 'a': 'description': expected a text of the first "
			"group of a family, and of no other one"},
		{"[a]\ndescription = d\n", "families.ini: group 'a': 'functions': expected "
					   "patterns, separated by ';'"},
		{"[a]\ndescription = d\nfunctions = x\nimage = y\n",
			"families.ini: group 'a': 'image': expected a known key"},
		{"[b]\nfamily = a\nfunctions = x\n",
			"families.ini: group 'b': 'family': expected the name of another group"},
		{"[b]\nfamily = a\nfunctions = x\n[a]\ndescription = d\nfunctions = y\n",
			"families.ini: group 'b': 'family': expected an earlier group that begins "
			"a family"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_null(lode_families_parse(wrong[i].text, &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
		g_assert_cmpstr(error->message, ==, wrong[i].message);
	}
	g_autoptr(GError) error = NULL;
	g_assert_null(lode_families_parse("no group", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
}

/* --- costs --- */

enum { MAIN, MALLOC, INTERNAL, LOOP, COPY, FAULT, LOCK, N };

static const struct {
	const char *name, *image;
	double self;
} functions[N] = {
	[MAIN] = {"main", "program", 5},
	[MALLOC] = {"malloc", "libc.so.6", 10},
	[INTERNAL] = {"_int_malloc", "libc.so.6", 30},
	[LOOP] = {"_PyEval_EvalFrameDefault", "program", 20},
	[COPY] = {"memcpy", "libc.so.6", 10},
	[FAULT] = {"asm_exc_page_fault", "[kernel]", 5},
	[LOCK] = {"_raw_spin_lock", "[kernel]", 20},
};

/* Each function has an image of its own. */
static LodeProfile *profile_new(void)
{
	LodeProfile *profile = lode_profile_new();

	profile->code.weight_event = lode_profile_add_event(
		profile, "clock", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	for (uint32_t i = 0; i < N; i++) {
		made_image(profile, functions[i].image);
		made_small_function(profile, functions[i].name, functions[i].self);
	}
	return profile;
}

static uint32_t add_stack(LodeProfile *profile, uint32_t function, uint32_t outer, double weight)
{
	uint32_t stack = made_stack(profile, made_frame(profile, function), outer);

	if (weight > 0)
		made_sample(profile, stack, weight);
	return stack;
}

static void check_costs(const LodeProfile *profile, const char *expected)
{
	g_autoptr(LodeFamilies) families = lode_families_new();
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
	g_autofree uint32_t *of = NULL;
	g_autoptr(GArray) found = lode_families_costs(families, costs, &of);
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < found->len; i++) {
		const LodeFamilyCost *one = &g_array_index(found, LodeFamilyCost, i);
		g_string_append_printf(text, "%s%s %g/%g +%u", i > 0 ? ", " : "",
			lode_families_at(families, one->family)->name, one->self,
			isnan(one->inclusive) ? -1 : one->inclusive, one->n);
		if (one->n > 0)
			g_string_append_printf(text, " %s", functions[one->members[0]].name);
	}
	g_assert_cmpstr(text->str, ==, expected);
	g_assert_cmpuint(of[MAIN], ==, LODE_NONE);
}

/* The copy that malloc makes is malloc's too, and so is the fault; a spin lock in a fault is part
 * of what the fault entered. The loop has no more than itself. */
static void test_costs(void)
{
	g_autoptr(LodeProfile) profile = profile_new();

	check_costs(profile,
		"allocator 40/-1 +2 _int_malloc, interpreter 20/-1 +1 _PyEval_EvalFrameDefault, "
		"kernel 20/-1 +1 _raw_spin_lock, strings and memory 10/-1 +1 memcpy, "
		"kernel: page faults 5/-1 +1 asm_exc_page_fault");
	profile->stacks = lode_stacks_new();
	uint32_t top = add_stack(profile, MAIN, LODE_NONE, 5);
	uint32_t loop = add_stack(profile, LOOP, top, 20);
	uint32_t allocation = add_stack(profile, MALLOC, loop, 10);
	uint32_t internal = add_stack(profile, INTERNAL, allocation, 30);
	add_stack(profile, COPY, internal, 10);
	uint32_t fault = add_stack(profile, FAULT, internal, 5);
	add_stack(profile, LOCK, fault, 20);
	check_costs(profile, "allocator 40/75 +2 _int_malloc, kernel: page faults 25/25 +0, "
			     "interpreter 20/-1 +1 _PyEval_EvalFrameDefault, "
			     "strings and memory 10/10 +1 memcpy");
}

/* Inlined functions have the families of groups that say so. */
static void test_inlined(void)
{
	static const struct {
		const char *function, *family;
	} inlined[] = {
		{"std::_Hashtable<int, int>::find(int const&)", "hashing"},
		{"core::hash::BuildHasher::hash_one", "hashing"},
		{"<alloc::string::String as "
		 "core::iter::traits::collect::Extend<char>>::extend::{{closure}}",
			"allocator"},
		{"<alloc::string::String>::push", NULL},
		{"std::map<int, int>::find(int const&)", "search trees"},
		{"std::sync::mutex::Mutex<T>::lock", "locks"},
		{"sync.(*Mutex).Unlock", "locks"},
		{"std::__cxx11::basic_string<char>::size() const", NULL},
		{"snprintf", NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(inlined); i++) {
		g_autoptr(LodeProfile) profile = profile_new();
		g_autoptr(LodeFamilies) families = lode_families_new();
		g_autofree uint32_t *of = NULL;
		profile->stacks = lode_stacks_new();
		profile->stacks->has_chains = true;
		add_stack(profile, COPY, add_stack(profile, MAIN, LODE_NONE, 0), 5);
		LodeFrame *frame = &LODE_AT(profile->stacks->frames, LodeFrame, 1);
		frame->function = lode_profile_intern(profile, inlined[i].function);
		frame->image = LODE_AT(profile->stacks->frames, LodeFrame, 0).image;
		frame->is_inlined = true;
		g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
		g_array_unref(lode_families_costs(families, costs, &of));
		uint32_t family = of[costs->functions->len - 1];
		g_assert_cmpstr(
			family != LODE_NONE ? lode_families_at(families, family)->name : NULL, ==,
			inlined[i].family);
	}
}

/* A function log() of a program is no mathematics where a C library is loaded, or where its source
 * is the user's. */
static void test_common_names(void)
{
	static const struct {
		const char *library, *file, *family;
	} all[] = {
		{"/usr/lib/libc.so.6", NULL, NULL},
		{"/elsewhere/x.so", "logging.c", NULL},
		{"/elsewhere/x.so", "/usr/include/math.h", "mathematics"},
		{"/elsewhere/x.so", NULL, "mathematics"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		g_autoptr(LodeProfile) profile = profile_new();
		g_autoptr(LodeFamilies) families = lode_families_new();
		g_autofree uint32_t *of = NULL;

		for (uint32_t k = 0; k < N; k++)
			lode_profile_image(profile, k)->path = lode_profile_intern(
				profile, k == MAIN ? "/home/me/program" : all[i].library);
		lode_profile_function(profile, MAIN)->name = lode_profile_intern(profile, "log");
		if (all[i].file != NULL)
			lode_profile_instruction(profile, MAIN)->location = lode_profile_location(
				profile, all[i].file, 7, NULL);
		g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, 0);
		g_autoptr(GArray) found = lode_families_costs(families, costs, &of);
		g_assert_cmpuint(found->len, >, 0);
		const char *family = of[MAIN] != LODE_NONE
		                             ? lode_families_at(families, of[MAIN])->name
		                             : NULL;
		g_assert_cmpstr(family, ==, all[i].family);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/function_families/builtin", test_builtin);
	g_test_add_func("/function_families/errors", test_errors);
	g_test_add_func("/function_families/costs", test_costs);
	g_test_add_func("/function_families/inlined", test_inlined);
	g_test_add_func("/function_families/common_names", test_common_names);
	return g_test_run();
}
