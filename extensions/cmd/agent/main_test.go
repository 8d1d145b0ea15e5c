//go:build unix

package main

import (
	"os/exec"
	"strings"
	"testing"
)

func TestWhatAgentCannotDoIsASentence(t *testing.T) {
	agent := program(t)
	for _, one := range []struct {
		arguments, want string
	}{
		{"", help},
		{"guard", "agent: there is no command \"guard\"; the commands are supervise, clock, ping, disk, sample and tunnel\n"},
		{"-clock", "agent: there is no command \"-clock\"; the commands are supervise, clock, ping, disk, sample and tunnel\n"},
		{"ping", "agent: ping takes host:port and nothing else\n"},
		{"disk -x", "agent: disk takes folder and nothing else\n"},
		{"tunnel a:1 b:2", "agent: tunnel takes host:port and nothing else\n"},
		{"supervise -grace 1s", "agent: supervise: no command\n"},
	} {
		command := exec.Command(agent, strings.Fields(one.arguments)...)
		if out, _ := command.CombinedOutput(); string(out) != one.want || command.ProcessState.ExitCode() != 2 {
			t.Errorf("agent %s: exit code %d and %q; want 2 and %q", one.arguments, command.ProcessState.ExitCode(), out, one.want)
		}
	}
}
