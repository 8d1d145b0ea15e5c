package broker

import "testing"

func TestPatternsStandForOneWordBetweenDots(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"mqbench.r.1.*", "mqbench.r.1.0", true},
		{"mqbench.r.1.*", "mqbench.r.1.0.x", false},
		{"mqbench.r.1.*", "mqbench.r.10.0", false},
		{"mqbench.*.1.0", "mqbench.r.1.0", true},
		{"*", "a.x", false},
		{"a.", "a.x", false},
	} {
		if got := Matches(c.pattern, c.name); got != c.want {
			t.Errorf("Matches(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
}
