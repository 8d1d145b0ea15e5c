//go:build unix

package rabbitmq

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// The levels of durability keep their promise: memory and os never flush, fsync does before it confirms. RabbitMQ 3 without a level does
// the same as fsync.
func TestOnlyLevelFsyncAndOldClassicQueuesFlushForEachMessage(t *testing.T) {
	s := running(t)
	const n = 100
	for _, test := range []struct {
		durability, only string
		least, most      int
	}{{"memory", "", 0, n / 10}, {"os", "", 0, n / 10}, {"fsync", "", n, 3 * n}, {"", "3.", n, 3 * n}} {
		t.Run(test.durability, func(t *testing.T) {
			r := begin(t, test.durability, "")
			if !strings.HasPrefix(r.session.server, test.only) {
				return // only for the other RabbitMQ
			}
			flushes := traced(t, s.Process().Pid, func() {
				for i := range n {
					r.send(100)
					// One at a time: messages that wait together share a flush.
					brokertest.Eventually(t, "the message is acknowledged", func() bool { return r.ackedSoFar() == i+1 })
				}
			})
			if flushes < test.least || flushes > test.most {
				t.Errorf("durability %q: %d flushes for %d messages, want %d to %d", test.durability, flushes, n, test.least, test.most)
			}
		})
	}
}

// traced counts the calls of fsync and fdatasync in a process, all of its threads, while do runs.
func traced(t *testing.T, pid int, do func()) int {
	t.Helper()
	program, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI needs strace: apt-get install strace")
		}
		t.Skip("there is no strace here: apt-get install strace")
	}
	file := filepath.Join(t.TempDir(), "trace")
	trace := exec.Command(program, "-f", "-e", "trace=fsync,fdatasync", "-o", file, "-p", strconv.Itoa(pid))
	said, err := trace.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Start(); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 4096)
	read, _ := said.Read(first)
	if words := string(first[:read]); !strings.Contains(words, "attached") {
		_ = trace.Wait()
		t.Skipf("strace may not look into another process here: %s", words)
	}
	time.Sleep(200 * time.Millisecond) // its other threads
	do()
	_ = trace.Process.Signal(syscall.SIGINT)
	_ = trace.Wait()
	calls, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// A call that another thread's interrupts is printed in two lines, the second with "resumed".
	return strings.Count(string(calls), "sync(")
}
