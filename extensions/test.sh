#!/bin/sh
# The Go half of `npm test`: each driver compiles alone, and tests, with the race detector where goroutines of ours share memory and there
# is a C compiler. `test.sh acceptance` runs what takes minutes: tests with that build tag, and drivers with the detector.
set -eu
cd "$(dirname "$0")"
export GOFLAGS=-gcflags=all=-dwarf=false GOWORK=off GOGC=${GOGC:-400}
ours=github.com/mqbench/mqbench/extensions
# The driver that is in no k6 of ours, because of what it takes to compile.
apart=xk6-pulsar

# Vetted packages, with the versions that cmd/k6 links: three at once, because most of the time each waits for its broker. Kafka's
# took eleven minutes where others used the cores as well.
tests() {
	{ go test ${in:+-C "$in"} -p 3 -timeout 40m -vet=off -json "$@" || echo '{ "Action": "fail" }'; } | node test.mjs
}

if [ "${1:-}" = acceptance ]; then
	# Of drivers whose servers start fast, also the contract and what becomes of them if the server freezes or goes, with the detector.
	slow=$(sed -n 's/^func \(Test[A-Za-z0-9]*\)(.*/^\1$/p' xk6-*/*_acceptance_test.go examples/*/*_acceptance_test.go xk6-mqbench/*/*_acceptance_test.go | sort -u | paste -sd '|' -)
	long="-count 1 -p 2 -parallel 2 -tags acceptance"
	echo "go test -race -tags acceptance"
	CGO_ENABLED=1 tests $long -race -run "$slow" $ours/xk6-amqp $ours/xk6-kafka
	CGO_ENABLED=1 tests $long -race -run "Conform|Contract|GoesOn|GoOn|Frozen|Restarted|$slow" \
		$(go list $ours/... | grep -E "/xk6-[a-z-]+$" | grep -vE "/xk6-(amqp|kafka|sqs)$")
	CGO_ENABLED=1 tests -count 1 -race $ours/xk6-mqbench/generator
	echo "go test -tags acceptance"
	# A billion messages would take the detector an hour; with it, a request of SQS over HTTP takes longer than its contract allows an idle system.
	# All of Pulsar's tests, which `npm test` leaves out. Its client would have C compiled for the detector, instead of what mqbench ships.
	(cd $apart && CGO_ENABLED=0 go vet -trimpath -tags acceptance .)
	(in=$apart CGO_ENABLED=0 tests $long -trimpath .) & pulsar=$!
	CGO_ENABLED=0 tests $long -trimpath -run "$slow" $ours/xk6-mqbench/generator $ours/xk6-sqs || { wait $pulsar; exit 1; }
	wait $pulsar
	exit
fi

# As mqbench builds k6: what Go has compiled for that is not compiled again. Each module compiles alone, and all are vetted together, which
# takes a fifth of the time.
all=$(go list $ours/...)
echo "go build, go vet"
for module in xk6-* examples/xk6-*; do
	[ "$module" = $apart ] || (cd "$module" && CGO_ENABLED=0 go build -trimpath ./...)
done
CGO_ENABLED=0 go vet -trimpath -tags acceptance,drivers $all
(cd ../runner/tools/bench/go && CGO_ENABLED=0 go vet -trimpath ./...)

if command -v "${CC:-cc}" >/dev/null 2>&1; then
	# README.md says why these. What links k6 would have it compiled once more for the detector: `npm run acceptance` does that.
	shared="/xk6-mqbench/(books|broker|deadline|ledger|recorder|schedule)$"
	k6="/xk6-mqbench$|/cmd/k6$"
	echo "go test -race"
	CGO_ENABLED=1 tests -race $(echo "$all" | grep -E "$shared" | grep -vE "$k6")
	echo "go test"
	# The other tests of packages that are above too, and all of the rest; those that take longest begin.
	longest="$ours/xk6-kafka $ours/xk6-mqbench/generator $ours/xk6-nsq $ours/xk6-rabbitmq $ours/xk6-nats $ours/xk6-nats-streaming"
	CGO_ENABLED=0 tests -trimpath $longest $(echo "$all" | grep -vE "/xk6-mqbench/(broker|deadline|recorder)$|$k6") $ours/xk6-mqbench
else
	echo "go test (no C compiler, so without the race detector)"
	CGO_ENABLED=0 tests -trimpath $all
fi
