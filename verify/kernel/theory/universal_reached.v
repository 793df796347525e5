(* Universal memorization, reached (docs/given-labels.md, Theorem U, equality). For any contexts, and for each example a
   line of queries c + k f, f not 0, some heads of width one and some k < (n+1)^H have
   rank Z = min_S [H a + b + T - |S|]. As f may be small, every open set contains such queries.
   H heads u_h q^T are read as one head whose tokens are the tuples of rows: its softmax is the product of theirs. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import boolp classical_sets reals sequences exp.
Require Import layer families hyperplanes exponential head real width_never_matters capacity universal rado.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Curve.
Variable X : exponential.
Local Notation A := (logit_ring X).
Local Notation F := (feature_field X).
Local Notation ex := (@ex X).

(* The features of one head along a line of logits b + k y span all tokens, if tokens with the same slope y are equal. *)
Lemma curve_spans N D (G : 'M[F]_(N, D)) (b y : 'I_N -> A) :
  (forall i j, y i = y j -> row i G = row j G) -> (G <= \matrix_(k < N) attend ex G (fun i => b i + y i *+ k)%R)%MS.
Proof.
move=> same; set Z := \matrix_k _; rewrite submxE; apply/eqP/row_matrixP => i0; rewrite row_mul row0; apply/rowP => j.
rewrite [RHS]mxE; pose g i := (row i G *m cokermx Z) 0 j; rewrite -/(g i0).
have sums0 k : (k < N)%N -> \sum_i ex (b i) * g i * ex (y i) ^+ k = 0.
  move=> kN; pose l i := b i + y i *+ k; pose s := \sum_i ex (l i).
  have : s * (row (Ordinal kN) Z *m cokermx Z) 0 j = 0 by rewrite -row_mul mulmx_coker row0 mxE mulr0.
  rewrite rowK /= mulmx_suml summxE mulr_sumr => E; rewrite -[RHS]E; apply: eq_bigr => i _.
  rewrite -scalemxAl mxE -/(g i) mulrA /softmax mulrCA divff ?mulr1; last exact: (sum_ex_neq0 l i).
  by rewrite exD exMn mulrAC.
pose slopes := undup [seq y i | i <- enum 'I_N]; pose c a := \sum_(i | y i == a) ex (b i) * g i.
have c0 : {in slopes, forall a, c a = 0}.
  apply: (@power_sums X _ slopes c ex) => [|a a' _ _ /ex_inj //|k klt]; first exact: undup_uniq.
  have kN : (k < N)%N.
    by apply: leq_trans klt _; apply: leq_trans (size_undup _) _; rewrite size_map size_enum_ord.
  rewrite -[RHS](sums0 k kN); under eq_bigr => a _ do rewrite mulr_suml big_mkcond.
  rewrite exchange_big /=; apply: eq_bigr => i _.
  rewrite (bigD1_seq (y i)) /= ?undup_uniq ?mem_undup ?map_f ?mem_enum // eqxx big1 ?addr0 // => a.
  by rewrite eq_sym => /negPf ->.
have /c0 : y i0 \in slopes by rewrite mem_undup map_f ?mem_enum.
rewrite /c (eq_bigr (fun i => ex (b i) * g i0)) => [|i /eqP yi]; last by rewrite /g (same _ _ yi).
rewrite -mulr_suml => /eqP; rewrite mulf_eq0 => /orP [|/eqP //].
rewrite gt_eqF // (bigD1 i0) //=; apply: ltr_paddr; last exact: ex_gt0.
by apply: sumr_ge0 => i _; apply/ltW/ex_gt0.
Qed.

Lemma ex_sum (I : finType) (l : I -> A) : ex (\sum_i l i) = \prod_i ex (l i).
Proof. by apply: (big_morph ex (@exD X) (ex0 X)). Qed.
End Curve.

(* The tokens of all heads at once: the tuples of rows of a context. *)
Section Tuples.
Variables (F : fieldType) (T H n d : nat).
Local Notation tuples := {ffun 'I_H -> 'I_n.+1}.

Definition tuple_row (E : 'M[F]_(n.+1, d)) (i : tuples) : 'rV[F]_(H * d) := mxvec (\matrix_h row (i h) E).
Definition tuple_rows E : 'M[F]_(#|{: tuples}|, H * d) := \matrix_i tuple_row E (enum_val i).

Lemma tuple_row_sub E i : (tuple_row E i <= tuple_rows E)%MS.
Proof. by rewrite -(enum_rankK i) -(rowK (fun j => tuple_row E (enum_val j))) row_sub. Qed.

(* They contain a row of D in the place of any one head, and any row of a context in the places of all heads. *)
Lemma rank_tuples (E : 'I_T -> 'M[F]_(n.+1, d)) (S : {set 'I_T}) (h0 : 'I_H) :
  (H * a_of E S + b_of E S <= \rank (span_of (fun t => tuple_rows (E t)) S))%N.
Proof.
pose W t := tuple_rows (E t); pose D := span_of_differences E S; pose B := row_base D.
pose place (x : 'cV[F]_H) : 'M_(d, H * d) := lin1_mx (mxvec \o mulmx x).
have placeE x r : r *m place x = mxvec (x *m r) by rewrite mul_rV_lin1.
pose ones : 'cV[F]_H := const_mx 1.
have rows_in t : t \in S -> (E t *m place ones <= span_of W S)%MS.
  move=> tS; apply: submx_trans (span_of_sub W tS); apply/row_subP => i; rewrite row_mul placeE.
  have -> : mxvec (ones *m row i (E t)) = tuple_row (E t) [ffun=> i]; last exact: tuple_row_sub.
  by congr mxvec; apply/matrixP => h a; rewrite !mxE big_ord1 !mxE ffunE mul1r.
have differences_in t h : t \in S -> (differences E t *m place (delta_mx h 0) <= span_of W S)%MS.
  move=> tS; apply: submx_trans (span_of_sub W tS); apply/row_subP => i; rewrite row_mul placeE.
  have -> : mxvec (delta_mx h 0 *m row i (differences E t)) =
      tuple_row (E t) [ffun h' => if h' == h then i else ord0] - tuple_row (E t) [ffun=> ord0].
    rewrite -linearB; congr mxvec; apply/matrixP => h' a.
    rewrite !mxE !big_ord1 !mxE !ffunE big_ord1 !mxE eqxx andbT mul1r.
    by case: eqP => _; rewrite ?mul1r // mul0r subrr.
  by rewrite addmx_sub ?eqmx_opp ?tuple_row_sub.
pose L : 'M_(H * \rank D, H * d) := lin_mx (mulmxr B).
have LE v : v *m L = mxvec (vec_mx v *m B) by rewrite mul_rV_lin.
have rank_L : \rank L = (H * a_of E S)%N.
  apply/eqP; apply: inj_row_free => v; rewrite LE => /(canRL mxvecK); rewrite linear0 => vB.
  have /(canRL vec_mxK) -> : vec_mx v = 0 by apply: (row_free_inj (row_base_free D)); rewrite mul0mx.
  exact: linear0.
have L_in : (L <= span_of W S)%MS.
  apply/row_subP => i; rewrite rowE LE; set M := vec_mx _.
  have -> : mxvec (M *m B) = \sum_h (row h M *m B) *m place (delta_mx h 0).
    transitivity (mxvec (\sum_h delta_mx h 0 *m row h (M *m B))).
      congr mxvec; apply/row_matrixP => h; rewrite linear_sum (bigD1 h) //= big1 => [|h' hh'].
        by rewrite addr0; apply/rowP => a; rewrite !mxE big_ord1 !mxE !eqxx mul1r.
      by apply/rowP => a; rewrite !mxE big_ord1 !mxE eq_sym (negPf hh') mul0r.
    by rewrite linear_sum; apply: eq_bigr => h _; rewrite placeE row_mul.
  apply: summx_sub => h _; apply: (@submx_trans _ _ _ _ _ _ (D *m place (delta_mx h 0))).
    by apply: submxMr; apply: submx_trans (submxMl _ _) _; rewrite eq_row_base.
  rewrite sumsmxMr_gen; apply/sumsmx_subP => t tS; apply: submx_trans (differences_in t h tS).
  by rewrite genmxE; apply: submxMr; rewrite genmxE.
pose R := span_of_rows E S *m place ones.
have R_in : (R <= span_of W S)%MS.
  rewrite /R sumsmxMr_gen; apply/sumsmx_subP => t tS; apply: submx_trans (rows_in t tS).
  by rewrite genmxE; apply: submxMr; rewrite genmxE.
have row_ones r : row h0 (ones *m r) = r :> 'rV[F]_d by apply/rowP => a; rewrite !mxE big_ord1 !mxE mul1r.
have rank_R : \rank R = \rank (span_of_rows E S).
  apply: mxrankMfree; apply: inj_row_free => r /(etrans (esym (placeE ones r))) /(canRL mxvecK).
  by rewrite linear0 -{2}(row_ones r) => ->; rewrite row0.
have cap : (\rank (L :&: R) <= a_of E S)%N.
  apply: leq_trans (mxrankM_maxl D (place ones)); apply: mxrankS; apply/rV_subP => v.
  rewrite sub_capmx => /andP [/submxP [x ->] /submxP [y]]; rewrite LE /R mulmxA placeE => /(can_inj mxvecK) xy.
  rewrite xy -placeE; apply: submxMr; rewrite -(row_ones (y *m _)) -xy row_mul.
  by apply: submx_trans (submxMl _ _) _; rewrite eq_row_base.
have DR : (D <= span_of_rows E S)%MS.
  apply/sumsmx_subP => t tS; rewrite genmxE; apply: (submx_trans _ (sumsmx_sup t tS (submx_refl _))).
  rewrite genmxE /differences addmx_sub // eqmx_opp; apply: submx_trans (submxMl _ _) (row_sub _ _).
rewrite -(leq_add2r (a_of E S)) -addnA subnK ?mxrankS // -rank_L -rank_R -mxrank_sum_cap.
by apply: leq_add cap; apply: mxrankS; rewrite addsmx_sub L_in.
Qed.
End Tuples.

Section Reached.
Variables (X : exponential) (H n d : nat).
Local Notation A := (logit_ring X).
Local Notation F := (feature_field X).
Local Notation ex := (@ex X).
Local Notation embm := (map_mx (emb X)).
Local Notation tuples := {ffun 'I_H -> 'I_n.+1}.

Lemma attend_ext N D (G : 'M[F]_(N, D)) (l l' : 'I_N -> A) : l =1 l' -> attend ex G l = attend ex G l'.
Proof.
move=> ll; apply: eq_bigr => i _; rewrite /softmax ll; congr (_ / _ *: _).
by apply: eq_bigr => j _; rewrite ll.
Qed.

(* The softmax of a sum of logits, one for each head, is the product of the heads' softmax. *)
Lemma attend_tuples (E : 'M[F]_(n.+1, d)) (l : 'I_H -> 'I_n.+1 -> A) :
  attend ex (tuple_rows H E) (fun i => \sum_h l h (enum_val i h)) = mxvec (\matrix_h attend ex E (l h)).
Proof.
pose p h j := softmax ex (l h) j.
have softmaxE (i : 'I_#|{: tuples}|) :
    softmax ex (fun i : 'I_#|{: tuples}| => \sum_h l h (enum_val i h)) i = \prod_h p h (enum_val i h).
  rewrite /softmax big_split /= prodfV ex_sum; congr (_ / _).
  rewrite bigA_distr_bigA /= (reindex (@enum_val _ (mem {: tuples}))) /=; last exact/onW_bij/enum_val_bij.
  by apply: eq_bigr => i' _; rewrite ex_sum.
have sum1 h : \sum_j p h j = 1 by rewrite -mulr_suml divff // (sum_ex_neq0 _ ord0).
apply/rowP => m; case/mxvec_indexP: m => h0 a; rewrite mxvecE mxE /attend !summxE.
pose q h j := p h j * (if h == h0 then E j a else 1).
transitivity (\prod_h \sum_j q h j).
  rewrite bigA_distr_bigA /= (reindex (@enum_val _ (mem {: tuples}))) /=; last exact/onW_bij/enum_val_bij.
  apply: eq_bigr => i _; rewrite mxE softmaxE mxE /tuple_rows mxE /tuple_row mxvecE mxE mxE.
  rewrite [in RHS]big_split /=; congr (_ * _).
  by rewrite -big_mkcond big_pred1_eq.
rewrite (bigD1 h0) //= [X in _ * X]big1 ?mulr1 => [|h /negPf hh0].
  by apply: eq_bigr => j _; rewrite /q eqxx !mxE.
by rewrite -[RHS](sum1 h); apply: eq_bigr => j _; rewrite /q hh0 mulr1.
Qed.

Variables (T : nat) (E : 'I_T -> 'M[A]_(n.+1, d)) (c f : 'I_T -> 'rV[A]_d).

(* Keys u_h such that different tuples of rows of a context have different sums of slopes. *)
Lemma separating_keys : exists u : 'I_H -> 'cV[A]_d, forall t (i j : tuples),
  \sum_h (E t *m u h) (i h) 0 = \sum_h (E t *m u h) (j h) 0 -> tuple_row (embm (E t)) i = tuple_row (embm (E t)) j.
Proof.
pose v t (i j : tuples) := tuple_row (embm (E t)) i - tuple_row (embm (E t)) j.
pose vs := [seq v t ij.1 ij.2 | t <- enum 'I_T, ij <- enum [finType of tuples * tuples]].
have [w /allP w_off] := avoid_hyperplanes (filter_all (fun x => x != 0) vs).
pose u h : 'cV[A]_d := \col_a (w (mxvec_index h a) 0)%:~R; exists u => t i j ij.
apply/eqP; rewrite -subr_eq0 -/(v t i j); apply: contraT => v0.
have /w_off : v t i j \in filter (fun x => x != 0) vs.
  by rewrite mem_filter v0; apply/allpairsP; exists (t, (i, j)); rewrite !mem_enum.
have slope i' : (tuple_row (embm (E t)) i' *m map_mx intr w) 0 0 = emb X (\sum_h (E t *m u h) (i' h) 0).
  rewrite mxE (reindex (uncurry (@mxvec_index H d))) /=; last by apply: curry_mxvec_bij.
  rewrite (eq_bigr (fun p => emb X (E t (i' p.1) p.2 * u p.1 p.2 0))) => [|[h a] _ /=]; last first.
    by rewrite mxvecE !mxE rmorphM rmorph_int.
  rewrite -(pair_bigA _ (fun h a => emb X (E t (i' h) a * u h a 0))) rmorph_sum /=.
  by apply: eq_bigr => h _; rewrite mxE rmorph_sum.
by case/eqP; apply/matrixP => a b; rewrite !ord1 mulmxBl mxE [X in _ + X]mxE !slope ij subrr mxE.
Qed.

Theorem universal_reached : (0 < H)%N -> (forall t, f t != 0) ->
  exists (k : 'I_T -> nat) (u : 'I_H -> 'cV[A]_d) (q : 'cV[A]_d) (S : {set 'I_T}), (forall t, k t < n.+1 ^ H)%N /\
    \rank (features_at E (fun t => c t + f t *+ k t) (fun h => u h *m q^T)) =
    (H * a_of (fun t => embm (E t)) S + b_of (fun t => embm (E t)) S + (T - #|S|))%N.
Proof.
move=> H0 f0; have [u slopes] := separating_keys.
have [w /allP w_off] : exists w : 'cV[int]_d, all (fun x => x *m map_mx intr w != 0) [seq embm (f t) | t <- enum 'I_T].
  apply: avoid_hyperplanes; apply/allP => _ /mapP [t _ ->]; apply: contraNneq (f0 t) => f0'.
  by apply/eqP/embm_inj; rewrite f0' map_mx0.
pose q : 'cV[A]_d := map_mx intr w.
have fq t : (f t *m q) 0 0 != 0.
  have /w_off : embm (f t) \in [seq embm (f t) | t <- enum 'I_T] by apply: (map_f (fun t => embm (f t))); rewrite mem_enum.
  rewrite -embm_intr -map_mxM; apply: contraNneq => e0.
  by apply/eqP/matrixP => a b; rewrite !ord1 [LHS]mxE e0 rmorph0 mxE.
(* The features of all heads at c + k f are those of one head on the tuples. *)
pose feature_row t k := mxvec (\matrix_h feature E (fun t => c t + f t *+ k) (u h *m q^T) t).
pose slope t (i : tuples) := \sum_h (E t *m u h) (i h) 0.
have featureE t k : feature_row t k = attend ex (tuple_rows H (embm (E t)))
    (fun i => slope t (enum_val i) * (c t *m q) 0 0 + slope t (enum_val i) * (f t *m q) 0 0 *+ k).
  rewrite /feature_row /feature -attend_tuples; apply: attend_ext => i.
  rewrite -mulrnAr -mulrDr mulr_suml; apply: eq_bigr => h _.
  rewrite logits_dyad; congr (_ * _); rewrite mulmxDl -scaler_nat -scalemxAl mxE; congr (_ + _).
  by rewrite mxE mulr_natl.
pose W t := \matrix_(k < #|{: tuples}|) feature_row t k.
have spans t : (tuple_rows H (embm (E t)) <= W t)%MS.
  have -> : W t = \matrix_(k < #|{: tuples}|) attend ex (tuple_rows H (embm (E t)))
      (fun i => slope t (enum_val i) * (c t *m q) 0 0 + slope t (enum_val i) * (f t *m q) 0 0 *+ k).
    by apply/row_matrixP => k; rewrite !rowK featureE.
  by apply: curve_spans => i j /(mulIf (fq t)) /slopes; rewrite !rowK.
have card_tuples : #|{: tuples}| = (n.+1 ^ H)%N by rewrite card_ffun !card_ord.
have tuples_gt0 : (0 < #|{: tuples}|)%N by rewrite card_tuples expn_gt0.
have [_ [k [S rank_k]]] := rado W tuples_gt0.
exists k, u, q, S; split=> [t|]; first by rewrite -card_tuples.
have chosenE : features_at E (fun t => c t + f t *+ k t) (fun h => u h *m q^T) = chosen W k.
  by apply/row_matrixP => t; rewrite !rowK.
apply/eqP; rewrite eqn_leq chosenE; apply/andP; split; last first.
  rewrite rank_k leq_add2r; apply: leq_trans (rank_tuples _ S (Ordinal H0)) _; apply: mxrankS.
  by apply/sumsmx_subP => t tS; rewrite genmxE; apply: submx_trans (spans t) (span_of_sub W tS).
rewrite -chosenE; pose p t h : 'rV[F]_n.+1 := \row_i softmax ex (logits (E t) (c t + f t *+ k t) (u h *m q^T)) i.
have sum_p t h : \sum_i p t h 0 i = 1.
  by under eq_bigr => i _ do rewrite mxE; rewrite -mulr_suml divff // (sum_ex_neq0 _ ord0).
have := universal_upper (fun t => embm (E t)) sum_p S; congr (\rank _ <= _)%N.
apply/row_matrixP => t; rewrite !rowK; congr mxvec; apply/row_matrixP => h; rewrite !rowK.
by rewrite /feature_of mulmx_sum_row; apply: eq_bigr => i _; rewrite mxE.
Qed.
End Reached.

(* Over the real numbers, with the true exponential and heads of any width w > 0. *)
Theorem universal_reached_real (R : realType) (T H n d w : nat) (E : 'I_T -> 'M[R]_(n.+1, d)) (c f : 'I_T -> 'rV[R]_d) :
  (0 < H)%N -> (0 < w)%N -> (forall t, f t != 0) ->
  exists (k : 'I_T -> nat) (WK WQ : 'I_H -> 'M[R]_(d, w)) (S : {set 'I_T}), (forall t, k t < n.+1 ^ H)%N /\
    \rank (feature_matrix (head_features (@expR R) E (fun t => c t + f t *+ k t) WK WQ)) =
    (H * a_of E S + b_of E S + (T - #|S|))%N.
Proof.
move=> H0; case: w => // w _ f0.
have [k [u [q [S [k_small rank_k]]]]] := @universal_reached (true_exponential R) H n d T E c f H0 f0.
pose e : 'rV[R]_w.+1 := delta_mx 0 0; have ee : e *m e^T = 1%:M.
  by rewrite trmx_delta mul_delta_mx; apply/matrixP => i j; rewrite !ord1 !mxE.
pose WK h := u h *m e; pose WQ (h : 'I_H) := q *m e; exists k, WK, WQ, S; split=> //.
have same : (fun t => map_mx (emb (true_exponential R)) (E t)) = E by apply: funext => t; apply: map_idfun.
have heads : (fun h => WK h *m (WQ h)^T) = (fun h => u h *m q^T).
  by apply: funext => h; rewrite /WK /WQ trmx_mul mulmxA -(mulmxA (u h)) ee mulmx1.
have features : features_at (X := true_exponential R) E (fun t => c t + f t *+ k t) (fun h => WK h *m (WQ h)^T) =
    feature_matrix (head_features (@expR R) E (fun t => c t + f t *+ k t) WK WQ).
  exact: same_features.
rewrite same -heads in rank_k; exact: etrans (congr1 mxrank (esym features)) rank_k.
Qed.
