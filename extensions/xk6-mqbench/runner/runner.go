// Package runner runs the TypeScript of mqbench inside of k6: schema, planner, verdict and report, as the bundle that `npm run build` makes of
// runner/inside-k6.
package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/grafana/sobek"
)

// fileEnv names the bundle for a k6 that was linked without one.
const fileEnv = "MQBENCH_RUNNER"

// ErrAbsent says that this k6 was linked without the bundle.
var ErrAbsent = errors.New("this k6 cannot plan and judge by itself: use the one that `mqbench build` makes")

// Runner is a bundle; nil: there is none. Its methods take some seconds, and may be called by any goroutine.
type Runner struct {
	version string
	text    string

	mu      sync.Mutex
	program *sobek.Program
}

// Staged is a load before it runs (runner/inside-k6/words.ts).
type Staged struct {
	Plan json.RawMessage `json:"plan"`
	// URL is the broker's, with its password; nil: the plan's variable has it.
	URL *string `json:"url"`
	// Folder of results; Run, below it, is that of the run. Files are what both begin with, by path.
	Folder string            `json:"folder"`
	Run    string            `json:"run"`
	Files  map[string]string `json:"files"`
	// Scenario is k6's, which hands out slots.
	Scenario map[string]any `json:"scenario"`
}

// Judged is what a run came to.
type Judged struct {
	// JSON is result.json, Text the same for people. Files are those that result.json names, by path.
	JSON  string            `json:"json"`
	Text  string            `json:"text"`
	Files map[string]string `json:"files"`
	// Reason says why it is no PASS; "" where it is one.
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	// Figures are of the window, ns: p50, p99, p999, max, as far as there are some.
	Figures map[string]float64 `json:"figures"`
	Lost    *float64           `json:"lost"`
	SLA     []struct {
		Line string `json:"line"`
		Met  bool   `json:"met"`
	} `json:"sla"`
}

// embedded is the bundle that this program was linked with.
var embedded string

// Embed takes over the bundle of a program that was linked with it. For its init.
func Embed(bundle string) { embedded = bundle }

// Of is the bundle of this program, or that which the environment names.
func Of(version string, lookup func(string) (string, bool)) (*Runner, error) {
	if embedded != "" {
		return &Runner{version: version, text: embedded}, nil
	}
	file, named := lookup(fileEnv)
	if !named || file == "" {
		return nil, ErrAbsent
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", fileEnv, err)
	}
	return &Runner{version: version, text: string(text)}, nil
}

// Open plans what `mqbench.open` was given, as JSON.
func (r *Runner) Open(scenario string, env map[string]string) (*Staged, error) {
	variables, err := json.Marshal(env)
	if err != nil {
		return nil, err
	}
	return ask[Staged](r, fmt.Sprintf("words.open(%s, %s)", scenario, variables))
}

// Load takes over a plan that was made before.
func (r *Runner) Load(plan string) (*Staged, error) {
	return ask[Staged](r, fmt.Sprintf("words.load(%s)", plan))
}

// Result judges the run of a folder.
func (r *Runner) Result(folder string, columns int) (*Judged, error) {
	name, err := json.Marshal(folder)
	if err != nil {
		return nil, err
	}
	return ask[Judged](r, fmt.Sprintf("words.result(%s, %d)", name, columns))
}

// Run judges a run by its own folder, without JSON and Text.
func (r *Runner) Run(folder string) (*Judged, error) {
	name, err := json.Marshal(folder)
	if err != nil {
		return nil, err
	}
	return ask[Judged](r, fmt.Sprintf("words.run(%s)", name))
}

// --- internal ---

// ask answers a question in JavaScript. The machine that does is gone afterwards: while a load runs nothing of it is left.
func ask[Answer any](r *Runner, question string) (*Answer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.program == nil {
		program, err := sobek.Compile("mqbench.js", r.text, false)
		if err != nil {
			return nil, fmt.Errorf("mqbench's bundle: %w", err)
		}
		r.program = program
	}
	rt := sobek.New()
	if err := rt.Set("go", host(rt, r.version)); err != nil {
		return nil, err
	}
	if _, err := rt.RunProgram(r.program); err != nil {
		return nil, fmt.Errorf("mqbench's bundle: %w", err)
	}
	value, err := rt.RunString("JSON.stringify(" + question + ")")
	if err != nil {
		return nil, sentence(err)
	}
	var answer Answer
	if err := json.Unmarshal([]byte(value.String()), &answer); err != nil {
		return nil, fmt.Errorf("mqbench's bundle: %w", err)
	}
	return &answer, nil
}

// sentence is an exception without the place in the bundle where it was thrown.
func sentence(err error) error {
	var thrown *sobek.Exception
	if !errors.As(err, &thrown) {
		return err
	}
	if object, is := thrown.Value().(*sobek.Object); is {
		if code := object.Get("exit"); code != nil && !sobek.IsUndefined(code) {
			return errors.New(object.Get("message").String())
		}
	}
	return fmt.Errorf("mqbench's bundle: %s", thrown.String())
}
