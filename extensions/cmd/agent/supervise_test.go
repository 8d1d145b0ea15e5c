//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// agentEnv is set for the processes that tests start of this program: these are agent.
const agentEnv = "MQBENCH_TEST_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(agentEnv) != "" {
		main()
	}
	_ = os.Setenv(agentEnv, "1")
	os.Exit(m.Run())
}

// program gives a program that is agent: what is tested is what happens to processes.
func program(t *testing.T) string {
	t.Helper()
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// child starts `agent supervise -- sh -c script` and returns its command, and the first line that it prints.
func child(t *testing.T, script string) (*exec.Cmd, string) {
	t.Helper()
	command, _, out := started(t, "supervise", "--", "sh", "-c", script)
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return command, strings.TrimSpace(line)
}

// started is agent with these arguments, its stdin and its output.
func started(t *testing.T, arguments ...string) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
	t.Helper()
	command := exec.Command(program(t), arguments...)
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() })
	return command, stdin, bufio.NewReader(out)
}

func TestTheCommandMayOpenAsManyFilesAsTheHardLimitAllows(t *testing.T) {
	for _, c := range []struct{ limits, want string }{
		{"ulimit -S -n 64; ulimit -H -n 1000", "1000"},
		{"ulimit -S -n 64", "65536"},
	} {
		command := exec.Command("sh", "-c", c.limits+`; exec "$0" supervise -- sh -c "ulimit -S -n"`, program(t))
		// It ends a command whose standard input ends.
		if _, err := command.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		out, err := command.Output()
		hard, _ := exec.Command("sh", "-c", "ulimit -H -n").Output()
		if n, err := strconv.Atoi(strings.TrimSpace(string(hard))); err == nil && n < mostFiles && c.want == "65536" {
			c.want = strconv.Itoa(n)
		}
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
			t.Errorf("%s: the command may open %s files (%v), want %s", c.limits, got, err, c.want)
		}
	}
}

// gone waits until the process of that number has ended.
func gone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if syscall.Kill(n, 0) != nil || (err == nil && strings.Contains(string(stat), ") Z ")) {
			return
		}
	}
	t.Fatalf("process %s is still there", pid)
}

func TestTheCommandAndItsChildrenEndWhenTheParentIsGone(t *testing.T) {
	const ignores = "trap '' INT TERM; sleep 1000 & echo $$,$!; while :; do wait; done"
	for name, c := range map[string]struct{ arguments, script, said string }{
		"it ends by itself":                               {"-grace 5s", "trap 'exit 0' INT; echo $$; while :; do sleep 0.05; done", ""},
		"it ignores the signal":                           {"-grace 200ms", ignores, ""},
		"it reads nothing of more than what a pipe holds": {"-grace 200ms -control", ignores, "say " + strings.Repeat("x", 1<<10) + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			_, stdin, out := started(t, slices.Concat([]string{"supervise"}, strings.Fields(c.arguments), []string{"--", "sh", "-c", c.script})...)
			pids, err := out.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(stdin, strings.Repeat(c.said, 200))
			_ = stdin.Close() // what the kernel does when the parent dies, however it dies
			for pid := range strings.SplitSeq(strings.TrimSpace(pids), ",") {
				gone(t, pid)
			}
		})
	}
}

func TestADaemonThatLeftItsGroupIsGoneAsWell(t *testing.T) {
	needProc(t)
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Fatal("setsid (util-linux) is missing")
	}
	command, pid := child(t, "setsid sh -c 'echo $$; exec sleep 1000' </dev/null & sleep 0.3")
	_ = command.Wait()
	gone(t, pid)
}

func TestTheCommandEndsWhenAgentItselfIsKilled(t *testing.T) {
	needProc(t)
	command, pid := child(t, "echo $$; exec sleep 1000")
	_ = command.Process.Kill()
	_ = command.Wait()
	gone(t, pid)
}

func TestTheExitCodeIsTheCommandsAndASignalReachesItOnce(t *testing.T) {
	const counts = "n=0; trap 'n=$((n+41))' INT; trap 'n=$((n+51))' TERM; echo ready; while [ $n = 0 ]; do sleep 0.05; done; sleep 0.3; exit $n"
	nothing := func(*exec.Cmd, io.Writer) {}
	for name, c := range map[string]struct {
		script string
		do     func(*exec.Cmd, io.Writer)
		want   int
	}{
		"a signal to agent":      {counts, func(agent *exec.Cmd, _ io.Writer) { _ = agent.Process.Signal(syscall.SIGINT) }, 41},
		"the order INT":          {counts, func(_ *exec.Cmd, stdin io.Writer) { order(t, stdin, "signal INT") }, 41},
		"the order TERM":         {counts, func(_ *exec.Cmd, stdin io.Writer) { order(t, stdin, "signal TERM") }, 51},
		"a signal that ended it": {"echo ready; kill -9 $$", nothing, 128 + 9},
	} {
		command, stdin, _ := controlled(t, c.script)
		c.do(command, stdin)
		_ = command.Wait()
		if code := command.ProcessState.ExitCode(); code != c.want {
			t.Errorf("%s: exit code %d; want %d", name, code, c.want)
		}
	}
}

// controlled starts `agent supervise -control -- sh -c script` and waits for its first line.
func controlled(t *testing.T, script string) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
	t.Helper()
	command, stdin, out := started(t, "supervise", "-control", "--", "sh", "-c", script)
	expect(t, out, "ready")
	return command, stdin, out
}

func expect(t *testing.T, out *bufio.Reader, want string) {
	t.Helper()
	if got, err := out.ReadString('\n'); err != nil || got != want+"\n" {
		t.Fatalf("it prints %q (%v); want %q", got, err, want)
	}
}

func order(t *testing.T, stdin io.Writer, line string) {
	t.Helper()
	if _, err := io.WriteString(stdin, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsSaidReachesTheCommandLineByLineAndNothingElseDoes(t *testing.T) {
	_, stdin, out := controlled(t, "echo ready; while read -r line; do echo \"got $line\"; done; echo end")
	for _, text := range []string{`{"t0UnixNs":"1"}`, "say it twice", "", "signal INT"} {
		for _, noOrder := range []string{"", "hello", "signal KILL", "signal"} {
			order(t, stdin, noOrder)
		}
		order(t, stdin, "say "+text)
		expect(t, out, "got "+text)
	}
}

func TestTheCommandSeesTheEndOfItsInput(t *testing.T) {
	_, stdin, out := controlled(t, "trap '' INT; echo ready; cat; echo end")
	order(t, stdin, "say last words")
	_ = stdin.Close()
	expect(t, out, "last words")
	expect(t, out, "end")
}

func TestTheClockAnswersEachLineWithTheTime(t *testing.T) {
	command, stdin, out := started(t, "clock")
	last := time.Now().UnixNano()
	for range 5 {
		order(t, stdin, "?")
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		told, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if now := time.Now().UnixNano(); err != nil || told < last || told > now {
			t.Fatalf("%q (%v) is not between %d and %d", line, err, last, now)
		}
		last = told
	}
	_ = stdin.Close()
	if err := command.Wait(); err != nil {
		t.Errorf("it ends with %v at the end of its input", err)
	}
}
