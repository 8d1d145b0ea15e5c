import { expect, test, vi } from "vitest";

// A new broker takes only a definition and one line in definitions.ts.
vi.mock("./definitions.ts", async (definitions) => ({
	...(await definitions<object>()),
	lines: (await import("../tests/made-up-broker/index.ts")).lines,
}));

const { brokersTable, systemsTable } = await import("../scenario/reference.fake.ts");
const { loadScenario } = await import("../scenario/load.ts");
const { questions } = await import("../init/answers.ts");
const { checks } = await import("../doctor/checks.ts");
const { SystemOptions, imageOf, processes, realBrokers } = await import("./index.ts");

const scenario = (system: string, pattern = "round-trip") =>
	`name: lines\nsystem: ${system}\nworkload: { pattern: ${pattern}, rate: 10/s, message: 64B, duration: 5s }\nsla: ["lost == 0"]\n`;

test("a broker that is a definition and one line has a place in scenarios, their mistakes and the tables", () => {
	const [system] = loadScenario("a.yaml", scenario("lines")).systems;
	expect(system?.options).toMatchObject({ broker: "lines", noDelay: true });
	expect(() => loadScenario("a.yaml", scenario("{ broker: lines, noDelay: many }"))).toThrow(
		/noDelay must be/,
	);
	expect(() => loadScenario("a.yaml", scenario("lines", "work-queue"))).toThrow(
		/whoever listens gets all messages/,
	);
	expect(() => loadScenario("a.yaml", scenario("telegraph"))).toThrow(/write lines/);
	expect(systemsTable()).toContain("`{ broker: lines }`");
	expect(brokersTable()).toContain("| `lines` | a post office | `lines:1.0` | 1 |");
});

test("it is asked for by init, looked for by doctor, and can be started everywhere", () => {
	expect(questions[0]?.ask({}, [])).toContain("lines");
	expect(checks.map(({ name }) => name)).toContain("Lines");
	expect(realBrokers).toContain("lines");
	expect(processes.lines).toBeTruthy();
	const options = SystemOptions.parse({ broker: "lines", version: "0.9" });
	expect(imageOf({ image: null, options })).toBe("lines:0.9");
});
