package brokertest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Located is a server and where it is.
type Located struct {
	*Server
	URL string
}

// Java is a command that runs a server as tests need it: they start dozens for a short time, and compile little of each.
func Java(args ...string) []string {
	return append([]string{"java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"}, args...)
}

// File writes a text for a server, such as its configuration, and returns its path.
func File(t testing.TB, text string, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	return file
}
