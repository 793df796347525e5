(* The executable: everything that reads and judges, extracted to OCaml with zarith integers. *)
From Coq Require Import ZArith Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt ExtrOcamlString.
Require Import Spec Json Certificate interpolation verified.

(* 2^k by zarith's shift. A power above 2^(2^24) is refused: an exception is no verdict. *)
Extract Constant Z.shiftl => "(fun x k ->
  let k = Big_int_Z.int_of_big_int k in
  if k > 0x1000000 then raise Out_of_memory
  else if k < 0 then Big_int_Z.shift_right_big_int x (- k) else Big_int_Z.shift_left_big_int x k)".

Extraction "checker.ml" judge characters text_at.
