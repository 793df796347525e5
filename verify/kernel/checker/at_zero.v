(* The computation behind "jacobian at zero": attention has no biases, and over all heads of the last block with equal keys and
   queries the products of value and output add up to 0. *)
From Coq Require Import ZArith List Bool.
Require Import Spec Json Blocks interpolation integers every_labelling.
Import ListNotations CheckZ.
Open Scope Z_scope.
Local Notation length := List.length.

Definition no_bias (column : vec Z) : bool := numer (last column (Frac 0 1)) =? 0.
Definition unbiased (b : block (mat Z)) : bool :=
  match b with
  | Attention _ _ parts _ _ => forallb (fun p => forallb no_bias (to_key p ++ to_query p ++ to_value p ++ to_output p)) parts
  | FeedForward _ _ _ _ => true
  end.

(* A head as integers over common denominators; its product of value and output has a row for each number of a token. *)
Definition cleared (u : Z) : mat Z -> option (list (list Z)) := mapM (mapM (clear u)).
Definition product_of (d : nat) (V U : list (list Z)) : list (list Z) :=
  map (fun a => map (dot (map (fun column => nth a column 0) V)) U) (seq 0 d).
Definition part_over (uk uq uv uo : Z) (d m : nat) (p : part (mat Z)) : option chead :=
  if as_long (S d) (to_value p) && Nat.eqb (length (to_output p)) m then
    match cleared uk (to_key p), cleared uq (to_query p), cleared uv (to_value p), cleared uo (to_output p) with
    | Some K, Some Q, Some V, Some U => Some (CHead K Q (product_of d V U))
    | _, _, _, _ => None
    end
  else None.
Definition cancels (common : list (mat Z) -> Z) (m : nat) (b : block (mat Z)) : bool :=
  match b with
  | Attention OfQuery _ parts _ false =>
    let uk := common (map to_key parts) in let uq := common (map to_query parts) in
    let uv := common (map to_value parts) in let uo := common (map to_output parts) in
    let d := match parts with p :: _ => pred (length (hd [] (to_value p))) | [] => O end in
    nonzero uk && nonzero uq && nonzero uv && nonzero uo &&
    match mapM (part_over uk uq uv uo d m) parts with Some hs => cancel hs | None => false end
  | _ => false
  end.
Definition zero_outputs (common : list (mat Z) -> Z) (m : nat) (blocks : list (block (mat Z))) : bool :=
  forallb unbiased blocks && match rev blocks with b :: _ => cancels common m b | [] => false end.
