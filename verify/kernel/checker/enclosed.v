(* The computation behind "outputs-within": blocks in balls, with the true exponential. What is computed is what
   verify/checker/arithmetic.py computes. *)
From Coq Require Import ZArith Reals List Bool.
Require Import Spec Json Blocks Certificate balls integers network.
Import ListNotations.
Open Scope Z_scope.
Local Notation length := List.length.

(* A head's values and its rows of the output are one map; then nothing is left to the output. *)
Definition composed (v o : exact_map) : result exact_map :=
  let (values, u) := v in
  let (outputs, w) := o in
  let wide := length (hd [] values) in
  let* _ := need Unusable (negb (Nat.eqb wide 0 || Nat.eqb (length outputs) 0) && as_long wide values && as_long (S (length values)) outputs) in
  let* columns := each (fun column => combined column (values ++ [repeat 0 (pred wide) ++ [u]])) outputs in Got (columns, w * u).
Section Clear.
Variable common : list (mat Z) -> Z.
Definition ball_part (p : part (mat Z)) : result (part (option exact_map)) :=
  let* p := clear_part common p in
  let* v := composed (to_value p) (to_output p) in Got (Part (Some (to_key p)) (Some (to_query p)) (Some v) None).
Definition ball_block (b : block (mat Z)) : result (block (option exact_map)) :=
  match b with
  | Attention of weigh parts seen residual => let* parts := each ball_part parts in Got (Attention of weigh parts seen residual)
  | FeedForward of act linear residual => let* linear := clear_map common linear in Got (FeedForward of act (Some linear) residual)
  end.
End Clear.

Section Enclosed.
Variables (P : Z) (ln_2 : ball).

Definition mapped_balls (m : option exact_map) (x : list ball) : result (list ball) :=
  match m with
  | None => Got x
  | Some (columns, u) =>
    let x := x ++ [(unit_ball P, 0)] in
    let* _ := need Unusable ((0 <? u) && as_long (length x) columns) in Got (map (fun c => weighted c u x) columns)
  end.
Definition joined_balls (l : list (list ball)) : result (list ball) := Got (concat l).
Definition plus_balls (x y : list ball) : list ball := map (fun p => plus_ball (fst p) (snd p)) (combine x y).
Definition added_balls (l : list (list ball)) : result (list ball) :=
  match l with
  | [] => No Unusable
  | x :: r => let* _ := need Unusable (as_long (length x) r) in Got (fold_right plus_balls x r)
  end.
Definition products_balls (x : list ball) (l : list (list ball)) : result (list ball) :=
  let* _ := need Unusable (as_long (length x) l) in Got (map (inner P x) l).
(* A tie is not seen in balls: one logit must lead. *)
Definition leads (logits : list ball) : list bool :=
  let low := match logits with [] => 0 | x :: r => fold_right (fun y m => Z.max (fst y - snd y) m) (fst x - snd x) r end in
  map (fun x => low <=? fst x + snd x) logits.
Definition exactly (b : bool) : ball := (if b then unit_ball P else 0, 0).
Definition shares_balls (weigh : rule) (logits : list ball) : result (list ball) :=
  match weigh with
  | Softmax in_ln_2 => Got (softmax_balls P (if in_ln_2 then map (fun x => product P x ln_2) logits else logits))
  | Hardmax =>
    let leads := leads logits in
    let* _ := need Wrong (Nat.eqb (length (filter (fun b => b) leads)) 1) in Got (map exactly leads)
  | Linear => Got logits
  end.
Definition mean_balls (weights : list ball) (l : list (list ball)) : result (list ball) :=
  let* _ := need Unusable (negb (Nat.eqb (length l) 0) && Nat.eqb (length weights) (length l) && as_long (width l) l) in
  Got (map (inner P weights) (columns l)).
Definition decided (x : ball) : bool := (snd x <? Z.abs (fst x)) || (fst x =? snd x).
Definition active_balls (act : activation) (x : list ball) : result (list ball) :=
  match act with
  | Identity => Got x
  | Relu => Got (map (fun z => (Z.max (fst z) 0, snd z)) x)
  | Threshold => let* _ := need Wrong (forallb decided x) in Got (map (fun z => exactly (0 <=? fst z)) x)
  end.

Definition ball_of (x : frac Z) : ball := of_quotient P (numer x) (denom x).
Definition enclosed_before (blocks : list (block (option exact_map))) (context : mat Z) :=
  tables mapped_balls joined_balls added_balls products_balls shares_balls mean_balls active_balls blocks (map (map ball_of) context).
Definition enclosed_query (blocks : list (block (option exact_map))) (c : cert Z) before (t : nat) : result (list ball) :=
  query_after mapped_balls joined_balls added_balls products_balls shares_balls mean_balls active_balls blocks before
    (map ball_of (nth t (queries c) [])).

(* Off by (|c - y| + r + 1) / 2^P at most. *)
Definition close (most : frac Z) (p : ball * frac Z) : bool :=
  let '(c, r, y) := p in
  (Z.abs (c - fst (ball_of y)) + r + 1) * denom most <=? Z.shiftl (numer most) P.
End Enclosed.

Definition guard : Z := 128.
Definition check_within (common : list (mat Z) -> Z) (most : frac Z) (blocks : list (block (mat Z))) (c : cert Z) : result unit :=
  let P := guard + bit_length (denom most / numer most) in
  let ln_2 := ln_2_ball P in
  let* blocks := each (ball_block common) blocks in
  let* _ := each_example (enclosed_before P ln_2 blocks) c (fun before t =>
    let* y := enclosed_query P ln_2 blocks c before t in
    let label := nth t (labels c) [] in
    let* _ := need Unusable (Nat.eqb (length y) (length label)) in need Wrong (forallb (close P most) (combine y label))) in Got tt.
