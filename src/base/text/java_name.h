/* SPDX-License-Identifier: MIT */
/*
 * Names of Java methods for people, from the virtual machine's own.
 *
 *   Ljava/lang/String;  indexOf  (Ljava/lang/String;I)I  ─▶  java.lang.String.indexOf(String, int)
 *
 * Numbers that the virtual machine makes up anew in each run (`Foo$$Lambda$14+0x000…`) are left
 * out.
 */
#pragma once

#include <stddef.h>

/* Writes the name, cut off at `size`; always ends it with a NUL. */
void lode_java_method_name_write(char *name, size_t size, const char *class_signature,
	const char *method, const char *method_signature);

/* A type by its signature, with its package: [Ljava/lang/String; is java.lang.String[]. Likewise.
 */
void lode_java_type_name_write(char *name, size_t size, const char *signature);

/* The source file with the folders of the class's package: java/lang/String.java. */
void lode_java_source_path_write(
	char *path, size_t size, const char *class_signature, const char *source_file);
