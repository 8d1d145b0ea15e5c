//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
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

func TestSamplesShowWhatTheCommandUses(t *testing.T) {
	needProc(t)
	file := filepath.Join(t.TempDir(), "resources-1.jsonl")
	// Its clock is said to be an hour ahead.
	command := exec.Command(program(t), "supervise", "-sample", file, "-ahead", "3600000000000", "--", "sh", "-c",
		"i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; sleep 1.2")
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	began := time.Now()
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := samples(t, file)
	if len(lines) < 3 {
		t.Fatalf("%d samples; want one at the begin, one a second, and one at the end", len(lines))
	}
	first, last := lines[0], lines[len(lines)-1]
	from, to := float64(began.UnixMilli())-3_600_000, float64(time.Now().UnixMilli())-3_600_000
	if first.UnixMs < from-1 || last.UnixMs > to+1 || last.UnixMs <= first.UnixMs {
		t.Errorf("samples from %f to %f; want them in %f to %f", first.UnixMs, last.UnixMs, from, to)
	}
	if used := *last.Generator.CPUNs - *first.Generator.CPUNs; used < 10*tickNs/2 || used > 60_000_000_000 {
		t.Errorf("the loop used %d ns", used)
	}
	if *first.Generator.RSSBytes < 1_000_000 || *first.Machine.CPUNs <= *first.Machine.IdleNs || *last.Machine.CPUNs <= *first.Machine.CPUNs {
		t.Errorf("%+v", first)
	}
	if first.Network == nil || first.Broker != nil {
		t.Errorf("network %v, broker %v", first.Network, first.Broker)
	}
}
