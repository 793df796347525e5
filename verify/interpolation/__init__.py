"""Interpolation, A(E⁽ᵗ⁾, e⁽ᵗ⁾) = y⁽ᵗ⁾ for all T examples, by three independent routes.

| route | arithmetic | what it confirms |
| --- | --- | --- |
| `rational.rational` | exact over ℚ, FLINT | the layer's outputs equal the labels |
| `symbolic.symbolic` | exact, SymPy, log 2 and exp | the same for *all* labels, as symbols |
| `multiprecision.multiprecision` | balls (Arb), true exponential | agreement to 2^-1000 |

Each route goes from the data and the weights to its verdict alone: it computes its own logits,
softmax and features, and calls neither another route nor the builders' forward pass, so that a slip
in one shows as a disagreement.
"""
