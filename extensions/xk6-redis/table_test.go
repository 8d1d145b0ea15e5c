package redis

import (
	"maps"
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "Redis pub/sub", New, "redis://here", "")
	brokertest.Tabled(t, "Redis streams", New, "redis://here", `{"mode": "streams"}`)
	brokertest.Tabled(t, "Redis streams by go-redis", New, "redis://here", `{"mode": "streams", "client": "go-redis"}`)
	brokertest.Tabled(t, "Redis lists", New, "redis://here", `{"mode": "lists"}`)
}

func TestTheReportNamesWhoSends(t *testing.T) {
	for options, want := range map[string]string{`{}`: "mqbench's own link on go-redis v", `{"client": "go-redis"}`: "go-redis v"} {
		opened, err := New(broker.Options{URL: "redis://here", Driver: []byte(options)})
		if err != nil {
			t.Fatal(err)
		}
		if got := opened.Describe().Library; !strings.HasPrefix(got, want) {
			t.Errorf("%s is told as %q, want %q", options, got, want)
		}
	}
}

// A comparison shows every setting that is not the same in both runs.
func TestTwoSessionsOfTheSameOptionsHaveTheSameSettings(t *testing.T) {
	settings := func() map[string]string {
		opened, err := New(broker.Options{URL: "redis://here"})
		if err != nil {
			t.Fatal(err)
		}
		return opened.Describe().Settings
	}
	if a, b := settings(), settings(); !maps.Equal(a, b) {
		t.Errorf("%v is not %v", a, b)
	}
}
