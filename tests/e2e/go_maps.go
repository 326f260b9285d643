// SPDX-License-Identifier: MIT

// Looks up random keys in maps of several types, and prints where their buckets lie:
//
//	go_maps SEED ROUNDS        main.key,main.value c000180000 c000a80000
//
// Last, which share of the time of looking up in two alike is of the first.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

type key struct{ a, b int32 }
type value struct {
	x    int64
	name string
}
type triple struct{ a, b, c int64 }
type index map[triple]int32
type table struct {
	name string
	rows map[int64]uint64
}

// The beginning of a map (runtime/map.go of Go up to 1.23).
type header struct {
	count      int
	flags, B   uint8
	noverflow  uint16
	hash0      uint32
	buckets    uintptr
	oldbuckets uintptr
}

const n = 1 << 18

var seven = make(map[int64]int64, n)

func random(s *uint64) uint64 {
	*s = *s*6364136223846793005 + 1442695040888963407
	return *s >> 33
}

//go:noinline
func lookUpSeven(rounds int, s uint64) (sum int64) {
	for i := 0; i < rounds; i++ {
		sum += seven[int64(random(&s)%n)]
	}
	return
}

//go:noinline
func (t *table) lookUpThree(rounds int, s uint64) (sum int64) {
	for i := 0; i < rounds; i++ {
		sum += int64(t.rows[int64(random(&s)%n)])
	}
	return
}

//go:noinline
func structs(rounds int, m map[key]value, s uint64) (sum int64) {
	for i := 0; i < rounds; i++ {
		sum += m[key{int32(random(&s) % n), 1}].x
	}
	return
}

//go:noinline
func triples(rounds int, m index, s uint64) (sum int64) {
	for i := 0; i < rounds; i++ {
		m[triple{int64(random(&s) % n), 1, 2}]++
	}
	return
}

//go:noinline
func texts(rounds int, m map[string]uint16, keys []string, s uint64) (sum int64) {
	for i := 0; i < rounds; i++ {
		sum += int64(m[keys[random(&s)%n]])
	}
	return
}

// Processor time of this thread, in seconds.
func clock() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(1, &usage) // RUSAGE_THREAD
	return float64(usage.Utime.Sec) + float64(usage.Utime.Usec)/1e6
}

func show(types string, m unsafe.Pointer, bytes uintptr) {
	h := (*header)(m)
	fmt.Printf("%s %x %x\n", types, h.buckets, h.buckets+bytes<<h.B)
}

func main() {
	runtime.LockOSThread()
	seed, _ := strconv.ParseUint(os.Args[1], 10, 64)
	rounds, _ := strconv.Atoi(os.Args[2])
	three := &table{"three", make(map[int64]uint64, n)}
	byKey := make(map[key]value, n)
	byTriple := make(index, n)
	byText := make(map[string]uint16, n)
	keys := []string{}
	for i := 0; i < n; i++ {
		seven[int64(i)] = int64(i)
		three.rows[int64(i)] = uint64(i)
		byKey[key{int32(i), 1}] = value{int64(i), ""}
		byTriple[triple{int64(i), 1, 2}] = int32(i)
		keys = append(keys, "a key of some length "+strconv.Itoa(i))
		byText[keys[i]] = uint16(i)
	}
	show("int64,int64", *(*unsafe.Pointer)(unsafe.Pointer(&seven)), 16+8*16)
	show("int64,uint64", *(*unsafe.Pointer)(unsafe.Pointer(&three.rows)), 16+8*16)
	show("main.key,main.value", *(*unsafe.Pointer)(unsafe.Pointer(&byKey)), 16+8*32)
	show("main.triple,int32", *(*unsafe.Pointer)(unsafe.Pointer(&byTriple)), 16+8*28)
	show("string,uint16", *(*unsafe.Pointer)(unsafe.Pointer(&byText)), 16+8*18)
	sum, first, second := int64(0), 0.0, 0.0
	for r := 0; r < rounds; r++ {
		seed++
		begin := clock()
		sum += lookUpSeven(700000, seed)
		middle := clock()
		sum += three.lookUpThree(300000, seed)
		first, second = first+middle-begin, second+clock()-middle
		sum += structs(300000, byKey, seed) + triples(300000, byTriple, seed)
		sum += texts(200000, byText, keys, seed)
	}
	fmt.Println(first / (first + second))
	fmt.Fprintln(os.Stderr, sum)
}
