import { expect, test, vi } from "vitest";

// All that a new broker takes in TypeScript: its room, and one line in rooms.ts.
vi.mock("./rooms.ts", async (rooms) => ({
	...(await rooms<object>()),
	carrier: (await import("../tests/made-up-broker/index.ts")).carrier,
}));

const { brokersTable, systemsTable } = await import(
	"../scenario/systems-table.ts"
);
const { loadScenario } = await import("../scenario/load.ts");
const { questions } = await import("../init/answers.ts");
const { brokerChecks } = await import("../doctor/brokers.ts");
const { SystemOptions, processes, realBrokers } = await import("./index.ts");
const { imageOf } = await import("./image.ts");

const scenario = (system: string, pattern = "round-trip") =>
	`name: birds\nsystem: ${system}\nworkload: { pattern: ${pattern}, rate: 10/s, message: 64B, duration: 5s }\nsla: ["lost == 0"]\n`;

test("a broker that is a room and one line has a place in scenarios, their mistakes and the tables", () => {
	const [system] = loadScenario("a.yaml", scenario("carrier")).systems;
	expect(system?.options).toMatchObject({ broker: "carrier", pigeons: 3 });
	expect(() =>
		loadScenario("a.yaml", scenario("{ broker: carrier, pigeons: many }")),
	).toThrow(/pigeons must be a .*number/);
	expect(() => loadScenario("a.yaml", scenario("carrier", "fan-out"))).toThrow(
		/pigeons fly to one loft/,
	);
	expect(() => loadScenario("a.yaml", scenario("pigeon"))).toThrow(
		/write carrier/,
	);
	expect(systemsTable()).toContain("`{ broker: carrier }`");
	expect(brokersTable()).toContain(
		"| `carrier` | a loft | `carrier:1.0` | 1 |",
	);
});

test("it is asked for by init, looked for by doctor, and can be started everywhere", () => {
	expect(questions[0]?.ask({}, [])).toContain("carrier");
	expect(brokerChecks.map(({ name }) => name)).toContain("Carrier");
	expect(realBrokers).toContain("carrier");
	expect(processes.carrier).toBeTruthy();
	const options = SystemOptions.parse({ broker: "carrier", version: "0.9" });
	expect(imageOf({ image: null, options })).toBe("carrier:0.9");
});
