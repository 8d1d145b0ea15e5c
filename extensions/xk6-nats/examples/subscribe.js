// Every VU hears what every VU publishes. Handlers run on the VU's event loop, while the script awaits.
//
//   k6 run -e NATS_URL=nats://127.0.0.1:4222 subscribe.js
import { check } from "k6";
import { Nats, sleep } from "k6/x/nats";

export const options = {
	vus: 2,
	iterations: 6,
	thresholds: { checks: ["rate==1"], nats_publish_count: ["count==6"], nats_error_count: ["count==0"] },
};

const nats = new Nats({ servers: [__ENV.NATS_URL || "nats://127.0.0.1:4222"] });
let heard = [];
const subscription = nats.subscribe("k6.greetings", (msg) => heard.push(msg));

export default async function () {
	heard = [];
	nats.publishWithHeaders("k6.greetings", `hello of VU ${__VU}`, { "X-Vu": `${__VU}` });
	await sleep(1);
	const own = heard.find((msg) => msg.data === `hello of VU ${__VU}`);
	check(own, {
		"it came back": (msg) => msg !== undefined,
		"on its topic": (msg) => msg.topic === "k6.greetings",
		"with its header": (msg) => msg.header["X-Vu"] === `${__VU}`,
		"as bytes": (msg) => msg.raw[0] === 104 && msg.raw.length === msg.data.length,
	});
}

export function teardown() {
	nats.close();
	subscription.close();
}
