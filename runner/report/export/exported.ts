/** Where the files of an export go. */
export interface Target {
	/** The path of a file from the folder that mqbench runs in, with "/". */
	shown(name: string): string;
}

/** What a format makes of the figures. */
export interface Exported {
	/** Names are relative to the folder of the export; one may lie in a folder of its own. */
	readonly files: readonly { readonly name: string; readonly text: string }[];
	/** Sentences about what the format has no place for. */
	readonly notes: readonly string[];
	/** Command lines that read the files. */
	readonly hints: readonly string[];
}
