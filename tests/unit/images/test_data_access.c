/* SPDX-License-Identifier: MIT */
/* Each rule and each reason on a few bytes of code, assembled by hand; the code lies at CODE in the
 * image and BIAS higher at run time. */
#include "images/data/data_access.h"

#include <string.h>

enum { CODE = 0x1000, BIAS = 0x400000, HEAP = 0x700000, STACK = 0x7fff0000 };
enum { STACK_WORDS = 8 };
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 };

typedef struct {
	const uint8_t *bytes;
	size_t n;
	uint64_t invalid; /* an address that may not be accessed */
	LodeUserRegisters registers;
	uint64_t stack[STACK_WORDS]; /* at STACK, when it is told */
	LodeControlFlow flow;
	LodeBranchTargets targets;
	LodeDataAccessContext context;
	LodeDataAccessQuestion question;
	LodeDataAccess access; /* the last answer */
} Sample;

static const uint8_t *bytes_at(void *data, uint64_t address, size_t *out_n)
{
	const Sample *self = data;

	if (address - CODE >= self->n)
		return NULL;
	*out_n = self->n - (size_t)(address - CODE);
	return self->bytes + (address - CODE);
}

static bool is_valid(void *data, uint64_t address, uint32_t size, uint8_t access)
{
	const Sample *self = data;

	g_assert_cmpuint(size, >, 0);
	g_assert_cmpuint(access, !=, 0);
	return address != self->invalid;
}

/* Registers hold 0x700000 + 0x1000 × their number, rsp 0x7fff0000, no flag is set. */
static void sample_init(Sample *self, const uint8_t *bytes, size_t n)
{
	memset(self, 0, sizeof *self);
	self->bytes = bytes;
	self->n = n;
	for (unsigned i = 0; i < LODE_REGISTER_FLAGS; i++)
		self->registers.values[i] = HEAP + 0x1000 * i;
	self->registers.values[RSP] = STACK;
	self->registers.values[LODE_REGISTER_FLAGS] = 0x202;
	self->registers.known = (1U << LODE_N_REGISTERS) - 1;
	lode_control_flow_init(&self->flow);
	lode_control_flow_build(&self->flow, bytes, n, CODE, NULL);
	lode_branch_targets_init(&self->targets);
	lode_branch_targets_add(&self->targets, bytes, n, CODE);
	lode_branch_targets_sort(&self->targets);
	self->context = (LodeDataAccessContext){bytes_at, is_valid, self};
	self->question = (LodeDataAccessQuestion){.pc = CODE,
		.bias = BIAS,
		.registers = &self->registers,
		.flow = &self->flow,
		.targets = &self->targets,
		.wants_next = true};
}

static void sample_clear(Sample *self)
{
	lode_control_flow_clear(&self->flow);
	lode_branch_targets_clear(&self->targets);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sample, sample_clear)

#define SAMPLE(name, ...)                                                                          \
	static const uint8_t name##_code[] = {__VA_ARGS__};                                        \
	g_auto(Sample) name;                                                                       \
	sample_init(&name, name##_code, sizeof name##_code)

static void find(Sample *self, uint64_t offset)
{
	self->question.pc = CODE + offset;
	lode_data_access_find(&self->context, &self->question, &self->access);
}

static void find_waited(Sample *self, uint64_t offset)
{
	self->question.wants_next = false;
	find(self, offset);
	self->question.wants_next = true;
}

static void find_forward(Sample *self, uint64_t offset)
{
	self->question.pc = CODE + offset;
	lode_data_access_apply(&self->context, &self->question, LODE_RULE_FORWARD, &self->access);
}

static void find_back(Sample *self, uint64_t offset)
{
	self->question.pc = CODE + offset;
	lode_data_access_apply(&self->context, &self->question, LODE_RULE_BACKWARD, &self->access);
}

static void tell_stack(Sample *self, unsigned n_words)
{
	self->question.stack = (const uint8_t *)self->stack;
	self->question.stack_size = n_words * sizeof(uint64_t);
}

static void assert_found(
	const Sample *self, LodeAddressRule rule, uint64_t offset, uint64_t address)
{
	g_assert_cmpstr(lode_address_reason_to_text(self->access.reason), ==, "none");
	g_assert_cmpuint(self->access.rule, ==, rule);
	g_assert_cmphex(self->access.pc, ==, CODE + offset);
	g_assert_cmphex(self->access.operands[0].address, ==, address);
}

static void assert_reason(const Sample *self, LodeAddressReason reason)
{
	g_assert_cmpstr(lode_address_reason_to_text(self->access.reason), ==,
		lode_address_reason_to_text(reason));
	g_assert_cmpuint(self->access.rule, ==, LODE_RULE_NONE);
	g_assert_cmpuint(self->access.n_operands, ==, 0);
}

static void test_operands(void)
{
	SAMPLE(indexed, 0x8b, 0x44, 0x8b, 0x10);        /* mov eax, [rbx+rcx*4+16] */
	SAMPLE(store, 0x66, 0x89, 0x45, 0xf8);          /* mov [rbp-8], ax */
	SAMPLE(update, 0x48, 0x01, 0x07);               /* add [rdi], rax */
	SAMPLE(image, 0x48, 0x8b, 0x05, 0x10, 0, 0, 0); /* mov rax, [rip+16] */
	SAMPLE(narrow, 0x67, 0x8b, 0x43, 0xff);         /* mov eax, [ebx-1] */
	SAMPLE(vector, 0xc5, 0xfd, 0x6f, 0x06);         /* vmovdqa ymm0, [rsi] */

	find(&indexed, 0);
	assert_found(&indexed, LODE_RULE_AT_PC, 0, 0x703000 + 4 * 0x701000 + 16);
	g_assert_cmpuint(indexed.access.operands[0].size, ==, 4);
	g_assert_cmpuint(indexed.access.operands[0].access, ==, LODE_ACCESS_LOAD);
	g_assert_cmpuint(indexed.access.operands[0].operand, ==, 1);
	find(&store, 0);
	assert_found(&store, LODE_RULE_AT_PC, 0, 0x704ff8);
	g_assert_cmpuint(store.access.operands[0].size, ==, 2);
	g_assert_cmpuint(store.access.operands[0].access, ==, LODE_ACCESS_STORE);
	g_assert_cmpuint(store.access.operands[0].operand, ==, 0);
	find(&update, 0);
	g_assert_cmpuint(
		update.access.operands[0].access, ==, LODE_ACCESS_LOAD | LODE_ACCESS_STORE);
	find(&image, 0);
	assert_found(&image, LODE_RULE_AT_PC, 0, CODE + 7 + 16 + BIAS);
	narrow.registers.values[RBX] = 0x500000000;
	find(&narrow, 0);
	assert_found(&narrow, LODE_RULE_AT_PC, 0, 0xffffffff);
	find(&vector, 0);
	assert_found(&vector, LODE_RULE_AT_PC, 0, 0x706000);
	g_assert_cmpuint(vector.access.operands[0].size, ==, 32);
}

/* What the operand alone does not say. */
static void test_peculiar_operands(void)
{
	SAMPLE(pop, 0x8f, 0x44, 0x24, 0x08);     /* pop [rsp+8]: with rsp after it */
	SAMPLE(push, 0xff, 0x74, 0x24, 0x08);    /* push [rsp+8]: with rsp before it */
	SAMPLE(bits, 0x48, 0x0f, 0xa3, 0x07);    /* bt [rdi], rax */
	SAMPLE(table, 0xd7);                     /* xlat */
	SAMPLE(masked, 0x66, 0x0f, 0xf7, 0xc1);  /* maskmovdqu xmm0, xmm1 */
	SAMPLE(through, 0xff, 0x25, 8, 0, 0, 0); /* jmp [rip+8], as in a PLT */

	find(&pop, 0);
	assert_found(&pop, LODE_RULE_AT_PC, 0, STACK + 16);
	g_assert_cmpuint(pop.access.operands[0].access, ==, LODE_ACCESS_STORE);
	find(&push, 0);
	assert_found(&push, LODE_RULE_AT_PC, 0, STACK + 8);
	bits.registers.values[RAX] = (uint64_t)-1;
	find(&bits, 0);
	assert_found(&bits, LODE_RULE_AT_PC, 0, 0x707000 - 8);
	bits.registers.values[RAX] = 129;
	find(&bits, 0);
	assert_found(&bits, LODE_RULE_AT_PC, 0, 0x707000 + 16);
	table.registers.values[RAX] = 0x1234;
	find(&table, 0);
	assert_found(&table, LODE_RULE_AT_PC, 0, 0x703034);
	find(&masked, 0);
	assert_found(&masked, LODE_RULE_AT_PC, 0, 0x707000);
	find(&through, 0);
	assert_found(&through, LODE_RULE_AT_PC, 0, CODE + 6 + 8 + BIAS);
}

static void test_strings(void)
{
	SAMPLE(copy, 0xf3, 0x48, 0xa5, 0x8b, 0x07); /* rep movsq; mov eax, [rdi] */
	SAMPLE(fill, 0xaa, 0x90);                   /* stosb; nop */

	find(&copy, 0);
	assert_found(&copy, LODE_RULE_AT_PC, 0, 0x707000);
	g_assert_cmpuint(copy.access.n_operands, ==, 2);
	g_assert_cmpuint(copy.access.operands[0].access, ==, LODE_ACCESS_STORE);
	g_assert_cmphex(copy.access.operands[1].address, ==, 0x706000);
	g_assert_cmpuint(copy.access.operands[1].access, ==, LODE_ACCESS_LOAD);
	g_assert_cmpuint(copy.access.operands[1].size, ==, 8);
	copy.invalid = 0x706000; /* one of two will not do */
	find(&copy, 0);
	assert_reason(&copy, LODE_REASON_INVALID_ADDRESS);
	copy.registers.values[RCX] = 0; /* accesses nothing: the next one does */
	find(&copy, 0);
	assert_found(&copy, LODE_RULE_FORWARD, 3, 0x707000);
	copy.registers.known &= ~(1U << RCX);
	find(&copy, 0);
	assert_reason(&copy, LODE_REASON_CLOBBERED);
	copy.registers.known |= 1U << RCX;
	find_back(&copy, 3); /* by how much rsi and rdi have gone on is not known */
	assert_reason(&copy, LODE_REASON_CLOBBERED);
	find_back(&fill, 1);
	assert_found(&fill, LODE_RULE_BACKWARD, 0, 0x706fff);
	fill.registers.values[LODE_REGISTER_FLAGS] |= 0x400;
	find_back(&fill, 1);
	assert_found(&fill, LODE_RULE_BACKWARD, 0, 0x707001);
}

/* A repeated string instruction under way has moved registers that the one before it used. */
static void test_repeated_under_way(void)
{
	SAMPLE(copy, 0x8b, 0x07, 0xf3, 0xa4); /* mov eax, [rdi]; rep movsb */

	copy.question.is_trigger_before = true;
	find_back(&copy, 2);
	assert_reason(&copy, LODE_REASON_BRANCH_TARGET);
	find(&copy, 2);
	assert_found(&copy, LODE_RULE_AT_PC, 2, 0x707000);
}

static void test_named_but_not_accessed(void)
{
	SAMPLE(lea, 0x48, 0x8d, 0x03, 0x8b, 0x00);         /* lea rax, [rbx]; mov eax, [rax] */
	SAMPLE(nop, 0x0f, 0x1f, 0x40, 0x00, 0x8b, 0x03);   /* nop [rax]; mov eax, [rbx] */
	SAMPLE(fetch, 0x0f, 0x18, 0x08, 0x8b, 0x03);       /* prefetcht0 [rax]; … */
	SAMPLE(stack, 0x50, 0x59, 0x5a, 0x8b, 0x04, 0x24); /* push rax; pop rcx; pop rdx;
	                                                      mov eax, [rsp] */

	find(&lea, 0);
	assert_found(&lea, LODE_RULE_FORWARD, 3, 0x703000);
	find(&nop, 0);
	assert_found(&nop, LODE_RULE_FORWARD, 4, 0x703000);
	find(&fetch, 0);
	assert_found(&fetch, LODE_RULE_FORWARD, 3, 0x703000);
	find(&stack, 0);
	assert_found(&stack, LODE_RULE_FORWARD, 3, STACK + 8);
	find_back(&nop, 4);
	assert_reason(&nop, LODE_REASON_BRANCH_TARGET); /* the beginning of the function */
}

static void test_forward_branches(void)
{
	SAMPLE(taken, 0x75, 0x02,             /* 0 jne 4 */
		0x8b, 0x03,                   /* 2 mov eax, [rbx] */
		0x8b, 0x07,                   /* 4 mov eax, [rdi] */
		0xe8, 0x01, 0, 0, 0,          /* 6 call c */
		0xc3,                         /* b ret */
		0x83, 0xf9, 0x05, 0x74, 0x03, /* c cmp ecx, 5; je 14 */
		0x8b, 0x04, 0x24,             /* 11 mov eax, [rsp] */
		0xff, 0xe0);                  /* 14 jmp rax */

	find(&taken, 0);
	assert_found(&taken, LODE_RULE_FORWARD, 4, 0x707000);
	taken.registers.values[LODE_REGISTER_FLAGS] |= 0x40;
	find(&taken, 0);
	assert_found(&taken, LODE_RULE_FORWARD, 2, 0x703000);
	taken.registers.known &= ~(1U << LODE_REGISTER_FLAGS);
	find(&taken, 0);
	assert_reason(&taken, LODE_REASON_CLOBBERED);
	find_forward(&taken, 6); /* into the call, and the flags are those of cmp */
	assert_found(&taken, LODE_RULE_FORWARD, 0x11, STACK - 8);
	taken.registers.values[RCX] = 5;
	lode_data_access_apply(&taken.context, &taken.question, LODE_RULE_FORWARD, &taken.access);
	assert_reason(&taken, LODE_REASON_BLOCKED);
	find(&taken, 0xb); /* ret; and the call is in the way back */
	assert_reason(&taken, LODE_REASON_BLOCKED);
}

/* The carry of a sum that wraps round to where it began. */
static void test_forward_carry(void)
{
	SAMPLE(adc, 0xf9, 0x48, 0x83, 0xd0, 0xff, /* 0 stc; 1 adc rax, -1 */
		0x72, 0x02, 0x8b, 0x03,           /* 5 jc 9; 7 mov eax, [rbx] */
		0x8b, 0x07);                      /* 9 mov eax, [rdi] */
	SAMPLE(sbb, 0xf9, 0x48, 0x19, 0xc0,       /* 0 stc; 1 sbb rax, rax */
		0x72, 0x02, 0x8b, 0x03,           /* 4 jc 8; 6 mov eax, [rbx] */
		0x8b, 0x07);                      /* 8 mov eax, [rdi] */

	find(&adc, 0);
	assert_found(&adc, LODE_RULE_FORWARD, 9, 0x707000);
	find(&sbb, 0);
	assert_found(&sbb, LODE_RULE_FORWARD, 8, 0x707000);
}

static void test_forward_unknown(void)
{
	SAMPLE(popped, 0x58, 0x8b, 0x00);                   /* pop rax; mov eax, [rax] */
	SAMPLE(time, 0x0f, 0x31, 0x8b, 0x00);               /* rdtsc; mov eax, [rax] */
	SAMPLE(zeroed, 0x58, 0x31, 0xc0, 0x8b, 0x04, 0x83); /* pop rax; xor eax, eax;
	                                                       mov eax, [rbx+rax*4] */
	SAMPLE(system, 0x0f, 0x05, 0x8b, 0x00);             /* syscall; … */
	SAMPLE(endless, 0xeb, 0xfe);                        /* jmp itself */
	SAMPLE(outside, 0xe9, 0, 0, 0, 0x10);               /* jmp far away */

	find(&popped, 0);
	assert_reason(&popped, LODE_REASON_CLOBBERED);
	find(&time, 0);
	assert_reason(&time, LODE_REASON_CLOBBERED);
	find(&zeroed, 0);
	assert_found(&zeroed, LODE_RULE_FORWARD, 3, 0x703000);
	find(&system, 0);
	assert_reason(&system, LODE_REASON_BLOCKED);
	find(&endless, 0);
	assert_reason(&endless, LODE_REASON_NO_ACCESS_IN_RANGE);
	find(&outside, 0);
	assert_reason(&outside, LODE_REASON_NO_DECODE);
}

static void test_stack_popped(void)
{
	SAMPLE(popped, 0x59, 0x58, 0x8b, 0x00);      /* 0 pop rcx; 1 pop rax; 2 mov eax, [rax] */
	SAMPLE(short_one, 0x66, 0x58, 0x8b, 0x00);   /* pop ax; mov eax, [rax] */
	SAMPLE(left, 0xc9, 0x8b, 0x45, 0x08);        /* leave; mov eax, [rbp+8] */
	SAMPLE(moved, 0x5c, 0x8b, 0x44, 0x24, 0x08); /* pop rsp; mov eax, [rsp+8] */
	SAMPLE(flags, 0x9d, 0x74, 0x02, 0x8b, 0x03, 0x8b, 0x07); /* popfq; je 5; … [rbx]; [rdi] */

	popped.stack[1] = 0x123456789a;
	tell_stack(&popped, 2);
	find(&popped, 0);
	assert_found(&popped, LODE_RULE_FORWARD, 2, 0x123456789a);
	tell_stack(&popped, 1);
	find(&popped, 0);
	assert_reason(&popped, LODE_REASON_CLOBBERED);
	popped.question.stack_size = 15; /* all but a byte of it */
	find(&popped, 0);
	assert_reason(&popped, LODE_REASON_CLOBBERED);
	tell_stack(&popped, 2);
	popped.registers.known &= ~(1U << RSP); /* then nobody knows where it was */
	find(&popped, 0);
	assert_reason(&popped, LODE_REASON_CLOBBERED);
	short_one.stack[0] = 0xffff1234;
	tell_stack(&short_one, 1);
	find(&short_one, 0);
	assert_found(&short_one, LODE_RULE_FORWARD, 2, HEAP + 0x1234);
	left.registers.values[RBP] = STACK + 16;
	left.stack[2] = 0x9000;
	tell_stack(&left, STACK_WORDS);
	find(&left, 0);
	assert_found(&left, LODE_RULE_FORWARD, 1, 0x9008);
	moved.stack[0] = 0x9100;
	tell_stack(&moved, 1);
	find(&moved, 0);
	assert_found(&moved, LODE_RULE_FORWARD, 1, 0x9108);
	flags.stack[0] = 0x40;
	tell_stack(&flags, 1);
	find(&flags, 0);
	assert_found(&flags, LODE_RULE_FORWARD, 5, 0x707000);
	flags.stack[0] = 0;
	find(&flags, 0);
	assert_found(&flags, LODE_RULE_FORWARD, 3, 0x703000);
}

/* Below the dump and over it. */
static void test_stack_pushed(void)
{
	SAMPLE(below, 0x57, 0x6a, 0xff, 0x59, 0x58, /* 0 push rdi; push -1; pop rcx; pop rax */
		0x8b, 0x04, 0x08);                  /* 5 mov eax, [rax+rcx] */
	SAMPLE(over, 0x59, 0x57, 0x58, 0x8b, 0x00); /* pop rcx; push rdi; pop rax; … [rax] */
	SAMPLE(partly, 0x5a, 0x66, 0x57, 0x48, 0x83, 0xec, 0x06, /* pop rdx; push di; sub rsp, 6 */
		0x58, 0x8b, 0x00);                               /* 7 pop rax; mov eax, [rax] */
	SAMPLE(unknown, 0x59, 0x9c, 0x58, 0x8b, 0x00); /* pop rcx; pushfq; pop rax; … [rax] */

	tell_stack(&below, 1);
	find(&below, 0);
	assert_found(&below, LODE_RULE_FORWARD, 5, 0x706fff);
	below.question.stack = NULL;
	find(&below, 0);
	assert_found(&below, LODE_RULE_FORWARD, 5, 0x706fff);
	over.stack[0] = 0x9000;
	tell_stack(&over, 1);
	find(&over, 0);
	assert_found(&over, LODE_RULE_FORWARD, 3, 0x707000);
	partly.stack[0] = 0x0000111122223333;
	tell_stack(&partly, 1);
	find(&partly, 0);
	assert_found(&partly, LODE_RULE_FORWARD, 8, 0x7000111122223333);
	unknown.stack[0] = 0x9000;
	tell_stack(&unknown, 1);
	find(&unknown, 0);
	assert_reason(&unknown, LODE_REASON_CLOBBERED);
}

/* What is written where nobody knows may lie anywhere. */
static void test_stack_forgotten(void)
{
	SAMPLE(pushed, 0x0f, 0x31, 0x48, 0x89, 0xc4, /* 0 rdtsc; mov rsp, rax */
		0x51, 0xc9, 0x58, 0x8b, 0x00); /* 5 push rcx; leave; pop rax; mov eax, [rax] */
	SAMPLE(zeroed, 0x0f, 0x01, 0xfc, 0x58, 0x8b, 0x00); /* clzero; pop rax; … [rax] */

	pushed.registers.values[RBP] = STACK;
	pushed.stack[1] = 0x9000;
	tell_stack(&pushed, 2);
	find(&pushed, 0);
	assert_reason(&pushed, LODE_REASON_CLOBBERED);
	find(&pushed, 6);
	assert_found(&pushed, LODE_RULE_FORWARD, 8, 0x9000);
	zeroed.stack[0] = 0x9000;
	tell_stack(&zeroed, 1);
	find(&zeroed, 0);
	assert_reason(&zeroed, LODE_REASON_CLOBBERED);
	find(&zeroed, 3);
	assert_found(&zeroed, LODE_RULE_FORWARD, 4, 0x9000);
}

static void test_stack_returns(void)
{
	SAMPLE(plain, 0xc3, 0x8b, 0x07, 0x8b, 0x04, 0x24);    /* ret; 1 … [rdi]; 3 … [rsp] */
	SAMPLE(dropping, 0xc2, 0x10, 0x00, 0x8b, 0x04, 0x24); /* ret 16; 3 mov eax, [rsp] */
	SAMPLE(called, 0xe8, 0x04, 0, 0, 0,                   /* 0 call 9 */
		0x8b, 0x07, 0x90, 0x90,                       /* 5 mov eax, [rdi] */
		0xc3);                                        /* 9 ret */
	SAMPLE(through, 0xff, 0xd0, 0x8b, 0x07,               /* 0 call rax; 2 mov eax, [rdi] */
		0x58, 0x8b, 0x40, 0x08);                      /* 4 pop rax; 5 mov eax, [rax+8] */

	find(&plain, 0);
	assert_reason(&plain, LODE_REASON_BLOCKED);
	plain.stack[0] = CODE + BIAS + 3;
	tell_stack(&plain, 1);
	find(&plain, 0);
	assert_found(&plain, LODE_RULE_FORWARD, 3, STACK + 8);
	plain.stack[0] = CODE + BIAS + 6; /* another image's, or nobody's */
	find(&plain, 0);
	assert_reason(&plain, LODE_REASON_BLOCKED);
	dropping.stack[0] = CODE + BIAS + 3;
	tell_stack(&dropping, 1);
	find(&dropping, 0);
	assert_found(&dropping, LODE_RULE_FORWARD, 3, STACK + 24);
	find(&called, 0);
	assert_found(&called, LODE_RULE_FORWARD, 5, 0x707000);
	lode_data_access_apply(
		&through.context, &through.question, LODE_RULE_FORWARD, &through.access);
	assert_reason(&through, LODE_REASON_BLOCKED);
	through.registers.values[RAX] = CODE + BIAS + 4;
	find(&through, 0);
	assert_found(&through, LODE_RULE_FORWARD, 5, CODE + BIAS + 2 + 8);
}

static void test_reasons(void)
{
	SAMPLE(thread, 0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0); /* mov rax, fs:[40] */
	SAMPLE(gather, 0x62, 0xf2, 0x7d, 0x49, 0x92, 0x04, 0x08);    /* vgatherdps */
	SAMPLE(plain, 0x8b, 0x03);                                   /* mov eax, [rbx] */
	SAMPLE(broken, 0x06);                                        /* no instruction */

	find(&thread, 0);
	assert_reason(&thread, LODE_REASON_TLS);
	thread.registers.fs_base = 0x7000;
	thread.registers.has_fs_base = true;
	find(&thread, 0);
	assert_found(&thread, LODE_RULE_AT_PC, 0, 0x7028);
	find(&gather, 0);
	assert_reason(&gather, LODE_REASON_VECTOR_INDEX);
	plain.invalid = 0x703000;
	find(&plain, 0);
	assert_reason(&plain, LODE_REASON_INVALID_ADDRESS);
	plain.registers.values[RBX] = UINT64_MAX - 1; /* past the end of all */
	find(&plain, 0);
	assert_reason(&plain, LODE_REASON_INVALID_ADDRESS);
	plain.question.registers = NULL;
	find(&plain, 0);
	assert_reason(&plain, LODE_REASON_NO_REGISTERS);
	find(&broken, 0);
	assert_reason(&broken, LODE_REASON_NO_DECODE);
}

static void test_backward_inverts(void)
{
	SAMPLE(walk, 0x8b, 0x07,               /* 0 mov eax, [rdi] */
		0x48, 0x83, 0xc7, 0x08,        /* 2 add rdi, 8 */
		0x48, 0xff, 0xc7,              /* 6 inc rdi */
		0x48, 0x29, 0xf7,              /* 9 sub rdi, rsi */
		0x48, 0x8d, 0x7c, 0x77, 0x10,  /* c lea rdi, [rdi+rsi*2+16] */
		0x57, 0x5f);                   /* 11 push rdi; pop rdi: that is lost */
	SAMPLE(stack, 0x8b, 0x44, 0x24, 0x08,  /* 0 mov eax, [rsp+8] */
		0x53, 0x59, 0x59,              /* 4 push rbx; pop rcx; pop rcx */
		0x48, 0x83, 0xec, 0x20, 0x90); /* 7 sub rsp, 32; b nop */
	SAMPLE(copied, 0x8b, 0x07,             /* 0 mov eax, [rdi] */
		0x48, 0x89, 0xfa,              /* 2 mov rdx, rdi */
		0x31, 0xff, 0x90);             /* 5 xor edi, edi; 7 nop */

	find_back(&walk, 0x11);
	assert_found(&walk, LODE_RULE_BACKWARD, 0, 0x707000 - 16 - 2 * 0x706000 + 0x706000 - 1 - 8);
	g_assert_false(walk.access.is_unverified);
	find_back(&walk, 0x12);
	assert_found(&walk, LODE_RULE_BACKWARD, 0, 0x707000 - 16 - 2 * 0x706000 + 0x706000 - 1 - 8);
	find_back(&stack, 0xb);
	assert_found(&stack, LODE_RULE_BACKWARD, 0, STACK + 32 - 8 + 8);
	find_back(&copied, 7);
	assert_found(&copied, LODE_RULE_BACKWARD, 0, 0x702000);
}

static void test_backward_refuses(void)
{
	SAMPLE(itself, 0x48, 0x8b, 0x00, 0x90);             /* mov rax, [rax]; nop */
	SAMPLE(narrow, 0x8b, 0x07, 0x83, 0xc7, 0x08, 0x90); /* …[rdi]; add edi, 8; nop */
	SAMPLE(called, 0x8b, 0x07, 0xe8, 0x02, 0, 0, 0, 0x90, 0xc3, 0xc3);
	SAMPLE(joined, 0x8b, 0x07, 0x90, 0x90, 0x75, 0xfd, 0xc3); /* 4 jne 3 */
	SAMPLE(system, 0x8b, 0x07, 0x0f, 0x05, 0x90);             /* …; syscall; nop */
	SAMPLE(multiplied, 0x8b, 0x02, 0xf7, 0xe1, 0x90);         /* mov eax, [rdx]; mul ecx */

	find_back(&itself, 3);
	assert_reason(&itself, LODE_REASON_CLOBBERED);
	find_back(&narrow, 5);
	assert_reason(&narrow, LODE_REASON_CLOBBERED);
	find_back(&called, 7);
	assert_reason(&called, LODE_REASON_BLOCKED);
	find_back(&joined, 3);
	assert_reason(&joined, LODE_REASON_BRANCH_TARGET);
	find_back(&joined, 2); /* not in between */
	assert_found(&joined, LODE_RULE_BACKWARD, 0, 0x707000);
	find_back(&system, 4);
	assert_reason(&system, LODE_REASON_BLOCKED);
	find_back(&multiplied, 4);
	assert_reason(&multiplied, LODE_REASON_CLOBBERED);
	find_back(&multiplied, 1); /* inside an instruction */
	assert_reason(&multiplied, LODE_REASON_NO_DECODE);
}

/* Out of a block upwards: where only one way leads in, and only if all targets are known. */
static void test_backward_through_blocks(void)
{
	SAMPLE(fallen, 0x8b, 0x07, 0x74, 0x01, 0x90, 0xc3); /* mov; je 5; 4 nop; 5 ret */
	SAMPLE(jumped, 0x8b, 0x07, 0xeb, 0x02, 0xc3, 0xc3, 0x90, 0xc3); /* mov; jmp 6 */
	SAMPLE(table, 0x8b, 0x07, 0x90, 0xff, 0xe0);                    /* mov; nop; jmp rax */
	/* as if from another function: a call into the middle */
	SAMPLE(shared, 0x8b, 0x07, 0x90, 0xc3, 0xe8, 0xf9, 0xff, 0xff, 0xff, 0xc3);

	find_back(&fallen, 4);
	assert_found(&fallen, LODE_RULE_BACKWARD, 0, 0x707000);
	find_back(&fallen, 5);
	assert_reason(&fallen, LODE_REASON_BRANCH_TARGET);
	fallen.question.targets = NULL;
	find_back(&fallen, 4);
	assert_reason(&fallen, LODE_REASON_BRANCH_TARGET);
	find_back(&fallen, 2);
	assert_found(&fallen, LODE_RULE_BACKWARD, 0, 0x707000);
	g_assert_true(fallen.access.is_unverified);
	find_back(&jumped, 6);
	assert_found(&jumped, LODE_RULE_BACKWARD, 0, 0x707000);
	find_back(&table, 2);
	assert_reason(&table, LODE_REASON_BRANCH_TARGET);
	table.targets.has_tables = true;
	find_back(&table, 2);
	assert_found(&table, LODE_RULE_BACKWARD, 0, 0x707000);
	g_assert_true(table.access.is_unverified);
	find_back(&shared, 2);
	assert_reason(&shared, LODE_REASON_BRANCH_TARGET);
}

static void test_order(void)
{
	SAMPLE(two, 0x8b, 0x07, 0x90, 0x8b, 0x03); /* mov eax, [rdi]; 2 nop; 3 mov eax, [rbx] */
	SAMPLE(worse, 0x64, 0x8b, 0x07, 0xc3);     /* mov eax, fs:[rdi]; 3 ret */

	find(&two, 2);
	assert_found(&two, LODE_RULE_FORWARD, 3, 0x703000);
	find(&two, 3);
	assert_found(&two, LODE_RULE_AT_PC, 3, 0x703000);
	two.question.is_trigger_before = true;
	find(&two, 3);
	assert_found(&two, LODE_RULE_BACKWARD, 0, 0x707000);
	find(&two, 0); /* backward gives nothing */
	assert_found(&two, LODE_RULE_AT_PC, 0, 0x707000);
	find_waited(&two, 0); /* never the address of a later access */
	assert_reason(&two, LODE_REASON_BRANCH_TARGET);
	find(&worse, 3); /* forward: blocked, met no access; backward met one */
	assert_reason(&worse, LODE_REASON_TLS);
}

static void assert_waiting(const Sample *self, uint64_t offset)
{
	assert_reason(self, LODE_REASON_CLOBBERED);
	g_assert_cmphex(self->access.waiting_pc, ==, CODE + offset);
}

/* Which access a timer waited for. */
static void test_waiting(void)
{
	SAMPLE(chase, 0x48, 0x8b, 0x07, /* mov rax, [rdi] */
		0x48, 0x8b, 0x3f,       /* 3 mov rdi, [rdi] */
		0x3b, 0x03,             /* 6 cmp eax, [rbx] */
		0x74, 0xf6,             /* 8 je 0 */
		0x8b, 0x06,             /* a mov eax, [rsi] */
		0x90,                   /* c nop */
		0x83, 0x3b, 0x05,       /* d cmp dword [rbx], 5 */
		0x74, 0xed,             /* 10 je ff */
		0xe8, 0, 0, 0, 0,       /* 12 call 17 */
		0xf3, 0xa4);            /* 17 rep movsb */

	find_waited(&chase, 3);
	assert_found(&chase, LODE_RULE_BACKWARD, 0, 0x707000);
	find_waited(&chase, 6);
	assert_waiting(&chase, 3);
	g_assert_cmpuint(chase.access.waiting_operand, ==, 1);
	find_waited(&chase, 0xa); /* the jump that follows the comparison is one with it */
	assert_found(&chase, LODE_RULE_BACKWARD, 6, 0x703000);
	find_waited(&chase, 0xd);
	assert_reason(&chase, LODE_REASON_NOT_MEMORY);
	g_assert_cmphex(chase.access.waiting_pc, ==, 0);
	find_waited(&chase, 0x10);
	assert_found(&chase, LODE_RULE_BACKWARD, 0xd, 0x703000);
	find_waited(&chase, 0x12); /* an immediate operand keeps them apart */
	assert_reason(&chase, LODE_REASON_NOT_MEMORY);
	find_waited(&chase, 0x17); /* interrupted between its rounds */
	assert_found(&chase, LODE_RULE_AT_PC, 0x17, 0x707000);
	chase.registers.values[RCX] = 0;
	find_waited(&chase, 0x17); /* the return */
	assert_reason(&chase, LODE_REASON_NOT_MEMORY);
	chase.question.is_exact = true;
	find_waited(&chase, 6);
	assert_found(&chase, LODE_RULE_AT_PC, 6, 0x703000);
	find_waited(&chase, 8);
	assert_reason(&chase, LODE_REASON_NOT_MEMORY);
}

/* Registers that are overwritten are computed again from others. */
static void test_recomputed(void)
{
	SAMPLE(index, 0x89, 0xc8,                      /* mov eax, ecx */
		0x25, 0xff, 0x0f, 0, 0,                /* 2 and eax, 0xfff */
		0x90,                                  /* 7 */
		0x8b, 0x04, 0x83,                      /* 8 mov eax, [rbx+rax*4] */
		0x90);                                 /* b */
	SAMPLE(times, 0x48, 0x8d, 0x14, 0xc7,          /* lea rdx, [rdi+rax*8] */
		0x48, 0x8d, 0x44, 0x80, 0x01,          /* 4 lea rax, [rax+rax*4+1] */
		0x48, 0x8b, 0x12,                      /* 9 mov rdx, [rdx] */
		0x90);                                 /* c */
	SAMPLE(slot, 0x48, 0x8b, 0x44, 0x24, 0x08,     /* mov rax, [rsp+8] */
		0x48, 0x89, 0x54, 0x24, 0x10,          /* 5 mov [rsp+10], rdx */
		0x8b, 0x00,                            /* a mov eax, [rax] */
		0x90);                                 /* c */
	SAMPLE(written, 0x48, 0x8b, 0x44, 0x24, 0x08,  /* mov rax, [rsp+8] */
		0x48, 0x89, 0x54, 0x24, 0x08,          /* 5 mov [rsp+8], rdx */
		0x8b, 0x00,                            /* a mov eax, [rax] */
		0x90);                                 /* c */
	SAMPLE(anywhere, 0x48, 0x8b, 0x44, 0x24, 0x08, /* mov rax, [rsp+8] */
		0x48, 0x89, 0x10,                      /* 5 mov [rax], rdx */
		0x8b, 0x40, 0x08,                      /* 8 mov eax, [rax+8] */
		0x90);                                 /* b */

	index.registers.values[RCX] = 0x701004;
	times.registers.values[RAX] = 0x701 * 5 + 1;
	find_waited(&times, 0xc);
	assert_found(&times, LODE_RULE_RECOMPUTED, 9, 0x707000 + 8 * 0x701);
	find_waited(&index, 0xb);
	assert_found(&index, LODE_RULE_RECOMPUTED, 8, 0x703010);
	find_waited(&slot, 0xc);
	assert_waiting(&slot, 0xa);
	slot.stack[1] = written.stack[1] = anywhere.stack[1] = 0x70a000;
	tell_stack(&slot, STACK_WORDS);
	find_waited(&slot, 0xc);
	assert_found(&slot, LODE_RULE_RECOMPUTED, 0xa, 0x70a000);
	tell_stack(&written, STACK_WORDS);
	find_waited(&written, 0xc);
	assert_waiting(&written, 0xa);
	tell_stack(&anywhere, STACK_WORDS);
	find_waited(&anywhere, 0xb);
	assert_waiting(&anywhere, 8);
}

static unsigned list_ways(Sample *self, LodeDataWay *ways)
{
	LodeDataAccessQuestion question = self->question;

	question.wants_next = false;
	return lode_data_access_ways(&self->context, &question, ways);
}

/* Where ways meet, the sample contradicts those that the thread did not take. */
static void test_ways(void)
{
	LodeDataWay ways[LODE_MAX_DATA_WAYS];
	SAMPLE(join, 0x85, 0xc9, /* test ecx, ecx */
		0x74, 0x02,      /* 2 je 6 */
		0x8b, 0x03,      /* 4 mov eax, [rbx] */
		0x90,            /* 6 */
		0x3b, 0x0e,      /* 7 cmp ecx, [rsi] */
		0x75, 0xfb,      /* 9 jne 6 */
		0x90);           /* b */
	SAMPLE(left, 0x85, 0xc9, /* test ecx, ecx */
		0x74, 0x04,      /* 2 je 8 */
		0x8b, 0x03,      /* 4 mov eax, [rbx] */
		0xeb, 0x04,      /* 6 jmp c */
		0x90, 0x90,      /* 8 */
		0x8b, 0x06,      /* a mov eax, [rsi] */
		0x90);           /* c */

	/* ZF is set: neither the load nor the jne */
	join.registers.values[LODE_REGISTER_FLAGS] |= 0x44;
	join.registers.values[RCX] = 0;
	find_waited(&join, 6);
	assert_reason(&join, LODE_REASON_NOT_MEMORY);
	/* not set: not the je; the load leaves the flags as they were, so that it may be either */
	join.registers.values[LODE_REGISTER_FLAGS] = 0x206;
	join.registers.values[RCX] = 0x33;
	find_waited(&join, 6);
	assert_reason(&join, LODE_REASON_AMBIGUOUS);
	g_assert_cmpuint(list_ways(&join, ways), ==, 2);
	g_assert_cmphex(ways[0].source, ==, CODE + 4);
	g_assert_cmphex(ways[0].access.operands[0].address, ==, 0x703000);
	g_assert_cmphex(ways[1].source, ==, CODE + 9);
	g_assert_cmphex(ways[1].access.operands[0].address, ==, 0x706000);
	/* of other parity than rcx: no test of it ran before the load */
	join.registers.values[LODE_REGISTER_FLAGS] = 0x202;
	find_waited(&join, 6);
	assert_found(&join, LODE_RULE_BACKWARD, 7, 0x706000);
	/* the jump takes no time: had it waited for its load, the sample would lie on it */
	find_waited(&left, 0xc); /* here, as ecx was not 0 */
	assert_reason(&left, LODE_REASON_NOT_MEMORY);
	left.registers.values[LODE_REGISTER_FLAGS] |= 0x44;
	left.registers.values[RCX] = 0;
	find_waited(&left, 0xc);
	assert_found(&left, LODE_RULE_BACKWARD, 0xa, 0x706000);
	find_waited(&left, 6);
	assert_found(&left, LODE_RULE_BACKWARD, 4, 0x703000);
}

/* The stack tells who called. */
static void test_callers(void)
{
	LodeDataWay ways[LODE_MAX_DATA_WAYS];
	SAMPLE(direct, 0x90);
	SAMPLE(called, 0x90, 0xff, 0x50, 0x10, /* nop; 1 call [rax+10] */
		0xe8, 0xf7, 0xff, 0xff, 0xff,  /* 4 call 0 */
		0xff, 0xd1,                    /* 9 call rcx */
		0x90);                         /* b */

	SAMPLE(entry, 0xeb, 0x02,              /* jmp 4 */
		0x90, 0x90,                    /* 2 */
		0xf3, 0x0f, 0x1e, 0xfa,        /* 4 endbr64 */
		0x90);                         /* 8 */
	SAMPLE(jumped, 0x90, 0xff, 0x50, 0x10, /* nop; 1 call [rax+10] */
		0x90,                          /* 4 */
		0xff, 0x63, 0x08);             /* 5 jmp [rbx+8] */

	find_waited(&direct, 0);
	assert_reason(&direct, LODE_REASON_BLOCKED);
	/* by the jump, or by a call of another image */
	tell_stack(&entry, STACK_WORDS);
	entry.stack[0] = 0x123456789a;
	find_waited(&entry, 4);
	assert_reason(&entry, LODE_REASON_BLOCKED);
	tell_stack(&called, STACK_WORDS);
	called.stack[0] = CODE + BIAS + 4;
	find_waited(&called, 0);
	assert_found(&called, LODE_RULE_BACKWARD, 1, 0x700010);
	g_assert_true(called.access.is_unverified);
	called.stack[0] = CODE + BIAS + 9;
	find_waited(&called, 0);
	assert_reason(&called, LODE_REASON_NOT_MEMORY);
	called.stack[0] = CODE + BIAS + 0xb;
	find_waited(&called, 0);
	assert_reason(&called, LODE_REASON_BLOCKED); /* rcx leads elsewhere */
	called.registers.values[RCX] = CODE + BIAS;
	find_waited(&called, 0);
	assert_reason(&called, LODE_REASON_NOT_MEMORY);
	find_waited(&called, 0xb);
	assert_reason(&called, LODE_REASON_NOT_MEMORY);
	/* what [rax+10] led to may have ended with jmp rcx */
	called.stack[0] = CODE + BIAS + 4;
	find_waited(&called, 0);
	assert_reason(&called, LODE_REASON_AMBIGUOUS);
	g_assert_cmpuint(list_ways(&called, ways), ==, 0);
	/* and so may what ends with jmp [rbx+8], if there is anything at rbx+8 */
	jumped.targets.has_tables = true;
	tell_stack(&jumped, STACK_WORDS);
	jumped.stack[0] = CODE + BIAS + 4;
	find_waited(&jumped, 0);
	assert_reason(&jumped, LODE_REASON_AMBIGUOUS);
	g_assert_cmpuint(list_ways(&jumped, ways), ==, 2);
	g_assert_cmphex(ways[1].source, ==, CODE + 5);
	g_assert_cmphex(ways[1].access.operands[0].address, ==, 0x703008);
	jumped.invalid = 0x703008;
	find_waited(&jumped, 0);
	assert_found(&jumped, LODE_RULE_BACKWARD, 1, 0x700010);
}

/* What has survived of an address names the object. */
static void test_base(void)
{
	SAMPLE(scaled, 0x8b, 0x04, 0x83, 0xc3); /* mov eax, [rbx+rax*4] */
	SAMPLE(sum, 0x8b, 0x04, 0x03, 0xc3);    /* mov eax, [rbx+rax] */
	SAMPLE(symbol, 0x8b, 0x04, 0x85, 0x00, 0x30, 0x60, 0x00,
		0xc3);                         /* mov eax, [603000+rax*4] */
	SAMPLE(chase, 0x48, 0x8b, 0x00, 0xc3); /* mov rax, [rax] */

	find_waited(&scaled, 3);
	g_assert_cmphex(scaled.access.waiting_pc, ==, CODE);
	g_assert_cmphex(scaled.access.base, ==, 0x703000);
	g_assert_cmpuint(scaled.access.waiting_size, ==, 4);
	g_assert_cmpuint(scaled.access.waiting_access, ==, LODE_ACCESS_LOAD);
	scaled.invalid = 0x703000;
	find_waited(&scaled, 3);
	g_assert_cmphex(scaled.access.base, ==, 0);
	find_waited(&sum, 3); /* rbx may be the index */
	g_assert_cmphex(sum.access.base, ==, 0);
	sum.registers.values[RBX] = 0x7ffff7001000;
	find_waited(&sum, 3);
	g_assert_cmphex(sum.access.base, ==, 0x7ffff7001000);
	find_waited(&symbol, 7);
	g_assert_cmphex(symbol.access.base, ==, 0x603000);
	find_waited(&chase, 3);
	g_assert_cmphex(chase.access.waiting_pc, ==, CODE);
	g_assert_cmphex(chase.access.base, ==, 0);
}

/* Loads that have overwritten their own address: that of the next round. */
static void test_next_round(void)
{
	SAMPLE(list, 0x48, 0x8b, 0x00,  /* mov rax, [rax] */
		0x48, 0x83, 0xc1, 0x01, /* 3 add rcx, 1 */
		0x48, 0x85, 0xc0,       /* 7 test rax, rax */
		0x75, 0xf4,             /* a jne 0 */
		0xc3);                  /* c ret */
	SAMPLE(twice, 0x48, 0x8b, 0x00, /* mov rax, [rax] */
		0x48, 0x85, 0xc0,       /* 3 test rax, rax */
		0x74, 0x09,             /* 6 je 11 */
		0x48, 0x8b, 0x40, 0x08, /* 8 mov rax, [rax+8] */
		0x48, 0x85, 0xc0,       /* c test rax, rax */
		0x75, 0xef,             /* f jne 0 */
		0xc3);                  /* 11 ret */

	SAMPLE(copies, 0x48, 0x8b, 0x00, /* mov rax, [rax] */
		0x90,                    /* 3 nop */
		0x48, 0x8b, 0x00,        /* 4 mov rax, [rax] */
		0x83, 0xee, 0x01,        /* 7 sub esi, 1 */
		0x75, 0xf4,              /* a jne 0 */
		0xc3);                   /* c ret */

	find_waited(&list, 3);
	assert_found(&list, LODE_RULE_NEXT_ROUND, 0, 0x700000);
	find_waited(&copies, 3);
	assert_found(&copies, LODE_RULE_NEXT_ROUND, 0, 0x700000);
	find_waited(&copies, 7);
	assert_found(&copies, LODE_RULE_NEXT_ROUND, 4, 0x700000);
	copies.registers.values[RSI] = 1;
	find_waited(&copies, 7);
	assert_waiting(&copies, 4);
	list.invalid = 0x700000;
	find_waited(&list, 3);
	assert_waiting(&list, 0);
	list.registers.values[RAX] = 0; /* the list ends */
	find_waited(&list, 3);
	assert_waiting(&list, 0);
	find_waited(&twice, 3); /* each round loads the other one's base */
	assert_waiting(&twice, 0);
	find_waited(&twice, 0xc);
	assert_waiting(&twice, 8);
}

/* The index is computed anew from a register that has gone on. */
static void test_next_index(void)
{
	SAMPLE(wide, 0x31, 0xc0,                          /* xor eax, eax */
		0x69, 0xc9, 0x05, 0, 0, 0,                /* 2 imul ecx, ecx, 5 */
		0x89, 0xc8,                               /* 8 mov eax, ecx */
		0x83, 0xc1, 0x03,                         /* a add ecx, 3 */
		0x6b, 0xc9, 0x02,                         /* d imul ecx, ecx, 2 */
		0x48, 0x63, 0x04, 0x83,                   /* 10 movsxd rax, dword [rbx+rax*4] */
		0x48, 0x89, 0x0f,                         /* 14 mov [rdi], rcx */
		0x83, 0xee, 0x01,                         /* 17 sub esi, 1 */
		0x75, 0xe4,                               /* 1a jne 0 */
		0xc3);                                    /* 1c ret */
	SAMPLE(small, 0xc1, 0xe9, 0x01,                   /* shr ecx, 1 */
		0x89, 0xc8,                               /* 3 mov eax, ecx */
		0xc1, 0xe9, 0x01,                         /* 5 shr ecx, 1 */
		0x0f, 0xb7, 0x04, 0x43,                   /* 8 movzx eax, word [rbx+rax*2] */
		0x39, 0xf1,                               /* c cmp ecx, esi */
		0x72, 0xf0,                               /* e jb 0 */
		0xc3);                                    /* 10 ret */
	SAMPLE(skip, 0x48, 0x8b, 0x04, 0xc7,              /* mov rax, [rdi+rax*8] */
		0x48, 0xff, 0xc1,                         /* 4 inc rcx */
		0x48, 0x89, 0xc8,                         /* 7 mov rax, rcx */
		0x48, 0xf7, 0xc1, 0x01, 0x00, 0x00, 0x00, /* a test rcx, 1 */
		0x75, 0xf1,                               /* 11 jne 4 */
		0x48, 0x39, 0xf1,                         /* 13 cmp rcx, rsi */
		0x72, 0xe8,                               /* 16 jb 0 */
		0xc3);                                    /* 18 ret */

	wide.registers.values[RCX] = 7;
	wide.registers.values[RSI] = 2;
	find_waited(&wide, 0x14);
	assert_found(&wide, LODE_RULE_NEXT_ROUND, 0x10, 0x703000 + 4 * 35);
	g_assert_cmpuint(wide.access.operands[0].size, ==, 4);
	g_assert_cmpuint(wide.access.operands[0].access, ==, LODE_ACCESS_LOAD);
	wide.registers.values[RSI] = 1; /* the loop is left */
	find_waited(&wide, 0x14);
	assert_waiting(&wide, 0x10);
	g_assert_cmphex(wide.access.base, ==, 0x703000);
	small.registers.values[RCX] = 8;
	find_waited(&small, 0xc);
	assert_found(&small, LODE_RULE_NEXT_ROUND, 8, 0x703000 + 2 * 4);
	small.registers.values[RSI] = 8;
	find_waited(&small, 0xc);
	assert_waiting(&small, 8);
	skip.registers.values[RCX] = 2; /* a round without the load comes first */
	find_waited(&skip, 4);
	assert_found(&skip, LODE_RULE_NEXT_ROUND, 0, 0x707000 + 8 * 4);
	skip.registers.values[RSI] = 4; /* and after it none */
	find_waited(&skip, 4);
	assert_waiting(&skip, 0);
}

/* Jumps that depend on memory: where both ways lead to one address, it is that. */
static void test_next_round_either_way(void)
{
	SAMPLE(either, 0x48, 0x8b, 0x00,  /* mov rax, [rax] */
		0x83, 0x3b, 0x05,         /* 3 cmp dword [rbx], 5 */
		0x75, 0x04,               /* 6 jne c */
		0x48, 0x83, 0xc2, 0x01,   /* 8 add rdx, 1 */
		0x48, 0x83, 0xee, 0x01,   /* c sub rsi, 1 */
		0x75, 0xee,               /* 10 jne 0 */
		0xc3);                    /* 12 ret */
	SAMPLE(differ, 0x48, 0x8b, 0x00,  /* mov rax, [rax] */
		0x83, 0x3b, 0x05,         /* 3 cmp dword [rbx], 5 */
		0x75, 0x04,               /* 6 jne c */
		0x48, 0x83, 0xc0, 0x01,   /* 8 add rax, 1 */
		0x48, 0x83, 0xee, 0x01,   /* c sub rsi, 1 */
		0x75, 0xee,               /* 10 jne 0 */
		0xc3);                    /* 12 ret */
	SAMPLE(leave, 0x48, 0x8b, 0x00,   /* mov rax, [rax] */
		0x83, 0x3b, 0x05,         /* 3 cmp dword [rbx], 5 */
		0x75, 0xf8,               /* 6 jne 0 */
		0xc3);                    /* 8 ret */
	SAMPLE(endless, 0x48, 0x8b, 0x00, /* mov rax, [rax] */
		0xeb, 0xfe);              /* 3 jmp 3 */

	find_waited(&either, 3);
	assert_found(&either, LODE_RULE_NEXT_ROUND, 0, 0x700000);
	either.registers.values[RSI] = 1;
	find_waited(&either, 3);
	assert_waiting(&either, 0);
	find_waited(&differ, 3);
	assert_waiting(&differ, 0);
	find_waited(&leave, 3);
	assert_waiting(&leave, 0);
	find_waited(&endless, 3);
	assert_waiting(&endless, 0);
}

/* Calls in between, and recursion. */
static void test_next_round_calls(void)
{
	SAMPLE(known, 0x48, 0x8b, 0x1b,       /* mov rbx, [rbx] */
		0x48, 0x89, 0xdf,             /* 3 mov rdi, rbx */
		0xe8, 0x09, 0x00, 0x00, 0x00, /* 6 call 14 */
		0x48, 0x89, 0xc3,             /* b mov rbx, rax */
		0x48, 0x85, 0xdb,             /* e test rbx, rbx */
		0x75, 0xed,                   /* 11 jne 0 */
		0xc3,                         /* 13 ret */
		0x48, 0x8d, 0x47, 0x01,       /* 14 lea rax, [rdi+1] */
		0xc3);                        /* 18 ret */
	SAMPLE(foreign, 0x48, 0x8b, 0x1b,     /* mov rbx, [rbx] */
		0xff, 0x15, 0, 0x10, 0, 0,    /* 3 call [rip+0x1000] */
		0x48, 0x85, 0xdb,             /* 9 test rbx, rbx */
		0x75, 0xf2,                   /* c jne 0 */
		0xc3);                        /* e ret */
	SAMPLE(changed, 0x48, 0x8b, 0x36,     /* mov rsi, [rsi] */
		0xff, 0x15, 0, 0x10, 0, 0,    /* 3 call [rip+0x1000] */
		0x48, 0x85, 0xdb,             /* 9 test rbx, rbx */
		0x75, 0xf2,                   /* c jne 0 */
		0xc3);                        /* e ret */
	SAMPLE(again, 0x48, 0x85, 0xdb,       /* test rbx, rbx */
		0x74, 0x08,                   /* 3 je d */
		0x48, 0x8b, 0x1b,             /* 5 mov rbx, [rbx] */
		0xe8, 0xf3, 0xff, 0xff, 0xff, /* 8 call 0 */
		0x48, 0x85, 0xdb,             /* d test rbx, rbx */
		0x75, 0xf3,                   /* 10 jne 5 */
		0xc3);                        /* 12 ret */

	SAMPLE(deep, 0x48, 0x8b, 0x1b,        /* mov rbx, [rbx] */
		0xe8, 0x02, 0x00, 0x00, 0x00, /* 3 call a */
		0xeb, 0xf6,                   /* 8 jmp 0 */
		0xe8, 0xfb, 0xff, 0xff, 0xff, /* a call a */
		0xc3);                        /* f ret */

	find_waited(&deep, 3); /* the call is skipped in the end */
	assert_found(&deep, LODE_RULE_NEXT_ROUND, 0, 0x703000);
	find_waited(&known, 3);
	assert_found(&known, LODE_RULE_NEXT_ROUND, 0, 0x703001);
	find_waited(&foreign, 3);
	assert_found(&foreign, LODE_RULE_NEXT_ROUND, 0, 0x703000);
	foreign.question.is_go = true; /* which keeps no rbx */
	find_waited(&foreign, 3);
	assert_waiting(&foreign, 0);
	find_waited(&changed, 3); /* the called function may change rsi */
	assert_waiting(&changed, 0);
	find_waited(&again, 8);
	assert_waiting(&again, 5);
	again.registers.values[RBX] = 0;
	find_waited(&again, 8);
	assert_waiting(&again, 5);
}

/* Without optimisation the variables are in memory, which is written and read again. */
static void test_next_round_in_memory(void)
{
	SAMPLE(spilled, 0x48, 0x8b, 0x44, 0x24, 0x08, /* mov rax, [rsp+8] */
		0x48, 0x8b, 0x00,                     /* 5 mov rax, [rax] */
		0x48, 0x89, 0x44, 0x24, 0x08,         /* 8 mov [rsp+8], rax */
		0x83, 0x44, 0x24, 0x10, 0x01,         /* d add dword [rsp+10], 1 */
		0x48, 0x83, 0x7c, 0x24, 0x08, 0x00,   /* 12 cmp qword [rsp+8], 0 */
		0x75, 0xe6,                           /* 18 jne 0 */
		0xc3);                                /* 1a ret */
	SAMPLE(counted, 0x48, 0x8b, 0x00,             /* mov rax, [rax] */
		0x44, 0x01, 0x7c, 0x24, 0x10,         /* 3 add [rsp+10], r15d */
		0x83, 0x7c, 0x24, 0x10, 0x05,         /* 8 cmp dword [rsp+10], 5 */
		0x72, 0xf1,                           /* d jb 0 */
		0xc3);                                /* f ret */
	SAMPLE(anywhere, 0x48, 0x8b, 0x00,            /* mov rax, [rax] */
		0x48, 0x8b, 0x0b,                     /* 3 mov rcx, [rbx] */
		0x48, 0x89, 0x11,                     /* 6 mov [rcx], rdx */
		0x83, 0x7c, 0x24, 0x10, 0x05,         /* 9 cmp dword [rsp+10], 5 */
		0x72, 0xf0,                           /* e jb 0 */
		0xc3);                                /* 10 ret */
	SAMPLE(product, 0x49, 0x0f, 0xaf, 0xf0,       /* imul rsi, r8 */
		0x48, 0x8b, 0x14, 0xf3,               /* 4 mov rdx, [rbx+rsi*8] */
		0x49, 0x0f, 0xaf, 0xf0,               /* 8 imul rsi, r8 */
		0x48, 0x8b, 0x12,                     /* c mov rdx, [rdx] */
		0x48, 0x8b, 0x14, 0xf3,               /* f mov rdx, [rbx+rsi*8] */
		0x90);                                /* 13 nop */

	/* the dump is not needed for what was written since */
	find_waited(&spilled, 8);
	assert_found(&spilled, LODE_RULE_NEXT_ROUND, 5, 0x700000);
	counted.registers.values[15] = 1;
	find_waited(&counted, 3);
	assert_waiting(&counted, 0);
	tell_stack(&counted, STACK_WORDS);
	counted.stack[2] = 3;
	find_waited(&counted, 3);
	assert_found(&counted, LODE_RULE_NEXT_ROUND, 0, 0x700000);
	counted.stack[2] = 4; /* its last round */
	find_waited(&counted, 3);
	assert_waiting(&counted, 0);
	tell_stack(&anywhere, STACK_WORDS);
	find_waited(&anywhere, 3);
	assert_waiting(&anywhere, 0);
	product.registers.values[R8] = 0x5851f42d4c957f2d;
	product.registers.values[RSI] = 0x1234 * product.registers.values[R8];
	find_back(&product, 0xc);
	assert_found(&product, LODE_RULE_BACKWARD, 4, 0x703000 + 8 * 0x1234);
}

static void test_perf_registers(void)
{
	/* ax bx cx … r15 without ds es fs gs, as in perf's mask of user registers */
	uint64_t mask = 0xff0fff, values[20];
	LodeUserRegisters registers;

	for (unsigned i = 0; i < G_N_ELEMENTS(values); i++)
		values[i] = 100 + i;
	g_assert_true(lode_user_registers_from_perf(&registers, mask, 2, values));
	g_assert_cmphex(registers.known, ==, (1U << LODE_N_REGISTERS) - 1);
	g_assert_cmpuint(registers.values[RAX], ==, 100);
	g_assert_cmpuint(registers.values[RBX], ==, 101);
	g_assert_cmpuint(registers.values[RCX], ==, 102);
	g_assert_cmpuint(registers.values[RSP], ==, 107);
	g_assert_cmpuint(registers.values[LODE_REGISTER_FLAGS], ==, 109);
	g_assert_cmpuint(registers.values[R8], ==, 112);
	g_assert_cmpuint(registers.values[15], ==, 119);
	g_assert_true(lode_user_registers_from_perf(&registers, 1 << 7, 2, values));
	g_assert_cmphex(registers.known, ==, 1U << RSP);
	g_assert_cmpuint(registers.values[RSP], ==, 100);
	g_assert_false(lode_user_registers_from_perf(&registers, mask, 1, values));
	g_assert_cmphex(registers.known, ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/images/data_access/operands", test_operands);
	g_test_add_func("/images/data_access/peculiar_operands", test_peculiar_operands);
	g_test_add_func("/images/data_access/strings", test_strings);
	g_test_add_func("/images/data_access/repeated_under_way", test_repeated_under_way);
	g_test_add_func("/images/data_access/named_but_not_accessed", test_named_but_not_accessed);
	g_test_add_func("/images/data_access/forward_branches", test_forward_branches);
	g_test_add_func("/images/data_access/forward_carry", test_forward_carry);
	g_test_add_func("/images/data_access/forward_unknown", test_forward_unknown);
	g_test_add_func("/images/data_access/stack_popped", test_stack_popped);
	g_test_add_func("/images/data_access/stack_pushed", test_stack_pushed);
	g_test_add_func("/images/data_access/stack_forgotten", test_stack_forgotten);
	g_test_add_func("/images/data_access/stack_returns", test_stack_returns);
	g_test_add_func("/images/data_access/reasons", test_reasons);
	g_test_add_func("/images/data_access/backward_inverts", test_backward_inverts);
	g_test_add_func("/images/data_access/backward_refuses", test_backward_refuses);
	g_test_add_func(
		"/images/data_access/backward_through_blocks", test_backward_through_blocks);
	g_test_add_func("/images/data_access/order", test_order);
	g_test_add_func("/images/data_access/waiting", test_waiting);
	g_test_add_func("/images/data_access/recomputed", test_recomputed);
	g_test_add_func("/images/data_access/ways", test_ways);
	g_test_add_func("/images/data_access/callers", test_callers);
	g_test_add_func("/images/data_access/base", test_base);
	g_test_add_func("/images/data_access/next_round", test_next_round);
	g_test_add_func("/images/data_access/next_index", test_next_index);
	g_test_add_func("/images/data_access/next_round_either_way", test_next_round_either_way);
	g_test_add_func("/images/data_access/next_round_calls", test_next_round_calls);
	g_test_add_func("/images/data_access/next_round_in_memory", test_next_round_in_memory);
	g_test_add_func("/images/data_access/perf_registers", test_perf_registers);
	return g_test_run();
}
