(* For the capacity law, reached: the image of the directions of one head has as many dimensions as the upper bound allows, and
   there are keys in general position. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import hyperplanes capacity depth.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* What vanishes wherever the rows of B do is spanned by them. *)
Lemma sub_by_kernel (F : fieldType) p q n (A : 'M[F]_(p, n)) (B : 'M[F]_(q, n)) :
  (forall c : 'cV_n, B *m c = 0 -> A *m c = 0) -> (A <= B)%MS.
Proof.
move=> H; rewrite submxE; apply/eqP/matrixP => i j.
have A0 : A *m col j (cokermx B) = 0 by apply: H; rewrite colE mulmxA mulmx_coker mul0mx.
by move/matrixP/(_ i 0): A0; rewrite colE mulmxA -colE !mxE.
Qed.
Lemma bilinear0 (F : fieldType) m n (M : 'M[F]_(m, n)) : (forall u v : 'rV_ _, u *m M *m v^T = 0) -> M = 0.
Proof.
move=> H; apply/matrixP => i j; move/matrixP/(_ 0 0): (H (delta_mx 0 i) (delta_mx 0 j)).
by rewrite -rowE trmx_delta -colE !mxE.
Qed.

(* The image of (K', Q') |-> X (K' Q^T + K Q'^T) U^T, for one head. *)
Section OneHead.
Variables (F : fieldType) (d w m b : nat) (K Q : 'M[F]_(d, w)) (U : 'M[F]_(b, d)).
Local Notation kq := (d * w + d * w)%N.
Definition change_of (v : 'rV[F]_kq) : 'M[F]_d := vec_mx (lsubmx v) *m Q^T + K *m (vec_mx (rsubmx v))^T.
Lemma change_of_linear : linear change_of.
Proof. by move=> a v v'; rewrite /change_of !linearP /= mulmxDl -scalemxAl scalerDr addrACA. Qed.
Canonical change_of_lin := Linear change_of_linear.
Definition image_at (X : 'M[F]_(m, d)) (v : 'rV[F]_kq) : 'rV[F]_(m * b) := mxvec (X *m change_of v *m U^T).
Lemma image_at_linear X : linear (image_at X).
Proof. by move=> a v v'; rewrite /image_at linearP /= mulmxDr mulmxDl -scalemxAr -scalemxAl linearP. Qed.
Canonical image_at_lin X := Linear (image_at_linear X).
Definition image (X : 'M[F]_(m, d)) : 'M[F]_(kq, m * b) := lin1_mx (image_at X).

Lemma rank_image X : row_free X -> row_free U ->
  (m * b - (m - \rank (X *m K)) * (b - \rank (U *m Q)) <= \rank (image X))%N.
Proof.
move=> freeX freeU; pose L := row_base (kermx (X *m K)); pose M := row_base (kermx (U *m Q)).
pose f : 'M_(_, m * b) := lin_mx (mulmxr M \o mulmx L^T).
have sub : ((cokermx (image X))^T <= f)%MS.
  apply/row_subP => j; set s := row j _; pose S := vec_mx s.
  have image0 v : image_at X v *m (mxvec S)^T = 0.
    have -> : image_at X v = v *m image X by rewrite mul_rV_lin1.
    by rewrite vec_mxK /s -tr_col trmxK colE -mulmxA [image X *m _]mulmxA mulmx_coker mul0mx mulmx0.
  have [X1 XX1] : exists X1, X *m X1 = 1%:M by exists (pinvmx X); apply: mulmxVp.
  have [U1 UU1] : exists U1, U *m U1 = 1%:M by exists (pinvmx U); apply: mulmxVp.
  have SQ : S *m (U *m Q) = 0.
    apply: bilinear0 => u v; have := image0 (row_mx (mxvec (X1 *m u^T *m v)) 0).
    rewrite /image_at /change_of row_mxKl row_mxKr mxvecK linear0 trmx0 mulmx0 addr0.
    have -> : X *m (X1 *m u^T *m v *m Q^T) *m U^T = u^T *m (v *m (U *m Q)^T).
      by rewrite !mulmxA XX1 mul1mx trmx_mul !mulmxA.
    by rewrite mxvec_dotmul trmx_mul trmxK !mulmxA.
  have KS : (X *m K)^T *m S = 0.
    apply: bilinear0 => r p; have := image0 (row_mx 0 (mxvec (U1 *m p^T *m r))).
    rewrite /image_at /change_of row_mxKl row_mxKr mxvecK linear0 mul0mx add0r.
    have -> : X *m (K *m (U1 *m p^T *m r)^T) *m U^T = (r *m (X *m K)^T)^T *m p.
      transitivity (X *m K *m (U *m (U1 *m p^T *m r))^T); first by rewrite [(U *m _)^T]trmx_mul !mulmxA.
      by rewrite !(mulmxA U) UU1 mul1mx !trmx_mul !trmxK !mulmxA.
    by rewrite mxvec_dotmul !mulmxA.
  have [S1 SM] : exists S1, S = S1 *m M by apply/submxP; rewrite eq_row_base; apply/sub_kermxP.
  have [S2 SL] : exists S2, S^T = S2 *m L.
    by apply/submxP; rewrite eq_row_base; apply/sub_kermxP; apply: trmx_inj; rewrite trmx_mul trmxK KS trmx0.
  have [M1 MM1] : exists M1, M *m M1 = 1%:M by exists (pinvmx M); apply: mulmxVp; apply: row_base_free.
  have S_L : S = L^T *m S2^T by rewrite -trmx_mul -SL trmxK.
  have SE : L^T *m (S2^T *m M1) *m M = S by rewrite mulmxA -S_L {1}SM -(mulmxA S1) MM1 mulmx1 -SM.
  by apply/submxP; exists (mxvec (S2^T *m M1)); rewrite mul_rV_lin /= mxvecK /= /mulmxr /= SE vec_mxK.
have := leq_trans (mxrankS sub) (rank_leq_row f); rewrite mxrank_tr mxrank_coker !mxrank_ker.
by rewrite !leq_subLR addnC.
Qed.

End OneHead.

Lemma products_rank_le w m b : (products_rank w m b <= m * b - (m - minn w m) * (b - minn w b))%N.
Proof.
case: (leqP w (minn m b)) => [|wide].
  rewrite leq_min => /andP [wm wb]; rewrite products_rank_narrow // !(minn_idPl _) //.
  have count i j : ((w + i) * (w + j) - i * j = w * (w + i + j))%N.
    by rewrite mulnDl !mulnDr addnA (mulnC i w) addnK addnAC.
  by move: wm wb => /subnKC <- /subnKC <-; rewrite !addKn count addnCA addKn -addnA.
rewrite products_rank_wide ?(ltnW wide) //; suff -> : ((m - minn w m) * (b - minn w b) = 0)%N by rewrite subn0.
move: wide; rewrite gtn_min => /orP [mw|bw].
  by rewrite (minn_idPr (ltnW mw)) subnn.
by rewrite (minn_idPr (ltnW bw)) subnn muln0.
Qed.

(* H heads with the same map. *)
Lemma rank_copies (F : fieldType) H m n (G : 'M[F]_(m, n)) : (H * \rank G <= \rank (lin_mx (mulmxr G) : 'M_(H * m, H * n)))%N.
Proof.
pose B := row_base G; have [Y BY] : exists Y, B = Y *m G by apply/submxP; rewrite eq_row_base.
pose LB : 'M_(H * \rank G, H * n) := lin_mx (mulmxr B).
have free : row_free LB.
  apply: inj_row_free => v; rewrite mul_rV_lin /= => /(canRL mxvecK); rewrite linear0 => vB.
  have /(canRL vec_mxK) -> : vec_mx v = 0 by apply: (row_free_inj (row_base_free G)); rewrite mul0mx.
  exact: linear0.
have LGE (N : 'M_(H, m)) : mxvec N *m (lin_mx (mulmxr G) : 'M_(H * m, H * n)) = mxvec (N *m G).
  by rewrite mul_rV_lin /= mxvecK.
have LBE (v : 'rV_(H * \rank G)) : v *m LB = mxvec (vec_mx v *m B) by rewrite mul_rV_lin.
have /mxrankS : (LB <= (lin_mx (mulmxr G) : 'M_(H * m, H * n)))%MS; last by rewrite (eqP free).
by apply/row_subP => i; rewrite rowE LBE BY mulmxA -LGE submxMl.
Qed.

(* Keys whose columns are in general position to every D, and the first of which tells distinct tokens apart. *)
Section Keys.
Variables (F : numFieldType) (I : finType) (d : nat) (D : I -> 'M[F]_d).
Definition general k (K : 'M[F]_(d, k)) := forall S, \rank (D S *m K) = minn k (\rank (D S)).

Lemma one_more k (K : 'M[F]_(d, k)) (vs : seq 'rV[F]_d) : general K -> all (fun v => v != 0) vs ->
  exists u : 'cV[F]_d, general (row_mx u K) /\ all (fun v => v *m u != 0) vs.
Proof.
move=> gen vs0.
have outside S : (k < \rank (D S))%N -> exists c : 'rV_d, c *m (D S *m K) = 0 /\ c *m D S != 0.
  move=> kS; pose C := kermx (D S *m K); have [CD|] := eqVneq (C *m D S) 0.
    have /mxrankS : (C <= kermx (D S))%MS by apply/sub_kermxP.
    rewrite !mxrank_ker gen (minn_idPl (ltnW kS)) => bad.
    have : (d - \rank (D S) < d - k)%N by apply: ltn_sub2l => //; apply: leq_trans kS (rank_leq_row _).
    by rewrite ltnNge => /negP absurd; case: (absurd bad).
  move=> CD; have [i Ci] : exists i, row i (C *m D S) != 0.
    apply/existsP; rewrite -negb_forall; apply: contra CD => /forallP C0; apply/eqP/row_matrixP => i.
    by rewrite row0; apply/eqP; apply: C0.
  by exists (row i C); rewrite -!row_mul mulmx_ker row0.
have [c off] : exists c : I -> 'rV_d, forall S, (k < \rank (D S))%N -> c S *m (D S *m K) = 0 /\ c S *m D S != 0.
  apply: (@fin_all_exists _ _ (fun S c => (k < \rank (D S))%N -> c *m (D S *m K) = 0 /\ c *m D S != 0)) => S.
  by have [/outside [c Hc]|_] := boolP (k < \rank (D S))%N; [exists c|exists 0].
have [w /allP w_off] : exists w : 'cV[int]_d, all (fun v => v *m map_mx intr w != 0)
    (vs ++ [seq c S *m D S | S <- enum I & (k < \rank (D S))%N]).
  apply: avoid_hyperplanes; rewrite all_cat vs0 /=; apply/allP => v /mapP [S]; rewrite mem_filter => /andP [/off [_ cS] _] -> //.
exists (map_mx intr w); split; last by apply/allP => v v_in; apply: w_off; rewrite mem_cat v_in.
move=> S; set u := map_mx _ w; set M := D S *m row_mx u K.
have MK : D S *m K = M *m col_mx 0 1%:M by rewrite -mulmxA mul_row_col mulmx0 add0r mulmx1.
have below : (\rank M <= minn (1 + k) (\rank (D S)))%N by rewrite leq_min rank_leq_col mxrankM_maxl.
apply/eqP; rewrite eqn_leq below /= geq_min; case: (ltnP k (\rank (D S))) => [kS|Sk]; last first.
  by rewrite orbC -{1}(minn_idPr Sk) -gen MK mxrankM_maxl.
have [cK cD] := off S kS; apply/orP; left.
have more : (\rank (D S *m K) < \rank M)%N.
  have : (kermx M < kermx (D S *m K))%MS.
    rewrite ltmxE; apply/andP; split; first by apply/sub_kermxP; rewrite MK mulmxA mulmx_ker mul0mx.
    apply/negP => KM; have /sub_kermxP cM : (c S <= kermx M)%MS by apply: submx_trans KM; apply/sub_kermxP.
    have /w_off/negP : c S *m D S \in vs ++ [seq c S *m D S | S <- enum I & (k < \rank (D S))%N].
      by rewrite mem_cat; apply/orP; right; apply: map_f; rewrite mem_filter kS mem_enum.
    apply; apply/eqP; move: cM; rewrite /M mulmxA mul_mx_row -[0]row_mx0 => /eq_row_mx []; done.
  move=> /rank_ltmx; rewrite !mxrank_ker; apply: contraLR; rewrite -!leqNgt; exact: leq_sub2l.
by move: more; rewrite gen (minn_idPl (ltnW kS)).
Qed.
End Keys.

(* w + 1 columns, the first of them off the hyperplanes of some vectors, too. *)
Lemma general_keys (F : numFieldType) (I : finType) d (D : I -> 'M[F]_d) w (vs : seq 'rV[F]_d) : all (fun v => v != 0) vs ->
  exists K : 'M[F]_(d, w.+1), general D K /\ all (fun v => v *m col 0 K != 0) vs.
Proof.
move=> vs0; have [K gen] : exists K : 'M_(d, w), general D K.
  elim: w => [|k [K gen]].
    by exists 0 => S; rewrite mulmx0 mxrank0 min0n.
  by have [u [gen' _]] := one_more gen (isT : all _ [::]); exists (row_mx u K).
have [u [gen' off]] := one_more gen vs0; exists (row_mx u K : 'M_(d, 1 + w)); split=> //.
suff -> : col 0 (row_mx u K : 'M_(d, 1 + w)) = u by [].
by apply/colP => i; rewrite mxE; apply: etrans (row_mxEl u K i 0); congr (row_mx u K i _); apply: val_inj.
Qed.
