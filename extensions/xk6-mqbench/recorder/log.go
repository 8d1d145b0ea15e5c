package recorder

import (
	"bufio"
	"compress/zlib"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"time"
)

// File is a result file: lines go to "<path>.part", and Finish renames it, or returns the first error. For one goroutine.
type File struct {
	path  string
	file  *os.File
	buf   *bufio.Writer
	hash  hash.Hash
	lines int64
	bytes int64
	err   error
}

// Create opens "<path>.part".
func Create(path string) (*File, error) {
	file, err := os.Create(path + ".part")
	if err != nil {
		return nil, fmt.Errorf("result file: %w", err)
	}
	return &File{path: path, file: file, buf: newBuffer(file), hash: sha256.New()}, nil
}

// Line writes one line; text has no line break, and is the file's from then on.
func (f *File) Line(text []byte) {
	f.lines++
	f.bytes += int64(len(text)) + 1
	if f.err == nil {
		_, f.err = io.MultiWriter(f.buf, f.hash).Write(append(text, '\n'))
	}
}

// Lines is the number of lines so far.
func (f *File) Lines() int64 { return f.lines }

// Bytes is the size so far.
func (f *File) Bytes() int64 { return f.bytes }

// Sum is the sha256 of all bytes so far, in hex.
func (f *File) Sum() string { return hex.EncodeToString(f.hash.Sum(nil)) }

// Flush hands the buffer to the operating system, so a crash of this process does not lose it.
func (f *File) Flush() error {
	if f.err == nil {
		f.err = f.buf.Flush()
	}
	return f.err
}

// Finish makes the file durable and renames it.
func (f *File) Finish() error {
	err := f.Flush()
	if err == nil {
		err = f.file.Sync()
	}
	if err = errors.Join(err, f.file.Close()); err == nil {
		err = os.Rename(f.path+".part", f.path)
	}
	if err != nil {
		return fmt.Errorf("result file: %w", err)
	}
	folder, err := os.Open(filepath.Dir(f.path))
	if err != nil {
		return nil // on Windows a folder cannot be synced
	}
	_ = folder.Sync() // makes the rename durable
	return folder.Close()
}

// Discard removes the unfinished file.
func (f *File) Discard() {
	_ = f.file.Close()
	_ = os.Remove(f.path + ".part")
}

// Log writes seconds as a standard .hlog, format 1.3, in seconds since T0; the maximum column is in ms.
type Log struct {
	*File
	zlib *zlib.Writer
	// body is reused.
	body []byte
}

// NewLog writes the header into file. t0 is the wall clock of T0.
func NewLog(file *File, t0 time.Time) *Log {
	l := &Log{File: file}
	l.zlib, _ = zlib.NewWriterLevel(nil, zlib.BestSpeed) // a level that there is
	base := float64(t0.UnixMilli()) / 1000
	stamp := t0.UTC().Format("2006-01-02T15:04:05.000Z")
	l.Line([]byte("#[mqbench: nanoseconds since the intended send time; tags are metrics, .warmup is outside of the window]"))
	l.Line([]byte("#[Histogram log format version 1.3]"))
	l.Line(fmt.Appendf(nil, "#[BaseTime: %.3f (seconds since epoch)]", base))
	l.Line(fmt.Appendf(nil, "#[StartTime: %.3f (seconds since epoch), %s]", base, stamp))
	l.Line([]byte(`"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`))
	return l
}

// Second writes one line per metric and class of size that has values.
func (l *Log) Second(s *Second) {
	for m, tag := range s.tags {
		if s.exact[m].Count == 0 {
			continue
		}
		if s.WarmUp {
			tag += ".warmup"
		}
		l.Line(fmt.Appendf(nil, "Tag=%s,%.3f,%.3f,%.6f,%s", tag,
			float64(s.StartNs)/1e9, float64(s.LengthNs)/1e9, float64(s.exact[m].Max)/1e6, l.encode(s.merged[m])))
	}
}

// Trailer closes the log with a comment: how many lines are before it, and their sha256.
func (l *Log) Trailer(state string) {
	l.Line(fmt.Appendf(nil, "#[Trailer: lines=%d,sha256=%s,state=%s]", l.Lines(), l.Sum(), state))
}

// --- internal ---

func newBuffer(w io.Writer) *bufio.Writer { return bufio.NewWriterSize(w, 1<<16) }
