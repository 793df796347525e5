(* n independent features of one example: on a curve (Lemma 2, for heads of width one), and near the vertices (for the
   paper's steering heads). *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import layer families exponential.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Candidates.
Variable X : exponential.
Local Notation A := (logit_ring X).
Local Notation F := (feature_field X).
Local Notation ex := (@ex X).

(* E^T is injective (A2), so features are independent if the softmax weights are, and those if the unnormalized ones are. *)
Lemma free_attend n d (E : 'M[F]_(n, d)) (l : nat -> 'I_n -> A) : row_free E ->
  (forall b : 'rV[F]_n, (forall i, \sum_k b 0 k * ex (l k i) = 0) -> b = 0) ->
  free [seq attend ex E (l k) | k <- iota 0 n].
Proof.
case: n E l => [|m] E l freeE indep; first exact: nil_free.
pose S k := \sum_j ex (l k j).
rewrite -(@free_scale _ _ _ _ _ S) => [|k _]; last exact: (sum_ex_neq0 _ ord0).
apply: free_candidates => b.
have -> : \sum_k b 0 k *: (S k *: attend ex E (l k)) = (\row_i (\sum_k b 0 k * ex (l k i))) *m E.
  rewrite mulmx_sum_row; under eq_bigr => k _ do rewrite !scaler_sumr.
  rewrite exchange_big /=; apply: eq_bigr => i _; rewrite mxE scaler_suml.
  apply: eq_bigr => k _; rewrite !scalerA; congr (_ *: _); rewrite -mulrA; congr (_ * _).
  by rewrite /softmax mulrCA divff ?mulr1 // (sum_ex_neq0 _ ord0).
move=> bE; apply: indep => i; have /rowP/(_ i) : \row_i (\sum_k b 0 k * ex (l k i)) = 0.
  by apply: (row_free_inj freeE); rewrite mul0mx.
by rewrite !mxE.
Qed.

(* Lemma 2 at the candidates alpha = 0, 1, ..., n-1: with y_i = ex g_i distinct, (ex (k g_i)) = (y_i^k) is an ordinary
   Vandermonde matrix, and a polynomial of degree below n with the n roots y_i is 0. *)
Lemma free_curve n d (E : 'M[F]_(n, d)) (g : 'I_n -> A) : row_free E -> injective g ->
  free [seq attend ex E (fun i => g i *+ k) | k <- iota 0 n].
Proof.
move=> freeE inj_g; apply: free_attend => // b roots; pose y i := ex (g i).
rewrite -[b]rVpolyK (@roots_geq_poly_eq0 _ (rVpoly b) [seq y i | i <- enum 'I_n]) ?linear0 //.
- apply/allP => _ /mapP [i _ ->]; apply/eqP; rewrite -[RHS](roots i).
  rewrite (@horner_coef_wide _ n) ?size_poly //; apply: eq_bigr => k _.
  by rewrite coef_rVpoly_ord exMn.
- by rewrite map_inj_uniq ?enum_uniq // => i j /ex_inj/inj_g.
- by rewrite size_map size_enum_ord size_poly.
Qed.

(* One logit D > 0, the others 0: the matrix (ex D - 1) I + 1 1^T is invertible, since a vector b in its kernel has all
   entries equal, and then (ex D - 1 + n) b = 0. *)
Lemma free_vertices n d (E : 'M[F]_(n, d)) (D : A) : row_free E -> 0 < D ->
  free [seq attend ex E (fun i => D *+ (val i == k)) | k <- iota 0 n].
Proof.
move=> freeE D0; apply: free_attend => // b bE.
have lead : 0 < ex D - 1 by rewrite subr_gt0 ex_gt1.
have key i : b 0 i * (ex D - 1) + \sum_k b 0 k = 0.
  rewrite -[RHS](bE i) [in RHS](bigD1 i) //= eqxx mulr1n [\sum_k _](bigD1 i) //= addrA; congr (_ + _).
    by rewrite mulrBr mulr1 subrK.
  by apply: eq_bigr => k ki; rewrite eq_sym (negPf ki : (val k == val i) = false) mulr0n ex0 mulr1.
pose s := \sum_k b 0 k; have s0 : s = 0.
  have : \sum_(i < n) (b 0 i * (ex D - 1) + s) = 0 by apply: big1 => i _; apply: key.
  rewrite big_split /= -mulr_suml -/s sumr_const card_ord -[s *+ n]mulr_natr -mulrDr => /eqP.
  rewrite mulf_eq0 => /orP [/eqP //|]; rewrite gt_eqF //.
  by apply: ltr_paddr => //; apply: ler0n.
apply/rowP => i; rewrite mxE; have := key i; rewrite -/s s0 addr0 => /eqP.
by rewrite mulf_eq0 (gt_eqF lead) orbF => /eqP.
Qed.
End Candidates.
