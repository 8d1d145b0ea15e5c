//go:build unix

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestTheEnvironmentComesOnStandardInputAndNothingElseIsInherited(t *testing.T) {
	t.Setenv("K6_VUS", "50")
	command, stdin, out := started(t, "supervise", "-env", "-control", "--", "sh", "-c",
		`cd / && echo "$HOME|$NATS_URL|${K6_VUS-none}|$PATH"; read -r line; echo "got $line"`)
	order(t, stdin, `{"NATS_URL":"nats://a:s3cret@host","PATH":"/bin"}`)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	expect(t, out, here+"|nats://a:s3cret@host|none|/bin")
	if arguments := strings.Join(command.Args, " "); strings.Contains(arguments, "s3cret") {
		t.Errorf("the command line holds the secret: %s", arguments)
	}
	order(t, stdin, "say on")
	expect(t, out, "got on")
	_, stdin, out = started(t, "supervise", "-env", "--", "sh", "-c", `echo "$PATH"`)
	order(t, stdin, `{}`)
	expect(t, out, os.Getenv("PATH"))
}

func TestAFirstLineThatIsNoEnvironmentEndsAgentAndIsNotRepeated(t *testing.T) {
	command := exec.Command(program(t), "supervise", "-env", "--", "echo", "started")
	command.Stdin = strings.NewReader("s3cret\n")
	out, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the first line is not an environment") {
		t.Errorf("it prints %q (%v)", out, err)
	}
	if strings.Contains(string(out), "s3cret") || strings.Contains(string(out), "started") {
		t.Errorf("it prints %q", out)
	}
}

func TestASilentConnectionEndsTheCommandAndASignOfLifeIsNoOrder(t *testing.T) {
	command, stdin, out := started(t, "supervise", "-lease", "1s", "-control", "--", "sh", "-c",
		"trap 'exit 44' INT; echo ready; read -r line; echo \"got $line\"; while :; do sleep 0.05; done")
	defer stdin.Close() // it stays open all the time
	expect(t, out, "ready")
	for range 10 { // 2 s, longer than the lease
		order(t, stdin, "alive")
		time.Sleep(200 * time.Millisecond)
	}
	order(t, stdin, "say on")
	expect(t, out, "got on")
	_ = command.Wait()
	if code := command.ProcessState.ExitCode(); code != 44 {
		t.Errorf("exit code %d; want 44: interrupted", code)
	}
}
