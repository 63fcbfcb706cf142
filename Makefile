# Tasks of a contributor; each is a command that can be run by itself.
PYTHON = .venv/bin/python

.PHONY: run test test-all test-release test-kit test-rules test-client lint format docs sync site lock

run:
	python3 run.py

test:
	python3 run.py test

test-all:
	python3 run.py test --all

test-release:
	python3 run.py test --all --rare --no-skips

# The packages by themselves, without Django and the server: each in a minute.
test-kit test-rules test-client: test-%:
	$(PYTHON) -m pytest -c tests/packages.ini -n 2 --dist loadfile capability_$*/tests

lint:
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	.venv/bin/lint-imports
	$(PYTHON) -m mypy .
	$(PYTHON) -m djlint templates features --check --quiet

format:
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

# What is generated from the code: the page of findings and the OpenAPI document.
docs:
	python3 run.py manage findings_page
	python3 run.py manage openapi > agent_api/openapi.yaml

# The blocking half of the client, of the asynchronous one.
sync:
	$(PYTHON) -m deploy.unasync

# The pages of docs/ as a static site in .data/site/site; a link that leads nowhere is an error.
site:
	$(PYTHON) -m deploy.site

lock:
	python3 run.py lock
