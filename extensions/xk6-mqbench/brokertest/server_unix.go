//go:build unix

package brokertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// group ends a process's children (strace's server) with it.
func group(process *exec.Cmd) { process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Freeze stops a process until it gets SIGCONT or is killed, and returns when all its threads have stopped: on a busy machine a thread goes
// on until it is its turn to stop, and would answer messages that the test sends before that.
func Freeze(t testing.TB, process *os.Process) {
	t.Helper()
	if err := process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); !standsStill(process); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d does not stand still within %s", process.Pid, patience)
		}
	}
}

// standsStill is always true where there is no /proc.
func standsStill(process *os.Process) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", process.Pid))
	for _, thread := range threads {
		if status, err := os.ReadFile(thread); err == nil && !strings.Contains(string(status), "State:\tT") {
			return false
		}
	}
	return true
}

func end(process *exec.Cmd) { _ = syscall.Kill(-process.Process.Pid, syscall.SIGKILL) }
