import { nats as options } from "./options.ts";
import { nats, natsInDocker, natsOnHosts } from "./process.ts";

const process = { local: nats, docker: natsInDocker, hosts: natsOnHosts };

export const room = { ...options, process };
