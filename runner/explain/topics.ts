import { numbers } from "./numbers.ts";
import { systems } from "./systems.ts";
import { verdicts } from "./verdicts.ts";

/** A word of the reports in plain English: what it means, an example, what to do. More of it: reports/README.md. */
export interface Topic {
	/** One line for the list of topics. */
	readonly title: string;
	/** At most 80 columns wide. */
	readonly text: string;
}

/** In the order of the list. */
export const topics = { ...numbers, ...verdicts, ...systems } as const satisfies Record<
	string,
	Topic
>;

export type TopicName = keyof typeof topics;
export const topicNames = Object.keys(topics) as TopicName[];
