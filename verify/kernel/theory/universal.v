(* Universal memorization from above (docs/given-labels.md, Theorem U, the upper bound): for all weights, all data and every
   set S of examples rank Z <= H a + b + T - |S|. It is the capacity law of capacity.v for heads of width 0, whose attention is
   any numbers p that add up to 1: only values move, and the outputs depend on them as the rows of Z say. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import boolp classical_sets reals sequences exp.
Require Import layer capacity.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Universal.
Variables (F : fieldType) (T H n d : nat).
Variables (E : 'I_T -> 'M[F]_(n.+1, d)) (p : 'I_T -> 'I_H -> 'rV[F]_n.+1).
Hypothesis sum_p : forall t h, \sum_i p t h 0 i = 1.

(* a and b of the contexts of S. *)
Definition a_of (S : {set 'I_T}) : nat := \rank (span_of_differences E S).
Definition b_of (S : {set 'I_T}) : nat := (\rank (span_of_rows E S) - a_of S)%N.

(* Values 0 with outputs 1, and the direction in which entry j of all values moves. *)
Let still : weights F d 0 1 1 H := Weights (fun _ => 0) (fun _ => 0) (fun _ => 0) (fun _ => 1%:M).
Let moved (j : 'I_(H * d)) : weights F d 0 1 1 H :=
  Weights (fun _ => 0) (fun _ => 0) (fun h => (row h (vec_mx (delta_mx 0 j)))^T) (fun _ => 0).

Lemma tangent_moved t j : tangent E (fun _ => 0) p still (moved j) t = feature_matrix (feature_of E p) t j.
Proof.
rewrite /tangent [RHS]mxE; case/mxvec_indexP: j => h i; rewrite mxvecE mxE summxE (bigD1 h) //= big1 => [|k kh].
  rewrite addr0 /value_change /= mulmx1 mul0mx addr0 trmx0 mulmx0 addr0 mxE (bigD1 i) //= big1 => [|l li].
    by rewrite vec_mx_delta !mxE !eqxx mulr1 addr0.
  by rewrite vec_mx_delta !mxE eqxx (negPf li) mulr0.
rewrite /value_change /= mulmx1 mul0mx addr0 trmx0 mulmx0 addr0 mxE big1 // => l _.
by rewrite vec_mx_delta !mxE (negPf kh) mulr0.
Qed.

Theorem universal_upper (S : {set 'I_T}) :
  (\rank (feature_matrix (feature_of E p)) <= H * a_of S + b_of S + (T - #|S|))%N.
Proof.
have := capacity_upper E (fun _ => 0) sum_p S still moved.
rewrite /N min0n mul0n add0n -/(a_of S) -/(b_of S).
by congr (\rank _ <= _)%N; apply/matrixP => t j; rewrite mxE tangent_moved.
Qed.
End Universal.

(* Over the real numbers, with the true exponential. *)
Theorem universal_upper_real (R : realType) (T H n d w : nat) (E : 'I_T -> 'M[R]_(n.+1, d)) (e : 'I_T -> 'rV[R]_d)
    (WK WQ : 'I_H -> 'M[R]_(d, w)) (S : {set 'I_T}) :
  (\rank (feature_matrix (head_features (@expR R) E e WK WQ)) <= H * a_of E S + b_of E S + (T - #|S|))%N.
Proof.
pose x := Weights (dv := 1) (m := 1) WK WQ (fun _ => 0) (fun _ => 0).
have := universal_upper E (attention_sum E e x) S.
congr (\rank _ <= _)%N; apply/matrixP => t j; rewrite mxE [RHS]mxE; congr (mxvec _ 0 _); apply/matrixP => h i.
by rewrite mxE [RHS]mxE attention_feature.
Qed.
