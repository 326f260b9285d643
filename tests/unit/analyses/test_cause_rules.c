/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/rules/cause_rules.h"
#include "base/error.h"
#include "model/findings.h"
#include "model/profile.h"

#include <string.h>

/*
 * Findings in words: elements separated by ">", the focus after "!". A first, plain case of each
 * rule, and neighbours that lack one thing that it asks for.
 */
static const struct {
	const char *rule; /* NULL: nothing is known */
	const char *finding;
} cases[] = {
	{"search one after the other", "! kind:load loop:search stride:40 lines:partly-used"},
	{"store forwarding fails", "! kind:load needs:part-store mem:stack"},
	{"store forwarding fails", "! kind:load ev:ld_blocks.store_forward"},
	{"value through memory", "! kind:load needs:store mem:stack"},
	{"store at the same place in a page", "! kind:load ev:ld_blocks_partial.address_alias"},
	{"contended atomic operation", "! kind:atomic ev:mem_load_l3_hit_retired.xsnp_hitm"},
	{"line changed by another processor", "! kind:load ev:mem_load_l3_hit_retired.xsnp_hitm"},
	{"page walk", "! kind:load ev:dtlb-miss"},
	{"page walk", "! kind:load ev:dTLB-load-misses:10"},
	{"page fault", "! kind:store ev:page-faults"},
	{"denormal numbers", "! op:mulsd kind:fp kind:simd ev:fp_assist.any"},
	{NULL, "! op:mulsd kind:fp kind:simd"},
	{NULL, "! op:add ev:assists.any"},
	{"partial register", "! op:add ev:partial_rat_stalls.slow_lea_window"},
	{"access across cache lines", "! kind:load ev:mem_inst_retired.split_loads"},
	{"gather", "! op:vpgatherdd kind:simd kind:load"},
	{"rep movs and rep stos", "! op:rep_movsb kind:string kind:load kind:store"},
	{"rep movs and rep stos", "! op:rep_stosq kind:string kind:store"},
	{"rep movs and rep stos", "! op:rep_stosq kind:string kind:store rounds:few"},
	{"rep stos of many bytes", "! op:rep_stosq kind:string kind:store rep:block"},
	{"rep stos of many bytes", "! op:rep_stosq kind:string kind:store rounds:many"},
	{"rep movs of many bytes", "! op:rep_movsq kind:string kind:load kind:store rounds:some"},
	{"rep cmps and rep scas", "! op:repne_scasb kind:string kind:load"},
	{"rep cmps and rep scas", "! op:repe_cmpsb kind:string kind:load"},
	{"search of words of eight bytes", "! op:repne_scasq kind:string kind:load"},
	{"rep cmps and rep scas", "! op:repe_cmpsq kind:string kind:load"},
	{"string instructions", "! op:lodsb kind:string kind:load"},
	{"string instructions", "! kind:string kind:store"},
	{"atomic operation", "! op:lock_xadd kind:atomic mem:pointer"},
	{"atomic operation", "! kind:atomic ev:l1d-miss"},
	{NULL, "! op:xadd"},
	{"memory fence", "! op:mfence kind:fence"},
	{"after a memory fence", "op:lfence kind:fence > ! op:rdtsc"},
	{"after a memory fence", "op:mfence kind:fence > ! kind:load mem:pointer"},
	{"atomic operation", "kind:fence > ! op:lock_xadd kind:atomic"},
	{"time stamp counter", "! op:rdtsc > op:lfence kind:fence"},
	{"element of an array that a variable points to",
		"! kind:load mem:pointer address:load base:global stride:none"},
	{"what a variable points to", "! kind:load mem:pointer address:load base:global"},
	{"structure copied by vectors", "! kind:store kind:simd copy:structure"},
	{"walks along a list", "! kind:load carried:load address:load loop:nodes"},
	{"waiting in a loop", "! op:pause"},
	{"waiting in a loop", "! op:cmp kind:load loop:spin"},
	{"random numbers of the processor", "! op:rdseed"},
	{"cpuid", "! op:cpuid"},
	{"time stamp counter", "! op:rdtscp"},
	{"system call", "! kind:syscall"},
	{"many are woken for one", "! wait:condition wait:herd"},
	{"lock whose holder sleeps", "! wait:lock wait-holder:call wait-holder:sleep"},
	{"lock whose holder is in a system call", "! wait:lock wait-holder:call"},
	{"CPython's global lock", "! wait:lock wait-lock:gil"},
	{"sleep of a program of the system", "! wait:sleep wait-of:system"},
	{"peer of a program of the system", "! wait:poll wait-of:system"},
	{"sync of a program of the system", "! wait:sync wait-of:system"},
	{"lock", "! wait:lock wait-call:futex"},
	{"many short threads", "! wait:join wait-threads:short"},
	{"end of a thread", "! wait:join wait-holder:call"},
	{"condition", "! wait:condition"},
	{"sleep command", "! wait:sleep wait-sleep:command"},
	{"sleep that others wait for", "! wait:sleep wait-sleep:work"},
	{"sleep", "! wait:sleep wait-steps:40ms"},
	{"sync of a journal", "! wait:sync wait-file:journal"},
	{"event loop that waits", "! wait:poll wait-loop:own"},
	{"sleeps of a pool of one thread", "! wait:sleep wait-sleep:work wait-pool:one"},
	{"tasks of a pool of one thread", "! wait:socket wait-steps:40ms wait-pool:one"},
	{"poll at a socket", "! wait:poll"},
	{"sync", "! wait:sync"},
	{"read", "! wait:read"},
	{"write", "! wait:write"},
	{"answers after 40 ms", "! wait:socket wait-steps:40ms"},
	{"socket", "! wait:socket"},
	{"child process", "! wait:child"},
	{"many short child processes", "! wait:child wait-child:short"},
	{"many short child processes", "! wait:child wait-child:short wait-parent:python3.11"},
	{"many short child processes, of find", "! wait:child wait-child:short wait-parent:find"},
	{"many short child processes, of xargs", "! wait:child wait-child:short wait-parent:xargs"},
	{"many short child processes, of awk", "! wait:child wait-child:short wait-parent:mawk"},
	{"many short child processes, of make", "! wait:child wait-child:short wait-parent:make"},
	{"arithmetic by processes", "! wait:child wait-child:short wait-parent:sh wait-for:expr"},
	{"parts of names by processes",
		"! wait:child wait-child:short wait-parent:bash wait-for:basename"},
	{"many short child processes",
		"! wait:child wait-child:short wait-parent:perl wait-for:basename"},
	{"dates by processes", "! wait:child wait-child:short wait-for:date"},
	{"lines by processes of a shell",
		"! wait:child wait-child:short wait-parent:dash wait-for:cut"},
	{"child processes, one after the other", "! wait:child wait-child:serial"},
	{"child processes of make, one after the other",
		"! wait:child wait-child:serial wait-parent:make"},
	{"child processes of a shell, one after the other",
		"! wait:child wait-child:serial wait-parent:bash"},
	{"child processes, fewer than processors", "! wait:child wait-child:narrow"},
	{"the same command again", "! wait:child wait-child:repeated"},
	{"the same command again, by make", "! wait:child wait-child:repeated wait-parent:make"},
	{"full pipe", "! wait:pipe wait-call:write"},
	{"empty pipe", "! wait:pipe wait-call:read"},
	{"page", "! wait:page"},
	{"processor", "! wait:processor"},
	{NULL, "! wait:unseen"},
	{NULL, "kind:syscall > !"},
	{"division", "! op:div"},
	{"division", "! kind:div needs:load ev:l1d-miss"},
	{"division", "! op:vdivps"},
	{"division of floating point", "! op:divsd kind:div kind:fp"},
	{"behind a division of floating point", "! op:mulsd kind:fp behind:div"},
	{"atomic counts of references", "! kind:atomic op:lock_add atomic:references"},
	{"atomic operation", "! kind:atomic op:lock_add"},
	{"the same call again", "! call:again"},
	{"recursion without memory", "! call:recursion"},
	{"a file read again", "! call:file"},
	{"code without optimisation", "! code:unoptimised"},
	{"square root", "! op:sqrtsd kind:div"},
	{"behind a division", "! op:mov kind:load behind:div"},
	{"behind a square root", "! op:addsd needs:div divider:roots"},
	{"entry and exit of small functions", "! op:push frame:enter"},
	{"small functions that loops call", "! op:add needs:mul called:small"},
	{"small functions that loops call",
		"! op:mov kind:load mem:pointer address:load called:small"},
	{"ends of small functions that loops call", "! op:call kind:call call:plt called:small"},
	{"ends of small functions that loops call",
		"! kind:load at:entry called:small spread:first-level lines:used"},
	{"x87", "! op:fmulp kind:fp kind:mul needs:fp"},
	{"ends of small functions whose data are near",
		"! kind:load at:entry called:small spread:first-level lines:partly-used"},
	{"ends of small functions that loops call", "! kind:load at:entry called:small"},
	{"ends of small functions that loops call",
		"! kind:jump kind:indirect mem:global called:small"},
	{"target that may be mispredicted", "! kind:load at:entry called:small target:open"},
	{"lines of which little is used",
		"! kind:load at:entry called:small lines:partly-used address:early"},
	{"system call", "! op:syscall kind:syscall called:small"},
	{"address computed early", "! kind:load mem:pointer behind:mul address:early"},
	{"address computed early", "! kind:load mem:pointer behind:mul address:early lines:dense"},
	{"load", "! kind:load mem:pointer behind:mul address:early stride:-1"},
	{"load", "! kind:load mem:pointer behind:mul address:early stride:24"},
	{"load", "! kind:load mem:pointer behind:mul address:early spread:first-level"},
	{"load", "! kind:load address:early stride:none spread:first-level"},
	{"load", "! kind:load lines:partly-used address:early spread:first-level"},
	{"load", "! kind:load mem:pointer behind:mul address:early stride:equal"},
	{"load", "! kind:load lines:partly-used address:early stride:8"},
	{"recurrence of divisions", "! op:add carried:div"},
	{"denormal numbers in windows", "! op:mulsd kind:fp denormal:operand"},
	{"access across lines in windows", "! kind:load split:line split:most"},
	{"load", "! kind:load split:line"},
	{"keeps a part of its old destination", "! op:cvtsi2sd carried:merge limit:merge"},
	{NULL, "! op:cvtsi2sd carried:merge"},
	{"fork hard to foretell", "! op:lea fork:hard"},
	{"fork that may be mispredicted", "! op:lea fork:open"},
	{"target hard to foretell", "! op:push target:hard"},
	{"target that may be mispredicted", "! op:push target:open at:entry"},
	{"recurrence of loads", "! kind:load mem:pointer address:load carried:load"},
	{"recurrence of loads", "! kind:load mem:indexed address:load-indexed carried:load"},
	{"recurrence of loads by an index", "! kind:load mem:indexed carried:load"},
	{"one set of the first level", "! kind:load conflict:first-level"},
	{"one set of the first level", "! kind:store conflict:pitch stride:4096"},
	{"beside a walk that crowds into few sets", "! kind:load stride:8 conflict:beside"},
	{NULL, "! op:add conflict:beside"},
	{"more pages than the TLB reaches",
		"! kind:load spread:tlb lines:partly-used address:early"},
	{"lines of which little is used", "! kind:load lines:partly-used address:early"},
	{"walk across lines", "! kind:load lines:partly-used spread:tlb limit:reading walk:across"},
	{"walk across lines", "! kind:store walk:across limit:writing"},
	{"as many bytes as memory takes", "! kind:store limit:writing"},
	{"load", "! kind:load walk:across spread:first-level"},
	{"load", "! kind:load walk:across lines:used"},
	{"one set of the first level", "! kind:load walk:across conflict:pitch"},
	{"recurrence of loads by an index", "! kind:load walk:across carried:load"},
	{"load", "! kind:load lines:partly-used"},
	{"address known early", "! kind:load address:early stride:none"},
	{"value kept in memory", "! op:add carried:store limit:store address:invariant"},
	{"recurrence through memory", "! op:add carried:store limit:store"},
	{"recurrence of floating-point operations", "! op:mulsd carried:fp limit:fp"},
	{NULL, "! op:mulsd carried:fp"},
	{"recurrence of conditional moves", "! op:cmovl carried:cmov limit:cmov"},
	{"value through memory at an address that the data give",
		"! op:add kind:load mem:indexed stored:before"},
	{"counts of references", "! op:add kind:load kind:store mem:pointer counter:spread"},
	{"fields of the node that a list leads to",
		"! op:cmp kind:load mem:pointer behind:load loop:chase"},
	{"fields at the index that a list leads to",
		"! op:cmp kind:load mem:indexed address:load limit:load"},
	{"first load of what a recurrence of loads leads to",
		"! op:cmp kind:load mem:pointer behind:load limit:load"},
	{"compare with memory",
		"! op:cmp kind:load mem:pointer behind:load address:invariant limit:load"},
	{"recurrence of bits", "! op:sar work:bits limit:alu"},
	{"bits one at a time", "! op:sar work:bits"},
	{"one unit is busy", "! op:pshufb kind:simd busy:one busy:vector"},
	{NULL, "! op:pshufb kind:simd busy:vector"},
	{"recurrence of arithmetic", "! op:lea carried:alu limit:alu"},
	{NULL, "! op:lea carried:alu busy:alu"},
	{"load beside a recurrence of arithmetic", "! op:movsx kind:load limit:alu stride:1"},
	{"load", "! op:movsx kind:load limit:alu stride:16"},
	{"recurrence of multiplications", "! op:imul carried:mul limit:mul"},
	{"as many bytes as memory takes", "! kind:store limit:writing"},
	{"as many bytes as memory gives", "! kind:load limit:reading"},
	{"bounds check", "! op:cmp check:bounds"},
	{"spilled register", "! op:mov kind:load spill:reload"},
	{NULL, "! op:rsqrtps kind:fp kind:simd"},
	{"indirect call mispredicted", "! kind:call kind:indirect ev:branch-miss:10"},
	{"indirect call", "! kind:call kind:indirect"},
	{"indirect call", "! op:call kind:call kind:indirect mem:indexed address:load"},
	{"indirect call", "! op:call kind:indirect address:load"},
	{"branch mispredicted", "! kind:call ev:branch-miss"},
	{"return mispredicted", "! kind:ret ev:branch-misses"},
	{"dispatch mispredicted", "! kind:jump kind:indirect mem:indexed ev:branch-miss"},
	{"branch on loaded data mispredicted", "! kind:branch needs:load ev:branch-miss:10"},
	{"branch on loaded data mispredicted", "! kind:branch needs:miss ev:branch-miss"},
	{"branch after a load mispredicted", "kind:load mem:indexed > ! ev:branch-miss"},
	{"branch mispredicted", "! ev:branch-miss > kind:load"},
	{"branch mispredicted", "! kind:branch needs:mul ev:branch-miss:50"},
	{"function not in the instruction cache", "! at:entry ev:l1i-miss"},
	{"code not in the instruction cache", "! ev:l1i-miss"},
	{"function entry", "! at:entry"},
	{"function entry", "! at:entry kind:load"},
	{NULL, "! at:loop-head"},
	{"entry of a linkage table", "! op:jmp kind:jump kind:indirect mem:global"},
	{"jump through a table", "! op:jmp kind:jump kind:indirect mem:indexed"},
	{NULL, "! op:jmp kind:jump"},
	{"target of an indirect call", "kind:call kind:indirect > !"},
	{NULL, "kind:call > !"},
	{"target of an indirect jump", "kind:jump kind:indirect > !"},
	{NULL, "! > kind:jump kind:indirect"},
	{"pointer chase", "! kind:load mem:pointer address:load-pointer"},
	{"pointer chase", "! kind:load mem:pointer address:load ev:ll-miss:50"},
	/* the same object each time, such as a shape in JavaScript */
	{"address from a load", "! kind:load mem:pointer address:load stride:0"},
	{"table at a loaded index", "! kind:load mem:indexed address:load"},
	{"address from a load", "! kind:load address:load"},
	{"load", "! kind:load mem:pointer address:mul"},
	{"load from memory", "! kind:load ev:ll-miss"},
	{"access that misses the first cache", "! ev:l1d-miss"},
	{"access that misses the first cache", "! kind:store ev:l1d-miss:10"},
	{"waits for a load that misses", "! op:add needs:load needs:miss"},
	{NULL, "! op:add needs:load"},
	{"behind a division", "! op:add needs:div"},
	{"after a division", "op:div > ! op:mov"},
	{"after a division", "kind:div > ! > op:add"},
	{NULL, "! op:mov > op:div"},
	{"branch on loaded data", "! kind:branch needs:load-indexed"},
	{NULL, "! kind:branch"},
	{"compare with memory", "! op:cmp kind:load mem:indexed chain:16"},
	{"chain of dependent operations", "! op:cmp chain:16"},
	{"load at the end of a chain", "! op:movzx kind:load mem:pointer chain:8"},
	{"load", "! op:xor kind:load mem:indexed chain:4"},
	{"chain of floating-point operations", "! op:addsd kind:fp kind:simd chain:8"},
	{"chain of dependent operations", "! op:add chain:16"},
	{"chain of dependent operations", "! op:add chain:128"},
	{NULL, "! op:add chain:4"},
	{"copy by vectors", "kind:load kind:simd > ! kind:store kind:simd"},
	{NULL, "kind:load > ! kind:store"},
	{NULL, "kind:load > kind:simd > ! kind:store kind:simd"},
	{"calls", "! kind:call"},
	{"calls", "! op:ret kind:ret"},
	{"load", "! kind:load mem:indexed"},
	{NULL, "! op:push"},
	{NULL, "! user:lookup"},
	{NULL, "!"},
};

static uint32_t attribute_of(LodeFindings *findings, const char *name)
{
	for (guint i = 0; i < findings->attributes->len; i++)
		if (strcmp(g_ptr_array_index(findings->attributes, i), name) == 0)
			return i;
	g_ptr_array_add(findings->attributes, g_strdup(name));
	return findings->attributes->len - 1;
}

static LodeFindings *finding_of(const char *text)
{
	LodeFindings *findings = lode_findings_new();
	LodeFinding finding = {0};
	g_auto(GStrv) elements = g_strsplit(text, ">", -1);

	for (uint32_t i = 0; elements[i] != NULL; i++) {
		LodeFindingElement element = {findings->items->len, 0};
		g_auto(GStrv) names = g_strsplit(elements[i], " ", -1);
		for (char **name = names; *name != NULL; name++) {
			if (strcmp(*name, "!") == 0) {
				finding.focus = i;
			} else if (**name != '\0') {
				uint32_t id = attribute_of(findings, *name);
				g_array_append_val(findings->items, id);
				element.n_items++;
			}
		}
		g_array_append_val(findings->elements, element);
		finding.n_elements++;
	}
	g_array_append_val(findings->findings, finding);
	return findings;
}

static void test_cases(void)
{
	g_autoptr(LodeCauseRules) rules = lode_cause_rules_new();

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeFindings) findings = finding_of(cases[i].finding);
		const LodeCauseRule *found = lode_cause_rules_find(
			rules, NULL, findings, lode_findings_at(findings, 0));
		g_test_message("%s", cases[i].finding);
		g_assert_cmpstr(found != NULL ? found->name : NULL, ==, cases[i].rule);
	}
}

/* Every rule is the first that matches some case: none is hidden by an earlier one. */
static void test_no_rule_is_shadowed(void)
{
	g_autoptr(LodeCauseRules) rules = lode_cause_rules_new();

	g_assert_cmpuint(lode_cause_rules_n(rules), >=, 20);
	for (size_t i = 0; i < lode_cause_rules_n(rules); i++) {
		const char *name = lode_cause_rules_at(rules, i)->name;
		bool is_reached = false;
		for (size_t j = 0; j < G_N_ELEMENTS(cases); j++)
			is_reached |= g_strcmp0(cases[j].rule, name) == 0;
		g_test_message("%s", name);
		g_assert_true(is_reached);
	}
}

/* Three lines of a terminal at most, and sentences. */
static void test_texts_are_short(void)
{
	g_autoptr(LodeCauseRules) rules = lode_cause_rules_new();

	for (size_t i = 0; i < lode_cause_rules_n(rules); i++) {
		const LodeCauseRule *one = lode_cause_rules_at(rules, i);
		g_test_message("%s", one->name);
		g_assert_cmpuint(strlen(one->explanation), <=, 280);
		g_assert_cmpuint(strlen(one->remedy), <=, 280);
		g_assert_true(g_str_has_suffix(one->explanation, "."));
		g_assert_true(g_str_has_suffix(one->remedy, "."));
		g_assert_false(g_str_has_suffix(one->source, "."));
		g_assert_true(g_utf8_validate(one->source, -1, NULL));
	}
}

/* What another attribute implies is not shown, but all places have it. Events do not count so. */
static void test_what_places_have_in_common(void)
{
	g_autoptr(LodeCauseRules) rules = lode_cause_rules_new();
	g_autoptr(LodeProfile) profile = lode_profile_new();
	g_autoptr(LodeFindings) findings = finding_of("! user:lookup");
	LodeFinding *finding = lode_findings_at(findings, 0);
	uint32_t attributes[] = {lode_profile_attribute(profile, "op:div"),
		lode_profile_attribute(profile, "kind:load"),
		lode_profile_attribute(profile, "ev:branch-miss")};
	uint32_t common[] = {attributes[1], attributes[2]};
	LodeInstruction instructions[] = {
		{.attribute_set = lode_profile_attribute_set(profile, attributes, 3)},
		{.attribute_set = lode_profile_attribute_set(profile, common, 2)}};

	g_array_append_vals(profile->code.instructions, instructions, 2);
	for (uint32_t i = 0; i < 2; i++) {
		LodeFindingPlace place = {i, 0.1};
		g_array_append_val(findings->places, place);
	}
	g_assert_null(lode_cause_rules_find(rules, profile, findings, finding));
	finding->n_places = 1;
	g_assert_cmpstr(
		lode_cause_rules_find(rules, profile, findings, finding)->name, ==, "division");
	finding->n_places = 2;
	g_assert_cmpstr(lode_cause_rules_find(rules, profile, findings, finding)->name, ==, "load");
	g_assert_null(lode_cause_rules_find(rules, NULL, findings, finding));
}

#define TEXTS "explanation = e\nremedy = r\nsource = s\n"

static void test_bad_files(void)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{"focus = op:div\n", "*group*"},
		{"[a]\nfocus = op:div\nexplanation = x\nremedy = x\n",
			"causes.ini: group 'a': 'source': expected a text"},
		{"[a]\nexplanation = x\nremedy = x\nsource = x\n",
			"causes.ini: group 'a': 'focus': expected a text"},
		{"[a]\nfocus = op:div\nsame-as = b\n", "*'same-as': expected the name of another*"},
		{"[a]\nwithout = op:div\n" TEXTS, "*'focus': expected a text"},
		{"[a]\nfocus = op:div\ncause = division\n" TEXTS, "*'title': expected a text"},
		{"[a]\nfocus = op:div\nmost = 101\n" TEXTS,
			"*'most': expected a number from 0 to 100"},
		{"[a\nfocus = op:div\n" TEXTS, "*"},
		{"\xff[a]\nfocus = op:div\n" TEXTS, "*"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_null(lode_cause_rules_parse(bad[i].text, &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
		g_test_message("%s", error->message);
		g_assert_true(g_pattern_match_simple(bad[i].message, error->message));
	}
}

/* One word more than there are bits for. */
static void test_many_words(void)
{
	for (guint n = LODE_CAUSE_MAX_WORDS; n <= LODE_CAUSE_MAX_WORDS + 1; n++) {
		g_autoptr(GString) text = g_string_new("[a]\n" TEXTS "focus =");
		g_autoptr(GError) error = NULL;
		for (guint i = 0; i < n; i++)
			g_string_append_printf(text, " user:%u", i);
		g_autoptr(LodeCauseRules) rules = lode_cause_rules_parse(text->str, &error);
		g_assert_true((rules != NULL) == (n == LODE_CAUSE_MAX_WORDS));
		if (rules == NULL)
			g_assert_cmpstr(error->message, ==,
				"causes.ini: group 'a': 'user:512': expected fewer words in all "
				"rules");
	}
}

/* The first rule that matches; none where one word is missing, or an unwanted one is there. */
static void test_which_rule(void)
{
	static const struct {
		const char *finding, *rule;
	} findings[] = {
		{"! kind:load mem:pointer", "narrow"},
		{"! kind:load mem:pointer stride:8", "wide"},
		{"! kind:load mem:pointer loop:1", "wide"},
		{"! kind:load mem:pointer > stride:8", "narrow"}, /* not of the focus */
		{"stride:8 > ! kind:load mem:pointer", "narrow"},
		{"! kind:load", "wide"},
		{"! kind:store", NULL},
		{"op:div > ! kind:store", "before"},
		{"op:div loop:1 > ! kind:store", "before"},
		{"op:mov > op:div > op:mov > ! kind:store", "before"},
		{"op:div > ! kind:store spill:store", NULL},
		{"! kind:store > op:div", NULL},
		{"op:div > !", NULL},
	};
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeCauseRules) rules = lode_cause_rules_parse(
		"[narrow]\nfocus = kind:load mem:*\nwithout = stride:*|lines:used loop:*\n" TEXTS
		"[wide]\nfocus = kind:load\n" TEXTS
		"[before]\nbefore = op:div\nfocus = kind:store\nwithout = spill:*\n" TEXTS
		"[never]\nfocus = kind:load mem:pointer\n" TEXTS,
		&error);

	g_assert_no_error(error);
	for (size_t i = 0; i < G_N_ELEMENTS(findings); i++) {
		g_autoptr(LodeFindings) one = finding_of(findings[i].finding);
		const LodeCauseRule *found = lode_cause_rules_find(
			rules, NULL, one, lode_findings_at(one, 0));
		g_test_message("%s", findings[i].finding);
		g_assert_cmpstr(found != NULL ? found->name : NULL, ==, findings[i].rule);
	}
}

static void test_same_as(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeCauseRules) rules = lode_cause_rules_parse(
		"[a]\nfocus = op:div\nexplanation = 1\nremedy = 2\nsource = 3\n"
		"[b]\nafter = op:div\nexplanation = 4\nsame-as = a\n",
		&error);

	g_assert_no_error(error);
	g_assert_cmpstr(lode_cause_rules_at(rules, 1)->explanation, ==, "4");
	g_assert_cmpstr(lode_cause_rules_at(rules, 1)->remedy, ==, "2");
	g_assert_cmpstr(lode_cause_rules_at(rules, 1)->source, ==, "3");
	g_autoptr(LodeFindings) findings = finding_of("op:div > ! op:mov > op:div");
	g_assert_cmpstr(
		lode_cause_rules_find(rules, NULL, findings, lode_findings_at(findings, 0))->name,
		==, "b");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/cause-rules/cases", test_cases);
	g_test_add_func("/cause-rules/no-rule-is-shadowed", test_no_rule_is_shadowed);
	g_test_add_func("/cause-rules/texts-are-short", test_texts_are_short);
	g_test_add_func("/cause-rules/common-to-places", test_what_places_have_in_common);
	g_test_add_func("/cause-rules/bad-files", test_bad_files);
	g_test_add_func("/cause-rules/many-words", test_many_words);
	g_test_add_func("/cause-rules/which-rule", test_which_rule);
	g_test_add_func("/cause-rules/same-as", test_same_as);
	return g_test_run();
}
