//go:build unix

package brokertest

import (
	"os/exec"
	"syscall"
)

// group: what a process starts (strace a server) ends with it.
func group(process *exec.Cmd) { process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// freeze stops it until it is killed.
func freeze(process *exec.Cmd) { _ = syscall.Kill(-process.Process.Pid, syscall.SIGSTOP) }

func end(process *exec.Cmd) { _ = syscall.Kill(-process.Process.Pid, syscall.SIGKILL) }
