/** Whether a broker can be started on this machine (target local), and how it gets there: `index.ts` of its folder. */
export interface BrokerInstall {
	/** Where it comes from, for tables. */
	readonly from: string;
	/** What of it is here. */
	look(machine: InstallMachine): Promise<InstallFinding>;
}

/** What is read of a machine; what cannot be read is null, never a guess. */
export interface InstallMachine {
	readonly env: Readonly<Record<string, string | undefined>>;
	/** What a command prints on stdout and stderr. */
	run(program: string, ...args: string[]): Promise<string | null>;
	/** Where a program lies. */
	which(program: string): Promise<string | null>;
}

/** What was found in short, and what that means in one sentence. `here`: a run could start it. */
export interface InstallFinding {
	readonly here: boolean;
	readonly figure: string;
	readonly sentence: string;
}
