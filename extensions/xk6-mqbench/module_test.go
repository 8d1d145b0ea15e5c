package mqbench

import (
	"strings"
	"testing"

	"github.com/grafana/sobek"
	"go.k6.io/k6/v2/js/common"
	"go.k6.io/k6/v2/js/modules"
	"go.k6.io/k6/v2/lib"
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
	if err := (&load{}).slot(vu); err == nil || !strings.Contains(err.Error(), "not at the top of the script") {
		t.Errorf("a slot there: %v", err)
	}
}

func TestALoadIsTheSameOneInEveryVU(t *testing.T) {
	root := &rootModule{}
	call := func(words string) (*load, error) {
		return root.find(words, func() (*load, error) { return &load{}, nil })
	}
	first, _ := call("1 open a")
	root.begun = true
	if again, err := call("1 open a"); again != first || err != nil {
		t.Errorf("another VU has another load (%v)", err)
	}
	if _, err := call("2 open a"); err == nil {
		t.Error("a load that only one VU names is opened")
	}
}
