import { mkdirSync, readdirSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../test-folder.fake.ts";
import { trimBuilds } from "./trim.ts";

const DAY = 24 * 3600 * 1000;
const NOW = 100 * DAY;

/** A cache with builds of these programs, used so many days ago. */
async function cacheWith(
	builds: readonly (readonly [name: string, program: string, daysAgo: number, bytes?: number])[],
) {
	const bin = testFolder();
	for (const [name, program, daysAgo, bytes = 10] of builds) {
		const folder = path.join(bin, name);
		mkdirSync(folder);
		writeFileSync(path.join(folder, program), "");
		truncateSync(path.join(folder, program), bytes);
		writeFileSync(
			path.join(folder, "build.json"),
			JSON.stringify({
				schema: 1,
				go: "go1.26.8",
				mqbench: "1.2.3",
				sha256: { [program]: "0" },
				platform: "linux/amd64",
			}),
		);
		const at = new Date(NOW - daysAgo * DAY);
		utimesSync(path.join(folder, "build.json"), at, at);
	}
	await trimBuilds(bin, NOW);
	return readdirSync(bin).sort();
}

test("of the same programs the three last used are kept, and one of others with them", async () => {
	expect(
		await cacheWith([
			["a", "k6", 9],
			["b", "k6", 5],
			["c", "k6", 7],
			["d", "k6", 6],
			["e", "k6", 8],
			["other", "nsqd", 50],
		]),
	).toEqual(["b", "c", "d", "other"]);
});

test("what a command may be using stays, however many there are", async () => {
	const many = ["a", "b", "c", "d", "e"].map(
		(name, i) => [name, "k6", 0.001 * (i + 1), 200e6] as const,
	);
	expect(await cacheWith(many)).toHaveLength(5);
});

test("of more than 500 MB the last used stay", async () => {
	expect(
		await cacheWith([
			["a", "k6", 2, 200e6],
			["b", "nsqd", 3, 200e6],
			["c", "agent", 4, 200e6],
			["d", "nats-server", 5, 50e6],
		]),
	).toEqual(["a", "b", "d"]);
});

test("what is no build is left alone", async () => {
	const bin = testFolder();
	mkdirSync(path.join(bin, "x.lock"));
	writeFileSync(path.join(bin, "note"), "");
	await trimBuilds(bin, NOW);
	await trimBuilds(path.join(bin, "missing"), NOW);
	expect(readdirSync(bin)).toEqual(["note", "x.lock"]);
});
