package mqbench

import (
	"strings"
	"testing"

	"github.com/grafana/sobek"
	"go.k6.io/k6/v2/js/common"
	"go.k6.io/k6/v2/js/modules"
	"go.k6.io/k6/v2/lib"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/runner"
)

// initVU is a VU in its init context.
type initVU struct {
	modules.VU
	rt *sobek.Runtime
}

func (v initVU) Runtime() *sobek.Runtime { return v.rt }
func (initVU) State() *lib.State         { return nil }
func (initVU) InitEnv() *common.InitEnvironment {
	return &common.InitEnvironment{TestPreInitState: &lib.TestPreInitState{}}
}

func TestASlotAtTheTopOfAScriptIsRefused(t *testing.T) {
	vu := initVU{rt: sobek.New()}
	for _, one := range []*load{{}, {staged: &runner.Staged{}}} {
		if err := one.slot(vu); err == nil || !strings.Contains(err.Error(), "not at the top of the script") {
			t.Errorf("got %v", err)
		}
	}
}

func TestWhatIsNotAScenarioIsRefused(t *testing.T) {
	vu := initVU{rt: sobek.New()}
	m := &instance{vu: vu, root: &rootModule{}, calls: map[string]int{}}
	if err := vu.Runtime().Set("api", m.Exports().Default); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`api.open()`, `api.open(null)`, `api.open(7)`, `api.open("x")`, `api.open(() => 1)`, `const a = {}; a.a = a; api.open(a)`, `api.open({ a: 10n })`, `api.open({ toJSON() { throw new Error("own") } })`,
		`api.load()`, `api.load(null, null)`, `api.load({}, {})`, `api.load(Symbol("x"), "{}")`, `api.load({}, Symbol("x"))`,
	} {
		if _, err := vu.Runtime().RunString(text); err == nil || !strings.HasPrefix(err.Error(), "GoError: mqbench.") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestEachCallIsALoadOfItsOwnAndTheSameOneInEveryVU(t *testing.T) {
	root := &rootModule{}
	vu := func() *instance { return &instance{root: root, calls: map[string]int{}} }
	call := func(of *instance, words string) (*load, error) {
		return root.find(of.name(words), func() (*load, error) { return &load{}, nil })
	}
	loads := func(of *instance) (found []*load) {
		for _, words := range []string{"open a", "open a", "open b", "load a"} {
			one, err := call(of, words)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, one)
		}
		return found
	}
	first := loads(vu())
	root.begun = true
	for at, one := range loads(vu()) {
		if one != first[at] {
			t.Errorf("call %d of another VU is another load", at)
		}
		for _, other := range first[:at] {
			if one == other {
				t.Errorf("call %d is the load of an earlier one", at)
			}
		}
	}
	if _, err := call(vu(), "open c"); err == nil {
		t.Error("a load that only one VU names is opened")
	}
}
