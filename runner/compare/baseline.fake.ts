import { type Baseline, Machine } from "../model/comparison.ts";

type Entry = Baseline["runs"][number];

/** For tests: a machine. Change `boot` for another start of it, `cpu` for another machine. */
export function machineWith(parts: Partial<Machine> = {}): Machine {
	const cpu = parts.cpu ?? "Example CPU";
	return Machine.parse({
		fingerprint: `fingerprint of ${cpu}`,
		cpu,
		cores: 2,
		memoryGiB: 8,
		os: "Example Linux 1 x64",
		kernel: "6.1",
		cpuQuotaCores: null,
		boot: "boot 1",
		...parts,
	});
}

/** For tests: a baseline of one system and case, with one run for each value of its figures. */
export function baselineWith(
	figures: Readonly<Record<string, readonly (number | null)[]>>,
	parts: Partial<Omit<Baseline, "runs">> & {
		readonly entry?: Partial<Entry>;
		readonly entries?: (entry: Entry) => Partial<Entry>;
	} = {},
): Baseline {
	const { entry, entries, ...rest } = parts;
	const repeats = Math.max(...Object.values(figures).map((v) => v.length));
	return {
		schema: 1,
		scenario: "example",
		runId: "run-a",
		startedAt: "2026-01-02T03:04:05.000Z",
		mqbench: "0.1.0",
		machine: machineWith(),
		quick: false,
		works: { w1: { load: "1000/s constant" } },
		systems: { nats: { broker: "nats-server 2.15.2" } },
		runs: Array.from({ length: repeats }, (_, i) => {
			const made: Entry = {
				system: "nats",
				case: "256B 1000/s",
				repeat: i + 1,
				work: "w1",
				main: "response",
				closed: false,
				without: null,
				beyond: [],
				weak: [],
				clockBoundNs: null,
				verdict: "pass",
				broker: "nats-server 2.15.2",
				figures: Object.fromEntries(
					Object.entries(figures).map(([name, v]) => [name, v[i] ?? null]),
				),
				...entry,
			};
			return { ...made, ...entries?.(made) };
		}),
		...rest,
	};
}

/** For tests: `n` runs around `factor` times 1 ms, whose logarithms scatter by `sigma` (normal, by Box and Muller). */
export function noisyRuns(n: number, sigma: number, random: () => number, factor = 1): number[] {
	return Array.from({ length: n }, () => {
		const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
		return 1e6 * factor * Math.exp(sigma * normal);
	});
}
