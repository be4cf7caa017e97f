"""Benchmarks, run by `aleator bench`: each module has SUMMARY and run(progress) -> Result."""
