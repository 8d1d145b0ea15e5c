/** What `mqbench plan` says of what runs would miss. */
export const plans = {
	"plan-no-file": "{system}: {name}: {file} is not there",
	"plan-no-program": "{system} cannot be started here ({figure}): {sentence}",
} as const;
