//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
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

// program is this test as agent, because the tests look at processes.
var program, _ = os.Executable()

// agent is one that runs, its standard input and its output.
type agent struct {
	*exec.Cmd
	t     *testing.T
	stdin io.WriteCloser
	out   *bufio.Reader
}

func started(t *testing.T, arguments ...string) *agent {
	t.Helper()
	command := exec.Command(program, arguments...)
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
	return &agent{command, t, stdin, bufio.NewReader(out)}
}

// supervises starts `agent supervise <options> -- sh -c script`.
func supervises(t *testing.T, options, script string) *agent {
	t.Helper()
	return started(t, append(strings.Fields("supervise "+options+" -- sh -c"), script)...)
}

// says returns the next line of the command's output.
func (a *agent) says() string {
	a.t.Helper()
	line, err := a.out.ReadString('\n')
	if err != nil {
		a.t.Fatalf("it prints %q (%v)", line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

func (a *agent) expect(want string) {
	a.t.Helper()
	if got := a.says(); got != want {
		a.t.Fatalf("it prints %q; want %q", got, want)
	}
}

func (a *agent) order(line string) {
	a.t.Helper()
	if _, err := io.WriteString(a.stdin, line+"\n"); err != nil {
		a.t.Fatal(err)
	}
}

// code waits until it has ended.
func (a *agent) code() int {
	_ = a.Wait()
	return a.ProcessState.ExitCode()
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

func TestNothingIsLeft(t *testing.T) {
	const ignores = "trap '' INT TERM; sleep 1000 & echo $$,$!; while :; do wait; done"
	parentGone := func(a *agent) { _ = a.stdin.Close() } // as the kernel does when the parent dies, however it dies
	for name, c := range map[string]struct {
		options, script string
		do              func(*agent)
		linux           bool
	}{
		"the parent is gone": {"-grace 5s", "trap 'exit 0' INT; echo $$; while :; do sleep 0.05; done", parentGone, false},
		"the parent is gone, and the command ignores that": {"-grace 200ms", ignores, parentGone, false},
		"the parent is gone, and the command reads nothing of more than a pipe holds": {"-grace 200ms -control", ignores, func(a *agent) {
			_, _ = io.WriteString(a.stdin, strings.Repeat("say "+strings.Repeat("x", 1<<10)+"\n", 200))
			parentGone(a)
		}, false},
		"the command has ended, and a daemon has left its group": {"", "setsid sh -c 'echo $$; exec sleep 1000' </dev/null & sleep 0.3", func(a *agent) { _ = a.Wait() }, true},
		"agent is killed": {"", "echo $$; exec sleep 1000", func(a *agent) { _ = a.Process.Kill() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.linux {
				needProc(t)
			}
			a := supervises(t, c.options, c.script)
			pids := a.says()
			c.do(a)
			for pid := range strings.SplitSeq(pids, ",") {
				gone(t, pid)
			}
		})
	}
}

func TestTheExitCodeIsTheCommandsAndASignalReachesItOnce(t *testing.T) {
	const counts = "n=0; trap 'n=$((n+41))' INT; trap 'n=$((n+51))' TERM; echo ready; while [ $n = 0 ]; do sleep 0.05; done; sleep 0.3; exit $n"
	for name, c := range map[string]struct {
		script string
		do     func(*agent)
		want   int
	}{
		"a signal to agent":      {counts, func(a *agent) { _ = a.Process.Signal(syscall.SIGINT) }, 41},
		"the order INT":          {counts, func(a *agent) { a.order("signal INT") }, 41},
		"the order TERM":         {counts, func(a *agent) { a.order("signal TERM") }, 51},
		"a signal that ended it": {"echo ready; kill -9 $$", func(*agent) {}, 128 + 9},
	} {
		a := supervises(t, "-control", c.script)
		a.expect("ready")
		c.do(a)
		if code := a.code(); code != c.want {
			t.Errorf("%s: exit code %d; want %d", name, code, c.want)
		}
	}
}

func TestWhatIsSaidReachesTheCommandLineByLineAndNothingElseDoes(t *testing.T) {
	a := supervises(t, "-control", "trap '' INT; while read -r line; do echo \"got $line\"; done; echo end")
	for _, text := range []string{`{"t0UnixNs":"1"}`, "say it twice", "", "signal INT"} {
		for _, noOrder := range []string{"", "hello", "signal KILL", "signal"} {
			a.order(noOrder)
		}
		a.order("say " + text)
		a.expect("got " + text)
	}
	a.order("say last words")
	_ = a.stdin.Close()
	a.expect("got last words")
	a.expect("end")
}

func TestTheEnvironmentComesOnStandardInputAndNothingElseIsInherited(t *testing.T) {
	t.Setenv("K6_VUS", "50")
	a := supervises(t, "-env -control", `cd / && echo "$HOME|$NATS_URL|${K6_VUS-none}|$PATH"; read -r line; echo "got $line"`)
	a.order(`{"NATS_URL":"nats://a:s3cret@host","PATH":"/bin"}`)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	a.expect(here + "|nats://a:s3cret@host|none|/bin")
	if arguments := strings.Join(a.Args, " "); strings.Contains(arguments, "s3cret") {
		t.Errorf("the command line holds the secret: %s", arguments)
	}
	a.order("say on")
	a.expect("got on")
	a = supervises(t, "-env", `echo "$PATH"`)
	a.order(`{}`)
	a.expect(os.Getenv("PATH"))
}

func TestAFirstLineThatIsNoEnvironmentEndsAgentAndIsNotRepeated(t *testing.T) {
	command := exec.Command(program, "supervise", "-env", "--", "echo", "started")
	command.Stdin = strings.NewReader("s3cret\n")
	out, err := command.CombinedOutput()
	if said := string(out); err == nil || !strings.Contains(said, "the first line is not an environment") || strings.Contains(said, "s3cret") || strings.Contains(said, "started") {
		t.Errorf("it prints %q (%v)", said, err)
	}
}

func TestASilentConnectionEndsTheCommandAndASignOfLifeIsNoOrder(t *testing.T) {
	a := supervises(t, "-lease 1s -control", "trap 'exit 44' INT; echo ready; read -r line; echo \"got $line\"; while :; do sleep 0.05; done")
	defer a.stdin.Close() // it stays open all the time
	a.expect("ready")
	for range 10 { // 2 s, longer than the lease
		a.order("alive")
		time.Sleep(200 * time.Millisecond)
	}
	a.order("say on")
	a.expect("got on")
	if code := a.code(); code != 44 {
		t.Errorf("exit code %d; want 44: interrupted", code)
	}
}

func TestTheCommandMayOpenAsManyFilesAsTheHardLimitAllows(t *testing.T) {
	for _, c := range []struct{ limits, want string }{
		{"ulimit -S -n 64; ulimit -H -n 1000", "1000"},
		{"ulimit -S -n 64", "65536"},
	} {
		command := exec.Command("sh", "-c", c.limits+`; exec "$0" supervise -- sh -c "ulimit -S -n"`, program)
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

func TestTheClockAnswersEachLineWithTheTime(t *testing.T) {
	a := started(t, "clock")
	last := time.Now().UnixNano()
	for range 5 {
		a.order("?")
		line := a.says()
		told, err := strconv.ParseInt(line, 10, 64)
		if now := time.Now().UnixNano(); err != nil || told < last || told > now {
			t.Fatalf("%q (%v) is not between %d and %d", line, err, last, now)
		}
		last = told
	}
	_ = a.stdin.Close()
	if code := a.code(); code != 0 {
		t.Errorf("exit code %d at the end of its input", code)
	}
}

func TestWhatAgentCannotDoIsASentence(t *testing.T) {
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
		command := exec.Command(program, strings.Fields(one.arguments)...)
		if out, _ := command.CombinedOutput(); string(out) != one.want || command.ProcessState.ExitCode() != 2 {
			t.Errorf("agent %s: exit code %d and %q; want 2 and %q", one.arguments, command.ProcessState.ExitCode(), out, one.want)
		}
	}
}
