(* Width never matters for universal memorization: whatever rank the features reach with unrestricted heads M_h, heads
   u v^T of width one reach it too. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import boolp classical_sets reals sequences exp.
Require Import layer families hyperplanes exponential head real.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section WidthNeverMatters.
Variable X : exponential.
Local Notation A := (logit_ring X).
Local Notation F := (feature_field X).
Local Notation ex := (@ex X).
Local Notation embm := (map_mx (emb X)).
Variables (d H : nat).
Implicit Types (M : 'I_H -> 'M[A]_d) (f g : ('I_H -> 'M[A]_d) -> F).

(* <a, M> = sum over heads and entries. *)
Definition pairing (a M : 'I_H -> 'M[A]_d) : A := \sum_h \sum_i \sum_j a h i j * M h i j.

Lemma pairingDl a b M : pairing (fun h => a h + b h) M = pairing a M + pairing b M.
Proof.
rewrite /pairing -big_split; apply: eq_bigr => h _; rewrite -big_split; apply: eq_bigr => i _.
by rewrite -big_split; apply: eq_bigr => j _; rewrite mxE mulrDl.
Qed.
Lemma pairing0l M : pairing (fun=> 0) M = 0.
Proof. by rewrite /pairing big1 // => h _; rewrite big1 // => i _; rewrite big1 // => j _; rewrite mxE mul0r. Qed.

(* Exponential sums: finite sums of c ex <a, M>. They are closed under sums and products. *)
Definition exp_sum f := exists r : seq (F * ('I_H -> 'M[A]_d)), forall M, f M = \sum_(ca <- r) ca.1 * ex (pairing ca.2 M).

Lemma exp_sum_ext f g : f =1 g -> exp_sum f -> exp_sum g.
Proof. by move=> fg [r fE]; exists r => M; rewrite -fg. Qed.
Lemma exp_sum_const c : exp_sum (fun=> c).
Proof. by exists [:: (c, fun=> 0)] => M; rewrite big_seq1 pairing0l ex0 mulr1. Qed.
Lemma exp_sum_ex a : exp_sum (fun M => ex (pairing a M)).
Proof. by exists [:: (1, a)] => M; rewrite big_seq1 mul1r. Qed.
Lemma exp_sumD f g : exp_sum f -> exp_sum g -> exp_sum (fun M => f M + g M).
Proof. by move=> [r fE] [s gE]; exists (r ++ s) => M; rewrite big_cat fE gE. Qed.
Lemma exp_sumM f g : exp_sum f -> exp_sum g -> exp_sum (fun M => f M * g M).
Proof.
move=> [r fE] [s gE].
exists [seq (x.1 * y.1, fun h => x.2 h + y.2 h) | x <- r, y <- s] => M.
rewrite fE gE mulr_suml big_allpairs_dep; apply: eq_bigr => x _; rewrite mulr_sumr; apply: eq_bigr => y _.
by rewrite /= pairingDl exD mulrACA.
Qed.
Lemma exp_sum_sum (J : Type) (r : seq J) (p : pred J) (f : J -> ('I_H -> 'M[A]_d) -> F) :
  (forall j, exp_sum (f j)) -> exp_sum (fun M => \sum_(j <- r | p j) f j M).
Proof.
move=> H0; elim: r => [|j r IH]; first by apply: exp_sum_ext (exp_sum_const 0) => M; rewrite big_nil.
case pj: (p j); last by apply: exp_sum_ext IH => M; rewrite big_cons pj.
by apply: exp_sum_ext (exp_sumD (H0 j) IH) => M; rewrite big_cons pj.
Qed.
Lemma exp_sum_prod (J : Type) (r : seq J) (p : pred J) (f : J -> ('I_H -> 'M[A]_d) -> F) :
  (forall j, exp_sum (f j)) -> exp_sum (fun M => \prod_(j <- r | p j) f j M).
Proof.
move=> H0; elim: r => [|j r IH]; first by apply: exp_sum_ext (exp_sum_const 1) => M; rewrite big_nil.
case pj: (p j); last by apply: exp_sum_ext IH => M; rewrite big_cons pj.
by apply: exp_sum_ext (exp_sumM (H0 j) IH) => M; rewrite big_cons pj.
Qed.
Lemma exp_sum_det m (B : ('I_H -> 'M[A]_d) -> 'M[F]_m) :
  (forall i j, exp_sum (fun M => B M i j)) -> exp_sum (fun M => \det (B M)).
Proof.
move=> BE; apply: exp_sum_sum => s; apply: exp_sumM; first exact: exp_sum_const.
by apply: exp_sum_prod => i; apply: BE.
Qed.

(* Different exponents are told apart by heads u v_h^T: first u with u^T D_h not 0 where D_h is not 0, then vectors v_h
   off the hyperplanes (u^T D_h)_h. No axiom: ssrbool.contra_notT, as boolp has a classical one of this name. *)
Lemma tell_apart (ds : seq {ffun 'I_H -> 'M[A]_d}) : all (fun D => D != 0) ds ->
  exists (u : 'cV[A]_d) (v : 'I_H -> 'cV[A]_d), all (fun D : {ffun _} => pairing D (fun h => u *m (v h)^T) != 0) ds.
Proof.
move=> /allP ds0; pose columns := [seq embm (col hj.2 ((D : {ffun 'I_H -> 'M[A]_d}) hj.1))^T | D <- ds, hj <- enum [finType of 'I_H * 'I_d]].
have [w /allP w_off] := avoid_hyperplanes (filter_all (fun c => c != 0) columns).
pose u : 'cV[A]_d := map_mx intr w.
pose rows := [seq mxvec (\matrix_h (embm (u^T *m (D : {ffun 'I_H -> 'M[A]_d}) h))) | D <- ds] : seq 'rV[F]_(H * d).
have /avoid_hyperplanes [y /allP y_off] : all (fun r => r != 0) rows.
  apply/allP => _ /mapP [D Dds ->]; have /ffunP D0 : ~ (D =1 (0 : {ffun _})).
    by move=> D0; case/eqP: (ds0 D Dds); apply/ffunP.
  have [[h j] /= Dhj] : exists hj : 'I_H * 'I_d, col hj.2 (D hj.1) != 0.
    apply/existsP; apply: ssrbool.contra_notT D0 => /existsPn none; apply/ffunP => h; rewrite ffunE.
    by apply/matrixP => i j; have := none (h, j); rewrite negbK => /eqP/colP/(_ i); rewrite !mxE.
  have /w_off : embm (col j (D h))^T \in filter (fun c => c != 0) columns.
    rewrite mem_filter; apply/andP; split; last by apply/allpairsP; exists (D, (h, j)); rewrite mem_enum.
    by apply: contraNneq Dhj => c0; apply/eqP/trmx_inj/embm_inj; rewrite c0 trmx0 map_mx0.
  apply: contraNneq => r0; move/rowP/(_ (mxvec_index h j)): r0; rewrite mxvecE !mxE => r0.
  apply/eqP/matrixP => a b; rewrite !ord1 -embm_intr -map_mxM [LHS]mxE [RHS]mxE -r0 !mxE; congr (emb X _).
  by apply: eq_bigr => i _; rewrite !mxE mulrC.
pose v h : 'cV[A]_d := \col_j map_mx intr y (mxvec_index h j) 0.
exists u, v; apply/allP => D Dds; have /y_off : mxvec (\matrix_h (embm (u^T *m D h))) \in rows by apply: map_f.
apply: contraNneq => D0; apply/eqP/matrixP => a b; rewrite !ord1 [RHS]mxE.
rewrite -[RHS](rmorph0 (emb X)) -D0 -embm_intr mxE /pairing rmorph_sum /=.
rewrite (reindex (uncurry (@mxvec_index H d))) /=; last by apply: curry_mxvec_bij.
rewrite (eq_bigr (fun p => emb X ((u^T *m D p.1) 0 p.2 * v p.1 p.2 0))) => [|[h j] _ /=]; last first.
  by rewrite mxvecE !mxE rmorphM.
rewrite -(pair_bigA _ (fun h j => emb X ((u^T *m D h) 0 j * v h j 0))) /=; apply: eq_bigr => h _.
rewrite -rmorph_sum; congr (emb X _); rewrite exchange_big; apply: eq_bigr => j _ /=.
rewrite mxE mulr_suml; apply: eq_bigr => i _; rewrite !mxE big_ord1 !mxE.
by rewrite mulrCA mulrA.
Qed.

(* Sums of c_a y_a^k over distinct y_a do not vanish for all k = 0, 1, ..., N-1, unless all c_a are 0. *)
Lemma power_sums (I : eqType) (xs : seq I) (c y : I -> F) : uniq xs -> {in xs &, injective y} ->
  (forall k, (k < size xs)%N -> \sum_(a <- xs) c a * y a ^+ k = 0) -> {in xs, forall a, c a = 0}.
Proof.
move=> u_xs inj_y sums0 a axs; pose p := \prod_(b <- rem a xs) ('X - (y b)%:P).
have : \sum_(b <- xs) c b * p.[y b] = 0.
  have size_p : (size p <= size xs)%N by rewrite size_prod_XsubC size_rem // prednK //; case: (xs) axs.
  under eq_bigr => b _ do rewrite (horner_coef_wide _ size_p) mulr_sumr.
  rewrite exchange_big big1 // => k _.
  under eq_bigr => b _ do rewrite mulrCA.
  by rewrite -mulr_sumr sums0 ?mulr0.
rewrite (bigD1_seq a) //= big_seq_cond big1 ?addr0 => [/eqP|b /andP [bxs ba]].
  rewrite mulf_eq0 => /orP [/eqP // | ]; rewrite horner_prod prodf_seq_eq0 => /hasP [b].
  rewrite mem_rem_uniq // !inE => /andP [ba bxs] /=; rewrite !hornerE subr_eq0 => /eqP /inj_y yab.
  by rewrite -yab ?eqxx in ba.
have bp : b \in rem a xs by rewrite mem_rem_uniq // !inE ba.
by rewrite horner_prod (bigD1_seq b) ?rem_uniq //= hornerXsubC subrr mul0r mulr0.
Qed.

(* An exponential sum that is not 0 somewhere is not 0 at some heads of width one. *)
Lemma exp_sum_rank_one f : exp_sum f -> forall M0, f M0 != 0 -> exists u v : 'I_H -> 'cV[A]_d, f (fun h => u h *m (v h)^T) != 0.
Proof.
move=> [r fE] M0 f0; pose r' := [seq (ca.1, [ffun h => ca.2 h] : {ffun 'I_H -> 'M[A]_d}) | ca <- r].
pose xs := undup [seq ca.2 | ca <- r']; pose c a := \sum_(ca <- r' | ca.2 == a) ca.1.
have {}fE M : f M = \sum_(a <- xs) c a * ex (pairing a M).
  transitivity (\sum_(ca <- r') ca.1 * ex (pairing ca.2 M)).
    rewrite fE big_map; apply: eq_bigr => ca _ /=; congr (_ * ex _); rewrite /pairing; apply: eq_bigr => h _.
    by apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite ffunE.
  under [RHS]eq_bigr => a _ do rewrite mulr_suml big_mkcond.
  rewrite [RHS]exchange_big /=; apply: eq_big_seq => ca car.
  rewrite (bigD1_seq ca.2) ?undup_uniq ?mem_undup ?map_f //= eqxx big1 ?addr0 // => a.
  by rewrite eq_sym => /negPf ->.
pose ds := filter (fun D => D != 0) [seq a - b | a <- xs, b <- xs].
have [u [v /allP apart]] := tell_apart (filter_all _ _ : all (fun D => D != 0) ds).
pose U k : 'I_H -> 'M[A]_d := fun h => (u *+ k) *m (v h)^T.
have [/hasP [k _ fk]|/hasPn none] := boolP (has (fun k => f (U k) != 0) (iota 0 (size xs))).
  by exists (fun=> u *+ k), v.
pose y a := ex (pairing (a : {ffun _}) (U 1%N)).
have pairingU (a : 'I_H -> 'M[A]_d) k : pairing a (U k) = pairing a (U 1%N) *+ k.
  rewrite /pairing -sumrMnl; apply: eq_bigr => h _; rewrite -sumrMnl; apply: eq_bigr => i _.
  rewrite -sumrMnl; apply: eq_bigr => j _; rewrite -mulrnAr; congr (_ * _).
  by rewrite /U mulr1n -!scaler_nat -scalemxAl !mxE mulr_natl.
have cy0 : {in xs, forall a, c a = 0}.
  apply: (@power_sums _ xs c y) => [|a b axs bxs /ex_inj yab|k klt]; first exact: undup_uniq.
    apply/eqP; rewrite -subr_eq0; apply: contraT => ab0.
    have /apart : a - b \in ds by rewrite mem_filter ab0; apply/allpairsP; exists (a, b).
    case/eqP; have -> : pairing (a - b) (fun h => u *m (v h)^T) = pairing a (U 1%N) - pairing b (U 1%N).
      rewrite /pairing -sumrB; apply: eq_bigr => h _; rewrite -sumrB; apply: eq_bigr => i _.
      by rewrite -sumrB; apply: eq_bigr => j _; rewrite /U mulr1n -mulrBl !ffunE !mxE.
    by rewrite yab subrr.
  have := none k; rewrite mem_iota => /(_ klt); rewrite negbK fE => /eqP fk0; rewrite -[RHS]fk0.
  by apply: eq_bigr => a _; rewrite /y -exMn -pairingU.
by case/eqP: f0; rewrite fE big_seq big1 // => a /cy0 ->; rewrite mul0r.
Qed.

Variables (n T : nat) (E : 'I_T -> 'M[A]_(n, d)) (e : 'I_T -> 'rV[A]_d).

Definition features_at M := feature_matrix (fun t h => feature E e (M h) t).

(* A logit is linear in the heads: its exponent is the matrix E_i^T e at head h. *)
Lemma logits_pairing t h i M : logits (E t) (e t) (M h) i = pairing (fun h' => ((row i (E t))^T *m e t) *+ (h' == h)) M.
Proof.
rewrite /pairing (bigD1 h) //= eqxx [X in _ = _ + X]big1 ?addr0 => [|h' /negPf ->]; last first.
  by rewrite big1 // => j _; rewrite big1 // => k _; rewrite mulr0n mxE mul0r.
rewrite /logits mxE exchange_big; apply: eq_bigr => k _; rewrite mulr1n !mxE mulr_suml; apply: eq_bigr => j _.
by rewrite !mxE big_ord1 !mxE mulrAC.
Qed.

Definition softmax_sum M t h := \sum_i ex (logits (E t) (e t) (M h) i).
Lemma exp_sum_softmax_sum t h : exp_sum (fun M => softmax_sum M t h).
Proof. by apply: exp_sum_sum => i; apply: exp_sum_ext (exp_sum_ex _) => M; rewrite logits_pairing. Qed.

(* The product of all softmax sums, times a feature, is an exponential sum. *)
Lemma cleared_feature (n0 : (0 < n)%N) t h a : exp_sum (fun M => (\prod_th softmax_sum M th.1 th.2) * feature E e (M h) t 0 a).
Proof.
apply: (@exp_sum_ext (fun M => (\prod_(th | th != (t, h)) softmax_sum M th.1 th.2) *
    \sum_i ex (logits (E t) (e t) (M h) i) * embm (E t) i a)).
  move=> M; rewrite [in RHS](bigD1 (t, h)) //= [X in _ = X * _]mulrC -mulrA; congr (_ * _).
  rewrite /feature /attend summxE mulr_sumr; apply: eq_bigr => i _.
  by rewrite !mxE /softmax mulrA mulrCA divff ?mulr1 // (sum_ex_neq0 _ (Ordinal n0)).
apply: exp_sumM; first by apply: exp_sum_prod => th; apply: exp_sum_softmax_sum.
apply: exp_sum_sum => i; apply: exp_sumM (exp_sum_const _).
by apply: exp_sum_ext (exp_sum_ex _) => M; rewrite logits_pairing.
Qed.

Theorem width_never_matters M0 : exists u v : 'I_H -> 'cV[A]_d,
  (\rank (features_at M0) <= \rank (features_at (fun h => u h *m (v h)^T)))%N.
Proof.
case: (posnP n) => [n0|n0].
  exists (fun=> 0), (fun=> 0); have -> : features_at M0 = 0; last by rewrite mxrank0.
  apply/matrixP => t j; case/mxvec_indexP: j => h a; rewrite mxE mxvecE !mxE /feature /attend summxE big1 // => i _.
  by have := ltn_ord i; rewrite {2}n0.
set Z0 := features_at M0; pose L := pinvmx (col_base Z0); pose Q := pinvmx (row_base Z0).
have LZQ : L *m Z0 *m Q = 1%:M.
  transitivity (L *m (col_base Z0 *m row_base Z0) *m Q); first by rewrite mulmx_base.
  have LC : L *m col_base Z0 = 1%:M by apply: mulVpmx; apply: col_base_full.
  by rewrite (mulmxA L (col_base Z0) (row_base Z0)) LC mul1mx; apply: mulmxVp; apply: row_base_free.
pose D M := \prod_th softmax_sum M th.1 th.2.
pose B M := L *m (D M *: features_at M) *m Q.
have D0 M : D M != 0.
  by apply/prodf_neq0 => th _; rewrite (sum_ex_neq0 _ (Ordinal n0)).
have BE : exp_sum (fun M => \det (B M)).
  apply: exp_sum_det => i j; apply: (@exp_sum_ext (fun M => \sum_k (\sum_t L i t * (D M * features_at M t k)) * Q k j)).
    move=> M; rewrite mxE; apply: eq_bigr => k _; congr (_ * _); rewrite mxE; apply: eq_bigr => t _.
    by rewrite !mxE.
  apply: exp_sum_sum => k; apply: exp_sumM (exp_sum_const _); apply: exp_sum_sum => t.
  apply: exp_sumM; first exact: exp_sum_const.
  case/mxvec_indexP: k => h a; apply: exp_sum_ext (cleared_feature n0 t h a) => M.
  by rewrite mxE mxvecE mxE.
have detB M : (\det (B M) != 0) = (\det (L *m features_at M *m Q) != 0).
  by rewrite /B -scalemxAr -scalemxAl detZ mulf_eq0 expf_eq0 (negPf (D0 M)) andbF.
have [|u [v uv]] := exp_sum_rank_one BE (M0 := M0); first by rewrite detB LZQ det1 oner_eq0.
exists u, v; move: uv; rewrite detB => uv; set Z1 := features_at _ in uv *.
have -> : \rank Z0 = \rank (L *m Z1 *m Q) by apply/esym/mxrank_unit; rewrite unitmxE unitfE.
by apply: leq_trans (mxrankM_maxl _ _) (mxrankM_maxr _ _).
Qed.
End WidthNeverMatters.

(* Over the real numbers, with the true exponential. Over the integers with base 2 it is the theorem itself, at base2. *)
Corollary width_never_matters_real (R : realType) n d dh T H (E : 'I_T -> 'M[R]_(n, d)) (e : 'I_T -> 'rV[R]_d)
    (WK WQ : 'I_H -> 'M[R]_(d, dh)) : exists wk wq : 'I_H -> 'M[R]_(d, 1),
  (\rank (feature_matrix (head_features (@expR R) E e WK WQ)) <=
   \rank (feature_matrix (head_features (@expR R) E e wk wq)))%N.
Proof.
have [u [v uv]] := @width_never_matters (true_exponential R) d H n T E e (fun h => WK h *m (WQ h)^T).
exists u, v; have before := congr1 mxrank (same_features E e WK WQ).
have after := congr1 mxrank (same_features E e u v).
exact: leq_trans (leq_trans (eq_leq (esym before)) uv) (eq_leq after).
Qed.
