/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: names of functions by the tables in which CPython and its extension modules
 * register them. Distributions strip the names of nearly all functions of the interpreter, but the
 * types and modules say what a function is in Python: "list.__contains__", "zlib.compress".
 */
#pragma once

#include "images/elf/elf_file.h"

/*
 * Appends to `symbols` (LodeSymbol) the functions of types and modules of Python that have none
 * there, if the file has such. Returns the names of the interface for C in Python's terms, for
 * what belongs to them: PyList_Sort → "list.sort"; and the types whose objects say which function
 * a call of them is. NULL: the file is none of Python's. The caller unrefs it. All names are kept
 * in `names`. A function that several types share has the name of the first in the file. Source:
 * CPython's Include/object.h, cpython/object.h, methodobject.h, moduleobject.h, typeslots.h (3.8
 * to 3.14: the fields that are read have the same place in each).
 */
GHashTable *lode_python_functions_add(
	const LodeElfFile *file, GArray *symbols, GStringChunk *names);

/*
 * Names functions without a name that are parts of one that has one. A function is such a part if
 * all code that refers to it is of one owner, and no data does:
 *
 *   list.sort ─▶ fn_510d80 ─▶ fn_5af2d0      list.sort.part.510d80, list.sort.part.5af2d0
 *   re.Pattern.match ──┐
 *   re.Pattern.search ─┴▶ fn_5b1200          re.Pattern.part.5b1200
 *
 * What the functions that begin a module refer to is the module's: zlib.part.1f40. Where objects of
 * a type say which function a call of them is, which no table has, parts are the type's.
 *
 * Sets `symbol` of those `functions` (LodeBinaryFunction, by address, disjoint) that have none; the
 * texts are kept in `names`. `terms` are those of lode_python_functions_add(). Names of several
 * owners are one as far as they agree in what stands before a dot. It looks at each byte of the
 * code as the beginning of a displacement or an address, and decodes no instructions. A false
 * reference leaves a function without a name.
 */
void lode_python_functions_name_parts(
	const LodeElfFile *file, GArray *functions, GHashTable *terms, GStringChunk *names);
