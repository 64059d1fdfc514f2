#!/usr/bin/env bash
# Style and static checks with the tools pinned in tools/go.mod, so that they say the same everywhere.
set -euo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
folders=$(git ls-files --cached --others --exclude-standard '*.go' | cut -d/ -f1 | sort -u)

echo "gofumpt"
# shellcheck disable=SC2086
unformatted=$($GO tool -modfile=tools/go.mod gofumpt -l $folders)
if [ -n "$unformatted" ]; then
	echo "not formatted (make fmt does it):" >&2
	echo "$unformatted" >&2
	exit 1
fi

echo "go vet"
$GO vet ./...

echo "staticcheck"
$GO tool -modfile=tools/go.mod staticcheck ./...
