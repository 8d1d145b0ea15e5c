import { existsSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { hasProcess, SystemOptions, variable } from "../brokers/index.ts";
import { failure } from "../errors.ts";
import type { MainPattern } from "../model/load.ts";
import { reasonOf } from "../reason.ts";
import { Name } from "../scenario/schema.ts";
import { shellWord } from "../shell.ts";
import type { World } from "../world.ts";
import type { Answers } from "./answers.ts";
import type { Described } from "./systems.ts";

export const DEFAULT_FILE = "my-scenario.yaml";

/** `given` may lack .yaml or be a folder. The result is relative to the current folder, like `given`. */
export function newFile(given: string, { cwd }: Pick<World, "cwd">): string {
	const isFolder = statSync(path.resolve(cwd, given), { throwIfNoEntry: false })?.isDirectory();
	const wanted = isFolder || /[/\\]$/.test(given) ? path.join(given, DEFAULT_FILE) : given;
	const name = path.basename(wanted).replace(/\.ya?ml$/, "");
	const named = Name.safeParse(name);
	if (!named.success)
		throw failure("usage", { message: `${given}: ${named.error.issues[0]?.message}` });
	const file = path.join(path.dirname(wanted), `${name}.yaml`);
	if (existsSync(path.resolve(cwd, file)))
		throw failure("usage", {
			message: `${file} exists already and stays as it is; give another name: npx mqbench init <path>`,
		});
	return file;
}

/** Never overwrites a file. */
export async function write(to: string, text: string, { cwd }: Pick<World, "cwd">): Promise<void> {
	const where = path.resolve(cwd, to);
	try {
		await mkdir(path.dirname(where), { recursive: true });
		await writeFile(where, text, { flag: "wx" });
	} catch (error) {
		throw failure("scenario-unwritable", { path: to, reason: reasonOf(error) });
	}
}

/** `file` is relative to the current folder. */
export function scenarioText(file: string, system: Described, answers: Answers): string {
	const { pattern, rate, message, duration, p99 } = answers;
	// A backlog has no response time: its producers only see acknowledgements.
	const metric = pattern === "backlog" ? "ack " : "";
	return `# yaml-language-server: $schema=./scenario.schema.json
# See what it will do: npx mqbench plan ${shellWord(file)}
# Run it: npx mqbench ${shellWord(file)}
name: ${path.basename(file, ".yaml")}
${systemLines(system, answers)}
workload:
  pattern: ${pattern} # ${MEANING[pattern]}
  rate: ${rate} # open loop: sent at this rate whatever the broker does
  message: ${message}
  duration: ${duration} # after the warm-up
${more(pattern, system)}sla: # decides the exit code: 0 met, 99 breached
  - ${metric}p99 < ${p99}
${lossOf(system, pattern)}`;
}

// --- internal ---

function systemLines({ word, name, written }: Described, { url }: Answers) {
	const own = word === name;
	const server = hasProcess(SystemOptions.parse({ broker: name }))
		? "mqbench starts the broker; in a container with --target docker."
		: "Clients connect to each other, without a server.";
	if (url === "")
		return `# ${server} To compare several, write systems: instead.
system: ${own ? name : written}`;
	const text = /^[A-Z][A-Z0-9_]*$/.test(url) ? variable(url) : url;
	return `target: existing # your own broker; mqbench deletes only what it made
system: ${written.replace(/ }$/, `, url: "${text}" }`)}`;
}

const MEANING: Readonly<Record<MainPattern, string>> = {
	"round-trip": "each connection receives what it sent",
	"request-reply": "a responder sends each message back",
	"fan-out": "every subscriber gets every message",
	"work-queue": "consumers share the messages; each message goes to one",
	publish: "no consumers; measures until the broker acknowledges",
	backlog: "consumers pause, messages pile up, then they catch up",
	connect: "each message is a new connection, which receives it",
};

const CONSUMERS = 2;

function more(pattern: MainPattern, { traits }: Described): string {
	if (pattern === "fan-out") return "  subscriptions: 10 # subscribers\n";
	if (pattern === "request-reply") return "  consumers: 1 # responders\n";
	if (pattern === "backlog") return "  backlog: 5000 # messages that pile up\n";
	if (pattern === "connect") return "  hold: 100 # connections that stay open\n";
	if (pattern !== "work-queue") return "";
	if (traits.cannotShare) return "  consumers: 1 # each gets every message\n";
	return `  consumers: ${CONSUMERS}\n${traits.partitions ? `  partitions: ${CONSUMERS} # at least one for each consumer, or some get nothing\n` : ""}`;
}

function lossOf({ traits }: Described, pattern: MainPattern): string {
	if (pattern === "publish") return "  - failed == 0\n";
	return `  - lost == 0 # ${traits.acks ? "acknowledged, but not received" : "sent, but not received: this system acknowledges nothing"}\n`;
}
