import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parseSums } from "../../../infra/binaries/sums.ts";
import { pinned, pinsOf, pom, pomVersion } from "./jars.ts";

const text = readFileSync(pom, "utf8");
const property = (name: string) =>
	new RegExp(`<${name}>(.*)</${name}>`).exec(text)?.[1];

test("the pom names the version of the image, and its jars are pinned", () => {
	expect(property("kafka")).toBe(pomVersion);
	const pins = parseSums(readFileSync(pinned() ?? "", "utf8"));
	expect([...pins.keys()]).toEqual(
		expect.arrayContaining([
			`kafka_2.13-${pomVersion}.jar`,
			`kafka-clients-${pomVersion}.jar`,
			`kafka-tools-${pomVersion}.jar`,
			`log4j-core-${property("log4j")}.jar`,
			`log4j-slf4j-impl-${property("log4j")}.jar`,
		]),
	);
	// All that the pom brings: an e2e test has Maven fetch it.
	expect(pins.size).toBeGreaterThan(40);
});

test("every file of pins is of a version, and has a sum in each line", () => {
	const room = path.dirname(pom);
	const files = readdirSync(room).filter((file) => file.endsWith(".sha256"));
	expect(files).toContain(path.basename(pinsOf(pomVersion)));
	for (const file of files) {
		const lines = readFileSync(path.join(room, file), "utf8").split("\n");
		expect(parseSums(lines.join("\n")).size).toBe(lines.length - 1);
		expect(lines.at(-1)).toBe("");
	}
});

test("a version that nobody has pinned has no pins", () => {
	expect(pinned("0.0.1")).toBeNull();
});
