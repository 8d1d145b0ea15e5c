//go:build unix && !linux

package main

import (
	"os/exec"
	"syscall"
)

func own(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
