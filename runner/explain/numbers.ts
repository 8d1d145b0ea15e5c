/** The numbers of a run. */
export const numbers = {
	response: {
		title: "why latency counts from the intended send time",
		text: `
Every message has an intended send time, fixed before the run: at 1000/s message
i is due i ms after the start. Response time counts from that moment:

  response = queued + lag + service

  queued   the system pushed back: earlier sends blocked, or waited at inFlight
  lag      the load generator was late by itself: a busy machine, not the broker
  service  from the actual send call to the receipt

Example: 1000/s for 10s, and the broker stands still once for 500ms. In that
time 500 messages are due; they wait 500, 499, 498 ... ms. They are 5 % of
10 000, so p99 is 400ms. A tool that waits for each answer before it sends the
next message records one slow sample instead of 500, and its p99 shows nothing.
That is coordinated omission. It is why service time alone looks better than
what your users see.

What to do: set SLA lines on response (p99 < 20ms means response). If response
is high and service is low, look at queued and lag: queued comes from the
system, lag from the machine that generates the load (mqbench explain lag).
`,
	},
	lag: {
		title: "how late the load generator itself was",
		text: `
Lag is the part of a late send that the system did not cause:

  late   = actual send call - intended send time
  queued = the part of it in which earlier sends blocked, or waited at inFlight
  lag    = late - queued

Lag is part of the response time, since the message really did leave late. It
makes a system look worse than it is, never better. On a machine with few cores,
where broker and generator share them, a lag p99 of 1ms or more is common.

Example: response p99 is 3.2ms and lag p99 is 2.5ms. Most of the slow messages
were slow because the generator got no core in time. p99 < 5ms is a PASS all the
same. p99 < 3ms is INVALID if the messages would have met it without their lag.

What to do: read lag beside response before you compare two systems. If it
matters, run mqbench doctor, stop other programs, lower the rate, use a machine
with 4 cores or more, or put the broker on another machine (--target existing).
`,
	},
	support: {
		title: "how many samples a percentile needs (ok, weak, none)",
		text: `
A percentile is only as good as the number of samples behind it. With n samples
and q = p / 100 (0.999 for p99.9):

  ok      n >= 10 / (1 - q)         10 samples or more are expected above it
  weak    n >= ln 0.025 / ln q      fewer, but a 95 % bound exists; marked ~
  none    fewer still: n/a, and an SLA on it is INCONCLUSIVE, never a PASS

           weak from    ok from     ok at 3000/s after
  p99            368      1 000       1s
  p99.9        3 688     10 000       4s
  p99.99      36 887    100 000      34s
  p99.999    368 887  1 000 000     334s

Example: of 1 500 samples, p99.9 is the second largest and p99.99 the largest:
a single hiccup decides both. Slow messages also come in clusters: 300 that wait
for one pause of the broker are one event, so they make it weak at any n.

What to do: mqbench plan scenario.yaml shows which percentiles your duration
carries, and which duration carries more. With strict: true, an SLA on a
percentile that the samples do not carry is a mistake.
`,
	},
	lost: {
		title: "what counts as lost, failed, unknown, duplicated",
		text: `
Each message ends in exactly one place, so the counts must add up:

  intended = sent + not offered
  sent     = acked + failed + unknown     systems that acknowledge
  acked    = delivered + lost
  sent     = delivered + lost + failed    systems that acknowledge nothing
             (fan-out: each message counts once for every subscriber)

  lost        acknowledged (without acknowledgements: sent), but not received
              by the end of the drain
  failed      refused, or held back by the system until the end of the drain
  unknown     not acknowledged: it may have arrived or not
  duplicated  received again; latency counts the first receipt
  corrupted   its CRC32C was wrong (checksum: true); counts as not received
  not offered never sent by the generator: the run is INVALID

A message that never completed counts as slower than any limit, so it cannot
improve a percentile. Warm-up and measurement are both judged.

Example: a subscriber of an at-most-once system is too slow. Sent 30 000,
delivered 29 990, lost 10.

What to do: judge it. delivery: at-least-once adds lost == 0; exactly-once also
adds duplicated == 0. The report names the first lost message (producer,
sequence, time): look for that time in the broker's log.
`,
	},
	breakdown: {
		title: "where p99 went: what slow messages waited for",
		text: `
Each report breaks response time down at a percentile:

  p99 303ms = queued 302.6ms + lag 31us + service 0.2ms

The percentiles of queued, lag and service in the table are of other messages
each: their p99s do not add up to the p99 of response. This line is of the
messages around that percentile. It takes all with about the same response time
(a bucket of 3 to 6 %), and if they are fewer than 10, also those in the nearest
buckets up to a quarter away. Its parts are the means of these messages. If
their mean response is not the percentile itself, the line says of which
messages it is:

  p99 403ms: 17 messages between 403ms and 419ms took 411ms on average = ...

At max it is the slowest message alone. Messages that never completed have no
parts: where a percentile lies among them, the line says so.

Example: a broker stands still for 500ms. With inFlight: 10, ten messages wait
in the broker (service), all later ones in front of it (queued). Without
inFlight they all wait in the broker, or on the way to it: p99 is service.

What to do: queued and service come from the system, lag from the machine that
generates the load (mqbench explain response, mqbench explain lag).
`,
	},
	closed: {
		title: "what a closed loop (messages: N) shows, and what it hides",
		text: `
With messages: 100000 no message has a send time. Each producer sends the next
one as soon as fewer than inFlight of its messages are under way. So there is no
response, lag or queued, only service and ack, both from the send call on.

  sent      acknowledged / (last acknowledgement - first send call)
  received  distinct receipts / (last - first receipt)

Without acknowledgements, sent is sent / (last receipt - first send call). In an
SLA throughput means received; throughput.sent is the other one.

Example: 100 000 messages, inFlight: 1000, and the system carries 20 000/s. Each
message waits behind 1 000 others, so service p50 is 50ms. With inFlight: 100 it
is 5ms, at the same throughput. If the system stands still for 500ms, nobody
asks it for more: 1 000 messages are slow. At a rate of 20 000/s, 10 000 are.

What to do: take throughput from a closed loop, and latency from a rate (rate:
3000/s, or steps). Messages without an answer are over every limit here too. If
duration ended the run before all were sent, an SLA on them is INCONCLUSIVE.
`,
	},
} as const;
