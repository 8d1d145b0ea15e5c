import path from "node:path";
import {
	brokerOf,
	example,
	hasProcess,
	type SystemOptions,
	secretsOf,
	variable,
} from "../brokers/index.ts";
import { type BrokerPlace, ON_HOSTS, targetTraits } from "../model/targets.ts";
import { hide, maskUrls } from "../secrets.ts";
import { tell } from "../text/tell.ts";
import { metricsMistake } from "./metrics.ts";
import { type Context, type Path, reporter } from "./problem.ts";
import { onHosts, rigBroker } from "./rig.ts";
import { checkSettings, checkTarget, isYours } from "./rules/place.ts";
import type { System } from "./scenario.ts";
import type { ScenarioFile } from "./schema.ts";
import { type ResolvedUrl, resolveUrl } from "./variables.ts";

export type PlacedSystem = System & { readonly path: Path };

export function resolveSystems(
	{ system, systems = {} }: Pick<ScenarioFile, "system" | "systems">,
	context: Context,
): PlacedSystem[] {
	const all = Object.entries(systems).map(([key, options]) => ({
		key,
		options,
		path: ["systems", key],
	}));
	const wrong = reporter(context.problems);
	if (system && all.length > 0) wrong("systems", "system-and-systems");
	else if (system) all.push({ key: system.broker, options: system, path: ["system"] });
	else if (all.length === 0)
		wrong("system", "missing", { what: "system", write: `e.g. system: ${example.broker}` });
	return all.map((one) => resolveOne(one, context));
}

// --- internal ---

function resolveOne(
	{ key, options: written, path: where }: Pick<PlacedSystem, "key" | "options" | "path">,
	context: Context,
): PlacedSystem {
	const there = reached(key, absolute(written, context.folder), context);
	// Secrets in its config must be masked.
	const secrets = [...context.secrets, ...secretsOf(there.config)];
	const options: SystemOptions = secrets.length === 0 ? there : { ...there, secrets };
	const broker = brokerOf(options);
	const traits = broker.traits(options);
	const hosts = onHosts(context.rig?.rig, key);
	const target = hosts ? ON_HOSTS : context.target;
	const { place } = targetTraits(target);
	const durability = broker.durability(
		options,
		hosts || !isYours(context.rig?.rig.target ?? target),
	);
	const wrong = reporter(context.problems, (key) => [...where, key]);
	// The broker's own messages come first.
	for (const { key, message } of broker.contradictions(options, place))
		wrong(key, { text: message });
	const ours = hosts || (context.rig === null && !isYours(context.target));
	checkSettings({ ...context, key, options, traits, durability, target, ours }, wrong);
	// A scenario may have a url for `--target existing` and still run with `--target local`, and vice versa.
	const leftAside = (key: string) =>
		context.targetChosen && context.labelOf([...where, key]) === undefined;
	checkTarget(options, target, leftAside, wrong);
	const address =
		context.rig === null && place !== null ? null : addressOf(key, options, where, context);
	if (address && "wrong" in address) wrong("url", { text: address.wrong });
	const inFile = context.labelOf([...where, "metrics"]) === undefined;
	const unread = metricsMistake(options, context.env, inFile);
	if (unread !== null) wrong("metrics", { text: unread });
	const starts = (at: BrokerPlace) => context.rig === null && place === at;
	return {
		key,
		path: where,
		broker: options.broker,
		url: address && "url" in address ? address.url : null,
		port: starts("process") ? (options.port ?? null) : null,
		binary: starts("process") ? (options.binary ?? null) : null,
		image:
			starts("container") || starts("pod") || place === "host" ? (options.image ?? null) : null,
		existingTopics: place === null && options.create === false ? (options.topics ?? null) : null,
		options,
		traits,
		durability: hide(durability.text, options.secrets ?? []),
	};
}

/** Options have other consequences for a broker that was already running, which a rig may contain. */
function reached(key: string, options: SystemOptions, { rig }: Context): SystemOptions {
	const entry = rigBroker(rig?.rig, key);
	return entry && entry.hosts.length === 0 && isYours(rig?.rig.target) && hasProcess(options)
		? { ...options, url: maskUrls(entry.url ?? "") }
		: options;
}

/** Null if the broker has no address, or the rig starts it. */
function addressOf(
	key: string,
	options: SystemOptions,
	where: Path,
	{ rig, env, labelOf }: Context,
): ResolvedUrl | null {
	if (!hasProcess(options)) return null;
	const { broker } = options;
	const url = rig === null ? options.url : (rigBroker(rig.rig, key)?.url ?? null);
	if (url === null) return null;
	if (url === undefined)
		return { wrong: tell("url-missing", { broker, url: variable(`${broker.toUpperCase()}_URL`) }) };
	const inFile = rig === null && labelOf([...where, "url"]) === undefined;
	const found = resolveUrl(url, brokerOf(options), env, inFile);
	return rig !== null && "wrong" in found
		? { wrong: tell("rig-url", { rig: rig.path, system: key, why: found.wrong }) }
		: found;
}

/** Paths count from the scenario's folder; a bare name is looked up on PATH. */
function absolute(options: SystemOptions, folder: string): SystemOptions {
	const { binary, tls, command } = options;
	const from = (file: string) => path.resolve(folder, file);
	const files =
		typeof tls === "object" &&
		Object.entries(tls).map(([key, value]) =>
			["ca", "cert", "key"].includes(key) ? [key, from(String(value))] : [key, value],
		);
	return {
		...options,
		...(binary !== undefined && /[/\\]/.test(binary) ? { binary: from(binary) } : {}),
		...(command && /^[^{]*[/\\]/.test(command[0] ?? "")
			? { command: [from(command[0] ?? ""), ...command.slice(1)] }
			: {}),
		...(files ? { tls: Object.fromEntries(files) } : {}),
	};
}
