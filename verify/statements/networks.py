"""The records of the network constructions."""

from __future__ import annotations

from attncert.constructions.network import (
    attention_relu,
    bits,
    derivative_pairs,
    relu,
    retrieval,
    threshold_pairs,
    two_layers,
)
from attncert.verify.questions.constructions import RETRIEVAL
from attncert.verify.statements.construction import Construction, calling
from attncert.verify.statements.goals import Measured
from attncert.verify.statements.steps import networks as steps

_PROJECTION = (1, "It projects each input to its position on a line.")
_HINGES = (1, "One ReLU for each input, with its knot at the input before it.")
_READOUT = (1, "It reads the labels off.")


METHODS = (
    Construction(
        name="relu",
        title="one hidden layer of ReLUs",
        theorem="after Zhang, Bengio, Hardt, Recht and Vinyals (2017), Theorem 1",
        source="constructions/network/relu.py",
        build=calling(relu.build, "seed"),
        hypotheses={"distinct-inputs": steps.READ_IN_A_ROW},
        steps={"line": steps.LINE, "hinges": steps.HINGES},
        purposes=(_PROJECTION, _HINGES, _READOUT),
    ),
    Construction(
        name="threshold-pairs",
        title="thresholds in pairs",
        theorem="after Baum (1988), here for any labels",
        source="constructions/network/threshold_pairs.py",
        build=calling(threshold_pairs.build, "seed"),
        hypotheses={"distinct-inputs": steps.READ_IN_A_ROW},
        steps={"planes": steps.PLANES},
        purposes=(
            (None, "Two thresholds for each plane: their difference is 1 only at its inputs."),
            _READOUT,
        ),
    ),
    Construction(
        name="derivative-pairs",
        title="derivative pairs",
        theorem="after Bubeck, Eldan, Lee and Mikulincer (2020)",
        source="constructions/network/derivative_pairs.py",
        build=calling(derivative_pairs.build, "seed"),
        hypotheses={"distinct-inputs": steps.READ_IN_A_ROW},
        steps={"planes": steps.PLANES},
        purposes=(
            (
                1,
                "ReLUs for each plane: their differences are an affine map at its inputs, and 0 "
                "at all others.",
            ),
            _READOUT,
        ),
    ),
    Construction(
        name="two-layers",
        title="two hidden layers of ReLUs",
        theorem="after Yun, Sra and Jadbabaie (2019), Theorem 3.1",
        source="constructions/network/two_layers.py",
        build=calling(two_layers.build, "seed"),
        hypotheses={"distinct-inputs": steps.READ_IN_A_ROW},
        steps={"line": steps.LINE, "halves": steps.HALVES},
        purposes=(
            _PROJECTION,
            (1, "ReLUs that bend in the gaps between groups of inputs."),
            (1, "The terms of all groups at once, each as the difference of two ReLUs."),
            _READOUT,
        ),
    ),
    Construction(
        name="bits",
        title="a deep network with long numbers",
        theorem="in the spirit of Park, Lee, Yun and Shin (2021) and Vardi, Yehudai and Shamir "
        "(2022)",
        source="constructions/network/bits.py",
        build=calling(bits.build, "seed"),
        hypotheses={"distinct-inputs": steps.READ_IN_A_ROW},
        steps={"line": steps.LINE, "tapes": steps.TAPES},
        purposes=(
            _PROJECTION,
            (3, "Steps over the groups, which attach to each position the tape of its group."),
            (
                None,
                "They read the tape bit by bit, and keep the label whose position is that of the "
                "input.",
            ),
            _READOUT,
        ),
    ),
    Construction(
        name="attention-relu",
        title="attention, then ReLUs",
        theorem="after Kajitsuka and Sato (2024)",
        source="constructions/network/attention_relu.py",
        build=calling(attention_relu.build, "seed"),
        hypotheses={"distinct-inputs": steps.READ_BY_ATTENTION},
        steps={"attention": steps.ATTENTION, "line": steps.LINE, "hinges": steps.HINGES},
        purposes=(
            (1, "It appends 1 and 0 to the query."),
            (1, "One head of width one: it replaces the 0 by a mean of the context."),
            _PROJECTION,
            _HINGES,
            _READOUT,
        ),
    ),
    Construction(
        name=RETRIEVAL,
        title="retrieval of patterns",
        theorem="after Ramsauer et al. (2021), modern Hopfield networks",
        source="constructions/network/retrieval.py",
        build=lambda data, request: retrieval.build(
            data, beta=1 if request.beta is None else request.beta
        ),
        subject=lambda data, request: retrieval.stored(data),
        steps={"bound": steps.BOUND},
        claims=(Measured(),),
        options=("beta",),
        purposes=(
            (
                1,
                "A mean of the patterns, weighted by their products with the query. The "
                "patterns are its context, not parameters.",
            ),
        ),
    ),
)
