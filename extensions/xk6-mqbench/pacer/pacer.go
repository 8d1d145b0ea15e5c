// Package pacer waits for exact moments: it sleeps until just before them and spins the rest.
//
// Go's own timers are up to 1 ms late on Linux (netpoll rounds waits below 1 ms up), which is more than a broker
// takes; so the pacer owns an OS thread and asks the kernel.
package pacer

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

const (
	// longestSleep is the longest time until a stop is noticed.
	longestSleep = 20 * time.Millisecond
	// smallestGap is the distance between messages below which spinning would occupy a whole core.
	smallestGap = 100 * time.Microsecond
	// denseGap is the distance below which a sleep for each message, 20-25 us each, would take a whole core from a broker beside us. The
	// pacer then sleeps for shortestNap and sends what is due. On 2 cores with NATS that halves the generator's CPU, and the median
	// response at 400 000/s falls from 1.3 ms to 0.25 ms. The price is 30 us of lag.
	denseGap    = 25 * time.Microsecond
	shortestNap = 50 * time.Microsecond
	// spinShare is how much of one core may be spun away if the broker shares the cores.
	spinShare = 0.2
	fewCores  = 4
)

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

// New locks the calling goroutine to its thread and measures how late the kernel wakes it. gapNs is the mean distance between messages
// and decides whether there is time to spin. now is the run's clock. stop, when true, ends every wait within 20 ms.
func New(now func() int64, stop *atomic.Bool, gapNs int64) *Pacer {
	runtime.LockOSThread()
	p := &Pacer{now: now, stop: stop, timer: newTimer(now)}
	p.leadNs = min(p.calibrate(), spinBudget(gapNs))
	if gapNs < int64(denseGap) {
		p.napNs = int64(shortestNap)
	}
	return p
}

// Renew makes the same pacer for another thread: the calling goroutine's, which is locked to it until Close.
func (p *Pacer) Renew() *Pacer {
	runtime.LockOSThread()
	return &Pacer{now: p.now, stop: p.stop, leadNs: p.leadNs, napNs: p.napNs, timer: newTimer(p.now)}
}

// Sleep returns at moment t of the clock now, or about 50 us later. It uses the kernel's timer without calibration, works in any goroutine,
// and occupies a thread meanwhile.
func Sleep(now func() int64, t int64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	newTimer(now).sleepUntil(t)
}

// Close releases the thread.
func (p *Pacer) Close() { runtime.UnlockOSThread() }

// Timer names the kernel's timer.
func (p *Pacer) Timer() string { return p.timer.name() }

// LeadNs is how early the pacer wakes up to spin the rest; 0: it does not spin.
func (p *Pacer) LeadNs() int64 { return p.leadNs }

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

// spinBudget is the longest lead that this machine can afford with that distance between messages.
func spinBudget(gapNs int64) int64 {
	if gapNs < int64(smallestGap) {
		return 0
	}
	if runtime.NumCPU() < fewCores {
		return min(int64(float64(gapNs)*spinShare), int64(smallestGap))
	}
	return gapNs
}
