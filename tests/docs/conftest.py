"""The README and a script run the same proof, which is computed once here."""

from __future__ import annotations

import pytest

import attncert

_proofs: dict[tuple[str, attncert.Prove], attncert.Proof] = {}


@pytest.fixture
def proved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    prove = attncert.prove

    def known(data: attncert.Dataset, settings: attncert.Prove) -> attncert.Proof:
        asked = data.sha256, settings
        if asked not in _proofs:
            _proofs[asked] = prove(data, settings)
        return _proofs[asked]

    monkeypatch.setattr(attncert, "prove", known)
