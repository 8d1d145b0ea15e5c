//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"runtime"
	"testing"
	"time"
)

// samples reads a file that -sample has written.
func samples(t *testing.T, path string) []sampleLine {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var lines []sampleLine
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		var line sampleLine
		decoder := json.NewDecoder(bytes.NewReader(scanner.Bytes()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&line); err != nil {
			t.Fatalf("%s: %v", scanner.Text(), err)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestWhatCannotBeReadIsNull(t *testing.T) {
	unknown := usage([]int{1 << 30})
	line, err := json.Marshal(sampleLine{UnixMs: 1, Generator: &unknown})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"unixMs":1,"generator":{"cpuNs":null,"waitNs":null,"rssBytes":null,"readBytes":null,"writeBytes":null},"broker":null,` +
		`"machine":{"cpuNs":null,"idleNs":null,"stealNs":null,"throttled":null},"network":null}`
	if string(line) != want {
		t.Errorf("got %s; want %s", line, want)
	}
}

func TestABrokerIsTheCommandWithoutAgent(t *testing.T) {
	if _, err := os.Stat("/proc/stat"); err != nil {
		t.Skip("only Linux has /proc")
	}
	file := t.TempDir() + "/samples"
	// An agent of Go takes more than twice the memory of a shell.
	command, _, out := started(t, "supervise", "-control", "-sample", file, "-broker", "--", "sh", "-c", "echo ready; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; sleep 1.2; :")
	expect(t, out, "ready")
	_ = command.Wait()
	lines := samples(t, file)
	if len(lines) < 2 {
		t.Fatalf("%d samples", len(lines))
	}
	for _, line := range lines {
		if line.Generator != nil || line.Broker == nil {
			t.Fatalf("%+v is none of a broker", line)
		}
	}
	if first := lines[0].Broker; first.CPUNs == nil || *first.CPUNs != 0 || first.RSSBytes != nil {
		t.Errorf("what has not begun uses %+v", first)
	}
	during := lines[1].Broker
	if during.RSSBytes == nil || *during.RSSBytes > 4<<20 {
		t.Errorf("a shell has %+v", during)
	}
	last := lines[len(lines)-1].Broker
	if during.CPUNs == nil || last.CPUNs == nil || *last.CPUNs < *during.CPUNs || *last.CPUNs == 0 {
		t.Errorf("after it has ended it has used %+v, and %+v before", last, during)
	}
	if during.WaitNs == nil || *during.WaitNs == 0 {
		t.Errorf("it never waited for a core: %+v", during)
	}
	if last.RSSBytes != nil {
		t.Errorf("what has ended has %d bytes of memory", *last.RSSBytes)
	}
}

func BenchmarkSample(b *testing.B) {
	for b.Loop() {
		(&sampler{}).read(time.Now())
	}
}

func TestAMachinesTimeIsItsCoresTimesTheClock(t *testing.T) {
	if _, err := os.Stat("/proc/stat"); err != nil {
		t.Skip("only Linux has /proc")
	}
	before, began := machine(), time.Now()
	time.Sleep(time.Second)
	after, took := machine(), time.Since(began)
	cores := float64(*after.CPUNs-*before.CPUNs) / float64(took)
	if whole := math.Round(cores); whole < float64(runtime.NumCPU()) || math.Abs(cores-whole) > 0.1*whole {
		t.Errorf("%.2f cores, of at least %d", cores, runtime.NumCPU())
	}
	if idle := *after.IdleNs - *before.IdleNs; float64(idle) > 1.1*float64(*after.CPUNs-*before.CPUNs) {
		t.Errorf("%d ns idle of %d", idle, *after.CPUNs-*before.CPUNs)
	}
}
