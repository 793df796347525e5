(* The reduction for values that are narrower than the labels (docs/width-one.md, section 9): where the features, taken
   through fixed value matrices V_h, have rank T, some output meets any labels. The V_h may pick d_v columns of each head. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import layer reduction.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Theorem narrow_values (F : fieldType) (T H d dv : nat) (z : 'I_T -> 'I_H -> 'rV[F]_d) (V : 'I_H -> 'M[F]_(d, dv)) :
  row_free (feature_matrix (fun t h => z t h *m V h)) ->
  forall m (Y : 'I_T -> 'rV[F]_m), exists O : 'I_H -> 'M[F]_(dv, m), forall t, output z V O t = Y t.
Proof.
move=> freeZV m Y; pose ZV := feature_matrix (fun t h => z t h *m V h); pose U := pinvmx ZV *m \matrix_t Y t.
exists (block U) => t; rewrite /output (sum_blocks (fun t h => z t h *m V h) U t).
by rewrite -row_mul mulmxA mulmxVp // mul1mx rowK.
Qed.
