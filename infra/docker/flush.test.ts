import { expect, test } from "vitest";
import { flushText, flushWarning } from "./flush.ts";

const LIES = ": nothing is on a disk when it is said to be";
test.each([
	[{ p50Ns: 412_000, calls: 199 }, "412us (p50 of 199)", false],
	[{ p50Ns: 20_000, calls: 199 }, "20us (p50 of 199)", false],
	[{ p50Ns: 19_999, calls: 199 }, `20us (p50 of 199)${LIES}`, true],
	[{ p50Ns: 230, calls: 199 }, `230ns (p50 of 199)${LIES}`, true],
	[null, "not measured", false],
])("a flush of %o is said as %s, and warned of: %s", (flush, text, warned) => {
	expect(flushText(flush)).toBe(text);
	const warning = flushWarning(flush);
	expect(warning !== null).toBe(warned);
	if (warned)
		expect(warning).toMatch(
			/^The disk of Docker's volumes says after \S+ that it has flushed, which is too fast for a disk/,
		);
});
