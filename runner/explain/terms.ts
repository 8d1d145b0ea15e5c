import { needs, TALLIES, Tally } from "../model/tallies.ts";
import type { TopicName } from "./topics.ts";

/** Words of a report without their own page, by the topic with more about them ("": none). Checks and metrics are named as in result.json. */
// biome-ignore format: a sentence is a line.
const BY_TOPIC: Readonly<Partial<Record<TopicName | "", Readonly<Record<string, string>>>>> = {
	response: {
		service: "Service time: from the actual send call to the receipt. It leaves out how long a message waited before it was sent, so it looks better than what users see.",
		queued: "The part of a late send that the system caused: earlier sends blocked, or waited at inFlight. It is part of the response time.",
		ack: "Ack latency: from the intended send time to the broker's acknowledgement. n/a where the system acknowledges nothing.",
		last: "Of a fan-out: from the intended send time to the receipt of the last subscriber.",
		behind: "Messages that were due while an earlier one of the same connection was in flight. A tool that waits for each reply has no sample of them.",
	},
	support: {
		percentile: "p99 = 5ms: 99 of 100 messages took 5ms or less. Messages that never completed count as slower than any. [4.8ms, 5.3ms] behind it is its 95 % interval; ~ says that few samples, or few clusters of slow ones, stand behind it.",
	},
	inconclusive: {
		"p50-rose": "p50 rose by more than a fifth over the window, and the line would PASS by a factor below 2. In a longer run it might not, so it is INCONCLUSIVE. What to do: write warmup: steady or a longer warm-up; if p50 rises all the same, measure longer, or at a lower rate.",
		stall: "A time in which a system hands on nothing. A report says when the messages over a limit were due: in how many separate stretches of the window, and how long the longest was. A stretch has such a message in each of its 100 ms; throughout the window is a load that was over its limit all the time.",
	},
	"": {
		clients: "Processes, hosts or containers that follow one schedule together: each message is due at the same moment as with one client. In round-trip, request-reply and publish the sender gets its own answer back, by one clock. In fan-out, work-queue and backlog another client receives it: mqbench compares the clocks of hosts over SSH before and after the run, and a verdict has to hold with both bounds added. What to do: use round-trip, hosts close to each other, or chrony.",
		clock: "Check: how far the clocks of several hosts may be apart. No verdict is narrower than that.",
		breakdown: "p99 303ms = queued 302.6ms + lag 31us + service 0.2ms: what the messages around that percentile waited for, as means. The percentiles of queued, lag and service are of other messages each, so they do not add up. At max it is the slowest message alone.",
		partitions: "A partition is a log of its own, in order. Of the consumers that share a topic, each partition belongs to one: with fewer partitions than consumers some consumers get nothing. By default a system that has partitions gets one for each consumer; with order: per-producer it gets one.",
		prefetch: "Messages that a consumer may hold without having acknowledged them. A large prefetch gives throughput; where work is slow, prefetch: 1 is fair, because messages that one busy consumer holds are not handed to another that is idle.",
		consumers: "Check: did each consumer get messages, and had it time for its work? What to do: more partitions or more consumers.",
		max: "The slowest message that completed. > 30s: some never did.",
		redelivered: "Messages that the broker itself marked as sent again.",
		"warm-up": "Messages before the window: sent, counted apart, in no percentile. Check: with warmup: steady the window opens when p50 is level; it warns if that did not happen in time. Where a system runs on a JVM that is the default, for all systems of the scenario; a warmup that is written wins.",
		range: "Check: were times outside of 0 to 1h? They are clamped.",
	},
	lost: {
		intended: "Messages that the schedule has, sent or not. All percentiles are of these.",
		sent: "Messages that left the generator.",
		acked: "Messages that the broker acknowledged.",
		received: "Distinct messages that came back; a second copy counts as duplicated.",
		failed: "Messages that the system refused, or kept from leaving until the end of the drain. They count as slower than any limit. What to do: the report names the commonest error; fix that first.",
		unknown: "Of counts: messages without an acknowledgement; each may have arrived or not. Of checks: what is looked at could not be read, which is never ok.",
		duplicated: "Messages received again; latency counts the first.",
		reordered: "Messages received after a later one of the same producer, partition or key. n/a where no order is promised.",
		corrupted: "Messages with a wrong checksum (checksum: true). They do not count as received.",
		late: "Messages that completed after their timeout. They are received, and their true time counts.",
		timedOut: "Messages that took longer than timeout and gave their place in inFlight to the next one. They may still complete.",
		identities: "Check: do the counts add up, as in intended = sent + not offered? If not, that is a bug of mqbench.",
		drain: "The time after the window in which mqbench waits for messages that are under way. Check: were some still missing in the end? What to do: add lost == 0 (of messages that are only published: unknown == 0) to the SLA, so that they are judged.",
		uncounted: "Check: did messages not complete that no SLA line counts? Then the run is INCONCLUSIVE at best. What to do: add failed == 0 and lost == 0.",
	},
	invalid: {
		notOffered: "Messages of the schedule that the generator never sent. The run is INVALID, because the load was not the one that was asked for. What to do: lower the rate, or give the generator more cores.",
		offered: "Check: was every message of the schedule sent, and in time? If not, the load was another one, and the run is INVALID. What to do: lower the rate, or give the generator more cores.",
		clockSource: "Check: is the machine's clock fine enough? hpet, acpi_pm and jiffies are not.",
		suspended: "Check: was a machine that makes load suspended during the run, as when a laptop's lid is closed? Then the run is INVALID. Known on Linux only. What to do: systemd-inhibit npx mqbench ...",
		complete: "Check: are all files of the run there, whole, and with the right checksums?",
		clientDropped: "Check: did the client library itself throw messages away? That is not the broker's loss, so the run is INVALID. What to do: a lower rate, or larger buffers in the client's options.",
		held: "Check: did messages wait in the client library, received and not handed over? Then the receiving side was slow, not the broker. What to do: more cores, connections or clients, or a lower rate.",
	},
	saturation: {
		"in flight": "Messages that were sent and have not completed; inFlight is the most that may be.",
		steady: "Check: did p50 rise or fall over the window? Then percentiles depend on the duration. What to do: a longer warmup, or warmup: steady; if p50 rises all the time, a lower rate.",
		cores: "Check: did the processes of this machine want more CPU than it has? Then generator and broker waited for each other. What to do: a lower rate, more cores, or the broker on another machine.",
		throttled: "Check: did the broker hold its clients back on purpose, by a quota, or a memory or disk alarm? Then the figures show that limit. What to do: raise it, or offer less.",
		backlog: "Check: did the queue of messages grow all the time? Then the system does not carry the rate, and the run FAILs.",
	},
	failover: {
		faults: "Check: was each fault of the scenario really done, and undone? If not, the run is INVALID.",
		reconnects: "Check: did connections break and come back? What was under way was delayed or lost. What to do: look at the broker's log.",
	},
	lag: {
		others: "Check: other processes used much of the machine's CPU, so a slow message may be their doing. What to do: stop them and measure again.",
		floor: "Check: the same load without any broker, for a few seconds after the runs. No system can be measured below that. Its p99 is that of the best of its seconds, so a hiccup of the machine does not count. If it is near the p99 that was measured, you measured the generator. What to do: use a machine that is less busy or has more cores.",
		cpuQuota: "Check: did a CPU limit (cgroup quota) stop the generator in the window? What to do: raise the limit.",
		steal: "Check: CPU time that the hypervisor gave to other virtual machines. What to do: another machine, or another time.",
		ownCpu: "Check: did the generator itself use nearly all of its cores? What to do: a lower rate, more cores, or several clients.",
	},
};

export const terms = [
	...Object.entries(BY_TOPIC).flatMap(([topic, words]) =>
		Object.entries(words).map(([name, means]) => ({ name, means, more: topic || null })),
	),
	...Tally.options.filter((name) => TALLIES[name].unit !== "messages").map(tallyTerm),
];

function tallyTerm(name: Tally) {
	const { says = "", sameAs } = TALLIES[name];
	const means = (sameAs === undefined ? says : `the same as ${sameAs}`).replaceAll("`", "");
	const more = needs(name, "faults") ? "failover" : needs(name, "backlog") ? null : "closed";
	return { name, means: `${means}.`, more };
}
