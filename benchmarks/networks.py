"""What each construction of a network costs: T random examples of width p, labels 0 to 9.

python benchmarks/networks.py [T] [p]
"""

import random
import sys
import time

from attncert import Dataset
from attncert.verify.methods.registry import network_methods


def main(T: int = 1000, p: int = 64) -> None:
    draw = random.Random(0)
    queries = [[draw.randint(-9, 9) for _ in range(p)] for _ in range(T)]
    data = Dataset.of([[0] * p], queries, [draw.randint(0, 9) for _ in range(T)])
    print("| construction | blocks | units | parameters | bits | longest | seconds |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for method in network_methods():
        start = time.process_time()
        network = method.build(data, 0).network
        seconds = time.process_time() - start
        sizes = (network.depth, network.units, network.parameters, network.bits, network.longest)
        row = " | ".join(f"{size:,}" for size in sizes)
        print(f"| `{method.name}` | {row} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
