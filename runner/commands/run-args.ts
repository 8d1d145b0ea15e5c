import type { RentOptions } from "../../infra/cloud/rent.ts";
import type { ReporterArgs } from "../result/reporters.ts";
import type { Overrides } from "../scenario/overrides.ts";
import type { OnInconclusive } from "../verdict/exit.ts";
import type { WatchArgs } from "../watch/watch.ts";

/** `mqbench run`, as it was given on the command line. */
export interface RunArgs extends Overrides, ReporterArgs, RentOptions, WatchArgs {
	/** Path of the scenario file. */
	readonly path: string;
	/** `--only`: a glob over "system/case". */
	readonly only?: string | undefined;
	/** `--out`: folder for the results. */
	readonly out?: string | undefined;
	/** `--k6-out`: outputs of k6. */
	readonly k6Out?: readonly string[] | undefined;
	/** `--resume`: folder of an interrupted command that is to be gone on with. */
	readonly resume?: string | undefined;
	/** What follows "mqbench" on the command line. */
	readonly argv?: readonly string[] | undefined;
	/** `--no-floor`: false; the floor of the generator is then unknown. */
	readonly floor?: boolean | undefined;
	/** `--baseline`: file or folder that is compared with; "none": what compares is left out. */
	readonly baseline?: string | undefined;
	/** `--calibration`: what is known of this machine's noise. */
	readonly calibration?: string | undefined;
	/** `--confirm`: two more repeats of what did not pass. */
	readonly confirm?: boolean | undefined;
	readonly onInconclusive?: OnInconclusive | undefined;
}
