"""Regenerate docs/gallery/: `python docs/make_gallery.py [PAGE ...]`, then read the diff.

`--check` writes nothing; if files differ, it names them and exits with status 1. Every
page is made by the same functions as the command line's reports; times are left out, so that the
same versions give the same bytes. Figures, and the numbers on the pages in FLOATING, are compared
only if everything in docs/gallery/made-with.json is the same (NPY_DISABLE_CPU_FEATURES="X86_V4
AVX512_ICL" ensures this on processors with AVX-512).
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from flint import arb, fmpq
from threadpoolctl import threadpool_info

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.digits import all_digits, digits
from attncert.constructions.data.loading import load
from attncert.constructions.given.zeros import best_sizes, most_examples
from attncert.constructions.layer import parameter_count
from attncert.constructions.weights.load import load_weights
from attncert.reports.answers import report
from attncert.reports.report import MARK
from attncert.reports.words.jsonable import readable_json
from attncert.verify.certificates.certificate import canonical_bytes
from attncert.verify.claims.evidence import About, Level
from attncert.verify.claims.ids import ClaimId
from attncert.verify.compare.compare import compare
from attncert.verify.fit.fitted import fit
from attncert.verify.limits.capacity.capacity import capacity as capacity_of
from attncert.verify.prove.prove import prove
from attncert.verify.questions.compare import Compare
from attncert.verify.questions.fit import Capacity, Fit
from attncert.verify.questions.kruskal import Assume
from attncert.verify.questions.layer import LayerQuestion
from attncert.verify.questions.prove import Prove
from attncert.verify.statements.registry import register
from attncert.verify.third_party.assume.assume import assume
from attncert.verify.third_party.layer.layer import layer

ROOT = Path(__file__).resolve().parent.parent
BENCHMARKS = ROOT / "benchmarks"
GALLERY = ROOT / "docs" / "gallery"
MADE_WITH = "made-with.json"
DRAWING = ("matplotlib", "numpy")
# Pages with floats, whose last digits depend on BLAS's kernels and NumPy's vector instructions.
FLOATING = ("adder", "constants", "digits-assumptions", "trained-layer")
NUMBER = re.compile(rb"\\?-?\d[\d,.]*(e[-+]?\d+)?")
LARGE = 400_000  # bytes; a larger certificate is not kept, but its page says how to write it
sys.path += [str(BENCHMARKS), str(BENCHMARKS.parent / "tests")]  # for pages whose modules lie there

Files = Mapping[str, bytes]


def digits_by_the_paper() -> Files:
    """The page for the README's example; its certificate is kept."""
    return _proof(digits(), Prove(heads=8, head_width=4, examples=25), large=10**6)


def digits_width_one() -> Files:
    return _proof(digits(), Prove("width-one", examples=97))


def digits_generic() -> Files:
    return _proof(digits(), Prove("generic", examples=25))


def digits_assumptions() -> Files:
    question = Assume(heads=8, head_width=4, examples=300)
    return _kept(report(assume(digits(), question)).files)


def a1_false() -> Files:
    return _proof(load(str(ROOT / "examples" / "a1-false.json")), Prove())


def not_all_placed() -> Files:
    return _proof(load(str(ROOT / "examples" / "not-all-placed.json")), Prove())


def above_the_bound() -> Files:
    data = load(str(ROOT / "examples" / "a1-false.json"))
    return _proof(data, Prove(heads=1))


def two_layers() -> Files:
    data = load(str(ROOT / "examples" / "one-query.json"))
    return _proof(data, Prove(heads=2, head_width=4, before="mean"))


def depth() -> Files:
    """Two layers of attention on 60 digits, with the certificates for all three notions."""
    return _kept(report(capacity_of(digits(), Capacity(layers=2, examples=60))).files)


def tightness() -> Files:
    import tightness_page

    return tightness_page.render(list(tightness_page.cases()))


def digits_all() -> Files:
    """All digits that satisfy A2; an introduction says what the file proves."""
    data = digits()
    proof = prove(data, Prove(construction="width-one"))
    full, certificate = report(proof).files, proof.certificate
    assert certificate is not None
    files = _kept(full)
    dims, placing = certificate["dims"], sum(map(bool, certificate["groups"]))
    each = parameter_count(data.d, data.m, 1, 1, data.m)
    format_line, title, rest = files["report.md"].decode().split("\n", 2)
    every = all_digits().T
    lead = [
        f"""**One attention layer, every handwritten digit of a public data set, memorized exactly,
        with a file that proves it.** Of the {every:,} UCI handwritten digits
        {data.T:,} satisfy Assumption 2 (the quarters of the other {every - data.T} are dependent).
        One layer of {dims["heads"]} heads of width one, {each * dims["heads"]:,} parameters,
        memorizes all of them universally: whatever the labels, some values and output give them
        exactly, because the features have rank {data.T:,} over the rationals. The file has
        {len(full["certificate.json"]) / 1e6:.2f} MB. To write it, and to check it:""",
        "```text\nattncert prove digits --construction width-one --out all\n"
        "attncert check --fast all/certificate.json\n```",
        f"""*Why {dims["heads"]} heads, and why {placing} place them all.* With n = {data.n} tokens
        the width-one theorem promises n - 1 = {data.n - 1} examples a head, and one more:
        {data.T:,} need {dims["heads"]}. It promises that for *every* data set with independent
        contexts and queries, shared contexts included, where no head can do better. Here the
        contexts differ, and a head may place up to d = {data.d} examples: {placing} heads were
        enough, and the other {dims["heads"] - placing} are idle, all weights 0. Their features
        repeat one another's and nothing in the proof needs them: the {placing} heads alone are a
        layer of {each * placing:,} parameters with the same rank.""",
    ]
    text = "\n\n".join(x if x[0] == "`" else fill(" ".join(x.split()), 100) for x in lead)
    return files | {"report.md": f"{format_line}\n{title}\n\n{text}\n{rest}".encode()}


def hypotheses() -> Files:
    from hypotheses.page import render

    return render()


def digits_compared() -> Files:
    """Every construction on 385 digits, in two minutes."""
    return _kept(report(compare(digits(), Compare(examples=385))).files)


def capacity() -> Files:
    import capacity_page

    return capacity_page.render()


def next_token() -> Files:
    """The report for 5 heads, after an introduction to all three notions."""
    data = load(str(ROOT / "examples" / "text.json"))
    fitted = fit(data, Fit(heads=6, steps=1000, seed=1))
    assert fitted.standing is Level.ENCLOSED and fitted.certificate is not None
    answer = capacity_of(data, Capacity(heads=5))
    universal, each, _ = answer.notions
    these = len(canonical_bytes(fitted.certificate))
    every, all_at_once = (
        len(canonical_bytes(answer.certificates[about]))
        for about in (About.EVERY_LABELLING, About.UNIVERSAL)
    )
    assert each.enough is not None and universal.enough is not None
    spans, sets = answer.jacobian.spans, each.enough.number - 1
    fewer = [
        spans.bound(4, 1, 1),
        most_examples(best_sizes(sets, 1, spans), 1, spans),
        16 * (universal.enough.number - 1),
    ]
    lead = f"""**{data.T} characters of a text, memorized exactly by one causal layer.** The text
is the beginning of this project's licence, `examples/text.json`. A character has 16 integers from
-9 to 9, drawn from a seed. At each place the layer sees how often each character has
occurred, and which came last; it outputs the number of the next one. The heads have width one:

| what is memorized | heads | fewer heads | file |
| --- | ---: | --- | ---: |
| these {data.T} next characters | 6 | 5: open; 4: almost no labels, {fewer[0]} < {data.T} | \
{these / 1e6:.1f} MB |
| each labelling, by its own weights | {each.enough.number} | {each.needed} to {sets} \
open; sets of {sets} serve {fewer[1]} < {data.T} | \
{every / 1e3:.0f} kB |
| all labellings, by one choice of keys and queries | {universal.enough.number} | \
{universal.enough.number - 1}: no weights, {fewer[2]} < {data.T} | {all_at_once / 1e3:.0f} kB |

The first is certified in intervals: real weights near those found output these characters exactly.
It takes a minute to find and 9 s to check; its file is not kept here. The others are below, proved
by ranks. `attncert check --verified` accepts all three. In the second row a set consists of heads
with the same key and query whose values add up to 0.

```text
attncert fit examples/text.json --heads 6 --steps 1000 --seed 1
attncert capacity examples/text.json --heads 5
```
"""
    files = _kept(report(answer).files)
    format_line, title, rest = files["report.md"].decode().split("\n", 2)
    text = lead.replace("\\\n", "")
    return files | {"report.md": f"{format_line}\n{title}\n\n{text}{rest}".encode()}


def constants() -> Files:
    import constants_page

    return constants_page.render()


def experiments() -> Files:
    """From committed rows, which took hours to compute: `python benchmarks/experiments.py`."""
    import experiments_page

    rows = BENCHMARKS / "results" / "experiments.json"
    return experiments_page.render(json.loads(rows.read_bytes()))


def digits_kernel() -> Files:
    """From committed rows, as measured: `python benchmarks/kernel.py` (Coq is needed)."""
    raw = (BENCHMARKS / "results" / "kernel.json").read_bytes()
    measured = json.loads(raw)
    processor = measured["machine"]["processor"]
    headings = ["digits", "longest number", "certificate", "verified checker", "Coq's kernel"]
    rows = [
        [
            row["examples"],
            f"{row['digits of the longest number']:,} digits",
            f"{row['certificate MB']} MB",
            f"{row['verified s']} s, {row['verified MiB']} MiB",
            f"{row['kernel s']} s, {row['kernel MiB']} MiB",
        ]
        for row in measured["rows"]
    ]
    theorems = "\n".join(f"- {row['examples']} digits: {row['said']}." for row in measured["rows"])
    commands = "\n".join(
        f"{row['made by'].replace('DATA', 'digits')} --out {row['examples']}\n"
        f"attncert check --verified {row['examples']}/certificate.json\n"
        f"attncert check --kernel {row['examples']}/certificate.json"
        for row in measured["rows"]
    )
    digests = "\n".join(
        f"- {row['examples']} digits: `{row['digest']}`" for row in measured["rows"]
    )
    axioms = sorted({name for row in measured["rows"] for name in row["assumptions"]})
    words = [name for name in axioms if name.split(".")[0] in ("PrimInt63", "Uint63")]
    rest = ", ".join(f"`{name}`" for name in axioms if name not in words)
    text = f"""# 25 and 49 digits, checked by Coq's kernel

**One attention layer by the paper's construction outputs exactly the label of each of 25, and of
49, handwritten digits: these are theorems that Coq's kernel has checked, over the real numbers with
the true exponential.** The theorems are:

{theorems}

{_table(headings, rows)}

The table gives processor time and largest memory on one core of a shared machine ({processor}).
The verified checker is the executable that is extracted from a checker proved correct. In the last
column Coq evaluates that checker inside its kernel, and the file is a theorem. To do it again:

```text
attncert kernel build
{commands}
```

The digests of the certificates:

{digests}

The theorems rest on {rest}, and on {len(words)} operations on 63-bit words with their laws
(`PrimInt63`, `Uint63`); [`kernel.json`](kernel.json) names them all. docs/kernel.md compares the
statement in words with what Coq reads, the file `attncert-report/kernel/instance.v` that
`--kernel` writes.
"""
    return {"report.md": text.encode(), "kernel.json": raw}


def bytes_to_theorem() -> Files:
    """One small certificate from the page on tightness, with the Coq text of what it proves."""
    raw = (GALLERY / "tightness" / "certificates" / "given-labels-3.json").read_bytes()
    checker = ROOT / "verify" / "kernel" / "checker"
    proved, said = ((checker / name).read_text() for name in ("verified.v", "Spec.v"))
    theorem = _between(proved, "Theorem accepted_interpolation", "\nProof.")
    meaning = _between(said, "Definition interpolates ", "\n\n")
    layer = _between(said, "Definition logit ", "\nEnd Layer.")
    files = {"certificate.json": raw}
    return files | {"report.md": BYTES.format(raw.decode(), theorem, meaning, layer).encode()}


def _between(text: str, first: str, end: str) -> str:
    start = text.index(first)
    return text[start : text.index(end, start)]


BYTES = """# From bytes to a theorem

**One head of width one outputs three given labels exactly; the paper's bound allows it one.**
These are the bytes of the certificate, [a file](certificate.json) of about 1 kB:

```text
{0}
```

```console
$ attncert check --verified certificate.json
holds: verified: the outputs equal the labels of all 3 examples, exactly
```

The program that prints this line is extracted from `judge`, and Coq has checked this theorem. Here
`f` is the bytes, `Got x` the verdict *holds*, and `behind [] c c'` says that `c'` is `c`:

```coq
{1}
```

What it says is defined over Coq's own real numbers, with their `exp` and `ln`:

```coq
{2}

{3}
```

The theorem rests on `sig_not_dec`, `sig_forall_dec`, `functional_extensionality_dep` and `classic`,
the verdict on Coq's extraction and OCaml, too: docs/kernel.md lists what you have to trust.
"""


def _table(headings: list[str], rows: list[list[object]]) -> str:
    lines = [headings, ["---:"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def trained_layer() -> Files:
    """Weights that examples/train_layer.py made in seconds, audited before and after training."""
    folder = ROOT / "examples" / "trained"
    data = load(str(folder / "data.npz"))
    files: dict[str, bytes] = {}
    parts = []
    for when in ("before", "after"):
        weights = load_weights(folder / f"{when}.npz", heads=3)
        answer = layer(weights, data, LayerQuestion(tolerance="0.1"))
        page = report(answer)
        files |= {
            f"{when}/{name}": content
            for name, content in page.files.items()
            if name != "timings.json"
        }
        parts += [
            f"## {when.capitalize()} training",
            f"**{page.sentences[0]}**",
            f"[The report]({when}/report.md).",
            f"![Saturation, {when} training]({when}/figures/saturation.svg)",
        ]
    text = [
        MARK,
        "# A layer trained in seconds, audited before and after",
        fill(
            f"`python examples/train_layer.py` trains three heads of width 4, with biases, on "
            f"{data.T} handwritten digits by Adam, and stores them as float32 under the names of "
            "Hugging Face's models. Each output must be within 0.1 of its label:",
            100,
        ),
        "```text\nattncert layer examples/trained/after.npz examples/trained/data.npz \\\n"
        "    --heads 3 --tolerance 0.1\n```",
        *parts,
    ]
    return files | {"report.md": ("\n\n".join(text) + "\n").encode()}


RANK_ONE = r"""**A published theorem, audited.** The theorem says that one head of rank one,
with softmax of base e, tells all tokens of all sequences apart. Of the paper (arXiv:2307.14023v3)
only the abstract and the beginning of the introduction could be read. The statement, the constants
and the steps are our reconstruction, in `examples/rank_one_mapping.py`. So a failure here
need not be a defect of the paper. The data are 24 windows of four letters of this
project's licence; the label is the letter that follows.

*Where the bounds bite.* The table has the same v with other scales c of the logits:

TABLE

Step `logits` requires logits that are $2\ln n+3$ apart. What the proof concludes from it holds, on
these data, at a hundredth of the least scale that it allows, but not at a thousandth. The last two
columns are the least difference of two values of the Boltzmann operator and what its lemma
promises. At the scale of the paper's formula, as recalled, the lemma promises less than
$10^{-5{,}000{,}000}$, and 2,048 bits are too few to decide the inequalities: the map may be as the
theorem says, but no usual arithmetic can tell.

*A planted mistake*: the projection is taken to keep distances, and
$c=(2\ln n+3)/(\varepsilon\,r_{\min})$ for a unit v lacks the factor $(|V|+1)^4\pi d/8$. The
outputs are still the labels, but the proof is not valid for these data: step `logits` is refuted,
with an example and a token.

*A hypothesis that our first version lacked, found by `attack`*: sequences have two tokens or more.
With one token step `logits` says nothing.
"""


def rank_one_mapping() -> Files:
    """A published theorem; an introduction says at which scales its inequalities hold."""
    sys.path.append(str(ROOT))
    from examples import rank_one_mapping as audited

    data = load(str(ROOT / "examples" / "rank-one-text.json"))
    register(audited.MAPPING)
    least = audited.mapping(data)
    square = least.projection.square
    planted, paper = (_rational(audited.scale_of(data, x)) / square for x in (False, True))
    scales = {
        "far too small": least.c / 1000,
        "a hundredth": least.c / 100,
        "planted mistake": planted,
        "**built: the least of step 2**": least.c,
        "four times": 4 * least.c,
        "the formula, as recalled": paper,
    }
    rows = [[name, *_at_scale(audited, data, c, square)] for name, c in scales.items()]
    headings = ["scale", "c for unit v", "`logits`", "`boltzmann`", "`contextual`", "outputs",
                "least difference", "promised"]  # fmt: skip
    lead = RANK_ONE.replace("TABLE", _table(headings, rows))
    files = _proof(data, Prove(audited.MAPPING.name))
    format_line, title, rest = files["report.md"].decode().split("\n", 2)
    return files | {"report.md": f"{format_line}\n{title}\n\n{lead}{rest}".encode()}


def _rational(x: arb) -> fmpq:
    """The number rounded up to three decimals."""
    return fmpq((1000 * x).ceil().unique_fmpz(), 1000)


def _at_scale(audited: Any, data: Dataset, c: fmpq, square: fmpq) -> list[object]:
    construction = audited.scaled(c, "at-this-scale")
    register(construction)
    trace = prove(data, Prove(construction.name)).trace
    steps = ("step.logits", "step.boltzmann", "step.contextual", "memorization")
    numbers = trace[ClaimId("step.boltzmann")].numbers
    powers = (numbers.get(x, "–") for x in ("log10 of the least difference", "promised"))
    levels = (trace[ClaimId(step)].level.value for step in steps)
    return [f"{float(c * square):.3g}", *levels, *(_power(x) for x in powers)]


def _power(x: object) -> str:
    return f"10^{x:.0f}" if isinstance(x, float) else "–"


ADDER = """**A transformer that adds ten-digit numbers: right on all 10²⁰ pairs.** AdderBoard
(github.com/anadim/AdderBoard) collects the smallest transformers that add, and tests each on 10,010
pairs. This one is written from the description of its one-layer adders with positions of period 11;
the weights are ours. Two digits of each operand and the digit generated last are fixed, and every
other digit may be anything: that is a *local situation*. In each of the 170,300 situations the
output of the right next digit is the largest, and induction over the places gives all pairs.

How sharp must the softmax be? The same weights, with other scales of the logits:

TABLE

The lead is that of the right digit over any other; balls bound it from below for all pairs
together.
"""


def adder() -> Files:
    """The report, introduced by a test of the claim at other scales of the logits."""
    sys.path.append(str(ROOT))
    from examples import adder as example

    data = load(str(ROOT / "examples" / "adder.json"))
    rows = []
    for scale in (1000, 100, 50, 25, 20):
        trace = prove(data, Prove(register(example.adder(scale=scale)).name)).trace
        tried, every, local = (
            trace[ClaimId(x)] for x in ("layer.memorizes", "claimed.generates", "situations")
        )
        shown = local.numbers.get("least") or local.witness or {}
        a, b = (int("".join(map(str, shown["prompt"][k : k + 10][::-1]))) for k in (0, 11))
        low, high = shown["lead"]
        told = {
            "enclosed": f"least lead at least {low}",
            "refuted": f"{a} + {b}: the lead is at most {high}",
        }
        level = every.level.value
        rows.append([scale, tried.level.value, level, told.get(level, "–")])
    headings = ["scale", "the 55 examples", "all pairs", "shown by"]
    lead = ADDER.replace("TABLE", _table(headings, rows))
    files = _proof(data, Prove("examples.adder:ADDER"))
    format_line, title, rest = files["report.md"].decode().split("\n", 2)
    return files | {"report.md": f"{format_line}\n{title}\n\n{lead}{rest}".encode()}


PAGES: dict[str, tuple[str, Callable[[], Files]]] = {
    "digits-paper": (
        "25 handwritten digits by the paper's construction (8 heads of width 4): exact readout",
        digits_by_the_paper,
    ),
    "digits-kernel": (
        "25 and 49 handwritten digits by the paper's construction, checked by Coq's kernel",
        digits_kernel,
    ),
    "bytes-to-theorem": (
        "One small certificate from its bytes to the theorem that Coq has checked",
        bytes_to_theorem,
    ),
    "digits-assumptions": (
        "Do the theorem's assumptions hold for 300 handwritten digits, and what follows",
        digits_assumptions,
    ),
    "digits-width-one": (
        "97 handwritten digits by 32 heads of width one: exact readout",
        digits_width_one,
    ),
    "digits-generic": (
        "25 handwritten digits by 8 heads of small random weights: exact readout",
        digits_generic,
    ),
    "a1-false": (
        "Assumption 1 is false, the partition certificate holds: memorized exactly "
        "(`attncert prove examples/a1-false.json`)",
        a1_false,
    ),
    "not-all-placed": (
        "Parallel queries and a zero query: what the construction can place; other weights "
        "memorize all of it (`attncert prove examples/not-all-placed.json`)",
        not_all_placed,
    ),
    "above-the-bound": (
        "More examples than any weights of one head can serve: impossible, with the relations "
        "(`attncert prove examples/a1-false.json --heads 1`)",
        above_the_bound,
    ),
    "two-layers": (
        "One query for all: seven digits in two layers, the first of which mixes tokens "
        "(`attncert prove examples/one-query.json --heads 2 --head-width 4 --before mean`)",
        two_layers,
    ),
    "depth": (
        "What two layers of attention can memorize of 60 digits, counted and certified "
        "(`attncert capacity digits --layers 2 --examples 60`)",
        depth,
    ),
    "rank-one-mapping": (
        "A published theorem, audited: the rank-one contextual mapping of Kajitsuka and Sato "
        "(`attncert prove examples/rank-one-text.json --construction "
        "examples.rank_one_mapping:MAPPING`)",
        rank_one_mapping,
    ),
    "adder": (
        "A transformer that adds ten-digit numbers: right on all 10²⁰ pairs "
        "(`attncert prove examples/adder.json --construction examples.adder:ADDER`)",
        adder,
    ),
    "tightness": (
        "Tightness: what bounds universal memorization, what reaches it, and given labels beyond "
        "it, with certificates",
        tightness,
    ),
    "digits-all": (
        "All 1,782 digits that satisfy Assumption 2, by one layer of heads of width one: full rank",
        digits_all,
    ),
    "hypotheses": (
        "What each hypothesis of Theorem 1 is for: weakened one by one, with the smallest data on "
        "which a step then fails",
        hypotheses,
    ),
    "digits-compared": (
        "What memorizes 385 handwritten digits, by each construction: parameters, bits, figures",
        digits_compared,
    ),
    "capacity": (
        "Certified capacity against H, n and d_h, with every published bound",
        capacity,
    ),
    "next-token": (
        "200 characters of a text by one causal layer: these, each labelling, all at once, "
        "certified (`attncert capacity examples/text.json --heads 5`)",
        next_token,
    ),
    "constants": (
        "Effective constants: how large c and B must be, and what H and n cost",
        constants,
    ),
    "trained-layer": (
        "A layer trained in seconds, audited before and after training",
        trained_layer,
    ),
    "experiments": (
        "The paper's experiments with exact weights: every point is a certificate",
        experiments,
    ),
}


def index() -> bytes:
    """docs/gallery/README.md."""
    lines = [
        "# Gallery",
        "",
        "Reports as the toolkit writes them, without their times, `report.html`, the checker and "
        "the largest certificates. Made by",
        "",
    ]
    lines += ["```text", "python docs/make_gallery.py", "```", ""]
    lines += [f"- [{title}]({name}/report.md)" for name, (title, _) in PAGES.items()]
    return ("\n".join(lines) + "\n").encode()


def differences(page: str, files: Files, gallery: Path = GALLERY) -> list[str]:
    """Names of the page's files that are missing, superfluous or different from the committed ones.

    Results that differ between processors or releases are not compared: the figures, and the
    numbers on pages that rest on floats.
    """
    folder = gallery / page
    committed = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    alike = _made_with() == json.loads((gallery / MADE_WITH).read_bytes())

    def same(name: str) -> bool:
        if alike or (not name.endswith(".svg") and page not in FLOATING):
            return files[name] == committed[name]
        return name.endswith(".svg") or _words(files[name]) == _words(committed[name])

    names = sorted({*files, *committed})
    return [
        f"{page}/{name}"
        for name in names
        if name not in files or name not in committed or not same(name)
    ]


def _words(content: bytes) -> bytes:
    """A page or JSON without its numbers."""
    return NUMBER.sub(b"0", content)


def main(arguments: list[str]) -> int:
    names = [a for a in arguments if a != "--check"]
    unknown = [name for name in names if name not in PAGES]
    if unknown:
        print(f"PAGE: must be one of {', '.join(PAGES)}, not {unknown[0]}", file=sys.stderr)
        return 2
    stale: list[str] = []
    for name in names or PAGES:
        files = PAGES[name][1]()
        if "--check" in arguments:
            stale += differences(name, files)
            continue
        shutil.rmtree(GALLERY / name, ignore_errors=True)
        for path, content in files.items():
            (GALLERY / name / path).parent.mkdir(parents=True, exist_ok=True)
            (GALLERY / name / path).write_bytes(content)
        print(name)
    if "--check" in arguments:
        print("\n".join(stale) or "the gallery is up to date")
        return 1 if stale else 0
    (GALLERY / "README.md").write_bytes(index())
    (GALLERY / MADE_WITH).write_bytes(readable_json(_made_with()))
    return 0


def _proof(data: Dataset, question: Prove, large: int = LARGE) -> Files:
    return _kept(report(prove(data, question)).files, large)


def _kept(files: Files, large: int = LARGE) -> Files:
    """A report without its times, and without a certificate of more than `large` bytes."""
    size = len(files.get("certificate.json", b""))
    why = {"timings.json": "not kept here"}
    if size > large:
        why["certificate.json"] = f"{size / 1e6:.2f} MB, not kept here; the command writes it"
    page = files["report.md"].decode()
    for name, reason in why.items():
        page = page.replace(f"[`{name}`]({name})", f"`{name}` ({reason})")
    return {k: v for k, v in files.items() if k not in why} | {"report.md": page.encode()}


def _made_with() -> dict[str, str]:
    kernels = {
        library["architecture"] for library in threadpool_info() if "architecture" in library
    }
    versions = {name: metadata.version(name) for name in DRAWING}
    vectors = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    return versions | {
        "kernels of BLAS": ", ".join(sorted(kernels)),
        "NumPy's vector instructions": ", ".join(vectors),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
