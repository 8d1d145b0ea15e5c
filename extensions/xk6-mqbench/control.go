package mqbench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// Environment variables that make this process read its standard input: from a coordinator, which also hands out T0, or only for questions.
const (
	coordinatedEnv = "MQBENCH_COORDINATED"
	controlEnv     = "MQBENCH_CONTROL"
)

// listener receives the control lines: a generator, whose methods say what they do. They may be called from any goroutine.
type listener interface {
	CloseBooks()
	OpenAt(startNs int64)
	Meet(others []broker.Endpoint)
	Finish()
	TellLeader(id int64)
}

// listen reads the lines sent to this process until in ends, one JSON object a line: ControlLine of runner/run/progress-line.ts. It calls complain
// for lines that it does not understand. The channel has the first T0, and is closed when the input has ended.
func listen(in io.Reader, to listener, complain func(string)) <-chan time.Time {
	t0 := make(chan time.Time, 1)
	go func() {
		defer close(t0)
		for reader := bufio.NewReader(in); ; {
			line, err := reader.ReadBytes('\n')
			if err != nil {
				return // ignore half a line
			}
			if err := follow(line, to, t0); err != nil {
				complain(fmt.Sprintf("mqbench: standard input: %v", err))
			}
		}
	}()
	return t0
}

// --- internal ---

func follow(text []byte, to listener, t0 chan<- time.Time) error {
	var line struct {
		T0UnixNs, Ask string
		ID, OpenNs    int64
		Close, Finish bool
		// Peers are the endpoints of all other clients.
		Peers []broker.Endpoint
	}
	if err := json.Unmarshal(text, &line); err != nil {
		return fmt.Errorf("%q is not a JSON object", text)
	}
	switch {
	case line.T0UnixNs != "":
		ns, err := strconv.ParseInt(line.T0UnixNs, 10, 64)
		if err != nil {
			return fmt.Errorf("T0 %q is not a number of Unix ns", line.T0UnixNs)
		}
		select {
		case t0 <- time.Unix(0, ns):
		default: // the first T0 counts
		}
	case line.Ask == "leader":
		go to.TellLeader(line.ID)
	case line.OpenNs > 0:
		to.OpenAt(line.OpenNs)
	case line.Peers != nil:
		go to.Meet(line.Peers)
	case line.Close:
		to.CloseBooks()
	case line.Finish:
		to.Finish()
	default:
		return fmt.Errorf("%s is not an order", text)
	}
	return nil
}
