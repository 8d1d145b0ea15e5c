//go:build !unix

package brokertest

import (
	"os"
	"os/exec"
	"testing"
)

func group(*exec.Cmd) {}

func end(process *exec.Cmd) { _ = process.Process.Kill() }

// Freeze does nothing: there is no SIGSTOP.
func Freeze(testing.TB, *os.Process) {}
