(* The theorems over the real numbers, with the true exponential. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import boolp classical_sets reals sequences exp.
Require Import layer families exponential head construction reduction grouping.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Real.
Variable R : realType.

(* exp x >= 1 + x gives exp(- c mu) c <= 1 / mu. *)
Lemma expR_decay (mu : R) : 0 < mu -> exists C, forall c : nat, expR (- (mu *+ c)) * c%:R <= C.
Proof.
move=> mu0; exists mu^-1 => c; rewrite -[mu *+ c]mulr_natr expRN mulrC ler_pdivr_mulr ?expR_gt0 // ler_pdivl_mull //.
have c0 : 0 <= mu * c%:R by apply: mulr_ge0; [apply: ltW | apply: ler0n].
by apply: le_trans (expR_ge1Dx c0); rewrite ler_addr ler01.
Qed.

Definition true_exponential : exponential.
apply: (@Exponential R R [rmorphism of idfun] (@expR R)).
- exact: expRD.
- exact: expR_gt0.
- by move=> x x0; rewrite -expR0 ltr_expR.
- exact: expR_decay.
- by move=> x y.
- move=> m k M; exists 1, M; rewrite ltr01 scale1r; split=> //.
  by apply/matrixP => i j; rewrite mxE.
Defined.

Lemma map_idfun m k (M : 'M[R]_(m, k)) : map_mx [rmorphism of idfun] M = M.
Proof. by apply/matrixP => i j; rewrite mxE. Qed.

Section Heads.
Variables (n d T H : nat) (E : 'I_T -> 'M[R]_(n, d)) (e : 'I_T -> 'rV[R]_d).
Local Notation embedded M := (fun t => map_mx (emb true_exponential) (M t)).

Lemma embedded_A2 : A2 E -> A2 (embedded E).
Proof. by move=> A2_E t; rewrite map_idfun. Qed.

Lemma embedded_P r (group : 'I_T -> 'I_H) : P r e group -> P r (embedded e) group.
Proof. by have -> // : embedded e = e by apply: funext => t; apply: map_idfun. Qed.

Lemma same_features dh (WK WQ : 'I_H -> 'M[R]_(d, dh)) :
  feature_matrix (fun t h => @feature true_exponential _ n d E e (WK h *m (WQ h)^T) t) =
  feature_matrix (head_features (@expR R) E e WK WQ).
Proof.
apply/row_matrixP => t; rewrite !rowK; congr mxvec; apply/row_matrixP => h; rewrite !rowK.
by rewrite /feature /head_features map_idfun.
Qed.
End Heads.

(* The theorem of docs/width-one.md, section 1: A2, P and W give universal memorization by heads of width one. *)
Theorem width_one_real n d T H (E : 'I_T -> 'M[R]_(n, d)) (e : 'I_T -> 'rV[R]_d) (group : 'I_T -> 'I_H) :
  A2 E -> P n e group ->
  exists WK WQ : 'I_H -> 'M[R]_(d, 1), memorizes (head_features (@expR R) E e WK WQ).
Proof.
move=> /embedded_A2 A2_E /embedded_P P_e; have [u [v Z]] := width_one A2_E P_e.
by exists u, v; apply: full_rank_memorizes; rewrite -same_features.
Qed.

(* Corollary 1: the paper's hypotheses A1 and A2 give it for T <= H(n-1)+1 examples. *)
Theorem width_one_A1 n d T H (E : 'I_T -> 'M[R]_(n, d)) (e : 'I_T -> 'rV[R]_d) :
  (0 < n)%N -> (0 < H)%N -> (T <= H * n.-1 + 1)%N -> A1 n e -> A2 E ->
  exists WK WQ : 'I_H -> 'M[R]_(d, 1), memorizes (head_features (@expR R) E e WK WQ).
Proof. by move=> n0 H0 few A1_e A2_E; exact: width_one_real A2_E (A1_gives_P A1_e n0 H0 few). Qed.

(* What the paper's construction needs: P with groups of r, r-1, r-1, ... examples, r <= n and r <= d_h. *)
Theorem steering_real n d dh T H r (E : 'I_T -> 'M[R]_(n, d)) (e : 'I_T -> 'rV[R]_d) (group : 'I_T -> 'I_H) :
  (0 < r <= n)%N -> (r <= dh)%N -> A2 E -> P r e group ->
  exists WK WQ : 'I_H -> 'M[R]_(d, dh), memorizes (head_features (@expR R) E e WK WQ).
Proof.
move=> rn rdh /embedded_A2 A2_E /embedded_P P_e; have [WK [WQ Z]] := steering rn rdh A2_E P_e.
by exists WK, WQ; apply: full_rank_memorizes; rewrite -same_features.
Qed.

(* The paper's Theorem 1: H heads of width d_h memorize T <= H(r-1)+1 examples, r = min(n, d_h). Proved by its steering
   heads, with A1 at strength r. *)
Theorem theorem_1 n d dh T H (E : 'I_T -> 'M[R]_(n, d)) (e : 'I_T -> 'rV[R]_d) :
  let r := minn n dh in
  (0 < n)%N -> (0 < dh)%N -> (0 < H)%N -> (T <= H * r.-1 + 1)%N -> A1 n e -> A2 E ->
  exists WK WQ : 'I_H -> 'M[R]_(d, dh), memorizes (head_features (@expR R) E e WK WQ).
Proof.
move=> r n0 dh0 H0 few A1_e A2_E; have r0 : (0 < r)%N by rewrite leq_min n0.
apply: (@steering_real n d dh T H r E e _ _ (geq_minr _ _) A2_E (A1_gives_P (A1_weaken (geq_minl _ _) A1_e) r0 H0 few)).
by rewrite r0 geq_minl.
Qed.
End Real.
