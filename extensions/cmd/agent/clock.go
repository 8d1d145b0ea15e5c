package main

import (
	"bufio"
	"fmt"
	"io"
	"time"
)

// answerClock answers each line of in with the wall clock in Unix ns. It returns when in ends or the answers cannot be written any more.
func answerClock(in io.Reader, out io.Writer) {
	for reader := bufio.NewReader(in); ; {
		if _, err := reader.ReadString('\n'); err != nil {
			return
		}
		if _, err := fmt.Fprintf(out, "%d\n", time.Now().UnixNano()); err != nil {
			return
		}
	}
}
