//go:build !linux

package main

import "os"

func flush(file *os.File) error { return file.Sync() }
