package mqbench

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// heard records a listener's lines.
type heard chan string

func (h heard) CloseBooks()                   { h <- "close" }
func (h heard) OpenAt(ns int64)               { h <- fmt.Sprintf("open %d", ns) }
func (h heard) Finish()                       { h <- "finish" }
func (h heard) TellLeader(id int64)           { h <- fmt.Sprintf("leader %d", id) }
func (h heard) Meet(others []broker.Endpoint) { h <- fmt.Sprintf("meet %v", others) }

func TestEachControlLineReachesWhomItIsFor(t *testing.T) {
	wanted := []string{
		"leader 3", "leader 4", "open 12000000000", "close", "finish", "meet [{a false workers tcp://10.0.0.1:4}]", "meet []",
		`T0 "soon"`, `{"ask":"time"}`, `"\n" is not`, "no JSON",
	}
	h := make(heard)
	t0 := listen(strings.NewReader(`{"ask":"leader","id":3}
{"t0UnixNs":"1795203941942423698"}
{"t0UnixNs":"5"}
{"t0UnixNs":"soon"}
{"ask":"time"}

{"openNs":12000000000}
{"close":true}
{"finish":true}
{"ask":"leader","id":4}
{"peers":[{"topic":"a","group":"workers","address":"tcp://10.0.0.1:4"}]}
{"peers":[]}
no JSON
{"finish":`), h, func(words string) { h <- words })
	all := ""
	for range wanted {
		all += <-h + "\n"
	}
	for _, words := range wanted {
		if !strings.Contains(all, words) {
			t.Errorf("%q is not heard: %s", words, all)
		}
	}
	if first := <-t0; first.UnixNano() != 1795203941942423698 {
		t.Errorf("T0 is %d; want the first that came, to the nanosecond", first.UnixNano())
	}
	if second, isOne := <-t0; isOne {
		t.Errorf("a second T0 is kept: %s", second)
	}
}
