package books

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/ledger"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
)

// setLine is a set of sequences of one producer as this client saw them: LedgerLine of runner/run/client-file.ts.
type setLine struct {
	Type       string `json:"type"`
	Set        string `json:"set"`
	Producer   int64  `json:"producer"`
	Subscriber int64  `json:"subscriber"`
	Count      int64  `json:"count"`
	Bits       string `json:"bits"`
}

// WriteLedger writes what became of the messages that were sent here, and what was received here: lines of client-<i>.ledger, one for
// each set that is not empty. tried[p] is how many messages of producer p were sent or prevented from leaving.
func (b *Books) WriteLedger(file *recorder.File, tried []int64) {
	for _, p := range b.Own {
		set := ledger.NewSet(b.Sequences(p, b.Messages))
		for seq := range tried[p] {
			set.Add(seq)
		}
		writeSet(file, "tried", p, 0, set)
		writeSet(file, "failed", p, 0, b.failedSets[p])
		if b.Acks {
			writeSet(file, "acked", p, 0, b.ackedSets[p])
		} else {
			writeSet(file, "unknown", p, 0, b.unknownSets[p])
		}
	}
	for k, received := range b.receivedSets {
		if received != nil {
			writeSet(file, "received", int64(k)%b.Producers, int64(k)/b.Producers, received)
		}
	}
}

// FinishLedger writes the trailer and makes the file durable. An error comes from the disk.
func FinishLedger(file *recorder.File) error {
	text := fmt.Appendf(nil, `{"type":"trailer","lines":%d,"sha256":%q}`, file.Lines(), file.Sum())
	file.Line(text)
	return file.Finish()
}

// --- internal ---

func writeSet(file *recorder.File, name string, producer, subscriber int64, set *ledger.Set) {
	count := set.Count(0, set.Size())
	if count == 0 {
		return
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, err := z.Write(set.Bits())
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(fmt.Sprintf("ledger: %v", err)) // writes to memory: cannot fail
	}
	text, err := json.Marshal(setLine{"set", name, producer, subscriber, count, base64.StdEncoding.EncodeToString(packed.Bytes())})
	if err != nil {
		panic(fmt.Sprintf("ledger: %v", err)) // our own plain values: cannot fail
	}
	file.Line(text)
}
