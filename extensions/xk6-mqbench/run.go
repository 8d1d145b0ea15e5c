package mqbench

import (
	"context"
	"errors"
	"sync"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/generator"
)

// theRun is the run of this process: k6 runs one test, the script loads one plan in every VU, and one output opens and closes it.
var theRun run

type run struct {
	mu        sync.Mutex
	plan      *generator.Plan
	text      string
	generator *generator.Generator
}

// load reads the plan, which is the same in every VU, once.
func (r *run) load(text string) (*generator.Plan, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.plan == nil {
		plan, err := generator.ParsePlan([]byte(text))
		if err != nil {
			return nil, err
		}
		r.plan, r.text = plan, text
	}
	if r.text != text {
		return nil, errors.New("a process runs one plan, and has loaded another one already")
	}
	return r.plan, nil
}

// planned is the plan, or nil if the script does not load one.
func (r *run) planned() *generator.Plan {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.plan
}

// open makes the generator known to the VUs.
func (r *run) open(g *generator.Generator) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.generator = g
}

func (r *run) slot(ctx context.Context) error {
	r.mu.Lock()
	g := r.generator
	r.mu.Unlock()
	if g == nil {
		return errors.New("the run is not open: start k6 with --out mqbench=<path of the results>")
	}
	return g.Slot(ctx)
}
