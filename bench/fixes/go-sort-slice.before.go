// SPDX-License-Identifier: MIT
// After prometheus/prometheus pull request #12539.
package main

import (
	"fmt"
	"sort"
)

type series struct {
	ref  uint64
	hash uint64
}

func fill(v []series, seed uint64) {
	for i := range v {
		seed = seed*6364136223846793005 + 1442695040888963407
		v[i] = series{ref: seed >> 33, hash: seed}
	}
}

func order(v []series) {
	sort.Slice(v, func(i, j int) bool { return v[i].ref < v[j].ref })
}

func merge(v []series) uint64 {
	sum := uint64(0)
	for i := 1; i < len(v); i++ {
		sum += v[i].ref - v[i-1].ref ^ v[i].hash
	}
	return sum
}

func main() {
	v := make([]series, 200000)
	sum := uint64(0)
	for round := uint64(0); round < 35; round++ {
		fill(v, round)
		order(v)
		sum += merge(v)
	}
	fmt.Println(sum)
}
