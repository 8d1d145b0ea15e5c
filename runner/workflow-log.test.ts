import { expect, test } from "vitest";
import { HOSTILE } from "./render/hostile.fake.ts";
import { guarded, issue, withoutCommands } from "./workflow-log.ts";
import { type FakeWorld, fakeWorld } from "./world.fake.ts";

/**
 * As actions/runner reads commands: StreamReader.ReadLine ends lines at CR, LF and CR LF; TryParseV2 trims blanks and wants `::` first;
 * TryParse finds `##[` anywhere. Letters without width do not count, the worst case of comparing by culture.
 */
function commandsIn(text: string): string[] {
	return text
		.split(/\r\n|\r|\n/)
		.map((line) => line.replaceAll(/[\p{C}\p{M}]/gu, ""))
		.filter((line) => /^\s*::/.test(line) || line.includes("##["));
}

const ATTACKS = [
	"::error file=x::forged",
	"   \t::add-mask::x",
	"\u00a0\u2028::x",
	"a\n::x",
	"a\r::x",
	"a\r\n \r\n  ::x",
	":::x",
	"::::x",
	":\n::x",
	":\n:\n::x\n::y",
	"\u200b::x",
	":\u200b:x",
	"\u00ad:\u0301:x",
	"a ##[error]x",
	"###[error]x",
	"#\u200b#[error]x",
	"##\u200b[error]x",
	"#\n##[x]",
	"\u001b::x",
	...HOSTILE,
];

const github = () => fakeWorld({ env: { GITHUB_ACTIONS: "true" } });

test.each(ATTACKS)("%j becomes no command", (text) => {
	expect(commandsIn(withoutCommands(text))).toEqual([]);
});

test.each(ATTACKS)("%j in two pieces becomes none either", (text) => {
	for (let at = 0; at <= text.length; at++) {
		const world = github();
		const { stdout } = guarded(world);
		stdout.write(text.slice(0, at));
		stdout.write(text.slice(at));
		expect([at, commandsIn(world.out())]).toEqual([at, []]);
	}
});

test("every text of such letters becomes no command, in whatever pieces it comes", () => {
	const letters = [":", ":", "#", "#", "[", "\n", "\r", " ", "\u200b", "x"];
	let seed = 1;
	const next = (n: number) => {
		seed = (seed * 48_271) % 2_147_483_647;
		return seed % n;
	};
	for (let i = 0; i < 20_000; i++) {
		const world = github();
		const { stdout } = guarded(world);
		for (let piece = 0; piece < 4; piece++)
			stdout.write(Array.from({ length: next(5) }, () => letters[next(10)]).join(""));
		expect(commandsIn(world.out())).toEqual([]);
	}
});

test("all else stays as it is, and what is taken apart differs by blanks only", () => {
	const plain = "p99 a::b\n  x: y\n# 1 [a]\n\u001b[31mred\u001b[0m\n::";
	expect(withoutCommands(plain.slice(0, -3))).toBe(plain.slice(0, -3));
	for (const text of ATTACKS)
		expect(withoutCommands(text).replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
	expect(withoutCommands("  ::error::x")).toBe("  : :error::x");
	expect(withoutCommands("a ##[error]x")).toBe("a ## [error]x");
});

test("stdout and stderr are guarded in a job of GitHub Actions, and nowhere else", () => {
	const there = github();
	const world = guarded(there);
	world.stdout.write("::a::b\n");
	world.stderr.write("::a::b\n");
	expect(there.out() + there.err()).toBe(": :a::b\n: :a::b\n");
	const here = fakeWorld();
	expect(guarded(here)).toBe(here);
});

test("commands of ours pass, once guarded or twice", () => {
	const there: FakeWorld = github();
	const world = guarded(guarded(there));
	issue(world.stdout, "::warning::x");
	issue(there.stderr, "::warning::y");
	expect(there.out()).toBe("::warning::x\n");
	expect(there.err()).toBe("::warning::y\n");
});
