(* The theorem of docs/width-one.md as it stands: real contexts and queries, true exp. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import boolp classical_sets reals sequences exp.
Require Import lemmas choice layer step real.
Require induct.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section RealData.
Variable R : realType.

(* ---------- O(1/c) ---------- *)
Definition bigO (f : nat -> R) := exists C : R, forall c : nat, `|f c| * c%:R <= C.
Lemma bigO_add f g : bigO f -> bigO g -> bigO (fun c => f c + g c).
Proof.
move=> [C fC] [D gD]; exists (C + D) => c; apply: le_trans (ler_add (fC c) (gD c)).
by rewrite -mulrDl ler_wpmul2r ?ler0n // ler_norm_add.
Qed.
Lemma bigO_0 : bigO (fun=> 0).
Proof. by exists 0 => c; rewrite normr0 mul0r. Qed.
Lemma bigO_scale f k : bigO f -> bigO (fun c => f c * k).
Proof.
by move=> [C fC]; exists (C * `|k|) => c; rewrite normrM mulrAC ler_wpmul2r.
Qed.
Lemma bigO_ext f g : f =1 g -> bigO f -> bigO g.
Proof. by move=> fg [C fC]; exists C => c; rewrite -fg. Qed.
Lemma bigO_sum (J : Type) (r : seq J) (P : pred J) (f : J -> nat -> R) :
  (forall j, P j -> bigO (f j)) -> bigO (fun c => \sum_(j <- r | P j) f j c).
Proof.
move=> H; elim: r => [|j r IH]; first by apply: bigO_ext bigO_0 => c; rewrite big_nil.
case Pj: (P j); last by apply: bigO_ext IH => c; rewrite big_cons Pj.
by apply: bigO_ext (bigO_add (H j Pj) IH) => c; rewrite big_cons Pj.
Qed.
Lemma bigO_norm f : bigO f -> bigO (fun c => `|f c|).
Proof. by move=> [C fC]; exists C => c; rewrite normr_id. Qed.
Lemma bigO_le f g : (forall c, `|f c| <= g c) -> bigO g -> bigO f.
Proof.
move=> fg [C gC]; exists C => c; apply: le_trans (gC c); rewrite ler_wpmul2r ?ler0n //.
by apply: le_trans (fg c) _; apply: ler_norm.
Qed.
Lemma bigO_small f : bigO f -> exists c : nat, f c < 1.
Proof.
move=> [C fC]; have [c Cc] : exists c : nat, `|C| + 1 < c%:R.
  by exists (Num.bound (`|C| + 1)); apply: archi_boundP; rewrite addr_ge0.
have c0 : 0 < c%:R :> R by apply: le_lt_trans Cc; rewrite addr_ge0.
have H1 : f c * c%:R <= C by apply: le_trans (fC c); rewrite ler_wpmul2r ?ler_norm // ltW.
have H2 : C <= `|C| + 1 by rewrite ler_paddr // ler_norm.
by exists c; rewrite -(ltr_pmul2r c0) mul1r; apply: le_lt_trans (le_trans H1 H2) Cc.
Qed.
Lemma bigO_exp (mu : R) : 0 < mu -> bigO (fun c => expR (- (c%:R * mu))).
Proof.
move=> mu0; exists mu^-1 => c; rewrite gtr0_norm ?expR_gt0 // expRN mulrC ler_pdivr_mulr ?expR_gt0 //.
rewrite ler_pdivl_mull // mulrC.
have c0 : 0 <= c%:R * mu by apply: mulr_ge0; [apply: ler0n | apply: ltW].
by apply: le_trans (expR_ge1Dx c0); rewrite ler_addr ler01.
Qed.

(* ---------- a matrix close to a row-free one is row-free ---------- *)
Lemma small_row_free m (D : 'M[R]_m) : \sum_i \sum_j `|D i j| < 1 -> row_free (1%:M + D).
Proof.
move=> D1; apply: inj_row_free => x; rewrite mulmxDr mulmx1 => /eqP; rewrite addr_eq0 => /eqP xE.
pose s := \sum_j `|x 0 j|.
have s0 : 0 <= s by apply: sumr_ge0.
have : s <= s * \sum_i \sum_j `|D i j|.
  rewrite /s {1}xE mulr_suml.
  have -> : \sum_j `|(- (x *m D)) 0 j| = \sum_j `|\sum_i x 0 i * D i j|.
    by apply: eq_bigr => j _; rewrite !mxE normrN.
  apply: (@le_trans _ _ (\sum_j \sum_i `|x 0 i| * `|D i j|)).
    by apply: ler_sum => j _; apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => i _; rewrite normrM.
  rewrite exchange_big /=; apply: ler_sum => i _; rewrite -mulr_sumr ler_wpmul2l //.
  by rewrite [X in _ <= X](bigD1 i) //= ler_addl sumr_ge0 // => k _; apply: sumr_ge0.
move=> ss; have {}s0 : s = 0.
  apply/eqP; rewrite eq_le s0 andbT leNgt; apply/negP => s_gt0.
  by move: ss; rewrite leNgt gtr_pmulr // D1.
apply/rowP => j; rewrite mxE; apply/eqP; rewrite -normr_eq0.
by move/eqP: s0; rewrite psumr_eq0 // => /allP /(_ j (mem_index_enum _)).
Qed.

(* ---------- the limit lemma ---------- *)
Lemma free_limit (I : eqType) N (xs : seq I) (f : nat -> I -> 'rV[R]_N) (f0 : I -> 'rV[R]_N) :
  (forall t j, t \in xs -> bigO (fun c => f c t 0 j - f0 t 0 j)) ->
  free [seq f0 t | t <- xs] -> exists c, free [seq f c t | t <- xs].
Proof.
move=> H; rewrite free_rowsof => free0.
set A0 := rowsof xs f0 in free0; pose A c := rowsof xs (f c).
pose B := pinvmx A0; pose D c := (A c - A0) *m B.
have [c small] : exists c, \sum_i \sum_j `|D c i j| < 1.
  apply: bigO_small; apply: bigO_sum => i _; apply: bigO_sum => j _; apply: bigO_norm.
  apply: (@bigO_ext (fun c => \sum_k (f c (tnth (in_tuple xs) i) 0 k - f0 (tnth (in_tuple xs) i) 0 k) * B k j)).
    by move=> c; rewrite [RHS]mxE; apply: eq_bigr => k _; rewrite !mxE.
  by apply: bigO_sum => k _; apply/bigO_scale/H/mem_tnth.
exists c; rewrite free_rowsof -/(A c); have := small_row_free small.
have -> : 1%:M + D c = A c *m B by rewrite /D mulmxBl mulmxVp // addrC subrK.
rewrite row_free_unit => AB; apply/row_freeP; exists (B *m invmx (A c *m B)).
by rewrite mulmxA mulmxV.
Qed.

(* ---------- the layer over the reals ---------- *)
Definition attendR n d (E : 'M[R]_(n, d)) (l : 'I_n -> R) : 'rV[R]_d := \sum_i softmax l i *: row i E.

Lemma sum_exp_gt0 n (l : 'I_n -> R) (i0 : 'I_n) : 0 < \sum_j expR (l j).
Proof.
rewrite (bigD1 i0) //=; apply: ltr_paddr; last exact: expR_gt0.
by apply: sumr_ge0 => j _; apply/ltW/expR_gt0.
Qed.

Lemma curve_freeR n d (E : 'M[R]_(n, d)) (g : 'I_n -> R) :
  row_free E -> injective g -> free [seq attendR E (fun i => k%:R * g i) | k <- iota 0 n].
Proof.
move=> freeE inj_g; case: n E g freeE inj_g => [|m] E g freeE inj_g; first exact: nil_free.
pose Sk (k : nat) := \sum_j expR (k%:R * g j).
have Sk0 k : Sk k != 0 by rewrite gt_eqF // /Sk (@sum_exp_gt0 _ _ ord0).
pose y (i : 'I_m.+1) := expR (g i).
have inj_y : injective y by move=> i j /expR_inj /inj_g.
rewrite -(@free_scale _ _ _ _ _ Sk) => [|k _]; last exact: Sk0.
apply: free_iota => b.
have -> : \sum_k b 0 k *: (Sk k *: attendR E (fun i => k%:R * g i)) = (\row_i (rVpoly b).[y i]) *m E.
  rewrite mulmx_sum_row /attendR.
  under eq_bigr => k _ do rewrite !scaler_sumr.
  rewrite exchange_big /=; apply: eq_bigr => i _.
  rewrite mxE (@horner_coef_wide _ m.+1) ?size_poly // scaler_suml.
  apply: eq_bigr => k _; rewrite !scalerA; congr (_ *: _).
  rewrite coef_rVpoly_ord -?mulrA; congr (_ * _).
  by rewrite /softmax mulrCA divff ?mulr1 ?[_ == 0](negPf (Sk0 k)) // expRMm.
move=> bE; have /rowP roots : \row_i (rVpoly b).[y i] = 0.
  by apply: (row_free_inj freeE); rewrite mul0mx.
rewrite -[b]rVpolyK (@roots_geq_poly_eq0 _ (rVpoly b) [seq y i | i <- enum 'I_m.+1]) ?linear0 //.
- by apply/allP => _ /mapP [i _ ->]; apply/eqP; have := roots i; rewrite !mxE.
- by rewrite map_inj_uniq // enum_uniq.
- by rewrite size_map size_enum_ord size_poly.
Qed.

(* a unique largest logit takes all the weight: at the rate 1/c *)
Lemma saturate n (a bb : 'I_n -> R) (i0 i : 'I_n) : (forall i, i != i0 -> a i < a i0) ->
  bigO (fun c => softmax (fun i => c%:R * a i + bb i) i - (i == i0)%:R).
Proof.
move=> amax; pose w c := softmax (fun i => c%:R * a i + bb i).
have off j : j != i0 -> bigO (fun c => w c j).
  move=> ji0; apply: (@bigO_le _ (fun c => expR (- (c%:R * (a i0 - a j))) * expR (bb j - bb i0))).
    move=> c; rewrite /w /softmax ger0_norm; last by rewrite divr_ge0 // ltW ?expR_gt0 // (sum_exp_gt0 _ j).
    rewrite ler_pdivr_mulr ?(sum_exp_gt0 _ j) // (bigD1 i0) //= mulrDr.
    rewrite -!expRD; apply: ler_paddr.
      apply: mulr_ge0; first exact/ltW/expR_gt0.
      by apply: sumr_ge0 => k _; apply/ltW/expR_gt0.
    rewrite ler_expR le_eqVlt; apply/orP; left; apply/eqP.
    by rewrite mulrBr opprB addrACA !subrK.
  by apply: bigO_scale; apply: bigO_exp; rewrite subr_gt0 amax.
case: (eqVneq i i0) => [->|ii0]; last by apply: bigO_ext (off i ii0) => c; rewrite subr0.
have sum1 c : \sum_j w c j = 1.
  by rewrite -mulr_suml divff // gt_eqF // (sum_exp_gt0 _ i0).
apply: (@bigO_ext (fun c => (\sum_(j | j != i0) w c j) * -1)).
  move=> c; rewrite mulrN1 ?eqxx; have /= := sum1 c; rewrite (bigD1 i0) //= => w1.
  by rewrite -/(w c i0) -[X in _ = _ - X]w1 opprD addrA subrr add0r.
by apply: (@bigO_scale (fun c => \sum_(j | j != i0) w c j)); apply: bigO_sum => j; apply: off.
Qed.

(* ---------- one head ---------- *)
Section Step.
Variables (n' d : nat) (I : eqType).
Local Notation n := n'.+1.
Variables (E : I -> 'M[R]_(n, d)) (e : I -> 'rV[R]_d).
Implicit Types (S G : seq I).

Lemma separatorR S : (forall t, t \in S -> row_free (E t)) ->
  exists u : 'cV[R]_d, forall t, t \in S -> injective (fun i => (E t *m u) i 0).
Proof.
move=> freeE.
pose pairs := enum [pred ij : 'I_n * 'I_n | ij.1 != ij.2].
pose vs := [seq row ij.1 (E t) - row ij.2 (E t) | t <- S, ij <- pairs].
have /avoid [u /allP Hu] : all (fun v => v != 0) vs.
  apply/allP => v /allpairsP [[t ij] /= [tS]]; rewrite mem_enum /= => neq ->.
  by apply: rows_distinct => //; apply: freeE.
exists (map_mx intr u) => t tS i j Eij; apply/eqP; apply: contraT => neq.
have /Hu : row i (E t) - row j (E t) \in vs.
  apply/allpairsP; exists (t, (i, j)); split=> //=; by rewrite mem_enum.
rewrite mulmxBl -!row_mul; move: (E t *m _) Eij => A Eij; case/eqP.
by apply/matrixP => k l; rewrite !mxE !ord1 /= Eij subrr.
Qed.

Lemma selectorR S G : (forall s, s \in S -> e s \notin <<[seq e t | t <- G]>>%VS) ->
  exists v0 : 'cV[R]_d, (forall t, t \in G -> (e t *m v0) 0 0 = 0) /\
                        (forall s, s \in S -> (e s *m v0) 0 0 != 0).
Proof.
move=> notin; pose C := cokermx (rowsof G e).
have /avoid [w /allP Hw] : all (fun v => v != 0) [seq e s *m C | s <- S].
  apply/allP => _ /mapP [s sS ->]; apply: contra (notin s sS); rewrite -submxE.
  exact: submx_span.
exists (C *m map_mx intr w); split=> [t tG | s sS].
  suff eC : e t *m C = 0 by rewrite mulmxA eC mul0mx mxE.
  apply/eqP; rewrite -submxE; move: tG => /(@tnthP _ _ (in_tuple G)) [i ->].
  by rewrite -(rowK (fun i => e (tnth (in_tuple G) i)) i) row_sub.
have /Hw : e s *m C \in [seq e s *m C | s <- S] by apply: map_f.
apply: contraNneq; rewrite (mulmxA (e s) C) => e0; apply/eqP/matrixP => i j.
by rewrite !ord1 e0 mxE.
Qed.

Lemma steerR G : free [seq e t | t <- G] -> forall alpha : I -> R,
  exists v1 : 'cV[R]_d, forall t, t \in G -> (e t *m v1) 0 0 = alpha t.
Proof.
rewrite free_rowsof; set A := rowsof _ _ => freeA alpha.
exists (pinvmx A *m \col_i alpha (tnth (in_tuple G) i)).
move=> t /(@tnthP _ _ (in_tuple G)) [i ->].
have -> : e (tnth (in_tuple G) i) = row i A by rewrite rowK.
by rewrite mulmxA -row_mul mulmxVp // -row_mul mul1mx !mxE.
Qed.

Definition imaxR (a : 'I_n -> R) : 'I_n := [arg max_(i > ord0) a i]%O.
Lemma imaxRP a i : a i <= a (imaxR a).
Proof. by rewrite /imaxR; case: arg_maxP => // j _; apply. Qed.

Lemma stepR b (z : I -> 'rV[R]_b) S G :
  (forall t, t \in G ++ S -> row_free (E t)) ->
  free [seq z s | s <- S] ->
  free [seq e t | t <- G] ->
  (forall s, s \in S -> e s \notin <<[seq e t | t <- G]>>%VS) ->
  (size G <= n - (S != [::]))%N ->
  exists u v : 'cV[R]_d, free [seq row_mx (head (E t) (e t) u v) (z t) | t <- G ++ S].
Proof.
move=> freeE freeS freeG outS sizeG.
have [u inj_u] := separatorR freeE.
have [v0 [v0G v0S]] := selectorR outS.
pose g t i := (E t *m u) i 0.
pose a t i := g t i * (e t *m v0) 0 0.
pose X t k := attendR (E t) (fun i => k%:R * g t i).
pose L s := row (imaxR (a s)) (E s).
have uG : uniq G by apply: map_uniq (free_uniq freeG).
have dis t : t \in S -> t \notin G.
  by move=> /outS; apply: contra => tG; apply: memv_span; apply: map_f.
have freeX t : t \in G -> free [seq X t k | k <- iota 0 n].
  move=> tG; apply: curve_freeR; first by apply: freeE; rewrite mem_cat tG.
  by apply: inj_u; rewrite mem_cat tG.
have [alpha [_ free0]] := choice_group L freeS uG freeX sizeG.
have [v1 v1G] := steerR freeG (fun t => (alpha t)%:R).
pose bb t i := g t i * (e t *m v1) 0 0.
have headE c t : head (E t) (e t) u (c%:R *: v0 + v1) = attendR (E t) (fun i => c%:R * a t i + bb t i).
  have lE i : (E t *m u) i 0 * (e t *m (c%:R *: v0 + v1)) 0 0 = c%:R * a t i + bb t i.
    rewrite /a /bb /g mulmxDr -scalemxAr; move: (E t *m u) (e t *m v0) (e t *m v1) => A B C.
    by rewrite !mxE mulrDr mulrCA.
  rewrite /head /attendR; apply: eq_bigr => i _; rewrite /softmax lE; congr (_ / _ *: _).
  by apply: eq_bigr => j _; rewrite lE.
pose r t := if t \in G then row_mx (X t (alpha t)) (z t) else row_mx (L t) (z t).
have [c freec] : exists c, free [seq row_mx (head (E t) (e t) u (c%:R *: v0 + v1)) (z t) | t <- G ++ S].
  apply: (@free_limit _ _ _ _ r); last first.
    rewrite map_cat; move: free0; congr (free (_ ++ _)); apply/eq_in_map => t tG; rewrite /r ?tG //.
    by rewrite (negPf (dis t tG)).
  move=> t j tGS.
  have zero k (A B : 'rV[R]_d) : A = B -> bigO (fun c : nat => row_mx A (z t) 0 k - row_mx B (z t) 0 k).
    by move=> ->; apply: bigO_ext bigO_0 => c; rewrite subrr.
  move: tGS; rewrite mem_cat /r; case: ifP => [tG _ | _ /= tS].
    apply: bigO_ext (zero j _ _ (erefl (X t (alpha t)))) => c.
    congr (row_mx _ _ 0 j - _); rewrite headE /X /attendR; apply: eq_bigr => i _; congr (_ *: _).
    have lE k : (alpha t)%:R * g t k = c%:R * a t k + bb t k.
      by rewrite /a v0G // !mulr0 add0r /bb v1G // mulrC.
    by rewrite /softmax lE; congr (_ / _); apply: eq_bigr => k _; rewrite lE.
  have amax i : i != imaxR (a t) -> a t i < a t (imaxR (a t)).
    move=> ni; rewrite lt_neqAle imaxRP andbT; apply: contraNneq ni => aE; apply/eqP.
    apply: (inj_u t); first by rewrite mem_cat tS orbT.
    exact: (mulIf (v0S t tS)) aE.
  case: (split_ordP j) => k ->; last first.
    by apply: bigO_ext bigO_0 => c; rewrite !row_mxEr subrr.
  apply: (@bigO_ext (fun c => \sum_i (softmax (fun i => c%:R * a t i + bb t i) i - (i == imaxR (a t))%:R) * E t i k)).
    move=> c; rewrite !row_mxEl headE /attendR summxE mxE.
    under eq_bigr => i _ do rewrite mulrBl.
    rewrite sumrB; congr (_ - _); first by apply: eq_bigr => i _; rewrite !mxE.
    rewrite (bigD1 (imaxR (a t))) //= eqxx mul1r big1 ?addr0 // => i ni.
    by rewrite (negPf ni) mul0r.
  by apply: bigO_sum => i _; apply: bigO_scale; apply: saturate.
by exists u, (c%:R *: v0 + v1).
Qed.
End Step.

(* ================= the theorem ================= *)
Theorem width_one_real_data n d T H (E : 'I_T -> 'M[R]_(n, d)) (e : 'I_T -> 'rV[R]_d) (grp : 'I_T -> 'I_H) :
  (* A2 *) (forall t, row_free (E t)) ->
  (* P  *) (forall h : 'I_H, (#|[set t | grp t == h]| <= n - (0 < h))%N) ->
           (forall h : 'I_H, free [seq e t | t <- enum 'I_T & grp t == h]) ->
           (forall (h : 'I_H) s, (grp s < h)%N ->
              e s \notin <<[seq e t | t <- enum 'I_T & grp t == h]>>%VS) ->
  exists u v : 'I_H -> 'cV[R]_d, forall m dv (Y : 'I_T -> 'rV[R]_m), (m <= dv)%N ->
    exists (V : 'I_H -> 'M[R]_(d, dv)) (O : 'I_H -> 'M[R]_(dv, m)),
      forall t, out u v V O (E t) (e t) = Y t.
Proof.
move=> freeE sizeG freeG outG.
suff [w rk] : exists w : 'I_H -> 'cV[R]_d * 'cV[R]_d,
    row_free (stack (fun t h => head (E t) (e t) (w h).1 (w h).2)).
  by exists (fun h => (w h).1), (fun h => (w h).2) => m dv Y mdv; apply: readout.
case: n E freeE sizeG => [|n'] E freeE sizeG.
  exists (fun=> 0); apply: inj_row_free => c _; apply/rowP => t.
  have := sizeG (grp t); rewrite leqn0 => /eqP /cards0_eq /setP /(_ t).
  by rewrite !inE eqxx.
apply: (@induct.full_rank _ n'.+1 d d T H ('cV[R]_d * 'cV[R]_d) (0, 0)
  (fun w t => head (E t) (e t) w.1 w.2) e grp) => // b z S G fS fG oS sG.
by have [u [v uv]] := stepR (fun t _ => freeE t) fS fG oS sG; exists (u, v).
Qed.
End RealData.
