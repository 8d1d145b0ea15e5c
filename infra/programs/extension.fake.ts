import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { packageFolder } from "../../runner/package.ts";
import { testFolder } from "../test-folder.fake.ts";

export const MANIFEST = {
	contract: 1,
	broker: "mybroker",
	title: "My Broker",
	description: "A broker that nobody else has.",
	urls: { mybroker: 7000 },
	options: {
		properties: {
			prefetch: {
				type: "integer",
				minimum: 1,
				maximum: 1000,
				default: 100,
				description: "Most unacknowledged messages.",
			},
			ackWait: {
				type: "string",
				format: "mqbench-duration",
				default: "30s",
				description: "Redelivered after this.",
			},
			buffer: { type: "string", format: "mqbench-size", description: "Of a connection." },
			mode: { enum: ["queue", "topic"], default: "queue", description: "Kind of destination." },
		},
	},
	traits: {
		groupOrdered: true,
		keys: true,
		redeliverAfter: "30s",
		cannot: { "work-queue": "all get all" },
	},
	durability: { own: "memory" },
	local: { command: ["node", "{module}/server.mjs", "{port}", "{dir}"] },
};

/** For tests: a driver's module in a folder `xk6-mybroker` beside `scenario.yaml`, whose server only listens. Its driver is noop's. */
export function extension(
	manifest: unknown = MANIFEST,
	files: Readonly<Record<string, string>> = {},
	folder = testFolder(),
): string {
	const there = path.join(folder, "xk6-mybroker");
	mkdirSync(there, { recursive: true });
	const noop = (name: string) =>
		readFileSync(path.join(packageFolder, "extensions/xk6-noop", name), "utf8").replaceAll(
			"noop",
			"mybroker",
		);
	const all = {
		"go.mod": noop("go.mod").replace(/^module .*$/m, "module example.com/xk6-mybroker"),
		"register.go": noop("register.go"),
		"mybroker.go": noop("noop.go").replace("&struct{}{}", OPTIONS),
		"server.mjs": SERVER,
		"mqbench.json": typeof manifest === "string" ? manifest : JSON.stringify(manifest),
		...files,
	};
	for (const [name, text] of Object.entries(all)) writeFileSync(path.join(there, name), text);
	return folder;
}

/** For tests: a scenario beside that module. */
export function scenarioWith(folder: string, system = "mybroker", more = ""): string {
	const file = path.join(folder, "scenario.yaml");
	writeFileSync(
		file,
		`extensions: [{ path: ./xk6-mybroker }]
system: ${system}
workload: { pattern: round-trip, rate: 500/s, message: 64B, warmup: 1s, duration: 2s }
sla: [lost == 0]
${more}`,
	);
	return file;
}

// --- internal ---

/** Unknown fields are refused, so these are all that the driver gets. */
const OPTIONS = `&struct {
		Prefetch int \`json:"prefetch"\`
		AckWait int64 \`json:"ackWaitNs"\`
		Buffer int \`json:"buffer"\`
		Mode string \`json:"mode" known:"queue topic"\`
	}{}`;

const SERVER = `import { createServer } from "node:net";
import { writeFileSync } from "node:fs";
const [port, folder] = process.argv.slice(2);
if (!import.meta.url.includes("/module-mybroker/")) throw new Error("this is not the copy that was hashed");
writeFileSync(\`\${folder}/journal\`, "");
createServer((from) => from.on("error", () => {}).resume()).listen(Number(port), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
`;
