//go:build !linux

package clock

// Asleep is known on Linux only.
func Asleep() (ns int64, ok bool) { return 0, false }
