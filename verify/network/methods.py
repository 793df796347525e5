"""The constructions of networks: one record each."""

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
from attncert.verify.methods.names import RETRIEVAL
from attncert.verify.network import growth, steps
from attncert.verify.network.method import NetworkMethod, Part, query_and_frequencies

_PROJECTION = Part(1, "It projects each input to its position on a line.")
_HINGES = Part(1, "One ReLU for each input, with its knot at the input before it.")
_READOUT = Part(1, "It reads the labels off.")

METHODS = (
    NetworkMethod(
        name="relu",
        title="one hidden layer of ReLUs",
        theorem="after Zhang, Bengio, Hardt, Recht and Vinyals (2017), Theorem 1",
        source="constructions/network/relu.py",
        build=relu.build,
        growth=growth.relu,
        steps=(steps.line, steps.hinges),
        parts=(_PROJECTION, _HINGES, _READOUT),
    ),
    NetworkMethod(
        name="threshold-pairs",
        title="thresholds in pairs",
        theorem="after Baum (1988), here for any labels",
        source="constructions/network/threshold_pairs.py",
        build=threshold_pairs.build,
        growth=growth.threshold_pairs,
        steps=(steps.planes,),
        parts=(
            Part(None, "Two thresholds for each plane: their difference is 1 at its inputs alone."),
            _READOUT,
        ),
    ),
    NetworkMethod(
        name="derivative-pairs",
        title="derivative pairs",
        theorem="after Bubeck, Eldan, Lee and Mikulincer (2020)",
        source="constructions/network/derivative_pairs.py",
        build=derivative_pairs.build,
        growth=growth.derivative_pairs,
        steps=(steps.planes,),
        parts=(
            Part(
                1,
                "ReLUs for each plane: their differences are an affine map at its inputs, and 0 "
                "at all others.",
            ),
            _READOUT,
        ),
    ),
    NetworkMethod(
        name="two-layers",
        title="two hidden layers of ReLUs",
        theorem="after Yun, Sra and Jadbabaie (2019), Theorem 3.1",
        source="constructions/network/two_layers.py",
        build=two_layers.build,
        growth=growth.two_layers,
        steps=(steps.line, steps.halves),
        parts=(
            _PROJECTION,
            Part(1, "ReLUs that bend in the gaps between groups of inputs."),
            Part(1, "The terms of all groups at once, each as the difference of two ReLUs."),
            _READOUT,
        ),
    ),
    NetworkMethod(
        name="bits",
        title="a deep network with long numbers",
        theorem="in the spirit of Park, Lee, Yun and Shin (2021) and Vardi, Yehudai and Shamir "
        "(2022)",
        source="constructions/network/bits.py",
        build=bits.build,
        growth=growth.bits,
        steps=(steps.line, steps.tapes),
        parts=(
            _PROJECTION,
            Part(
                3, "Steps over the groups: they put the tape of its own group beside each position."
            ),
            Part(
                None,
                "They take one bit after the other off the tape, and let the label through whose "
                "position is that of the input.",
            ),
            _READOUT,
        ),
    ),
    NetworkMethod(
        name="attention-relu",
        title="attention, then ReLUs",
        theorem="after Kajitsuka and Sato (2024)",
        source="constructions/network/attention_relu.py",
        build=attention_relu.build,
        growth=growth.attention_relu,
        steps=(steps.told_apart, steps.line, steps.hinges),
        parts=(
            Part(1, "It appends 1 and 0 to the query."),
            Part(1, "One head of width one: it puts a mean of the context in the place of the 0."),
            _PROJECTION,
            _HINGES,
            _READOUT,
        ),
        sees=query_and_frequencies,
    ),
    NetworkMethod(
        name=RETRIEVAL,
        title="retrieval of patterns",
        theorem="after Ramsauer et al. (2021), modern Hopfield networks",
        source="constructions/network/retrieval.py",
        build=retrieval.build,
        parts=(
            Part(
                1,
                "A mean of the patterns, which weighs each by its product with the query. They are "
                "its context, and no parameters.",
            ),
        ),
        retrieves=True,
    ),
)
