//go:build unix

package mqbench

import (
	"os/signal"
	"syscall"
)

// surviveReader lets this process go on when whoever reads its progress is gone: Go would end it at the next line, and
// the books would stay open.
func surviveReader() { signal.Ignore(syscall.SIGPIPE) }
