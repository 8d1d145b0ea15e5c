//go:build !linux

package clock

// Asleep works on Linux only.
func Asleep() (ns int64, ok bool) { return 0, false }
