// SPDX-License-Identifier: MIT
// After pingcap/tidb issue #68161; xtaci/kcp-go pull request #345.
package main

import (
	"container/heap"
	"fmt"
)

type event struct{ at, node int }

type queue []event

func (q queue) Len() int            { return len(q) }
func (q queue) Less(i, j int) bool  { return q[i].at < q[j].at }
func (q queue) Swap(i, j int)       { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x interface{}) { *q = append(*q, x.(event)) }
func (q *queue) Pop() interface{} {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

func add(q *queue, e event) { heap.Push(q, e) }
func next(q *queue) event   { return heap.Pop(q).(event) }

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
