/** Hides user and password of every URL in a text: `nats://***@host`. For whatever is written or printed. */
export function maskUrls(text: string): string {
	return text.replaceAll(/:\/\/[^\s"']*@/g, "://***@");
}
