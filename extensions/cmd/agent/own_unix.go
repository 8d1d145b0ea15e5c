//go:build unix && !linux

package main

import (
	"os/exec"
	"syscall"
)

func own(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// adopt and killAdopted do nothing here: only Linux lets a process other than init adopt orphans.
func adopt() {}

func killAdopted() {}
