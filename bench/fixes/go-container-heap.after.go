// SPDX-License-Identifier: MIT
// After pingcap/tidb issue #68161; xtaci/kcp-go pull request #345.
package main

import (
	"fmt"
)

type event struct{ at, node int }

type queue []event



var load [256]int

func handle(e event, x uint32) int {
	v := load[e.node]
	for i := 0; i < 60; i++ {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		v = (v + int(x&255)*i) & 0xffff
	}
	load[e.node] = v
	return v
}

func main() {
	q := &queue{}
	x := uint32(1)
	for i := 0; i < 200; i++ {
		add(q, event{i * 37 % 1000, i})
	}
	sum := 0
	for n := 0; n < 5000000; n++ {
		e := next(q)
		x = x*1664525 + 1013904223
		sum += handle(e, x)
		add(q, event{e.at + int(x>>22) + 1, e.node})
	}
	fmt.Println(sum)
}

func add(q *queue, e event) {
	h := append(*q, e)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if h[up].at <= e.at {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = e
	*q = h
}

func next(q *queue) event {
	h := *q
	first := h[0]
	last := h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	i := 0
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1].at < h[c].at {
			c++
		}
		if h[c].at >= last.at {
			break
		}
		h[i] = h[c]
		i = c
	}
	if len(h) > 0 {
		h[i] = last
	}
	return first
}
