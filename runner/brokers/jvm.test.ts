import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parseSums } from "../../infra/programs/sums.ts";
import { brokers } from "./index.ts";
import { pinned, pinsOf, pomOf } from "./jvm.ts";

const all = Object.values(brokers).flatMap(({ jars = [] }) => jars);

describe.each(all)("jars of $title", (jars) => {
	const text = readFileSync(pomOf(jars), "utf8");
	const property = (name: string) => new RegExp(`<${name}>(.*)</${name}>`).exec(text)?.[1];

	test("the pom names their version, and what it names is pinned", () => {
		expect(property(jars.name)).toBe(jars.version);
		const pins = parseSums(readFileSync(pinned(jars) ?? "", "utf8"));
		const named = [
			...text.matchAll(/<artifactId>(.*)<\/artifactId>\s*<version>\$\{(.*)\}<\/version>/g),
		].map(([, artifact, version = ""]) => `${artifact}-${property(version)}.jar`);
		expect([...pins.keys()]).toEqual(expect.arrayContaining(named));
		// Includes their dependencies: an e2e test has Maven fetch them.
		expect(pins.size).toBeGreaterThan(5 * named.length);
	});

	test("every file of pins is of a version, and has a sum in each line", () => {
		const folder = path.dirname(pomOf(jars));
		const files = readdirSync(folder).filter((file) => file.endsWith(".sha256"));
		expect(files).toContain(path.basename(pinsOf(jars)));
		for (const file of files) {
			const lines = readFileSync(path.join(folder, file), "utf8").split("\n");
			expect(parseSums(lines.join("\n")).size).toBe(lines.length - 1);
			expect(lines.at(-1)).toBe("");
		}
	});

	test("a version that nobody has pinned has no pins", () => {
		expect(pinned(jars, "0.0.1")).toBeNull();
	});
});
