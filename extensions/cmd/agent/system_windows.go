package main

import (
	"os"
	"os/exec"
)

func own(*exec.Cmd) {}

// pass kills the command, whatever the signal's name: Windows cannot send a signal to another process.
func pass(command *exec.Cmd, _ os.Signal) { killGroup(command) }

func killGroup(command *exec.Cmd) { _ = command.Process.Kill() }

// raiseFiles does nothing: Windows has no such limit.
func raiseFiles() {}
