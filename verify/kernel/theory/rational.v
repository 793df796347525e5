(* The theorems over the rational numbers: softmax in base 2, all logits integers. They rest on no axiom. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import layer families exponential head construction reduction grouping.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Definition pow2 (k : int) : rat := 2%:R ^ k.

Lemma pow2_decay (mu : int) : 0 < mu -> exists C, forall c : nat, pow2 (- (mu *+ c)) * c%:R <= C.
Proof.
case: mu => [m|//] m0; exists 1 => c.
have -> : Posz m *+ c = Posz (m * c) by rewrite -mulr_natr natz.
rewrite /pow2 -exprnN ler_pdivr_mull ?exprn_gt0 // mulr1 -natrX ler_nat.
apply: leq_trans (ltnW (ltn_expl c (ltnSn 1))) _.
by rewrite leq_exp2l // leq_pmull.
Qed.

Lemma rational_denominators m k (M : 'M[rat]_(m, k)) :
  exists (f : int) (B : 'M[int]_(m, k)), 0 < f /\ map_mx intr B = f%:~R *: M.
Proof.
pose f := \prod_(ij : 'I_m * 'I_k) denq (M ij.1 ij.2).
have f_gt0 : 0 < f by apply: prodr_gt0 => ? _; apply: denq_gt0.
exists f, (\matrix_(i, j) (numq (M i j) * \prod_(ij : 'I_m * 'I_k | ij != (i, j)) denq (M ij.1 ij.2))).
split=> //; apply/matrixP => i j; rewrite !mxE.
have -> : f = denq (M i j) * \prod_(ij : 'I_m * 'I_k | ij != (i, j)) denq (M ij.1 ij.2).
  by rewrite /f (bigD1 (i, j)).
rewrite !intrM mulrAC -{3}[M i j]divq_num_den; congr (_ * _).
by rewrite mulrC mulrVK // unitfE intr_eq0 denq_neq0.
Qed.

Definition base2 : exponential.
apply: (@Exponential [realDomainType of int] [archiFieldType of rat] [rmorphism of (intr : int -> rat)] pow2).
- by move=> x y; rewrite /pow2 expfzDr ?pnatr_eq0.
- by move=> x; rewrite exprz_gt0.
- by case=> [m|//] m0; rewrite /pow2 exprn_egt1 ?ltr1n // -lt0n.
- exact: pow2_decay.
- exact: intr_inj.
- exact: rational_denominators.
Defined.

(* Rational data are integer data over one common denominator; it goes into the weights. *)
Lemma family_denominators T m d (M : 'I_T -> 'M[rat]_(m, d)) :
  exists (f : int) (B : 'I_T -> 'M[int]_(m, d)), 0 < f /\ forall t, map_mx intr (B t) = f%:~R *: M t.
Proof.
have [f [B [f0 BE]]] := rational_denominators (\matrix_t mxvec (M t)).
exists f, (fun t => vec_mx (row t B)); split=> // t.
by apply: (can_inj mxvecK); rewrite -map_mxvec vec_mxK map_row BE !linearZ /= rowK.
Qed.

Section Rational.
Variables (n d dh T H : nat) (E : 'I_T -> 'M[rat]_(n, d)) (e : 'I_T -> 'rV[rat]_d).

(* Heads with integer logits k, softmax in base 2, and features of rank T. *)
Definition rational_heads := exists (WK WQ : 'I_H -> 'M[rat]_(d, dh)) (k : 'I_T -> 'I_H -> 'I_n -> int),
  (forall t h i, logits (E t) (e t) (WK h *m (WQ h)^T) i = (k t h i)%:~R) /\
  row_free (feature_matrix (fun t h => attend pow2 (E t) (k t h))).

Lemma clear_data r (group : 'I_T -> 'I_H) : A2 E -> P r e group ->
  exists f g (E' : 'I_T -> 'M[int]_(n, d)) (e' : 'I_T -> 'rV[int]_d),
  [/\ f != 0 :> rat, forall t, map_mx intr (E' t) = f *: E t, forall t, map_mx intr (e' t) = g *: e t,
      A2 (fun t => map_mx intr (E' t) : 'M[rat]_(n, d)) & P r (fun t => map_mx intr (e' t) : 'rV[rat]_d) group].
Proof.
move=> A2_E [sizes independent outside].
have [f [E' [f0 E'E]]] := family_denominators E; have [g [e' [g0 e'E]]] := family_denominators e.
have fq : f%:~R != 0 :> rat by rewrite intr_eq0 gt_eqF.
have gq : g%:~R != 0 :> rat by rewrite intr_eq0 gt_eqF.
exists f%:~R, g%:~R, E', e'; split=> // [t|].
  by rewrite E'E /row_free (eqmx_scale _ fq); apply: A2_E.
split=> // [h|h s sh]; rewrite /queries.
  by under eq_map => t do rewrite e'E; rewrite free_scale //; apply: independent.
have := outside h s sh; apply: contra; rewrite e'E => /(memvZ g%:~R^-1).
rewrite scalerA mulVf // scale1r; apply: subvP; apply/span_subvP => _ /mapP [t tG ->].
by rewrite e'E; apply/memvZ/memv_span/map_f.
Qed.

Lemma integer_to_rational f g (E' : 'I_T -> 'M[int]_(n, d)) (e' : 'I_T -> 'rV[int]_d) (WK WQ : 'I_H -> 'M[int]_(d, dh)) :
  f != 0 :> rat -> (forall t, map_mx intr (E' t) = f *: E t) -> (forall t, map_mx intr (e' t) = g *: e t) ->
  row_free (feature_matrix (fun t h => @feature base2 _ n d E' e' (WK h *m (WQ h)^T) t)) -> rational_heads.
Proof.
move=> f0 E'E e'E Z.
exists (fun h => f *: map_mx intr (WK h)), (fun h => g *: map_mx intr (WQ h)),
  (fun t h => logits (E' t) (e' t) (WK h *m (WQ h)^T)); split=> [t h i|].
  have -> (k : int) : k%:~R = (map_mx intr (const_mx k) : 'M[rat]_1) 0 0 by rewrite !mxE.
  rewrite /logits; set B := E' t *m _ *m _.
  have -> : (map_mx intr (const_mx (B i 0)) : 'M[rat]_1) 0 0 = (map_mx intr B : 'M[rat]_(n, 1)) i 0 by rewrite !mxE.
  rewrite /B !map_mxM -!map_trmx E'E e'E ![(_ *: _)^T]linearZ /= -!(scalemxAl, scalemxAr) !scalerA.
  by rewrite mulmxA -?mulmxA // mulrC.
apply/eqP; apply: etrans (eqP Z); rewrite -(eqmx_scale _ f0); congr (\rank _).
apply/row_matrixP => t; rewrite linearZ /= !rowK -linearZ /=; congr mxvec.
apply/row_matrixP => h; rewrite linearZ /= !rowK /feature /attend scaler_sumr; apply: eq_bigr => i _.
by rewrite E'E !linearZ /= scalerA mulrC scalerA.
Qed.
End Rational.

(* The theorem of docs/width-one.md, sections 1 and 5. *)
Theorem width_one_rational n d T H (E : 'I_T -> 'M[rat]_(n, d)) (e : 'I_T -> 'rV[rat]_d) (group : 'I_T -> 'I_H) :
  A2 E -> P n e group -> rational_heads 1 H E e.
Proof.
move=> A2_E P_e; have [f [g [E' [e' [f0 E'E e'E A2_E' P_e']]]]] := clear_data A2_E P_e.
have [u [v Z]] := @width_one base2 n d T H E' e' group A2_E' P_e'.
exact: integer_to_rational f0 E'E e'E Z.
Qed.

(* The paper's Theorem 1, from P: with groups of r, r-1, r-1, ... examples, r <= n, heads of width r are enough. *)
Theorem steering_rational n d dh T H r (E : 'I_T -> 'M[rat]_(n, d)) (e : 'I_T -> 'rV[rat]_d) (group : 'I_T -> 'I_H) :
  (0 < r <= n)%N -> (r <= dh)%N -> A2 E -> P r e group -> rational_heads dh H E e.
Proof.
move=> rn rdh A2_E P_e; have [f [g [E' [e' [f0 E'E e'E A2_E' P_e']]]]] := clear_data A2_E P_e.
have [WK [WQ Z]] := @steering base2 n d T H E' e' group r dh rn rdh A2_E' P_e'.
exact: integer_to_rational f0 E'E e'E Z.
Qed.
