package address

import (
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	for text, want := range map[string]Address{
		"kafka://a":                    {Hosts: []string{"a:9092"}},
		"kafka://a:1,b:2,c":            {Hosts: []string{"a:1", "b:2", "c:9092"}},
		"kafkas://a:1/":                {Hosts: []string{"a:1"}},
		"kafka://u:p@a:1,b:2":          {Hosts: []string{"a:1", "b:2"}, User: "u", Password: "p"},
		"kafka://u%40x:p%2Fq%3A%25@a":  {Hosts: []string{"a:9092"}, User: "u@x", Password: "p/q:%"},
		"kafka://[::1]":                {Hosts: []string{"[::1]:9092"}},
		"kafka://u:p@ss:word@[::1]:92": {Hosts: []string{"[::1]:92"}, User: "u", Password: "p@ss:word"},
	} {
		got, err := Parse(text, "9092", "kafka", "kafkas")
		if err != nil || !slices.Equal(got.Hosts, want.Hosts) || got.User != want.User || got.Password != want.Password || !strings.HasPrefix(text, got.Scheme+"://") {
			t.Errorf("Parse(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                       "must begin with kafka:// or kafkas://",
		"nats://u:s3cr3t@a":      "must begin with kafka:// or kafkas://",
		"kafka://u:s3cr3t@":      "has an empty host",
		"kafka://u:s3cr3t@a,,b":  "has an empty host",
		"kafka://u:s3cr3t%@a":    "a % that is not an escape",
		"kafka://u:s3cr3t@a/b":   "something after its hosts",
		"kafka://u:s3cr3t@a?b=c": "something after its hosts",
	} {
		_, err := Parse(text, "9092", "kafka", "kafkas")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("Parse(%q) = %v, want a sentence with %q, and no secret", text, err, want)
		}
	}
}

func TestTLSIsAnObjectOrAWord(t *testing.T) {
	for text, want := range map[string]TLS{
		`true`:                {On: true},
		`false`:               {},
		`null`:                {},
		`{}`:                  {On: true},
		`{"serverName": "x"}`: {On: true, ServerName: "x"},
		`{"insecure": true}`:  {On: true, Insecure: true},
	} {
		var got TLS
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s gives %+v, %v; want %+v", text, got, err, want)
		}
		if config, err := got.Config(); err != nil || (config != nil) != want.On {
			t.Errorf("%s gives the configuration %v, %v", text, config, err)
		}
	}
	for text, want := range map[string]string{
		`{"nosuch": 1}`:             "nosuch",
		`{"cert": "x"}`:             "cert and key belong together",
		`{"ca": "/nowhere/ca.pem"}`: "read ca: open /nowhere/ca.pem",
	} {
		var got TLS
		err := json.Unmarshal([]byte(text), &got)
		if err == nil {
			_, err = got.Config()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
}

func TestASchemeSwitchesTLSOnAndHasAPortOfItsOwn(t *testing.T) {
	for _, c := range []struct {
		url    string
		option TLS
		want   string
		secure bool
	}{
		{"plain://a", TLS{}, "a:1", false},
		{"plain://a", TLS{On: true}, "a:1", true},
		{"safe://a", TLS{}, "a:2", true},
		{"safe://a:3", TLS{}, "a:3", true},
	} {
		at, config, err := ParseSecure(c.url, c.option, Scheme{"plain", "1"}, Scheme{"safe", "2"})
		if err != nil || at.Hosts[0] != c.want || (config != nil) != c.secure {
			t.Errorf("%s with %+v: %s, TLS %v, %v; want %s, TLS %v", c.url, c.option, at.Hosts, config != nil, err, c.want, c.secure)
		}
	}
	for url, want := range map[string]string{"other://a": "plain:// or safe://", "safe://a": "cert and key belong together"} {
		if _, _, err := ParseSecure(url, TLS{Cert: "x"}, Scheme{"plain", "1"}, Scheme{"safe", "2"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", url, err, want)
		}
	}
}

func TestACauseNamesNeitherPortsNorPasswords(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&net.OpError{Op: "read", Err: errors.New("connection reset")}, "connection reset"},
		{&url.Error{Op: "parse", URL: "amqp://u:s3cr3t@h", Err: errors.New("no port")}, "no port"},
		{errors.New("read tcp 127.0.0.1:5->127.0.0.1:6 broken"), "read broken"},
		{errors.New("what the broker says"), "what the broker says"},
	} {
		if got := Cause(c.err); got.Error() != c.want {
			t.Errorf("Cause(%q) = %q, want %q", c.err, got, c.want)
		}
	}
	if got := MaskedText(`dial "nats://u:p@ss@h:1": no`); got != `dial "nats://***@h:1": no` {
		t.Errorf("MaskedText = %s", got)
	}
}
