import { expect, test } from "vitest";
import { SSH_PLACE, sshPlace, sshPlaceText } from "./ssh-host.ts";

test.each([
	["10.0.0.11", { user: null, host: "10.0.0.11", port: null }],
	["bench@h-1:2222", { user: "bench", host: "h-1", port: 2222 }],
	["[fd00::11]", { user: null, host: "fd00::11", port: null }],
	["bench@[::1]:22", { user: "bench", host: "::1", port: 22 }],
])("%s is read and written", (text, place) => {
	expect(sshPlace(text)).toEqual(place);
	expect(sshPlaceText(place)).toBe(text);
});

test.each(["fd00::11", "[h]", "-oProxyCommand=x", "a:b", "a@b@c"])("%s is none", (text) => {
	expect(text).not.toMatch(SSH_PLACE);
});
