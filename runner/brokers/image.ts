import { brokerOf, type SystemOptions } from "./index.ts";

/** The image of a system: its own, or the official one of its version. */
export function imageOf(system: {
	readonly image: string | null;
	readonly options: SystemOptions;
}): string {
	if (system.image !== null) return system.image;
	const { image } = brokerOf(system.options);
	if (image === null) throw new Error(`${system.options.broker} has no image`);
	return `${image.name}:${system.options.version ?? image.version}${image.suffix}`;
}
