// Package scripttest runs k6 scripts of an extension: the test's own program is the k6.
package scripttest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	// Code is its exit code; 99 means that a threshold was crossed.
	Code int
	// Said is its output and errors.
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

// Odd calls all that a module exports with values that it cannot take: at the script's top, in setup, an iteration, teardown and the summary, of
// open objects and of closed ones. Each call has to return, or to throw a sentence that begins with prefix. objects is the text of an object that
// has one of each class; further are the texts of more values. `it` is the module there.
func Odd(t testing.TB, env []string, module, prefix, objects, further string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "odd.js")
	text := strings.NewReplacer("{module}", module, "{prefix}", prefix, "{objects}", objects, "{further}", further).Replace(odd)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ended := Run(t, env, path)
	if ended.Code != 0 || strings.Count(ended.Said, "all called") != 9 {
		t.Errorf("%d: %s", ended.Code, ended.Said)
	}
	for line := range strings.Lines(ended.Said) {
		if strings.Contains(line, "ODD") || strings.Contains(line, "panic") {
			t.Error(line)
		}
	}
}

// odd leaves out calls that would fail later, where k6 only looks at the script.
const odd = `import * as it from "{module}";
const cyclic = { topic: "x", messages: [{}] };
cyclic.self = cyclic.messages[0] = cyclic;
const all = [undefined, null, 0.2, NaN, "", true, [0.2], {}, () => 1, Symbol("s"), 10n, new Date(0), cyclic, { toJSON() { throw new Error("own") } },
	{ topic: 7, brokers: 7, servers: 7, url: 7, path: 7, schema: 7, messages: 7, limit: "x" }, {further}];
function look(call, at, error) {
	if (!/^(GoError: {prefix}|GoError: \w+Async cannot be called|TypeError: Cannot convert a)/.test(error) || /panic|runtime error|interface conversion|json:|sobek/.test(error)) {
		console.error("ODD", call, at, String(error));
	}
}
function odd(call, f) {
	all.forEach((one, at) => {
		for (const args of [[], [one], [one, one, one]]) {
			try {
				Promise.resolve(f(...args)).catch((error) => look(call, at, error));
			} catch (error) {
				look(call, at, error);
			}
		}
	});
}
function every(where) {
	for (const [name, one] of Object.entries(it)) {
		if (/^[A-Z].*[a-z]$/.test(name)) odd(where + " new " + name, (...args) => new one(...args));
		else if (typeof one === "function") odd(where + " " + name, one);
	}
	for (const [name, one] of Object.entries({objects})) {
		const methods = Object.keys(one).sort().filter((method) => where !== "top 0" || !/create|delete|initialize|Setup/i.test(method));
		for (const method of methods.filter((name) => !/^close/.test(name))) odd(where + " " + name + "." + method, (...args) => one[method](...args));
		for (const method of methods.filter((name) => /^close/.test(name))) odd(where + " " + name + "." + method, (...args) => one[method](...args));
		for (const method of methods) odd(where + " closed " + name + "." + method, (...args) => one[method](...args));
	}
	console.log("all called", where);
}
export const options = { setupTimeout: "100s", teardownTimeout: "100s" };
every("top " + __VU);
export const setup = () => every("setup");
export default () => every("default");
export const teardown = () => every("teardown");
export const handleSummary = () => every("summary");
`
