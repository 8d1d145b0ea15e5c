package mqbench

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// heard notes what a listener is told.
type heard struct {
	mu    sync.Mutex
	words []string
}

func (h *heard) CloseBooks()         { h.note("close") }
func (h *heard) OpenAt(ns int64)     { h.note(fmt.Sprintf("open %d", ns)) }
func (h *heard) Finish()             { h.note("finish") }
func (h *heard) TellLeader(id int64) { h.note(fmt.Sprintf("leader %d", id)) }
func (h *heard) Meet(others []broker.Endpoint) {
	h.note(fmt.Sprintf("meet %v", others))
}

func (h *heard) note(words string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.words = append(h.words, words)
}

func (h *heard) has(words string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.words {
		if strings.Contains(w, words) {
			return true
		}
	}
	return false
}

func TestEachControlLineReachesWhomItIsFor(t *testing.T) {
	in, say := io.Pipe()
	h := &heard{}
	c := listen(in, h, h.note)
	for _, line := range []string{
		`{"ask":"leader","id":3}`, `{"t0UnixNs":"1795203941942423698"}`, `{"t0UnixNs":"5"}`, `{"t0UnixNs":"soon"}`, `{"ask":"time"}`,
		`no JSON`, ``, `{"openNs":12000000000}`, `{"close":true}`, `{"finish":true}`, `{"ask":"leader","id":4}`,
		`{"peers":[{"topic":"a","group":"workers","address":"tcp://10.0.0.1:4"}]}`, `{"peers":[]}`,
	} {
		if _, err := io.WriteString(say, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = io.WriteString(say, `{"finish":`) // half a line
	_ = say.Close()
	<-c.over
	if t0 := <-c.t0; t0.UnixNano() != 1795203941942423698 {
		t.Errorf("T0 is %d; want the first that came, to the nanosecond", t0.UnixNano())
	}
	for _, words := range []string{"leader 3", "leader 4", "open 12000000000", "close", "finish", "meet [{a false workers tcp://10.0.0.1:4}]", "meet []", `T0 "soon"`, `{"ask":"time"}`, "no JSON"} {
		for deadline := time.Now().Add(5 * time.Second); !h.has(words) && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		if !h.has(words) {
			t.Errorf("%q is not heard: %q", words, h.words)
		}
	}
	select {
	case t0 := <-c.t0:
		t.Errorf("a second T0 is kept: %s", t0)
	default:
	}
}
