# Muster's tasks. `make help` lists them.

GO      ?= go
KAFKA   ?= 4.4.0 4.3.1 4.0.2 3.9.2
BINARY  := bin/muster

.DEFAULT_GOAL := help
.PHONY: help build verify test test-kafka test-pages test-clients explore atlas lint fmt bench nightly rewrite clean

help: ## List the tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {gsub(/\$$\(KAFKA\)/, "$(KAFKA)"); printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build bin/muster
	$(GO) build -o $(BINARY) ./cmd/muster

verify: ## Judge the embedded reference coordinator (no Java, < 60 s); bin/muster tells the exit code
	$(GO) run ./cmd/muster verify

test: ## The test suite in parts, real Kafka included where Java and Maven are there (< 5 min on two cores)
	@GO="$(GO)" tools/test.sh

test-kafka: ## Every scenario on real Kafka: $(KAFKA)
	@GO="$(GO)" tools/test-kafka.sh $(KAFKA)
	MUSTER_REQUIRE_KAFKA=1 $(GO) test -count=1 -timeout 10m -v -run '^TestKafka' ./internal/doctor

test-pages: ## The pages that Muster writes, opened in headless Chromium at the size of a phone and of a desk; skipped where there is no chromium
	cd tools/browser && $(GO) vet ./... && $(GO) test -count=1 -timeout 10m -v ./...

test-clients: ## Real clients on muster serve and on real Kafka, which have to look the same to them (< 5 min; what a machine lacks is skipped)
	cd tools/clients && $(GO) vet ./... && $(GO) test -count=1 -timeout 20m -parallel 3 -v ./...

explore: build ## Every state of larger groups: what takes too long for make test (< 20 min; bin/muster explore --list shows the runs)
	$(BINARY) explore --night --until 20m

atlas: ## Every scenario on every Kafka minor release since 2.4, two brokers at a time, and docs/atlas.md from it (about 25 min)
	$(GO) run ./cmd/muster atlas --out docs/atlas.md

lint: ## gofumpt, go vet and staticcheck, pinned in tools/go.mod
	@GO="$(GO)" tools/lint.sh

fmt: ## Format the source
	$(GO) tool -modfile=tools/go.mod gofumpt -w cmd checker conformance fuzz impl internal model

bench: ## Benchmarks of the model, the coordinator and the judges
	$(GO) test -run '^$$' -bench . -benchmem ./model/... ./impl/... ./checker/... ./conformance/targets/embedded

nightly: ## What takes too long for every change (about two hours)
	@GO="$(GO)" tools/nightly.sh $(KAFKA)

rewrite: ## Record the expected text of every scenario anew from real Kafka 4.3.1; read the change before committing it
	$(GO) run ./cmd/muster run --rewrite --target kafka:4.3.1 conformance/scenarios/*.txt

clean: ## Remove what building and judging leaves
	rm -rf bin muster-out
