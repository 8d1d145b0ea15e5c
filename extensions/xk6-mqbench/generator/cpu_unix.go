//go:build unix

package generator

import "golang.org/x/sys/unix"

// readCPU is the CPU time of this process, user and system, in ns.
func readCPU() int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
