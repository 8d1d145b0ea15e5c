import { expect, test } from "vitest";
import { largestPayload, sizeInConfig, varintBytes } from "./config.ts";

test.each([
	[undefined, null],
	["", null],
	["10x", null],
	[1000, 1000],
	["1000", 1000],
	["1k", 1000],
	["1kb", 1024],
	["1KiB", 1024],
	["1G", 1e9],
	["1gb", 1024 ** 3],
])("a size of %j in config is %j bytes", (written, bytes) => {
	expect(sizeInConfig(written)).toBe(bytes);
});

test.each([
	[0, 1],
	[127, 1],
	[128, 2],
	[16_383, 2],
	[16_384, 3],
	[2 ** 28, 5],
])("%d takes %d bytes of seven bits", (value, bytes) => {
	expect(varintBytes(value)).toBe(bytes);
});

test("the largest payload is within the limit, and one byte more is not", () => {
	const whole = (payload: number) => payload + varintBytes(payload) + 3;
	for (let limit = 100; limit < 20_000; limit++) {
		const most = largestPayload(limit, (payload) => whole(payload) - payload);
		expect(whole(most)).toBeLessThanOrEqual(limit);
		expect(whole(most + 1)).toBeGreaterThan(limit);
	}
});
