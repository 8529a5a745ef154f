# Ingest and queries of 1,000 simulated nodes with a million blocks, in a file and in PostgreSQL; minutes.
.PHONY: bench-fleet
bench-fleet: $(BUILD)/hone
	python3 bench/fleet.py --hone $(BUILD)/hone
	python3 bench/fleet.py --hone $(BUILD)/hone --postgres
