(* What an "impossible" certificate claims (docs/certificate.md): tied inputs force a relation on the outputs, whatever
   the number of heads, their widths and their weights. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import fingroup perm.
From mathcomp Require Import boolp classical_sets reals sequences exp.
Require Import layer head reduction.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Impossible.
Variables (R : realType) (n d : nat).
Hypothesis n_gt0 : (0 < n)%N.
Implicit Types (E C : 'M[R]_(n, d)) (e : 'rV[R]_d) (M : 'M[R]_d) (l : 'I_n -> R).
Local Notation ex := (@expR R).
Local Notation softmax := (softmax ex).
Local Notation attend := (attend ex).

(* The sum of the tokens, and n times each token less that sum. *)
Definition total E : 'rV[R]_d := \sum_i row i E.
Definition centred E : 'M[R]_(n, d) := \matrix_i (n%:R *: row i E - total E).

Lemma sum_expR_neq0 l : \sum_j ex (l j) != 0.
Proof.
rewrite gt_eqF // (bigD1 (Ordinal n_gt0)) //=; apply: ltr_paddr; last exact: expR_gt0.
by apply: sumr_ge0 => j _; apply/ltW/expR_gt0.
Qed.
Lemma sum_softmax l : \sum_i softmax l i = 1.
Proof. by rewrite -mulr_suml divff // sum_expR_neq0. Qed.
Lemma softmax_ext l l' i : l =1 l' -> softmax l i = softmax l' i.
Proof. by move=> ll; rewrite /softmax ll; congr (_ / _); apply: eq_bigr => j _; rewrite ll. Qed.
Lemma attend_ext E l l' : l =1 l' -> attend E l = attend E l'.
Proof. by move=> ll; apply: eq_bigr => i _; rewrite (softmax_ext _ ll). Qed.
(* Softmax does not change when all logits are shifted. *)
Lemma softmax_shift l a i : softmax (fun i => l i + a) i = softmax l i.
Proof.
rewrite /softmax expRD; under eq_bigr => j _ do rewrite expRD.
by rewrite -mulr_suml -mulf_div divff ?mulr1 // gt_eqF // expR_gt0.
Qed.
Lemma uniform E l a : l =1 (fun=> a) -> attend E l = n%:R^-1 *: total E.
Proof.
move=> la; rewrite /attend scaler_sumr; apply: eq_bigr => i _; congr (_ *: _).
rewrite /softmax la (eq_bigr (fun=> ex a)) => [|j _]; last by rewrite la.
by rewrite sumr_const card_ord -[ex a *+ n]mulr_natl invfM mulrCA divff ?mulr1 // gt_eqF // expR_gt0.
Qed.

Lemma logits_row M E e i : logits E e M i = (row i E *m M *m e^T) 0 0.
Proof. by rewrite /logits -!row_mul [RHS]mxE. Qed.

(* phi(C, e): attention to centred tokens C. *)
Definition phi M C e := attend C (fun i => n%:R^-1 * logits C e M i).

Let n_neq0 : n%:R != 0 :> R. Proof. by rewrite pnatr_eq0 -lt0n. Qed.

(* n z = total + phi(C, e). *)
Lemma feature_phi M E e : n%:R *: attend E (logits E e M) = total E + phi M (centred E) e.
Proof.
have centredE i : row i (centred E) = n%:R *: row i E - total E by rewrite rowK.
have -> : phi M (centred E) e = attend (centred E) (logits E e M).
  pose a := - (n%:R^-1 * (total E *m M *m e^T) 0 0).
  rewrite /phi; rewrite (@attend_ext _ _ (fun i => logits E e M i + a)) => [|i].
    by apply: eq_bigr => i _; rewrite softmax_shift.
  have -> : logits (centred E) e M i = n%:R * logits E e M i - (total E *m M *m e^T) 0 0.
    by rewrite !logits_row centredE !mulmxBl -!scalemxAl [LHS]mxE [X in X + _]mxE [X in _ + X = _]mxE.
  by rewrite mulrBr mulrA mulVf // mul1r.
rewrite /attend; under [X in _ + X]eq_bigr => i _ do rewrite centredE scalerBr.
rewrite sumrB -scaler_suml sum_softmax scale1r addrC subrK scaler_sumr.
by apply: eq_bigr => i _; rewrite !scalerA mulrC.
Qed.

(* phi does not depend on the order of the tokens ... *)
Lemma phi_perm M C e (s : 'S_n) : phi M (row_perm s C) e = phi M C e.
Proof.
have row_perm_row i : row i (row_perm s C) = row (s i) C by apply/rowP => j; rewrite !mxE.
have logits_perm i : logits (row_perm s C) e M i = logits C e M (s i) by rewrite !logits_row row_perm_row.
rewrite /phi /attend [RHS](reindex_inj (@perm_inj _ s)) /=; apply: eq_bigr => i _.
have softmax_perm : softmax (fun j => n%:R^-1 * logits (row_perm s C) e M j) i = softmax (fun j => n%:R^-1 * logits C e M j) (s i).
  rewrite /softmax [in RHS](reindex_inj (@perm_inj _ s)) logits_perm /=.
  by rewrite (eq_bigr _ (fun j _ => congr1 (fun a => ex (n%:R^-1 * a)) (logits_perm j))).
by rewrite row_perm_row softmax_perm.
Qed.

(* ... and scales: phi(x C, e) = x phi(C, x e), since the logits are the same ... *)
Lemma phi_scale M C e x : x != 0 -> phi M (x *: C) e = x *: phi M C (x *: e).
Proof.
move=> x0; rewrite /phi /attend scaler_sumr; apply: eq_bigr => i _; rewrite linearZ /= !scalerA mulrC.
have logits_scale j : logits (x *: C) e M j = logits C (x *: e) M j.
  by rewrite /logits [(x *: e)^T]linearZ /= -!scalemxAl -scalemxAr.
by rewrite (softmax_ext _ (fun j => congr1 (fun a => n%:R^-1 * a) (logits_scale j))).
Qed.

(* ... and vanishes where the query is 0 (uniform attention to rows that add up to 0) or C is 0. *)
Lemma total_centred E : total (centred E) = 0.
Proof.
rewrite /total; under eq_bigr => i _ do rewrite rowK.
by rewrite sumrB -scaler_sumr sumr_const card_ord scaler_nat subrr.
Qed.
Lemma phi_query0 M E : phi M (centred E) 0 = 0.
Proof.
rewrite /phi (@uniform _ _ 0) ?total_centred ?scaler0 // => i.
by rewrite /logits trmx0 mulmx0 mxE mulr0.
Qed.
Lemma phi_tokens0 M e : phi M 0 e = 0.
Proof. by rewrite /phi /attend big1 // => i _; rewrite row0 scaler0. Qed.

(* Examples t are either idle (query 0, or tokens all equal), or of a kind k with a scale x_t: up to the order of tokens
   x_t C_t is the kind's matrix, and e_t / x_t its query. *)
Section Tied.
Variables (T : nat) (E : 'I_T -> 'M[R]_(n, d)) (e : 'I_T -> 'rV[R]_d) (c : 'I_T -> R).
Variables (K : finType) (kind : 'I_T -> K) (tokens : K -> 'M[R]_(n, d)) (query : K -> 'rV[R]_d).
Variables (live : pred 'I_T) (x : 'I_T -> R) (s : 'I_T -> 'S_n).
Hypothesis idle : forall t, ~~ live t -> e t = 0 \/ centred (E t) = 0.
Hypothesis tied : forall t, live t ->
  [/\ x t != 0, e t = x t *: query (kind t) & x t *: centred (E t) = row_perm (s t) (tokens (kind t))].
Hypothesis totals_cancel : \sum_t c t *: total (E t) = 0.
Hypothesis kinds_cancel : forall k, \sum_(t | live t && (kind t == k)) c t / x t = 0.

Lemma phi_live M t : live t -> phi M (centred (E t)) (e t) = (x t)^-1 *: phi M (tokens (kind t)) (query (kind t)).
Proof.
move=> /tied [x0 eE CE]; rewrite -(phi_perm M (tokens (kind t)) _ (s t)) -CE phi_scale // -eE.
by rewrite scalerA mulVf // scale1r.
Qed.
Lemma phi_idle M t : ~~ live t -> phi M (centred (E t)) (e t) = 0.
Proof. by move=> /idle [->|->]; [apply: phi_query0 | apply: phi_tokens0]. Qed.

(* In every head, the features obey the relation. *)
Theorem tied_features M : \sum_t c t *: attend (E t) (logits (E t) (e t) M) = 0.
Proof.
apply: (scalerI n_neq0); rewrite scaler0 scaler_sumr.
under eq_bigr => t _ do rewrite scalerA mulrC -scalerA feature_phi scalerDr.
rewrite big_split /= totals_cancel add0r (bigID live) /= [X in _ + X]big1 ?addr0 => [|t /phi_idle ->]; last first.
  by rewrite scaler0.
under eq_bigr => t t_live do rewrite phi_live // scalerA.
rewrite (partition_big kind predT) //= big1 // => k _.
under eq_bigr => t /andP [_ /eqP ->] do [].
by rewrite -scaler_suml kinds_cancel scale0r.
Qed.

(* So do the outputs of every layer, and labels that do not are out of reach. *)
Theorem impossible m (Y : 'I_T -> 'rV[R]_m) : \sum_t c t *: Y t != 0 ->
  forall H dh dv (WK WQ : 'I_H -> 'M[R]_(d, dh)) (V : 'I_H -> 'M[R]_(d, dv)) (O : 'I_H -> 'M[R]_(dv, m)),
  ~ forall t, output (head_features ex E e WK WQ) V O t = Y t.
Proof.
move=> /negP cY H dh dv WK WQ V O met; apply: cY; apply/eqP.
under eq_bigr => t _ do rewrite -met.
by apply: output_dependent => h; apply: tied_features.
Qed.
End Tied.
End Impossible.
