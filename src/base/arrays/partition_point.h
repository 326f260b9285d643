/* SPDX-License-Identifier: MIT */
/*
 * Binary search in elements sorted by any key: the number of elements before the point that a
 * condition defines.
 *
 *   condition   true true true │ false false
 *                              └ partition point, here 3
 */
#pragma once

/*
 * How many of `count` elements satisfy `condition`, an expression in their index `i` that holds for
 * the first so many and for none after them. It is evaluated about log₂(count) times; the result
 * has count's type. The first element whose address is not below x, and n when there is none:
 *
 *   LODE_PARTITION_POINT(n, i, elements[i].address < x)
 *
 * The name is that of std::partition_point in C++.
 */
#define LODE_PARTITION_POINT(count, i, condition)                                                  \
	({                                                                                         \
		__typeof__((count) + 0u) low_ = 0, high_ = (count);                                \
		while (low_ < high_) {                                                             \
			__typeof__(low_) i = low_ + (high_ - low_) / 2;                            \
			if (condition)                                                             \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})
