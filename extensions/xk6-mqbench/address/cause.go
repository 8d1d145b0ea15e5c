package address

import (
	"errors"
	"net"
	"net/url"
	"regexp"
	"strings"
)

// Cause is what went wrong, without the place: errors are counted by their wording, and each connection has another port. It also
// removes URLs, which may hold a password.
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

// Masked is an error's text without passwords.
func Masked(err error) string { return MaskedText(err.Error()) }

// MaskedText is a text without the passwords of URLs in it.
func MaskedText(text string) string { return credentials.ReplaceAllString(text, "://***@") }

// --- internal ---

// Ports of a connection in an error's text.
var ports = regexp.MustCompile(` tcp \S+->\S+`)

// Credentials in a URL; a password may contain anything but blanks and quotes.
var credentials = regexp.MustCompile(`://[^\s"']*@`)
