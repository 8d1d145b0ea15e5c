//go:build !unix

package brokertest

import "os/exec"

func group(*exec.Cmd) {}

func end(process *exec.Cmd) { _ = process.Process.Kill() }

func freeze(*exec.Cmd) {}
