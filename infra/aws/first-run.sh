#!/bin/sh
# sh first-run.sh <scenario.yaml> <new folder> <most USD an hour>: the first run in an account of AWS, and whether it went as it must. It
# rents, looks at the machines, measures, takes down, and looks for what is left; one line for each check. 0: all of them passed. What the
# commands say is in the folder. MQBENCH: the command, if it is not `mqbench`.
set -u
[ $# = 3 ] || { sed -n 2,4p "$0" >&2; exit 2; }
scenario=$(realpath "$1") || exit 2
mkdir "$2" && cd "$2" || exit 2
mqbench=${MQBENCH:-mqbench}
failed=0

check() {
	what=$1
	shift
	if "$@" >>checks.log 2>&1; then echo "passed  $what"; else echo "FAILED  $what"; failed=1; fi
}

# A value out of rig.json, as words.
rig() {
	node -e 'const rig = JSON.parse(fs.readFileSync("rig.json")); console.log('"$1"')'
}

# A command of mqbench; what it says goes to a file of that name.
step() {
	name=$1
	shift
	echo "        $mqbench $*"
	$mqbench "$@" >"$name.log" 2>&1
}

# Whoever leaves now leaves nothing that costs money.
trap 'trap "" HUP INT TERM; [ ! -e rig.json ] || $mqbench down rig.json' EXIT
trap 'exit 130' HUP INT TERM

step up up "$scenario" --target aws --yes --max-hourly-usd "$3"
check "the rig stands" [ -e rig.json ]
[ -e rig.json ] || { cat up.log; exit 1; }
id=$(rig 'rig.id')
region=$(rig 'rig.cloud.region')
rig '[...rig.clients, ...rig.brokers.flatMap(({ hosts }) => hosts)].map(({ host, user, identity, knownHosts }) => `${user}@${host} ${identity} ${knownHosts}`).sort().filter((one, i, all) => one !== all[i - 1]).join("\n")' >hosts.txt

step run run "$scenario" --rig rig.json --out report
check "the measurement passed" [ $? = 0 ]
# The set-up is over by now.
while read -r at identity known; do
	# shellcheck disable=SC2086 # options are words
	check "$at ends itself" ssh ${MQBENCH_SSH_OPTIONS-} -n -i "$identity" -o IdentitiesOnly=yes -o UserKnownHostsFile="$known" \
		-o BatchMode=yes "$at" systemctl is-active mqbench-ttl.service
done <hosts.txt
check "times across machines, if any were taken, are exact to 1 ms" node -e '
	const { runs } = JSON.parse(fs.readFileSync("report/result.json"));
	console.log(runs.map(({ clockBoundNs }) => clockBoundNs));
	process.exit(runs.length > 0 && runs.every(({ clockBoundNs }) => clockBoundNs === null || clockBoundNs <= 1e6) ? 0 : 1)'

step down down rig.json
check "the rig is down" [ $? = 0 ]
step sweep rigs sweep --region "$region" --id "$id"
check "nothing with its tag is left in $region" grep -q "Nothing to remove" sweep.log
exit $failed
