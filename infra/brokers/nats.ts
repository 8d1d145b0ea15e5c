import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Level } from "../../runner/plan/plan.ts";
import type { NatsOptions } from "../../runner/scenario/brokers/nats.ts";
import type { Command, LocalBroker, Setup } from "../local/local-broker.ts";
import { findProgram } from "../local/program.ts";

/**
 * nats-server as processes of their own: natsd, the embedded default, or somebody else's build (`binary`). Both read the same
 * configuration file and say the same words.
 */
export const nats: LocalBroker = {
	async launch(setup) {
		const options = setup.system.options as NatsOptions;
		const nodes = options.nodes ?? 1;
		const program =
			setup.system.binary === null
				? setup.binaries.natsd
				: findProgram(setup.system, [], INSTALL, setup.world.env);
		const ports = await setup.ports(nodes === 1 ? 1 : 3 * nodes);
		const clients = ports.slice(0, nodes);
		const monitors = ports.slice(2 * nodes);
		const common = settings(setup, options);
		const commands: Command[] = clients.map((port, i) => {
			const file = path.join(setup.store, `nats-${i + 1}.conf`);
			const own = {
				listen: `${HOST}:${port}`,
				server_name: `mqbench-${i + 1}`,
				...(options.mode === "jetstream"
					? { "jetstream.store_dir": path.join(setup.store, `node-${i + 1}`) }
					: {}),
				...(nodes === 1 ? {} : member(i, nodes, ports)),
			};
			writeFileSync(file, configuration({ ...own, ...common.all }));
			return { argv: [program, "-c", file] };
		});
		let version = "";
		return {
			before: [],
			nodes: commands,
			ready(line) {
				version ||= /\bVersion:\s+v?(\d\S*)$/.exec(line)?.[1] ?? "";
				return /\] Server is ready$/.test(line);
			},
			...(nodes === 1 ? {} : { healthy: () => haveLeader(monitors) }),
			url: () => clients.map((port) => `nats://${HOST}:${port}`).join(","),
			version: () => version && `nats-server ${version}`,
			settings: common.shown,
			startMs: 30_000,
			stopMs: 5_000,
			portTaken: (log) => /address already in use/i.test(log),
		};
	},
};

// --- internal ---

const HOST = "127.0.0.1";

type Value = string | number | boolean | readonly string[];

const INSTALL = {
	linux: "https://github.com/nats-io/nats-server/releases",
	darwin: "brew install nats-server",
	other: "https://github.com/nats-io/nats-server/releases",
};

/** The server's part of each level: how often the file store is flushed. In memory there is nothing to flush. */
const SYNC: Readonly<Record<Exclude<Level, "memory">, string>> = {
	os: "24h",
	interval: "1s",
	fsync: "always",
};

/** The server's own, for larger messages than these only: what is measured is the server as it comes. */
const MAX_PAYLOAD = 1024 ** 2;
/** Room for headers (of deduplication) beside the payload. */
const HEADERS = 4096;

/** What durability, message size and the scenario's own `config` come to, and the part of it that reports show. */
function settings(
	{ level, messageBytes }: Setup,
	{ mode, dedup, storage, config = {} }: NatsOptions,
): { all: Record<string, Value>; shown: Record<string, string> } {
	const files =
		mode === "jetstream" && level !== "memory" && storage !== "memory";
	const all: Record<string, Value> = {};
	const needed = messageBytes + (dedup ? HEADERS : 0);
	if (needed > MAX_PAYLOAD) all.max_payload = needed;
	if (files && level !== null) all["jetstream.sync_interval"] = SYNC[level];
	Object.assign(all, config);
	const shown = Object.fromEntries(
		Object.entries(all).map(([key, value]) => [key, String(value)]),
	);
	if (files && !hasSync(all)) shown["jetstream.sync_interval"] = "2m (default)";
	return { all, shown };
}

function hasSync(all: Readonly<Record<string, Value>>): boolean {
	return "jetstream.sync_interval" in all || "jetstream.sync" in all;
}

/** A member of the cluster: client ports first, then those of routes, then those of monitoring, which tells of the leader. */
function member(
	index: number,
	nodes: number,
	ports: readonly number[],
): Record<string, Value> {
	const routes = ports.slice(nodes, 2 * nodes);
	return {
		http: `${HOST}:${ports[2 * nodes + index]}`,
		"cluster.name": "mqbench",
		"cluster.listen": `${HOST}:${routes[index]}`,
		"cluster.routes": routes.map((port) => `nats://${HOST}:${port}`),
	};
}

/** Every node sees the whole cluster and its JetStream leader; without JetStream: every route is up. */
async function haveLeader(monitors: readonly number[]): Promise<boolean> {
	const answers = await Promise.all(
		monitors.map(async (port) => {
			const get = async (what: string) =>
				(await (
					await fetch(`http://${HOST}:${port}/${what}`, {
						signal: AbortSignal.timeout(2_000),
					})
				).json()) as Record<string, unknown>;
			const jsz = await get("jsz");
			if (jsz.disabled === true) {
				const { num_routes } = await get("routez");
				return Number(num_routes) >= monitors.length - 1;
			}
			const meta = jsz.meta_cluster as
				| { leader?: string; cluster_size?: number }
				| undefined;
			const { status } = await get("healthz");
			return (
				Boolean(meta?.leader) &&
				meta?.cluster_size === monitors.length &&
				status === "ok"
			);
		}),
	);
	return answers.every(Boolean);
}

/** nats-server's own format; "jetstream.sync_interval" is a key within a block. */
function configuration(all: Readonly<Record<string, Value>>): string {
	const blocks = new Map<string, string[]>();
	const top: string[] = [];
	for (const [key, value] of Object.entries(all)) {
		const dot = key.indexOf(".");
		const line = `${key.slice(dot + 1)}: ${text(value)}`;
		if (dot < 0) top.push(line);
		else
			blocks.set(key.slice(0, dot), [
				...(blocks.get(key.slice(0, dot)) ?? []),
				`  ${line}`,
			]);
	}
	return `${[
		...top,
		...[...blocks].map(([name, lines]) => `${name} {\n${lines.join("\n")}\n}`),
	].join("\n")}\n`;
}

/** Sizes ("8MB") stand without quotes, durations ("1m") must not: the server reads 1m without quotes as a million. */
function text(value: Value): string {
	if (Array.isArray(value)) return JSON.stringify(value);
	if (typeof value === "string" && /^\d+([KMGT]|[KMGT]i?B)$/i.test(value))
		return /^\d+[kmgt]$/.test(value) ? JSON.stringify(value) : value;
	return JSON.stringify(value);
}
