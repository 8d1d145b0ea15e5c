import { failure } from "../../runner/errors.ts";
import { CLOUD_TITLES } from "../../runner/model/targets.ts";
import { orInterrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { costText, dollars } from "./cost-text.ts";
import type { Offer } from "./provider.ts";

/** What the command line says about an offer. */
export interface Confirming {
	/** `--yes`: do not ask. */
	readonly yes?: boolean | undefined;
	/** `--max-hourly-usd`: refuse an offer that costs more, or whose price is not known. */
	readonly maxHourlyUsd?: number | null | undefined;
	/** How long they are going to be used; null: until somebody takes them down. */
	readonly plannedNs?: number | null | undefined;
}

/**
 * Shows an offer and asks the person at the terminal. Returns if the offer is accepted; otherwise fails with `cloud-too-dear`, `cloud-unpriced`,
 * `cloud-unconfirmed` or `cloud-declined`, and nothing has been rented.
 */
export async function confirmOffer(
	offer: Offer,
	{ yes = false, maxHourlyUsd = null, plannedNs = null }: Confirming,
	world: Pick<World, "stderr" | "ask" | "stop">,
): Promise<void> {
	const title = CLOUD_TITLES[offer.cloud];
	const { config, hourlyUsd, unpriced, lines, warnings } = offer;
	world.stderr.write(
		[
			`To be rented from ${title}:`,
			...lines.map((line) => `  ${line}`),
			...warnings.map((line) => `Warning: ${line}`),
			`Price: ${costText({ hourlyUsd, unpriced, plannedNs, ttlNs: config.ttlMinutes * 60e9 })}.`,
			"",
		].join("\n"),
	);
	if (maxHourlyUsd !== null) {
		if (hourlyUsd === null)
			throw failure("cloud-unpriced", { why: unpriced ?? `${title} has named none` });
		if (hourlyUsd > maxHourlyUsd)
			throw failure("cloud-too-dear", { hourly: dollars(hourlyUsd), most: dollars(maxHourlyUsd) });
	}
	if (yes) return;
	if (world.ask === null) throw failure("cloud-unconfirmed", {});
	const answer = await world.ask(
		hourlyUsd === null
			? "Rent them, at a price that is not known? [y/N] "
			: `Rent them for about ${dollars(hourlyUsd)} an hour? [y/N] `,
	);
	orInterrupted(world.stop);
	if (!/^\s*y(es)?\s*$/i.test(answer)) throw failure("cloud-declined", {});
}
