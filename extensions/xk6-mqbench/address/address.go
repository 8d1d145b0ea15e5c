// Package address says where brokers are and how to be let in: URLs of one or more hosts, TLS, and errors that tell neither
// a password nor a port that changes.
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

// Parse reads <scheme>://user:password@host:port,host:port, which net/url refuses for several hosts. port is for hosts without one.
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
			return Address{}, errors.New("the URL's user or password has a % that is no escape: write it as %25")
		}
	}
	hosts, extra, _ := strings.Cut(rest, "/")
	if extra != "" || strings.ContainsAny(hosts, "?#") {
		return Address{}, errors.New("the URL must end after its hosts and ports")
	}
	for host := range strings.SplitSeq(hosts, ",") {
		if host == "" {
			return Address{}, errors.New("the URL names no host, or an empty one between commas")
		}
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), port)
		}
		a.Hosts = append(a.Hosts, host)
	}
	return a, nil
}

// List splits URLs that are joined by commas, one for each node of a cluster.
func List(urls string) ([]string, error) {
	if urls == "" {
		return nil, errors.New("there is no URL of a server")
	}
	list := strings.Split(urls, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list, nil
}
