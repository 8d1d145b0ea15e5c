// Package pacer waits for exact moments: it sleeps until just before them and spins the rest.
//
// Go's own timers are up to 1 ms late on Linux (netpoll rounds waits below 1 ms up), which is more than a broker
// takes; so the pacer owns an OS thread and asks the kernel.
package pacer

import (
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

const (
	// longestSleep is the longest time until a stop is noticed.
	longestSleep = 20 * time.Millisecond
	// smallestGap is the distance between messages below which a part of a core is too little to spin in.
	smallestGap = 100 * time.Microsecond
	// denseGap is the distance below which a sleep for each message, 20-25 us each, would take a whole core. A pacer without one to spare
	// then sleeps for shortestNap and sends all due messages. On 2 cores with NATS that halves the generator's CPU, and the median response
	// at 400 000/s falls from 1.3 ms to 0.25 ms. The price is 30 us of lag.
	denseGap    = 25 * time.Microsecond
	shortestNap = 50 * time.Microsecond
	// spinShare is how much of one core may be spun away where none is to spare.
	spinShare = 0.2
	// libraryCores are for the client library, k6 and the receiving side; brokerCores for brokers on the same cores.
	libraryCores = 1
	brokerCores  = 2
)

// Pacing is how a pacer may wait, in plan.json.
type Pacing struct {
	// Mode is auto (decided by the machine), spin (one core is for it) or sleep (it never spins). Empty means auto.
	Mode string `json:"mode"`
	// Apart is true if no broker uses the cores that this process may use.
	Apart bool `json:"apart"`
	// Loads is how many processes like this one the cores are for.
	Loads int `json:"-"`
}

// Pacer belongs to the goroutine that called New, which is locked to its thread until Close.
type Pacer struct {
	now  func() int64
	stop *atomic.Bool
	// leadNs is how long before the moment the sleep ends, at best.
	leadNs int64
	// napNs is the shortest useful sleep.
	napNs int64
	timer timer
}

// New locks the calling goroutine to its thread and measures how late the kernel wakes it. gapNs is the mean distance between messages.
// now is the run's clock. stop, when true, ends every wait within 20 ms.
func New(now func() int64, stop *atomic.Bool, gapNs int64, pacing Pacing) *Pacer {
	runtime.LockOSThread()
	p := &Pacer{now: now, stop: stop, timer: newTimer(now)}
	spinNs, napNs := limits(pacing, runtime.GOMAXPROCS(0), gapNs)
	p.leadNs, p.napNs = min(p.calibrate(), spinNs), napNs
	return p
}

// Renew makes the same pacer for another thread: the calling goroutine's, which is locked to it until Close.
func (p *Pacer) Renew() *Pacer {
	runtime.LockOSThread()
	return &Pacer{now: p.now, stop: p.stop, leadNs: p.leadNs, napNs: p.napNs, timer: newTimer(p.now)}
}

// Sleep returns at moment t of the clock now, or about 50 us later. It uses the kernel's timer without calibration, works in any goroutine,
// and occupies a thread during that time.
func Sleep(now func() int64, t int64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	newTimer(now).sleepUntil(t)
}

// Close releases the thread.
func (p *Pacer) Close() { runtime.UnlockOSThread() }

// Facts are the name of the kernel's timer; how early the pacer wakes up to spin the rest (0 if it does not spin); and the shortest sleep,
// after which it sends all due messages (0 if it sleeps for each message).
func (p *Pacer) Facts() (timer string, leadNs, napNs int64) { return p.timer.name(), p.leadNs, p.napNs }

// WaitUntil returns at moment t, or later, or when stop is set. It returns the clock's reading. A moment in the past costs one reading
// of the clock.
func (p *Pacer) WaitUntil(t int64) int64 {
	now := p.now()
	if now < t {
		t = max(t, now+p.napNs)
	}
	for now < t && !p.stop.Load() {
		if rest := t - p.leadNs - now; rest > 0 {
			p.timer.sleepUntil(now + min(rest, int64(longestSleep)))
		}
		now = p.now()
		if now >= t-p.leadNs {
			break
		}
	}
	for now < t && !p.stop.Load() {
		now = p.now()
	}
	return now
}

// --- internal ---

// calibrate is the lateness that 9 of 10 sleeps stay below, in nanoseconds, and a little more.
func (p *Pacer) calibrate() int64 {
	const rounds = 40
	late := make([]int64, rounds)
	for i := range late {
		moment := p.now() + 300_000
		p.timer.sleepUntil(moment)
		late[i] = max(0, p.now()-moment)
	}
	slices.Sort(late)
	return late[rounds*9/10] + 10_000
}

// limits decides the longest lead and the shortest sleep of a pacer on a machine that gives this process this number of cores. A core that
// is otherwise idle spins, whatever the rate: 1 for the library and 2 for brokers on the same cores come first, and below denseGap, where
// the library is as busy as the pacer, one more. If there are no more cores it spins a fifth of one, as far as the distance leaves time to.
func limits(pacing Pacing, cores int, gapNs int64) (spinNs, napNs int64) {
	// Each of the other loads takes one for its library and one to spin.
	spare := cores - libraryCores - (libraryCores+1)*max(0, pacing.Loads-1)
	if !pacing.Apart {
		spare -= brokerCores
	}
	dense := gapNs < int64(denseGap)
	if dense {
		spare--
	}
	switch {
	case pacing.Mode == "spin", pacing.Mode != "sleep" && spare >= 1:
		return math.MaxInt64, 0
	case pacing.Mode != "sleep" && gapNs >= int64(smallestGap):
		return min(int64(float64(gapNs)*spinShare), int64(smallestGap)), 0
	case dense:
		return 0, int64(shortestNap)
	}
	return 0, 0
}
