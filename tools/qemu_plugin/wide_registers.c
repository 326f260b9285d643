/* SPDX-License-Identifier: MIT */
#include "wide_registers.h"

#include "instruction_traits.h"

/* QEMU takes no register but those that it saves around a call to be as before. */
static void clear(unsigned vcpu, void *user_data)
{
	(void)vcpu;
	(void)user_data;
	__asm__ volatile("vzeroupper");
}

void wide_registers_add_calls(struct qemu_plugin_tb *piece)
{
	size_t n = __builtin_cpu_supports("avx") ? qemu_plugin_tb_n_insns(piece) : 0;

	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(piece, i);
		InstructionTraits traits = instruction_traits(
			qemu_plugin_insn_data(instruction), qemu_plugin_insn_size(instruction));
		if (traits.is_vex_arithmetic)
			qemu_plugin_register_vcpu_insn_exec_cb(
				instruction, clear, QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}
