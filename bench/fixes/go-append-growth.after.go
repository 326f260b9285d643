// SPDX-License-Identifier: MIT
package main

import "fmt"

type point struct{ x, y, z, w int }

var sink []point

// forty {

//go:noinline
func filterNN(from []point) int {
	out := make([]point, 0, len(from))
	for _, p := range from {
		if p.x != NN {
			out = append(out, p)
		}
	}
	sink = out
	return len(out)
}

// }

func main() {
	from := make([]point, 500)
	for i := range from {
		from[i].x = i
	}
	sum := 0
	for round := 0; round < 1500; round++ {
		// forty {
		sum += filterNN(from)
		// }
	}
	fmt.Println(sum)
}
