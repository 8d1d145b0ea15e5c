import { rabbitmq as options } from "./options.ts";
import { rabbitmq, rabbitmqInDocker, rabbitmqOnHosts } from "./process.ts";

const process = {
	local: rabbitmq,
	docker: rabbitmqInDocker,
	hosts: rabbitmqOnHosts,
};

export const room = { ...options, process };
