package main

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// adopt makes agent the parent of every descendant whose own parent ends, to find daemons that leave their process group and session
// (Erlang's epmd) at the end. The kernel kills the command if agent itself is killed.
func adopt(command *exec.Cmd) {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	command.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// killAdopted kills the processes left below agent, repeatedly, because the children of a killed process become agent's own.
func killAdopted() {
	for range 100 {
		left := children("/proc/self/task/*/children")
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			_, _ = syscall.Wait4(pid, nil, 0, nil)
		}
	}
}

// flush is the call that databases and brokers use: it writes the data, and the metadata needed to find the data again.
func flush(file *os.File) error { return unix.Fdatasync(int(file.Fd())) }
