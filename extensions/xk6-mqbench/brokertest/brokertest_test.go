package brokertest

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

func TestABrokerWithoutFaultPasses(t *testing.T) {
	Run(t, func(t *testing.T) System {
		m := newMemory()
		return System{
			Driver: m.driver, URL: "memory://bench:s3cr3t@" + echo(t) + ",bench:s3cr3t@there:1", Partitions: true, FlagsRedelivery: true,
			Exists: m.exists, Make: m.make, Traces: m.groups, Broken: m.die,
		}
	})
}

func TestAClusterWithoutFaultGoesOn(t *testing.T) {
	m := newMemory()
	Failover(t, Cluster{System: System{Driver: m.driver, URL: "memory://here"}, Replicas: 3, Kill: m.kill})
}

func TestEachFaultOfAClusterIsFound(t *testing.T) {
	var all sync.WaitGroup
	defer all.Wait()
	for fault, words := range map[string]string{
		"loses one":                     "gets what was acknowledged; it misses 1 messages",
		"delivers twice":                "messages twice",
		"says failed of what it stored": "gets 1 messages of which it is said that they failed",
		"calls done twice":              "is called 2 times",
		"leaves a send open":            "done is called for each send",
		"holds up a send":               "not within 1.5s: messages flow without the leader",
		"names the old leader":          "0 was killed, and Leader says that it leads",
	} {
		all.Go(func() { fails(t, "TestAClusterWithoutFaultGoesOn", fault, words) })
	}
}

// A suite that finds nothing wrong is worth nothing: each of its tests must fail for its broken broker.
func TestEachFaultIsFound(t *testing.T) {
	faults := map[string][]string{
		"says what it is and what it set, and no secret": {"prints the password"},
		"refuses options that it does not know":          {"takes any option"},
		"delivers every message once, whole and in order, and calls done once for each": {
			"loses one", "delivers twice", "swaps two", "changes a byte", "calls done twice", "never calls done", "acknowledges in the past",
			"stamps with another clock",
		},
		"delivers every message once, whole and in order, to a group of one": {"delivers twice"},
		"carries messages of 1 MiB":                                   {"cuts what is large"},
		"sends to partitions by number":                               {"loses a partition"},
		"keeps the order of messages with one key":                    {"loses keys", "swaps two"},
		"does not hold an idle system's message back to batch it":     {"waits for a batch"},
		"gives every subscription without a group every message":      {"knows one subscription"},
		"shares the messages of a topic among the members of a group": {"gives every member all", "feeds one member"},
		"makes many subscriptions at once, by topic and by pattern: each gets its messages, of every connection, from the first one on": {
			"subscribes later", "mixes topics", "takes a pattern for all", "mixes what two patterns get",
		},
		"lets a consumer send from within its handler":                {"sends while it handles"},
		"loses and drops nothing while a consumer is paused":          {"drops above 1000"},
		"loses and drops nothing while a member of a group is paused": {"drops above 1000, and says so"},
		"keeps messages for a group that nobody is a member of":       {"keeps nothing for a group"},
		"delivers again what a member took and did not acknowledge": {
			"forgets what a member took", "does not flag", "waits for handlers",
		},
		"goes on when members of a group leave, are killed and join": {"forgets what a member took"},
		"prepares empty topics where there were some of that name":   {"keeps old messages"},
		"removes what it made and nothing else":                      {"removes nothing", "removes all"},
		"shares topics and groups among the clients of a run, and client 0 removes them": {
			"removes what others share", "names groups by the client", "removes nothing",
		},
		"uses topics that were there from their end on, and leaves them there": {
			"begins at the beginning", "removes what was there", "leaves groups behind",
		},
		"reads a topic from its beginning while it is sent to and consumed": {
			"replays nothing", "replays what it has twice", "removes what others share",
		},
		"keeps the groups of two runs on one topic apart":           {"shares groups among runs"},
		"refuses a topic that does not exist and is not to be made": {"makes what is missing"},
		"opens connections during a run, each with its message, and closes them": {
			"connects before the server answers", "gives a connection its message twice", "does not see that a connection is gone", "leaves connections open",
		},
		"fails a send after Close instead of hanging, and counts as before": {"never says that it failed"},
		"fails or loses messages when the broker is gone, and returns":      {"never says that it failed"},
	}
	var all sync.WaitGroup
	defer all.Wait()
	for _, test := range tests {
		if len(faults[test.name]) == 0 {
			t.Errorf("no fault is found by %q", test.name)
		}
		for _, fault := range faults[test.name] {
			all.Go(func() { fails(t, "TestABrokerWithoutFaultPasses/"+strings.ReplaceAll(test.name, " ", "_"), fault, "") })
		}
	}
}

// --- internal ---

// faultEnv names the fault of the broker in a process that fails starts.
const faultEnv = "BROKERTEST_FAULT"

// atOnce bounds the processes: most of one is waiting.
var atOnce = make(chan struct{}, 8)

// fails wants that a test fails against a broker with a fault, in a separate process, and prints the words.
func fails(t *testing.T, test, fault, words string) {
	atOnce <- struct{}{}
	defer func() { <-atOnce }()
	one := exec.Command(os.Args[0], "-test.run", "^"+strings.ReplaceAll(test, "/", "$/^")+"$", "-test.v")
	one.Env = append(os.Environ(), faultEnv+"="+fault)
	text, err := one.CombinedOutput()
	if said := string(text); err == nil || !strings.Contains(said, "--- FAIL: "+test) || !strings.Contains(said, words) || strings.Contains(said, "panic:") {
		t.Errorf("a broker that %s: want %s to fail with %q, and not to panic\n%s", fault, test, words, said)
	}
}
