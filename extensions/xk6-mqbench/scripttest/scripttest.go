// Package scripttest runs k6 scripts of an extension: the test's own program is the k6.
package scripttest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"
)

// as is the environment variable that makes the test's program a k6.
const as = "MQBENCH_TEST_AS_K6"

// most is how long a script may take.
const most = 2 * time.Minute

// Main is k6, by its cmd.Execute, where the program was started as one: it returns only where it was not. For TestMain.
func Main(execute func()) {
	if os.Getenv(as) != "" {
		execute()
		os.Exit(0)
	}
}

// Ended is a k6 that has ended.
type Ended struct {
	// Code is its exit code; 99: a threshold was crossed.
	Code int
	// Said is what it wrote to standard output and error.
	Said string
}

// Run runs `k6 run` with arguments, the last of which is the script, and variables like "NATS_URL=nats://...".
func Run(t testing.TB, env []string, args ...string) Ended {
	t.Helper()
	return K6(t, env, append([]string{"run", "--no-usage-report", "--no-color"}, args...)...)
}

// K6 runs the command with arguments.
func K6(t testing.TB, env []string, args ...string) Ended {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	run := exec.CommandContext(t.Context(), program, args...)
	run.Env = append(append(os.Environ(), as+"=1", "K6_AUTO_EXTENSION_RESOLUTION=false"), env...)
	run.Stdout, run.Stderr = &said, &said
	late := time.AfterFunc(most, func() { _ = run.Process.Kill() })
	defer late.Stop()
	err = run.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return Ended{Code: run.ProcessState.ExitCode(), Said: said.String()}
}
