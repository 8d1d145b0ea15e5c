/** What `read` returns; `otherwise` if it throws: a file that is not there or not for us, as in /proc, or an answer of another form. */
export function readOr<T>(otherwise: T, read: () => T): T {
	try {
		return read();
	} catch {
		return otherwise;
	}
}
