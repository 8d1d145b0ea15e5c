//go:build acceptance

package pulsar

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestSubscriptionsKeepTheContract(t *testing.T) {
	running(t)
	t.Run("side by side", func(t *testing.T) {
		for name, options := range map[string]string{
			"shared":              `{}`,
			"shared, batches":     `{"lingerNs": 1000000, "batch": 3, "acknowledge": "interval", "compression": "lz4"}`,
			"key_shared, batches": `{"subscription": "key_shared", "lingerNs": 1000000, "acknowledge": "message"}`,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				conforms(t, options, nil)
			})
		}
	})
	// Not cumulative: a member that takes over reads on, and would acknowledge what the one before it had not handled.
	t.Run("failover, until the server is gone", func(t *testing.T) {
		conforms(t, `{"subscription": "failover", "prefetch": 10}`, func(*testing.T) { shared.Kill(); shared = nil })
	})
}

func conforms(t *testing.T, options string, broken func(*testing.T)) {
	brokertest.Run(t, func(t *testing.T) brokertest.System {
		s := running(t)
		return brokertest.System{
			Driver: New, URL: s.URL, DriverOptions: json.RawMessage(options), Partitions: true, Broken: broken,
			Exists: func(t *testing.T, topic string) bool {
				_, is := asked(t, s, path(topic)+"/stats")
				_, parted := asked(t, s, path(topic)+"/partitioned-stats")
				return is || parted
			},
			Make: func(t *testing.T, topic string, partitions int) {
				if err := admin(t, s).make(t.Context(), broker.Topic{Name: topic, Partitions: partitions}); err != nil {
					t.Fatal(err)
				}
			},
			Traces: func(t *testing.T, run string, topics []string) (left []string) {
				for _, topic := range topics {
					said, _ := asked(t, s, path(topic)+"/subscriptions")
					var all []string
					if err := json.Unmarshal([]byte(said), &all); err != nil {
						t.Fatal(err)
					}
					for _, name := range all {
						if strings.HasPrefix(name, run) {
							left = append(left, fmt.Sprintf("%s of %s", name, topic))
						}
					}
				}
				return left
			},
		}
	})
}

func TestAnExclusiveSubscriptionHasOneConsumer(t *testing.T) {
	s := running(t)
	of := brokertest.System{Driver: New, URL: s.URL, DriverOptions: []byte(`{"subscription": "exclusive", "cumulative": true}`)}
	of.Traffic(t, "workers").Arrives()
	made, err := New(broker.Options{URL: s.URL, Driver: of.DriverOptions})
	if err != nil {
		t.Fatal(err)
	}
	two := broker.Subscription{Topic: "orders", Group: "workers"}
	if err := made.Prepare(t.Context(), broker.Layout{Subscriptions: []broker.Subscription{two, two}}); err == nil || !strings.Contains(err.Error(), "write subscription: failover") {
		t.Errorf("Prepare = %v; want a sentence that says what to write", err)
	}
}

func TestAllMembersOfASharedSubscriptionWork(t *testing.T) {
	brokertest.System{Driver: New, URL: running(t).URL, DriverOptions: []byte(`{"prefetch": 1}`)}.Shares(t)
}

func TestConsumersGoOnWhenTheServerHasComeBack(t *testing.T) {
	for _, group := range []string{"", "workers"} {
		t.Run(group, func(t *testing.T) {
			t.Parallel()
			s := start(t, t.TempDir(), "journalSyncData=true\n")
			brokertest.System{Driver: New, URL: s.URL, Durability: "fsync"}.Traffic(t, group).Survives(s.Server)
		})
	}
}

func TestAFrozenServerIsGivenUp(t *testing.T) {
	s := start(t, t.TempDir(), "journalSyncData=true\n")
	brokertest.System{Driver: New, URL: s.URL}.Traffic(t, "workers").NoticesSilence(s.Server)
}

// The levels of durability on the way to the disk: the settings of runner/brokers/pulsar. Only the journal counts: the store of metadata syncs too.
func TestTheJournalIsSyncedForEachAcknowledgementOrNot(t *testing.T) {
	const n = 50
	for _, c := range []struct {
		level, journal string
		// least and most flushes for n messages that are sent one after another, for more than two seconds.
		least, most int
	}{
		{"memory", "journalWriteData=false\n", 0, 0},
		{"os", "journalSyncData=false\njournalPageCacheFlushIntervalMSec=2000000000\n", 0, 0},
		{"interval", "journalSyncData=false\njournalPageCacheFlushIntervalMSec=1000\n", 1, n / 2},
		{"fsync", "journalSyncData=true\n", n, 6 * n},
	} {
		t.Run(c.level, func(t *testing.T) {
			t.Parallel()
			trace := filepath.Join(t.TempDir(), "trace")
			s := start(t, t.TempDir(), c.journal, "strace", "-f", "-y", "-e", "trace=fsync,fdatasync", "-o", trace)
			flushes := func() int {
				text, err := os.ReadFile(trace)
				if err != nil {
					t.Fatal(err)
				}
				return len(regexp.MustCompile(`sync\(\d+<[^>]*\.txn>`).FindAll(text, -1))
			}
			to := brokertest.System{Driver: New, URL: s.URL, Durability: c.level}.Traffic(t, "")
			to.Arrives()
			to.Settles()
			before, sent := flushes(), to.Answered()
			for i := range n {
				to.Send()
				brokertest.Eventually(t, "it is acknowledged", func() bool { return to.Answered() > sent+i })
				time.Sleep(50 * time.Millisecond)
			}
			if got := flushes() - before; got < c.least || got > c.most {
				t.Errorf("%d flushes of the journal for %d acknowledged messages, want %d to %d", got, n, c.least, c.most)
			}
		})
	}
}
