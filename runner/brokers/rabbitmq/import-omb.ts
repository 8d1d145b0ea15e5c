import { type Leave, type OmbDriver, quoted } from "../omb-driver.ts";

export const omb: OmbDriver = {
	packages: ["rabbitmq"],
	read(take, leave) {
		const uris = take("amqpUris");
		const [first, ...others] = Array.isArray(uris) ? uris.map(String) : [];
		if (others.length > 0)
			leave(
				quoted("amqpUris", `${others.length} more`),
				"connections go to the first node",
			);
		const quorum = /quorum/i.test(String(take("queueType") ?? ""));
		const persistent = take("messagePersistence") === true;
		return {
			broker: "rabbitmq",
			...(first === undefined ? {} : { url: withoutPassword(first, leave) }),
			...(quorum ? { queue: "quorum" } : { queue: "classic", persistent }),
		};
	},
	reasons: {},
};

// --- internal ---

/** A password belongs in the environment, not in a file. */
function withoutPassword(uri: string, leave: Leave): string {
	const match = /^(\w+:\/\/[^:/@]+):[^@]+@(.*)$/.exec(uri);
	if (!match) return uri;
	leave(
		"the password in amqpUris",
		"passwords stay out of files; set RABBITMQ_PASSWORD in the environment",
	);
	// biome-ignore lint/suspicious/noTemplateCurlyInString: the scenario's own syntax.
	return `${match[1]}:${"${RABBITMQ_PASSWORD}"}@${match[2]}`;
}
