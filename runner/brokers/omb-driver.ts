/** How a driver file of OpenMessaging Benchmark becomes a system of a scenario: `import-omb.ts` of a broker's folder. */
export interface OmbDriver {
	/** Packages of the driver's class: "kafka" of io.openmessaging.benchmark.driver.kafka.KafkaBenchmarkDriver. */
	readonly packages: readonly string[];
	/** The system as a scenario has it. `take` gives the value of a key; what has no equivalent is left, with the reason. */
	read(take: (key: string) => unknown, leave: Leave): Record<string, unknown>;
	/** Why keys that it does not take have no equivalent. */
	readonly reasons: Readonly<Record<string, string>>;
}

export type Leave = (what: string, why: string) => void;

/** Java properties as OpenMessaging Benchmark embeds them: `key=value` or `key: value` a line, # and ! begin comments. */
export function parseProperties(text: unknown): [key: string, value: string][] {
	if (typeof text !== "string") return [];
	return text.split(/\r?\n/).flatMap((line): [string, string][] => {
		const match = /^\s*([^#!\s=:][^=:\s]*)\s*[=:\s]\s*(.*?)\s*$/.exec(line);
		return match ? [[match[1] ?? "", match[2] ?? ""]] : [];
	});
}

/** How a left-out value is quoted; passwords are not. */
export function quoted(key: string, value: unknown): string {
	if (/password|secret|token|jaas|credential/i.test(key))
		return `${key}: (hidden)`;
	const text = typeof value === "string" ? value : JSON.stringify(value);
	return `${key}: ${text.length > 60 ? `${text.slice(0, 57)}...` : text}`;
}
