/* SPDX-License-Identifier: MIT */
/*
 * The objects of the heap by address, as often as some percent of the time allow.
 *
 * The virtual machine tells what is in its heap, class and size of each object, but no address. It
 * visits objects in the order of their addresses, though. So some objects, the anchors, are tagged,
 * and references to them are asked for: in HotSpot a reference of native code points to the
 * object's address.
 *
 *   visited   Node 24 · Node 24 · long[] 80 · Node 24 │ Node 24 …       sizes up to the anchor: 152
 *   anchors   ▲ 0x7f00                                  ▲ 0x7f98          0x7f98 − 0x7f00 = 152 ✓
 *
 * Objects between two anchors are written down only if their sizes add up to the difference of the
 * anchors' addresses: then nothing was left out, and no order but this one is possible. Collections
 * move objects: their times are written down too, and a walk into which one falls is thrown away.
 */
#pragma once

#include <jvmti.h>
#include <stdbool.h>

/* Makes the log; false: the heap cannot be read. */
bool heap_walk_prepare(jvmtiEnv *jvmti, const char *directory);

void heap_walk_set_callbacks(jvmtiEventCallbacks *callbacks);

/* Starts walking, once the virtual machine runs. */
void heap_walk_start(jvmtiEnv *jvmti, JNIEnv *jni);

/* The last walk, before it ends. */
void heap_walk_finish(jvmtiEnv *jvmti, JNIEnv *jni);
