import { z } from "zod";

/** CPUs in the manner of taskset: "0-3,8". Whether the machine has them is known when a run starts. */
export const CpuSet = z
	.string()
	.regex(
		/^\d+(-\d+)?(,\d+(-\d+)?)*$/,
		'CPUs must be numbers and ranges with commas between them, e.g. "0-3,8"',
	);
