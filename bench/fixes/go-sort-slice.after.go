// SPDX-License-Identifier: MIT
package main

import "fmt"

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

func quick(v []series) {
	for len(v) > 12 {
		middle := v[len(v)/2].ref
		i, j := 0, len(v)-1
		for i <= j {
			for v[i].ref < middle {
				i++
			}
			for v[j].ref > middle {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i++
				j--
			}
		}
		quick(v[:j+1])
		v = v[i:]
	}
	for i := 1; i < len(v); i++ {
		for j := i; j > 0 && v[j].ref < v[j-1].ref; j-- {
			v[j], v[j-1] = v[j-1], v[j]
		}
	}
}

// As slices.SortFunc of newer versions of Go: compiled for the type
func order(v []series) {
	quick(v)
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
