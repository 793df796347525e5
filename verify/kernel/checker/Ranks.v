(* "network-rank": what it states of blocks over Coq's real numbers. Part of the specification. *)
From Coq Require Import ZArith Reals List Bool.
Require Import Spec Json Blocks.
Import ListNotations.
Open Scope R_scope.

(* "network-rank". The weights of the file, but the keys of each block are multiplied by a real number; and weights that move
   from there along lines, each a + b s at the time s. The bias that the maps of attention have here is 0, and rests. *)
Definition with_keys (f : R) (b : block (list (list R))) : block (list (list R)) :=
  match b with
  | Attention of weigh parts seen residual =>
    Attention of weigh (map (fun p => Part (map (map (Rmult f)) (to_key p)) (to_query p) (to_value p) (to_output p)) parts) seen residual
  | FeedForward of act linear residual => FeedForward of act linear residual
  end.
Definition but_for_keys (b : block (mat Z)) (b' : block (list (list R))) : Prop := exists f : R, b' = with_keys f (real_block b).
Definition moving := block (list (list (R * R))).
Definition at_time (s : R) : moving -> block (list (list R)) := of_block (map (map (fun w => fst w + snd w * s))).
Definition rests (m : list (list (R * R))) : Prop := Forall (fun column => snd (last column (0, 0)) = 0) m.
Definition biases_rest (b : moving) : Prop :=
  match b with
  | Attention _ _ parts _ _ => Forall (fun p => rests (to_key p) /\ rests (to_query p) /\ rests (to_value p) /\ rests (to_output p)) parts
  | FeedForward _ _ _ _ => True
  end.
Definition independent_family (T m N : nat) (J : nat -> nat -> nat -> R) : Prop :=
  forall a : nat -> nat -> R, (forall k, (k < N)%nat -> sum T (fun t => sum m (fun j => a t j * J t j k)) = 0) ->
  forall t j, (t < T)%nat -> (j < m)%nat -> a t j = 0.
Definition outputs_of (weights : list (block (list (list R)))) (c : cert Z) (t : nat) (y : list R) : Prop :=
  exists tokens, real_state weights (map reals (ctx c t)) (reals (nth t (queries c) [])) = Got (tokens, y).

(* Its "jacobian": on lines through such weights, the derivatives of the outputs, T times m rows, are independent. *)
Definition jacobian_rank (blocks : list (block (mat Z))) (c : cert Z) : Prop :=
  exists (weights : list (block (list (list R)))) (N : nat) (lines : nat -> list moving) (J : nat -> nat -> nat -> R),
    Forall2 but_for_keys blocks weights /\
    (forall k, map (at_time 0) (lines k) = weights /\ Forall biases_rest (lines k)) /\
    (forall t k, (t < dimT c)%nat -> exists y : R -> nat -> R,
      (forall s, outputs_of (map (at_time s) (lines k)) c t (map (y s) (seq 0 (dimm c)))) /\
      forall j, (j < dimm c)%nat -> derivable_pt_lim (fun s => y s j) 0 (J t j k)) /\
    independent_family (dimT c) (dimm c) N J.

(* Its "features": the last block's heads read out their means, one beside the other; these rows are independent. *)
Definition unit_row (n i : nat) : vec Z := map (fun k => Frac (if Nat.eqb k i then 1 else 0)%Z 1%Z) (seq 0 n).
Definition width_of_tokens (p : part (mat Z)) : nat := pred (length (hd [] (to_value p))).
Definition means_of (H d h : nat) (p : part (mat Z)) : part (mat Z) :=
  Part (to_key p) (to_query p) (map (unit_row (S d)) (seq 0 d))
    (map (fun i => if Nat.leb (h * d) i && Nat.ltb i (S h * d) then unit_row (S d) (i - h * d) else unit_row (S d) (S d)) (seq 0 (H * d))).
Fixpoint numbered {A B} (f : nat -> A -> B) (n : nat) (l : list A) : list B := match l with [] => [] | x :: r => f n x :: numbered f (S n) r end.
Definition read_means (b : block (mat Z)) : block (mat Z) :=
  match b with
  | Attention of weigh parts seen residual =>
    let d := match parts with p :: _ => width_of_tokens p | [] => 0%nat end in Attention of weigh (numbered (means_of (length parts) d) 0 parts) seen residual
  | b => b
  end.
Fixpoint on_last {A} (f : A -> A) (l : list A) : list A := match l with [] => [] | [x] => [f x] | x :: r => x :: on_last f r end.
Definition wide_values (m : nat) (blocks : list (block (mat Z))) : Prop :=
  forall of weigh parts seen residual before, blocks = before ++ [Attention of weigh parts seen residual] -> Forall (fun p => (m <= length (to_value p))%nat) parts.
Definition features_rank (blocks : list (block (mat Z))) (c : cert Z) : Prop :=
  exists (weights : list (block (list (list R)))) (N : nat) (y : nat -> nat -> R),
    Forall2 but_for_keys (on_last read_means blocks) weights /\
    (forall t, (t < dimT c)%nat -> outputs_of weights c t (map (y t) (seq 0 N))) /\
    independent_family (dimT c) 1 N (fun t _ k => y t k).

(* Its "jacobian at zero": whatever the labels, some weights of the same shape output them. *)
Definition lengths {A} : list (list A) -> list nat := map (@length A).
Definition no_biases (m : list (list R)) : Prop := Forall (fun column => last column 0 = 0) m.
Definition same_shape (b : block (mat Z)) (b' : block (list (list R))) : Prop :=
  of_block lengths b' = of_block lengths b /\
  match b' with
  | Attention _ _ parts _ _ => Forall (fun p => no_biases (to_key p) /\ no_biases (to_query p) /\ no_biases (to_value p) /\ no_biases (to_output p)) parts
  | FeedForward _ _ _ _ => True
  end.
Definition every_labelling_by (blocks : list (block (mat Z))) (c : cert Z) : Prop :=
  forall Y : nat -> nat -> R, exists weights, Forall2 same_shape blocks weights /\
    forall t, (t < dimT c)%nat -> outputs_of weights c t (map (Y t) (seq 0 (dimm c))).
