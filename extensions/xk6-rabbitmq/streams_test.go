//go:build unix

package rabbitmq

import (
	"encoding/json"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// streams is the system of streams on the shared server, with these options.
func streams(t *testing.T, options string) brokertest.System {
	s := running(t)
	return brokertest.System{
		Driver: New, URL: s.streamURL(), DriverOptions: json.RawMessage(options), Durability: "os", OneMember: true, Exists: s.exists,
		Make: func(t *testing.T, topic string, _ int) { s.make(t, topic, "stream") }, Holds: 1,
	}
}

func TestALoginToStreamsIsChecked(t *testing.T) {
	s := running(t)
	for _, c := range []struct{ url, want string }{
		{"rabbitmq-stream://bench:wr0ng@" + s.streamURL()[len("rabbitmq-stream://bench:s3cr3t@"):], "user or password is wrong"},
		{"rabbitmq-stream://bench:s3cr3t@" + s.url()[len("amqp://bench:s3cr3t@"):], "does not speak RabbitMQ's stream protocol"},
		{s.url(), "must begin with rabbitmq-stream://"},
		{"rabbitmq-stream://bench:s3cr3t@127.0.0.1:1", "connection refused"},
	} {
		brokertest.System{Driver: New, URL: c.url, DriverOptions: json.RawMessage(`{"queue": "stream"}`)}.RefusedWith(t, 100, c.want)
	}
}

// The promise that reports state: a confirm means written, not flushed.
func TestAStreamConfirmsWithoutAFlush(t *testing.T) {
	s := running(t)
	traffic := streams(t, `{"queue": "stream"}`).Traffic(t, "")
	const n = 100
	flushes := traced(t, s.Process().Pid, func() {
		for range n {
			traffic.Send()
			traffic.Settles()
		}
	})
	if flushes > n/10 || traffic.Answered() != n {
		t.Errorf("%d flushes for %d confirmed messages, want none of them flushed", flushes, traffic.Answered())
	}
}

func TestTheTableSaysWhatStreamsDoForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "RabbitMQ streams", New, "rabbitmq-stream://here", `{"queue": "stream"}`)
}
