import { z } from "zod";
import { type BrokerPlace, isImaged } from "../model/targets.ts";
import type { Broker } from "./broker.ts";
import * as definitions from "./definitions.ts";
import { DEFINITION, type SystemOptionsOfAnyBroker, variable } from "./fields.ts";
import type { BrokerProcess } from "./process.ts";
import type { BuiltProgram } from "./server.ts";

export type { Broker, Durability, Traits } from "./broker.ts";
export { hideSecrets, secretsOf } from "./config.ts";
export { type SystemOptionsOfAnyBroker, variable } from "./fields.ts";

/** Brokers that mqbench builds itself are first, for newcomers. Brokers without a process are last. */
export const brokers: Readonly<Record<string, Broker>> = Object.fromEntries(
	Object.entries(definitions as unknown as Record<string, Broker>).sort(
		([, a], [, b]) => effort(a) - effort(b),
	),
);

export const BrokerName = z.enum(Object.keys(brokers));
export type BrokerName = string;

export const realBrokers: readonly BrokerName[] = BrokerName.options.filter(
	(broker) => brokerOf({ broker }).process !== null,
);

/** Completes every message at once. */
export const noBroker = BrokerName.options.find(
	(broker) => !realBrokers.includes(broker),
) as BrokerName;

/** Built with k6, or when first needed. */
export const builtPrograms = programs(false);
export const laterPrograms = programs(true);

/** The k6 of the first run can drive them. */
export const firstDrivers = BrokerName.options.filter((broker) => brokerOf({ broker }).firstDriver);

/** Each k6 with one of these is built for the scenario. */
export const driversApart = BrokerName.options.filter((broker) => brokerOf({ broker }).apart);

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

/** "nats://user:${NATS_PASSWORD}@host:4222" and the variable's name. `bare`: the url without a login. */
export function loginUrl(broker: Pick<Broker, "urls" | "urlUser">, bare = bareUrl(broker)) {
	const { urls, urlUser = "user" } = broker;
	const name = `${Object.keys(urls)[0]?.toUpperCase()}_PASSWORD`;
	const url = bare.replace(/:\/\/(\S*@)?/, () => `://${urlUser}:${variable(name)}@`);
	return { url, variable: name };
}

export const SystemOptions = optionsOf(brokers);
export type SystemOptions = SystemOptionsOfAnyBroker;

/** Options of these brokers, or a name alone. Those of a broker from outside get its definition. */
export function systemSchema(outside: Readonly<Record<string, Broker>> = {}) {
	const all = { ...outside, ...brokers };
	const options = optionsOf(all);
	return z
		.union([z.enum(Object.keys(all)).transform((broker) => options.parse({ broker })), options])
		.transform((system) => {
			const definition = outside[system.broker];
			return definition ? { ...system, [DEFINITION]: definition } : system;
		});
}

type Own = Pick<SystemOptions, typeof DEFINITION>;

/** Of a system or its options; of a name alone only if the broker is mqbench's. */
export function brokerOf(
	of: Own & { readonly broker: BrokerName; readonly options?: Own },
): Broker {
	const own = of[DEFINITION] ?? of.options?.[DEFINITION];
	const broker = (own as Broker | undefined) ?? brokers[of.broker];
	if (!broker) throw new Error(`there is no broker ${of.broker}`);
	return broker;
}

export function hasProcess(options: SystemOptions): boolean {
	const { process, brokerless } = brokerOf(options);
	return process !== null && !brokerless?.(options);
}

interface ImageAsked {
	readonly image: string | null;
	readonly options: SystemOptions;
}

export function imageOf(system: ImageAsked): string {
	if (system.image !== null) return system.image;
	const { image } = brokerOf(system.options);
	if (image === null) throw new Error(`${system.options.broker} has no image`);
	return `${image.name}:${system.options.version ?? image.version}${image.suffix ?? ""}`;
}

/** Null where programs run. A host runs an image if the scenario names one, or a version that mqbench cannot copy. */
export function imageAt(place: BrokerPlace | null, system: ImageAsked): string | null {
	const { image, options } = system;
	const { process } = brokerOf(options);
	if (process === null || !hasProcess(options) || options[DEFINITION]) return null;
	const contained =
		isImaged(place) ||
		(place === "host" &&
			(image !== null || (options.version !== undefined && !process.onHosts.anyVersion)));
	return contained ? imageOf(system) : null;
}

export const processes: Readonly<Record<string, BrokerProcess | null>> = Object.fromEntries(
	Object.entries(brokers).map(([name, { process }]) => [name, process]),
);

// --- internal ---

function optionsOf(of: Readonly<Record<string, Broker>>): z.ZodType<SystemOptions> {
	const all = Object.values(of).map(({ options }) => options);
	return z.discriminatedUnion("broker", all as never) as unknown as z.ZodType<SystemOptions>;
}

/** Brokers may share a program. */
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
