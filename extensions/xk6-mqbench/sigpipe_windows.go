package mqbench

// surviveReader: Windows has no such signal.
func surviveReader() {}
