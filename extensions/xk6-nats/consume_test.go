package nats

import (
	"context"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func TestMessagesOfStreamsAreCountedHoweverTheyAreCutUp(t *testing.T) {
	message := "MSG a.b 7 $JS.ACK.s.c.1.2.3.4.5 40\r\n" + strings.Repeat("MSG a 1 $JS.ACKS 3\r\n", 2)[:40] + "\r\n"
	header := "HMSG a.b 7 $JS.ACK.s.c.1.2.3.4.5 12 14\r\nNATS/1.0\r\n\r\nhi\r\n"
	others := "INFO {\"a\":1}\r\nPING\r\n+OK\r\nMSG _INBOX.x 1 2\r\n{}\r\nHMSG _INBOX.x 1 $JS.FC.s.c.d 16 16\r\nNATS/1.0 100\r\n\r\n\r\n"
	stream := strings.Repeat(message+others+header, 5)
	for size := 1; size <= len(stream); size++ {
		d := &deliveries{}
		c := &counted{of: d}
		for rest := stream; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			c.count([]byte(rest[:min(size, len(rest))]))
		}
		if n := d.read.Load(); n != 10 {
			t.Fatalf("in pieces of %d bytes: %d messages; want 10", size, n)
		}
	}
}

func TestAConsumerIsMadeOnceWhoeverAsksHoweverOften(t *testing.T) {
	exists := &jetstream.APIError{Code: 400, ErrorCode: jetstream.JSErrCodeConsumerExists}
	full := &jetstream.APIError{Code: 400, ErrorCode: 10026, Description: "maximum consumers limit reached"}
	for _, c := range []struct {
		name        string
		answers     []error
		found       error
		asked       int
		made, fails bool
	}{
		{"nobody has made it", []error{nil}, nil, 1, true, false},
		{"an answer was lost", []error{nats.ErrTimeout, context.DeadlineExceeded, nil}, nil, 3, true, false},
		{"another client has made it, from another message on", []error{exists}, nil, 1, false, false},
		{"a request whose answer was lost has made it", []error{nats.ErrTimeout, exists}, nil, 2, false, false},
		{"another client has made it, and its leader changes", []error{exists, exists}, nats.ErrTimeout, 2, false, false},
		{"the server refuses it", []error{full}, nil, 1, false, true},
	} {
		asked := 0
		got, err := create(t.Context(), newSession(t), func(_ context.Context, stream string, config jetstream.ConsumerConfig) (string, error) {
			asked++
			return "made " + stream + config.Name, c.answers[asked-1]
		}, func(_ context.Context, stream, name string) (string, error) {
			err := c.found
			c.found = nil
			return "found " + stream + name, err
		}, "S", jetstream.ConsumerConfig{Name: "N"})
		want := map[bool]string{true: "made SN", false: "found SN"}[c.made]
		if asked != c.asked || (err != nil) != c.fails || err == nil && got != want {
			t.Errorf("%s: %q, %v after %d requests", c.name, got, err, asked)
		}
	}
}
