// SPDX-License-Identifier: MIT
package main

import "fmt"

type list []int

var sink list

// forty {

//go:noinline
func collectNN(count int) int {
	v := make(list, 0, count)
	for i := 0; i < count; i++ {
		v = append(v, i*1000+NN)
	}
	sink = v
	sum := 0
	for _, x := range v {
		sum += x
	}
	return sum
}

// }

func main() {
	sum := 0
	for round := 0; round < 1200; round++ {
		// forty {
		sum += collectNN(1000)
		// }
	}
	fmt.Println(sum)
}
