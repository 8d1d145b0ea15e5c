// Package mqbench is the k6 side of the generator: the JS module k6/x/mqbench, one JS module per driver, and the output by which the runner
// has several clients do one run. Apart from it only script/, scripttest/, runner/ and the js/ folders of drivers use JavaScript.
package mqbench

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"

	"github.com/grafana/sobek"
	"go.k6.io/k6/v2/js/modules"
	"go.k6.io/k6/v2/lib"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/generator"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/runner"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// rootModule is the module of the process's k6 test: every VU has an instance, and they share the loads.
type rootModule struct {
	test script.Test

	mu    sync.Mutex
	loads []*load
	// begun: k6's test has begun, and no load is new any more.
	begun bool
	vus   []modules.VU
	// output opens and closes the one load of a k6 that has it. It is nil if loads do so by k6's events.
	output *resultsOutput
}

type instance struct {
	vu   modules.VU
	root *rootModule
	// calls counts those with the same words: each is a separate load, and the first of one VU is the same load as the first of the others.
	calls map[string]int
}

func (r *rootModule) NewModuleInstance(vu modules.VU) modules.Instance {
	r.test.Join(vu)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.vus = append(r.vus, vu)
	return &instance{vu: vu, root: r, calls: map[string]int{}}
}

// Exports: mqbench.open(scenario) and mqbench.load(driver, plan) return a run; its slot() is the iteration.
func (m *instance) Exports() modules.Exports {
	api := m.vu.Runtime().NewObject()
	for name, call := range map[string]func([]sobek.Value) (*load, error){"open": m.open, "load": m.load} {
		script.Method(m.vu, api, name, func(args []sobek.Value) (sobek.Value, error) {
			if m.vu.State() != nil {
				return nil, fmt.Errorf("mqbench.%s belongs at the top of the script, outside of functions", name)
			}
			one, err := call(args)
			if err != nil {
				return nil, err
			}
			return m.run(one)
		})
	}
	return modules.Exports{Default: api}
}

// --- internal ---

// open plans the run that a scenario comes to.
func (m *instance) open(args []sobek.Value) (*load, error) {
	written, is := script.Argument(args, 0).(*sobek.Object)
	if !is {
		return nil, errors.New("mqbench.open: give it a scenario, e.g. { system: { broker: 'nats', url: 'nats://localhost:4222' }, workload: { rate: '1000/s', message: '256B', duration: '10s' } }")
	}
	text, err := script.JSON(written)
	if err != nil {
		return nil, fmt.Errorf("mqbench.open: the scenario cannot be written as JSON: %w", err)
	}
	return m.root.find(m.name("open "+string(text)), func() (*load, error) {
		env := m.environment()
		words, err := runner.Of(Version, env)
		if err != nil {
			return nil, fmt.Errorf("mqbench.open: %w", err)
		}
		staged, err := words.Open(text, env)
		if err != nil {
			return nil, err
		}
		return m.newLoad(string(staged.Plan), words, staged, env)
	})
}

// load takes a plan that was made before.
func (m *instance) load(args []sobek.Value) (*load, error) {
	text := ""
	if given := script.Argument(args, 1); given != nil {
		text = given.String()
	}
	one, err := m.root.find(m.name("load "+text), func() (*load, error) {
		env := m.environment()
		words, err := runner.Of(Version, env)
		if err != nil && !errors.Is(err, runner.ErrAbsent) {
			return nil, err
		}
		return m.newLoad(text, words, nil, env)
	})
	if err != nil {
		return nil, fmt.Errorf("mqbench.load: %w", err)
	}
	name, err := m.driverName(script.Argument(args, 0))
	if err != nil {
		return nil, err
	}
	if name != one.plan.Broker {
		return nil, fmt.Errorf("mqbench.load: the plan is for %s, the driver is %s", one.plan.Broker, name)
	}
	return one, nil
}

// find returns the load of that name, or makes it; k6's events open and close it.
func (r *rootModule) find(name string, make func() (*load, error)) (*load, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.loads {
		if one.name == name {
			return one, nil
		}
	}
	if r.begun {
		return nil, errors.New("another VU has none like it: every VU names the same loads, and nothing in them may be random or depend on the time or on __VU")
	}
	one, err := make()
	if err != nil {
		return nil, err
	}
	one.name = name
	r.loads = append(r.loads, one)
	r.test.AtStart(func() {
		r.mu.Lock()
		r.begun = true
		output := r.output
		r.mu.Unlock()
		if output == nil {
			one.start()
		}
	})
	r.test.AtEnd(func() { one.end(r.state()) })
	return one, nil
}

// newLoad makes the load of a plan; words may be nil, and staged is, unless words has made the plan.
func (m *instance) newLoad(planText string, words *runner.Runner, staged *runner.Staged, env map[string]string) (*load, error) {
	plan, err := generator.ParsePlan([]byte(planText))
	if err != nil {
		return nil, err
	}
	return &load{
		plan: plan, text: planText, words: words, staged: staged, env: env, logger: m.vu.InitEnv().Logger,
		meter: meter{out: &m.root.test.Metrics, tags: tagsOf([]byte(planText)), latency: plan.Latency().String()},
	}, nil
}

// name of a call, alike in all VUs.
func (m *instance) name(words string) string {
	m.calls[words]++
	return fmt.Sprintf("%d %s", m.calls[words], words)
}

func (m *instance) run(one *load) (sobek.Value, error) {
	if err := one.meter.declare(m.vu); err != nil {
		return nil, err
	}
	rt := m.vu.Runtime()
	run := rt.NewObject()
	script.Method(m.vu, run, "slot", func([]sobek.Value) (sobek.Value, error) { return nil, one.slot(m.vu) })
	script.Method(m.vu, run, "summary", func([]sobek.Value) (sobek.Value, error) {
		judged, err := one.result()
		if err != nil {
			return nil, err
		}
		parse, _ := sobek.AssertFunction(rt.Get("JSON").ToObject(rt).Get("parse"))
		return parse(sobek.Undefined(), rt.ToValue(judged.JSON))
	})
	script.Method(m.vu, run, "text", func([]sobek.Value) (sobek.Value, error) {
		judged, err := one.result()
		if err != nil {
			// For handleSummary, which has nothing better to show.
			return rt.ToValue(err.Error() + "\n"), nil
		}
		return rt.ToValue(judged.Text), nil
	})
	if one.staged != nil {
		_ = run.Set("scenario", one.staged.Scenario) // a plain object takes any property
	}
	return run, nil
}

// state is the state of a VU which has run, once k6's test has ended; nil if none has.
func (r *rootModule) state() *lib.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, vu := range r.vus {
		if state := vu.State(); state != nil {
			return state
		}
	}
	return nil
}

// environment is the values for `${NAME}` in a scenario: the process's environment, and k6's -e.
func (m *instance) environment() map[string]string {
	all := map[string]string{}
	for _, one := range os.Environ() {
		name, value, _ := strings.Cut(one, "=")
		all[name] = value
	}
	maps.Copy(all, m.vu.InitEnv().RuntimeOptions.Env)
	return all
}

func (m *instance) driverName(driver sobek.Value) (string, error) {
	if driver != nil {
		if name := driver.ToObject(m.vu.Runtime()).Get(driverKey); name != nil {
			return name.String(), nil
		}
	}
	return "", errors.New("mqbench.load: the first argument is a driver, e.g. import driver from 'k6/x/mqbench/<broker>'")
}
