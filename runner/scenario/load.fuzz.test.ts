import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { MqbenchError } from "../errors.ts";
import { loadScenario } from "./load.ts";

const start = readFileSync(
	new URL("../script/golden/cases-and-limits/scenario.yaml", import.meta.url),
	"utf8",
);

/** Deterministic numbers in [0, below). */
function dice(seed: number) {
	let state = seed;
	return (below: number) => {
		state = (state * 48_271) % 0x7fffffff;
		return state % below;
	};
}

const pieces = [
	"null",
	"~",
	"[]",
	"{}",
	"-1",
	"1e999",
	".nan",
	".inf",
	"true",
	"''",
	'""',
	"&a",
	"*a",
	"<<: *a",
	"!!set",
	"---",
	"...",
	"\t",
	"\n",
	"  ",
	": ",
	"- ",
	"#",
	"? ",
	"|",
	">",
	"{",
	"}",
	"[",
	"]",
	"__proto__",
	"constructor",
	"\u0000",
	"\u2028",
	"\ud800",
	"9".repeat(30),
	"x".repeat(300),
	"system",
	"systems",
	"p99 < ",
	"/s",
	"KiB",
	`$${"{X}"}`,
	"nats://a:b@c",
];

test("whatever happens to a scenario, it is taken or refused with a line and a sentence, never with a crash", () => {
	const roll = dice(20_260_102);
	let refused = 0;
	for (let round = 0; round < 600; round++) {
		let text = start;
		for (let changes = 1 + roll(3); changes > 0; changes--) {
			const at = roll(text.length);
			const piece = pieces[roll(pieces.length)] ?? "";
			text = text.slice(0, at) + piece + text.slice(at + roll(12));
		}
		try {
			loadScenario("s.yaml", text);
		} catch (error) {
			if (!(error instanceof MqbenchError))
				throw new Error(`${error}\n${text}`, { cause: error });
			refused++;
			expect(error.message).toMatch(/^s\.yaml:\d+:\d+ \S/);
			expect(error.message).not.toMatch(/undefined|\[object|Invalid input/);
		}
	}
	expect(refused).toBeGreaterThan(100);
});
