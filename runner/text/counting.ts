import {
	formatCount as count,
	formatDuration as duration,
	formatDurationExact as exactDuration,
} from "../units.ts";

/** What was counted twice and differs, how a rate was reckoned, and which metrics a load cannot have. */
export const counting = {
	"ledgers-differ": (d: {
		scope: Scope;
		kind: "sent" | "failed" | "acked";
		counters: number;
		ledgers: number;
	}) => `${d.scope} ${d.kind} in counters and ledgers: ${d.counters} and ${d.ledgers}`,
	"strange-messages": (d: { scope: Scope; messages: number }) =>
		`${d.scope}: ${d.messages} messages received that no client has sent`,
	"equation-broken": (d: { scope: Scope; equation: string; left: number; right: number }) =>
		`${d.scope} ${d.equation}: ${d.left} and ${d.right}`,
	"intended-differs": (d: { scope: Scope; counters: number; planned: number }) =>
		`intended in the ${d.scope === "window" ? "window" : "warm-up"}: ${d.counters} and ${d.planned}`,
	"histogram-differs": (d: { metric: string; histogram: number; counters: number }) =>
		`${d.metric} in histogram and counters: ${d.histogram} and ${d.counters}`,
	"breakdown-differs": (d: { broken: number; counters: number }) =>
		`response broken down and in counters: ${d.broken} and ${d.counters}`,
	"pieces-differ": (d: { metric: string; pieces: number; counters: number }) =>
		`${d.metric} per 100 ms and in counters: ${d.pieces} and ${d.counters}`,
	"more-than-intended": (d: { metric: string }) =>
		`more ${d.metric} than intended messages in 100 ms`,
	"more-than-window": (d: { metric: string }) =>
		`more ${d.metric} than the window's messages can have`,
	"log-unreadable": (d: { reason: string }) => `a histogram log cannot be read: ${d.reason}`,

	"timed-out": (d: { timeoutNs: number }) =>
		`a message that timed out kept its place in flight for ${exactDuration(d.timeoutNs)}, then the next one was sent`,
	"rate-acked": () => "acknowledged in the window / its duration",
	"rate-received": () => "received in the window / its duration",
	"rate-received-once": (d: { again: number }) =>
		`(received in the window - ${count(d.again)} that a second client received) / its duration`,
	"closed-acked": (d: Span) => `acknowledged / (last acknowledgement - first send call)${short(d)}`,
	"closed-sent": (d: Span) =>
		`sent / (last receipt - first send call), as nothing is acknowledged${short(d)}`,
	"closed-received": (d: Span) => `distinct receipts / (last - first receipt)${short(d)}`,

	"no-last-copy": () => "only a fan-out has a last copy",
	"last-copy-unknown": () =>
		"the copies of a message arrive at several clients, none of which knows the last one: judge response",
	"no-intended-times": (d: { metric: string }) =>
		`a closed loop has no intended times, and so no ${d.metric}: judge service`,
	"consumers-wait": (d: { metric: string }) =>
		`a backlog has no ${d.metric}, as its consumers are made to wait: judge ack`,
};

// --- internal ---

type Scope = "warmup" | "window";

interface Span {
	/** All of it took so long, too short for a rate; null: long enough. */
	readonly shortNs: number | null;
}

function short({ shortNs }: Span): string {
	return shortNs === null ? "" : `; all within ${duration(shortNs)}, too short to tell a rate`;
}
