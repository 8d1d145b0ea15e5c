package main

import (
	"os"
	"os/exec"
)

func own(*exec.Cmd) {}

func adopt() {}

func killAdopted() {}

// pass: a signal of whatever name ends the command.
func pass(command *exec.Cmd, _ os.Signal) { interrupt(command) }

// interrupt: Windows has no signal for another process; the command is killed.
func interrupt(command *exec.Cmd) { _ = command.Process.Kill() }

func killGroup(command *exec.Cmd) { _ = command.Process.Kill() }

func signalNumber(*os.ProcessState) int { return 0 }
