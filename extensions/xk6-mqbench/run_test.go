package mqbench

import (
	"strings"
	"testing"
)

func TestThePlanIsReadOnceForAllVUs(t *testing.T) {
	loaded(t, 1, "", "")
	text := theRun.text
	var r run
	first, err := r.load(text)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := r.load(text); again != first || err != nil {
		t.Errorf("the second VU got %p, %v; want the plan of the first, %p", again, err, first)
	}
	if _, err := r.load(strings.Replace(text, "{", "{ ", 1)); err == nil {
		t.Error("another plan is accepted")
	}
}
