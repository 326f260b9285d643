// SPDX-License-Identifier: MIT

// The same loops with checks and without: checks ROUNDS
package main

import (
	"fmt"
	"os"
	"strconv"
)

//go:noinline
func checked(a []uint32, b []int) (s uint32) {
	for i := 0; i < len(b); i++ {
		s += a[b[i]]
	}
	return
}

//go:noinline
func ranged(a []uint32) (s uint32) {
	for _, x := range a {
		s += x
	}
	return
}

//go:noinline
func divided(a []uint32) (s uint32) {
	for _, x := range a {
		s += 1000000 / x
	}
	return
}

//go:noinline
func asserted(a []interface{}) (s uint32) {
	for _, x := range a {
		s += x.(uint32)
	}
	return
}

//go:noinline
func small(x uint32) uint32 { return x ^ x>>3 }

//go:noinline
func calls(a []uint32) (s uint32) {
	for _, x := range a {
		s += small(x)
	}
	return
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	a := make([]uint32, 4096)
	b := make([]int, 4096)
	c := make([]interface{}, 4096)
	for i := range a {
		a[i] = uint32(i)*2654435761 | 1
		b[i] = (i * 77) % 4096
		c[i] = a[i]
	}
	s := uint32(0)
	for i := 0; i < n; i++ {
		s += checked(a, b) + ranged(a) + divided(a) + asserted(c) + calls(a)
	}
	fmt.Println(s)
}
