import { describe, expect, test } from "vitest";
import {
	formatBytes,
	formatBytesExact,
	formatCount,
	formatDuration,
	formatDurationExact,
	formatPart,
	formatRate,
	parseBytes,
	parseDuration,
	parseRate,
	ratePerSecond,
} from "./units.ts";

/** The error of a text that is refused. */
const refusal = (message: string) => expect.objectContaining({ name: "UnitError", message });

describe("durations", () => {
	test.each([
		["250ms", 250_000_000],
		["10s", 10_000_000_000],
		["5min", 300_000_000_000],
		["1h", 3_600_000_000_000],
		["870us", 870_000],
		["870µs", 870_000],
		["1ns", 1],
		["0s", 0],
		["1.5s", 1_500_000_000],
		["0.1s", 100_000_000],
		[" 10 s ", 10_000_000_000],
	])("reads %s as %i ns", (text, ns) => {
		expect(parseDuration(text)).toBe(ns);
	});

	test.each([
		["5 parsecs", '"5 parsecs" is not a duration; write e.g. 250ms, 10s or 5min'],
		["10", "duration 10 has no unit; write 10s"],
		["", "a duration is empty; write e.g. 250ms, 10s or 5min"],
		["5m", "5m is ambiguous; write 5min for minutes or 5ms for milliseconds"],
		["-5s", "duration must not be negative, got -5s"],
		["0.5ns", "0.5ns is not a whole number of nanoseconds; write fewer digits"],
		["99999999999h", "duration 99999999999h is too large"],
		["1e9s", "1e9s is not a duration; write e.g. 250ms, 10s or 5min"],
		["1.2.3s", "1.2.3s is not a duration; write e.g. 250ms, 10s or 5min"],
		["10constructor", "10constructor is not a duration; write e.g. 250ms, 10s or 5min"],
	])("refuses %j with a sentence", (text, message) => {
		expect(() => parseDuration(text)).toThrow(refusal(message));
	});

	test.each([
		[0, "0s"],
		[999, "999ns"],
		[870_000, "870us"],
		[12_400_000, "12.4ms"],
		[12_449_999, "12.4ms"],
		[250_000_000, "250ms"],
		[1_500_000_000, "1.5s"],
		[34_000_000_000, "34s"],
		[336_000_000_000, "5min 36s"],
		[999_950, "1ms"],
		[999_999_999, "1s"],
		[59_990_000_000, "1min"],
		[3_599_600_000_000, "1h"],
		[4_260_000_000_000, "1h 11min"],
		[7_200_000_000_000, "2h"],
		[-1_500_000, "-1.5ms"],
	])("writes %i ns as %s", (ns, text) => {
		expect(formatDuration(ns)).toBe(text);
	});

	test("never writes more than three significant digits, nor a value that belongs to the next unit", () => {
		for (let ns = 1; ns < 59e9; ns = Math.ceil(ns * 1.0137)) {
			const text = formatDuration(ns);
			expect(text).toMatch(/^\d{1,3}(\.\d{1,2})?(ns|us|ms|s)$/);
			expect(text.replaceAll(/[^\d]/g, "").replace(/^0+/, "").length).toBeLessThanOrEqual(3);
			expect(Math.abs(parseDuration(text) - ns) / ns).toBeLessThan(0.0051);
		}
	});

	test("writes minutes with whole seconds, and hours with whole minutes", () => {
		for (let ns = 60e9; ns < 1e15; ns = Math.ceil(ns * 1.0137)) {
			const text = formatDuration(ns);
			expect(text).toMatch(/^([1-5]?\dmin( [1-5]?\ds)?|\d+h( [1-5]?\dmin)?)$/);
			expect(text).not.toContain(" 0");
			expect(Math.abs(read(text) - ns)).toBeLessThanOrEqual(text.includes("h") ? 30e9 : 0.5e9);
		}
	});

	test("the exact form reads back as the same number of ns", () => {
		for (const ns of [0, 1, 999, 1500, 17_000_000_000, 90_000_000_000, 1_234_567_891])
			expect(parseDuration(formatDurationExact(ns))).toBe(ns);
		expect(formatDurationExact(10_000_000_000)).toBe("10s");
		expect(formatDurationExact(90_000_000_000)).toBe("90s");
		expect(formatDurationExact(300_000_000_000)).toBe("5min");
		expect(formatDurationExact(1_500_000_000)).toBe("1.5s");
	});
});

describe("parts of a duration", () => {
	test.each([
		[302_600_000, 303_000_000, "302.6ms"],
		[31_234, 303_000_000, "31.2us"],
		[50_000, 303_000_000, "0.1ms"],
		[0, 303_000_000, "0s"],
		[-2000, 12_345_000, "-2us"],
		[12_300_000, 12_345_000, "12.3ms"],
		[12_345_000, 12_345_000, "12.35ms"],
		// 999.9us is 1ms, and its parts are of ms.
		[999_900, 999_900, "1ms"],
		[345.67, 999.4, "345.7ns"],
		[4.5e9, 5.6 * 60e9, "4.5s"],
		[3, 0.5, "3ns"],
	])("%d ns of %d ns is %s", (ns, ofNs, text) => {
		expect(formatPart(ns, ofNs)).toBe(text);
	});

	test("add up to the whole as it is printed, but for the rounding of each", () => {
		for (let whole = 1000; whole < 1e13; whole = Math.round(whole * 1.37)) {
			const text = formatDuration(whole);
			// Of minutes and hours, the parts are in seconds.
			const unit = whole < 59.95e9 ? /[a-z]+/.exec(text)?.[0] : "s";
			const value = read(text) / parseDuration(`1${unit}`);
			const parts = [0.61, 0.29, 0.1].map((share) => formatPart(share * whole, whole));
			for (const part of parts) expect(part).toMatch(new RegExp(`\\d${unit}$`));
			const sum = parts.reduce((all, part) => all + Number.parseFloat(part), 0);
			// Half a digit of the whole, and of three parts that have one digit more.
			expect(Math.abs(sum - value) / value).toBeLessThan(whole < 3600e9 ? 0.0065 : 0.0085);
		}
	});
});

/** "1min 40s" */
function read(text: string): number {
	return text.split(" ").reduce((ns, word) => ns + parseDuration(word), 0);
}

describe("sizes", () => {
	test.each([
		["256B", 256],
		["1KB", 1000],
		["1kB", 1000],
		["1KiB", 1024],
		["1.5KiB", 1536],
		["1MiB", 1_048_576],
		["2MB", 2_000_000],
	])("reads %s as %i bytes", (text, bytes) => {
		expect(parseBytes(text)).toBe(bytes);
	});

	test.each([
		["256", "size 256 has no unit; write 256B"],
		["1K", "1K is ambiguous; write 1KB (based on 1000) or 1KiB (based on 1024)"],
		["0.3B", "0.3B is not a whole number of bytes; write fewer digits"],
		["big", '"big" is not a size; write e.g. 256B, 1KB (1000 bytes) or 1KiB (1024 bytes)'],
	])("refuses %j with a sentence", (text, message) => {
		expect(() => parseBytes(text)).toThrow(refusal(message));
	});

	test.each([
		[0, "0B"],
		[256, "256B"],
		[1024, "1KiB"],
		[5120, "5KiB"],
		[1_048_576, "1MiB"],
		[1500, "1500B"],
		[1000, "1KB"],
		[16_000_000, "16MB"],
		[12_345_678, "11.8MiB"],
	])("writes %i bytes as %s", (bytes, text) => {
		expect(formatBytes(bytes)).toBe(text);
	});

	test("the exact form reads back as the same number of bytes", () => {
		for (const bytes of [0, 40, 999, 1000, 1024, 1_048_577, 1_024_000, 3_000_000])
			expect(parseBytes(formatBytesExact(bytes))).toBe(bytes);
		expect(formatBytesExact(1_048_577)).toBe("1048577B");
	});
});

describe("rates", () => {
	test.each([
		["3000/s", 3000, 1e9],
		["90/min", 90, 60e9],
		["2/ms", 2, 1e6],
		["10/h", 10, 3600e9],
		["0.5/s", 1, 2e9],
		["1.5/min", 1, 40e9],
		["33.3/s", 333, 10e9],
		["7/3s", 7, 3e9],
		["10000000/s", 10_000_000, 1e9],
		[" 3000 / s ", 3000, 1e9],
	])("reads %s as %i messages per %i ns", (text, messages, perNs) => {
		expect(parseRate(text)).toEqual({ messages, perNs });
	});

	test.each([
		["-5/s", "rate must be above 0, got -5/s"],
		["5/0s", "rate must be above 0, got 5/0s"],
		["3000", "rate 3000 has no unit; write 3000/s"],
		["fast", '"fast" is not a rate; write e.g. 3000/s or 90/min'],
		["10000001/s", "rate must be at most 10000000/s, got 10000001/s"],
		["3/fortnight", "3/fortnight is not a rate; write e.g. 3000/s or 90/min"],
		[
			"3000.123456789/s",
			"rate 3000.123456789/s has more digits than can be kept exactly; write a ratio such as 1/10s or 90/min",
		],
	])("refuses %j with a sentence", (text, message) => {
		expect(() => parseRate(text)).toThrow(refusal(message));
	});

	test.each(["3000/s", "90/min", "0.5/s", "7/3s", "2/ms", "33.3/s", "10/h", "1/7min"])(
		"writes %s as it was read",
		(text) => {
			expect(formatRate(parseRate(text))).toBe(text);
		},
	);

	test("gives messages per second as a number", () => {
		expect(ratePerSecond(parseRate("90/min"))).toBe(1.5);
	});
});

test.each([
	[0, "0"],
	[999, "999"],
	[3000, "3 000"],
	[45_000, "45 000"],
	[1_234_567, "1 234 567"],
	[-45_000, "-45 000"],
	[2999.7, "3 000"],
	[33.333, "33.3"],
])("groups the count %d as %s", (count, text) => {
	expect(formatCount(count)).toBe(text);
});
