/** How a driver file of OpenMessaging Benchmark becomes a system of a scenario: `import-omb.ts` of a broker's folder. */
export interface OmbDriver {
	/** Packages of the driver's class: "kafka" of io.openmessaging.benchmark.driver.kafka.KafkaBenchmarkDriver. */
	readonly packages: readonly string[];
	/** What the system is, whatever its keys say. */
	readonly system: Options;
	/** And where topics have several subscriptions. Left out: nothing else. */
	readonly copied?: Options;
	/** Keys whose text is Java properties, which are looked up in `keys` by their own names. Left out: none. */
	readonly properties?: readonly string[];
	/** What becomes of each key ("client.qos" where the file has maps), besides the login, which `omb-driver.ts` in runner/import finds by itself. */
	readonly keys: Readonly<Record<string, Mapping>>;
	/** Addresses have a path that counts: a virtual host. Left out: they have none. */
	readonly path?: true;
	/** Clients cannot log in here. Left out: they can. */
	readonly login?: false;
}

/** What a value becomes; null: nothing, as mqbench does the same anyway; undefined: it has no equivalent. `other`: the value of another key, else "". */
export type Mapping =
	| null
	| ((value: string, other: (key: string) => string) => Part | null | undefined);

/** Options of the system, and what its url is made of. */
export interface Part extends Options {
	/** Something of the value is left out. */
	readonly partly?: boolean;
	readonly at?: Reach;
}
type Options = Readonly<Record<string, unknown>>;

export interface Reach {
	/** "tcp://me:secret@a:1883,b:1883?ssl=true", or only a part of that. */
	readonly servers?: string;
	/** Of servers that name none. */
	readonly port?: string;
	readonly user?: string;
	readonly password?: string;
	/** By TLS. */
	readonly secure?: boolean;
}

/** The number of a key; undefined: it is not one. */
export function number(value: string, part: (value: number) => Part | null) {
	return /^\d+$/.test(value) ? part(Number(value)) : undefined;
}

/** Copies of a topic: one is what a system has anyway. */
export const replicas: Mapping = (value) => number(value, (n) => (n > 1 ? { replicas: n } : null));
