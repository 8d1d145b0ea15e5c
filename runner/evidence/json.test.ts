import { expect, test } from "vitest";
import { z } from "zod";
import { lineParser } from "./json.ts";

const Line = z.strictObject({
	type: z.literal("tick"),
	sent: z.int().nonnegative(),
	queue: z.array(z.int()),
	late: z.int().default(0),
	parts: z.array(z.strictObject({ name: z.string(), n: z.int() })),
});

test("lines of one shape are what the schema makes of each of them: order of fields, defaults and mistakes", () => {
	const parse = lineParser(Line);
	for (const text of [
		'{"sent":1,"type":"tick","queue":[1,2],"parts":[{"n":1,"name":"a1"}]}',
		'{"sent":20,"type":"tick","queue":[30,4],"parts":[{"n":5,"name":"a7"}]}',
		'{"sent":20,"type":"tick","queue":[3],"parts":[{"n":-5,"name":"b"}]}',
		'{"sent":20,"type":"tick","queue":[],"parts":[],"late":8}',
	]) {
		const { line } = parse(text);
		expect(JSON.stringify(line)).toBe(JSON.stringify(Line.parse(JSON.parse(text))));
	}
	expect(parse('{"sent":-1,"type":"tick","queue":[1,2],"parts":[]}')).toMatchObject({
		line: null,
		reason: expect.stringContaining("sent: "),
	});
	expect(parse('{"sent":1')).toEqual({ line: null, reason: "no JSON" });
});

test("a digit in a text, a 0 and a number that is not exact are no digits like others", () => {
	const parse = lineParser(
		z.strictObject({ cores: z.int().positive(), of: z.record(z.string(), z.string()) }),
	);
	expect(parse('{"cores":4,"of":{"a1":"x1"}}').reason).toBeNull();
	expect(parse('{"cores":5,"of":{"a2":"x2"}}').line).toEqual({ cores: 5, of: { a2: "x2" } });
	expect(parse('{"cores":0,"of":{"a1":"x1"}}').reason).toContain("cores");
	expect(parse(`{"cores":${"9".repeat(20)},"of":{"a1":"x1"}}`).line).toBeNull();
});
