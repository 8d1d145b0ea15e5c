/** Ideas of the reports: meaning, example, remedy, at most 80 columns wide. More in reports/METHOD.md. */
export const topics = {
	response: {
		title: "why latency counts from the intended send time",
		text: `
Every message has an intended send time, fixed before the run: at 1000/s message
i is due i ms after the start. Response time counts from that moment:

  response = queued + lag + service

  queued   the system pushed back: earlier sends blocked, or waited at inFlight
  lag      the load generator was late by itself: a busy machine, not the broker
  service  from the actual send call to the receipt

Example: 1000/s for 10s, and the broker freezes once for 500ms. In that time 500
messages are due, 5 % of all, so p99 is 400ms. A tool that waits for each answer
records one slow sample instead: that is coordinated omission.

What to do: set SLA lines on response (p99 < 20ms means response). If response
is high and service is low, look at queued and lag.
`,
	},
	lag: {
		title: "how late the load generator itself was",
		text: `
Lag is the part of a late send that the system did not cause:

  late   = actual send call - intended send time
  queued = the part of it in which earlier sends blocked, or waited at inFlight
  lag    = late - queued

Lag is part of the response time: it makes a system look worse, never better.

Example: response p99 is 3.2ms and lag p99 is 2.5ms. p99 < 5ms still PASSes.
p99 < 3ms is INVALID if the messages would have met it without their lag.

What to do: run npx mqbench doctor, stop other programs, lower the rate, use a
machine with 4 cores or more, or a broker on another one (--target existing).
`,
	},
	support: {
		title: "how many samples a percentile needs (ok, weak, none)",
		text: `
With n samples and q = p / 100 (0.999 for p99.9), the support of a percentile is

  ok      n >= 10 / (1 - q)         10 samples or more are expected above it
  weak    n >= ln 0.025 / ln q      fewer, but a 95 % bound exists; marked ~
  none    fewer still: n/a, and an SLA on it is INCONCLUSIVE, never a PASS

           weak from    ok from     ok at 3000/s after
  p99            368      1 000       1s
  p99.9        3 688     10 000       4s
  p99.99      36 887    100 000      34s
  p99.999    368 887  1 000 000     334s

Example: with 1 500 samples, p99.9 is the second largest: one hiccup decides it.
Slow messages that wait for one pause count as one event.

What to do: npx mqbench plan scenario.yaml shows which percentiles have enough
samples. With strict: true, an SLA line on any other is a mistake.
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

A message that never completed counts as slower than any limit.

Example: a subscriber is too slow. Sent 30 000, delivered 29 990, lost 10.

What to do: judge it. delivery: at-least-once adds lost == 0; exactly-once also
adds duplicated == 0. Look for the time of the first lost message in the log.
`,
	},
	closed: {
		title: "what a closed loop (messages: N) shows, and what it hides",
		text: `
With messages: 100000 no message has an intended send time. Each producer sends
as soon as fewer than inFlight of its messages are under way. So there is no
response, lag or queued, only service and ack, which count from the send call.

  sent      acknowledged / (last acknowledgement - first send call)
  received  distinct receipts / (last - first receipt)

Example: inFlight: 1000, and the system sustains 20 000/s. Each message waits
behind 1 000 others, so service p50 is 50ms. With inFlight: 100 it is 5ms.

What to do: take throughput from a closed loop, and latency from a rate.
`,
	},
	invalid: {
		title: "when the measurement itself cannot be trusted",
		text: `
INVALID says nothing about the system, neither good nor bad: the load generator
decided the result. A run is INVALID when

- an SLA line would have another verdict without the generator's own lag, or
  without the seconds in which it was late, stopped, or held messages in the
  client library. A PASS with lag stands: lag only makes it look worse;
- it has no latency SLA, and lag p50 > 1ms or lag p99 > half of response p99;
- messages of the schedule were never sent, or half of them too late;
- its files are incomplete, or the machine's clock is too coarse.

Example: p99 < 20ms allows 300 of 30 000 messages to take longer. 400 did, but
only 250 without lag. The generator decided that, not the broker.

What to do: npx mqbench doctor shows what delays this machine. Lower the rate,
stop other programs, use more cores, or a broker on another machine (existing).
`,
	},
	inconclusive: {
		title: "when the samples do not decide an SLA line",
		text: `
"p99 < 20ms" allows 1 % of n messages to take longer: k = n x 0.01. How many do,
t, is partly chance, so there is a grey zone around k (binomial test, 5 %):

         n        k     PASS if t <=    FAIL if t >=
     1 000       10               4              16
    10 000      100              83             118
    30 000      300             271             330

In between, the verdict is INCONCLUSIVE (exit code 6). Slow messages that come
in clusters count for less.

Example: 290 of 30 000 messages took longer than 20ms. A system exactly at its
limit would show 290 or fewer in 3 of 10 runs, so nothing is decided.

What to do: measure longer (duration), or repeat: 3 (two FAILs breach the SLA,
one leaves it open). To PASS, p99 needs at least 368 messages, p99.9 3 688,
p99.99 36 887; npx mqbench plan says whether yours are enough.
--on-inconclusive warn makes the exit code 0.
`,
	},
	saturation: {
		title: "when a system gets more messages than it can sustain",
		text: `
A saturated system gets messages faster than it hands them on. The rest waits in
a queue that grows as long as the load lasts, so a run twice as long shows twice
the latency. mqbench counts the waiting messages ten times a second. If the
queue grew for the whole run, the run FAILs even if every percentile is met.

A machine can be saturated too: less than 10 % of its CPU time is idle, and
broker and generator wait for a core more than 10 % of the time they want one. A
FAIL then has "cause": "machine" in result.json (with strict: true: INVALID).

Example: at 10 000/s a system hands on 9 000/s. After 10s, 10 000 messages wait.

What to do: lower the rate, or let find: max-rate find the highest one. If the
machine is the limit, use more cores or put the broker on another machine.
`,
	},
	"max-rate": {
		title: "how find: max-rate searches, and what its answer means",
		text: `
The search starts at rate. It doubles the rate while runs pass (or halves it
until one does), then tries rates between the highest that passed and the lowest
that failed, until they are 5 % apart. A rate that failed is tried again: two of
three runs decide. A rate that is INVALID twice ends this part of the search; if
no rate has passed yet, the search halves it. duration is the length of a step.

A run of up to four steps then confirms the answer. If it fails, or is INVALID
twice, the search goes down by 5 %, up to three times. At the end, runs at 50 to
95 % of the answer show how latency grows with the rate.

Example: [20 000, 21 000]/s: 20 000/s met p99 < 10ms for a minute, and 21 000/s
failed twice. "Limited by the generator": the next rate was INVALID twice.

What to do: plan for a rate at which the curve is still flat. If the generator
is the limit, use more cores, or put the broker on another machine.
`,
	},
	baseline: {
		title: "how p99 <= baseline + 10% is judged",
		text: `
Such a line compares your runs (B) with those of the baseline (A), over all
repeats: at least 4 on each side, better 5.

  ratio     the median of all B/A, each run of B with each run of A
  interval  contains the true ratio with 95 % confidence: with 5 and 5 runs
            from the third smallest to the third largest of their 25 ratios

  FAIL          the whole interval lies beyond the margin
  PASS          the whole interval lies within the margin
  INCONCLUSIVE  the margin lies inside the interval, or A was measured on
                another machine: exit code 0 unless --on-inconclusive fail

Example: five runs with a p99 of 1.00 to 1.04ms, then five of 1.20 to 1.25ms.
x1.20 [1.17, 1.24] fails at + 10%, passes at + 30%, and is undecided at + 20%.

What to do: on noisy machines compare two systems of one scenario (baseline:
old), whose runs take turns. npx mqbench calibrate finds the margin to use.
`,
	},
	durability: {
		title: "what memory, os, interval and fsync promise",
		text: `
The level is what has happened to a message when the system acknowledges it:

             written to    flushed to disk    lost when
  memory     memory        never              the process dies
  os         page cache    by the kernel      the machine dies
  interval   page cache    every so often     the machine dies (an interval)
  fsync      disk          before the ack     the disk dies

Without durability, the broker runs with its own default, which each report
prints. Systems that acknowledge nothing have no level.

Example: one system acknowledges from the page cache (os), another flushes first
(fsync). That is the difference that you measure.

What to do: give all systems of a comparison the same durability.
`,
	},
	failover: {
		title: "what a fault shows: unavailable, recovered, drained",
		text: `
The schedule continues during a fault: messages that become due count. Three
times count from each fault, and each can be an SLA line:

  unavailable < 10s   the longest time in which no message completed
                      (acknowledged, or else received)
  recovered < 15s     until messages that become due meet the first latency line
                      again; recovered(p99 < 100ms) < 15s names the latency
  drained < 30s       until no more messages are in flight than before the fault

The worst fault decides. What has not ended when the window closes, or the next
fault begins, is shown as > 12s, and FAILs if the limit had passed by then. A
latency line that FAILs only by faults has "cause": "fault" in result.json.

Example: the leader of three nodes is killed. For 4s nothing is acknowledged
(unavailable 4s). The new leader takes what waits within 1s: recovered 5s.

What to do: kill the leader (node: leader), and repeat, because elections take
different times. Write acks: all and replicas: 3 if nothing may be lost.
`,
	},
} as const satisfies Record<string, { title: string; text: string }>;

export type TopicName = keyof typeof topics;
export const topicNames = Object.keys(topics) as TopicName[];
