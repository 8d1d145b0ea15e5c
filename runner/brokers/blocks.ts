/** A setting as a configuration of keys and blocks takes it. */
export type Value = string | number | boolean | readonly string[];

/** A configuration of keys and blocks in braces, as NATS and its kin read it; "jetstream.sync_interval" is a key within a block. */
export function inBlocks(all: Readonly<Record<string, Value>>, indent = ""): string {
	const blocks = new Map<string, Record<string, Value>>();
	const lines: string[] = [];
	for (const [key, value] of Object.entries(all)) {
		const [name = "", ...within] = key.split(".");
		if (within.length === 0) lines.push(`${indent}${name}: ${text(value)}\n`);
		else blocks.set(name, { ...blocks.get(name), [within.join(".")]: value });
	}
	for (const [name, block] of blocks)
		lines.push(`${indent}${name} {\n${inBlocks(block, `${indent}  `)}${indent}}\n`);
	return lines.join("");
}

// --- internal ---

/** Sizes ("8MB") stand without quotes, durations ("1m") must not: the server reads 1m without quotes as a million. */
function text(value: Value): string {
	if (Array.isArray(value)) return JSON.stringify(value);
	if (typeof value === "string" && /^\d+([KMGT]|[KMGT]i?B)$/i.test(value))
		return /^\d+[kmgt]$/.test(value) ? JSON.stringify(value) : value;
	return JSON.stringify(value);
}
