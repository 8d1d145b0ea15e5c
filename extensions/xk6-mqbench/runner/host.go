package runner

import (
	"bytes"
	"compress/zlib"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/grafana/sobek"
	whatwg "github.com/nlnwa/whatwg-url/url"
)

// host is `go` of runner/inside-k6/host.ts: what that asks for beyond the language.
func host(rt *sobek.Runtime, version string) map[string]any {
	buffer := func(bytes []byte, err error) sobek.ArrayBuffer {
		throw(rt, err)
		return rt.NewArrayBuffer(bytes)
	}
	return map[string]any{
		"platform": runtime.GOOS,
		"version":  version,
		"stat": func(path string) sobek.Value {
			found, err := os.Stat(path)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
				return sobek.Null()
			}
			throw(rt, err)
			return rt.ToValue(map[string]any{"size": found.Size(), "folder": found.IsDir()})
		},
		"list": func(path string) []map[string]any {
			found, err := os.ReadDir(path)
			throw(rt, err)
			list := make([]map[string]any, len(found))
			for i, one := range found {
				list[i] = map[string]any{"name": one.Name(), "folder": one.IsDir()}
			}
			return list
		},
		"read": func(path string, at, most int64) sobek.ArrayBuffer { return buffer(read(path, at, most)) },
		"resolve": func(path string) string {
			whole, err := filepath.Abs(path)
			throw(rt, err)
			return whole
		},
		"inflate": func(packed sobek.ArrayBuffer) sobek.ArrayBuffer { return buffer(inflate(packed.Bytes())) },
		"sha256": func() map[string]any {
			sum := sha256.New()
			return map[string]any{
				"update": func(more sobek.ArrayBuffer) { _, _ = sum.Write(more.Bytes()) },
				"digest": func() string { return hex.EncodeToString(sum.Sum(nil)) },
			}
		},
		"random": func(n int) string {
			some := make([]byte, n)
			_, _ = rand.Read(some)
			return hex.EncodeToString(some)
		},
		"encode": func(text, encoding string) sobek.ArrayBuffer {
			if encoding == "base64" {
				return buffer(base64.StdEncoding.DecodeString(text))
			}
			return rt.NewArrayBuffer([]byte(text))
		},
		"decode": func(given sobek.ArrayBuffer, encoding string) string {
			if encoding != "latin1" {
				return strings.ToValidUTF8(string(given.Bytes()), "\ufffd")
			}
			letters := make([]rune, len(given.Bytes()))
			for i, one := range given.Bytes() {
				letters[i] = rune(one)
			}
			return string(letters)
		},
		"url": func(text string) sobek.Value {
			parts := urlParts(text)
			if parts == nil {
				return sobek.Null()
			}
			return rt.ToValue(parts)
		},
	}
}

// --- internal ---

// throw throws what the operating system said, with its code as Node has it.
func throw(rt *sobek.Runtime, err error) {
	if err == nil {
		return
	}
	thrown := rt.NewGoError(err)
	for code, is := range map[string]error{
		"ENOENT": fs.ErrNotExist, "EEXIST": fs.ErrExist, "EACCES": fs.ErrPermission, "EISDIR": syscall.EISDIR, "ENOTDIR": syscall.ENOTDIR,
	} {
		if errors.Is(err, is) {
			_ = thrown.Set("code", code)
		}
	}
	panic(thrown)
}

func read(path string, at, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	bytes := make([]byte, most)
	n, err := file.ReadAt(bytes, at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return bytes[:n], err
}

func inflate(packed []byte) ([]byte, error) {
	reader, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// urlParts are those that `new URL` has in Node, by the same standard; nil: it is none.
func urlParts(text string) map[string]any {
	u, err := whatwg.Parse(text)
	if err != nil {
		return nil
	}
	return map[string]any{
		"protocol": u.Protocol(), "username": u.Username(), "password": u.Password(), "host": u.Host(), "hostname": u.Hostname(), "port": u.Port(),
		"pathname": u.Pathname(), "search": u.Search(), "hash": u.Hash(), "href": u.Href(false),
	}
}
