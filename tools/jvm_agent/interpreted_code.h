/* SPDX-License-Identifier: MIT */
/*
 * The bytecodes of methods that are not of Java's own library, where HotSpot's interpreter executes
 * them: a frame of it has the address of the bytecode that it is at, so that its method and line
 * are known by a dump as those of compiled code are.
 *
 *   jmethodID ─▶ Method ─▶ ConstMethod │ bytecodes
 */
#pragma once

#include <jvmti.h>

/* Writes those of a class into the dump, with their lines. */
void interpreted_code_write(jvmtiEnv *jvmti, jclass class);

/* The same of all classes that there are, once the agent was attached. */
void interpreted_code_write_all(jvmtiEnv *jvmti);
