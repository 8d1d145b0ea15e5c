package nats

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/pacer"
)

// BenchmarkLibraryAlone is the CPU that nats.go and the kernel need for a round trip of 256 B on one connection, at the times at which the
// generator would send it on shared cores, without schedule, stamps and records: the least that xk6-nats can cost.
func BenchmarkLibraryAlone(b *testing.B) {
	_, url := process(b, "")
	for _, perSecond := range []int64{100_000, 500_000} {
		b.Run(fmt.Sprintf("%d a second", perSecond), func(b *testing.B) {
			connection, err := nats.Connect(url)
			if err != nil {
				b.Fatal(err)
			}
			defer connection.Close()
			var received atomic.Int64
			if _, err := connection.Subscribe("alone", func(*nats.Msg) { received.Add(1) }); err != nil {
				b.Fatal(err)
			}
			if err := connection.Flush(); err != nil {
				b.Fatal(err)
			}
			var stop atomic.Bool
			gapNs := int64(time.Second) / perSecond
			payload, now := make([]byte, 256), clock.New().Now
			p := pacer.New(now, &stop, gapNs, pacer.Pacing{Mode: "sleep"})
			defer p.Close()
			began, usedNs := now(), cpuNs(b)
			for i := range int64(b.N) {
				p.WaitUntil(began + i*gapNs)
				if err := connection.Publish("alone", payload); err != nil {
					b.Fatal(err)
				}
			}
			for received.Load() < int64(b.N) {
				time.Sleep(time.Millisecond)
			}
			b.ReportMetric(float64(cpuNs(b)-usedNs)/float64(b.N), "cpu-ns/op")
		})
	}
}

// cpuNs is the CPU time of this process so far, user and system.
func cpuNs(b *testing.B) int64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return used.Utime.Nano() + used.Stime.Nano()
}
