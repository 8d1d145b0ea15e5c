package broker

import "testing"

func TestAGroupAcknowledgesEachMessageAndAConsumerAloneNone(t *testing.T) {
	for _, c := range []struct{ written, group, want string }{
		{"", "", Automatic}, {"", "workers", PerMessage}, {PerMessage, "", PerMessage}, {PerBatch, "workers", PerBatch},
	} {
		if got := AcknowledgeOf(c.written, c.group); got != c.want {
			t.Errorf("acknowledge %q in group %q is %q, want %q", c.written, c.group, got, c.want)
		}
	}
}
