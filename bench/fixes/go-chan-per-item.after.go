// SPDX-License-Identifier: MIT
package main

import "fmt"

type record struct {
	key, value int
}

func parse(out chan<- []record, count int) {
	batch := make([]record, 0, 512)
	for i := 0; i < count; i++ {
		batch = append(batch, record{i % 977, i})
		if len(batch) == cap(batch) {
			out <- batch
			batch = make([]record, 0, 512)
		}
	}
	out <- batch
	close(out)
}

func aggregate(in <-chan []record, sums []int) {
	for batch := range in {
		for _, r := range batch {
			sums[r.key] += r.value
		}
	}
}

func main() {
	sums := make([]int, 977)
	for round := 0; round < 25; round++ {
		queue := make(chan []record, 128)
		go parse(queue, 1000000)
		aggregate(queue, sums)
	}
	fmt.Println(sums[5])
}
