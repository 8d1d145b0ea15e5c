import { z } from "zod";

/** For programs, beside a sentence: its code and values. Absent in results of earlier versions. */
export const SaidFields = {
	code: z
		.string()
		.optional()
		.meta({ description: "What the sentence says; permanent once released." }),
	values: z
		.record(
			z.string(),
			z.union([
				z.string(),
				z.number(),
				z.boolean(),
				z.null(),
				z.array(z.union([z.string(), z.number()])),
			]),
		)
		.optional()
		.meta({
			description:
				"What the sentence names. Numbers have their unit in the name: ...Ns, ...PerSecond, ...Seconds, share and ...Share (parts of 1); others are counts. of: the code of the first half, where a second one decides.",
		}),
};
