// SPDX-License-Identifier: MIT
package main

import (
	"fmt"
	"sync"
)

type counter struct {
	mutex sync.Mutex
	count map[string]int
}

func (c *counter) add(key []byte, by int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	name := string(key)
	c.count[name] = c.count[name] + by
}

// forty {

//go:noinline
func feedNN(c *counter, keys [][]byte) {
	for _, key := range keys {
		c.add(key, NN)
	}
}

// }

func main() {
	c := &counter{count: map[string]int{}}
	keys := make([][]byte, 50)
	for i := range keys {
		keys[i] = []byte(fmt.Sprintf("a-key-of-more-than-thirty-two-bytes-%d", i))
		c.count[string(keys[i])] = 0
	}
	for round := 0; round < 6000; round++ {
		// forty {
		feedNN(c, keys)
		// }
	}
	fmt.Println(len(c.count))
}
