// Package runner runs mqbench's TypeScript inside k6: schema, planner, verdict and report, as `npm run build` bundles runner/inside-k6.
package runner

import (
	"bytes"
	"compress/zlib"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"github.com/grafana/sobek"
	whatwg "github.com/nlnwa/whatwg-url/url"
)

// fileEnv names the bundle for a k6 that was linked without one.
const fileEnv = "MQBENCH_RUNNER"

// ErrAbsent means that this k6 was linked without the bundle.
var ErrAbsent = errors.New("this k6 cannot plan and judge by itself: use the one that `npx mqbench build` makes")

// Runner is a bundle; nil if there is none. Its methods take some seconds, and may be called by any goroutine.
type Runner struct {
	version string
	program func() (*sobek.Program, error)
}

// Staged is a load before it runs (runner/inside-k6/words.ts).
type Staged struct {
	Plan json.RawMessage
	// URL is the broker's, with its password; nil if it is in the plan's variable.
	URL *string
	// Folder of results; Run, below it, is the run's. Files are the initial files of both, by path.
	Folder, Run string
	Files       map[string]string
	// Scenario is k6's, which hands out slots.
	Scenario map[string]any
}

// Judged is the outcome of a run.
type Judged struct {
	// JSON is result.json, Text the same for people. Files are the files that result.json names, by path.
	JSON, Text string
	Files      map[string]string
	// Reason is why it is not a PASS; "" if it is one.
	Verdict, Reason string
	// Figures are of the window, ns: p50, p99, p999, max, as far as there are some.
	Figures map[string]float64
	Lost    *float64
	SLA     []struct {
		Line string
		Met  bool
	}
}

// embedded is the bundle that this program was linked with.
var embedded string

// Embed takes over the bundle of a program that was linked with it. For its init.
func Embed(bundle string) { embedded = bundle }

// Of returns this program's bundle, or the one that the environment names.
func Of(version string, env map[string]string) (*Runner, error) {
	text := embedded
	if text == "" {
		if env[fileEnv] == "" {
			return nil, ErrAbsent
		}
		bundle, err := os.ReadFile(env[fileEnv])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", fileEnv, err)
		}
		text = string(bundle)
	}
	program := func() (*sobek.Program, error) { return sobek.Compile("mqbench.js", text, false) }
	return &Runner{version: version, program: sync.OnceValues(program)}, nil
}

// Open plans the scenario given to `mqbench.open`, as JSON.
func (r *Runner) Open(scenario json.RawMessage, env map[string]string) (*Staged, error) {
	return ask[Staged](r, "open", scenario, env)
}

// Load takes over a plan that was made before.
func (r *Runner) Load(plan string) (*Staged, error) {
	return ask[Staged](r, "load", json.RawMessage(plan))
}

// Result judges the run of a folder.
func (r *Runner) Result(folder string) (*Judged, error) { return ask[Judged](r, "result", folder) }

// Run judges a run by its own folder, without JSON and Text.
func (r *Runner) Run(folder string) (*Judged, error) { return ask[Judged](r, "run", folder) }

// host is `go` of runner/inside-k6/host.ts: its functions beyond the language.
func host(rt *sobek.Runtime, version string) map[string]any {
	buffer := func(bytes []byte, err error) sobek.ArrayBuffer {
		throw(rt, err)
		return rt.NewArrayBuffer(bytes)
	}
	return map[string]any{
		"platform": runtime.GOOS,
		"version":  version,
		"stat": func(path string) map[string]any {
			found, err := os.Stat(path)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
				return nil
			}
			throw(rt, err)
			return map[string]any{"size": found.Size(), "folder": found.IsDir()}
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
		"url": urlParts,
	}
}

// --- internal ---

// ask calls one of the bundle's words. The machine that answers is gone afterwards: while a load runs nothing of it is left.
func ask[Answer any](r *Runner, word string, arguments ...any) (*Answer, error) {
	given, err := json.Marshal(arguments)
	if err != nil {
		return nil, err
	}
	program, err := r.program()
	rt := sobek.New()
	if err == nil {
		err = rt.Set("go", host(rt, r.version))
	}
	if err == nil {
		_, err = rt.RunProgram(program)
	}
	if err != nil {
		return nil, fmt.Errorf("mqbench's bundle: %w", err)
	}
	value, err := rt.RunString(fmt.Sprintf("JSON.stringify(words.%s(...%s))", word, given))
	if err != nil {
		return nil, sentence(err)
	}
	var answer Answer
	if err := json.Unmarshal([]byte(value.String()), &answer); err != nil {
		return nil, fmt.Errorf("mqbench's bundle: %w", err)
	}
	return &answer, nil
}

// sentence is an exception without the place in the bundle where it was thrown.
func sentence(err error) error {
	var thrown *sobek.Exception
	if !errors.As(err, &thrown) {
		return err
	}
	if object, is := thrown.Value().(*sobek.Object); is {
		if code := object.Get("exit"); code != nil && !sobek.IsUndefined(code) {
			return errors.New(object.Get("message").String())
		}
	}
	return fmt.Errorf("mqbench's bundle: %s", thrown.String())
}

// throw throws the operating system's error, with its code as in Node.
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

// urlParts are the same as Node's `new URL` has, by the same standard; nil if it is not a URL.
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
