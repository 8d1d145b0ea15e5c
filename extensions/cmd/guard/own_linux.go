package main

import (
	"os/exec"
	"syscall"
)

// own gives the command its own process group, so that a terminal's Ctrl-C does not reach it, and has the kernel kill
// it if guard itself is killed.
func own(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
