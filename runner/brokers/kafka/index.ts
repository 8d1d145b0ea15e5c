import { kafka as options } from "./options.ts";
import { kafka, kafkaInDocker, kafkaOnHosts } from "./process.ts";

const process = { local: kafka, docker: kafkaInDocker, hosts: kafkaOnHosts };

export const room = { ...options, process };
