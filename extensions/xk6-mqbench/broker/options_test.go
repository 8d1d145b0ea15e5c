package broker

import (
	"encoding/json"
	"strings"
	"testing"
)

type part struct {
	Kind string `json:"kind" known:"queue topic"`
}

type own struct {
	part
	Prefetch int `json:"prefetch"`
}

func TestOptionsAreReadOverDefaultsAndRefusedWhereTheyAreNotKnown(t *testing.T) {
	usual := Defaults[own]([]byte(`{"kind": "topic", "prefetch": 100}`))
	for _, c := range []struct {
		text string
		want own
		says string
	}{
		{"", own{part{"topic"}, 100}, ""},
		{`{"prefetch": 0}`, own{part{"topic"}, 0}, ""},
		{`{"kind": "queue"}`, own{part{"queue"}, 100}, ""},
		{`{"kind": "stream"}`, own{}, `driver options: kind must be one of queue, topic, got "stream"`},
		{`{"prefetches": 1}`, own{}, `unknown field "prefetches"`},
		{`{"prefetch": "1"}`, own{}, "driver options: "},
	} {
		got := usual
		err := Options{Driver: json.RawMessage(c.text)}.Decode(&got)
		if c.says == "" && (err != nil || got != c.want) {
			t.Errorf("%s: %+v, %v; want %+v", c.text, got, err, c.want)
		}
		if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v; want %q", c.text, err, c.says)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a mistake in defaults.json does not show")
		}
	}()
	Defaults[own]([]byte(`{"prefetches": 1}`))
}
