package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// unread is how many lines wait for a command that does not read them; further lines are dropped.
const unread = 1024

// orders are what agent is to pass on while the command runs. The command may read slowly or never. Agent must still notice that its
// parent is gone, so a goroutine of its own writes.
type orders struct {
	lines chan string
}

// newOrders writes to stdin, which is the command's.
func newOrders(stdin io.WriteCloser) *orders {
	o := &orders{lines: make(chan string, unread)}
	go func() {
		defer stdin.Close()
		for line := range o.lines {
			if _, err := io.WriteString(stdin, line); err != nil {
				break // the command reads no more
			}
		}
		for range o.lines {
		}
	}()
	return o
}

// follow carries out the lines of in until it ends; the command's standard input ends then too.
func (o *orders) follow(in io.Reader, signals chan<- os.Signal) {
	defer close(o.lines)
	for reader := bufio.NewReader(in); ; {
		line, err := reader.ReadString('\n')
		if err != nil {
			return // ignore half a line
		}
		order, rest, _ := strings.Cut(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"), " ")
		switch {
		case order == "say":
			select {
			case o.lines <- rest + "\n":
			default:
				fmt.Fprintln(os.Stderr, "agent: the command does not read its standard input")
			}
		case order == "signal" && rest == "INT":
			signals <- os.Interrupt
		case order == "signal" && rest == "TERM":
			signals <- syscall.SIGTERM
		default:
			fmt.Fprintf(os.Stderr, "agent: %q is not an order; write say <text>, signal INT or signal TERM\n", order)
		}
	}
}
