import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

export interface Behaviour {
	/** `up` makes its machines, and then does not end before SIGINT. */
	readonly hang?: boolean;
	/** `up` ends with this error, behind the machines. */
	readonly fail?: string;
	/** `destroy` goes on until it may behave without this. */
	readonly held?: boolean;
	/** Value of the output "rig". */
	readonly rig?: unknown;
}

/** For tests: a program that behaves as the command pulumi does, on a separate state folder, and rents nothing. */
export function fakePulumi(folder: string) {
	const bin = path.join(folder, "fake-bin");
	const told = path.join(folder, "told");
	for (const one of [bin, told]) mkdirSync(one, { recursive: true });
	const program = path.join(bin, "pulumi");
	const text = `#!${process.execPath}\nconst TOLD = ${JSON.stringify(told)};\n${SCRIPT}`;
	writeFileSync(program, text, { mode: 0o755 });
	for (const name of ["calls", "signals"]) writeFileSync(path.join(told, name), "");
	writeFileSync(path.join(told, "how"), "{}");
	const lines = (name: string) =>
		readFileSync(path.join(told, name), "utf8").split("\n").filter(Boolean);
	return {
		/** Path of the program. */
		program,
		/** The arguments of its calls, a list each. */
		calls: () => lines("calls").map((line) => JSON.parse(line) as string[]),
		/** The environment at its last call. */
		env: () => JSON.parse(readFileSync(path.join(told, "env"), "utf8")) as Record<string, string>,
		signals: () => lines("signals"),
		behave: (how: Behaviour) => writeFileSync(path.join(told, "how"), JSON.stringify(how)),
	};
}

// --- internal ---

const SCRIPT = String.raw`
const fs = require("node:fs");
const path = require("node:path");
const args = process.argv.slice(2);
const how = JSON.parse(fs.readFileSync(path.join(TOLD, "how"), "utf8"));
if (args[0] === "version") {
	console.log("v3.999.0");
	process.exit(0);
}
fs.appendFileSync(path.join(TOLD, "calls"), JSON.stringify(args) + "\n");
fs.writeFileSync(path.join(TOLD, "env"), JSON.stringify(process.env));
const named = args.indexOf("--stack");
const name = named >= 0 ? args[named + 1] : args.filter((one) => !one.startsWith("-")).at(-1);
// As the real one reads it: escapes count, and # and ? end the path.
const backend = decodeURIComponent(new URL(process.env.PULUMI_BACKEND_URL).pathname);
const file = path.join(backend, name + ".json");
const lock = path.join(backend, name + ".lock");
const settings = path.join(process.cwd(), "Pulumi." + name + ".yaml");
const fail = (words) => {
	console.error("error: " + words);
	process.exit(255);
};
const write = (state) => fs.writeFileSync(file, JSON.stringify(state));
const there = () => fs.existsSync(file) || fail("no stack named '" + name + "' found");
const by = () => {
	const pid = fs.readFileSync(lock, "utf8");
	return pid === "" ? "" : "\n  file://x: created by me@" + require("node:os").hostname() + " (pid " + pid + ") at 2026-01-02T03:04:05Z";
};
const take = () => {
	if (fs.existsSync(lock)) fail("the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete the lock file with 'pulumi cancel'." + by());
	fs.writeFileSync(lock, String(process.pid));
};
let signals = 0;
const command = args[0] + (args[0] === "stack" || args[0] === "config" ? " " + args[1] : "");
switch (command) {
	case "stack select": there(); break;
	case "stack init":
		write({ resources: [] });
		fs.writeFileSync(settings, "encryptionsalt: v1:abc\n");
		break;
	case "config set":
		there();
		fs.appendFileSync(settings, "config: " + JSON.stringify(args) + "\n");
		break;
	case "up": {
		there();
		take();
		write({ resources: ["broker-1"] });
		console.log(" +  pulumi:pulumi:Stack mqbench-x creating (0s)");
		console.log(" +  aws:ec2:Instance broker-1 creating (0s)");
		console.log(" +  aws:ec2:Instance broker-1 created (1s)");
		const done = (error) => {
			fs.rmSync(lock, { force: true });
			if (error) {
				console.log("Diagnostics:\n  aws:ec2:Instance (client-1):\n    error: 1 error occurred:\n    \t* " + error + "\n  pulumi:pulumi:Stack (mqbench-x):\n    error: update failed\n");
				process.exit(255);
			}
			process.exit(0);
		};
		process.on("SIGINT", () => {
			fs.appendFileSync(path.join(TOLD, "signals"), "SIGINT\n");
			if (++signals === 1) setTimeout(() => done("update canceled"), 300);
		});
		fs.writeFileSync(path.join(TOLD, "pid"), String(process.pid));
		if (how.hang) setInterval(() => {}, 1000);
		else setTimeout(() => done(how.fail), 50);
		break;
	}
	case "destroy": {
		there();
		take();
		for (const one of ["SIGINT", "SIGHUP", "SIGTERM"]) process.on(one, () => fs.appendFileSync(path.join(TOLD, "signals"), one + "\n"));
		console.log(" -  aws:ec2:Instance broker-1 deleting (0s)");
		fs.writeFileSync(path.join(TOLD, "destroying"), String(process.pid));
		const held = setInterval(() => {
			if (/"held":true/.test(fs.readFileSync(path.join(TOLD, "how"), "utf8"))) return;
			clearInterval(held);
			write({ resources: [] });
			fs.rmSync(lock, { force: true });
			console.log(" -  aws:ec2:Instance broker-1 deleted (1s)");
		}, 20);
		break;
	}
	case "cancel": there(); fs.rmSync(lock, { force: true }); break;
	case "stack output": {
		there();
		// As the program does it: each host has the keys that it was given.
		const [, told] = /config: (.*)\n$/.exec(fs.readFileSync(settings, "utf8"));
		const { identity, knownHosts } = JSON.parse(JSON.parse(told).find((one) => one.startsWith("{")));
		const whole = (key, value) => (value?.host ? { ...value, identity, knownHosts } : value);
		console.log(JSON.stringify({ rig: how.rig ?? null }, whole));
		break;
	}
	case "stack history": there(); console.log("[]"); break;
	default: fail("unknown command " + command);
}
`;
