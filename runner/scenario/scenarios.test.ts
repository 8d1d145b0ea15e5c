import { imageAt } from "../brokers/index.ts";
import { MqbenchError } from "../errors.ts";
import { acrossClients, setUpBytes } from "../model/plan.ts";
import { expand } from "../plan/expand.ts";
import { goldenBlocks } from "../tests/golden.fake.ts";
import { loadScenario } from "./load.ts";
import type { Overrides } from "./overrides.ts";
import { shorten } from "./quick.ts";
import { notFresh } from "./rig.ts";
import { RigFile } from "./rig-file.ts";
import type { Scenario } from "./scenario.ts";

interface Given extends Omit<Overrides, "rig"> {
	readonly env?: Record<string, string>;
	readonly platform?: string;
	readonly rig?: object;
	/** Also print the plan. */
	readonly plans?: boolean;
	/** Print all of it, not only what differs from a plain one. */
	readonly whole?: boolean;
}

function scenarioOf(text: string, given: Given): Scenario {
	const { env = {}, platform = "linux", rig, ...overrides } = given;
	const loaded = loadScenario("/bench/s.yaml", text, overrides, env, {
		folder: "/bench",
		fileBytes: () => 1,
		fileText: () => "300",
		platform,
		...(rig && {
			rig: {
				path: "rig.json",
				rig: RigFile.parse({ version: 1, id: "x", brokers: [], ...rig }),
				only: given.only,
			},
		}),
	});
	return given.quick ? shorten(loaded) : loaded;
}

/** Values of a scenario and its plans by path. Traits are printed with the brokers. */
function* valuesOf(scenario: Scenario, plans: boolean): Generator<[string, string]> {
	const { systems, sla, baselineSla, rig, cases, ...rest } = scenario;
	const lines = [...sla, ...baselineSla].map(({ expect: { text, ...expect }, ...of }) => ({
		...of,
		[text]: expect,
	}));
	const about = {
		...rest,
		rig: rig?.id ?? null,
		systems: systems.map(({ traits, ...system }) => ({
			...system,
			title: traits.title,
			imageOnHost: imageAt("host", system),
		})),
		notFresh: systems.flatMap((system) => notFresh(scenario, system)),
		cases: plans ? cases.map(({ name }) => name) : cases,
		lines,
	};
	yield* leaves(about, "");
	const all = plans ? expand(scenario, { runId: "r" }) : [];
	for (const [i, plan] of all.entries())
		yield* leaves(
			{ ...plan, crosses: acrossClients(plan), setUpBytes: setUpBytes(plan) },
			`plan.${i}`,
		);
}

function* leaves(value: unknown, path: string): Generator<[string, string]> {
	const text = JSON.stringify(value) ?? "";
	// Below the top level, what fits on a line is one line.
	const entries =
		typeof value === "object" && value !== null && (text.length > 160 || !path.includes("."))
			? Object.entries(value)
			: [];
	if (entries.length === 0) yield [path, text];
	for (const [key, part] of entries) yield* leaves(part, path === "" ? key : `${path}.${key}`);
}

const PLAIN = "system: nats\nworkload: { rate: 3/s, message: 256B, duration: 9s }\n";

/** How scenarios differ from a plain one. A block starts with its command line and surroundings; a refused one shows the message. */
goldenBlocks(new URL("./golden/scenarios.txt", import.meta.url), (block) => {
	const [options = "", ...text] = block.split("\n");
	const given: Given = JSON.parse(options);
	const { plans = false } = given;
	try {
		const lines = (scenario: Scenario) =>
			[...valuesOf(scenario, plans)].map(([path, value]) => `${path}: ${value}`);
		const plain = new Set(given.whole ? [] : lines(scenarioOf(PLAIN, {})));
		const found = lines(scenarioOf(text.join("\n"), given));
		const all = new Set(found);
		return found
			.filter((line) => {
				// Further cases and plans print how they differ from the first.
				const first = line.replace(/^(cases|plan)\.[1-9]\d*\./, "$1.0.");
				return !plain.has(line) && (first === line || !all.has(first));
			})
			.join("\n");
	} catch (error) {
		if (error instanceof MqbenchError) return error.message;
		throw error;
	}
});
