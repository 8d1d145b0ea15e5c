import { expect, test } from "vitest";
import { sentence } from "./blocks.ts";

test.each([
	["an SLA is breached", "An SLA is breached."],
	["closed loop: fills the machine", "Closed loop: fills the machine."],
	["first lost: producer 0", "First lost: producer 0."],
	["done.", "Done."],
	// Names keep their first letter: of systems, and of whatever is not plainly a word.
	["nats, 1KiB: 4 000/s meets the SLA", "nats, 1KiB: 4 000/s meets the SLA."],
	["nats stopped", "nats stopped."],
	["x: connection refused", "x: connection refused."],
	["p99 is 400ms", "p99 is 400ms."],
	["kafka-acks-all: gone", "kafka-acks-all: gone."],
	["lost == 0 is breached", "lost == 0 is breached."],
	["service p99 < 1s is breached", "service p99 < 1s is breached."],
	["", "."],
])("%s", (text, expected) => {
	expect(sentence(text, ["nats"])).toBe(expected);
});
