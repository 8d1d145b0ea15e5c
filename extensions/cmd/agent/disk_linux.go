package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// flush is what databases and brokers call: the data, and what is needed to find it again.
func flush(file *os.File) error { return unix.Fdatasync(int(file.Fd())) }
