/* SPDX-License-Identifier: MIT */
/* Instructions that windows treat apart, for steps that a test makes up; they never run. */

__asm__("	.text\n"
	"	.type copy, @function\n"
	"copy:	rep movsb\n"
	"	ret\n"
	"	.size copy, . - copy\n"

	"	.type ask, @function\n"
	"ask:	syscall\n"
	"	js 1f\n"
	"	nop\n"
	"1:	ret\n"
	"	.size ask, . - ask\n"

	"	.type leap, @function\n"
	"leap:	syscall\n"
	"	jmp *%rax\n"
	"	.size leap, . - leap\n"

	"	.type take, @function\n"
	"take:	mov $1, %eax\n"
	"1:	pause\n"
	"	mov %eax, %ecx\n"
	"	xchg %ecx, (%rdi)\n"
	"	test %ecx, %ecx\n"
	"	jne 1b\n"
	"	ret\n"
	"	.size take, . - take\n"

	"	.type clock, @function\n"
	"clock:	rdtsc\n"
	"	cmp %rdx, %rax\n"
	"	ja 1f\n"
	"	.rept 24\n"
	"	nop\n"
	"	.endr\n"
	"1:	test %eax, %eax\n"
	"	jne clock\n"
	"	ret\n"
	"	.size clock, . - clock\n"

	"	.type plain, @function\n"
	"plain:	.rept 40\n"
	"	add $1, %rax\n"
	"	.endr\n"
	"	ret\n"
	"	.size plain, . - plain\n");

int main(void)
{
	return 0;
}
