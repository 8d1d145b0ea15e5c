package mqbench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Environment variables that make this process listen on its standard input: to a coordinator, which then hands out T0 as well,
// or to questions alone.
const (
	coordinatedEnv = "MQBENCH_COORDINATED"
	controlEnv     = "MQBENCH_CONTROL"
)

// listener is whom control lines are for. Its methods may be called from any goroutine.
type listener interface {
	// CloseBooks: nothing more is to be counted.
	CloseBooks()
	// Finish: it may leave.
	Finish()
	// TellLeader answers question id, in its own time.
	TellLeader(id int64)
}

// control is what this process is told, one JSON object a line: ControlLine of runner/run/progress-line.ts.
type control struct {
	// t0 has the first T0 that came.
	t0 chan time.Time
	// over is closed when nothing will be said any more.
	over chan struct{}
}

// listen reads lines until in ends. complain takes words about what is no order.
func listen(in io.Reader, to listener, complain func(string)) *control {
	c := &control{t0: make(chan time.Time, 1), over: make(chan struct{})}
	go func() {
		defer close(c.over)
		for reader := bufio.NewReader(in); ; {
			line, err := reader.ReadBytes('\n')
			if err != nil {
				return // half a line is none
			}
			if err := c.follow(line, to); err != nil {
				complain(fmt.Sprintf("mqbench: standard input: %v", err))
			}
		}
	}()
	return c
}

// --- internal ---

func (c *control) follow(text []byte, to listener) error {
	var line struct {
		T0UnixNs string `json:"t0UnixNs"`
		Ask      string `json:"ask"`
		ID       int64  `json:"id"`
		Close    bool   `json:"close"`
		Finish   bool   `json:"finish"`
	}
	if err := json.Unmarshal(text, &line); err != nil {
		return fmt.Errorf("%q is no JSON object", text)
	}
	switch {
	case line.T0UnixNs != "":
		ns, err := strconv.ParseInt(line.T0UnixNs, 10, 64)
		if err != nil {
			return fmt.Errorf("T0 %q is not Unix ns", line.T0UnixNs)
		}
		select {
		case c.t0 <- time.Unix(0, ns):
		default: // the first one holds
		}
	case line.Ask == "leader":
		go to.TellLeader(line.ID)
	case line.Close:
		to.CloseBooks()
	case line.Finish:
		to.Finish()
	default:
		return fmt.Errorf("%s is no order", text)
	}
	return nil
}
