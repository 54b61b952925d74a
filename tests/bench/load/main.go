// load puts broker-bound load on a Kafka broker over raw sockets and prints one JSON line of figures.
//
//	load -b 127.0.0.1:9092 -t 3 -w 1 CASE
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"sync"
	"time"
)

var (
	address string
	secure  bool
	who     string
	warm    time.Duration
	span    time.Duration
	rate    float64
)

// step does one unit of work and answers the bytes of record data that it moved, or nothingLeft.
type step func() int

// nothingLeft ends a connection's part of a case early.
const nothingLeft = -1

// figures are what a case measured: units done, over how long, bytes moved and how long the units took.
type figures struct {
	Count     int     `json:"count"`
	Seconds   float64 `json:"seconds"`
	Bytes     int64   `json:"bytes"`
	P50       float64 `json:"p50_us"`
	P99       float64 `json:"p99_us"`
	P999      float64 `json:"p999_us"`
	latencies []float64
}

var cases = map[string]func() figures{
	"api-versions":    apiVersionsCase,
	"produce-1":       func() figures { return produceCase(1, 8, 1, 100) },
	"produce-50":      func() figures { return produceCase(50, 8, 1, 100) },
	"bulk-in":         func() figures { return produceCase(4, 4, 900, 1000) },
	"bulk-out":        func() figures { return fetchCase(4, 900, 1000, 40, 4<<20) },
	"fetch-50":        func() figures { return fetchCase(50, 1, 100, 20, 150) },
	"latency":         latencyCase,
	"metadata":        metadataCase,
	"transaction":     transactionCase,
	"commit":          commitCase,
	"share-1":         func() figures { return shareCase(byRecord, 1, 10, 100, 4000) },
	"share-batch":     func() figures { return shareCase(byBatch, 100, 100, 20, 20000) },
	"fill":            fillCase,
	"join-1":          func() figures { return joinCase(1, 100) },
	"join-10":         func() figures { return joinCase(10, 20) },
	"join-100":        func() figures { return joinCase(100, 5) },
	"hold":            holdCase,
	"modern-join-1":   func() figures { return modernJoinCase(1, 100) },
	"modern-join-10":  func() figures { return modernJoinCase(10, 20) },
	"modern-join-100": func() figures { return modernJoinCase(100, 5) },
	"modern-hold":     modernHoldCase,
	"streams-hold":    streamsHoldCase,
	"login-plain":     func() figures { return loginCase(8, loginPlain) },
	"login-scram":     func() figures { return loginCase(8, loginScram) },
}

// measure runs a step on each of n connections, first unmeasured for the warm-up time, then for the span.
func measure(n int, prepare func(number int) step) figures {
	steps := make([]step, n)
	for i := range steps {
		steps[i] = prepare(i)
	}
	run(steps, warm)
	fmt.Println(`{"event": "start"}`)
	result := run(steps, span)
	fmt.Println(`{"event": "stop"}`)
	return result
}

func run(steps []step, length time.Duration) figures {
	var lock sync.Mutex
	var all sync.WaitGroup
	var result figures
	start := time.Now()
	var apart time.Duration // between the units of a connection, 0 for as many as there can be
	if rate > 0 {
		apart = time.Duration(float64(len(steps)) / rate * 1e9)
	}
	for number, work := range steps {
		all.Add(1)
		due := start.Add(apart * time.Duration(number) / time.Duration(len(steps)))
		go func(work step) {
			defer all.Done()
			var own figures
			for began := time.Now(); began.Sub(start) < length; {
				if apart > 0 {
					began = waitFor(due)
					due = due.Add(apart)
				}
				moved := work()
				if moved == nothingLeft {
					break
				}
				own.Bytes += int64(moved)
				own.Count++
				now := time.Now()
				own.latencies = append(own.latencies, float64(now.Sub(began).Nanoseconds())/1e3)
				began = now
			}
			lock.Lock()
			defer lock.Unlock()
			result.Count += own.Count
			result.Bytes += own.Bytes
			result.latencies = append(result.latencies, own.latencies...)
		}(work)
	}
	all.Wait()
	result.Seconds = time.Since(start).Seconds()
	if length > 0 && result.Count == 0 {
		check(fmt.Errorf("nothing was left to measure"))
	}
	return result
}

// waitFor returns when a unit is due. One that is late began when it was due: it has waited since.
func waitFor(due time.Time) time.Time {
	wait := time.Until(due)
	if wait <= 0 {
		return due
	}
	time.Sleep(wait)
	return time.Now()
}

func (f *figures) summarise() {
	sort.Float64s(f.latencies)
	if n := len(f.latencies); n > 0 {
		f.P50, f.P99, f.P999 = f.latencies[n/2], f.latencies[n*99/100], f.latencies[n*999/1000]
	}
}

func unique(label string) string {
	return fmt.Sprintf("%s-%08x", label, rand.Uint32())
}

func until(what string, probe func() bool) {
	for end := time.Now().Add(30 * time.Second); !probe(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			check(fmt.Errorf("%s: not within 30 s", what))
		}
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func main() {
	flag.StringVar(&address, "b", "127.0.0.1:9092", "address of the broker")
	flag.BoolVar(&secure, "s", false, "speak TLS, with whatever certificate the broker has")
	flag.StringVar(&who, "u", "", "log in by PLAIN on each connection: name:password")
	flag.DurationVar(&span, "t", 3*time.Second, "how long to measure")
	flag.DurationVar(&warm, "w", time.Second, "how long to warm up")
	flag.Float64Var(&rate, "r", 0, "units a second over all connections; 0: as many as there can be")
	flag.Parse()
	work, known := cases[flag.Arg(0)]
	if !known {
		check(fmt.Errorf("unknown case %q", flag.Arg(0)))
	}
	result := work()
	result.summarise()
	line, err := json.Marshal(result)
	check(err)
	fmt.Println(string(line))
}
