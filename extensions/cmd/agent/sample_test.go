//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
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

// A broker is the command without agent. The clock is set an hour ahead.
func TestSamplesShowWhatTheCommandUses(t *testing.T) {
	needProc(t)
	const loop = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; sleep 1.2; :"
	for _, flags := range []string{"", "-broker"} {
		file, began := t.TempDir()+"/samples", time.Now()
		if code := supervises(t, "-ahead 3600000000000 "+flags+" -sample "+file, loop).code(); code != 0 {
			t.Fatalf("exit code %d", code)
		}
		lines := samples(t, file)
		if len(lines) < 3 {
			t.Fatalf("%d samples; want one at the begin, one a second, and one at the end", len(lines))
		}
		var uses []*usageSample
		for _, line := range lines {
			own, other := line.Generator, line.Broker
			if flags != "" {
				own, other = other, own
			}
			if own == nil || other != nil || line.Network == nil {
				t.Fatalf("%q: %+v", flags, line)
			}
			uses = append(uses, own)
		}
		begin, end := lines[0], lines[len(lines)-1]
		from, to := float64(began.UnixMilli())-3_600_000, float64(time.Now().UnixMilli())-3_600_000
		if begin.UnixMs < from-1 || end.UnixMs > to+1 || end.UnixMs <= begin.UnixMs {
			t.Errorf("samples from %f to %f; want them in %f to %f", begin.UnixMs, end.UnixMs, from, to)
		}
		if *begin.Machine.CPUNs <= *begin.Machine.IdleNs || *end.Machine.CPUNs <= *begin.Machine.CPUNs {
			t.Errorf("the machine: %+v, then %+v", begin.Machine, end.Machine)
		}
		first, during, last := uses[0], uses[1], uses[len(uses)-1]
		if used := *last.CPUNs - *first.CPUNs; used < 10*tickNs/2 || used > 60_000_000_000 || *last.CPUNs < *during.CPUNs {
			t.Errorf("%q: the loop used %d ns of %d", flags, used, *during.CPUNs)
		}
		if flags == "" {
			if *first.RSSBytes < 1_000_000 {
				t.Errorf("agent has %d bytes", *first.RSSBytes)
			}
			continue
		}
		if *first.CPUNs != 0 || first.RSSBytes != nil {
			t.Errorf("what has not begun uses %+v", first)
		}
		if during.RSSBytes == nil || *during.RSSBytes > 4<<20 { // an agent of Go takes more than twice the memory of a shell
			t.Errorf("a shell has %+v", during)
		}
		if during.WaitNs == nil || *during.WaitNs == 0 {
			t.Errorf("it never waited for a core: %+v", during)
		}
		if last.RSSBytes == nil || *last.RSSBytes != 0 {
			t.Errorf("what has ended has memory: %+v", last)
		}
	}
}

// burner uses CPU in a child of a shell, which then waits for a line of standard input.
const burner = `sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; times'; echo over; read x`

func needProc(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/proc/stat"); err != nil {
		t.Skip("only Linux has /proc")
	}
}

// burning starts burner, and returns how to end it.
func burning(t *testing.T) (pid int, out *bufio.Reader, end func()) {
	t.Helper()
	command := exec.Command("sh", "-c", burner)
	stdin, _ := command.StdinPipe()
	stdout, _ := command.StdoutPipe()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() })
	return command.Process.Pid, bufio.NewReader(stdout), func() {
		_ = stdin.Close()
		_ = command.Wait()
	}
}

// A node that was started again goes on where it ended; its memory is its present use, and none in between.
func TestABrokerThatIsStartedAgainGoesOnWhereItEnded(t *testing.T) {
	file := t.TempDir() + "/samples"
	sample := func(cpu int64, rss *int64) usageSample {
		return usageSample{CPUNs: &cpu, WaitNs: &cpu, WriteBytes: &cpu, RSSBytes: rss}
	}
	nine, two := int64(9), int64(2)
	first := sampler{before: usedBefore(file)}
	first.withBefore(sample(0, nil))
	first.withBefore(sample(30, &nine))
	ended := first.withBefore(usageSample{CPUNs: sample(32, nil).CPUNs})
	line, err := json.Marshal(sampleLine{Broker: ended})
	if err != nil {
		t.Fatal(err)
	}
	// A line that was cut short is left out.
	if err := os.WriteFile(file, append(line, "\n{\"unixMs\":1,\"gen"...), 0o600); err != nil {
		t.Fatal(err)
	}
	second := sampler{before: usedBefore(file)}
	for _, c := range []struct {
		name string
		got  *usageSample
		want string
	}{
		{"it has ended", ended, "32 30 0 30"},
		{"it has not begun", second.withBefore(sample(0, nil)), "32 30 0 30"},
		{"it runs again", second.withBefore(sample(5, &two)), "37 35 2 35"},
	} {
		if got := fmt.Sprint(*c.got.CPUNs, *c.got.WaitNs, *c.got.RSSBytes, *c.got.WriteBytes); got != c.want || c.got.ReadBytes != nil {
			t.Errorf("%s: got %s; want %s", c.name, got, c.want)
		}
	}
}

func TestTheCPUTimeOfAProcessIsWhatItSaysItselfAndDoesNotFallWhenAChildEnds(t *testing.T) {
	needProc(t)
	pid, out, _ := burning(t)
	said := make(chan string, 1)
	go func() {
		line, _ := out.ReadString('\n')
		_, _ = out.ReadString('\n')
		over, _ := out.ReadString('\n')
		said <- line + over
	}()
	seen, last := lastSeen{}, int64(0)
	for {
		if now := seen.usage([]int{pid}); *now.CPUNs < last {
			t.Fatalf("%d ns after %d", *now.CPUNs, last)
		} else {
			last = *now.CPUNs
		}
		select {
		case text := <-said:
			// times prints user and system time: "0m0.560000s 0m0.000000s".
			var minutes int
			var seconds float64
			if _, err := fmt.Sscanf(text, "%dm%fs", &minutes, &seconds); err != nil {
				t.Fatal(text, err)
			}
			want := float64(minutes)*60 + seconds
			if got := float64(*seen.usage([]int{pid}).CPUNs) / 1e9; want == 0 || got < want-0.05 || got > want+0.5 {
				t.Errorf("%.2f s; it says %.2f", got, want)
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestOfTwoProcessesOneMayEndBeforeTheOtherAndTheirSumDoesNotFall(t *testing.T) {
	needProc(t)
	first, said, end := burning(t)
	second, alsoSaid, endSecond := burning(t)
	for _, out := range []*bufio.Reader{said, alsoSaid} {
		for line := ""; line != "over\n"; line, _ = out.ReadString('\n') {
		}
	}
	file := t.TempDir() + "/samples"
	in, asks := io.Pipe()
	ended := make(chan error)
	go func() { ended <- sampleOthers(file, in) }()
	ask := func() { _, _ = fmt.Fprintf(asks, `{"generator":[%d,%d],"broker":[]}`+"\n", first, second) }
	ask()
	for got := 0; got < 1; got = len(samples(t, file)) {
		time.Sleep(10 * time.Millisecond)
	}
	end()
	ask()
	for got := 0; got < 2; got = len(samples(t, file)) {
		time.Sleep(10 * time.Millisecond)
	}
	own := usage([]int{second})
	endSecond()
	ask()
	_ = asks.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	lines := samples(t, file)
	both, one, none := lines[0].Generator, lines[1].Generator, lines[2].Generator
	if *both.CPUNs < *own.CPUNs+tickNs || *one.CPUNs < *both.CPUNs {
		t.Errorf("%d ns, then %d, where one alone has %d", *both.CPUNs, *one.CPUNs, *own.CPUNs)
	}
	if *both.RSSBytes <= *own.RSSBytes || *one.RSSBytes != *own.RSSBytes {
		t.Errorf("%d bytes, then %d, where one alone has %d", *both.RSSBytes, *one.RSSBytes, *own.RSSBytes)
	}
	if none == nil || none.CPUNs != nil || lines[0].Broker != nil {
		t.Errorf("nothing is left: %+v; there is no broker: %+v", none, lines[0].Broker)
	}
}

func TestHowLongThreadsWaitedForACoreIsKnownOfAllThreads(t *testing.T) {
	needProc(t)
	threads := 8 * runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	before := usage([]int{os.Getpid()})
	var over sync.WaitGroup
	for range threads {
		over.Go(func() {
			for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
			}
		})
	}
	over.Wait()
	after := usage([]int{os.Getpid()})
	if waited, ran := *after.WaitNs-*before.WaitNs, *after.CPUNs-*before.CPUNs; waited <= ran {
		t.Errorf("%d threads waited for %d ns and ran for %d", threads, waited, ran)
	}
}

func TestWhatGoesOverTheNetworkIsCounted(t *testing.T) {
	needProc(t)
	// The kernel's figures from other files; other processes use the network during the test.
	devices, _ := filepath.Glob("/sys/class/net/*/device")
	if len(devices) == 0 {
		devices, _ = filepath.Glob("/sys/class/net/[!l]*/address")
	}
	got := readNetwork()
	var rx, tx int64
	for _, device := range devices {
		folder := filepath.Dir(device)
		for name, sum := range map[string]*int64{"rx_bytes": &rx, "tx_bytes": &tx} {
			n, _ := strconv.ParseInt(strings.TrimSpace(read(folder, "statistics", name)), 10, 64)
			*sum += n
		}
	}
	if more := rx - got.RxBytes; more < 0 || more > 1e8 {
		t.Errorf("%d bytes came in; the kernel says %d", got.RxBytes, rx)
	}
	if more := tx - got.TxBytes; more < 0 || more > 1e8 {
		t.Errorf("%d bytes went out; the kernel says %d", got.TxBytes, tx)
	}
}

func BenchmarkSample(b *testing.B) {
	for b.Loop() {
		(&sampler{}).read(time.Now())
	}
}

func TestAMachinesTimeIsItsCoresTimesTheClock(t *testing.T) {
	needProc(t)
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
