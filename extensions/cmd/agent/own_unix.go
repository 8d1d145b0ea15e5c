//go:build unix && !linux

package main

import (
	"os/exec"
	"syscall"
)

func own(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// adopt and killAdopted: only Linux hands orphans to anybody else than init.
func adopt() {}

func killAdopted() {}
