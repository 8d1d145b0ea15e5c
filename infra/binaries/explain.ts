import { failure, type MqbenchError } from "../../runner/errors.ts";
import { maskUserinfo } from "../../runner/secrets.ts";

/** Turns the last lines that Go printed into a sentence that says what to do. */
export function explainGo(lines: readonly string[]): MqbenchError {
	const tail = lines.map(plain);
	const text = tail.join("\n");
	// A proxy's URL may hold a password.
	const last = maskUserinfo(tail.slice(-20).join("\n"));
	if (/no space left on device|disk quota exceeded/i.test(text))
		return failure("build-disk-full", { where: "the Go cache or the cache folder of mqbench" });
	if (/checksum mismatch|SECURITY ERROR/.test(text)) return failure("go-sum", { last });
	const network = tail.find((line) => NETWORK.test(line));
	if (network !== undefined) return failure("go-proxy", { last: maskUserinfo(network.trim()) });
	return failure("go-build", { last });
}

// --- internal ---

/** `go mod download -json` reports failures in a field: `"Error": "..."`. */
function plain(line: string): string {
	const quoted = /^\s*"Error": (".*"),?$/.exec(line)?.[1];
	if (quoted === undefined) return line;
	try {
		return String(JSON.parse(quoted));
	} catch {
		return line;
	}
}

/** What Go prints when a proxy does not answer or does not have the module. */
const NETWORK =
	/dial tcp|no such host|connection refused|i\/o timeout|TLS handshake|x509:|module lookup disabled|toolchain not available|proxyconnect|refusing to pass credentials|(?:reading|Get) "?https?:.*(?:EOF|: [45]\d\d )/i;
