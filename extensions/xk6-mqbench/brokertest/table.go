package brokertest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// Tabled compares a system's row in the README's table of settings for each message with its driver's report before Open. UPDATE_GOLDEN=1
// writes the row.
func Tabled(t *testing.T, title string, driver broker.Driver, url, options string) {
	t.Helper()
	session, err := driver(broker.Options{URL: url, Driver: json.RawMessage(options), Connections: 1, MessageBytes: usualBytes})
	if err != nil {
		t.Fatal(err)
	}
	settings, begin := session.Describe().Settings, "\n| "+title+" |"
	row, head := begin, "\n| system |"
	for _, name := range broker.EachMessage {
		if name == "compression" { // the README says once that none compresses
			if settings[name] != "none" {
				t.Fatalf("%s compresses by default: %s", title, settings[name])
			}
			continue
		}
		row += " " + settings[name] + " |"
		head += " " + name + " |"
	}
	const file = "../README.md" // from a driver's folder
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(text), begin)
	was, after, _ := strings.Cut(after, "\n")
	switch {
	case !found || !strings.Contains(before, head):
		t.Fatalf("%s has no table %q with a row %q", file, head, begin)
	case begin+was == row:
	case os.Getenv("UPDATE_GOLDEN") != "1":
		t.Fatalf("%s has another row for %s than its driver says:%s\nwrite it with UPDATE_GOLDEN=1", file, title, row)
	default:
		if err := os.WriteFile(file, []byte(before+row+"\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
