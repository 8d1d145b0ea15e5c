package generator

import (
	"io"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
)

// Files are the files that a client writes its results to.
type Files struct {
	hlog, jsonl *recorder.File
	// ledger is nil if every client can tell by itself what was lost.
	ledger *recorder.File
	// progress gets one line of JSON a second, for the runner.
	progress io.Writer
}

// CreateFiles opens "<base>.hlog.part" and "<base>.jsonl.part", and also "<base>.ledger.part" if the plan's messages cross from client
// to client.
func CreateFiles(plan *Plan, base string, progress io.Writer) (*Files, error) {
	hlog, err := recorder.Create(base + ".hlog")
	if err != nil {
		return nil, err
	}
	jsonl, err := recorder.Create(base + ".jsonl")
	if err != nil {
		return nil, err
	}
	files := &Files{hlog: hlog, jsonl: jsonl, progress: progress}
	if plan.crosses() {
		if files.ledger, err = recorder.Create(base + ".ledger"); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Discard removes all files.
func (f *Files) Discard() {
	f.hlog.Discard()
	f.jsonl.Discard()
	if f.ledger != nil {
		f.ledger.Discard()
	}
}
