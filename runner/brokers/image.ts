import { type BrokerPlace, isImaged } from "../model/targets.ts";
import { brokerOf, hasProcess, type SystemOptions } from "./index.ts";

/** What a scenario says of a system's image. */
export interface ImageAsked {
	readonly image: string | null;
	readonly options: SystemOptions;
}

/** The image of a system: its own, or the official one of its version. */
export function imageOf(system: ImageAsked): string {
	if (system.image !== null) return system.image;
	const { image } = brokerOf(system.options);
	if (image === null) throw new Error(`${system.options.broker} has no image`);
	return `${image.name}:${system.options.version ?? image.version}${image.suffix ?? ""}`;
}

/**
 * The image that runs at such a place; null: programs run there. A host runs its own program or one that mqbench copies, unless the scenario
 * names an image or a version that mqbench cannot copy: then it runs what target docker would run.
 */
export function imageAt(place: BrokerPlace | null, system: ImageAsked): string | null {
	const { image, options } = system;
	const { process } = brokerOf(options);
	if (process === null || !hasProcess(options)) return null;
	const contained =
		isImaged(place) ||
		(place === "host" &&
			(image !== null || (options.version !== undefined && !process.onHosts.anyVersion)));
	return contained ? imageOf(system) : null;
}
