(* The computation behind "rounding", over Z: one entry after the other, each over its own denominators. *)
From Coq Require Import ZArith List Bool.
Require Import Spec.
Open Scope Z_scope.

(* With x = a/b, y = c/d and the grid p/q: y = k p/q, and |x - y| = off/(b d). *)
Definition off (xy : frac Z * frac Z) : Z := Z.abs (numer (fst xy) * denom (snd xy) - numer (snd xy) * denom (fst xy)).
Definition check_nearest (g : frac Z) (xy : frac Z * frac Z) : bool :=
  let (x, y) := xy in
  let k := (numer y * denom g) / (denom y * numer g) in
  (0 <? denom x) && (0 <? denom y) && (k * (denom y * numer g) =? numer y * denom g) &&
  match 2 * off xy * denom g ?= numer g * (denom x * denom y) with Lt => true | Eq => Z.even k | Gt => false end.
Definition compare_off (c : frac Z) (xy : frac Z * frac Z) : comparison :=
  off xy * denom c ?= numer c * (denom (fst xy) * denom (snd xy)).
Definition check_rounding (r : rounding Z) : bool :=
  (0 <? denom (grid r)) && (0 <? denom (change r)) && (0 <? numer (grid r)) && forallb (check_nearest (grid r)) (entries r) &&
  forallb (fun xy => match compare_off (change r) xy with Gt => false | _ => true end) (entries r) &&
  existsb (fun xy => match compare_off (change r) xy with Eq => true | _ => false end) (entries r).
