/** A size in `config` as NATS, its kin and Redis read it: K, M and G are 1000, KB and KiB 1024. null: it is not a size. */
export function sizeInConfig(written: unknown): number | null {
	const [, digits, unit = "", bytes] = /^(\d+)([KMG]?)(i?B)?$/i.exec(String(written ?? "")) ?? [];
	if (digits === undefined) return null;
	const power = ["", "K", "M", "G"].indexOf(unit.toUpperCase());
	return Number(digits) * (bytes ? 1024 : 1000) ** power;
}

/** The largest payload with which a message is within a limit, where what is beside the payload counts and grows with it. */
export function largestPayload(
	limitBytes: number,
	besideBytes: (payloadBytes: number) => number,
): number {
	let most = limitBytes - besideBytes(limitBytes);
	while (most + 1 + besideBytes(most + 1) <= limitBytes) most++;
	return most;
}

/** Bytes of a number in which each byte has seven bits of it (varint). */
export function varintBytes(value: number): number {
	let bytes = 1;
	for (let rest = value; rest >= 128; rest /= 128) bytes++;
	return bytes;
}
