//go:build acceptance

package nsq

import "testing"

// A server that stands still with its connections open is noticed by its silence; nobody knows of what it had got.
func TestAFrozenServerIsGivenUp(t *testing.T) {
	server := startServer(t)
	session := opened(t, server.url(), "")
	all := trafficOf(t, session, "")
	all.send(1)
	eventually(t, "the first message arrives", all.got(func(a *traffic) int { return a.received[1] }))
	server.Freeze()
	eventually(t, "a message that it does not answer is unknown", func() bool {
		all.send(2)
		return all.got(func(a *traffic) int { return a.unanswered[2] })()
	})
	server.Kill()
	server.Start()
	eventually(t, "a message sent afterwards arrives", func() bool {
		all.send(3)
		return all.got(func(a *traffic) int { return a.received[3] })()
	})
}
