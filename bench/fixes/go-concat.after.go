// SPDX-License-Identifier: MIT
// After ethereum/go-ethereum pull request #33112; golang/go issue #16796.
package main

import (
	"fmt"
	"strings"
)

// forty {

//go:noinline
func joinNN(words []string) int {
	var line strings.Builder
	for _, word := range words {
		line.WriteString(word)
		line.WriteByte(',')
	}
	return line.Len() + NN
}

// }

func main() {
	words := make([]string, 300)
	for i := range words {
		words[i] = "abcdefgh"[:1+i%7]
	}
	sum := 0
	for round := 0; round < 300; round++ {
		// forty {
		sum += joinNN(words)
		// }
	}
	fmt.Println(sum)
}
