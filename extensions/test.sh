#!/bin/sh
# The Go half of `npm test`: each driver compiles alone, and tests, with the race detector where there is a C compiler.
set -eu
cd "$(dirname "$0")"
export GOFLAGS= GOWORK=off

# As mqbench builds k6: what Go has compiled for that is not compiled again.
for module in . xk6-* ../runner/tests/bench/go; do
	echo "go vet $module"
	(cd "$module" && CGO_ENABLED=0 go vet -trimpath -tags acceptance ./...)
done

# Vetted packages, with the versions that cmd/k6 links. Brokers and generators share the cores: one package for each.
tests() {
	{ go test -p 2 -vet=off -json "$@" || echo '{ "Action": "fail" }'; } | node test.mjs
}
if command -v "${CC:-cc}" >/dev/null 2>&1; then
	# What links k6 would have it compiled once more for the detector: `npm run acceptance` does that.
	k6=github.com/mqbench/mqbench/extensions/xk6-mqbench
	echo "go test -race"
	CGO_ENABLED=1 tests -race $(go list github.com/mqbench/mqbench/extensions/... | grep -vE "^$k6\$|/cmd/k6")
	CGO_ENABLED=0 tests -trimpath $k6
else
	echo "go test (no C compiler, so without the race detector)"
	CGO_ENABLED=0 tests -trimpath github.com/mqbench/mqbench/extensions/...
fi
