// SPDX-License-Identifier: MIT
// After a habit of pipelines: one send for each element.
package main

import "fmt"

type record struct {
	key, value int
}

func parse(out chan<- record, count int) {
	for i := 0; i < count; i++ {
		out <- record{i % 977, i}
	}
	close(out)
}

func aggregate(in <-chan record, sums []int) {
	for r := range in {
		sums[r.key] += r.value
	}
}

func main() {
	sums := make([]int, 977)
	for round := 0; round < 25; round++ {
		queue := make(chan record, 128)
		go parse(queue, 1000000)
		aggregate(queue, sums)
	}
	fmt.Println(sums[5])
}
