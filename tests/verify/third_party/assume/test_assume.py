"""The assumptions are judged on data with known answers, and on defects planted in them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from flint import fmpz_mat
from support.shell import Shell

import attncert
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.reports.answers import report
from attncert.reports.pages.assume import page_parts, sentences
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.questions.kruskal import Assume
from attncert.verify.third_party.assume.assume import Assumed, assume
from attncert.verify.third_party.assume.groups import grouped
from attncert.verify.third_party.assume.inputs import LayerInputs
from attncert.verify.third_party.assume.loading import load_inputs
from attncert.verify.third_party.assume.spectra import AgainstRounding, spectra

QUICK = Assume(subsets=50, work=0.2)
KEPT = {"queries": np.eye(3), "contexts": np.ones((1, 2, 3)), "kept": [0]}


def random_states(inputs: int, tokens: int, width: int) -> np.ndarray:
    """(N, n, d), float32."""
    return np.random.default_rng(0).standard_normal((inputs, tokens, width)).astype(np.float32)


def judged(states: np.ndarray, kept: list[int], path: Path) -> Assumed:
    """The answer for a file that holds the queries of all inputs (their first tokens) and the
    contexts of some inputs."""
    path = path.with_suffix(".npz")
    np.savez(path, queries=states[:, 0], contexts=states[kept], kept=np.array(kept, dtype=int))
    return assume(load_inputs(str(path)), replace(QUICK, heads=2, head_width=2))


def levels(made: Assumed) -> dict[str, str]:
    return {claim.id: claim.level.value for claim in made.trace}


def test_where_all_holds(tmp_path: Path) -> None:
    """For 12 queries of width 6, an exhaustive search for small circuits proves A1 at n = 3."""
    made = judged(random_states(12, 3, 6), [0, 3, 5, 9], tmp_path)
    found = levels(made)
    assert found["hypothesis.A1"] == found["contexts.independent"] == "proved"
    assert made.exit_status == 0 and made.rank == 6
    paper, ours = made.placed
    assert (paper.capacity, ours.capacity) == (3, 5)  # H(r - 1) + 1 at r = 2 and n = 3
    assert (paper.memorized, paper.examples, ours.memorized, ours.examples) == (3, 3, 4, 5)
    assert set(t for group in ours.certified for t in group) == {0, 3, 5, 9}
    assert found["partition.memorizes"] == "kernel"


def test_one_query_for_all(tmp_path: Path) -> None:
    """Two equal queries, like CLS in raw embeddings, refute A1, and one example is memorized."""
    states = random_states(10, 3, 6)
    states[:, 0] = states[0, 0]
    made = judged(states, [0, 1], tmp_path)
    assert made.exit_status == 1 and made.rank == 1
    assert (made.trace["hypothesis.A1"].witness or {})["indices"] == [0, 1]
    assert [placed.memorized for placed in made.placed] == [1, 1]
    assert sentences(made)[:2] == (
        "Refuted: Every 3 of the 10 queries are independent (Assumption 1).",
        "Proved: The Kruskal rank of the distinct queries is 1.",
    )


def repeating() -> np.ndarray:
    """12 inputs with 9 distinct queries: inputs 2, 4 and 7 have equal ones (2 and 4 even have the
    same tokens, in another order), and those of 5 and 6 differ in the sign of a zero."""
    states = random_states(12, 3, 6)
    states[4] = states[2, [0, 2, 1]]
    states[7, 0] = states[2, 0]
    states[5, 0, 1] = 0.0
    states[6, 0] = states[5, 0]
    states[6, 0, 1] = -0.0
    return states


def test_equal_queries_refute_a1(tmp_path: Path) -> None:
    made = judged(repeating(), [*range(12)], tmp_path)
    assert made.data.repeats == ((2, 4, 7), (5, 6)) and made.data.distinct.N == 9
    assert levels(made)["hypothesis.A1"] == "refuted" and made.exit_status == 1
    assert (made.trace["hypothesis.A1"].witness or {})["equal queries"] == [2, 4, 7]
    files = report(made).files
    witness = tmp_path / "certificate.json"
    witness.write_bytes(files["certificate.json"])
    assert attncert.check(witness).status == "holds"
    assert "of which 9 are distinct" in files["report.md"].decode()


def test_what_holds_for_the_distinct_queries_is_what_holds_without_the_others(
    tmp_path: Path,
) -> None:
    states = repeating()
    alone = judged(np.delete(states, [4, 6, 7], axis=0), [], tmp_path / "alone")
    made = judged(states, [], tmp_path / "repeating")
    assert alone.data.repeats == () and "hypothesis.A1-distinct" not in levels(alone)
    assert levels(made)["hypothesis.A1-distinct"] == levels(alone)["hypothesis.A1"] == "proved"
    assert made.interval == alone.interval and made.samples == alone.samples


def test_equal_queries_refute_nothing_of_one_token(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(
        '{"contexts": [[[1, 0]], [["1/2", 0]], [[1, 0]]], "queries": [[1, 2], [1, 2], [1, 2]]}'
    )
    made = assume(load_inputs(str(tmp_path / "x.json")), QUICK)
    assert made.exit_status == 0 and levels(made)["hypothesis.A1"] == "proved"


def test_a_dependent_context_is_shown(tmp_path: Path) -> None:
    states = random_states(8, 3, 6)
    states[5, 2] = 2 * states[5, 1]  # exact in float32
    made = judged(states, [2, 5], tmp_path)
    claim = made.trace["contexts.independent"]
    assert claim.level.value == "refuted" and made.exit_status == 1
    assert claim.witness == {
        "reason": "context 5 has rank 2 and 3 tokens",
        "context": 5,
        "rank": 2,
        "relation": {"indices": [1, 2], "coefficients": ["2", "-1"]},
    }
    assert [placed.memorized for placed in made.placed] == [1, 1]  # with the other context
    assert made.contexts[1].standing is AgainstRounding.DEPENDENT


def test_more_tokens_than_width(tmp_path: Path) -> None:
    made = judged(random_states(9, 5, 4), [0], tmp_path)
    assert levels(made)["hypothesis.A1"] == "refuted" and 5 not in made.subsets
    assert levels(made)["contexts.independent"] == "refuted"
    assert made.contexts[0].rank == 4


def test_noise_on_a_low_rank_is_not_plainly_robust() -> None:
    """A matrix of rank 100 plus noise of 10^-3: it has full rank, and rounding is far too small to
    explain that, but to within 10^-3 the rank is 100."""
    rng = np.random.default_rng(0)
    low = rng.standard_normal((197, 100)) @ rng.standard_normal((100, 768))
    noisy = (low + 1e-3 * rng.standard_normal((197, 768))).astype(np.float32)
    (found,) = spectra([(0, noisy)])
    assert found.rank == 197 and found.least > 10 * found.rounding
    assert found.epsilon_rank == 100 and found.standing is AgainstRounding.NEARLY


def test_sets_within_rounding_are_settled_by_wider_numbers(tmp_path: Path) -> None:
    """The last coordinate is 10^-9 times the others: rounding to float32 may have made any d
    queries independent; rounding to float64 has not."""
    states = random_states(12, 2, 6)
    states[:, :, 5] *= np.float32(1e-9)
    made = judged(states, [], tmp_path)
    assert {s.standing for s in made.subsets[6]} == {AgainstRounding.WITHIN}
    assert made.samples[6].independent == made.samples[6].drawn == 1
    given = load_inputs(str(tmp_path.with_suffix(".npz")))
    wide = replace(given, queries=Vectors.of(given.queries.array.astype(np.float64)))
    assert {s.standing for s in assume(wide, QUICK).subsets[6]} == {AgainstRounding.NEARLY}
    flat = states.copy()
    flat[:, :, 5] = flat[:, :, 4]
    made = judged(flat, [], tmp_path / "flat")
    assert made.rank == 5 and levels(made)["hypothesis.general-position"] == "refuted"


def test_groups_against_exact_ranks() -> None:
    """Among queries with many dependencies, FLINT's ranks confirm the condition for those
    placed."""
    draw = np.random.default_rng(3)
    for case in range(60):
        table = draw.integers(-1, 2, (14, 4))
        groups = grouped(Vectors.of(table), range(14), 1 + case % 4, 5)
        earlier: list[int] = []
        assert len(groups) <= 5 and len(sum(groups, ())) == len(set(sum(groups, ())))
        for h, group in enumerate(groups):
            assert 1 <= len(group) <= 1 + case % 4 - bool(h)
            rows = [table[t].tolist() for t in group]
            assert fmpz_mat(rows).rank() == len(group)
            assert all(
                fmpz_mat([*rows, table[s].tolist()]).rank() == len(group) + 1 for s in earlier
            )
            earlier += group


def test_a_shared_context_counts_for_all(tmp_path: Path) -> None:
    given = load_inputs("digits")
    assert not given.shared and len(given.with_context) == given.N == 1782
    (tmp_path / "x.json").write_text(
        '{"contexts": [[1, 0], [0, 1]], "queries": [[1, 2], [3, 1], [1, 1]]}'
    )
    made = assume(load_inputs(str(tmp_path / "x.json")), replace(QUICK, heads=2))
    assert made.data.shared and len(made.contexts) == 1
    assert [placed.memorized for placed in made.placed] == [1, 3]  # d_h = 1, and r = n = 2
    assert page_parts(made).exhibits["data"]["contexts"] == 3
    told = {claim.id: claim.numbers for claim in made.trace}["contexts.independent"]
    assert told["given"] == told["of rank 2"] == 3


def test_the_command(tmp_path: Path, shell: Shell) -> None:
    states = random_states(9, 3, 5)
    np.savez(tmp_path / "x.npz", queries=states[:, 0], contexts=states[[1, 2]], kept=[1, 2])
    words = ["assume", tmp_path / "x.npz", "--subsets", "20", "--heads", "2"]
    said = shell.runs(*words, "--out", tmp_path / "o").out
    assert "Proved: Every given context has 3 independent rows (Assumption 2)." in said
    page = (tmp_path / "o" / "report.md").read_text()
    for name in re.findall(r"\]\(([a-z/.-]+)\)", page):
        assert (tmp_path / "o" / name).exists()


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"query": np.eye(3)}, "made of queries and contexts"),
        ({"queries": np.eye(3)}, "attncert kruskal reads vectors without contexts"),
        ({"queries": np.eye(3), "contexts": np.ones((3, 2, 4))}, "contexts: must be of shape"),
        ({"queries": np.eye(3), "kept": [0]}, "without 'contexts'"),
        ({"queries": np.eye(3), "contexts": np.ones((1, 2, 3))}, "of shape (3, n, 3)"),
        (KEPT | {"kept": [0, 1]}, "contexts: must be of shape (2, n, 3)"),
        (KEPT | {"kept": [[0]]}, "kept: must be of shape (C,)"),
        (KEPT | {"kept": [0, 1, 2, 0]}, "with C at most 3"),
        (KEPT | {"kept": [3]}, "kept: must be numbers from 0 to 2, not 3 to 3"),
        (KEPT | {"kept": [0.0]}, "kept: must be increasing whole numbers"),
        (KEPT | {"contexts": np.ones((2, 2, 3)), "kept": [1, 1]}, "increasing whole numbers"),
        ({"queries": np.eye(3) * np.nan, "contexts": np.ones((3, 2, 3))}, "finite"),
        ({"queries": np.eye(3), "contexts": np.ones((3, 2, 3)) * np.inf}, "finite"),
    ],
)
def test_bad_input_is_one_line(
    arrays: dict[str, np.ndarray], said: str, tmp_path: Path, shell: Shell
) -> None:
    np.savez(tmp_path / "x.npz", **arrays)
    line = shell.refuses("assume", tmp_path / "x.npz", "--out", tmp_path / "o")
    assert said in line and not (tmp_path / "o").exists()


def test_inputs_without_contexts_leave_them_open() -> None:
    inputs = LayerInputs(Vectors.of(np.eye(4)), 2, (), lambda: iter(()))
    made = assume(inputs, Assume(subsets=0, work=0.1))
    assert "confidence" not in report(made).files["report.md"].decode()
    assert levels(made)["contexts.independent"] == "undecided" and made.exit_status == 3
    assert made.placed == ()
    with pytest.raises(InputError, match="there is no such file"):
        load_inputs("nothing.npz")


def test_the_first_of_ragged_contexts_have_their_own_lengths() -> None:
    contexts = [[[1, 0, 0]], [[1, 2, 0], [0, 1, 1]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]]
    inputs = LayerInputs.of(Dataset.of(contexts, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    assert (inputs.lengths, inputs.take(2).lengths, inputs.take(1).lengths) == (
        "1 to 3",
        "1 to 2",
        "1",
    )


def test_the_conclusion_rests_on_both_assumptions(tmp_path: Path) -> None:
    """The conclusion is refuted if either assumption is, and undecided, with the reason, if either
    is open."""
    states = random_states(8, 3, 6)
    answer = judged(states, [], tmp_path / "no contexts")
    assert answer.standing.value == "undecided" and answer.reason == "no context is given"
    states[5, 2] = 2 * states[5, 1]
    answer = judged(states, [2, 5], tmp_path / "dependent")
    assert answer.trace["assumptions"].rests_on == ("hypothesis.A1", "contexts.independent")
    assert (answer.standing.value, answer.reason) == (
        "refuted",
        "context 5 has rank 2 and 3 tokens",
    )
