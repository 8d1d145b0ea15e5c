//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// build makes the guard binary: what is tested is what happens to processes.
func build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "guard")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary
}

// child starts `guard -- sh -c script` and returns its command, its stdin, and the first line that it prints.
func child(t *testing.T, grace, script string) (*exec.Cmd, io.WriteCloser, string) {
	t.Helper()
	command := exec.Command(build(t), "-grace", grace, "--", "sh", "-c", script)
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return command, stdin, strings.TrimSpace(line)
}

// gone waits until the process of that number has ended.
func gone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if syscall.Kill(n, 0) != nil || (err == nil && strings.Contains(string(stat), ") Z ")) {
			return
		}
	}
	t.Fatalf("process %s is still there", pid)
}

func TestTheCommandEndsWhenTheParentIsGone(t *testing.T) {
	_, stdin, pid := child(t, "5s", "trap 'exit 0' INT; echo $$; while :; do sleep 0.05; done")
	_ = stdin.Close() // what the kernel does when the parent dies, however it dies
	gone(t, pid)
}

func TestACommandThatIgnoresTheSignalIsKilledWithItsChildren(t *testing.T) {
	_, stdin, pids := child(t, "200ms", "trap '' INT TERM; sleep 1000 & echo $$,$!; while :; do wait; done")
	_ = stdin.Close()
	for _, pid := range strings.Split(pids, ",") {
		gone(t, pid)
	}
}

func TestADaemonThatLeftItsGroupIsGoneAsWell(t *testing.T) {
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("only Linux hands orphans to guard")
	}
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Fatal("setsid (util-linux) is missing")
	}
	command, _, pid := child(t, "5s", "setsid sh -c 'echo $$; exec sleep 1000' </dev/null & sleep 0.3")
	_ = command.Wait()
	gone(t, pid)
}

func TestTheCommandEndsWhenGuardItselfIsKilled(t *testing.T) {
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("only Linux ties a command to its guard's death")
	}
	command, _, pid := child(t, "5s", "echo $$; exec sleep 1000")
	_ = command.Process.Kill()
	_ = command.Wait()
	gone(t, pid)
}

func TestASignalIsPassedOnOnceAndTheExitCodeComesBack(t *testing.T) {
	command, _, _ := child(t, "5s", "n=0; trap 'n=$((n+1))' INT; echo ready; while [ $n = 0 ]; do sleep 0.05; done; sleep 0.3; exit $((40+n))")
	_ = command.Process.Signal(syscall.SIGINT)
	_ = command.Wait()
	if code := command.ProcessState.ExitCode(); code != 41 {
		t.Errorf("exit code %d; want 41: one signal", code)
	}
}

func TestASignalThatEndsTheCommandIsToldAs128Plus(t *testing.T) {
	command, _, _ := child(t, "5s", "echo ready; kill -9 $$")
	_ = command.Wait()
	if code := command.ProcessState.ExitCode(); code != 128+9 {
		t.Errorf("exit code %d; want 137", code)
	}
}
