package broker

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// bare can nothing. What a simple driver does is in the tests of examples/.
type bare struct{ Simple }

type counting struct {
	bare
	DropsNothing
}

func TestASimpleDriverHasTheAbilitiesOfItsParts(t *testing.T) {
	for _, c := range []struct {
		own     Simple
		dropped bool
	}{{bare{}, false}, {counting{}, true}} {
		s, err := SimpleDriver("made-up", "1", struct{}{}, func(*Base, struct{}) Simple { return c.own })(Options{URL: "made-up://here"})
		if err != nil {
			t.Fatal(err)
		}
		if got := Dropped(s); (got != nil) != c.dropped {
			t.Errorf("%T: dropped is known: %t; want %t", c.own, got != nil, c.dropped)
		}
		if got := Reconnects(s); got == nil || *got != 0 {
			t.Errorf("%T: reconnects are %v; want 0", c.own, got)
		}
	}
}

func TestASimpleDriverChecksItsOptions(t *testing.T) {
	type own struct {
		Depth int `json:"depth"`
	}
	var got own
	var at []string
	driver := SimpleDriver("made-up", "77", own{Depth: 5}, func(b *Base, o own) Simple {
		got, at = o, b.At.Hosts
		return bare{}
	})
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{URL: "other://here"}, "made-up: the URL must begin with made-up://"},
		{Options{URL: "made-up://here", Driver: json.RawMessage(`{"width":1}`)}, `made-up: driver options: json: unknown field "width"`},
		{Options{URL: "made-up://here", Part: Part{Run: "run"}}, "made-up: its driver only measures topics of mqbench; drop create: false"},
	} {
		if _, err := driver(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v; want %s", c.o, err, c.want)
		}
	}
	if _, err := driver(Options{URL: "made-up://here,there:8"}); err != nil || got.Depth != 5 || strings.Join(at, " ") != "here:77 there:8" {
		t.Errorf("%v, options %+v at %q; want the default and both hosts", err, got, at)
	}
}

func TestSendsOfASimpleDriverWithoutConnectionFail(t *testing.T) {
	l := &simpleLink{}
	failed := false
	l.Send(&Message{}, func(_ *Message, _ int64, err error) { failed = err == errNotConnected })
	if !failed {
		t.Error("a send without a connection does not fail")
	}
	if s := (&simple{Base: NewBase("made-up", Options{})}); s.Close() != nil || s.Over.Err() != context.Canceled {
		t.Error("Close does not end the session")
	}
}
