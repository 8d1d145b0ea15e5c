package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// flush is the call that databases and brokers use: it writes the data, and what is needed to find the data again.
func flush(file *os.File) error { return unix.Fdatasync(int(file.Fd())) }
