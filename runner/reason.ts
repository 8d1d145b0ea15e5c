/** "the disk is full" */
export function reasonOf(error: unknown): string {
	const { code, message } = error as NodeJS.ErrnoException;
	return REASONS[code ?? ""] ?? message;
}

// --- internal ---

const REASONS: Readonly<Record<string, string>> = {
	EACCES: "permission denied",
	EDQUOT: "the disk quota is used up",
	EEXIST: "there is a file of that name",
	EISDIR: "it is a folder",
	ELINKED: "it is a symbolic link, which is not followed here",
	ENAMETOOLONG: "the path is too long",
	ENOENT: "there is no such file",
	ENOSPC: "the disk is full",
	ENOTDIR: "a part of the path is a file",
	ENOTREG: "it is not a regular file",
	EOUTSIDE: "it is outside of the folder",
	EPERM: "permission denied",
	EROFS: "the file system is read-only",
};
