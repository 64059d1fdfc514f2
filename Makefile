# Muster's tasks. `make help` lists them.

GO      ?= go
KAFKA   ?= 4.3.1 4.0.2 3.9.2
BINARY  := bin/muster

.DEFAULT_GOAL := help
.PHONY: help build verify test test-kafka lint fmt bench nightly rewrite clean

help: ## List the tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build bin/muster
	$(GO) build -o $(BINARY) ./cmd/muster

verify: ## Judge the embedded reference coordinator (no Java, < 60 s)
	$(GO) run ./cmd/muster verify

test: ## The test suite in parts, real Kafka included where Java and Maven are there (< 5 min on two cores)
	@GO="$(GO)" tools/test.sh

test-kafka: ## Every scenario on real Kafka: $(KAFKA)
	@GO="$(GO)" tools/test-kafka.sh $(KAFKA)

lint: ## gofumpt, go vet and staticcheck, pinned in tools/go.mod
	@GO="$(GO)" tools/lint.sh

fmt: ## Format the source
	$(GO) tool -modfile=tools/go.mod gofumpt -w cmd checker conformance fuzz impl internal model

bench: ## Benchmarks of the model, the coordinator and the judges
	$(GO) test -run '^$$' -bench . -benchmem ./model/... ./impl/... ./checker/...

nightly: ## What takes too long for every change (about an hour)
	@GO="$(GO)" tools/nightly.sh $(KAFKA)

rewrite: ## Record the expected text of every scenario anew from real Kafka 4.3.1; read the change before committing it
	$(GO) run ./cmd/muster run --rewrite --target kafka:4.3.1 conformance/scenarios/*.txt

clean: ## Remove what building and judging leaves
	rm -rf bin muster-out
