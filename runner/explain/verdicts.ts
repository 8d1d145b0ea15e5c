/** What a run is judged by. */
export const verdicts = {
	invalid: {
		title: "when the measurement itself cannot be trusted",
		text: `
INVALID says nothing about the system, neither good nor bad: the load generator
decided the result. A run is INVALID when

- an SLA line is not met, but would be met (or is breached, but would not be)
  with its lag taken off each message, or without the seconds in which the
  generator was late and then caught up. Without a latency SLA: lag p50 > 1ms,
  or lag p99 > half of response p99. A PASS that contains lag stands, because
  lag only makes a system look worse;
- an SLA line is breached, but would not be without lag and what was due near a
  stop longer than the limit, in which the generator could not run at all
  (paused, throttled), or without what waited longer than the limit in the
  client library: the receiving side was slow;
- an SLA line is breached, and half of the messages or more were sent later than
  the tightest limit (and 1ms) allows: the generator could not offer this load,
  so losses and failures do not count against the system either;
- messages of the schedule were never sent (not offered), its first part was
  handed out late, or the client library itself dropped messages;
- its files are incomplete, or the machine's clock is too coarse (jiffies).

Example: p99 < 20ms allows 300 of 30 000 messages to take longer. 400 did, but
only 250 without lag. The generator decided that, not the broker.

What to do: mqbench doctor shows what delays this machine. Lower the rate, stop
other programs, use more cores, or a broker on another machine (existing). The
report names the check, its figure and its limit. All else is a warning.
`,
	},
	inconclusive: {
		title: "when the samples do not decide an SLA",
		text: `
"p99 < 20ms" allows 1 % of n messages to take longer: k = n x 0.01. How many
did, t, is partly chance, so there is a grey zone around k (binomial test, 5 %):

         n        k     PASS if t <=    FAIL if t >=
     1 000       10               4              16
    10 000      100              83             118
    30 000      300             271             330

In between, the verdict is INCONCLUSIVE (exit code 6). Slow messages that come
in clusters count for less: the test then uses n / phi and t / phi, where phi
says how much they cluster. Such a PASS also needs 10 stretches of late messages
or more, t <= 1, or t below half of the limit above. It is a FAIL in any case
when t >= 2 k and the test without phi says FAIL. A PASS by a factor below 2 is
INCONCLUSIVE as well if p50 rose over the window (explain p50-rose).

Example: 290 of 30 000 messages took longer than 20ms. A system exactly at its
limit would show 290 or fewer in 3 of 10 runs, so nothing is decided.

What to do: measure longer (duration), or repeat: 3 (two FAILs breach the SLA,
one leaves it open). To PASS, p99 needs at least 368 messages, p99.9 3 688,
p99.99 36 887 (explain support); mqbench plan says whether yours are enough.
--on-inconclusive warn makes the exit code 0.
`,
	},
	saturation: {
		title: "when a system gets more messages than it can carry",
		text: `
A saturated system gets messages faster than it hands them on. The others wait
in a queue that grows as long as the load lasts. Latency then has no true value:
a run twice as long shows twice the latency. The signs are

  received below the rate, and in flight growing during the measurement
  response far above service, when the system blocks or delays its senders

mqbench counts the messages that wait, ten times a second. If the queue grew for
the whole run, the run FAILs even where every percentile is met.

A machine can be saturated as well: less than 10 % of its CPU time is idle, and
broker and generator wait for a core for more than 10 % of the time that they
want one. Then you measure the machine. A breached SLA stays a FAIL, with
"cause": "machine" in result.json, where it would be kept without the seconds in
which that was so; under strict: true it is INVALID. Each machine has its own
samples.

Example: 10 000/s, and the system carries 9 000/s. Each second adds 1 000
messages to the queue. After 10s, 10 000 wait, and a new one takes 1.1s.

What to do: lower the rate, or find the highest one with find: max-rate (mqbench
explain max-rate). Compare systems at a rate that all of them carry. If the
machine is the limit, use more cores or put the broker on another machine.
`,
	},
	"max-rate": {
		title: "how find: max-rate searches, and what its answer says",
		text: `
The search starts at rate. It doubles the rate while runs pass (or halves it
until one does), then tries rates between the highest that passed and the lowest
that failed, until they are 5 % apart. A run passes when every SLA line holds,
nothing was lost, the queue did not grow and the measurement is valid. An
undecided line counts as not met. A rate that failed is tried again: two of
three runs decide. A rate that is INVALID twice ends this part of the search.

A run of 60s or more then confirms the answer. If it fails, or is INVALID twice,
the search goes down by 5 %, up to three times. At last, runs at 50, 70, 80, 90
and 95 % of the answer show how latency grows with the rate.

  lo   highest rate that passed and was confirmed
  hi   lowest rate that failed

Example: [20 000, 21 000]/s: 20 000/s met p99 < 10ms for a minute, and 21 000/s
failed twice. "Limited by the generator" means that the next rate was INVALID
twice. The system carries at least lo; how much more is not known.

What to do: quote the answer with its machine and its SLA; a laxer SLA gives a
higher rate. Plan with a rate where the curve is still flat. If the generator is
the limit, use more cores, or put the broker on another machine.
`,
	},
	baseline: {
		title: "how p99 <= baseline + 10% is judged",
		text: `
Such a line compares the runs that you make now (B) with those of the baseline
(A), over all repeats: at least 4 on each side, better 5.

  ratio     the median of all B/A, each run of B with each run of A
  interval  holds the true ratio with 95 % confidence: of 5 and 5 runs
            from the third smallest to the third largest of their 25 ratios

  FAIL          the whole interval lies beyond the margin
  PASS          the whole interval lies within the margin
  INCONCLUSIVE  the margin lies inside the interval, or A was measured on
                another machine: exit code 0 unless --on-inconclusive fail

max(baseline + 10%, baseline + 2ms) takes the larger limit of the two: of a p99
of 1ms, 10 % is less than any machine's noise.

Example: five runs with a p99 of 1.00 to 1.04ms, then five of 1.20 to 1.25ms.
x1.20 [1.17, 1.24] fails at + 10%, passes at + 30%, and is undecided at + 20%.

What to do: on noisy machines compare two systems of one scenario (baseline:
old); their runs take turns. If a baseline.json was made before the machine's
last start, margins count double. mqbench calibrate finds the margin that this
machine can tell; --confirm adds two repeats.
`,
	},
} as const;
