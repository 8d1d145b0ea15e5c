import { z } from "zod";
import { tell } from "../text/tell.ts";

/** CPUs in the manner of taskset: "0-3,8". Whether the machine has them is known when a run starts. */
export const CpuSet = z
	.string()
	.regex(/^\d+(-\d+)?(,\d+(-\d+)?)*$/, tell("cpu-set"));
