/* SPDX-License-Identifier: MIT */
/*
 * Lists the objects of the heap by address, at intervals, for some percent of the time.
 *
 * JVMTI visits all objects in the order of their addresses, and gives class and size of each, but
 * no address. So some objects, the anchors, are tagged, and references to them are obtained: in
 * HotSpot a reference of native code points to the object's address.
 *
 *   visited   Node 24 · Node 24 · long[] 80 · Node 24 │ Node 24 …       sizes up to the anchor: 152
 *   anchors   ▲ 0x7f00                                  ▲ 0x7f98          0x7f98 − 0x7f00 = 152 ✓
 *
 * Objects between two anchors are logged only if their sizes add up to the difference of the
 * anchors' addresses: then none was left out, and only this order is possible. Collections move
 * objects: their times are logged too, and a walk during which one happens is discarded.
 */
#pragma once

#include <jvmti.h>
#include <stdbool.h>

/* Opens the log; false: the heap cannot be read. */
bool heap_walk_prepare(JavaVM *vm, jvmtiEnv *jvmti, const char *directory);

void heap_walk_set_callbacks(jvmtiEventCallbacks *callbacks);

/* Starts the thread that walks, when the virtual machine runs. */
void heap_walk_start(jvmtiEnv *jvmti, JNIEnv *jni);

/* The last walk, before the virtual machine ends. */
void heap_walk_finish(jvmtiEnv *jvmti, JNIEnv *jni);
