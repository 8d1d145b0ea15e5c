import { type Broker, type BrokerName, brokers } from "./brokers.ts";
import type { ResolvedCases } from "./cases.ts";
import type { Problem } from "./problem.ts";

/** The cases that ask a system for an order which its broker doesn't promise: no measurement could be held against it. */
export function unpromisedOrder(
	systems: readonly { readonly key: string; readonly broker: BrokerName }[],
	{ cases, where }: ResolvedCases,
	promises: Readonly<Record<BrokerName, Pick<Broker, "order">>> = brokers,
): Problem[] {
	return cases.flatMap((one, index) =>
		systems.flatMap(({ key, broker }): Problem[] => {
			const { order } = promises[broker];
			if (!one || one.order === "none" || one.order === order) return [];
			return [
				{
					path: where(index, "order"),
					at: "value",
					message: `order ${one.order}: ${key} (${broker}) promises ${order === "none" ? "no order" : `order ${order}`}; write order: ${order}, or leave ${key} out`,
				},
			];
		}),
	);
}
