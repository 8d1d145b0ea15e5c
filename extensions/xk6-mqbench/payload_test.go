//go:build unix

package mqbench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestThePayloadFileOfAClientElsewhereIsWhereTheEnvironmentSays(t *testing.T) {
	k := loaded(t, 1, "", "")
	k.load.plan.Message.Kind, k.load.plan.Message.File = "file", "/nowhere/payload.bin"
	if err := within(t, k.starting()); err == nil || !strings.Contains(err.Error(), "/nowhere/payload.bin") {
		t.Fatalf("%v; want that there is no /nowhere/payload.bin", err)
	}
	file := filepath.Join(t.TempDir(), "payload")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	k.out.params.Environment[payloadEnv] = file
	if err := within(t, k.starting()); err != nil {
		t.Fatal(err)
	}
	if err := k.out.Stop(); err != nil {
		t.Fatal(err)
	}
	k.gone()
}
