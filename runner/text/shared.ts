// biome-ignore format: a sentence is a line.
export const shared = {
	"no-such-file": "there is no such file",
	noexec: "Is its file system mounted with noexec? Name a user whose home allows programs",
	"nothing-to-rent": "{broker} has no server here, and no machines are rented for its clients alone; measure it with --target local",
	"measure-on-rig": "{file} says where they are, to its owner alone. Measure on them:\n  mqbench {scenario:quoted} --rig {file:quoted}",
} as const;
