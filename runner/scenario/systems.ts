import {
	type Broker,
	BrokerName,
	brokers,
	SystemOptions,
	variable,
} from "./brokers.ts";
import type { Path, Problem } from "./problem.ts";
import type { System } from "./scenario.ts";
import type { Target } from "./schema.ts";
import { resolveUrl } from "./url.ts";

/** What resolving systems needs to know of the rest of the scenario and of the command line. */
export interface SystemContext {
	/** undefined: the scenario's target is itself a mistake. */
	readonly target: Target | undefined;
	/** The command line chose the target: settings of other targets are then left aside, not refused. */
	readonly targetChosen: boolean;
	readonly env: Readonly<Record<string, string | undefined>>;
	/** The option that set what stands at `path`; undefined: the file did. */
	labelOf(path: Path): string | undefined;
}

/** A system and where it is written; a system with a mistake is left out. */
export type PlacedSystem = System & { readonly path: Path };

/** The systems of a scenario, in its order, with URLs from the environment; `keys` names those with mistakes too. */
export function resolveSystems(
	written: { readonly system?: unknown; readonly systems?: unknown },
	context: SystemContext,
): { systems: PlacedSystem[]; keys: string[]; problems: Problem[] } {
	const problems: Problem[] = choose(written);
	const systems: PlacedSystem[] = [];
	const keys: string[] = [];
	for (const { key, path, value } of entries(written)) {
		const map = typeof value === "string" ? { broker: value } : value;
		const name = key ?? (isMap(map) ? map.broker : undefined);
		if (typeof name === "string") keys.push(name);
		const options = SystemOptions.safeParse(map);
		// What is wrong with it is the schema's to say.
		if (!options.success) continue;
		const found = resolveOne(options.data, path, context);
		if (Array.isArray(found)) problems.push(...found);
		else systems.push({ key: key ?? options.data.broker, path, ...found });
	}
	return { systems, keys, problems };
}

// --- internal ---

function choose(written: {
	readonly system?: unknown;
	readonly systems?: unknown;
}): Problem[] {
	if (written.system !== undefined && written.systems !== undefined)
		return [
			{
				path: ["systems"],
				at: "key",
				message: "a scenario has system or systems, not both; move it there",
			},
		];
	const none = `; write e.g. system: ${BrokerName.options[0]}`;
	if (written.system === undefined && written.systems === undefined)
		return [
			{ path: ["system"], at: "key", message: `system is missing${none}` },
		];
	if (isMap(written.systems) && Object.keys(written.systems).length === 0)
		return [
			{ path: ["systems"], at: "key", message: `systems is empty${none}` },
		];
	return [];
}

function entries(written: {
	readonly system?: unknown;
	readonly systems?: unknown;
}): { key: string | null; path: Path; value: unknown }[] {
	if (isMap(written.systems))
		return Object.entries(written.systems).map(([key, value]) => ({
			key,
			path: ["systems", key],
			value,
		}));
	return [{ key: null, path: ["system"], value: written.system }];
}

function resolveOne(
	options: SystemOptions,
	path: Path,
	context: SystemContext,
): Omit<System, "key"> | Problem[] {
	const broker: Broker = brokers[options.broker];
	const url = "url" in options ? options.url : undefined;
	const port = "port" in options ? options.port : undefined;
	const wrong = (key: string, message: string): Problem[] => [
		{ path: [...path, key], at: "value", message },
	];

	if (context.target === "existing") {
		if (port !== undefined && !context.targetChosen)
			return wrong(
				"port",
				"port is for target local, where mqbench starts the broker; an existing one has a url",
			);
		if (broker.urlSchemes.length === 0)
			return { broker: options.broker, url: null, port: null };
		if (url === undefined)
			return wrong(
				"url",
				`target existing needs a url for ${options.broker}; write ${path[0]}: { ${path[0] === "systems" ? `${path[1]}: { ` : ""}broker: ${options.broker}, url: "${variable(`${options.broker.toUpperCase()}_URL`)}" }${path[0] === "systems" ? " }" : ""} or give --url ${broker.urlSchemes[0]}://host:4222`,
			);
		const inFile = context.labelOf([...path, "url"]) === undefined;
		const resolved = resolveUrl(url, broker.urlSchemes, context.env, inFile);
		if ("wrong" in resolved) return wrong("url", resolved.wrong);
		return { broker: options.broker, url: resolved.url, port: null };
	}

	// A file may carry a url for `--target existing` and still run on a laptop with `--target local`.
	const leftAside =
		context.targetChosen && context.labelOf([...path, "url"]) === undefined;
	if (url !== undefined && context.target === "local" && !leftAside)
		return wrong(
			"url",
			"url is for target existing; add target: existing, or remove url to have mqbench start the broker",
		);
	return { broker: options.broker, url: null, port: port ?? null };
}

function isMap(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
