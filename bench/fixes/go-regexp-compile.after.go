// SPDX-License-Identifier: MIT
// After cbsinteractive/bakery pull request #9; gnolang/gno pull request #633.
package main

import (
	"fmt"
	"regexp"
)

var pattern = regexp.MustCompile(`^[a-z]+-[0-9]+$`)

// forty {

//go:noinline
func matchNN(name string) int {
	if pattern.MatchString(name) {
		return NN
	}
	return 1
}

// }

func main() {
	names := []string{"alpha-12", "beta-", "gamma-7345", "Delta-1"}
	sum := 0
	for round := 0; round < 5000; round++ {
		name := names[round&3]
		// forty {
		sum += matchNN(name)
		// }
	}
	fmt.Println(sum)
}
