import { needs, TALLIES, Tally } from "../model/tallies.ts";
import type { TopicName } from "./topics.ts";

/** Words and signs of a report, each with the topic that explains more ("" for none). After a "|": other words with the same answer. */
// biome-ignore format: a sentence is a line.
const BY_TOPIC: Readonly<Partial<Record<TopicName | "", Readonly<Record<string, string>>>>> = {
	response: {
		"service": "Service time: from the actual send call to the receipt. It leaves out how long a message waited before it was sent, so it looks better than what users see.",
		"queued": "The part of a late send that the system caused: earlier sends blocked, or waited at inFlight. It is part of the response time.",
		"ack": "Ack latency: from the intended send time to the broker's acknowledgement. n/a if the system acknowledges nothing.",
		"last": "Fan-out: from the intended send time to the receipt of the last subscriber.",
		"behind": "Messages that were due while an earlier one on the same connection was in flight. A tool that waits for each reply has no sample of them.",
		"coordinated omission": "A tool that waits for each reply sends less while the system is slow, so slow periods leave few samples. mqbench counts from the intended send time: every message that was due then shows the delay.",
		"due": "When a message was to be sent (its intended time), in seconds after the window opened.",
	},
	support: {
		"percentile": "p99 = 5ms: 99 of 100 messages took 5ms or less. Messages that never completed count as slower than any. [4.8ms, 5.3ms] behind it is its 95 % interval; ~ marks an uncertain value.",
		"~ | weak": "~5ms is uncertain: it rests on few samples, or on slow messages from only a few clusters, or the window is below 10s, which is too short to tell. What to do: measure longer, or repeat.",
		"interval | ∞ | [] | overlaps | no interval": "[4.8ms, 5.3ms] contains the true value with 95 % confidence. ∞: the samples give no upper bound. overlaps: two intervals have values in common, so the difference may be chance. no interval: one of them is unknown. As a durability level: flushed to disk every so often.",
		"n/a | needs": "Not measured, or too few samples; then the report shows how many it takes: needs N >= 3 688. It never stands for 0.",
		"n | samples": "How many messages a figure counts, with those that never completed. In a fan-out these are copies.",
	},
	inconclusive: {
		"p50-rose": "p50 rose by more than a fifth over the window, and the line would PASS by a factor below 2. In a longer run it might not, so it is INCONCLUSIVE. What to do: write warmup: steady or a longer warm-up; if p50 still rises, measure longer, or at a lower rate.",
		"stall | stretch | hiccup | too few stalls": "A time in which a system hands on nothing; a short one is a hiccup. A report says when the messages over a limit were due: in how many separate stretches of the window, and how long the longest was. A stretch has such a message in each of its 100 ms. throughout the window: the load was over its limit all the time. too few stalls: with so few, chance decides how many slow messages a run has, so the line is INCONCLUSIVE. What to do: measure longer, or repeat.",
		"SLA": "What must hold, one line for each: p99 < 20ms, lost == 0. Each line is judged for each system and case, over all repeats.",
		"verdict | pass | fail | error | interrupted": "PASS: every SLA line is met. FAIL: one is not, or the queue kept growing. INCONCLUSIVE: the samples do not decide. INVALID: the load generator decided. ERROR: nothing could be measured. INTERRUPTED: a signal stopped it. The worst of all lines, checks and runs counts.",
		"repeat | confirming": "The same run again, with a new broker. Two FAILs breach a line. It passes if none fails and at least half pass. Repeats are never pooled. confirming: added by --confirm.",
	},
	baseline: {
		"margin": "SLA line: limit / measured, as in 6.3x below the limit. Comparison: how much worse the new runs may be. It is at least twice the noise of this machine, and doubles if the machine has restarted since the baseline.",
		"ratio | lowest | now | x": "6.3x: that many times as much. Comparison: now / baseline, the median of the ratios of all pairs of runs; 1.1x is 10 % more. First screen: p99 / the lowest p99 of the case.",
		"regressed | improved | same | shown | advisory | not compared": "REGRESSED, IMPROVED: the whole interval lies beyond the margin. SAME: inside it. INCONCLUSIVE: neither. shown, (regressed): for information only, for example because the machine is another one.",
		"noise | tells a change of | write in sla": "By how much runs of the same work differ on this machine (npx mqbench calibrate). tells a change of: the smallest change that so many runs on each side show in 95 of 100 cases. write in sla: a margin of twice the noise.",
	},
	"max-rate": {
		"probe | confirm | curve": "Runs of a search. probe: is this rate too high? confirm: another run at the answer, up to four times as long. curve: how latency grows up to it. As a driver's setting, confirm is what the broker answers to each message.",
	},
	"": {
		"clients": "Processes, hosts or containers that share one schedule: each message is due at the same moment as with one client. In round-trip, request-reply and publish the sender gets its own answer back, by one clock. In fan-out, work-queue and backlog another client receives it: mqbench compares the clocks of hosts over SSH before and after the run, and a verdict has to hold with both bounds added. What to do: use round-trip, hosts close to each other, or chrony.",
		"clock | clocks | ±": "Check: how far the clocks of several hosts may be apart. ±0.2ms: a latency verdict takes that uncertainty into account.",
		"breakdown": "p99 303ms = queued 302.6ms + lag 31us + service 0.2ms: what the messages around that percentile waited for, on average. In the table, each column's percentile is of other messages, so these do not add up. max: the slowest message.",
		"partitions | partition": "A partition is an ordered log. Each belongs to one of the consumers that share a topic: with fewer partitions than consumers some consumers get nothing. By default a system that has partitions gets one for each consumer; with order: per-producer it gets one. As a fault, partition cuts a node off from the others.",
		"prefetch": "Messages that a consumer may hold without having acknowledged them. A large prefetch gives throughput. For slow work, prefetch: 1 is fair: messages that a busy consumer holds are not given to an idle one.",
		"flush | batching | compression": "What a driver does for each message that it sends. confirm: what the broker answers. flush: when bytes leave the client. batching: which messages share a request.",
		"acknowledgeAlone | acknowledgeInGroup": "When a consumer acknowledges: acknowledgeAlone if it gets all messages itself (round-trip, fan-out, replies), acknowledgeInGroup if consumers share a topic (work-queue, backlog, responders).",
		"consumers": "Check: did each consumer get messages, and could it keep up with its work? What to do: more partitions or more consumers.",
		"max": "The slowest message that completed. > 30s: some never did.",
		"redelivered": "Messages that the broker itself marked as sent again.",
		"foreign": "Messages of another run that were found in the topic. They are counted in result.json, and never timed.",
		"window": "The messages that are due after the warm-up, until the duration is over. All figures are of these.",
		"warm-up": "Messages before the window: sent and counted apart, in no percentile. Check: with warmup: steady the window opens when p50 is level; it warns if that did not happen in time. That is the default for all systems of a scenario if one runs on a JVM; a warmup that you write wins.",
		"range": "Check: were times below 0 or above 1h? They are recorded as 0 and 1h.",
		"check | checks against it | ok | warn": "A check asks whether the measurement itself can be trusted. ok: it found nothing. warn: it found what may explain the figures, and the verdict stays. unknown: it could not be made. fail, invalid, error: it decided the verdict of the run. Support: ok is a percentile with enough samples.",
		"> | stopped": "> 30s is more than that: messages never completed, or a fault's effect had not ended. stopped: the run ended before these messages completed.",
		"shortened | quick": "--quick: at most 3s or 2000 messages for each run. That shows that a scenario works; its figures are not a result.",
		"step | phase": "A part of the window: a step of the rate, or before, build and drain of a backlog. Its latencies are of the messages that were due in it, its rates of what happened in it.",
		"network": "The median time of a TCP connect from each client to each node, about one round trip. No verdict uses it.",
		"heat map": "How many messages took how long, by second: the darker, the more.",
		"pacer": "The thread that sends each message at its time: how early it wakes, and how long it spins before.",
		"C-states | SMT | CPU governor | interrupt moderation | cores to run on": "Settings of the machine that decide how late it notices a message. npx mqbench doctor shows which of them distort a measurement.",
		"us | ns | ms | s | min | h": "1h = 60min, 1min = 60s, 1s = 1000ms, 1ms = 1000us, 1us = 1000ns. /s is per second.",
		"KiB | B | KB | MB | GB | MiB | GiB | TiB": "1KiB = 1024B (bytes), 1MiB = 1024KiB, and so on. 1KB = 1000B, 1MB = 1000KB.",
		"rate | scheduled | constant | poisson | stages": "Messages per second in the schedule, all clients together; achieved is what was sent. constant: evenly spaced. poisson: at random. stages: the rate changes over time.",
		"pattern | round-trip | request-reply | fan-out | work-queue | publish | connect | catch-up | bystanders | by one pattern": "How messages travel. round-trip: each producer receives its own. request-reply: a responder answers. fan-out: each subscriber gets all of them; by one pattern: through a wildcard; bystanders: subscribers of topics without messages. work-queue: consumers share them. publish: nothing receives them. backlog: they pile up, then drain. connect: each is a new connection, and sends itself one; the newest (hold) stay open. catch-up: beside another load, it reads what that load has sent from the beginning; it has caught up (drainTime) with the last message older than 1 s before a whole second without one.",
		"system | broker | case | node": "system: a broker (or several nodes of it) with its settings. case: one combination of the load's values, such as 1KiB 3000/s. Each system measures each case.",
		"generator | driver | client library": "The load generator is k6 with mqbench's extensions. driver: the extension for one broker, which calls its client library.",
		"keys | round-robin | random | zipf": "Each message has one of a fixed number of keys: in turn (round-robin), at random, or some far more often than others (zipf).",
	},
	lost: {
		"intended": "Messages that the schedule has, sent or not. All percentiles are of these.",
		"sent": "Messages that left the generator.",
		"acked | sends acknowledged": "Messages that the broker acknowledged.",
		"received | copies received": "Distinct messages that came back; a second copy counts as duplicated. Fan-out: copies, one for each subscriber.",
		"failed": "Messages that the system refused, or kept from leaving until the end of the drain. They count as slower than any limit. What to do: the report names the most frequent error; fix that first.",
		"unknown": "Counts: messages without an acknowledgement; each may have arrived or not. Checks: the check could not be made, which is never ok.",
		"duplicated | duplicate-receipts": "Messages received again; latency counts the first.",
		"reordered": "Messages received after a later one of the same producer, partition or key. n/a if no order is promised.",
		"corrupted": "Messages with a wrong checksum (checksum: true). They do not count as received.",
		"late": "Messages that completed after their timeout. They are received, and their true time counts.",
		"timedOut": "Messages that took longer than timeout and gave their place in inFlight to the next one. They may still complete.",
		"identities": "Check: do the counts add up, as in intended = sent + not offered? If not, that is a bug of mqbench.",
		"drain": "The time after the window in which mqbench waits for messages that are under way. Check: were some still missing at the end? What to do: add lost == 0 (if messages are only published: unknown == 0) to the SLA, so that they are judged.",
		"uncounted": "Check: did messages not complete that no SLA line counts? Then the run is INCONCLUSIVE at best. What to do: add failed == 0 and lost == 0.",
	},
	invalid: {
		"offered | not offered": "Check: was every message of the schedule sent, and in time? not offered: messages that the generator never sent. Then the load was not the one that was asked for, and the run is INVALID. What to do: lower the rate, or give the generator more cores.",
		"clockSource": "Check: is the machine's clock fine enough? hpet, acpi_pm and jiffies are not.",
		"suspended": "Check: was a machine that makes load suspended during the run, as when a laptop's lid is closed? Then the run is INVALID. Known on Linux only. What to do: systemd-inhibit npx mqbench ...",
		"continued": "Check: was the run cut, and resumed? It then goes on from its last checkpoint (once a minute, later every five) as a further segment. What it had sent since then is sent again.",
		"complete": "Check: are all files of the run there, whole, and with the right checksums?",
		"clientDropped": "Check: did the client library itself throw messages away? That is not the broker's loss, so the run is INVALID. What to do: a lower rate, or larger buffers in the client's options.",
		"held | held by the library": "Check: did messages wait in the client library, received and not handed over? Then the receiving side was slow, not the broker. What to do: more cores, connections or clients, or a lower rate.",
		"start skew": "The time between the starts of the first and the last client.",
	},
	saturation: {
		"in flight | messages in flight": "Messages that were sent and have not completed; inFlight limits them.",
		"steady": "Check: did p50 rise or fall over the window? Then percentiles depend on the duration. What to do: a longer warmup, or warmup: steady; if p50 rises all the time, a lower rate.",
		"cores": "Check: did the processes of this machine want more CPU than it has? Then generator and broker waited for each other. What to do: a lower rate, more cores, or the broker on another machine.",
		"throttled": "Check: did the broker hold its clients back by a quota, or a memory or disk alarm? Then the figures show that limit. What to do: raise it, or lower the rate.",
		"backlog | queue-growing": "Check: did the queue of messages grow all the time? Then the system does not sustain the rate, and the run FAILs. pattern: backlog is another thing: consumers pause until messages have piled up, then drain them.",
		"* | not ranked | cause": "Not ranked: machine or load generator was at its limit (cores, cpuQuota, ownCpu, lag, offered, held), so these figures do not describe the system alone.",
	},
	failover: {
		"faults": "Check: was each fault of the scenario really done, and undone? If not, the run is INVALID.",
		"at | for": "at: when the fault's command was given, from the start of the window. for: how long the fault was in effect.",
		"reconnects": "Check: did connections break and come back? Messages under way were delayed or lost. What to do: look at the broker's log.",
	},
	lag: {
		"others": "Check: other processes used much of the machine's CPU, which may explain slow messages. What to do: stop them and measure again.",
		"floor | floor-over-limit": "Check: the same load without any broker, for a few seconds after the runs. No system can be measured below that. Its p99 is its best second's, so a hiccup of the machine does not count. If it is near the p99 that was measured, you measured the generator. What to do: use a machine that is less busy or has more cores.",
		"cpuQuota": "Check: did a CPU limit (cgroup quota) stop the generator in the window? What to do: raise the limit.",
		"steal": "Check: CPU time that the hypervisor gave to other virtual machines. What to do: use another machine, or measure at another time.",
		"ownCpu": "Check: did the generator itself use nearly all of its cores? What to do: a lower rate, more cores, or several clients.",
	},
};

/** Column heads whose answer is filed under a name in the SLA, or under a topic. */
const SAME: Readonly<Record<string, readonly string[]>> = {
	achieved: ["achieved rate"],
	throughput: ["received/s", "received rate", "copies/s", "copies received rate"],
	"throughput.sent": ["sent/s", "sent rate", "acked/s"],
	drainTime: ["drained in"],
	cpuPerMessage: ["broker CPU/message"],
	unavailable: ["without acknowledgements", "without receipts"],
	recovered: ["back under"],
	response: ["latency"],
	saturation: ["machine-saturated"],
	"max-rate": ["find", "search"],
	failover: ["kill", "pause", "restart", "own-faults"],
	lost: ["copies lost"],
	durability: ["durability level", "memory", "os", "fsync"],
};

export const terms = [
	...Object.entries(BY_TOPIC).flatMap(([topic, words]) =>
		Object.entries(words).map(([names, means]) => {
			const [name = "", ...others] = names.split(" | ");
			return { name, others, means, more: topic || null };
		}),
	),
	...Tally.options.filter((name) => TALLIES[name].unit !== "messages").map(tallyTerm),
];

/** The name under which a word is explained. */
export const otherNames: ReadonlyMap<string, string> = new Map([
	...terms.flatMap(({ name, others }) => others.map((other) => [other, name] as const)),
	...Object.entries(SAME).flatMap(([name, all]) => all.map((other) => [other, name] as const)),
]);

function tallyTerm(name: Tally) {
	const { says = "", sameAs, cost } = TALLIES[name];
	const means = (sameAs === undefined ? says : `the same as ${sameAs}`).replaceAll("`", "");
	const more = needs(name, "faults")
		? "failover"
		: needs(name, "backlog") || cost
			? null
			: "closed";
	return { name, others: [], means: `${means}.`, more };
}
