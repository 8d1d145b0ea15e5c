package rabbitmq

import (
	"os/exec"
	"syscall"
)

// own gives a command its own process group, and has the kernel end it with the tests, however they end.
func own(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
