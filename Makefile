# make test        everything that CI checks, from nothing
# make test-slow   the checks that take minutes
# make test-portable  the tests of whatever computes, as on other processors: other BLAS kernels, no AVX-512, plain SSE2
# make demo        train ReBeL on Liar's Dice from nothing on this CPU, in minutes; compare with the paper
# make play        the web app on localhost, opened in a browser
# make screenshots the pictures in docs/images, taken by the tests
# make curves      the learning curves in docs/images/curves, measured anew
# make docs        the documentation site, in site/
# make tutorials   the notebooks of the documentation run again, with what they print
# make test-js     the JavaScript of the web app: format, lint, unit tests; part of make test
# make install     only the environment, in .venv

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# tests start a thousand processes: none of them should compile the Python that another has compiled already
export PYTHONDONTWRITEBYTECODE :=
STAMP := $(VENV)/.installed
NODE_STAMP := node_modules/.installed

# what stands for other processors; + joins settings of one run. OpenBLAS' kernels for Zen are those for Haswell, bit by
# bit, and those for newer processors with AVX-512 are SkylakeX's, which such a machine has anyway
PORTABLE_TORCH := ATEN_CPU_CAPABILITY=default+MKL_CBWR=COMPATIBLE
PORTABLE := OPENBLAS_CORETYPE=Haswell OPENBLAS_CORETYPE=Sandybridge OPENBLAS_CORETYPE=Nehalem \
	NPY_DISABLE_CPU_FEATURES=X86_V4,AVX512_ICL,AVX512_SPR NUMBA_CPU_NAME=generic $(PORTABLE_TORCH) \
	OPENBLAS_CORETYPE=Nehalem+NPY_DISABLE_CPU_FEATURES=X86_V4,AVX512_ICL,AVX512_SPR+NUMBA_CPU_NAME=generic+$(PORTABLE_TORCH)
# what no processor changes, and what is therefore left to `make test`: pages and requests, protocols, bytes and texts,
# processes and disks, the rules of betting in whole chips
PORTABLE_SAME := tests/apps/web tests/apps/test_stopping.py tests/apps/test_full_disk.py tests/apps/test_own_games.py \
	tests/arena/acpc tests/arena/whole_hands/test_phh.py tests/docs/test_site.py tests/fuzz tests/storage \
	$(addprefix tests/games/holdem/test_,bet_menu.py betting.py betting_referee.py betting_tree.py cards.py \
	hand_range.py hand_record.py hand_referee.py hand_types.py level_menu.py node_path.py pots.py spot_file.py) \
	$(addprefix tests/test_,errors.py meter.py package.py parsing.py settings.py)
PORTABLE_TESTS := tests $(addprefix --ignore=,$(PORTABLE_SAME))

.PHONY: install test test-js check-js test-slow test-portable lint demo play curves docs tutorials screenshots clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers 2
	$(BIN)/lint-imports --no-cache

test: $(STAMP)
	@$(MAKE) --no-print-directory -j 2 -Otarget lint test-js
	$(BIN)/python -m pytest -n auto --dist worksteal

test-js:
	@if node -e 'process.exit(+(parseInt(process.versions.node) < 20))' 2>/dev/null && command -v npm >/dev/null; \
		then $(MAKE) --no-print-directory check-js; \
		else echo "The JavaScript of the web app is not checked: Node.js 20 and npm are missing (apt-get install nodejs npm)"; fi

check-js: $(NODE_STAMP)
	node_modules/.bin/prettier --log-level warn --check src/aleator/apps/web/static tests/apps/web/js *.js
	node_modules/.bin/eslint
	node --test --test-reporter=dot tests/apps/web/js/*.test.js

$(NODE_STAMP): package.json package-lock.json
	npm ci --silent --no-audit --no-fund
	touch $@

test-slow: $(STAMP)
	$(BIN)/python -m pytest -m slow -n auto --dist loadgroup

test-portable: $(STAMP)
	@failed=; for settings in $(PORTABLE); do \
		echo "== $$settings"; \
		env $$(echo $$settings | tr + ' ') $(BIN)/python -m pytest -q -n auto --dist worksteal $(PORTABLE_TESTS) || failed="$$failed $$settings"; \
	done; test -z "$$failed" || { echo "failed with:$$failed"; exit 1; }

demo: $(STAMP)
	$(BIN)/aleator demo --out out

play: $(VENV)/.played
	$(BIN)/aleator serve --open

$(VENV)/.played: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[web,neural]'
	touch $@

curves: $(STAMP)
	$(BIN)/python docs/curves.py

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

tutorials: $(STAMP)
	$(BIN)/python docs/tutorials.py

screenshots: $(STAMP)
	ALEATOR_SCREENSHOTS=1 $(BIN)/python -m pytest tests/apps/web/test_browser.py tests/apps/web/test_browser_hands.py \
		tests/apps/web/test_browser_play.py -q

clean:
	rm -rf $(VENV) node_modules out site .mypy_cache .pytest_cache .ruff_cache
