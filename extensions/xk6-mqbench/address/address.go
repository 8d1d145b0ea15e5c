// Package address parses addresses of brokers and credentials: URLs of one or more hosts, TLS, and errors that show neither a password
// nor a port that changes.
package address

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// Address is what a URL says. Errors never quote the URL: it may hold a password.
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
