import { spawn } from "node:child_process";
import { failure } from "../../runner/errors.ts";
import type { Kubernetes } from "../../runner/scenario/scenario.ts";
import { interrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { findOnPath } from "../local/program.ts";
import { defined } from "../machines/link.ts";

/**
 * The user's own kubectl, with its configuration, contexts and logins, as ssh is for hosts: whatever it reaches mqbench reaches.
 */
export interface Kubectl {
	readonly program: string;
	/** Before all other arguments: context and namespace. */
	readonly where: readonly string[];
	readonly env: Readonly<Record<string, string>>;
	/** Runs it to its end, and returns its output. Fails with a KubectlError. */
	run(args: readonly string[], more?: KubectlMore): Promise<string>;
	/** The same, its output parsed as JSON. */
	json(args: readonly string[], more?: KubectlMore): Promise<unknown>;
}

export interface KubectlMore {
	readonly input?: string;
	/** Cancels it. */
	readonly stop?: AbortSignal;
	/** Longer than it may take, ms. */
	readonly limitMs?: number;
}

/** kubectl's own words, without their beginning. */
export class KubectlError extends Error {}

/** Fails if there is no kubectl. Does not contact a cluster. */
export function findKubectl(
	{ env }: Pick<World, "env">,
	{ context, namespace }: Pick<Kubernetes, "context" | "namespace">,
): Kubectl {
	const program = findOnPath("kubectl", env);
	if (program === null)
		throw failure("kubernetes-failed", {
			doing: "use target kubernetes",
			reason: "there is no kubectl on PATH; install it (https://kubernetes.io/docs/tasks/tools/)",
		});
	const where = [
		...(context === null ? [] : ["--context", context]),
		...(namespace === null ? [] : ["--namespace", namespace]),
	];
	const own = defined(env);
	const run = (args: readonly string[], more: KubectlMore = {}) =>
		runToEnd(program, [...where, ...args], own, more);
	return {
		program,
		where,
		env: own,
		run,
		json: async (args, more) => JSON.parse(await run([...args, "--output", "json"], more)),
	};
}

/** What an error of kubectl is to people. */
export function explainKubectl(error: unknown, doing: string): unknown {
	return error instanceof KubectlError
		? failure("kubernetes-failed", { doing, reason: reasonIn(error.message) })
		: error;
}

/** Why kubectl has not done it, from its own words. */
export function reasonIn(words: string): string {
	const known = TROUBLES.find(([says]) => says.test(words));
	return known ? known[1](words) : lastLine(words) || "kubectl says nothing";
}

// --- internal ---

/** A cluster that answers at all answers within this time. */
const LIMIT_MS = 60_000;

function runToEnd(
	program: string,
	args: readonly string[],
	env: Readonly<Record<string, string>>,
	{ input, stop, limitMs = LIMIT_MS }: KubectlMore,
): Promise<string> {
	return new Promise((resolve, reject) => {
		const child = spawn(program, args, {
			env: { ...env },
			stdio: ["pipe", "pipe", "pipe"],
			// The terminal's Ctrl-C reaches only mqbench, which decides what to do.
			detached: true,
		});
		let out = "";
		let err = "";
		let late = false;
		child.stdin.on("error", () => {});
		child.stdout.setEncoding("utf8").on("data", (text) => {
			out += text;
		});
		child.stderr.setEncoding("utf8").on("data", (text) => {
			err += text;
		});
		const give = () => child.kill("SIGKILL");
		const limit = setTimeout(() => {
			late = true;
			give();
		}, limitMs);
		stop?.addEventListener("abort", give, { once: true });
		if (stop?.aborted) give();
		child.once("error", (error) => {
			err = error.message;
		});
		child.once("close", (code) => {
			clearTimeout(limit);
			stop?.removeEventListener("abort", give);
			if (stop?.aborted) reject(interrupted(stop));
			else if (late) reject(new KubectlError(`the cluster has not answered within ${limitMs} ms`));
			else if (code === 0) resolve(out);
			else reject(new KubectlError(err.trim() || out.trim()));
		});
		child.stdin.end(input ?? "");
	});
}

function lastLine(words: string): string {
	const line = words.trim().split("\n").at(-1)?.trim() ?? "";
	return line.replace(/^error: |^Error from server(?: \(\w+\))?: /i, "");
}

/** `says` in kubectl's words, and the sentence for people. */
const TROUBLES: readonly (readonly [RegExp, (words: string) => string])[] = [
	[
		/cannot (\S+) resource "([^"]+)"/,
		(words) => {
			const [, verb = "", resource = ""] = /cannot (\S+) resource "([^"]+)"/.exec(words) ?? [];
			return `the account may not ${verb} ${resource}; \`npx mqbench plan <scenario> --target kubernetes\` prints the rights that are needed`;
		},
	],
	[/exceeded quota/, (words) => `the namespace's quota has no room (${lastLine(words)})`],
	[
		/context "?([^"\s]+)"? does not exist|no context exists with the name/,
		() => "kubectl knows no such context; `kubectl config get-contexts` lists them",
	],
	[
		/namespaces "([^"]+)" not found/,
		(words) =>
			`there is no namespace ${/namespaces "([^"]+)" not found/.exec(words)?.[1] ?? ""}; create it, or write another one under kubernetes`,
	],
	[
		/Unauthorized|must be logged in/i,
		() => "the cluster refuses the login; does `kubectl get pods` work?",
	],
	[
		/connection refused|no such host|i\/o timeout|was refused|network is unreachable|TLS handshake timeout|EOF$/i,
		(words) => `the cluster cannot be reached (${lastLine(words)})`,
	],
	[
		/current-context (?:must exist|is not set)|invalid configuration|localhost:8080/,
		() => "kubectl knows no cluster; set KUBECONFIG, or write kubernetes: { context: ... }",
	],
];
