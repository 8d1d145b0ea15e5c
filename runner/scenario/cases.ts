import { formatBytesExact, formatDurationExact, formatRate } from "../units.ts";
import { caseName } from "./case-name.ts";
import type { Path, Problem } from "./problem.ts";
import type { Case } from "./scenario.ts";
import {
	CHECKSUM_BYTES,
	ENVELOPE_BYTES,
	neededFields,
	Workload,
	type WorkloadField,
	workloadFields,
} from "./schema.ts";
import { suggest } from "./suggest.ts";

/** The cases of a scenario; `undefined` in place of one that has a mistake. */
export interface ResolvedCases {
	readonly cases: readonly (Case | undefined)[];
	readonly problems: readonly Problem[];
	/** Where the field of a case is written: in the case itself or in the workload. */
	where(index: number, field: WorkloadField): Path;
}

/**
 * Lays each case over the workload, fills in defaults and names it. Works on what was written, not on what the
 * schema made of it: one mistake must not hide the others. Mistakes that the schema sees are not repeated here.
 */
export function resolveCases(workload: unknown, cases: unknown): ResolvedCases {
	const shared = asMap(workload);
	const overrides = Array.isArray(cases) ? cases.map(asMap) : [{}];
	const where = (index: number, field: WorkloadField): Path =>
		Array.isArray(cases) && Object.hasOwn(overrides[index] ?? {}, field)
			? ["cases", index, field]
			: ["workload", field];

	const problems: Problem[] =
		workload !== undefined && !isMap(workload)
			? []
			: missing(
					shared,
					overrides,
					Array.isArray(cases),
					workload !== undefined,
				);
	const resolved = overrides.map((override, index) => {
		const fields = parseFields({ ...shared, ...override });
		problems.push(...contradictions(fields, (field) => where(index, field)));
		return complete(fields, override);
	});
	problems.push(...sameNames(resolved));
	return { cases: resolved, problems, where };
}

// --- internal ---

type Written = Readonly<Record<string, unknown>>;

function isMap(value: unknown): value is Written {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asMap(value: unknown): Written {
	return isMap(value) ? value : {};
}

const exampleOf = { rate: "3000/s", message: "256B", duration: "10s" } as const;

function missing(
	shared: Written,
	overrides: readonly Written[],
	hasCases: boolean,
	hasWorkload: boolean,
): Problem[] {
	if (!hasWorkload && !hasCases)
		return [
			{
				path: ["workload"],
				at: "key",
				message: `workload is missing; it needs ${neededFields.join(", ")}`,
			},
		];
	// "durration: 10s" is one mistake, and the schema names it.
	const misspelt = new Set(
		[shared, ...overrides].flatMap((written) =>
			Object.keys(written)
				.filter((key) => !(workloadFields as string[]).includes(key))
				.map((key) => suggest(key, workloadFields)),
		),
	);
	return neededFields
		.filter((field) => !Object.hasOwn(shared, field) && !misspelt.has(field))
		.flatMap((field): Problem[] => {
			const without = overrides.flatMap((one, index) =>
				Object.hasOwn(one, field) ? [] : [index],
			);
			const write = `write e.g. ${field}: ${exampleOf[field]}`;
			if (without.length === overrides.length)
				return [
					{
						path: ["workload", field],
						at: "key",
						message: `${field} is missing${hasCases ? " in workload and in the cases" : ""}; ${write}`,
					},
				];
			return without.map((index) => ({
				path: ["cases", index, field],
				at: "key",
				message: `case ${index + 1} has no ${field}, and workload has none either; ${write}`,
			}));
		});
}

/** The fields that are right, with their defaults. */
function parseFields(written: Written): Partial<Workload> {
	const fields: Record<string, unknown> = {};
	for (const field of workloadFields) {
		const result = Workload.shape[field].safeParse(written[field]);
		if (result.success) fields[field] = result.data;
	}
	return fields;
}

/** Fields that are right by themselves and wrong together. */
function contradictions(
	fields: Partial<Workload>,
	where: (field: WorkloadField) => Path,
): Problem[] {
	const found: Problem[] = [];
	const wrong = (field: WorkloadField, message: string) =>
		found.push({ path: where(field), at: "value", message });
	const { rate, duration, drain, timeout, connections, message } = fields;

	if (
		rate &&
		duration &&
		BigInt(rate.messages) * BigInt(duration) < BigInt(rate.perNs)
	)
		wrong(
			"duration",
			`duration ${formatDurationExact(duration)} is too short for ${formatRate(rate)}: no message may be due in it`,
		);
	if (timeout !== undefined && drain !== undefined && timeout > drain)
		wrong(
			"timeout",
			`timeout ${formatDurationExact(timeout)} is longer than drain ${formatDurationExact(drain)}, after which nothing is waited for; raise drain`,
		);
	const needed = ENVELOPE_BYTES + CHECKSUM_BYTES;
	if (fields.checksum && message !== undefined && message < needed)
		wrong(
			"message",
			`message ${formatBytesExact(message)} is too small for checksum: true; it needs ${needed}B, ${ENVELOPE_BYTES} of envelope and ${CHECKSUM_BYTES} of CRC32C`,
		);
	const producers = fields.producers ?? connections;
	if (producers === undefined || connections === undefined) return found;
	if (connections > producers)
		wrong(
			"producers",
			`producers ${producers} leave ${connections - producers} of ${connections} connections without a message; write at least producers: ${connections}`,
		);
	if (fields.topics !== undefined && fields.topics > producers)
		wrong(
			"topics",
			`topics ${fields.topics} are more than the ${producers} producers, each of which sends to one; write at least producers: ${fields.topics}`,
		);
	return found;
}

function complete(
	fields: Partial<Workload>,
	override: Written,
): Case | undefined {
	const {
		pattern,
		rate,
		message,
		duration,
		warmup,
		drain,
		connections,
		payload,
		checksum,
		order,
	} = fields;
	if (
		!pattern ||
		!rate ||
		message === undefined ||
		duration === undefined ||
		warmup === undefined ||
		drain === undefined ||
		connections === undefined ||
		!payload ||
		checksum === undefined ||
		!order
	)
		return undefined;
	const one: Case = {
		name: "",
		pattern,
		rate,
		messageBytes: message,
		payload,
		checksum,
		delivery: fields.delivery ?? null,
		order,
		warmupNs: warmup,
		durationNs: duration,
		drainNs: drain,
		timeoutNs: fields.timeout ?? drain,
		inFlight: fields.inFlight ?? null,
		connections,
		producers: fields.producers ?? connections,
		topics: fields.topics ?? connections,
	};
	return { ...one, name: caseName(one, override) };
}

function sameNames(cases: readonly (Case | undefined)[]): Problem[] {
	const first = new Map<string, number>();
	return cases.flatMap((one, index): Problem[] => {
		if (!one) return [];
		const earlier = first.get(one.name);
		if (earlier === undefined) {
			first.set(one.name, index);
			return [];
		}
		return [
			{
				path: ["cases", index],
				at: "value",
				message: `cases ${earlier + 1} and ${index + 1} are both named "${one.name}"; give this one a name of its own`,
			},
		];
	});
}
