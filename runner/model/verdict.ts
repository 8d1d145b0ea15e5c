/** What a gate, a run and a whole result come to, the worst first. */
export const VERDICTS = [
	"interrupted",
	"error",
	"invalid",
	"fail",
	"inconclusive",
	"pass",
] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The worst of them; "pass" of none: nothing was asked for, and nothing was wrong. */
export function worst(verdicts: readonly Verdict[]): Verdict {
	return VERDICTS.find((v) => verdicts.includes(v)) ?? "pass";
}
