//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"
)

// samples reads a file that -sample has written.
func samples(t *testing.T, path string) []sampleLine {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var lines []sampleLine
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		var line sampleLine
		decoder := json.NewDecoder(bytes.NewReader(scanner.Bytes()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&line); err != nil {
			t.Fatalf("%s: %v", scanner.Text(), err)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestWhatCannotBeReadIsNull(t *testing.T) {
	line, err := json.Marshal(sampleLine{UnixMs: 1, Generator: usage([]int{1 << 30})})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"unixMs":1,"generator":{"cpuNs":null,"rssBytes":null,"readBytes":null,"writeBytes":null},"broker":null,` +
		`"machine":{"cpuNs":null,"idleNs":null,"stealNs":null,"throttled":null},"network":null}`
	if string(line) != want {
		t.Errorf("got %s; want %s", line, want)
	}
}

func BenchmarkSample(b *testing.B) {
	for b.Loop() {
		readSample(time.Now())
	}
}
