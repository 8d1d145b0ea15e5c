import path from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Result, Run } from "../../model/result.ts";
import { resultOf, run, temporaryFolder } from "../e2e/mqbench.ts";
import { ownNats } from "../e2e/own-nats.ts";
import { packFiles, packTable } from "../pack/pack.ts";

/** Met, breached, undecided, or the machine too busy: but never a mistake, a bug or a broker that does not start. */
const VERDICTS = [0, 99, 6, 4];

const results: Result[] = [];
afterAll(() => void process.stdout.write(`\n${packTable(results)}\n`));

test.each(
	packFiles().map((file) => [path.basename(file, ".yaml"), file] as const),
)(
	"%s comes to a verdict, and every message is accounted for",
	async (name, file) => {
		const out = path.join(temporaryFolder(), "out");
		const env =
			name === "existing-nats" ? { NATS_URL: (await ownNats()).url } : {};
		const { code, err } = await run(["run", file, "--quick", "--out", out], {
			env,
		});
		expect(VERDICTS, err).toContain(code);
		const result = resultOf(out);
		results.push(result);
		expect(result.quick).toBe(true);
		for (const one of result.runs) accountedFor(one);
	},
);

// --- internal ---

/** What must add up (reports/README.md, "Counts"), of warm-up and window; copies of a fan-out are for every subscriber. */
function accountedFor(one: Run): void {
	const where = `${one.system}, ${one.case}`;
	expect(one.state, where).toBe("complete");
	expect(one.verdict, where).not.toBe("error");
	for (const scope of [one, one.warmup]) {
		const { intended, notOffered, sent, acked, failed, unknown } = scope;
		expect((sent ?? 0) + (notOffered ?? 0), where).toBe(intended);
		if (acked !== null)
			expect(acked + (failed ?? 0) + (unknown ?? 0), where).toBe(sent);
		const { received, lost } = scope;
		if (received === null || lost === null) continue;
		const promised = acked ?? (sent ?? 0) - (failed ?? 0);
		// What came without its acknowledgement is received as well.
		expect(received + lost, where).toBeGreaterThanOrEqual(
			promised * one.load.subscriptions,
		);
	}
}
