//go:build unix && !linux

package rabbitmq

import (
	"os/exec"
	"syscall"
)

func own(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
