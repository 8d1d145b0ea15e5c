package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// The limits of a measurement, whichever comes first: enough for a median.
const (
	flushes   = 200
	flushTime = 500 * time.Millisecond
)

// flushed is what disk prints.
type flushed struct {
	Calls int `json:"calls"`
	spread
}

// measureDisk writes 4 KiB again and again to a new file in folder, flushes each write to the disk, and prints as JSON how long a
// flush takes.
func measureDisk(folder string, out io.Writer) error {
	file, err := os.CreateTemp(folder, "mqbench-flush-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	block := make([]byte, 4096)
	var took []time.Duration
	for began := time.Now(); len(took) < flushes && time.Since(began) < flushTime; {
		block[0]++ // never the same: a file system may notice that nothing has changed
		if _, err := file.WriteAt(block, 0); err != nil {
			return err
		}
		at := time.Now()
		if err := flush(file); err != nil {
			return fmt.Errorf("flush %s: %w", file.Name(), err)
		}
		took = append(took, time.Since(at))
	}
	// The first flush also makes the file known to the disk.
	if len(took) > 1 {
		took = took[1:]
	}
	return json.NewEncoder(out).Encode(flushed{len(took), spreadOf(took)})
}
