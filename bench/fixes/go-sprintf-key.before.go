// SPDX-License-Identifier: MIT
// After go-chi/httprate pull request #55; miniflux/v2 pull request #3648.
package main

import (
	"fmt"
)

// forty {

//go:noinline
func keyNN(id int) int {
	key := fmt.Sprintf("%d:%d", id, NN)
	return len(key) + int(key[0])
}

// }

func main() {
	sum := 0
	for round := 0; round < 200000; round++ {
		// forty {
		sum += keyNN(round)
		// }
	}
	fmt.Println(sum)
}
