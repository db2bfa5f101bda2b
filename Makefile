# `make app` starts the app, `make serve` several of it for a class, `make test` runs the checks of five minutes, `make
# test-all` every check, as CI does, `make quick` those of what has changed, `make soak` those that take hours. Each sets up
# what it needs, once, in the versions of requirements.lock, which `make lock` makes anew. `make lowest` asks some tests of
# the oldest versions that pyproject.toml allows.

PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8501
REPLICAS ?= 2
PIP = .venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock
NPM = PATH="$(CURDIR)/.venv/bin:$$PATH" npm

# Where Python is told to keep no compiled files, every server that a test starts would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: app serve test test-all types views tests quick soak lowest format lock

app: .venv/app.done
	@.venv/bin/python -m tfmviz --host $(HOST) --port $(PORT)

serve: .venv/app.done
	@.venv/bin/python -m deploy.serve --replicas $(REPLICAS) --host $(HOST) --port $(PORT)

# What of the tests in Python is asked; see tests/sweep.py.
ASKED = not soak
test: ASKED = not soak and not sweep

test test-all: .venv/test.done
	scripts/find_chromium.sh
	scripts/find_haproxy.sh
	scripts/find_firefox.sh
	.venv/bin/python -m ruff check .
	.venv/bin/python -m ruff format --check .
	$(NPM) run --silent check
	@$(MAKE) --no-print-directory --jobs 3 types views tests ASKED="$(ASKED)"

# Beside one another, as mypy is busy for two minutes where it remembers nothing. If one fails the others still end, and
# the whole fails. What is said beside the tests comes in one piece. What answers in seconds is asked before them.
types:
	@said=$$(.venv/bin/python -m mypy 2>&1) || { printf '\n%s\n' "$$said"; exit 1; }

views:
	@said=$$($(NPM) run --silent test 2>&1) || { printf '\n%s\n' "$$said"; exit 1; }

tests:
	.venv/bin/python -m pytest -m "$(ASKED)" --numprocesses auto --maxprocesses 4 --dist loadfile

quick: .venv/test.done
	@.venv/bin/python -m scripts.quick

# Each process measures its own time and memory, so several may share the work.
soak: .venv/test.done
	scripts/find_chromium.sh
	scripts/find_haproxy.sh
	OMP_NUM_THREADS=1 .venv/bin/python -m pytest -m soak --numprocesses auto --maxprocesses 4 --dist worksteal

# In an environment of its own, and not in CI: torch's oldest is the one that is locked. Without node, so no views.
lowest: .venv/app.done
	$(PIP) uv==0.13.9
	test -d .venv-lowest || $(PYTHON) -m venv .venv-lowest
	.venv/bin/python -m uv pip compile --quiet --resolution lowest-direct pyproject.toml --no-emit-index-url \
		--no-emit-find-links --output-file .venv-lowest/versions.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --constraint .venv-lowest/versions.txt . \
		$$(grep -E "^(pytest|playwright)==" requirements-dev.txt)
	.venv-lowest/bin/python -m pytest -p no:cacheprovider tests/external tests/model/test_transformer.py \
		tests/model/test_attention.py tests/huggingface/test_chat.py

format: .venv/test.done
	.venv/bin/python -m scripts.draw_rooms
	.venv/bin/python -m scripts.draw_api
	.venv/bin/python -m ruff check --fix .
	.venv/bin/python -m ruff format .
	$(NPM) run --silent format
	$(NPM) run --silent build

# torch is locked as published, so its CUDA packages are in the lock; a CPU build does not ask for them.
lock: .venv/app.done
	$(PIP) uv==0.13.9
	.venv/bin/python -m uv pip compile --quiet --universal --python-version 3.11 requirements-dev.txt \
		--no-emit-index-url --no-emit-find-links --annotation-style line --custom-compile-command "make lock" \
		--output-file requirements.lock

.venv/app.done: requirements.txt requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed.")'
	test -d .venv || $(PYTHON) -m venv .venv
	$(PIP) -r requirements.txt
	touch $@

.venv/test.done: .venv/app.done requirements-dev.txt package.json package-lock.json
	$(PIP) -r requirements-dev.txt
	$(NPM) ci --silent --no-audit --no-fund
	touch $@
