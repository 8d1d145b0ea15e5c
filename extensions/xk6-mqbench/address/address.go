// Package address parses brokers' addresses and credentials; its errors show neither a password nor a port that changes.
package address

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Address is a parsed URL. Errors never quote the URL: it may contain a password.
type Address struct {
	Scheme, User, Password string
	// Hosts with their ports.
	Hosts []string
}

// Parse reads <scheme>://user:password@host:port,host:port; net/url refuses several hosts. port is for hosts without one.
func Parse(text, port string, schemes ...string) (Address, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || !slices.Contains(schemes, scheme) {
		return Address{}, fmt.Errorf("the URL must begin with %s://", strings.Join(schemes, ":// or "))
	}
	a := Address{Scheme: scheme}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		user, password, _ := strings.Cut(rest[:at], ":")
		rest = rest[at+1:]
		var err, err2 error
		a.User, err = url.PathUnescape(user)
		a.Password, err2 = url.PathUnescape(password)
		if err != nil || err2 != nil {
			return Address{}, errors.New("the URL's user or password has a % that is not an escape; write %25")
		}
	}
	hosts, extra, _ := strings.Cut(rest, "/")
	if extra != "" || strings.ContainsAny(hosts, "?#") {
		return Address{}, errors.New("the URL has something after its hosts and ports; remove it")
	}
	for host := range strings.SplitSeq(hosts, ",") {
		if host == "" {
			return Address{}, errors.New("the URL has an empty host")
		}
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), port)
		}
		a.Hosts = append(a.Hosts, host)
	}
	return a, nil
}

// List splits URLs at commas, one for each node of a cluster.
func List(urls string) ([]string, error) {
	if urls == "" {
		return nil, errors.New("the URL is missing")
	}
	list := strings.Split(urls, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list, nil
}

// Cause is the failure without the place, because errors are counted by their wording, and without URLs, which may hold a password.
func Cause(err error) error {
	var ofURL *url.Error
	if errors.As(err, &ofURL) {
		return ofURL.Err
	}
	var ofSocket *net.OpError
	if errors.As(err, &ofSocket) {
		return ofSocket.Err
	}
	// Subtle: the pacer's thread may pass here, and most errors need no regexp.
	if err != nil && strings.Contains(err.Error(), "->") {
		return errors.New(ports.ReplaceAllString(err.Error(), ""))
	}
	return err
}

// MaskedText is a text without the passwords of URLs in it.
func MaskedText(text string) string { return credentials.ReplaceAllString(text, "://***@") }

// TLS is the option of that name: true, false, or an object of the fields below. Drivers decode it with their own options.
type TLS struct {
	// On encrypts connections, whatever the URL's scheme.
	On         bool   `json:"-"`
	CA         string `json:"ca"`
	Cert       string `json:"cert"`
	Key        string `json:"key"`
	ServerName string `json:"serverName"`
	Insecure   bool   `json:"insecure"`
}

// UnmarshalJSON refuses unknown fields, like broker.Options.Decode for the options around it.
func (t *TLS) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "null", "false":
		return nil
	case "true":
		t.On = true
		return nil
	}
	type fields TLS
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode((*fields)(t)); err != nil {
		return fmt.Errorf("tls: %w", err)
	}
	t.On = true
	return nil
}

// Scheme begins a URL; Port is for its hosts without one.
type Scheme struct{ Name, Port string }

// ParseSecure reads a URL of one of two schemes, like Parse; the secure one switches the option on. The configuration is nil without TLS.
func ParseSecure(text string, option TLS, plain, secure Scheme) (Address, *tls.Config, error) {
	scheme, _, _ := strings.Cut(text, "://")
	port := plain.Port
	if scheme == secure.Name {
		port, option.On = secure.Port, true
	}
	at, err := Parse(text, port, plain.Name, secure.Name)
	if err != nil {
		return Address{}, nil, err
	}
	config, err := option.Config()
	return at, config, err
}

// Config is for client libraries; nil without TLS.
func (t TLS) Config() (*tls.Config, error) { return t.ConfigFrom(os.ReadFile) }

// ConfigFrom is Config where CA, Cert and Key are names for read, which returns PEM.
func (t TLS) ConfigFrom(read func(name string) ([]byte, error)) (*tls.Config, error) {
	if !t.On {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName, InsecureSkipVerify: t.Insecure} //nolint:gosec // asked for, and printed
	if t.CA != "" {
		pem, err := read(t.CA)
		if err != nil {
			return nil, fmt.Errorf("tls: read ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls: ca %s holds no certificate in PEM", t.CA)
		}
	}
	if (t.Cert == "") != (t.Key == "") {
		return nil, errors.New("tls: cert and key belong together; one of them is missing")
	}
	if t.Cert != "" {
		cert, err := read(t.Cert)
		key, keyErr := read(t.Key)
		if err := errors.Join(err, keyErr); err != nil {
			return nil, fmt.Errorf("tls: read cert and key: %w", err)
		}
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("tls: load cert and key: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// Wires makes and keeps the sockets of a client library that accepts a dialer. It closes one when a write fails half-way: else the server would take the
// next message for the rest of that one. Any goroutine may call its methods.
type Wires struct {
	// Dialer makes the sockets.
	Dialer interface {
		Dial(network, address string) (net.Conn, error)
	}
	open sync.Map
}

type wire struct {
	net.Conn
	of *Wires
}

// Dial makes a socket. It returns net's own error.
func (w *Wires) Dial(network, address string) (net.Conn, error) {
	conn, err := w.Dialer.Dial(network, address)
	if err != nil {
		return nil, err
	}
	made := &wire{conn, w}
	w.open.Store(made, true)
	return made, nil
}

// Cut closes all sockets; calls that block on them then end with an error.
func (w *Wires) Cut() {
	for one := range w.open.Range {
		_ = one.(*wire).Conn.Close()
	}
}

func (w *wire) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	if err != nil {
		_ = w.Close()
	}
	return n, err
}

func (w *wire) Close() error {
	w.of.open.Delete(w)
	return w.Conn.Close()
}

// --- internal ---

// Ports of a connection in an error's text.
var ports = regexp.MustCompile(` tcp \S+->\S+`)

// Credentials in a URL; a password may contain anything but blanks and quotes.
var credentials = regexp.MustCompile(`://[^\s"']*@`)
