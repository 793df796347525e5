(* Rational heads with integer logits, put into the real layer with W_Q = ln 2 * query: what a full-rank certificate
   says of the layer with the true exponential. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import boolp classical_sets reals sequences exp.
Require Import layer reduction rational.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section RationalInReal.
Variable R : realType.
Local Notation realm := (map_mx (ratr : rat -> R)).

Lemma expR_ln2 (k : int) : expR (ln 2%:R * k%:~R) = 2%:R ^ k :> R.
Proof.
have e2 : expR (ln 2%:R) = 2%:R :> R by rewrite lnK // posrE ltr0n.
case: k => k; first by rewrite -pmulrn mulrC expRMm e2 -exprnP.
by rewrite NegzE mulrNz mulrN expRN mulrC expRMm e2 exprnN.
Qed.

Lemma softmax_base2 n (k : 'I_n -> int) i :
  softmax (@expR R) (fun i => ln 2%:R * (k i)%:~R) i = ratr (softmax pow2 k i).
Proof.
have pw (j : int) : ratr (pow2 j) = 2%:R ^ j :> R by rewrite fmorphXz rmorph_nat.
rewrite /softmax fmorph_div /= pw expR_ln2 rmorph_sum /=; congr (_ / _).
by apply: eq_bigr => j _; rewrite expR_ln2 pw.
Qed.

Variables (n d dh T H : nat) (E : 'I_T -> 'M[rat]_(n, d)) (e : 'I_T -> 'rV[rat]_d).
Variables (WK WQ : 'I_H -> 'M[rat]_(d, dh)) (k : 'I_T -> 'I_H -> 'I_n -> int).
Hypothesis integer_logits : forall t h i, logits (E t) (e t) (WK h *m (WQ h)^T) i = (k t h i)%:~R.

Lemma features_in_real : feature_matrix (head_features (@expR R) (fun t => realm (E t)) (fun t => realm (e t))
    (fun h => realm (WK h)) (fun h => ln 2%:R *: realm (WQ h))) =
  realm (feature_matrix (fun t h => attend pow2 (E t) (k t h))).
Proof.
apply/row_matrixP => t; rewrite rowK -map_row rowK map_mxvec; congr mxvec.
apply/row_matrixP => h; rewrite rowK -map_row rowK /head_features /attend raddf_sum /=.
have logitE j : logits (realm (E t)) (realm (e t)) (realm (WK h) *m (ln 2%:R *: realm (WQ h))^T) j =
    ln 2%:R * (k t h j)%:~R.
  rewrite /logits linearZ /= -!(scalemxAl, scalemxAr) !map_trmx -!map_mxM mxE mxE; congr (_ * _).
  by rewrite -[RHS]ratr_int -integer_logits.
apply: eq_bigr => i _; rewrite map_mxZ map_row; congr (_ *: _); rewrite -[RHS]softmax_base2.
by rewrite /softmax logitE; congr (_ / _); apply: eq_bigr => j _; rewrite logitE.
Qed.

Theorem rational_rank_memorizes : row_free (feature_matrix (fun t h => attend pow2 (E t) (k t h))) ->
  memorizes (head_features (@expR R) (fun t => realm (E t)) (fun t => realm (e t))
    (fun h => realm (WK h)) (fun h => ln 2%:R *: realm (WQ h))).
Proof.
by move=> Z; apply: full_rank_memorizes; rewrite features_in_real /row_free mxrank_map.
Qed.
End RationalInReal.
