import { addresses } from "../brokers/addresses.ts";
import { brokerOf, type SystemOptions } from "../brokers/index.ts";
import type { Described } from "../brokers/process.ts";
import type { System } from "./scenario.ts";
import { type Env, resolveUrl } from "./variables.ts";

/** A sentence about the address of a system's metrics; null if it is well. */
export function metricsMistake(options: SystemOptions, env: Env, inFile: boolean): string | null {
	const { url } = metricsAsked(options);
	if (url === undefined) return null;
	const found = resolveUrl(url.replaceAll(PORT, "1"), HTTP, env, inFile);
	return "wrong" in found ? found.wrong.replaceAll(/\burl\b/g, "metrics") : null;
}

/** Where to read a system's own metrics while it runs, and what to show. Null for nowhere. `own`: the scenario names no address. */
export function metricsOf(
	system: System,
	broker: { readonly url: string } & Pick<Described, "metrics">,
	env: Env,
) {
	const { options } = system;
	const { metrics: known, urls: ports } = brokerOf(options);
	const { url, show = known?.show ?? [] } = metricsAsked(options);
	if (options.metrics === false) return null;
	const [at] = broker.url === "" ? [] : addresses(broker.url, ports);
	const found = url && resolveUrl(url.replaceAll(PORT, `${at?.port ?? 0}`), HTTP, env, false);
	const from = found && "url" in found ? found.url.split(/,(?=https?:)/) : (broker.metrics ?? []);
	if (from.length === 0) return null;
	return { from, own: url === undefined, show, counters: known?.counters ?? NONE };
}

/** As written: its url may name a variable. */
export function metricsAsked({ metrics }: SystemOptions): Asked {
	return typeof metrics === "object" ? metrics : { url: metrics || undefined };
}

// --- internal ---

type Asked = Exclude<SystemOptions["metrics"], string | false | undefined>;
const PORT = "{port}";
const HTTP = { urls: { http: 80, https: 443 } };
const NONE = /^\b$/;
