package nats

import (
	"fmt"
	"strings"
	"testing"
)

func TestMessagesOfStreamsAreCountedHoweverTheyAreCutUp(t *testing.T) {
	message := "MSG a.b 7 $JS.ACK.s.c.1.2.3.4.5 40\r\n" + strings.Repeat("MSG a 1 $JS.ACK.s 3\r\n", 2)[:40] + "\r\n"
	header := "HMSG a.b 7 $JS.ACK.s.c.1.2.3.4.5 12 14\r\nNATS/1.0\r\n\r\nhi\r\n"
	others := "INFO {\"a\":1}\r\nPING\r\n+OK\r\nMSG _INBOX.x 1 2\r\n{}\r\nHMSG _INBOX.x 1 $JS.FC.s.c.d 16 16\r\nNATS/1.0 100\r\n\r\n\r\n"
	stream := strings.Repeat(message+others+header, 5)
	for size := 1; size <= len(stream); size++ {
		d := &deliveries{}
		c := &counted{of: d}
		for rest := stream; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			c.scan([]byte(rest[:min(size, len(rest))]))
		}
		if n := d.read.Load(); n != 10 || c.rest != 0 {
			t.Fatalf("in pieces of %d bytes: %d messages, %d bytes to come; want 10 and 0", size, n, c.rest)
		}
	}
}

func BenchmarkAMessageThatIsRead(b *testing.B) {
	c := &counted{of: &deliveries{}}
	message := fmt.Appendf(nil, "MSG mqbench.0123456789.0 7 $JS.ACK.mqbench_0123456789_0.workers.1.22222.22222.1700000000000000000.5 1024\r\n%1024s\r\n", "")
	b.ReportAllocs()
	for b.Loop() {
		c.scan(message)
	}
}
