import { z } from "zod";
import { type BrokerPlace, isImaged } from "../model/targets.ts";
import type { Broker } from "./broker.ts";
import * as definitions from "./definitions.ts";
import type { SystemOptionsOfAnyBroker } from "./fields.ts";
import type { BrokerProcess } from "./process.ts";
import type { BuiltProgram } from "./server.ts";

export type { Broker, Durability, Traits } from "./broker.ts";
export { hideSecrets, secretsOf } from "./config.ts";
export { type SystemOptionsOfAnyBroker, variable } from "./fields.ts";

import { variable } from "./fields.ts";

/**
 * The systems that mqbench can measure, by the word that scenarios, drivers and their folders know them by. Whoever is to try one gets the first:
 * one that mqbench builds itself. Those without a process are no brokers, and come last.
 */
export const brokers: Readonly<Record<string, Broker>> = Object.fromEntries(
	Object.entries(definitions as unknown as Record<string, Broker>).sort(
		([, a], [, b]) => effort(a) - effort(b),
	),
);

export const BrokerName = z.enum(Object.keys(brokers));
export type BrokerName = string;

/** The brokers that have a process, without those that only complete messages. */
export const realBrokers: readonly BrokerName[] = BrokerName.options.filter(
	(broker) => brokerOf({ broker }).process !== null,
);

/** The system that is no broker: every message completes at once. */
export const noBroker = BrokerName.options.find(
	(broker) => !realBrokers.includes(broker),
) as BrokerName;

/** Servers that mqbench builds itself: with k6, and those that it builds when they are first needed. */
export const builtPrograms = programs(false);
export const laterPrograms = programs(true);

/** Those of these brokers whose drivers are in a k6 of their own. */
export function withLargeDriver(
	names: readonly BrokerName[] = BrokerName.options,
): readonly BrokerName[] {
	return names.filter((broker) => brokerOf({ broker }).largeDriver);
}

/** The broker of examples in help, messages and references. */
export const example = {
	broker: realBrokers[0] ?? "",
	variable: `${realBrokers[0]?.toUpperCase()}_URL`,
	url: (host: string) => bareUrl(brokerOf(example), host),
};

/** "nats://host:4222" */
export function bareUrl({ urls }: Pick<Broker, "urls">, host = "host"): string {
	const [[scheme, port] = []] = Object.entries(urls);
	return `${scheme}://${host}:${port}`;
}

/** How a url has a password of the environment: "nats://user:${NATS_PASSWORD}@host:4222", and the name of the variable. `bare`: the url without it, where it is known. */
export function loginUrl(broker: Pick<Broker, "urls" | "urlUser">, bare = bareUrl(broker)) {
	const { urls, urlUser = "user" } = broker;
	const name = `${Object.keys(urls)[0]?.toUpperCase()}_PASSWORD`;
	const url = bare.replace(/:\/\/(\S*@)?/, () => `://${urlUser}:${variable(name)}@`);
	return { url, variable: name };
}

/** What a scenario may say about a system of each kind. */
export const SystemOptions = z.discriminatedUnion(
	"broker",
	Object.values(brokers).map(({ options }) => options) as never,
) as unknown as z.ZodType<SystemOptions>;
export type SystemOptions = SystemOptionsOfAnyBroker;

/** The broker of a system, for code that treats all alike. */
export function brokerOf(options: { readonly broker: BrokerName }): Broker {
	const broker = brokers[options.broker];
	if (!broker) throw new Error(`there is no broker ${options.broker}`);
	return broker;
}

/** A system with these options has a server: something to start, to reach and to disturb. */
export function hasProcess(options: SystemOptions): boolean {
	const { process, brokerless } = brokerOf(options);
	return process !== null && !brokerless?.(options);
}

/** What a scenario says of a system's image. */
export interface ImageAsked {
	readonly image: string | null;
	readonly options: SystemOptions;
}

/** The image of a system: its own, or the official one of its version. */
export function imageOf(system: ImageAsked): string {
	if (system.image !== null) return system.image;
	const { image } = brokerOf(system.options);
	if (image === null) throw new Error(`${system.options.broker} has no image`);
	return `${image.name}:${system.options.version ?? image.version}${image.suffix ?? ""}`;
}

/**
 * The image that runs at such a place; null: programs run there. A host runs its own program or one that mqbench copies, unless the scenario
 * names an image or a version that mqbench cannot copy: then it runs what target docker would run.
 */
export function imageAt(place: BrokerPlace | null, system: ImageAsked): string | null {
	const { image, options } = system;
	const { process } = brokerOf(options);
	if (process === null || !hasProcess(options)) return null;
	const contained =
		isImaged(place) ||
		(place === "host" &&
			(image !== null || (options.version !== undefined && !process.onHosts.anyVersion)));
	return contained ? imageOf(system) : null;
}

/** How each kind of broker is run; null: it has no process. */
export const processes: Readonly<Record<string, BrokerProcess | null>> = Object.fromEntries(
	Object.entries(brokers).map(([name, { process }]) => [name, process]),
);

// --- internal ---

/** Each once, although brokers may share it. */
function programs(whenNeeded: boolean): readonly BuiltProgram[] {
	const all = Object.values(definitions as unknown as Record<string, Broker>)
		.flatMap(({ program }) => program ?? [])
		.filter((program) => (program.whenNeeded ?? false) === whenNeeded);
	return [...new Map(all.map((program) => [program.name, program])).values()];
}

function effort({ process, program }: Broker): number {
	if (process === null) return 2;
	return program === null || program.whenNeeded ? 1 : 0;
}
