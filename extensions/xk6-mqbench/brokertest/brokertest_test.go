package brokertest

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// faultEnv names the fault of the broker in a process that TestEachFaultIsFound starts.
const faultEnv = "BROKERTEST_FAULT"

func TestABrokerWithoutFaultPasses(t *testing.T) {
	fault := os.Getenv(faultEnv)
	if fault != "" {
		patience = 1500 * time.Millisecond
	}
	Run(t, func(*testing.T) System {
		m := newMemory(fault)
		return System{
			Driver: m.driver, URL: "memory://bench:s3cr3t@here:1,bench:s3cr3t@there:1", Partitions: true, FlagsRedelivery: true,
			Exists: func(_ *testing.T, topic string) bool { return m.exists(topic) },
			Make:   func(_ *testing.T, topic string, _ int) { m.make(topic) },
			Traces: func(_ *testing.T, run string, topics []string) []string { return m.groups(run, topics) },
			Broken: func(*testing.T) { m.die() },
		}
	})
}

func TestAClusterWithoutFaultGoesOn(t *testing.T) {
	fault := os.Getenv(faultEnv)
	if fault != "" {
		patience = 1500 * time.Millisecond
	}
	m := newMemory(fault)
	Failover(t, Cluster{
		System: System{Driver: m.driver, URL: "memory://here"}, Replicas: 3, Group: true,
		Kill: func(*testing.T, string) func() { m.kill(); return nil },
	})
}

func TestEachFaultOfAClusterIsFound(t *testing.T) {
	var all sync.WaitGroup
	defer all.Wait()
	for fault, words := range map[string]string{
		"loses one":                     "misses 1 messages that were acknowledged",
		"delivers twice":                "messages twice",
		"says failed of what it stored": "gets 1 messages of which it is said that they failed",
		"calls done twice":              "is called 2 times",
		"leaves a send open":            "done is called for each send",
		"holds up a send":               "not within 1.5s: messages flow without the leader",
		"gets no other leader":          "not within 1.5s: messages flow without the leader",
		"does not know its leader":      "the topic has a leader",
		"names the old leader":          "0 was killed, and Leader says that it leads",
		"never calls done":              "not within 1.5s: messages flow at first",
	} {
		all.Go(func() {
			text := withFault(t, fault, "^TestAClusterWithoutFaultGoesOn$")
			if !strings.Contains(text, "--- FAIL: TestAClusterWithoutFaultGoesOn") || !strings.Contains(text, words) {
				t.Errorf("a cluster that %s: want %q\n%s", fault, words, text)
			}
		})
	}
}

// atOnce bounds the processes: most of one is waiting.
var atOnce = make(chan struct{}, 8)

// withFault runs tests of this program in another process, against a broker with a fault, and gives what they print.
func withFault(t *testing.T, fault, tests string) string {
	program, err := os.Executable()
	if err != nil {
		t.Error(err)
		return ""
	}
	atOnce <- struct{}{}
	defer func() { <-atOnce }()
	one := exec.Command(program, "-test.run", tests, "-test.v")
	one.Env = append(os.Environ(), faultEnv+"="+fault)
	text, err := one.CombinedOutput()
	if err == nil {
		t.Errorf("a broker that %s passes %s", fault, tests)
	}
	return string(text)
}

// A suite that finds nothing wrong is worth nothing: each of its tests must fail for the broker that it is there for.
func TestEachFaultIsFound(t *testing.T) {
	found := map[string]bool{}
	var all sync.WaitGroup
	defer all.Wait()
	for _, f := range []struct{ fault, by string }{
		{"prints the password", "says what it is and what it set, and no secret"},
		{"takes any option", "refuses options that it does not know"},
		{"loses one", "delivers every message once, whole and in order, and calls done once for each"},
		{"delivers twice", "delivers every message once, whole and in order, and calls done once for each"},
		{"swaps two", "delivers every message once, whole and in order, and calls done once for each"},
		{"changes a byte", "delivers every message once, whole and in order, and calls done once for each"},
		{"delivers twice", "delivers every message once, whole and in order, to a group of one"},
		{"calls done twice", "delivers every message once, whole and in order, and calls done once for each"},
		{"never calls done", "delivers every message once, whole and in order, and calls done once for each"},
		{"acknowledges in the past", "delivers every message once, whole and in order, and calls done once for each"},
		{"mixes topics", "keeps topics apart, and sends on every connection"},
		{"subscribes later", "makes many subscriptions at once, each of which gets its messages from the first one on"},
		{"waits for a batch", "does not hold an idle system's message back to batch it"},
		{"stamps with another clock", "delivers every message once, whole and in order, and calls done once for each"},
		{"cuts what is large", "carries messages of 1 MiB"},
		{"loses a partition", "sends to partitions by number"},
		{"loses keys", "keeps the order of messages with one key"},
		{"swaps two", "keeps the order of messages with one key"},
		{"knows one subscription", "gives every subscription without a group every message"},
		{"takes a pattern for one topic", "gives a subscription by pattern the messages of all its topics"},
		{"takes a pattern for all", "gives a subscription by pattern the messages of all its topics"},
		{"gives every member all", "shares the messages of a topic among the members of a group"},
		{"feeds one member", "shares the messages of a topic among the members of a group"},
		{"knows ten subscriptions", "makes many subscriptions at once, each of which gets its messages from the first one on"},
		{"sends while it handles", "lets a consumer send from within its handler"},
		{"drops above 1000", "loses and drops nothing while a consumer is paused"},
		{"drops above 1000, and says so", "loses and drops nothing while a member of a group is paused"},
		{"keeps nothing for a group", "keeps messages for a group that nobody is a member of"},
		{"forgets what a member took", "delivers again what a member took and did not acknowledge"},
		{"does not flag", "delivers again what a member took and did not acknowledge"},
		{"waits for handlers", "delivers again what a member took and did not acknowledge"},
		{"keeps old messages", "prepares empty topics where there were some of that name"},
		{"removes nothing", "removes what it made and nothing else"},
		{"removes all", "removes what it made and nothing else"},
		{"removes what others share", "shares topics and groups among the clients of a run, and client 0 removes them"},
		{"names groups by the client", "shares topics and groups among the clients of a run, and client 0 removes them"},
		{"removes nothing", "shares topics and groups among the clients of a run, and client 0 removes them"},
		{"begins at the beginning", "uses topics that were there from their end on, and leaves them there"},
		{"removes what was there", "uses topics that were there from their end on, and leaves them there"},
		{"leaves groups behind", "uses topics that were there from their end on, and leaves them there"},
		{"shares groups among runs", "keeps the groups of two runs on one topic apart"},
		{"makes what is missing", "refuses a topic that does not exist and is not to be made"},
		{"never says that it failed", "fails a send after Close instead of hanging, and counts as before"},
		{"never says that it failed", "fails or loses messages when the broker is gone, and returns"},
	} {
		found[f.by] = true
		all.Go(func() {
			name := strings.ReplaceAll(f.by, " ", "_")
			text := withFault(t, f.fault, "^TestABrokerWithoutFaultPasses$/^"+name+"$")
			if !strings.Contains(text, "--- FAIL: TestABrokerWithoutFaultPasses/"+name) {
				t.Errorf("a broker that %s passes %q:\n%s", f.fault, f.by, text)
			}
			if strings.Contains(text, "panic:") {
				t.Errorf("the suite does not survive a broker that %s:\n%s", f.fault, text)
			}
		})
	}
	for _, test := range tests {
		if !found[test.name] {
			t.Errorf("no fault is found by %q", test.name)
		}
	}
}
