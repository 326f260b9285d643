/* SPDX-License-Identifier: MIT */
/*
 * Small functions as gcc 12 -O2 makes them, whose dependences were worked out by hand; in
 * assembler, so that every compiler leaves them as they are. Each is called a hundred times.
 */
#define FUNCTION(name, body)                                                                       \
	__asm__(".text\n.globl " #name "\n.type " #name ",@function\n" #name ":\n" body            \
		".size " #name ",.-" #name "\n");                                                  \
	long name(long argument)

static struct node {
	struct node *next;
	long value;
} nodes[64];

struct node *dependences_first = nodes;
double dependences_values[64];

/* for (n = first; n != NULL; n = n->next) sum += n->value; */
FUNCTION(list_sum, "	mov dependences_first(%rip),%rdx\n"
		   "	xor %eax,%eax\n"
		   "1:	add 8(%rdx),%rax\n" /* address:load, from the next line in the last turn */
		   "	mov (%rdx),%rdx\n"  /* address:load, from itself */
		   "	test %rdx,%rdx\n"   /* needs:load-pointer */
		   "	jne 1b\n"           /* chain:2 */
		   "	ret\n");

/* do n = n / 3 … of a 64-bit number, with the remainders summed */
FUNCTION(digit_sum, "	xor %ecx,%ecx\n"
		    "	mov $1000003,%eax\n"
		    "	mov $7,%esi\n"
		    "1:	xor %edx,%edx\n"
		    "	div %rsi\n"       /* needs:div, of the last turn */
		    "	add %rdx,%rcx\n"  /* needs:div */
		    "	test %rax,%rax\n" /* needs:div */
		    "	jne 1b\n"
		    "	mov %rcx,%rax\n"
		    "	ret\n");

/* struct { int low, high; } on the stack, read back whole, in halves and beside */
FUNCTION(halves, "	mov %edi,-16(%rsp)\n"
		 "	mov %edi,-12(%rsp)\n"
		 "	mov -16(%rsp),%rax\n"    /* needs:part-store */
		 "	mov -12(%rsp),%ecx\n"    /* needs:store */
		 "	movzbl -11(%rsp),%edx\n" /* needs:store: forwarded from inside it */
		 "	mov -8(%rsp),%esi\n"     /* nothing */
		 "	ret\n");

/* x = convert(i) * y; the chain is as long as a turn */
FUNCTION(scale, "	xor %eax,%eax\n"
		"	lea dependences_values(%rip),%rdx\n"
		"1:	pxor %xmm0,%xmm0\n"          /* nothing */
		"	cvtsi2sd %eax,%xmm0\n"       /* nothing that is asked for */
		"	mulsd %xmm0,%xmm0\n"         /* needs:convert */
		"	addsd (%rdx,%rax,8),%xmm0\n" /* needs:mul needs:fp */
		"	movsd %xmm0,(%rdx,%rax,8)\n" /* needs:fp needs:load-indexed; chain:4 */
		"	inc %rax\n"
		"	cmp $64,%rax\n"
		"	jne 1b\n"
		"	ret\n");

FUNCTION(twice, "	push %rbx\n"
		"	mov %rdi,%rbx\n"
		"	call identity\n"
		"	add %rbx,%rax\n" /* needs:call; rbx is older than the call */
		"	pop %rbx\n"
		"	ret\n");
FUNCTION(identity, "	mov %rdi,%rax\n"
		   "	ret\n");
__asm__(".section .note.GNU-stack,\"\",@progbits\n.text\n");

int main(void)
{
	volatile long sum = 0;

	for (int i = 0; i + 1 < 64; i++)
		nodes[i].next = &nodes[i + 1];
	for (int i = 0; i < 100; i++)
		sum = sum + list_sum(i) + digit_sum(i) + halves(i) + scale(i) + twice(i);
	return 0;
}
