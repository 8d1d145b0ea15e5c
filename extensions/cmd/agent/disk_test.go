package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

func TestTheTimeOfAFlushIsMeasuredAndNothingIsLeft(t *testing.T) {
	folder := t.TempDir()
	var out bytes.Buffer
	if err := measureDisk(folder, &out); err != nil {
		t.Fatal(err)
	}
	var got flushed
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Calls < 1 || got.Calls >= flushes {
		t.Errorf("%d calls", got.Calls)
	}
	if got.MinNs <= 0 || got.P50Ns < got.MinNs || got.MaxNs < got.P50Ns {
		t.Errorf("%+v is out of order", got)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
}

func TestAFolderThatIsNotThereIsAnError(t *testing.T) {
	if err := measureDisk(t.TempDir()+"/missing", &bytes.Buffer{}); err == nil {
		t.Error("no error")
	}
}
