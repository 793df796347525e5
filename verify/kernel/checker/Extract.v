(* The executable: everything that judges, extracted to OCaml with zarith integers. *)
From Coq Require Import ZArith Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt.
Require Import Spec interpolation verified.
Extraction "checker.ml" interpolation_verified full_rank_verified dependent_set_verified.
