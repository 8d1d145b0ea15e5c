//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// own gives the command its own process group, because a terminal's Ctrl-C must not reach it.
func own(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func pass(command *exec.Cmd, s os.Signal) { _ = command.Process.Signal(s) }

func killGroup(command *exec.Cmd) { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }

// mostFiles is the limit of open files that a command gets where more are allowed: some programs (Erlang's among them) close every number
// up to the limit when they start another one, which takes minutes with the 1 073 741 816 of some container engines.
const mostFiles = 65536

// raiseFiles raises the soft limit of open files towards the hard one, for the command too. Every connection takes a file, and shells start
// with a soft limit of 1024 or 256, which brokers written in C or Erlang keep.
//
// Subtle: Go has raised it for agent itself, but gives commands the old limit unless agent has set one.
func raiseFiles() {
	var now syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now) != nil {
		return
	}
	now.Cur = min(now.Max, mostFiles)
	_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &now)
}
