/** The worst first; for a gate, a run and a whole result. */
export const VERDICTS = [
	"interrupted",
	"error",
	"invalid",
	"fail",
	"inconclusive",
	"pass",
] as const;
export type Verdict = (typeof VERDICTS)[number];

/** "pass" for none: nothing was required, and nothing was wrong. */
export function worst(verdicts: readonly Verdict[]): Verdict {
	return VERDICTS.find((v) => verdicts.includes(v)) ?? "pass";
}
