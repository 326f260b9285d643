// SPDX-License-Identifier: MIT
// After coocood/freecache issue #51.
package main

import (
	"fmt"
	"time"
)

type bucket struct {
	tokens float64
	last   time.Time
	drops  int
}

func (b *bucket) allow(rate float64) bool {
	now := time.Now()
	b.tokens += now.Sub(b.last).Seconds() * rate
	if b.tokens > 100 {
		b.tokens = 100
	}
	b.last = now
	if b.tokens < 1 {
		b.drops++
		return false
	}
	b.tokens--
	return true
}

func hash(s string) uint32 {
	h := uint32(2166136261)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

func main() {
	buckets := make([]bucket, 256)
	var names []string
	for i := 0; i < 1000; i++ {
		names = append(names, fmt.Sprint("client-", i))
	}
	allowed := 0
	for n := 0; n < 20000000; n++ {
		h := hash(names[n%len(names)])
		if buckets[h%256].allow(1000) {
			allowed++
		}
	}
	fmt.Println(allowed > 0)
}
