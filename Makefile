# Muster's tasks. `make help` lists them.

GO      ?= go
KAFKA   ?= 4.4.0 4.3.1 4.0.2 3.9.2
BINARY  := bin/muster

.DEFAULT_GOAL := help
.PHONY: help build verify test test-judges test-kafka test-pages test-clients explore bugs mutants mutants-new mutants-sample fuzz atlas pairs lint fmt bench bench-store bench-serve nightly rewrite clean

help: ## List the tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {gsub(/\$$\(KAFKA\)/, "$(KAFKA)"); printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build bin/muster
	$(GO) build -o $(BINARY) ./cmd/muster

verify: ## Judge the embedded reference coordinator (no Java, < 60 s); bin/muster tells the exit code
	$(GO) run ./cmd/muster verify

test: ## The test suite in parts, real Kafka included where Java and Maven are there (< 5 min on two cores)
	@GO="$(GO)" tools/test.sh

test-judges: ## The judges judged: the reference beside the specification, wrong histories, planted bugs; what make test has no time for (< 5 min)
	@GO="$(GO)" tools/test-judges.sh

test-kafka: ## Every scenario on real Kafka: $(KAFKA)
	@GO="$(GO)" tools/test-kafka.sh $(KAFKA)
	MUSTER_REQUIRE_KAFKA=1 $(GO) test -count=1 -timeout 10m -v -run '^TestKafka' ./internal/doctor

test-pages: ## The pages that Muster writes, opened in headless Chromium at the size of a phone and of a desk; skipped where there is no chromium
	cd tools/browser && $(GO) vet ./... && $(GO) test -count=1 -timeout 10m -v ./...

test-clients: ## Real clients on muster serve and on real Kafka, which have to look the same to them (< 5 min; what a machine lacks is skipped)
	cd tools/clients && $(GO) vet ./... && $(GO) test -count=1 -timeout 20m -parallel 3 -v ./...

explore: build ## Every state of larger groups: what takes too long for make test (< 20 min; bin/muster explore --list shows the runs)
	$(BINARY) explore --night --until 20m

bugs: ## Every judge on every bug of the bank, and docs/bugs.md from it (about half an hour; make bug-ID for one of them)
	MUSTER_BUGS=all $(GO) test -count=1 -timeout 3h -v -run '^TestBugs$$' ./fuzz/bugs -update

bug-%: # every judge on one bug; UPDATE=1 keeps what it finds in docs/bugs.md
	MUSTER_BUGS=$* $(GO) test -count=1 -timeout 30m -v -run '^TestBugs$$' ./fuzz/bugs $(if $(UPDATE),-update)

fuzz: ## Every native fuzz target, for FUZZTIME together (5m); what is found is kept under testdata/fuzz
	@GO="$(GO)" tools/fuzz.sh

atlas: ## Every scenario on every Kafka minor release since 2.4, two brokers at a time, and docs/atlas.md from it (about 25 min)
	$(GO) run ./cmd/muster atlas --out docs/atlas.md

pairs: ## Pairs of Kafka releases, one with a fault and one without: told apart by scenarios and by muster diff alone, and docs/pairs.md from it (about an hour)
	$(GO) run ./cmd/muster pairs --out docs/pairs.md

lint: ## gofumpt, go vet and staticcheck, pinned in tools/go.mod
	@GO="$(GO)" tools/lint.sh

fmt: ## Format the source
	$(GO) tool -modfile=tools/go.mod gofumpt -w cmd checker conformance fuzz impl internal model

bench: ## Benchmarks of the model, the coordinator and the judges
	$(GO) test -run '^$$' -bench . -benchmem ./model/... ./impl/... ./checker/... ./conformance/targets/embedded

bench-store: ## What the log of muster serve --data costs: appends beside a bare fsync, a load of 100,000 groups of 3, and their memory (1 min)
	$(GO) test -run '^$$' -bench 'Fsync|Append' -benchtime 2s ./impl/store
	$(GO) test -run '^$$' -bench ColdLoad -benchtime 1x ./impl/server

bench-serve: build ## muster serve beside kfake and real Kafka, in one run, and docs/bench-serve.md from it; what costs no network besides (about 10 min)
	$(GO) build -o bin/servebench ./internal/servebench
	bin/servebench --out docs/bench-serve.md
	$(GO) test -run '^$$' -bench Beat ./impl/core
	$(GO) test -run '^$$' -bench Day -benchtime 1x ./impl/sim
	MUSTER_BENCH=1 $(GO) test -count=1 -run '^TestVirtualLifetimes$$' -v ./impl/server

nightly: ## What takes too long for every change (about four hours)
	@GO="$(GO)" tools/nightly.sh $(KAFKA)

mutants: ## Thousands of small changes to coordinator, specification, scenarios and histories: who notices; docs/mutants.md from it (< 60 min on two cores)
	$(GO) test -count=1 -timeout 90m -v -run '^TestMutants$$' ./fuzz/mutants -args -mutants

mutants-new: ## The same for changes of which nothing is known yet: after a change of impl/core or model/classic
	$(GO) test -count=1 -timeout 90m -v -run '^TestMutants$$' ./fuzz/mutants -args -new

mutants-sample: ## 40 of them, drawn by a fixed seed (< 20 s)
	$(GO) test -count=1 -timeout 5m -v -run '^TestSample$$' ./fuzz/mutants -args -sample

rewrite: ## Record the expected text of every scenario anew from real Kafka 4.3.1; read the change before committing it
	$(GO) run ./cmd/muster run --rewrite --target kafka:4.3.1 conformance/scenarios/*.txt

clean: ## Remove what building and judging leaves
	rm -rf bin muster-out
