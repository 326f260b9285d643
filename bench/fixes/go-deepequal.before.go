// SPDX-License-Identifier: MIT
// After istio/istio pull request #22752.
// Desired and observed objects are compared, as a controller does for each event.
package main

import (
	"fmt"
	"reflect"
)

type port struct {
	Name     string
	Number   int32
	Protocol string
}

type container struct {
	Name  string
	Image string
	Args  []string
	Env   map[string]string
	Ports []port
}

type spec struct {
	Replicas   int32
	Labels     map[string]string
	Containers []container
	Paused     bool
}

func makeSpec(n int) *spec {
	s := &spec{Replicas: int32(n % 7), Labels: map[string]string{"app": fmt.Sprint("app-", n), "tier": "web"}}
	for c := 0; c < 2; c++ {
		s.Containers = append(s.Containers, container{
			Name: fmt.Sprint("c", c), Image: fmt.Sprint("registry/app:", n), Args: []string{"--port", "8080", fmt.Sprint("--id=", n)},
			Env: map[string]string{"HOME": "/", "ID": fmt.Sprint(n)}, Ports: []port{{"http", 8080, "TCP"}, {"metrics", 9090, "TCP"}}})
	}
	return s
}

func checksum(s *spec) uint32 {
	h := uint32(2166136261)
	for r := 0; r < 12; r++ {
		for i := range s.Containers {
			for _, a := range s.Containers[i].Args {
				for j := 0; j < len(a); j++ {
					h = (h ^ uint32(a[j])) * 16777619
				}
			}
		}
	}
	return h
}

func needsUpdate(desired, observed *spec) bool {
	return !reflect.DeepEqual(desired, observed)
}

func main() {
	var desired, observed []*spec
	for n := 0; n < 1000; n++ {
		desired = append(desired, makeSpec(n))
		observed = append(observed, makeSpec(n+n%50/49))
	}
	updates, sum := 0, uint32(0)
	for round := 0; round < 500; round++ {
		for n := range desired {
			if needsUpdate(desired[n], observed[n]) {
				updates++
			}
			sum += checksum(desired[n])
		}
	}
	fmt.Println(updates, sum)
}
