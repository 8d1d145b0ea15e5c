package redis

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

func TestConformance(t *testing.T) {
	programs := []string{"redis-server"}
	// Debian 12 has no package of it.
	if _, err := exec.LookPath("valkey-server"); err == nil {
		programs = append(programs, "valkey-server")
	}
	for _, program := range programs {
		for _, mode := range []string{modePubSub, modeStreams, modeLists} {
			t.Run(program+" "+mode, func(t *testing.T) {
				t.Parallel()
				s := startServer(t, program)
				brokertest.Run(t, func(*testing.T) brokertest.System { return system(s, mode) })
			})
			t.Run(program+" "+mode+" by go-redis", func(t *testing.T) {
				t.Parallel()
				s := startServer(t, program)
				brokertest.Run(t, func(*testing.T) brokertest.System {
					system := system(s, mode)
					system.DriverOptions = json.RawMessage(strings.Replace(string(system.DriverOptions), "{", `{"client": "go-redis", `, 1))
					return system
				})
			})
		}
	}
}

func system(s *server, mode string) brokertest.System {
	system := brokertest.System{
		Driver:        New,
		URL:           s.url(),
		DriverOptions: json.RawMessage(fmt.Sprintf(`{"mode": %q}`, mode)),
		NoGroups:      mode == modePubSub,
		NoFanOut:      mode == modeLists,
		NoTakeover:    mode == modeLists,
		// Of lists, the driver says it: Redis keeps no count there.
		FlagsRedelivery: true,
		Broken:          func(*testing.T) { s.kill() },
	}
	if mode != modePubSub {
		system.Exists, system.Traces = s.exists, s.traces
	}
	if mode == modePubSub && runtime.GOOS == "linux" {
		system.Holds = 100
	}
	if mode == modeStreams {
		system.DriverOptions = json.RawMessage(`{"mode": "streams", "claimAfterNs": 2000000000}`)
		system.Make = s.make
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
		groups, _ := client.XInfoGroups(t.Context(), topic).Result() // of a list: an error
		for _, g := range groups {
			left = append(left, g.Name)
		}
	}
	return left
}

func (s *server) client(t *testing.T) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: fmt.Sprintf("127.0.0.1:%d", s.port)})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// exists says whether the server holds a topic, or who consumes it.
func (s *server) exists(t *testing.T, topic string) bool {
	t.Helper()
	keys, err := s.client(t).Keys(context.Background(), topic+"*").Result()
	if err != nil {
		t.Fatal(err)
	}
	return len(keys) > 0
}

func TestAConnectionOutlivesTheTimeThatConnectingMayTake(t *testing.T) {
	s := startServer(t, "redis-server")
	r := newRig(t, s.url(), `{"mode": "streams"}`, "old", func(_ *broker.Options, s *session) {
		if s != nil {
			s.connectTimeout = 500 * time.Millisecond
		}
	})
	r.consume(broker.Subscription{Topic: "old", Group: "workers"}, nil)
	time.Sleep(700 * time.Millisecond)
	r.send(0, 0)
	r.eventually("it arrives", func() bool { return r.count() == 1 })
	if again := r.session.Reconnects(); again != 0 {
		t.Errorf("%d connections were made anew", again)
	}
}

func TestOptionsAreRefusedInOneSentence(t *testing.T) {
	const url = "redis://127.0.0.1:6379"
	for _, c := range []struct{ name, url, options, want string }{
		{"no such mode", url, `{"mode": "queue"}`, `mode must be one of pubsub, streams, lists, got "queue"`},
		{"no URL", "", `{}`, "the URL is missing"},
		{"several hosts", "redis://a:1,b:2", `{}`, "the URL names several hosts"},
		{"another scheme", "nats://a:1", `{}`, "must begin with redis:// or rediss://"},
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

func TestServersThatAreNotOneServerAreRefused(t *testing.T) {
	// Its second port would be 10000 above the first, where connections of others have theirs.
	bus := strconv.Itoa(brokertest.FreePort(t))
	s := startServer(t, "redis-server", "--cluster-enabled", "yes", "--cluster-port", bus)
	if err := openOn(t, s.url(), `{}`); err == nil || !strings.Contains(err.Error(), "the server runs as cluster") {
		t.Errorf("Open = %v; want a sentence about the cluster", err)
	}
}

func TestWithoutAServerOpenFailsSoon(t *testing.T) {
	began := time.Now()
	err := openOn(t, fmt.Sprintf("redis://127.0.0.1:%d", brokertest.FreePort(t)), `{}`)
	if err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("Open = %v; want that the connection is refused", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("Open took %s", took)
	}
}

func TestPasswordsWorkAndAreNotInErrors(t *testing.T) {
	s := startServer(t, "redis-server", "--requirepass", "s3cr3t")
	admin := redis.NewClient(&redis.Options{Addr: strings.TrimPrefix(s.url(), "redis://"), Password: "s3cr3t"})
	defer func() { _ = admin.Close() }()
	if err := admin.Do(t.Context(), "ACL", "SETUSER", "bench", "on", ">als0s3cr3t", "~*", "&*", "+@all").Err(); err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(s.url(), "redis://")
	for _, who := range []string{":s3cr3t", "bench:als0s3cr3t"} {
		if err := openOn(t, "redis://"+who+"@"+host+"/3", `{}`); err != nil {
			t.Errorf("Open with a password = %v", err)
		}
	}
	for _, who := range []string{"bench:wr0ng@", ":wr0ng@", ""} {
		if err := openOn(t, "redis://"+who+host, `{}`); err == nil || strings.Contains(err.Error(), "wr0ng") {
			t.Errorf("Open with %q = %v; want an error without the password", who, err)
		}
	}
}

func TestAChannelThatTheServerRefusesIsAnErrorAtOnce(t *testing.T) {
	s := startServer(t, "redis-server", "--user", "narrow", "on", ">pw", "~*", "resetchannels", "&mine.*", "+@all")
	url := strings.Replace(s.url(), "redis://", "redis://narrow:pw@", 1)
	r := newRig(t, url, `{}`, "mine.a", nil)
	for _, to := range []broker.Subscription{{Topic: "theirs"}, {Topic: "theirs.*", Wildcard: true}} {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		err := r.session.Consume(ctx, to, func(broker.Delivery) {})
		if err == nil || !strings.Contains(err.Error(), "NOPERM") || time.Since(began) > patience/4 {
			t.Errorf("Consume %q = %v after %s; want the server's NOPERM", to.Topic, err, time.Since(began))
		}
	}
	// The connection is still of use to those that it serves.
	r.consume(broker.Subscription{Topic: "mine.a"}, nil)
	r.send(1, 0)
	r.eventually("the message arrives", func() bool { return r.count() == 1 })
}

func TestTLSIsCheckedUnlessToldOtherwise(t *testing.T) {
	pair := certificate(t)
	s := startServer(t, "redis-server", "--tls-port", "0", "--tls-auth-clients", "no",
		"--tls-cert-file", pair.cert, "--tls-key-file", pair.key, "--tls-ca-cert-file", pair.cert)
	s.kill()
	for i, arg := range s.args {
		switch arg {
		case "--port":
			s.args[i] = "--tls-port"
		case "--tls-port":
			s.args[i] = "--port"
		}
	}
	s.start(nil)
	url := strings.Replace(s.url(), "redis://", "rediss://", 1)
	for _, c := range []struct{ name, url, options, want string }{
		{"a certificate that nobody knows", url, `{}`, "certificate signed by unknown authority"},
		{"its own authority", url, fmt.Sprintf(`{"tls": {"ca": %q}}`, pair.cert), ""},
		{"switched on by the option", s.url(), fmt.Sprintf(`{"tls": {"ca": %q}}`, pair.cert), ""},
		{"another name", url, fmt.Sprintf(`{"tls": {"ca": %q, "serverName": "other"}}`, pair.cert), "match other"},
		{"anything goes", url, `{"tls": {"insecure": true}}`, ""},
		{"without TLS", s.url(), `{}`, "connect"},
	} {
		err := openOn(t, c.url, c.options)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: Open = %v; want %q", c.name, err, c.want)
		}
	}
}

func TestWhatAModeCannotDoIsRefused(t *testing.T) {
	s := startServer(t, "redis-server")
	for _, c := range []struct {
		name, mode string
		first, to  broker.Subscription
		want       string
	}{
		{"groups on channels", modePubSub, broker.Subscription{}, broker.Subscription{Group: "a"}, "pub/sub has no groups"},
		{"patterns over streams", modeStreams, broker.Subscription{}, broker.Subscription{Wildcard: true}, "mode streams has no patterns"},
		{"patterns over lists", modeLists, broker.Subscription{}, broker.Subscription{Wildcard: true}, "mode lists has no patterns"},
		{"two groups on a list", modeLists, broker.Subscription{Group: "a"}, broker.Subscription{Group: "b"}, "one group"},
		{"a group beside a reader of a list", modeLists, broker.Subscription{}, broker.Subscription{Group: "b"}, "one group"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, s.url(), fmt.Sprintf(`{"mode": %q}`, c.mode), "cannot", nil)
			c.first.Topic, c.to.Topic = "cannot", "cannot"
			err := r.session.Prepare(t.Context(), broker.Layout{Subscriptions: []broker.Subscription{c.first, c.to, c.to}})
			if err == nil {
				r.consume(c.first, nil)
				err = r.session.Consume(t.Context(), c.to, func(broker.Delivery) {})
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Prepare or Consume = %v; want a sentence with %q", err, c.want)
			}
		})
	}
	r := newRig(t, s.url(), `{"mode": "streams"}`, "one", nil)
	err := r.session.Prepare(t.Context(), broker.Layout{Topics: []broker.Topic{{Name: "two", Partitions: 2}}})
	if err == nil || !strings.Contains(err.Error(), "2 partitions") {
		t.Errorf("Prepare with partitions = %v", err)
	}
}

func TestAStarOfAPatternIsOneWordAndOtherLettersAreThemselves(t *testing.T) {
	for _, c := range []struct {
		pattern, channel string
		want             bool
	}{
		{"a.b.*", "a.b.c", true},
		{"a.b.*", "a.b.c.d", false},
		{"a.*.c", "a.b.c", true},
		{"a.*.c", "a.b.b.c", false},
		{"a.[b].*", "a.b.c", false},
		{"a.[b].*", "a.[b].c", true},
		{"a.b?.*", "a.bb.c", false},
	} {
		t.Run(c.pattern+" "+c.channel, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, "redis-server")
			r := newRig(t, s.url(), `{}`, c.channel, nil)
			r.consume(broker.Subscription{Topic: c.pattern, Wildcard: true}, nil)
			plain := newRig(t, s.url(), `{}`, c.channel, nil)
			plain.consume(broker.Subscription{Topic: c.channel}, nil)
			r.send(7, 0)
			plain.eventually("the plain subscriber has it", func() bool { return plain.count() == 1 })
			if c.want {
				r.eventually("the pattern has it", func() bool { return r.count() == 1 })
				return
			}
			time.Sleep(50 * time.Millisecond)
			if r.count() != 0 {
				t.Error("the pattern has it")
			}
		})
	}
}

func TestAConsumerThatTrimmingOvertakesIsReported(t *testing.T) {
	s := startServer(t, "redis-server", "--stream-node-max-entries", "10")
	r := newRig(t, s.url(), `{"mode": "streams", "maxLength": 50, "prefetch": 1}`, "trimmed", nil)
	hold := make(chan struct{})
	r.consume(broker.Subscription{Topic: "trimmed", Group: "workers"}, func() { <-hold })
	for i := range int64(200) {
		r.send(i, 0)
	}
	r.eventually("all are acknowledged", func() bool { well, _ := r.done(); return well == 200 })
	close(hold)
	r.eventually("it is reported", func() bool { return r.reported("more than 50 entries behind") })
}

func TestSlowWorkIsSharedByPrefetchAndDoneOnce(t *testing.T) {
	for _, mode := range []string{modeStreams, modeLists} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, "redis-server")
			r := newRig(t, s.url(), fmt.Sprintf(`{"mode": %q, "prefetch": 1}`, mode), "slow", nil)
			for range 2 {
				r.consume(broker.Subscription{Topic: "slow", Group: "workers"}, func() { time.Sleep(500 * time.Millisecond) })
			}
			for i := range int64(4) {
				r.send(i, 0)
			}
			r.eventually("all arrive", func() bool { return r.count() == 4 })
			time.Sleep(700 * time.Millisecond)
			for i, times := range r.received {
				if times != 1 {
					t.Errorf("message %d arrives %d times", i, times)
				}
			}
		})
	}
}

func TestVersionsAreComparedByTheirFirstTwoNumbers(t *testing.T) {
	for _, c := range []struct {
		version, least string
		want           bool
	}{
		{"6.0.16", "6.2", true}, {"6.2.0", "6.2", false}, {"7.0.15", "6.2", false}, {"5.0", "6.2", true},
		{"10.1", "6.2", false}, {"unstable", "6.2", false},
	} {
		if got := older(c.version, c.least); got != c.want {
			t.Errorf("older(%q, %q) = %v, want %v", c.version, c.least, got, c.want)
		}
	}
}

func openOn(t *testing.T, url, options string) error {
	t.Helper()
	session, err := New(broker.Options{URL: url, Driver: json.RawMessage(options), Connections: 1, MessageBytes: 100, Now: clock.New().Now})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	return session.Open(t.Context())
}
