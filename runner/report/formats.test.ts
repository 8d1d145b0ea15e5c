import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { main } from "../main.ts";
import { fixtureCopy } from "../run/fixture.fake.ts";
import { fakeWorld } from "../world.fake.ts";
import { FIXTURES } from "./hostile.fake.ts";
import { readResult } from "./result-files.ts";

/** All that `mqbench report` prints and writes of a stored run in a job of GitHub Actions. */
async function everything(name: string) {
	const folder = fixtureCopy(name);
	const job = mkdtempSync(join(tmpdir(), "mqbench-formats-"));
	onTestFinished(() => rmSync(job, { recursive: true, force: true }));
	const env = {
		GITHUB_ACTIONS: "true",
		GITHUB_STEP_SUMMARY: join(job, "summary.md"),
		GITHUB_OUTPUT: join(job, "output.txt"),
	};
	const world = fakeWorld({ cwd: folder, env });
	const code = await main(["report", "."], world);
	const file = (path: string) => readFileSync(join(folder, path), "utf8");
	const plain = (text: string) => text.replaceAll(/\s+/g, " ");
	return {
		code,
		result: readResult(folder),
		output: readFileSync(env.GITHUB_OUTPUT, "utf8"),
		commands: world
			.out()
			.split("\n")
			.filter((line) => line.startsWith("::")),
		texts: {
			terminal: plain(world.out()),
			markdown: plain(file("report.md").replaceAll(/\\(.)/g, "$1")),
			comment: plain(file("comment.md").replaceAll(/\\(.)/g, "$1")),
			summary: plain(readFileSync(env.GITHUB_STEP_SUMMARY, "utf8").replaceAll(/\\(.)/g, "$1")),
			junit: plain(file("junit.xml")),
		},
	};
}

const entities = (text: string) =>
	text
		.replaceAll("&lt;", "<")
		.replaceAll("&gt;", ">")
		.replaceAll("&quot;", '"')
		.replaceAll("&amp;", "&");

test.each(FIXTURES)(
	"%s has one verdict, and the same words for each gate, in every format and in what GitHub reads",
	async (name) => {
		const { code, result, output, commands, texts } = await everything(name);
		const { verdict } = result;
		expect(output).toContain(`\n${verdict}\n`);
		expect(output).toContain(`\n${code}\n`);
		for (const text of Object.values(texts)) expect(text).toContain(verdict.toUpperCase());
		const many = result.runs.length >= 4;
		for (const gate of result.gates)
			for (const [format, text] of Object.entries(texts)) {
				// Of many runs the terminal only counts the gates that passed.
				if (format === "terminal" && many && gate.verdict === "pass") continue;
				const said = entities(text);
				for (const part of [gate.sla, gate.measured, gate.why])
					expect(said, format).toContain(part);
			}
		const broken = result.gates.filter((g) => g.verdict !== "pass");
		expect(commands).toHaveLength(broken.length);
		for (const gate of broken)
			expect(commands.some((line) => line.includes(`title=${gate.verdict.toUpperCase()} `))).toBe(
				true,
			);
	},
);
