"""Measures each construction of a network on T random examples of width p with labels 0 to 9.

python benchmarks/networks.py [T] [p]
"""

import json
import random
import sys
import tempfile
import time
from pathlib import Path

from attncert import Dataset, Request
from attncert.verify.checker import check_file
from attncert.verify.outputs.within import certificate
from attncert.verify.statements.registry import network_methods


def main(T: int = 1000, p: int = 64) -> None:
    draw = random.Random(0)
    queries = [[draw.randint(-9, 9) for _ in range(p)] for _ in range(T)]
    data = Dataset.of([[0] * p], queries, [draw.randint(0, 9) for _ in range(T)])
    columns = (
        "blocks",
        "units",
        "parameters",
        "bits",
        "longest",
        "build, s",
        "file, kB",
        "check, s",
    )
    print(f"| construction | {' | '.join(columns)} |")
    print(f"| --- |{' ---: |' * len(columns)}")
    path = Path(tempfile.mkdtemp()) / "certificate.json"
    for method in network_methods():
        start = time.process_time()
        network = method.build(data, Request()).network
        built = time.process_time()
        path.write_text(
            json.dumps(certificate(data, network, construction=method.name, produced_by={}))
        )
        begin = time.process_time()
        assert check_file(str(path), 600).status == "holds"
        seconds = time.process_time() - begin
        counts = (network.depth, network.units, network.parameters, network.bits, network.longest)
        row = " | ".join(f"{count:,}" for count in counts)
        kilobytes = path.stat().st_size // 1000
        print(
            f"| `{method.name}` | {row} | {built - start:.1f} | {kilobytes:,} | {seconds:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
