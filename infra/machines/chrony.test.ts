import { expect, test } from "vitest";
import { readChrony, utcBound } from "./chrony.ts";

/** Of chrony 4.3, 8 s after it had begun to follow a server on the same machine. */
const FOLLOWS =
	"7F000001,127.0.0.1,2,1795214183.412705571,-0.000001807,-0.000000064,0.000016080,0.038,0.000,0.240,0.000007132,0.000001208,1.0,Normal";
/** A second after its first update: there is no interval yet. */
const FIRST =
	"7F000001,127.0.0.1,2,1795214174.602706757,-0.000015408,0.000015106,0.000015106,1.249,0.000,580.719,0.000033723,0.000419963,0.0,Normal";
/** That server, which follows its own clock (`local stratum 1`), and would be taken for perfect. */
const LOCAL =
	"7F7F0101,,1,1795214172.588892819,0.000000000,0.000000000,0.000000000,0.000,0.000,0.000,0.000000000,0.000000000,0.0,Normal";
/** One that has no source. */
const NOBODY =
	"00000000,,0,0.000000000,0.000000000,0.000000000,0.000000000,0.000,0.000,0.000,1.000000000,1.000000000,0.0,Not synchronised";
/** The example of chronyc(1), as -c prints it. */
const MANUAL =
	"CB00710F,203.0.113.15,3,1485510557.000000000,0.000006523,-0.000006747,0.000035822,-3.225,-0.000,0.129,0.013639022,0.001100737,64.2,Normal";
/** A network card's own clock. */
const CARD =
	"50484330,PHC0,1,1709727533.139866748,0.000004315,-0.000003372,0.000002759,1.274,-0.005,0.161,0.000000001,0.000029493,8.0,Normal";

/** Decimal fractions of a second, as floating-point numbers. */
const expectNs = (got: number | null, ns: number) => {
	expect(got).toBeGreaterThanOrEqual(Math.floor(ns));
	expect(got).toBeLessThanOrEqual(Math.ceil(ns) + 1);
};
const later = (line: string, s: number, cardNs: number | null = null) =>
	utcBound(line, { nowS: Number(line.split(",")[3]) + s, cardNs });

test("the bound is the manual's: system time, root dispersion and half of the root delay, and what grows until the next update", () => {
	// As old as the interval between two updates: nothing more is to come.
	expectNs(later(MANUAL, 64.2), 6_523 + 1_100_737 + 13_639_022 / 2);
	expectNs(later(FOLLOWS, 1), 1_807 + 1_208 + 7_132 / 2);
	// 1.129 ppm of 54.2 s; the residual frequency counts as it is away from 0.
	expectNs(later(MANUAL, 10), 6_523 + 1_100_737 + 13_639_022 / 2 + 54.2 * 1_129);
	const line = MANUAL.replace("-0.000,0.129", "-2.000,0.129");
	expectNs(later(line, 10), 6_523 + 1_100_737 + 13_639_022 / 2 + 54.2 * 3_129);
	// Fast or slow.
	const fast = MANUAL.replace("0.000006523", "-0.000006523");
	expect(later(fast, 64.2)).toBe(later(MANUAL, 64.2));
	// The first update knows of no interval.
	expectNs(later(FIRST, 1), 15_408 + 419_963 + 33_723 / 2);
	// A card that it follows and takes for exact.
	expectNs(later(CARD, 8, 19_000), 4_315 + 29_493 + 1 / 2 + 19_000);
	expect(later(CARD, 8, null)).toBeNull();
	expect(later(MANUAL, 64.2, 19_000)).toBe(later(MANUAL, 64.2));
});

test.each([
	["no source", NOBODY, "", ""],
	["its own clock", LOCAL, "", ""],
	["no stratum", MANUAL, ",3,1485510557", ",0,1485510557"],
	["a stratum that means nothing", MANUAL, ",3,1485510557", ",16,1485510557"],
	["a leap second ahead", MANUAL, "Normal", "Insert second"],
	["not synchronised", MANUAL, "Normal", "Not synchronised"],
	["a column that is empty", MANUAL, "0.001100737", ""],
	["a column that is no number", MANUAL, "0.013639022", "nan"],
	["a column too few", MANUAL, "0.001100737,", ""],
	["a delay below zero", MANUAL, "0.013639022", "-0.013639022"],
	["words", "506 Cannot talk to daemon", "", ""],
	["nothing", "", "", ""],
])("a clock is not known with %s", (_, line, what, instead) => {
	expect(later(line.replace(what, instead), 10)).toBeNull();
});

test("a clock is not known whose chrony has not heard of its source for some polls", () => {
	expect(later(MANUAL, 300)).not.toBeNull();
	expect(later(MANUAL, 301)).toBeNull();
	const seldom = MANUAL.replace("64.2", "1040.0");
	expect(later(seldom, 4160)).not.toBeNull();
	expect(later(seldom, 4161)).toBeNull();
	// Its own clock was set since.
	expect(later(MANUAL, -1)).not.toBeNull();
	expect(later(MANUAL, -3)).toBeNull();
});

test("a host is asked for chrony's line, its own time, and the card's error", async () => {
	const answering = (values: Record<string, string>) => ({
		run: async (line: string) => {
			expect(line).toContain("chronyc -c tracking");
			return { code: 0, out: "", err: "", values };
		},
	});
	const now = "1709727541";
	const known = utcBound(CARD, { nowS: 1709727541, cardNs: 19_000 });
	expect(await readChrony(answering({ tracking: CARD, now, card: "19000" }))).toBe(known);
	expect(await readChrony(answering({ tracking: CARD, now, card: "" }))).toBeNull();
	expect(await readChrony(answering({ tracking: CARD, now: "", card: "19000" }))).toBeNull();
});
