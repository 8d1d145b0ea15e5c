import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { fakeWorld } from "../world.fake.ts";
import { calibrate } from "./calibrate.ts";

const two =
	"systems: { old: nats, new: nats }\nworkload: { rate: 10/s, message: 256B, duration: 1s }\n";
const search =
	"system: nats\nworkload: { rate: 10/s, message: 256B, find: max-rate }\nsla: [p99 < 5ms]\n";

describe("calibrate refuses before anything runs", () => {
	const few = "calibrate needs at least 8 runs; write --runs 8 or more";
	test.each<[string, string, object, string]>([
		["too few runs", two, { runs: "7" }, `--runs 7: ${few}`],
		["runs that are no number", two, { runs: "many" }, `--runs many: ${few}`],
		[
			"what is no result",
			two,
			{ quick: true },
			"--quick gives no results to calibrate with; shorten the runs with --set workload.duration=10s",
		],
		[
			"a search",
			search,
			{},
			"s.yaml: a search (find) never repeats a rate; calibrate a scenario with a fixed rate",
		],
	])("%s", async (_, text, args, message) => {
		const cwd = testFolder();
		writeFileSync(path.join(cwd, "s.yaml"), text);
		await expect(
			calibrate({ path: "s.yaml", runs: "10", ...args }, fakeWorld({ cwd })),
		).rejects.toMatchObject({ code: "usage", exit: 2, message });
	});
});
