import { z } from "zod";
import { tell } from "../text/tell.ts";

/** As taskset writes them: "0-3,8". Whether the machine has them is known when a run starts. */
export const CpuSet = z.string().regex(/^\d+(-\d+)?(,\d+(-\d+)?)*$/, tell("cpu-set"));

/** "0-2,8" -> 0, 1, 2, 8 */
export function cpusOf(set: string): number[] {
	return set.split(",").flatMap((range) => {
		const [from = 0, to = from] = range.split("-").map(Number);
		return Array.from({ length: to - from + 1 }, (_, i) => from + i);
	});
}
