"""Run the benchmarks that take minutes and need no data."""

import runpy
from pathlib import Path

if __name__ == "__main__":
    runpy.run_path(str(Path(__file__).with_name("training_speed.py")), run_name="__main__")
