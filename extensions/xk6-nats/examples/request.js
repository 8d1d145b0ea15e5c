// A request waits for its answer, up to 5 s: `request` holds the VU, `requestAsync` does not. Here the script answers itself, so it awaits.
//
//   k6 run -e NATS_URL=nats://127.0.0.1:4222 request.js
import { check } from "k6";
import { Nats } from "k6/x/nats";

export const options = { iterations: 3, thresholds: { checks: ["rate==1"], nats_request_seconds: ["p(99)<5000"] } };

const nats = new Nats({ servers: [__ENV.NATS_URL || "nats://127.0.0.1:4222"] });
nats.subscribe("k6.double", (msg) => msg.respond(`${2 * Number(msg.data)}`, { unit: "1" }));

export default async function () {
	const reply = await nats.requestAsync("k6.double", "21");
	check(reply, { "it is 42": ({ data }) => data === "42", "with a header": ({ header }) => header.unit === "1" });
	let said = "";
	try {
		nats.request("k6.nobody", "?");
	} catch (error) {
		said = `${error}`;
	}
	check(said, { "nobody answers": (text) => text.includes("nobody is subscribed") });
}

export function teardown() {
	nats.close();
}
