import type { Broker, Client, ClientFacts } from "../../infra/rig.ts";
import { isElsewhere } from "../model/run-file.ts";

/** Does a generator take CPU from the broker? */
export function sharesHost(
	{ identities, sameHost }: Pick<Broker, "identities" | "sameHost">,
	clients: readonly {
		readonly client: Pick<Client, "kind">;
		readonly facts: Pick<ClientFacts, "identity">;
	}[],
): boolean {
	if (identities !== undefined)
		return clients.some(({ facts }) => identities.includes(facts.identity ?? ""));
	return sameHost && clients.some(({ client }) => !isElsewhere(client.kind));
}
