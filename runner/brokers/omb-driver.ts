/** Turns a driver file of OpenMessaging Benchmark into a system: `import-omb.ts` of a broker's folder. */
export interface OmbDriver {
	/** "kafka" of io.openmessaging.benchmark.driver.kafka.KafkaBenchmarkDriver. */
	readonly packages: readonly string[];
	/** Options that do not depend on the keys. */
	readonly system: Options;
	/** Added where topics have several subscriptions. */
	readonly copied?: Options;
	/** Keys that contain Java properties, which `keys` maps by their own names. */
	readonly properties?: readonly string[];
	/** "client.qos" within a map. `omb-driver.ts` in runner/import finds the login itself. */
	readonly keys: Readonly<Record<string, Mapping>>;
	/** URLs have a meaningful path: a virtual host. */
	readonly path?: true;
	readonly login?: false;
}

/** Null if mqbench does the same anyway, undefined without an equivalent. `other` is another key's value, else "". */
export type Mapping =
	| null
	| ((value: string, other: (key: string) => string) => Part | null | undefined);

export interface Part extends Options {
	readonly partly?: boolean;
	readonly at?: Reach;
}
type Options = Readonly<Record<string, unknown>>;

export interface Reach {
	/** "tcp://me:secret@a:1883,b:1883?ssl=true", or a part of it. */
	readonly servers?: string;
	readonly port?: string;
	readonly user?: string;
	readonly password?: string;
	readonly secure?: boolean;
}

export function number(value: string, part: (value: number) => Part | null) {
	return /^\d+$/.test(value) ? part(Number(value)) : undefined;
}

/** One copy is the default. */
export const replicas: Mapping = (value) => number(value, (n) => (n > 1 ? { replicas: n } : null));
