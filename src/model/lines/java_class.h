/* SPDX-License-Identifier: MIT */
/*
 * Classes of compiled Java code, where a dump says only the innermost line of what is inlined, as
 * those of older agents do: it has the file, but not the name.
 *
 *   Main.total(int) [tier 4]   Main.java:7                      the method's own
 *                              java/math/BigDecimal.java:4678   inlined, of java.math.BigDecimal
 */
#pragma once

/* The class whose method a line of `file` is of, if that is inlined into `function` and of Java's
 * own library; NULL: neither, or another language. The caller frees it. */
char *lode_java_inlined_class(const char *function, const char *file);

/* "shop/Cart.java" of shop.Cart$Item.price(int): the file of a method by its class, as lines have
 * it. The caller frees it. */
char *lode_java_file_of(const char *function);
