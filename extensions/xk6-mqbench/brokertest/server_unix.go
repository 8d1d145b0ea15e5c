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

// group: what a process starts (strace a server) ends with it.
func group(process *exec.Cmd) { process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Freeze stops a process until it gets SIGCONT or is killed, and returns when all its threads stand still: on a busy machine a thread goes
// on until it is its turn to stop, and would answer what the test sends meanwhile.
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
