//go:build unix

package mqbench

import (
	"os/signal"
	"syscall"
)

// surviveReader keeps this process alive when the reader of its progress is gone. Otherwise Go would end it at the next line, with the
// books still open.
func surviveReader() { signal.Ignore(syscall.SIGPIPE) }
