/* SPDX-License-Identifier: MIT */
#include "analyses/memory/data_source.h"

#include <glib.h>
#include <linux/perf_event.h>
#include <stdbool.h>

typedef struct {
	uint64_t bits;
	const char *text, *missed, *remote;
} Word;

/* By mem_lvl_num. */
static const Word numbered[] = {
	{PERF_MEM_LVLNUM_L1, "L1", "L1 miss", "remote cache"},
	{PERF_MEM_LVLNUM_L2, "L2", "L2 miss", "remote cache"},
	{PERF_MEM_LVLNUM_L3, "L3", "L3 miss", "remote cache"},
	{PERF_MEM_LVLNUM_L4, "L4", "L4 miss", "remote cache"},
	{PERF_MEM_LVLNUM_CXL, "CXL", "CXL", "CXL"},
	{PERF_MEM_LVLNUM_IO, "I/O", "I/O", "I/O"},
	{PERF_MEM_LVLNUM_ANY_CACHE, "any cache", "cache miss", "remote cache"},
	{PERF_MEM_LVLNUM_LFB, "LFB", "LFB miss", "LFB"},
	{PERF_MEM_LVLNUM_RAM, "RAM", "RAM", "remote RAM"},
	{PERF_MEM_LVLNUM_PMEM, "PMEM", "PMEM", "remote PMEM"},
};

/* By the bits of mem_lvl, which older kernels set alone; the farthest first. */
static const Word flagged[] = {
	{PERF_MEM_LVL_UNC, "uncached", "uncached", "uncached"},
	{PERF_MEM_LVL_IO, "I/O", "I/O", "I/O"},
	{PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2, "remote RAM", "remote RAM", "remote RAM"},
	{PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2, "remote cache", "remote cache miss",
		"remote cache"},
	{PERF_MEM_LVL_LOC_RAM, "RAM", "RAM", "remote RAM"},
	{PERF_MEM_LVL_L3, "L3", "L3 miss", "remote cache"},
	{PERF_MEM_LVL_L2, "L2", "L2 miss", "remote cache"},
	{PERF_MEM_LVL_LFB, "LFB", "LFB miss", "LFB"},
	{PERF_MEM_LVL_L1, "L1", "L1 miss", "remote cache"},
};

static const char *word_text(const Word *word, const union perf_mem_data_src *source)
{
	bool is_missed = (source->mem_lvl & PERF_MEM_LVL_MISS) != 0 &&
	                 (source->mem_lvl & PERF_MEM_LVL_HIT) == 0;

	if (is_missed)
		return word->missed;
	return source->mem_remote == PERF_MEM_REMOTE_REMOTE ? word->remote : word->text;
}

const char *lode_data_source_level(uint64_t data_source)
{
	union perf_mem_data_src source = {.val = data_source};

	for (size_t i = 0; i < G_N_ELEMENTS(numbered); i++)
		if (source.mem_lvl_num == numbered[i].bits)
			return word_text(&numbered[i], &source);
	for (size_t i = 0; i < G_N_ELEMENTS(flagged); i++)
		if ((source.mem_lvl & flagged[i].bits) != 0)
			return word_text(&flagged[i], &source);
	return NULL;
}

bool lode_data_source_hits_modified(uint64_t data_source)
{
	union perf_mem_data_src source = {.val = data_source};

	return (source.mem_snoop & PERF_MEM_SNOOP_HITM) != 0;
}

const char *lode_data_source_snoop(uint64_t data_source)
{
	union perf_mem_data_src source = {.val = data_source};

	if (lode_data_source_hits_modified(data_source))
		return "hit modified";
	if ((source.mem_snoopx & PERF_MEM_SNOOPX_FWD) != 0)
		return "forward";
	if ((source.mem_snoopx & PERF_MEM_SNOOPX_PEER) != 0)
		return "peer";
	if ((source.mem_snoop & PERF_MEM_SNOOP_HIT) != 0)
		return "hit";
	if ((source.mem_snoop & PERF_MEM_SNOOP_MISS) != 0)
		return "miss";
	return (source.mem_snoop & PERF_MEM_SNOOP_NONE) != 0 ? "none" : NULL;
}

const char *lode_data_source_tlb(uint64_t data_source)
{
	union perf_mem_data_src source = {.val = data_source};

	if ((source.mem_dtlb & PERF_MEM_TLB_OS) != 0)
		return "fault";
	if ((source.mem_dtlb & PERF_MEM_TLB_HIT) == 0 && (source.mem_dtlb & PERF_MEM_TLB_MISS) != 0)
		return "miss";
	if ((source.mem_dtlb & (PERF_MEM_TLB_L1 | PERF_MEM_TLB_L2)) != 0)
		return (source.mem_dtlb & PERF_MEM_TLB_L1) != 0 ? "L1" : "L2";
	return (source.mem_dtlb & PERF_MEM_TLB_WK) != 0 ? "walk" : NULL;
}

bool lode_data_source_lock(uint64_t data_source, bool *out_is_locked)
{
	union perf_mem_data_src source = {.val = data_source};

	/* 0: older kernels left the field out. */
	if (source.mem_lock == 0 || (source.mem_lock & PERF_MEM_LOCK_NA) != 0)
		return false;
	*out_is_locked = (source.mem_lock & PERF_MEM_LOCK_LOCKED) != 0;
	return true;
}
