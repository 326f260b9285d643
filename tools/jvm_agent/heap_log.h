/* SPDX-License-Identifier: MIT */
/*
 * Writes heap-PID.log, record by record, as docs/reference/formats/heap-log.md describes it: which
 * object lay at which address of the heap, and when objects moved. Any thread may write. If the log
 * is full or cannot be written, its header gets the time until which it holds.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool heap_log_open(const char *directory, const char *heap);

uint64_t heap_log_now_ns(void);

/* A name that runs refer to by its number. */
void heap_log_add_name(uint32_t id, const char *name);

/* Objects may have moved in this time. */
void heap_log_add_move(uint64_t begin_ns, uint64_t end_ns);

/* Addresses that are the heap's. */
void heap_log_add_range(uint64_t start, uint64_t end);

/* A walk at this time; the blocks that follow are of it. */
void heap_log_add_walk(uint64_t time_ns);

/* Objects without gaps from an address on. `first` is a number that the first of them keeps for its
 * life, or 0; `runs` are bytes as in the file. */
void heap_log_add_block(uint64_t address, uint64_t first, const uint8_t *runs, size_t size);

/* Where objects were allocated: its number, how many bytes apart its samples were taken on average,
 * its name, and the calls that led to the allocation, innermost first. */
void heap_log_add_site(uint32_t id, uint32_t interval, const char *name, const char *stack);

/* For the last walk: the objects whose site is known. `samples` are bytes as in the file. */
void heap_log_add_samples(const uint8_t *samples, size_t size);

/* A number in LEB128; gives its size. */
enum { HEAP_LOG_NUMBER_BYTES = 10 };
size_t heap_log_put_number(uint8_t *at, uint64_t value);

/* Whether there is room for a walk of this size. */
bool heap_log_has_room(size_t size);

void heap_log_close(void);
