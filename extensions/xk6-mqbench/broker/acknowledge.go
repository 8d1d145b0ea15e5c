package broker

import "time"

// When a consumer acknowledges what it has handled: values of the option `acknowledge` of drivers.
const (
	// Automatic: never. The broker takes as handled what it hands out.
	Automatic  = "automatic"
	PerMessage = "message"
	// PerBatch: those that arrived together.
	PerBatch = "batch"
	// PerInterval: those of AcknowledgeInterval.
	PerInterval = "interval"
)

// AcknowledgeInterval is the longest time that a handled message waits for its acknowledgement with PerInterval.
const AcknowledgeInterval = 100 * time.Millisecond

// AcknowledgeOf is when the consumers of a subscription acknowledge, if the option says `written`. "": each message in a group, the same duty
// for all systems, and never where a consumer shares with nobody.
func AcknowledgeOf(written, group string) string {
	switch {
	case written != "":
		return written
	case group != "":
		return PerMessage
	}
	return Automatic
}
