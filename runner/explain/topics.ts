import { example } from "../brokers/index.ts";

/** What reports link to, in plain words: formula, example, what to do. Longer: reports/README.md. */
export interface Topic {
	/** One line for the list of topics. */
	readonly title: string;
	/** At most 80 columns wide. */
	readonly text: string;
}

export const topics = {
	response: {
		title: "why latency counts from the intended send time",
		text: `
Every message has an intended send time, fixed before the run: message i of
1000/s is due i ms after the start. Response time counts from there:

  response = queued + lag + service

  queued   the system pushed back: earlier sends blocked, or waited at inFlight
  lag      the generator was late by itself (a busy machine, not the broker)
  service  from the actual send call to the receipt

Example: 1000/s for 10s, and the broker stands still for 500ms once. 500
messages were due in that time and waited 500, 499, 498 ... ms. They are 5 % of
10 000, so p99 is 400ms. A tool that waits for each answer before it sends the
next message has one slow sample in that time instead of 500: its p99 shows
nothing. That is coordinated omission, and why service time alone looks better
than what your users see.

What to do: set SLA lines on response (p99 < 20ms means response). If response
is high and service is low, look at queued and lag: queued belongs to the
system, lag to the machine that generates the load (mqbench doctor).
`,
	},
	support: {
		title: "how many samples a percentile needs (ok, weak, none)",
		text: `
A percentile is printed only as deep as the samples carry it. With n samples and
q = p / 100 (0.999 for p99.9):

  ok      n >= 10 / (1 - q)         10 samples or more are expected above it
  weak    n >= ln 0.025 / ln q      fewer, but a 95 % bound exists; printed as ~
  none    below: n/a, and the number of samples that it needs

           weak from    ok from     ok at 3000/s after
  p99            368      1 000       1s
  p99.9        3 688     10 000       4s
  p99.99      36 887    100 000      34s
  p99.999    368 887  1 000 000     334s

Example: of 1 500 samples p99.9 is the second largest, and p99.99 the largest:
one hiccup decides both. Slow messages come in stalls as well, and 300 of them
in one stall are one event: stalls make a percentile weak, however large n is.

What to do: mqbench plan scenario.yaml says what your window carries and which
duration carries more. With strict: true too deep an SLA is refused there.
`,
	},
	invalid: {
		title: "when a measurement itself is not to be trusted",
		text: `
INVALID says nothing about the system, good or bad: the generator decided the
result. A run is INVALID when

- an SLA is not met, but would be (or is breached, but would not be) with the
  generator's lag taken off each message, or without the seconds in which it was
  late and the burst with which it caught up; without a latency SLA:
  lag p50 > 1ms, or lag p99 > half of response p99. A PASS that contains lag
  stands: it only makes the system look worse;
- messages of the schedule were never sent (not offered), its first part was
  handed out late, or the client library itself dropped messages;
- its files are incomplete, or the clock is no clock to measure with (hpet,
  acpi_pm, jiffies).

Example: p99 < 20ms, 400 of 30 000 messages took longer, 250 without lag. 400
breach the SLA and 250 meet it, so the verdict is the generator's, not the
broker's. Everything else (stolen CPU, quota, pauses) is a warning.

What to do: mqbench doctor finds what delays this machine. Lower the rate, end
other programs, use more cores, or measure a broker on another machine (target:
existing). The check that failed, its figure and limit stand in the report.
`,
	},
	inconclusive: {
		title: "when the samples do not decide an SLA",
		text: `
"p99 < 20ms" allows 1 % of n messages to take longer: k = n x 0.01. How many
did, t, is partly chance: there is a grey zone around k (binomial test, 5 %):

         n        k     PASS if t <=    FAIL if t >=
     1 000       10               4              16
    10 000      100              83             118
    30 000      300             271             330

In between the verdict is INCONCLUSIVE (exit code 6). Slow messages that come in
stalls count for less: the test then works with n / phi and t / phi, phi being
how much they cluster; and a PASS rests on 10 stalls or more, on t <= 1, or on t
below half of the limit above. FAIL also holds when the budget was spent twice:
t >= 2 k, and the test without phi says FAIL.

Example: 290 of 30 000 over 20ms. A system exactly at its limit would show 290
or fewer in 3 of 10 runs: the SLA is neither met nor breached.

What to do: measure longer (duration), or repeat: 3 (two FAILs breach the SLA,
one leaves it open). p99 needs at least 299 messages to PASS, p99.9 2 995,
p99.99 29 956 (ln 0.05 / ln q): mqbench plan says whether yours suffice.
--on-inconclusive warn makes the exit code 0.
`,
	},
	closed: {
		title: "what a closed loop (messages: N) shows, and what it hides",
		text: `
With messages: 100000 nothing is due at a time: each producer sends the next
message as soon as fewer than inFlight of its messages are under way. So there
is no response, lag or queued, only service and ack, from the send call on:

  sent      acknowledged / (last acknowledgement - first send call)
  received  distinct receipts / (last - first receipt)

Where nothing is acknowledged, sent is sent / (last receipt - first send call).
throughput in an SLA means received; throughput.sent the other.

Example: 100 000 messages, inFlight: 1000, and the system carries 20 000/s. Each
message then waits behind 1 000 others: service p50 is 50ms, with inFlight: 100
it is 5ms, at the same throughput. And a system that stands still for 500ms is
asked for nothing meanwhile: 1 000 slow messages, where a schedule of 20 000/s
would have had 10 000.

What to do: take throughput from a closed loop, latency from a rate (rate:
3000/s, or steps:). Messages that were never answered are over every limit
here too; those that the time (duration) did not suffice for leave it open.
`,
	},
	"max-rate": {
		title: "how find: max-rate searches, and what its answer says",
		text: `
From rate on, the rate is doubled while runs pass (or halved until one does),
then the search goes between what passed and what did not, until they are 5 %
apart. A run passes when every SLA line holds, nothing was lost, the queue did
not grow and the measurement is valid; an undecided line was not met. A rate
that failed is tried again, and two of three decide; one that is INVALID twice
ends the search.

The answer is confirmed by a run of 60s or more; if that fails, 5 % less is, up
to three times. Runs at 50, 70, 80, 90 and 95 % of it show latency over rate.

  lo   highest rate that passed and was confirmed
  hi   lowest rate that failed

Example: [20 000, 21 000]/s means that 20 000/s met p99 < 10ms for a minute, and
21 000/s failed twice. Limited by the generator: the next rate was INVALID
twice, so the system carries lo at least. How much more, is not known.

What to do: take the answer as one of this machine and this SLA; a laxer SLA has
a higher one. Plan with a part of it where the curve is still flat. Where the
generator is the limit: more cores, or the broker on another machine.
`,
	},
	durability: {
		title: "what memory, os, interval and fsync promise",
		text: `
A level says what has happened to a message when it is acknowledged:

             written to    flushed to disk    lost when the
  memory     memory        never              process dies
  os         page cache    when the kernel    machine dies
                           likes
  interval   page cache    every so often     machine dies: the last interval
  fsync      disk          before the ack     disk dies

Without durability: the broker is as it comes; each report prints what that is.
Systems that acknowledge nothing have no level.

Example: one system acknowledges from the page cache (os) and relies on
replicas, another flushes first (fsync). Side by side without a level, one of
them works for a disk and the other does not: that is what is compared.

What to do: give the systems of a comparison the same durability, or say that
they run as they come. On target: existing the server's part is yours to set.
Some disks say that they have flushed and have not: mqbench cannot tell.
`,
	},
	baseline: {
		title: "how p99 <= baseline + 10% is judged",
		text: `
Such a line compares the runs of B, what is measured, with those of A, the
baseline, over all repeats: at least 4 on each side, better 5.

  ratio     the median of all B/A, each run of B by each run of A
  interval  holds the true ratio with 95 % confidence at least: of 5 and 5 runs
            from the third smallest to the third largest of their 25 ratios

  FAIL          all of the interval lies beyond the margin
  PASS          none of it does
  INCONCLUSIVE  some of it does, or A was made on another machine: exit code 0,
                unless --on-inconclusive fail

Example: five runs with a p99 of 1.00 to 1.04ms, then five of 1.20 to 1.25ms.
x1.20 [1.17, 1.24] fails at + 10%, passes at + 30%, and is open at + 20%.

What to do: compare two systems of one scenario (baseline: old), which take
turns, where machines are noisy. Against a baseline.json that was made before
the machine's last start, margins count double. mqbench calibrate says which
margin is wide enough for this machine, --confirm adds two repeats.
`,
	},
	clients: {
		title: "how several clients share one schedule, and whose clock counts",
		text: `
clients: 3 (processes, hosts, containers) walk one schedule together: message i
is due at the same moment as with one client. Connection c is on client c mod 3,
its producers with it, connection k of consumers on client k mod 3.

  round-trip, request-reply, publish   whoever sends a message gets its answer:
                                       one clock, as exact as with one client
  fan-out, work-queue, backlog         others receive it: two clocks

Processes and containers of this machine share its clock. Hosts over SSH are
asked for theirs before and after the run, 20 times: the best answer is at most
half of its round trip away from the truth. Of two clients both bounds add up,
and what the clocks drifted in between. Where chrony keeps the clocks of all of
them, and knows them better than that, its own bounds count. A PASS needs the
interval's upper end plus the bound below the limit, a FAIL its lower end minus
the bound above it.

Example: two hosts with a bound of 0.1ms each, and a p99 of [0.95, 1.02]ms over
work-queue: p99 < 1ms is INCONCLUSIVE, p99 < 2ms passes.

What to do: use round-trip for latency across machines, and hosts close to each
other, or kept by chrony, for the rest. A client that is missing makes the run
INVALID: the report names it, and what it said last.
`,
	},
	rig: {
		title: "what stays up between runs, and machines that are rented",
		text: `
Without a rig each run has a fresh broker, and none idles beside it. A rig stays
up, and runs come and go:

  mqbench up s.yaml --target docker    stands up all brokers, writes rig.json
  mqbench s.yaml --rig rig.json        measures on them, as often as you like
  mqbench down rig.json                takes them down; twice is no mistake

Containers stay by themselves. Processes of this machine (target: local) stay as
long as mqbench up does: until Ctrl-C there, or mqbench down elsewhere. Each run
has topics of its own; the report says that the broker was not fresh.

Of hosts the machines stay, and each run has fresh brokers on them: of yours (a
rig with hosts), or of EC2 (target: aws), which cost money until mqbench down or
mqbench rigs destroy; mqbench rigs list shows what there is. They end themselves
after aws.ttl. Exit code 5: something is left, and the text says how to end it.

Example: a rig of your own is a text, for brokers that other tools have set up:
{"version": 1, "id": "staging", "brokers": [
  {"system": "${example.broker}", "broker": "${example.broker}", "url": "${example.url("10.0.0.5")}"}]}

What to do: take fresh brokers for figures that you publish, a rig where a start
takes longer than a run. rig.json may hold passwords: mode 0600, in no report.
`,
	},
	failover: {
		title: "what a fault shows: unavailable, recovered, drained",
		text: `
faults: kill, restart, pause, partition or delay nodes of a broker in mid-run.
The schedule goes on: what was due meanwhile waits, and counts. Of each fault:

  unavailable  the longest stretch without a completed message (acknowledged,
               else received) in or after it
  recovered    until messages that were due from then on keep to the first
               latency line of the sla again, in pieces of 100ms
  drained      until no more messages are in flight than before it

Beside them the usual counts: acknowledged and lost is what a failover must not
cost; failed, unknown and duplicated say what it costs a client.

Example: the leader of three nodes is killed at 10s of 1000/s. For 4s
nothing is acknowledged (unavailable 4s), 4 000 messages wait, and the new
leader takes them within 1s: recovered 5s, drained 5s, lost 0.

What to do: name the leader (node: leader), as a follower shows little; write
acks: all and replicas: 3 where nothing may be lost; repeat, as elections take
their time by chance. Nodes of one machine share its disk: the order of events
is real there, the times are those of that machine.
`,
	},
	lost: {
		title: "what counts as lost, failed, unknown, duplicated",
		text: `
Each message ends in one place, and the numbers must add up:

  intended = sent + not offered
  sent     = acked + failed + unknown     systems that acknowledge
  acked    = delivered + lost
  sent     = delivered + lost + failed    systems that acknowledge nothing
             (fan-out: each message counts once for every subscriber)

  lost        acknowledged (without acknowledgements: sent), never received
              until the end of the drain
  failed      refused, or the system kept it from leaving until then
  unknown     no acknowledgement: it may or may not have arrived
  duplicated  received again; the first receipt is what counts for latency
  corrupted   its CRC32C was wrong (checksum: true): not received
  not offered the generator never sent it: INVALID, not lost

Messages that never completed count as slower than any limit: they cannot leave
the percentiles. Warm-up and window are both judged.

Example: a system promises at-most-once. A subscriber that is too slow loses
messages without an error: sent 30 000, delivered 29 990, lost 10.

What to do: gate it. delivery: at-least-once adds lost == 0, exactly-once also
duplicated == 0. The report has the first lost message (producer, sequence,
time): compare that time with the broker's log.
`,
	},
} as const satisfies Record<string, Topic>;

export type TopicName = keyof typeof topics;
export const topicNames = Object.keys(topics) as TopicName[];
