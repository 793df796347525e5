(* The computation behind a dependent-set certificate, over Z. *)
From Coq Require Import ZArith List Bool.
Require Import Spec Certificate numbers interpolation integers.
Import ListNotations CheckZ.

(* uv and uf: common denominators of the vectors and of the coefficients. *)
Definition check_dependent_set (uv uf : Z) (N d : nat) (vectors : mat Z) (indices : list nat) (coefficients : vec Z) : bool :=
  nonzero uv && nonzero uf && negb (Nat.eqb (length indices) 0) && distinct indices &&
  forallb (fun i => Nat.ltb i N) indices &&
  match clearm N d uv vectors, clearv (length indices) uf coefficients with
  | Some V, Some F => forallb nonzero F && forallb (fun z => Z.eqb z 0) (lincomb d F (map (fun i => nth i V []) indices))
  | _, _ => false
  end.
