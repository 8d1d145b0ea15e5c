#!/bin/sh
# The Go half of `npm test`: vet, tests (with the race detector where there is a C compiler), and that the parts with
# code of their own per system compile for the other two.
set -eu
cd "$(dirname "$0")"
export GOFLAGS= GOWORK=off

echo "go vet"
go vet -tags acceptance ./...

if command -v "${CC:-cc}" >/dev/null 2>&1; then
	echo "go test -race"
	CGO_ENABLED=1 go test -race ./...
else
	echo "go test (no C compiler, so without the race detector)"
	CGO_ENABLED=0 go test ./...
fi

for os in darwin windows; do
	echo "go build for $os"
	GOOS=$os CGO_ENABLED=0 go build -o /dev/null ./cmd/guard
	GOOS=$os CGO_ENABLED=0 go vet ./xk6-mqbench/pacer ./xk6-mqbench/generator
done
