import { example } from "../brokers/index.ts";
import { systems as all } from "../scenario/systems-table.ts";
import { wrap } from "../terminal/wrap.ts";

/** What is measured, and where it runs. */
export const systems = {
	durability: {
		title: "what memory, os, interval and fsync promise",
		text: `
A level says what has happened to a message when the system acknowledges it:

             written to    flushed to disk    lost when
  memory     memory        never              the process dies
  os         page cache    when the kernel    the machine dies
                           likes
  interval   page cache    every so often     the machine dies: the last
                                              interval
  fsync      disk          before the ack     the disk dies

Without durability, the broker runs with its own default; each report prints
what that is. Systems that acknowledge nothing have no level.

Example: one system acknowledges from the page cache (os) and relies on
replicas; another flushes first (fsync). Compared without a level, one of them
works for a disk and the other does not, and that is the difference you see.

What to do: give all systems of a comparison the same durability, or say that
they run with their defaults. With target: existing, the server's settings are
yours. Some disks report a flush that they have not made; mqbench cannot tell.
`,
	},
	prefetch: {
		title: "how many messages a consumer takes ahead of its work",
		text: `
Prefetch is the number of messages that a consumer may hold without having
acknowledged them. The broker sends that many ahead, so that the consumer never
waits for the next one. What each system uses when you set nothing:

${prefetches()}

A large prefetch gives throughput. A small one is fair: messages that one busy
consumer holds are not handed to another that is idle.

Example: a work queue with work: 10ms and a prefetch of 100. A message may wait
behind 99 others in its consumer, 990ms, although other consumers are idle. That
wait is part of its response time, which ends when its turn comes.

What to do: write prefetch: 1 in the system where work is slow or uneven, and
compare systems with the same prefetch. If prefetch x work is longer than the
broker waits for an acknowledgement, it delivers the message again: mqbench
refuses such a scenario.
`,
	},
	partitions: {
		title: "why a work queue may need as many partitions as consumers",
		text: `
Some systems split a topic into partitions. Each partition is a log of its own,
in order. Of the consumers that share a topic, each partition belongs to one:

  partitions < consumers   some consumers get nothing at all
  partitions = consumers   each consumer has one partition
  partitions > consumers   some consumers have more than one

partitions is a field of the workload, and of a system that has them. By default
such a system gets one partition for each consumer of a topic, and with order:
per-producer one. Messages are spread over the partitions in turn, or by their
key (keys: zipf). Order holds within a partition only.

Example: work-queue at 500/s, consumers: 4, work: 3ms, and one partition. One
consumer works and carries 333/s; three are idle, and the queue grows. With
partitions: 4 each consumer gets 125/s, and is busy 38 % of the time.

What to do: leave partitions out, or write at least as many as consumers.
mqbench refuses work beyond what the consumers carry. Systems without partitions
hand each message to a consumer that is free, and need only consumers.
`,
	},
	clients: {
		title: "how several clients share one schedule, and whose clock counts",
		text: `
clients: 3 (processes, hosts, containers) follow one schedule together: message
i is due at the same moment as with one client. Connection c and its producers
are on client c mod 3, connection k of the consumers on client k mod 3.

  round-trip, request-reply, publish   the sender gets its own answer back: one
                                       clock, as exact as with one client
  fan-out, work-queue, backlog         another client receives it: two clocks

Processes and containers of one machine share its clock. mqbench asks hosts over
SSH for theirs, 20 times before and 20 times after the run; the best answer is
off by at most half of its round trip. For two clients both bounds add up, with
what the clocks drifted in between. If chrony runs on all of them and knows the
time better, its bounds count. A PASS needs the interval's upper end plus the
bound below the limit; a FAIL its lower end minus the bound above it.

Example: work-queue on two hosts with a bound of 0.1ms each, and a p99 of
[0.95, 1.02]ms: p99 < 1ms is INCONCLUSIVE, p99 < 2ms passes.

What to do: for latency across machines use round-trip; for the other patterns
use hosts close to each other, or chrony. If a client is missing, the run is
INVALID, and the report names the client and its last words.
`,
	},
	rig: {
		title: "how to keep brokers, or rented machines, between runs",
		text: `
Normally each run gets a fresh broker. A rig is a set of brokers that stays up
while runs come and go:

  mqbench up s.yaml                    starts all brokers, writes rig.json
  mqbench s.yaml --rig rig.json        measures on them, as often as you like
  mqbench down rig.json                stops them; twice does no harm

Processes of this machine stay until Ctrl-C there, or mqbench down elsewhere.
For containers use docker compose and target: existing. Each run has topics of
its own; the report says that the broker was not fresh.

With hosts, yours or EC2's (target: aws), the machines stay and each run gets
fresh brokers on them: the host's own, copied ones, or (with image or version)
containers of the host's Docker; plan says which. Rented machines cost money
until mqbench down or mqbench rigs destroy; mqbench rigs list shows them. They
stop themselves after aws.ttl.
Exit code 5 means that something is left; the message says how to remove it.

Example: a rig for brokers that something else has set up is a small file:
{"version": 1, "id": "staging", "brokers": [
  {"system": "${example.broker}", "broker": "${example.broker}", "url": "${example.url("10.0.0.5")}"}]}

What to do: publish figures from fresh brokers; use a rig where starting takes
longer than measuring. rig.json may hold passwords: its mode is 0600, and it
is in no report.
`,
	},
	failover: {
		title: "what a fault shows: unavailable, recovered, drained",
		text: `
faults: kill, restart, pause, partition or delay nodes of a broker during a run.
The schedule goes on: messages that become due meanwhile wait, and count. Three
times count from each fault, and each can be a line of the SLA:

  unavailable < 10s   the longest time in which no message completed
                      (acknowledged, or else received)
  recovered < 15s     until messages that become due meet the first latency line
                      again; recovered(p99 < 100ms) < 15s names the latency
  drained < 30s       until no more messages are in flight than before the fault

The worst fault decides. What has not ended when the window closes, or the next
fault begins, is shown as > 12s, and FAILs if the limit had passed by then. Of
messages lost must stay 0 where they were acknowledged; failed, unknown and
duplicated show what the fault costs a client.

Example: the leader of three nodes is killed at 10s, at 1000/s. For 4s nothing
is acknowledged (unavailable 4s) and 4 000 messages wait. The new leader takes
them within 1s: recovered 5s, drained 5s, lost 0.

What to do: kill the leader (node: leader); a follower shows little. Write acks:
all and replicas: 3 where nothing may be lost. Repeat, because elections take
different times. Nodes on one machine share its disk: the order of events is
real there, the times belong to that machine.
`,
	},
} as const;

// --- internal ---

/** "  100  Redis streams, Redis lists" for each number, largest first. */
function prefetches(): string {
	const titles = new Map<number, string[]>();
	for (const { traits } of all())
		if (traits.prefetch !== null)
			titles.set(traits.prefetch, [...(titles.get(traits.prefetch) ?? []), traits.title]);
	return [...titles]
		.sort(([a], [b]) => b - a)
		.flatMap(([number, names]) =>
			wrap(`${String(number).padStart(5)}  ${names.join(", ")}`, 80, "       ", ""),
		)
		.join("\n");
}
