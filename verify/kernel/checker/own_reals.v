(* The theorems over any realType, at Coq's own real numbers and in the words of Spec.v. What is missing for it: that the
   exponential of MathComp-Analysis is Coq's there. Both are the limit of the same sums. *)
From Coq Require Import Reals.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import Rstruct boolp classical_sets reals topology normedtype sequences exp.
Require layer real.
Require Spec memorizes.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Definition terms (x : R) (i : nat) : R := Rmult (Rinv (INR (fact i))) (pow x i).
Lemma factE i : fact i = i`!.
Proof. by elim: i => //= i IH; rewrite factS -IH mulSn. Qed.
Lemma termE (x : R) i : exp_coeff x i = terms x i.
Proof.
rewrite /exp_coeff /terms /= factE INRE RinvE ?RpowE ?RmultE; first by rewrite mulrC.
by rewrite pnatr_eq0 -lt0n fact_gt0.
Qed.
Lemma partialE (x : R) n : series (exp_coeff x) n.+1 = sum_f_R0 (terms x) n.
Proof.
elim: n => [|n IH]; first by rewrite /series /= big_nat1 termE.
by rewrite /= -IH /series /= big_nat_recr //= termE.
Qed.
Lemma exp_sums (x : R) : Un_cv (sum_f_R0 (terms x)) (Rtrigo_def.exp x).
Proof. exact: (proj2_sig (exist_exp x)). Qed.

Lemma expR_exp_ge0 (x : R) : 0 <= x -> expR x = Rtrigo_def.exp x.
Proof.
move=> x0; have c0 i : 0 <= exp_coeff x i by apply: exp_coeff_ge0.
apply/eqP; rewrite eq_le; apply/andP; split.
- apply: limr_le; first exact: is_cvg_series_exp_coeff.
  near=> n; have n0 : (0 < n)%N by near: n; exists 1%N.
  rewrite -(prednK n0) partialE; apply/RleP; apply: (sum_incr _ _ _ (@exp_sums x)) => i.
  by apply/RleP; rewrite -termE.
- apply/RleP; apply: (@Rle_cv_lim (sum_f_R0 (terms x)) (fun=> expR x)).
  + move=> n; apply/RleP; rewrite -partialE; apply: limr_ge; first exact: is_cvg_series_exp_coeff.
    by near=> m; apply: nondecreasing_series => //; near: m; exists n.+1.
  + exact: exp_sums.
  + by move=> eps eps0; exists 0%N => n _; rewrite R_dist_eq.
Unshelve. all: by end_near. Qed.

Theorem expR_exp (x : R) : expR x = Rtrigo_def.exp x.
Proof.
have [x0|x0] := lerP 0 x; first exact: expR_exp_ge0.
have N := @expR_exp_ge0 (- x); rewrite oppr_ge0 ltW // in N; have {N} := N isT.
rewrite expRN -[Rtrigo_def.exp (- x)]/(Rtrigo_def.exp (Ropp x)) Rpower.exp_Ropp RinvE; first by move/invr_inj.
by apply/eqP; apply: Rgt_not_eq; apply: exp_pos.
Qed.

(* The features of heads with W_K = K and W_Q are those of Spec.v. *)
Section Words.
Variables (n d dh T H : nat) (E : 'I_T -> 'M[R]_(n, d)) (e : 'I_T -> 'rV[R]_d).
Local Notation entry := memorizes.entry.
Local Notation ln2 := (Rpower.ln (IZR 2)).
Definition of_heads (W : 'I_H -> 'M[R]_(d, dh)) (c : R) (h a k : nat) : R := if insub h is Some h then Rdiv (entry (W h) a k) c else 0.

Lemma ln_2 : ln2 != 0.
Proof.
have L : Rlt (Rpower.ln (IZR 1)) ln2 by apply: Rpower.ln_increasing; [exact: Rlt_0_1 | apply: IZR_lt].
by rewrite Rpower.ln_1 in L; apply/eqP; apply: Rgt_not_eq.
Qed.

Lemma logitE (WK WQ : 'I_H -> 'M[R]_(d, dh)) (t : 'I_T) (h : 'I_H) (i : 'I_n) :
  Spec.logit d dh (of_heads WK 1) (of_heads WQ ln2) (entry (E t)) (entry (e t) 0) h i =
  layer.logits (E t) (e t) (WK h *m (WQ h)^T) i.
Proof.
rewrite /layer.logits mulmxA -!mulmxA mxE /Spec.logit memorizes.sum_big; apply: eq_bigr => a _; rewrite memorizes.entryE; congr (_ * _).
rewrite mxE memorizes.sum_big; apply: eq_bigr => k _; rewrite /of_heads !valK memorizes.entryE RdivE ?oner_neq0 // divr1; congr (_ * _).
rewrite mxE memorizes.sum_big; apply: eq_bigr => b _; rewrite memorizes.entryE (memorizes.entryE (e t) 0 b) !mxE; congr (_ * _).
by rewrite RdivE ?ln_2 // RmultE mulrC divfK // ln_2.
Qed.

Lemma featureE (WK WQ : 'I_H -> 'M[R]_(d, dh)) (t : 'I_T) (h : 'I_H) (j : 'I_d) :
  Spec.feature n d dh (of_heads WK 1) (of_heads WQ ln2) (entry (E t)) (entry (e t) 0) h j =
  layer.head_features (@expR _) E e WK WQ t h 0 j.
Proof.
rewrite /layer.head_features /layer.attend summxE /Spec.feature memorizes.sum_big; apply: eq_bigr => i _.
rewrite !mxE memorizes.entryE; congr (_ * _); rewrite /layer.softmax /Spec.softmax memorizes.sum_big.
have S : \sum_(k < n) Rtrigo_def.exp (Spec.logit d dh (of_heads WK 1) (of_heads WQ ln2) (entry (E t)) (entry (e t) 0) h k) =
  \sum_(k < n) expR (layer.logits (E t) (e t) (WK h *m (WQ h)^T) k) by apply: eq_bigr => k _; rewrite expR_exp logitE.
rewrite S expR_exp logitE RdivE //; apply: lt0r_neq0.
by rewrite (bigD1 i) //= ltr_paddr ?expR_gt0 // sumr_ge0 // => k _; rewrite ltW ?expR_gt0.
Qed.

Definition met_by_some_heads : Prop := exists K Q : nat -> nat -> nat -> R, forall m dv (Y : nat -> nat -> R), (m <= dv)%N ->
  exists (V : nat -> nat -> nat -> R) (O : nat -> nat -> R), forall (t : 'I_T) j, (j < m)%N ->
    Spec.layer n d H dh dv K Q V O (entry (E t)) (entry (e t) 0) j = Y t j.

Lemma in_words : (exists WK WQ : 'I_H -> 'M[R]_(d, dh), layer.memorizes (layer.head_features (@expR _) E e WK WQ)) -> met_by_some_heads.
Proof.
case=> WK [WQ all]; exists (of_heads WK 1), (of_heads WQ ln2) => m dv Y W.
have [V [O met]] := all m dv (fun t => \row_j Y t j) W.
exists (memorizes.values V), (memorizes.rows_of O) => t j jm; have := met t; move/rowP/(_ (Ordinal jm)); rewrite [RHS]mxE /= => <-.
by apply: (@memorizes.readout _ _ _ _ _ _ V O _ t (Ordinal jm)) => h a; exact: featureE.
Qed.
End Words.

(* The paper's Theorem 1, and width one, with the layer of Spec.v: Coq's own real numbers, exp and ln. *)
Theorem theorem_1_in_words n d dh T H (E : 'I_T -> 'M[R]_(n, d)) (e : 'I_T -> 'rV[R]_d) :
  (0 < n)%N -> (0 < dh)%N -> (0 < H)%N -> (T <= H * (minn n dh).-1 + 1)%N -> layer.A1 n e -> layer.A2 E -> met_by_some_heads dh H E e.
Proof. by move=> n0 dh0 H0 few A1 A2; apply: in_words; exact: real.theorem_1. Qed.
Theorem width_one_in_words n d T H (E : 'I_T -> 'M[R]_(n, d)) (e : 'I_T -> 'rV[R]_d) (group : 'I_T -> 'I_H) :
  layer.A2 E -> layer.P n e group -> met_by_some_heads 1 H E e.
Proof. by move=> A2 P; apply: in_words; exact: real.width_one_real P. Qed.
