//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

func pass(command *exec.Cmd, s os.Signal) { _ = command.Process.Signal(s) }

func interrupt(command *exec.Cmd) { _ = command.Process.Signal(syscall.SIGINT) }

func killGroup(command *exec.Cmd) { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }

func signalNumber(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return int(status.Signal())
	}
	return 0
}
