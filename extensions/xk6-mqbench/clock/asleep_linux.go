package clock

import "golang.org/x/sys/unix"

// Asleep is how long this machine has been suspended since it was started, in ns: the run's clock stops then, and the boot clock does not.
// ok is false if the system does not report it.
func Asleep() (ns int64, ok bool) {
	// Subtle: time passes between two readings, a thread's turn at most. The least of some is next to nothing too long.
	for range 3 {
		var awake, all unix.Timespec
		if unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &all) != nil {
			return 0, false
		}
		if found := all.Nano() - awake.Nano(); !ok || found < ns {
			ns, ok = found, true
		}
	}
	return ns, ok
}
