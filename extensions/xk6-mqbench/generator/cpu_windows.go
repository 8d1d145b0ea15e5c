package generator

import (
	"math"

	"golang.org/x/sys/windows"
)

// readCPU is the CPU time of this process, user and kernel, in ns.
func readCPU() int64 {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user); err != nil {
		return 0
	}
	ticks := func(f windows.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) }
	return (ticks(kernel) + ticks(user)) * 100
}

// fileLimit is no number: Windows has none for sockets.
var fileLimit = func() int64 { return math.MaxInt64 }
