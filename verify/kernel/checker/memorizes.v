(* From the bytes of a full-rank file to weights: one theorem over Coq's own real numbers, in the words of Spec.v alone.
   That full rank gives universal memorization is theory/reduction.v, for matrices over any field: here over Coq's reals. *)
From Coq Require Import Reals.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import Rstruct.
Require layer reduction.
Require Spec Json Certificate verified.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* Sums of Spec.v as sums of MathComp, and matrices as functions of whole numbers. *)
Lemma sum_big n (f : nat -> R) : Spec.sum n f = \sum_(i < n) f i.
Proof. by elim: n f => [|n IH] f /=; [rewrite big_ord0 | rewrite big_ord_recl IH]. Qed.

Definition entry n p (M : 'M[R]_(n, p)) (i j : nat) : R :=
  if insub i is Some i then if insub j is Some j then M i j else 0 else 0.
Lemma entryE n p (M : 'M[R]_(n, p)) (i : 'I_n) (j : 'I_p) : entry M i j = M i j.
Proof. by rewrite /entry !valK. Qed.

(* Values and an output of MathComp's, as functions of whole numbers; the sums of Spec.v are the layer's output. *)
Section Readout.
Variables (T H d m dv : nat) (z : 'I_T -> 'I_H -> 'rV[R]_d) (V : 'I_H -> 'M[R]_(d, dv)) (O : 'I_H -> 'M[R]_(dv, m)).
Definition values (h a b : nat) : R := if insub h is Some h then entry (V h) a b else 0.
Definition rows_of (r j : nat) : R := if insub (r %/ dv)%N is Some h then entry (O h) (r %% dv)%N j else 0.
Lemma readout (feat : nat -> nat -> R) (t : 'I_T) (j : 'I_m) : (forall (h : 'I_H) (a : 'I_d), feat h a = z t h 0 a) ->
  Spec.sum H (fun h => Spec.sum dv (fun b => Spec.sum d (fun a => feat h a * values h a b) * rows_of (h * dv + b)%N j)) =
  layer.output z V O t 0 j.
Proof.
move=> same; rewrite /layer.output summxE sum_big; apply: eq_bigr => h _; rewrite mxE sum_big; apply: eq_bigr => b _.
have dv0 : (0 < dv)%N by apply: leq_trans (ltn_ord b).
rewrite /values /rows_of divnMDl // divn_small // addn0 modnMDl modn_small // !valK (entryE (O h) b j).
congr (_ * _); rewrite mxE sum_big; apply: eq_bigr => a _.
by rewrite (entryE (V h) a b) same.
Qed.
End Readout.

Section Solved.
Variables (T H d m dv : nat) (feat : nat -> nat -> nat -> R).
Hypothesis free : forall a : nat -> R,
  (forall h j, (h < H)%coq_nat -> (j < d)%coq_nat -> Spec.sum T (fun t => a t * feat t h j) = 0) ->
  forall t, (t < T)%coq_nat -> a t = 0.
Let z (t : 'I_T) (h : 'I_H) : 'rV[R]_d := \row_j feat t h j.

Lemma features_free : row_free (layer.feature_matrix z).
Proof.
apply: inj_row_free => c cZ; apply/rowP => t; rewrite [RHS]mxE -(entryE c 0 t).
apply: (free (a := entry c 0)); last exact/ltP.
move=> h j /ltP hH /ltP jd; rewrite sum_big.
move/rowP/(_ (mxvec_index (Ordinal hH) (Ordinal jd))): cZ; rewrite !mxE => cZ.
by rewrite -[RHS]cZ; apply: eq_bigr => s _; rewrite (entryE c 0 s) !mxE mxvecE !mxE.
Qed.

Lemma solved (Y : nat -> nat -> R) : (m <= dv)%N -> exists (V : nat -> nat -> nat -> R) (O : nat -> nat -> R),
  forall t j, (t < T)%coq_nat -> (j < m)%coq_nat ->
    Spec.sum H (fun h => Spec.sum dv (fun b => Spec.sum d (fun a => feat t h a * V h a b) * O (h * dv + b)%N j)) = Y t j.
Proof.
move=> W; have [V [O met]] := reduction.full_rank_memorizes features_free (fun t => \row_j Y t j) W.
exists (values V), (rows_of O) => t j /ltP tT /ltP jm; have := met (Ordinal tT); move/rowP/(_ (Ordinal jm)); rewrite [RHS]mxE /= => <-.
by apply: (@readout _ _ _ _ _ z V O _ (Ordinal tT) (Ordinal jm)) => h a; rewrite mxE.
Qed.
End Solved.

(* The keys and queries of an accepted full-rank file memorize universally: for all labels there are real values and an
   output with which the layer of Spec.v, its softmax with the true exponential, outputs them on all T examples. *)
Definition memorizes_universally (c : Spec.cert Z) : Prop :=
  forall Y : nat -> nat -> R, exists (V : nat -> nat -> nat -> R) (O : nat -> nat -> R),
  forall t j, (t < Spec.dimT c)%coq_nat -> (j < Spec.dimm c)%coq_nat ->
    Spec.layer (Spec.tokens c t) (Spec.dimd c) (Spec.dimH c) (Spec.dimk c) (Spec.dimv c)
      (Spec.of_head id Spec.key c) (Spec.of_head id Spec.query c) V O
      (Spec.mentry id (Spec.ctx c t)) (Spec.mentry id (Spec.queries c) t) j = Y t j.

Theorem full_rank_memorizes (c : Spec.cert Z) : Spec.full_rank id c -> memorizes_universally c.
Proof. by case=> /leP W free Y; apply: (solved (feat := fun t => Spec.feature _ _ _ _ _ _ _) free Y W). Qed.

Theorem accepted_memorizes digests affordable common gcd f x before p c :
  verified.judge digests affordable common gcd f = Json.Got x -> Certificate.claimed x = Certificate.FullRank before p c ->
  exists c', Blocks.behind before c c' /\ memorizes_universally c'.
Proof.
case/verified.judged => _; rewrite /Certificate.states => -[].
by case: x => claimed s r q D /= + _ E; rewrite E => -[c' [B [[_ /full_rank_memorizes W] _]]]; exists c'.
Qed.
