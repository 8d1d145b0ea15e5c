#!/bin/sh
# The Go half of `npm test`: each driver builds alone, vet, tests (with the race detector where there is a C compiler), and that
# the parts with code of their own per system compile for the other two.
set -eu
cd "$(dirname "$0")"
export GOFLAGS= GOWORK=off

for module in xk6-*; do
	echo "go build $module"
	(cd "$module" && go build ./...)
done

# The packages of all modules, with the versions that cmd/k6 links.
all=github.com/mqbench/mqbench/extensions/...

echo "go vet"
go vet -tags acceptance "$all"

if command -v "${CC:-cc}" >/dev/null 2>&1; then
	echo "go test -race"
	CGO_ENABLED=1 go test -race "$all"
else
	echo "go test (no C compiler, so without the race detector)"
	CGO_ENABLED=0 go test "$all"
fi

for os in darwin windows; do
	echo "go build for $os"
	GOOS=$os CGO_ENABLED=0 go build -o /dev/null ./cmd/guard
	(cd xk6-mqbench && GOOS=$os CGO_ENABLED=0 go vet ./pacer ./generator)
done
