//go:build acceptance && unix

package generator

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// stoppedChild says in the environment of a child where to write what it measured, stoppedEvery after how many messages it stops itself.
const (
	stoppedChild = "MQBENCH_TEST_STOPPED"
	stoppedEvery = "MQBENCH_TEST_STOPPED_EVERY"
)

type blamed struct {
	Words             string
	LagNs, QueuedNs   int64
	Received, NotSent int64
	StoppedNs         int64
}

// The child stops itself inside send calls, which compute; this process lets it go on later.
func TestAGeneratorThatIsStoppedInASendBlamesItself(t *testing.T) {
	if path := os.Getenv(stoppedChild); path != "" {
		measureStopped(t, path)
		return
	}
	for _, c := range []struct {
		every int64
		pause time.Duration
		// At least so much lag: of each stop pause/1ms messages that became due in it.
		lagNs int64
	}{
		{600, 400 * time.Millisecond, 3 * 60_000 * ms},
		{50, 12 * time.Millisecond, 30 * 60 * ms},
	} {
		// A machine that others use stops it too, and makes send calls long: one of three quiet times is enough.
		var stops int
		var all []blamed
		for range 3 {
			if stops, all = stoppedRuns(t, c.every, c.pause); !slices.ContainsFunc(all, func(b blamed) bool { return b.QueuedNs > b.LagNs/2 }) {
				break
			}
		}
		// A stop that comes while one is on its way is one with it.
		if want := int(1999/c.every) * len(all) * 9 / 10; stops < want {
			t.Errorf("stopped %d times in %d runs; want %d", stops, len(all), want)
		}
		for _, b := range all {
			t.Logf("%s for %s: lag %d ms, queued %d ms", b.Words, c.pause, b.LagNs/ms, b.QueuedNs/ms)
			if b.LagNs < c.lagNs || b.QueuedNs > b.LagNs/2 || b.Received != 2000 || b.NotSent != 0 {
				t.Errorf("%+v, stopped for %s; want most of it to be lag", b, c.pause)
			}
			if want := 1999 / c.every * c.pause.Nanoseconds() / 2; b.StoppedNs < want {
				t.Errorf("%s: stops of %d ms were written; want %d", b.Words, b.StoppedNs/ms, want/ms)
			}
		}
	}
}

// stoppedRuns is how often the child was stopped, and what it measured.
func stoppedRuns(t *testing.T, every int64, pause time.Duration) (int, []blamed) {
	t.Helper()
	folder := t.TempDir()
	output, err := os.Create(filepath.Join(folder, "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	path := filepath.Join(folder, "measured.json")
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), stoppedChild+"="+path, stoppedEvery+"="+strconv.FormatInt(every, 10))
	child.Stdout, child.Stderr = output, output
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	stops := letGoOn(t, child.Process.Pid, pause)
	text, err := os.ReadFile(path)
	if err != nil {
		said, _ := os.ReadFile(output.Name())
		t.Fatalf("%v\n%s", err, said)
	}
	var all []blamed
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return stops, all
}

// letGoOn continues the child whenever it has stopped, until it ends.
func letGoOn(t *testing.T, pid int, pause time.Duration) (stops int) {
	t.Helper()
	for {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil); err == syscall.EINTR {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		if !status.Stopped() {
			return stops
		}
		stops++
		time.Sleep(pause)
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
}

func measureStopped(t *testing.T, path string) {
	limit := int64(500)
	every, err := strconv.ParseInt(os.Getenv(stoppedEvery), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	var all []blamed
	for _, c := range []struct {
		words                  string
		connections, producers int
		inFlight               *int64
	}{
		{"one connection", 1, 1, nil},
		{"several producers on two connections", 2, 6, nil},
		{"behind a gate", 2, 6, &limit},
	} {
		p := testPlan(1000, 2000)
		p.Connections, p.Producers, p.InFlight, p.DrainNs = c.connections, c.producers, c.inFlight, 30_000*ms
		m := measure(t, p, &stub{onSend: func(msg *broker.Message) error {
			if msg.Index%every == every/2 && msg.Index < 2000-every/2 {
				began := time.Now()
				if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
					return err
				}
				for time.Since(began) < 5*time.Millisecond { // it stops somewhere here
				}
			}
			return nil
		}}, nil)
		all = append(all, blamed{c.words, m.metrics["lag"].Sum, m.metrics["queued"].Sum, *m.window.Received, m.window.NotOffered, m.stoppedNs})
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
