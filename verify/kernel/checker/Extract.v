From Coq Require Import ZArith Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt.
Require Import Spec Check CheckZ.
Extraction "checker.ml" CheckZ.check.
