//go:build unix

package generator

import (
	"math"

	"golang.org/x/sys/unix"
)

// readCPU is the CPU time of this process, user and system, in ns.
func readCPU() int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// fileLimit is how many files this process may open: Go has raised its soft limit to the hard one.
var fileLimit = func() int64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || uint64(limit.Cur) > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(limit.Cur)
}
