/* SPDX-License-Identifier: MIT */
/*
 * The part of QEMU's plugin interface, version 1, that lode uses, as QEMU 7.2 offers it to a shared
 * library that it is given by `-plugin`. Declared here, as no package brings a header; QEMU's
 * documentation is "QEMU TCG Plugins" (docs/devel/tcg-plugins.rst).
 *
 * QEMU translates the program in pieces ("tb": translation block) and lets a plugin add calls to
 * each instruction while it does so. The calls come later, whenever the piece is executed, in the
 * thread that executes it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QEMU_PLUGIN_VERSION = 1 };

typedef uint64_t qemu_plugin_id_t;

typedef struct {
	const char *target_name; /* "x86_64" */
	struct {
		int min, cur; /* versions of the interface that it understands */
	} version;
	bool system_emulation; /* a whole machine, not a program */
	union {
		struct {
			int smp_vcpus, max_vcpus;
		} system;
	};
} qemu_info_t;

/* Opaque; valid while a piece is translated. */
struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS, /* the call looks at no register */
	QEMU_PLUGIN_CB_R_REGS,
	QEMU_PLUGIN_CB_RW_REGS,
};

enum qemu_plugin_mem_rw {
	QEMU_PLUGIN_MEM_R = 1,
	QEMU_PLUGIN_MEM_W,
	QEMU_PLUGIN_MEM_RW, /* also what an atomic instruction does in one */
};

typedef uint32_t qemu_plugin_meminfo_t;

typedef void (*qemu_plugin_vcpu_simple_cb_t)(qemu_plugin_id_t id, unsigned int vcpu);
typedef void (*qemu_plugin_vcpu_udata_cb_t)(unsigned int vcpu, void *user_data);
typedef void (*qemu_plugin_vcpu_mem_cb_t)(
	unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *user_data);
typedef void (*qemu_plugin_vcpu_tb_trans_cb_t)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*qemu_plugin_vcpu_syscall_cb_t)(qemu_plugin_id_t id, unsigned int vcpu,
	int64_t number, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5,
	uint64_t a6, uint64_t a7, uint64_t a8);
typedef void (*qemu_plugin_vcpu_syscall_ret_cb_t)(
	qemu_plugin_id_t id, unsigned int vcpu, int64_t number, int64_t result);

/* A plugin defines these: the version that it is written for, and its start, called once before the
 * program is loaded; 0: success. */
extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

/* When a thread ends, in that thread. */
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t call);

/* Before and after each system call. */
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_syscall_cb_t call);
void qemu_plugin_register_vcpu_syscall_ret_cb(
	qemu_plugin_id_t id, qemu_plugin_vcpu_syscall_ret_cb_t call);

/* When a piece is translated; what it is made of. */
void qemu_plugin_register_vcpu_tb_trans_cb(
	qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb_t call);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn); /* in QEMU's own memory */

/* In front of the piece's first instruction, each time that it is executed. */
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
	qemu_plugin_vcpu_udata_cb_t call, enum qemu_plugin_cb_flags flags, void *user_data);

/* In front of an instruction, each time that it is executed. */
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
	qemu_plugin_vcpu_udata_cb_t call, enum qemu_plugin_cb_flags flags, void *user_data);

/* Behind each access of an instruction to memory. */
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb_t call,
	enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw, void *user_data);

/* The size of the access: 1 << shift bytes; whether it writes, which one that does both does too.
 */
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);

/* Writes where QEMU's own log goes. */
void qemu_plugin_outs(const char *text);
