package main

import (
	"os"
	"os/exec"
)

func own(*exec.Cmd) {}

func adopt() {}

func killAdopted() {}

// pass ends the command, whatever the signal's name.
func pass(command *exec.Cmd, _ os.Signal) { interrupt(command) }

// interrupt kills the command: Windows cannot send a signal to another process.
func interrupt(command *exec.Cmd) { _ = command.Process.Kill() }

func killGroup(command *exec.Cmd) { _ = command.Process.Kill() }

func signalNumber(*os.ProcessState) int { return 0 }

// raiseFiles does nothing: Windows has no such limit.
func raiseFiles() {}
