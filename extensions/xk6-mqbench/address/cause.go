package address

import (
	"errors"
	"net"
	"net/url"
	"regexp"
)

// Cause is what went wrong, without where: errors are counted by their wording, and each connection has another port. It takes
// away a URL too, which may hold a password.
func Cause(err error) error {
	var ofURL *url.Error
	if errors.As(err, &ofURL) {
		return ofURL.Err
	}
	var ofSocket *net.OpError
	if errors.As(err, &ofSocket) {
		return ofSocket.Err
	}
	if err != nil && ports.MatchString(err.Error()) {
		return errors.New(ports.ReplaceAllString(err.Error(), ""))
	}
	return err
}

// Masked is an error's words without passwords.
func Masked(err error) string { return credentials.ReplaceAllString(err.Error(), "://***@") }

// --- internal ---

// ports of a connection, where an error has become text.
var ports = regexp.MustCompile(` tcp \S+->\S+`)

// credentials of a URL; a password may hold anything but blanks and quotes.
var credentials = regexp.MustCompile(`://[^\s"']*@`)
