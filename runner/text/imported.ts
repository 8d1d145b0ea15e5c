/** What `mqbench import` says of what a scenario cannot have. */
export const imported = {
	"import-cases": "a scenario has at most {most} cases",
	"import-bounds":
		"a scenario takes {least} to {most} in all; {taken} is taken",
	"import-one-consumer": "one is taken, as {why}",
	"import-subscriber": "each subscriber of a fan-out is one consumer",
	"import-one-group": "a backlog is built for one group of consumers",
	"import-backlog-rate": "a backlog is built at a rate; {rate}/s is taken",
	"import-drained": "a backlog counts as drained at 1000 messages",
	"import-search":
		"the highest rate with {objective} and nothing lost is searched, from {rate}/s on; write your own limit in sla",
	"import-pause":
		"consumers of this system can pause for {messages} messages at this rate",
	"import-no-partitions": "topics of {system} have no partitions",
	"import-no-distribution":
		"there is no such distribution here; messages have no keys",
	"import-no-keys": "messages of {system} have no keys",
	"import-pool": "payloads walk through a pool of 8 MiB",
	"import-payload-file":
		"payloads are random; write payload: { file: <path> } to send the file's bytes",
	"import-case-names": "cases name themselves by what they override",
	"import-samples": "mqbench samples ten times a second",
	"import-own-topics": "mqbench makes topics of its own",
} as const;
