// Package mqbench is the k6 side of the generator: the JS module k6/x/mqbench, one JS module per driver, and the output that opens and
// closes a run. Beside it only script/, scripttest/ and the js/ folders of drivers import k6.
package mqbench

import (
	"errors"
	"fmt"

	"github.com/grafana/sobek"
	"go.k6.io/k6/v2/js/modules"
)

// rootModule is the module of one test; every VU gets an instance.
type rootModule struct{}

type instance struct {
	vu modules.VU
}

var (
	_ modules.Module   = rootModule{}
	_ modules.Instance = (*instance)(nil)
)

func (rootModule) NewModuleInstance(vu modules.VU) modules.Instance { return &instance{vu: vu} }

// Exports: mqbench.load(driver, plan) returns a run; its slot() is the iteration.
func (m *instance) Exports() modules.Exports {
	api := m.vu.Runtime().NewObject()
	if err := api.Set("load", m.load); err != nil {
		panic(err) // a plain object takes any property
	}
	return modules.Exports{Default: api}
}

// load reads the plan in the init context of each VU. The process has only one run; VUs claim its slots.
func (m *instance) load(driver sobek.Value, planText string) (*sobek.Object, error) {
	if m.vu.State() != nil {
		return nil, errors.New("mqbench.load belongs at the top of the script, outside of functions")
	}
	plan, err := theRun.load(planText)
	if err != nil {
		return nil, fmt.Errorf("mqbench.load: %w", err)
	}
	name, err := m.driverName(driver)
	if err != nil {
		return nil, err
	}
	if name != plan.Broker {
		return nil, fmt.Errorf("mqbench.load: the plan is for %s, the driver is %s", plan.Broker, name)
	}
	run := m.vu.Runtime().NewObject()
	slot := func() error { return theRun.slot(m.vu.Context()) }
	if err := run.Set("slot", slot); err != nil {
		return nil, err
	}
	return run, nil
}

// --- internal ---

func (m *instance) driverName(driver sobek.Value) (string, error) {
	if driver != nil && !sobek.IsUndefined(driver) && !sobek.IsNull(driver) {
		if name := driver.ToObject(m.vu.Runtime()).Get(driverKey); name != nil {
			return name.String(), nil
		}
	}
	return "", errors.New("mqbench.load: the first argument is a driver, e.g. import driver from 'k6/x/mqbench/<broker>'")
}
