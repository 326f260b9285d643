/* SPDX-License-Identifier: MIT */
/* Rules of services: those that are compiled in, by functions of each, and the form of their file.
 */
#include "analyses/calls/function_families.h"
#include "analyses/diagnoses/rules/cause_rules.h"
#include "analyses/diagnoses/rules/service_rules.h"
#include "base/error.h"

#include <stdbool.h>
#include <string.h>

#define LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define LIBM "/usr/lib/x86_64-linux-gnu/libm.so.6"
#define LIBSTDCXX "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"
#define LIBJVM "/usr/lib/jvm/lib/server/libjvm.so"
#define OWN "/home/me/program"
#define NODE "/usr/bin/node"
#define JIT "/tmp/jit-7.dump"
#define PYTHON "/usr/bin/python3.11"

/* Functions by the name that they are called by; of each rule at least one. */
static const struct {
	const char *rule; /* NULL: none, or one without a cause */
	const char *function, *image, *file;
} cases[] = {
	{"Python: searches of sequences", "list.__contains__", PYTHON, NULL},
	{"Python: searches of texts", "str.find", PYTHON, NULL},
	{"Python: shifted lists", "list.insert", PYTHON, NULL},
	{"Python: sorting in Python", "list.sort.part.5af2d0", PYTHON, NULL},
	{"Python: copies of containers", "dict.copy", PYTHON, NULL},
	{"Python: copies of objects in Python", "deepcopy", "/usr/lib/python3.11/copy.py", NULL},
	{"Python: texts that grow", "PyUnicode_Append", PYTHON, NULL},
	{"Python: texts of values", "float.__repr__", PYTHON, NULL},
	{"Python: sums and extremes", "max", PYTHON, NULL},
	{"Python: pickle", "_pickle.dumps", PYTHON, NULL},
	{"Python: JSON that is parsed", "_json.scanstring",
		"/usr/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so", NULL},
	{"Python: JSON that is parsed", "load", "/usr/lib/python3.11/json/__init__.py", NULL},
	{"Python: JSON that is parsed", "JSONDecoder.raw_decode",
		"/usr/lib/python3.11/json/decoder.py", NULL},
	{"Python: JSON that is written", "encoder_listencode_dict", PYTHON, NULL},
	{"Python: JSON that is parsed", "_parse_object_unicode", PYTHON, NULL},
	{"Python: JSON that is written", "dumps", "/usr/lib/python3.11/json/__init__.py", NULL},
	{"Python: JSON that is written", "JSONEncoder.iterencode",
		"/usr/lib/python3.11/json/encoder.py", NULL},
	{"Python: JSON in Python", "detect_encoding", "/usr/lib/python3.11/json/__init__.py", NULL},
	{"Python: dates in Python", "_strptime", "/usr/lib/python3.11/_strptime.py", NULL},
	{"Python: exact numbers in Python", "Fraction._add", "/usr/lib/python3.11/fractions.py",
		NULL},
	{"Python: structures of bytes", "_struct.unpack", PYTHON, NULL},
	{"Python: errors of Python", "BaseException.__new__", PYTHON, NULL},
	{"Python: classes that are asked for", "EnumType.__call__", "/usr/lib/python3.11/enum.py",
		NULL},
	{"Python: operations on numpy's arrays", "_multiarray_umath.part.c9d60",
		"/usr/lib/python3/dist-packages/numpy/core/"
		"_multiarray_umath.cpython-311-x86_64-linux-gnu.so",
		NULL},
	{"Python: calls for small arrays", "numpy.ndarray.__float__",
		"/usr/lib/python3/dist-packages/numpy/core/"
		"_multiarray_umath.cpython-311-x86_64-linux-gnu.so",
		NULL},
	{"Python: elements of numpy's arrays", "numpy.ndarray.__getitem__",
		"/usr/lib/python3/dist-packages/numpy/core/"
		"_multiarray_umath.cpython-311-x86_64-linux-gnu.so",
		NULL},
	{"Python: random numbers of Python", "Random.randint", "/usr/lib/python3.11/random.py",
		NULL},
	{"Python: compiling of Python's regular expressions", "_compile",
		"/usr/lib/python3.11/re/__init__.py", NULL},
	{"Python: logging in Python", "Logger.debug", "/usr/lib/python3.11/logging/__init__.py",
		NULL},
	{"Python: imports of Python", "_find_and_load", "<frozen importlib._bootstrap>", NULL},
	{"steps of Python", "python", "/home/a/app.py", NULL},
	{"steps of Perl and Ruby", "perl", "/home/a/app.pl", NULL},
	{"searches in Perl", "Perl_pp_grepwhile", "/usr/bin/perl", NULL},
	{"sorting in Perl", "S_mergesortsv", "/usr/bin/perl", NULL},
	{"shifted arrays of Perl", "Perl_pp_splice", "/usr/bin/perl", NULL},
	{"copies in Perl", "dclone",
		"/usr/lib/x86_64-linux-gnu/perl/5.36/auto/Storable/Storable.so", NULL},
	{"searches in Ruby", "rb_ary_includes", "/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2",
		NULL},
	{"sorting in Ruby", "rb_ary_sort_bang", "/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2",
		NULL},
	{"shifted arrays of Ruby", "rb_ary_unshift",
		"/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2", NULL},
	{"copies in Ruby", "Marshal.load", "<internal:marshal>", NULL},
	{"Python: elements that are counted", "list.count", "/usr/bin/python3.11", NULL},
	{"Python: elements that are removed", "list.remove", "/usr/bin/python3.11", NULL},
	{"Python: lists that are joined", "list.__add__", "/usr/bin/python3.11", NULL},
	{"substitutions of Perl", "Perl_pp_subst", "/usr/bin/perl", NULL},
	{"texts that Perl cuts", "Perl_pp_substcont", "/usr/bin/perl", NULL},
	{"statements of SQLite", "sqlite3_prepare_v2", "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0",
		NULL},
	{"slices of texts in Perl", "Perl_pp_substr", "/usr/bin/perl", NULL},
	{"arrays of Ruby that are made anew", "rb_ary_plus",
		"/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2", NULL},
	{"Ruby: JSON that is parsed", "JSON.parse", "/usr/lib/ruby/3.1.0/json/common.rb", NULL},
	{"copies in Ruby", "JSON.generate", "/usr/lib/ruby/3.1.0/json/common.rb", NULL},
	{"sorting in Ruby by the C library", "qsort_r", "/usr/lib/x86_64-linux-gnu/libc.so.6",
		"/home/a/lead.rb"},
	{"sorting", "qsort_r", "/usr/lib/x86_64-linux-gnu/libc.so.6", "/home/a/lead.c"},
	{"Python: slices of texts", "PyUnicode_Substring", "/usr/bin/python3.11", NULL},
	{"Python: exact numbers in Python", "__complex__.__str__",
		"/usr/lib/python3.11/lib-dynload/_decimal.cpython-311-x86_64-linux-gnu.so", NULL},
	{"digests of Python", "_hashlib.new",
		"/usr/lib/python3.11/lib-dynload/_hashlib.cpython-311-x86_64-linux-gnu.so", NULL},
	{"keys from passwords", "_hashlib.pbkdf2_hmac",
		"/usr/lib/python3.11/lib-dynload/_hashlib.cpython-311-x86_64-linux-gnu.so", NULL},
	{"texts that grow in Ruby", "rb_str_plus", "/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2",
		NULL},
	{"encodings in Go", "encoding/json.Marshal", OWN, NULL},
	{"encodings in Go", "encoding/binary.Read", OWN, NULL},
	{"reflection in Go", "reflect.DeepEqual", OWN, NULL},
	{"sorting in Go", "sort.Slice", OWN, NULL},
	{"random numbers in Go", "math/rand.(*lockedSource).Int63", OWN, NULL},
	{NULL, "math/rand.(*Rand).Intn", OWN, NULL},
	{"secure random numbers", "crypto/rand.Read", OWN, NULL},
	{"secure random numbers", "java.security.SecureRandom.nextBytes(byte[]) [tier 4]", JIT,
		NULL},
	{"clocks in Go", "time.Now", OWN, NULL},
	{"dates in Go", "time.Time.Format", OWN, NULL},
	{"parts of strings in Go", "strings.Split", OWN, NULL},
	{NULL, "strings.(*Builder).WriteString", OWN, NULL},
	{"large values in Go", "runtime.duffcopy", OWN, NULL},
	{"channels of Go", "runtime.chansend1", OWN, NULL},
	{"scheduling of goroutines", "runtime.schedule", OWN, NULL},
	{"deferred calls", "runtime.deferproc", OWN, NULL},
	{"interfaces in Go", "runtime.assertE2I", OWN, NULL},
	{"compression in Go and Java", "compress/flate.(*compressor).deflate", OWN, NULL},
	{"compression in Go and Java", "java.util.zip.Deflater.deflate(byte[]) [tier 4]", JIT,
		NULL},
	{"digests", "crypto/sha256.Sum256", OWN, NULL},
	{"digests", "sun.security.provider.MD5.implCompress0(byte[], int) [tier 4]", JIT, NULL},
	{"digests of Node.js", "EVP_DigestInit_ex", NODE, NULL},
	{NULL, "EVP_DigestInit_ex", OWN, NULL},
	{"formatting in Java", "java.util.Formatter.parse(java.lang.String) [tier 4]", JIT, NULL},
	{"formatting in Java", "java.lang.String.format(java.lang.String, java.lang.Object[])", JIT,
		NULL},
	{"streams of bytes in Java", "java.io.PrintStream.println(java.lang.String)", JIT, NULL},
	{"numbers as text in Java", "jdk.internal.math.FloatingDecimal.toJavaFormatString(double)",
		JIT, NULL},
	{"dates in Java", "java.text.SimpleDateFormat.format(java.util.Date)", JIT, NULL},
	{"dates in Java", "java.util.Calendar.getInstance()", JIT, NULL},
	{"reflection in Java", "java.lang.reflect.Method.invoke(java.lang.Object)", JIT, NULL},
	{"reflection in Java", "java.lang.Class.getMethod(java.lang.String)", JIT, NULL},
	{"strings of Java", "java.lang.String.toLowerCase(java.util.Locale)", JIT, NULL},
	{"BigDecimal and BigInteger", "java.math.BigDecimal.add(java.math.BigDecimal)", JIT, NULL},
	{"numbers of any length in Go", "math/big.(*Int).Mul", OWN, NULL},
	{"colliding keys of Java",
		"java.util.HashMap$TreeNode.find(int, java.lang.Object) [tier 4]", JIT, NULL},
	{"colliding keys of Java",
		"java.util.concurrent.ConcurrentHashMap$TreeBin.find(int, java.lang.Object)", JIT,
		NULL},
	{"hash tables of Java", "java.util.HashMap.getNode(java.lang.Object) [tier 4]", JIT, NULL},
	{"settings that are read from files", "java.util.Properties.load(java.io.Reader) [tier 4]",
		JIT, NULL},
	{"texts of Java that are split", "java.lang.String.split(String, int) [tier 4]", JIT, NULL},
	{"parts of texts in Java", "java.lang.String.substring(int)", JIT, NULL},
	{"texts of Java that are shifted", "java.lang.AbstractStringBuilder.insert(int, char)", JIT,
		NULL},
	{"serialisation in Java", "java.io.ObjectOutputStream.writeObject0(Object)", JIT, NULL},
	{"lists that are copied for each change",
		"java.util.concurrent.CopyOnWriteArrayList.add(Object)", JIT, NULL},
	{"keys of Java whose hash is long", "java.util.AbstractList.hashCode() [tier 4]", JIT,
		NULL},
	{"elements of linked lists", "java.util.LinkedList.get(int) [tier 4]", JIT, NULL},
	{"searches in lists of Java", "java.util.ArrayList.contains(Object) [tier 4]", JIT, NULL},
	{"searches in lists of Java", "java.util.ArrayList.indexOf(java.lang.Object)", JIT, NULL},
	{"keys from passwords", "kdf_pbkdf2_derive", NODE, NULL},
	{"comparisons of strings in V8", "Builtins_StringEqual", NODE, NULL},
	{"properties that are deleted", "v8::internal::LookupIterator::Delete()", NODE, NULL},
	{"thread-local variables of Java", "java.lang.ThreadLocal.get()", JIT, NULL},
	{"search trees of Java", "java.util.TreeMap.getEntry(java.lang.Object)", JIT, NULL},
	{"locks of Java", "java.lang.StringBuffer.append(char)", JIT, NULL},
	{"exceptions in Java", "java.lang.Throwable.<init>(java.lang.String)", JIT, NULL},
	{"sorting in Java", "java.util.TimSort.binarySort(java.lang.Object[])", JIT, NULL},
	{"streams of Java", "java.util.stream.ReferencePipeline.map()", JIT, NULL},
	{"Intl of V8", "v8::internal::Builtin_NumberPrototypeToLocaleString(int)", NODE, NULL},
	{"Intl of V8", "icu_74::RuleBasedCollator::doCompare(char16_t const*)", NODE, NULL},
	{"Intl of V8", "v8::internal::JSNumberFormat::New(v8::internal::Isolate*)", NODE, NULL},
	{"order by the rules of a language in Java",
		"java.text.RuleBasedCollator.compare(java.lang.String)", JIT, NULL},
	{"dates of V8", "v8::internal::DateCache::DaysFromYearMonth(int, int)", NODE, NULL},
	{"dates of V8", "Builtins_DatePrototypeGetDay", NODE, NULL},
	{"BigInt", "v8::bigint::MultiplySchoolbook(v8::bigint::RWDigits)", NODE, NULL},
	{"BigInt", "Builtins_BigIntAdd", NODE, NULL},
	{"numbers as text in JavaScript", "v8::internal::DoubleToFixedCString(double, int)", NODE,
		NULL},
	{"errors of JavaScript", "v8::internal::ErrorUtils::Construct(v8::internal::Isolate*)",
		NODE, NULL},
	{"sorting in JavaScript", "Builtins_ArrayTimSort", NODE, NULL},
	{"code that is compiled again",
		"v8::internal::Compiler::GetFunctionFromString(v8::internal::Handle<v8::internal::"
		"Context>)",
		NODE, NULL},
	{"promises and await", "Builtins_AsyncFunctionAwaitUncaught", NODE, NULL},
	{"generators and iterators", "Builtins_GeneratorPrototypeNext", NODE, NULL},
	{"proxies", "Builtins_ProxyGetProperty", NODE, NULL},
	{"arguments as arrays", "Builtins_FastNewSloppyArguments", NODE, NULL},
	{"functions of arrays", "Builtins_ArrayForEach", NODE, NULL},
	{"copies of buffers", "Builtins_TypedArrayPrototypeSet", NODE, NULL},
	{NULL, "node::crypto::UseExtraCaCerts(int)", NODE, NULL},
	{"buffers and strings of Node.js",
		"void node::Buffer::(anonymous namespace)::StringSlice<(node::encoding)1>(int)",
		NODE, NULL},
	{"copies of objects", "v8::internal::Builtin_ArrayConcat(int)", NODE, NULL},
	{"structured clones", "v8::internal::ValueSerializer::WriteObject(int)", NODE, NULL},
	{"loops over properties", "v8::internal::KeyAccumulator::AddKey(int)", NODE, NULL},
	{"powers", "libmPow", JIT, NULL},
	{"growth by realloc", "realloc", LIBC, "/home/me/a.c"},
	{"Go's append", "runtime.growslice", OWN, "/home/me/a.go"},
	{"Go's allocation", "runtime.mallocgc", OWN, "/home/me/a.go"},
	{"Go's allocation", "runtime.newobject", OWN, NULL},
	{"Rust's allocation", "__rust_alloc", OWN, NULL},
	{"Rust's allocation",
		"<alloc::string::String as "
		"core::iter::traits::collect::Extend<char>>::extend::{{closure}}",
		OWN, NULL},
	{"Rust's allocation, by the file", "malloc", LIBC, "/home/me/src/main.rs"},
	{"Python's objects", "_PyObject_Malloc", PYTHON, NULL},
	{"C++ allocation", "operator new(unsigned long)", LIBSTDCXX, NULL},
	{"C++ allocation, by the file", "free", LIBC, "/home/me/a.cpp"},
	{"allocation", "malloc", LIBC, "/home/me/a.c"},
	{"allocation", "free", LIBC, NULL},
	{"allocation", "je_malloc", OWN, NULL},
	{NULL, "mallocate", OWN, NULL},
	{"elements that are shifted", "alloc::vec::Vec<T,A>::remove", OWN, NULL},
	{"elements that are shifted", "<alloc::vec::Vec<u64>>::insert", OWN, NULL},
	{"elements that are shifted",
		"<alloc::vec::drain::Drain<T,A> as core::ops::drop::Drop>::drop", OWN, NULL},
	{"elements that are shifted", "alloc::string::String::remove", OWN, NULL},
	{"elements that are shifted", "std::vector<int, std::allocator<int> >::_M_erase(int*)", OWN,
		NULL},
	{"elements that are shifted",
		"std::__cxx11::basic_string<char>::_M_erase(unsigned long, unsigned long)",
		LIBSTDCXX, NULL},
	{"elements that are shifted", "java.util.ArrayList.fastRemove(Object[], int) [tier 4]", JIT,
		NULL},
	{"elements that are shifted", "java.util.ArrayList.add(int, Object)", JIT, NULL},
	{"elements that are shifted", "slices.Delete[go.shape.[]int,go.shape.int]", OWN, NULL},
	{NULL, "java.util.ArrayList.add(Object)", JIT, NULL},
	{NULL, "std::vector<int, std::allocator<int> >::_M_realloc_insert(int*)", OWN, NULL},
	{NULL, "alloc::vec::Vec<T,A>::push", OWN, NULL},
	{"length of strings", "strlen", LIBC, NULL},
	{"appending to strings", "__strcat_chk", LIBC, NULL},
	{"copying strings", "strncpy", LIBC, NULL},
	{"comparing", "strcmp", LIBC, NULL},
	{"comparing", "runtime.memequal", OWN, NULL},
	{"copying", "memcpy", LIBC, NULL},
	{"filling", "memset", LIBC, NULL},
	{"searching", "strstr", LIBC, NULL},
	{"Go's strings", "runtime.concatstrings", OWN, NULL},
	{"C++ strings that grow",
		"std::__cxx11::basic_string<char>::_M_append(char const*, unsigned long)",
		LIBSTDCXX, NULL},
	{"C++ strings", "void std::__cxx11::basic_string<char>::_M_construct<char*>(char*, char*)",
		OWN, NULL},
	{"paths of files", "std::filesystem::__cxx11::path::_M_split_cmpts()", LIBSTDCXX, NULL},
	{"paths of files",
		"<std::path::Components as core::iter::traits::iterator::Iterator>::next", OWN,
		NULL},
	{"paths of files", "path/filepath.Join", OWN, NULL},
	{NULL, "std::filesystem::status(std::filesystem::__cxx11::path const&)", LIBSTDCXX, NULL},
	{"checks of UTF-8", "core::str::converts::from_utf8", OWN, NULL},
	{"checks of UTF-8", "<alloc::string::String>::from_utf8_lossy", OWN, NULL},
	{NULL, "<alloc::string::String as core::clone::Clone>::clone", OWN, NULL},
	{"searches of Rust's strings",
		"<core::str::pattern::StrSearcher as core::str::pattern::Searcher>::next_match",
		OWN, "/home/me/main.rs"},
	{"strings of Rust",
		"<core::str::iter::Split<P> as core::iter::traits::iterator::Iterator>::next", OWN,
		NULL},
	{"strings of Rust", "alloc::str::<impl str>::to_lowercase", OWN, NULL},
	{"characters of Rust's strings",
		"<core::str::iter::Chars as core::iter::traits::iterator::Iterator>::count", OWN,
		NULL},
	{"strings", "strverscmp", LIBC, NULL},
	{NULL, "strlen_often", OWN, NULL},
	{"collation", "strcoll", LIBC, NULL},
	{"characters to wide characters", "mbrtowc", LIBC, NULL},
	{"classes of characters", "towupper", LIBC, NULL},
	{"classes of characters", "tolower", LIBC, NULL},
	{"classes of characters", "isalnum", LIBC, NULL},
	{NULL, "tolower", OWN, NULL},
	{"iconv", "iconv", LIBC, NULL},
	{"dates as text", "strftime", LIBC, NULL},
	{"locale", "std::locale::locale()", LIBSTDCXX, NULL},
	{"single characters", "getc", LIBC, NULL},
	{"flushing", "fflush", LIBC, NULL},
	{"flushing",
		"std::basic_ostream<char, std::char_traits<char> >& std::endl<char, "
		"std::char_traits<char> >(std::basic_ostream<char, std::char_traits<char> >&)",
		LIBSTDCXX, NULL},
	{"formatting", "snprintf", LIBC, NULL},
	{"formatting", "__fprintf_chk", LIBC, NULL},
	{"parsing by format", "__isoc99_sscanf", LIBC, NULL},
	{"numbers from text", "strtol", LIBC, NULL},
	{"numbers from text", "strtod", LIBC, NULL},
	{"numbers from text", "____strtod_l_internal", LIBC, NULL},
	{"numbers from text", "__GI_____strtod_l_internal", LIBC, NULL},
	{"numbers from text", "round_and_return", LIBC, NULL},
	{"stdio", "fread", LIBC, NULL},
	{"numbers from text in Rust", "core::num::dec2flt::dec2flt", OWN, NULL},
	{"Go's fmt", "fmt.Sprintf", OWN, NULL},
	{"Rust's standard streams", "std::io::stdio::_print", OWN, NULL},
	{"Rust's formatting", "alloc::fmt::format::format_inner", OWN, NULL},
	{"Rust's formatting", "<u32 as core::fmt::Display>::fmt", OWN, NULL},
	{NULL, "<my::Point as core::fmt::Display>::fmt", OWN, NULL},
	{"C++ streams of texts",
		"std::basic_ios<char, std::char_traits<char> >::init(std::streambuf*)", LIBSTDCXX,
		NULL},
	{"C++ streams of texts", "std::ios_base::ios_base()", LIBSTDCXX, NULL},
	{"C++ streams", "std::ostream::operator<<(int)", LIBSTDCXX, NULL},
	{"seeking", "fseek", LIBC, NULL},
	{"stdio", "fwrite", LIBC, NULL},
	{"mutexes", "pthread_mutex_lock", LIBC, NULL},
	{"mutexes", "sync.(*Mutex).Lock", OWN, NULL},
	{"waiting at barriers", "GOMP_barrier", "/usr/lib/libgomp.so.1", NULL},
	{"locks", "sem_post", LIBC, NULL},
	{"Rust's panics", "rust_begin_unwind", OWN, NULL},
	{"backtraces", "backtrace", LIBC, NULL},
	{NULL, "backtrace", OWN, NULL},
	{"unwinding", "_Unwind_Backtrace", "/usr/lib/x86_64-linux-gnu/libgcc_s.so.1", NULL},
	{"exceptions", "__cxa_throw", LIBSTDCXX, NULL},
	{"casts", "__dynamic_cast", LIBSTDCXX, NULL},
	{"Go's maps", "runtime.mapaccess2_faststr", OWN, NULL},
	{"Rust's default hash", "<core::hash::sip::Hasher<S> as core::hash::Hasher>::write", OWN,
		NULL},
	{"Rust's default hash", "<std::hash::random::DefaultHasher as core::hash::Hasher>::write",
		OWN, NULL},
	{"Rust's hash tables", "core::hash::BuildHasher::hash_one", OWN, NULL},
	{"Rust's hash tables", "hashbrown::map::HashMap<K,V,S,A>::insert", OWN, NULL},
	{NULL, "<my::Key as core::hash::Hash>::hash", OWN, NULL},
	{"C++ unordered containers",
		"std::_Hashtable<int, std::pair<int const, int> >::find(int const&)", OWN, NULL},
	{"C++ unordered containers", "std::unordered_map<int, int>::find(int const&)", OWN, NULL},
	{"copies of hash tables",
		"std::_Hashtable<int, int>::_Hashtable(std::_Hashtable<int, int> const&)", OWN,
		NULL},
	{"copies of hash tables", "<hashbrown::map::HashMap<K,V,S,A> as core::clone::Clone>::clone",
		OWN, NULL},
	{"hashing", "g_hash_table_lookup", "/usr/lib/libglib-2.0.so.0", NULL},
	{"search trees", "std::_Rb_tree<int, int>::_M_get_insert_unique_pos(int const&)", OWN,
		NULL},
	{"copies of search trees",
		"std::_Rb_tree_node<int>* std::_Rb_tree<int, int>::_M_copy<false>(int*, int*)", OWN,
		NULL},
	{"copies of search trees",
		"<alloc::collections::btree::map::BTreeMap<K,V,A> as "
		"core::clone::Clone>::clone::clone_subtree",
		OWN, NULL},
	{"search trees", "std::_Rb_tree_increment(std::_Rb_tree_node_base*)", LIBSTDCXX, NULL},
	{"powers", "pow", LIBM, NULL},
	{"exponentials and logarithms", "exp", LIBM, NULL},
	{"exponentials and logarithms", "logf", LIBM, NULL},
	{"trigonometry", "sincos", LIBM, NULL},
	{"remainders", "fmod", LIBM, NULL},
	{"rounding", "floor", LIBM, NULL},
	{"products of complex numbers", "__muldc3", OWN, NULL},
	{"wide integers", "__udivti3", OWN, NULL},
	{"quadruple precision", "__multf3", OWN, NULL},
	{"mathematics", "erf", LIBM, NULL},
	{"Go's collector", "runtime.gcDrain", OWN, NULL},
	{"Java's collectors", "G1ParScanThreadState::trim_queue_to_threshold(unsigned int)", LIBJVM,
		NULL},
	{"moves of V8's arrays", "v8::internal::Heap::MoveRange(int)", NODE, NULL},
	{"V8's collector", "v8::internal::Scavenger::Process(v8::JobDelegate*)", NODE, NULL},
	{"Python's collector", "gc_collect_main", PYTHON, NULL},
	{"garbage collector", "luaC_step", "/usr/bin/lua5.4", NULL},
	{"patterns of file names", "fnmatch", LIBC, NULL},
	{NULL, "glob", OWN, NULL},
	{"compiling of regular expressions", "regcomp", LIBC, NULL},
	{"compiling of regular expressions", "regexp.MustCompile", OWN, NULL},
	{"compiling of regular expressions", "regexp.MatchString", OWN, NULL},
	{"regular expressions", "regexp.(*Regexp).MatchString", OWN, NULL},
	{"compiling of regular expressions", "regex::regex::string::Regex::new", OWN, NULL},
	{"compiling of regular expressions", "regex_syntax::parser::Parser::parse", OWN, NULL},
	{"regular expressions", "regex::regex::string::Regex::is_match_at", OWN, NULL},
	{"compiling of regular expressions", "java.util.regex.Pattern.matches(…)", JIT, NULL},
	{"compiling of regular expressions", "java.util.regex.Pattern.expr(…)", JIT, NULL},
	{"compiling of regular expressions", "java.util.regex.Pattern$Start.<init>(…)", JIT, NULL},
	{"regular expressions", "java.util.regex.Pattern$Start.match(…)", JIT, NULL},
	{"regular expressions", "java.util.regex.Pattern.matcher(…)", JIT, NULL},
	{"compiling of regular expressions", "Builtins_RegExpConstructor", NODE, NULL},
	{"compiling of regular expressions", "v8::internal::RegExp::Compile(int)", NODE, NULL},
	{"std::regex", "std::__detail::_Executor<char>::_M_dfs(long)", OWN, NULL},
	{"compiling of regular expressions",
		"std::__detail::_BracketMatcher<std::regex_traits<char>, false>::_M_ready()", OWN,
		NULL},
	{"compiling of regular expressions", "std::__detail::_Scanner<char>::_M_advance()", OWN,
		NULL},
	{"std::regex", "std::__detail::_BracketMatcher<std::regex_traits<char>, false>::_M_apply()",
		OWN, NULL},
	{"regular expressions", "regexec", LIBC, NULL},
	{"regular expressions", "Builtins_RegExpExecInternal", NODE, NULL},
	{"V8 property look-ups", "Builtins_KeyedLoadIC_Megamorphic", NODE, NULL},
	{"arrays that are shifted", "Builtins_ArrayPrototypeShift", NODE, NULL},
	{"JSON that is written", "v8::internal::JsonStringifier::Stringify()", NODE, NULL},
	{"JSON that is parsed", "v8::internal::Builtin_JsonParse(int)", NODE, NULL},
	{"JSON", "Builtins_JsonRawJson", NODE, NULL},
	{"SQLite", "sqlite3_step", "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0.8.6", NULL},
	{"searches in arrays", "Builtins_ArrayIndexOf", NODE, NULL},
	{"maps and sets", "Builtins_FindOrderedHashMapEntry", NODE, NULL},
	{"split and join", "Builtins_ArrayPrototypeJoin", NODE, NULL},
	{"split and join", "Builtins_StringPrototypeSplit", NODE, NULL},
	{"strings of V8", "Builtins_StringAdd_CheckNone", NODE, NULL},
	{"copies of objects", "Builtins_CloneObjectIC", NODE, NULL},
	{"loops over properties", "Builtins_ForInFilter", NODE, NULL},
	{"monitors of Java", "ObjectMonitor::enter(JavaThread*)", LIBJVM, NULL},
	{"stack traces of Java", "java_lang_Throwable::fill_in_stack_trace(Handle)", LIBJVM, NULL},
	{"copies of arrays in Java", "jbyte_disjoint_arraycopy", "/tmp/jit-7.dump", NULL},
	{"slow allocation in Java", "ObjArrayAllocator::initialize(HeapWordImpl**) const", LIBC,
		NULL},
	{"slow allocation in Java", "OptoRuntime::new_array_C(Klass*, int, JavaThread*)", LIBJVM,
		NULL},
	{"run-time compilers", "v8::internal::compiler::GraphReducer::Reduce(Node*)", NODE, NULL},
	{"Python look-ups", "_PyType_Lookup", PYTHON, NULL},
	{"look-ups of other interpreters", "Perl_hv_common", "/usr/bin/perl", NULL},
	{"thread-local storage", "__tls_get_addr", "/usr/lib/ld-linux-x86-64.so.2", NULL},
	{"data of threads by keys", "pthread_getspecific", LIBC, NULL},
	{"looking for symbols", "dlsym", LIBC, NULL},
	{"sorting by templates", "std::__introsort_loop<int*, long>(int*, int*, long)", OWN, NULL},
	{"sorting by templates", "core::slice::sort::stable::quicksort::quicksort", OWN, NULL},
	{"sorting", "qsort", LIBC, NULL},
	{NULL, "qsort", OWN, NULL},
	{"std::random_device", "std::random_device::_M_getval()", LIBSTDCXX, NULL},
	{"random numbers", "rand", LIBC, NULL},
	{"random numbers", "srandom", LIBC, NULL},
	{NULL, "random", OWN, NULL},
	{"dates", "localtime", LIBC, NULL},
	{"dates", "__tz_convert", LIBC, NULL},
	{"clocks", "clock_gettime", LIBC, NULL},
	{"network addresses as text", "inet_ntop", LIBC, NULL},
	{"users, groups and hosts", "getpwuid", LIBC, NULL},
	{"environment", "getenv", LIBC, NULL},
	{"compression", "deflate", "/usr/lib/x86_64-linux-gnu/libz.so.1", NULL},
	{NULL, "_PyEval_EvalFrameDefault", PYTHON, NULL},
	{NULL, "main", OWN, NULL},
	{NULL, "xmlParseFile", "/usr/lib/libxml2.so.2", NULL},
};

/* Names of system calls, and families of entries into the kernel. */
static const struct {
	const char *rule, *call, *family;
} entries[] = {
	{"writing in small pieces", "write", "kernel: system calls"},
	{"reading in small pieces", "pread64", "kernel: system calls"},
	{"sleeping and waking by futex", "futex", "kernel: system calls"},
	{"sleeping and waking by futex", "pthread_cond_wait", "kernel: system calls"},
	{"masks and handlers of signals", "pthread_sigmask", "kernel: system calls"},
	{"masks and handlers of signals", "rt_sigprocmask", "kernel: system calls"},
	{"memory from the kernel and back", "munmap", "kernel: system calls"},
	{"files by name", "openat", "kernel: system calls"},
	{"processes and threads", "clone3", "kernel: system calls"},
	{"waiting for files by epoll", "epoll_wait", "kernel: system calls"},
	{"waiting for files", "ppoll", "kernel: system calls"},
	{"files by name", "llseek", "kernel: system calls"},
	{"giving up the processor", "sched_yield", "kernel: system calls"},
	{"clocks by system calls", "getpid", "kernel: system calls"},
	{"system calls", "ioctl", "kernel: system calls"},
	{"system calls", "", "kernel: system calls"},
	{"page faults", "", "kernel: page faults"},
	{"interrupts", "", "kernel: interrupts"},
	{"time in the kernel", "", "kernel"},
};

static const LodeServiceRule *find_entry(const LodeServiceRules *rules, size_t i)
{
	return lode_service_rules_find(rules, entries[i].call, "[kernel]", entries[i].family, NULL);
}

static const LodeServiceRule *find(
	const LodeServiceRules *rules, const LodeFamilies *families, size_t i)
{
	uint32_t family = lode_families_find(families, cases[i].function, cases[i].image, false);

	return lode_service_rules_find(rules, cases[i].function, cases[i].image,
		family != UINT32_MAX ? lode_families_at(families, family)->name : NULL,
		cases[i].file);
}

static void test_cases(void)
{
	g_autoptr(LodeFamilies) families = lode_families_new();
	g_autoptr(LodeServiceRules) rules = lode_service_rules_new(families);

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const LodeServiceRule *rule = find(rules, families, i);
		if (g_strcmp0(rule != NULL ? rule->name : NULL, cases[i].rule) != 0)
			g_test_fail_printf("%s: rule %s, not %s", cases[i].function,
				rule != NULL ? rule->name : "(none)", cases[i].rule);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(entries); i++)
		g_assert_cmpstr(find_entry(rules, i)->name, ==, entries[i].rule);
}

/* Each has a case, and texts of which a reader can act on. */
static void test_all(void)
{
	g_autoptr(LodeFamilies) families = lode_families_new();
	g_autoptr(LodeServiceRules) rules = lode_service_rules_new(families);

	for (guint i = 0; i < lode_service_rules_n(rules); i++) {
		const LodeServiceRule *rule = lode_service_rules_at(rules, i);
		/* Those that other rules name. */
		bool has_case = strcmp(rule->name, "repeated work") == 0 ||
		                strcmp(rule->name, "colliding keys") == 0 ||
		                strcmp(rule->name, "copied objects") == 0 ||
		                strcmp(rule->name, "sorting again") == 0 ||
		                strcmp(rule->name, "computed keys") == 0;
		for (size_t k = 0; k < G_N_ELEMENTS(cases) && !has_case; k++)
			has_case = find(rules, families, k) == rule;
		for (size_t k = 0; k < G_N_ELEMENTS(entries) && !has_case; k++)
			has_case = find_entry(rules, k) == rule;
		if (!has_case)
			g_test_fail_printf("no case for the rule '%s'", rule->name);
		g_assert_true(rule->factor >= 0 && rule->factor <= 1);
		g_assert_true(rule->least >= 0.02);
		g_assert_true(g_str_has_suffix(rule->explanation, "."));
		g_assert_true(g_str_has_suffix(rule->remedy, "."));
		g_assert_cmpstr(rule->whole->cause, ==, rule->cause);
		if (rule->rest != NULL)
			g_assert_cmpstr(rule->rest->cause, ==, rule->cause);
	}
}

/* The first screen has room for so much of a remedy on its one line of 80. */
#define MOST_LETTERS 75

static void check_first_clause(const char *rule, const char *remedy)
{
	int depth = 0;
	size_t n = 0;

	for (; remedy[n] != '\0'; n++) {
		if (depth == 0 && strchr(";:.", remedy[n]) != NULL &&
			(remedy[n + 1] == ' ' || remedy[n + 1] == '\0'))
			break;
		depth += (remedy[n] == '(') - (remedy[n] == ')');
	}
	if (n > MOST_LETTERS)
		g_test_fail_printf("%s: '%.*s' has %zu letters", rule, (int)n, remedy, n);
}

static void test_first_clauses(void)
{
	g_autoptr(LodeFamilies) families = lode_families_new();
	g_autoptr(LodeServiceRules) services = lode_service_rules_new(families);
	g_autoptr(LodeCauseRules) causes = lode_cause_rules_new();

	for (guint i = 0; i < lode_service_rules_n(services); i++) {
		const LodeServiceRule *rule = lode_service_rules_at(services, i);
		check_first_clause(rule->name, rule->remedy);
	}
	for (size_t i = 0; i < lode_cause_rules_n(causes); i++) {
		const LodeCauseRule *rule = lode_cause_rules_at(causes, i);
		check_first_clause(rule->name, rule->remedy);
	}
}

/* Users mute diagnoses by their names: no two rules make the same. */
static void test_names(void)
{
	g_autoptr(LodeFamilies) families = lode_families_new();
	g_autoptr(LodeServiceRules) rules = lode_service_rules_new(families);
	g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (guint i = 0; i < lode_service_rules_n(rules); i++) {
		const LodeServiceRule *rule = lode_service_rules_at(rules, i);
		char *name = g_strdup_printf(
			"%s@%s", rule->cause, rule->service != NULL ? rule->service : rule->name);
		/* Python's, and those of all other interpreters: in different programs. */
		if (rule->whole == rule && strcmp(name, "service-interpreter@look-ups") != 0 &&
			g_hash_table_contains(names, name))
			g_test_fail_printf("two rules make '%s'", name);
		if (rule->whole == rule)
			g_hash_table_add(names, g_steal_pointer(&name));
		g_free(name);
	}
}

/* A part has the texts of its whole; it may be before it. */
static void test_parts(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeFamilies) families = lode_families_parse(
		"[f]\ndescription=d\nfunctions=x\nfor other;part=a*\n", &error);
	g_assert_no_error(error);
	g_autoptr(LodeServiceRules) rules = lode_service_rules_parse(
		"[part]\nfunctions=b\npart-of=whole\nremedy=R.\nleast=0.1\nalone=1\nrepeated="
		"again\n"
		"walks=find_*\nchains=long\n"
		"[long]\ncause=colliding-keys\nexplanation=e\nremedy=r\n"
		"[again]\ncause=repeated-work\nexplanation=e\nremedy=r\n"
		"[whole]\nfunctions=*\ncause=service-x\nexplanation=E.\nremedy=W.\nfactor=0.5\n",
		families, &error);

	g_assert_no_error(error);
	const LodeServiceRule *part = lode_service_rules_find(rules, "ab", "x", NULL, NULL);
	g_assert_cmpstr(part->name, ==, "part");
	g_assert_cmpstr(part->whole->name, ==, "whole");
	g_assert_cmpstr(part->repeated->name, ==, "again");
	g_assert_cmpstr(part->chains->name, ==, "long");
	g_assert_true(lode_service_rules_walk(rules, part, "find_node"));
	g_assert_false(lode_service_rules_walk(rules, part, "count_node"));
	g_assert_false(lode_service_rules_walk(rules, part->whole, "find_node"));
	g_assert_cmpstr(part->cause, ==, "service-x");
	g_assert_cmpstr(part->explanation, ==, "E.");
	g_assert_cmpstr(part->remedy, ==, "R.");
	g_assert_cmpfloat(part->factor, ==, 0.5);
	g_assert_cmpfloat(part->least, ==, 0.1);
	g_assert_cmpfloat(part->alone, ==, 1);
	g_assert_cmpfloat(part->whole->alone, ==, 0);
	const LodeServiceRule *whole = lode_service_rules_find(rules, "c", "x", NULL, NULL);
	g_assert_true(whole == whole->whole && whole == part->whole);
	g_assert_cmpfloat(whole->least, ==, 0.02);
}

static void test_wrong(void)
{
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{"[a]\nremedy=f\n",
			"services.ini: group 'a': 'functions': expected patterns, separated by "
			"';'"},
		{"[a]\nfunctions=f\nfactor=2\n",
			"services.ini: group 'a': 'factor': expected a number from 0 to 1"},
		{"[a]\nfunctions=f\nrest=b\n",
			"services.ini: group 'a': 'rest': expected the name of another group"},
		{"[a]\nfunctions=f\npart-of=b\n[b]\nfunctions=g\npart-of=c\n[c]\nfunctions=h\n",
			"services.ini: group 'a': 'part-of': expected a group that is no part "
			"itself"},
		{"[a]\nfunctions=f\ncause=x\nremedy=y\n",
			"services.ini: group 'a': 'explanation': expected a text"},
		{"[a]\nfunctions=f\ncause=x\nexplanation=y\n",
			"services.ini: group 'a': 'remedy': expected a text"},
	};

	g_autoptr(LodeFamilies) families = lode_families_new();
	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_null(lode_service_rules_parse(wrong[i].text, families, &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
		g_assert_cmpstr(error->message, ==, wrong[i].message);
	}
	g_assert_null(lode_service_rules_parse("nonsense", families, NULL));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/service_rules/cases", test_cases);
	g_test_add_func("/service_rules/all", test_all);
	g_test_add_func("/service_rules/first_clauses", test_first_clauses);
	g_test_add_func("/service_rules/names", test_names);
	g_test_add_func("/service_rules/parts", test_parts);
	g_test_add_func("/service_rules/wrong", test_wrong);
	return g_test_run();
}
