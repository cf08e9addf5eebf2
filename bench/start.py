"""Start-up time of `regard --help`, next to the bare interpreter and the import of torch.

python bench/start.py
"""

import subprocess
import sys
import time

ROUNDS = 7
CALLS = {
    "python alone": "pass",
    "regard --help": "from regard.cli.main import main; main(['--help'])",
    "import regard": "import regard",
    "import torch": "import torch",
}


def time_call(code):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    return time.perf_counter() - start


def main():
    """Take the best of several interleaved rounds, since the machine may be busy."""
    rounds = [{name: time_call(code) for name, code in CALLS.items()} for _ in range(ROUNDS)]
    for name in CALLS:
        best = min(each[name] for each in rounds)
        alone = min(each["python alone"] for each in rounds)
        print(f"{name:16} {best:6.3f} s  {best / alone:6.1f} times the interpreter")


if __name__ == "__main__":
    main()
