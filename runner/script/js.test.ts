import { expect, test } from "vitest";
import { comment, js, raw } from "./js.ts";

test.each([
	"plain",
	"it's",
	'"quoted"',
	"back\\slash",
	"`$" + "{code}`",
	"line\nend\r\u2028\u2029",
	"*/ // <!-- </script>",
	"\u0000\ud800",
	"日本",
])("the literal of %j evaluates to the same text", (text) => {
	expect(new Function(`return ${js`${text}`}`)()).toBe(text);
});

test("objects and lists evaluate to themselves, whatever their keys", () => {
	const value = {
		plain: 1,
		"with dash": [1, "two", null, true],
		["__proto__"]: { nested: -0.5 },
		"'": {},
	};
	expect(new Function(`return ${js`${value}`}`)()).toEqual(value);
});

test("writes objects as a person would", () => {
	expect(js`const a = ${{ b: { c: "d" } }};`).toBe("const a = {\n  b: {\n    c: 'd',\n  },\n};");
});

test("takes raw code as it is, and never makes a number of what is none", () => {
	expect(js`a ${raw("+ b")}`).toBe("a + b");
	expect(() => js`${Number.NaN}`).toThrow(RangeError);
});

test("a comment is one line", () => {
	expect(js`${comment("a\nb\u2028c\r\n*/d")}`).toBe("// a b c * /d");
});
