package mqtt

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

var protocols = []string{version5, version3}

func made(t *testing.T, url, options string, bytes int) broker.Session {
	t.Helper()
	s, err := New(broker.Options{URL: url, Driver: json.RawMessage(options), Connections: 1, MessageBytes: bytes, Now: clock.New().Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func traffic(t *testing.T, url, options string) *brokertest.Traffic {
	t.Helper()
	return brokertest.System{Driver: New, URL: url, DriverOptions: []byte(options)}.Traffic(t, "workers")
}

func refused(t *testing.T, what string, err error, words ...string) {
	t.Helper()
	for _, one := range words {
		if err == nil || !strings.Contains(err.Error(), one) {
			t.Errorf("%s: %v; want a sentence with %q", what, err, one)
		}
	}
}

// mosquitto takes a message above its limit and acknowledges it in MQTT 3.1.1. No consumer gets it.
func TestAMessageThatIsTakenAndNotDeliveredIsNamedBeforeTheRun(t *testing.T) {
	shorter(t)
	server := startMosquitto(t, "message_size_limit 1000")
	for _, protocol := range protocols {
		for qos := range 3 {
			options := fmt.Sprintf(`{"protocol": %q, "qos": %d}`, protocol, qos)
			t.Run(options, func(t *testing.T) {
				t.Parallel()
				err := made(t, server.url(), options, 1001).Open(t.Context())
				switch {
				case qos == 2 && protocol == version3: // nothing else is left to it
					refused(t, "a message that ends the connection", err, "ends the connection when it gets a message of 1001 bytes")
				case qos > 0 && protocol == version5:
					refused(t, "a message that is refused", err, "a message of 1001 bytes", "packet too large")
				default:
					refused(t, "a message that vanishes", err, "accepts a message of 1001 bytes and does not deliver it", "message_size_limit")
				}
			})
		}
	}
	traffic(t, server.url(), `{"qos": 2}`)
}

// nats-server takes a shared subscription as if it delivered to it, and then delivers nothing.
func TestASharedSubscriptionThatGetsNothingIsNamedBeforeTheRun(t *testing.T) {
	shorter(t)
	server := startNATS(t)
	for qos := range 3 {
		session := made(t, server.url(), fmt.Sprintf(`{"protocol": "3.1.1", "qos": %d}`, qos), 64)
		if err := session.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := session.Prepare(t.Context(), broker.Layout{Subscriptions: []broker.Subscription{{Topic: "a.topic", Group: "workers"}}})
		refused(t, "a shared subscription", err, "accepts a shared subscription and delivers nothing to it", "mosquitto")
	}
	err := made(t, server.url(), "", 64).Open(t.Context())
	refused(t, "MQTT 5 of a server that speaks 3.1.1", err, "protocol: 3.1.1")
}

// A trial that fails takes as long as its limit.
func shorter(t *testing.T) {
	was := trialTimeout
	trialTimeout = time.Second
	t.Cleanup(func() { trialTimeout = was })
}

func TestAMessageAboveTheLargestPacketIsRefusedBeforeTheRun(t *testing.T) {
	server := startMosquitto(t, "max_packet_size 2000")
	refused(t, "MQTT 5", made(t, server.url(), "", 2000).Open(t.Context()), "ends the connection when it gets a message of 2000 bytes")
}

// Consumers come back by themselves; messages sent in the meantime are lost unless the session is persistent and the server lived on.
func TestConsumersGoOnWhenTheServerHasComeBack(t *testing.T) {
	for _, protocol := range protocols {
		for _, kept := range []string{"clean", sessionPersistent} {
			t.Run(protocol+" "+kept, func(t *testing.T) {
				t.Parallel()
				server := startMosquitto(t)
				traffic := traffic(t, server.url(), fmt.Sprintf(`{"protocol": %q, "session": %q}`, protocol, kept))
				traffic.Survives(server.Server)
				session := traffic.Session
				brokertest.Eventually(t, "a producer's and a consumer's lost connections are counted", func() bool { return *broker.Reconnects(session) >= 2 })
				if err := broker.Remove(t.Context(), session); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A frozen server takes messages that fit into sockets, then holds up the sender; messages it has not answered when it dies are unknown.
func TestAServerThatStandsStillHoldsUpTheSenderUntilItDies(t *testing.T) {
	for _, protocol := range protocols {
		for qos := range 3 {
			t.Run(fmt.Sprint(protocol, " ", qos), func(t *testing.T) {
				t.Parallel()
				server := startMosquitto(t)
				traffic := traffic(t, server.url(), fmt.Sprintf(`{"protocol": %q, "qos": %d}`, protocol, qos))
				stop := traffic.HeldUp(server.Server)
				if failed, unknown := traffic.Failed(), traffic.Unknown(); failed+unknown > 0 {
					t.Errorf("%d sends fail and %d are unknown while the server stands still", failed, unknown)
				}
				server.Kill()
				brokertest.Eventually(t, "sends fail, and nobody knows of messages that were on their way", func() bool {
					return traffic.Failed() > 0 && traffic.Unknown() > 0
				})
				stop()
				if n := traffic.Answered(); qos > 0 && n > 0 {
					t.Errorf("%d messages are acknowledged by a server that stood still", n)
				}
			})
		}
	}
}

func TestSecretsAndCertificatesAreThoseOfTheServer(t *testing.T) {
	certificate, key := brokertest.Certificate(t, t.TempDir())
	// As runner/brokers/mqtt/process.ts and mosquitto_passwd write it; the password is "s3cr3t".
	passwords := filepath.Join(t.TempDir(), "passwords")
	line := "mine:$7$101$c2FsdHNhbHRzYWx0$DmMnSdT7lDFPvj/1UZFiixih8SmVk0nzcNHG+tDgVIpEBvTC8o9oar98D8UwgM85/q50uyTZv1cHwBfmMMx5TQ==\n"
	if err := os.WriteFile(passwords, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	server := startMosquitto(t, "password_file "+passwords, "cafile "+certificate, "certfile "+certificate, "keyfile "+key)
	at := func(login string) string { return "mqtts://" + login + "@" + server.address }
	for _, protocol := range protocols {
		options := func(tls string) string { return fmt.Sprintf(`{"protocol": %q, "tls": %s}`, protocol, tls) }
		trusted := options(fmt.Sprintf(`{"ca": %q}`, certificate))
		session := traffic(t, at("mine:s3cr3t"), trusted).Session
		if said := fmt.Sprintf("%+v", session.Describe()); strings.Contains(said, "s3cr3t") || !strings.Contains(said, "tls:true") {
			t.Errorf("Describe says %s", said)
		}
		err := made(t, at("mine:other"), trusted, 64).Open(t.Context())
		refused(t, "another password", err, "uthorized")
		err = made(t, at("mine:s3cr3t"), options("true"), 64).Open(t.Context())
		refused(t, "a certificate that nobody trusts", err, "certificate")
	}
}

func TestATopicThatNobodyCanPublishToIsRefused(t *testing.T) {
	s := made(t, "mqtt://here", "", 64)
	for _, name := range []string{"a/+/b", "#", "$SYS/x"} {
		refused(t, name, s.Prepare(t.Context(), broker.Layout{Topics: []broker.Topic{{Name: name}}}), "cannot be published to")
	}
}
