(* The residues of every_labelling.v are those of a layer's derivatives, but for factors of whole columns. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Arith.
Require Import Spec Certificate interpolation integers residues full_rank full_rank_sound newton weights_near layer_slopes indexed layer_balls every_labelling.
Import ListNotations.
Local Notation length := List.length.
Open Scope R_scope.

(* The derivatives with any softmax weights w: those of head h are w h. *)
Section Weighted.
Variables (n d dk dv : nat) (E : nat -> nat -> R) (e : nat -> R).
Section Of.
Variables (w : nat -> R) (K V O : nat -> nat -> R).
Definition wmean j := sum n (fun i => w i * rs d dv E V O j i).
Definition wgamma j a := sum n (fun i => E i a * (w i * (rs d dv E V O j i - wmean j))).
Definition wback j b := sum d (fun a => K a b * wgamma j a).
Definition wz a := sum n (fun i => E i a * w i).
Definition wv b := sum d (fun a => V a b * wz a).
End Of.
Definition weighted_slope (W : place -> R) (w : nat -> nat -> R) (j : nat) (x : place) : R :=
  match x with
  | AtKey h a b => wgamma (w h) (wV W h) (wO W h) j a * rq d e (wQ W h) b
  | AtQuery h a b => e a * wback (w h) (wK W h) (wV W h) (wO W h) j b
  | AtValue h a b => wz (w h) a * W (AtOutput h b j)
  | AtOutput h b i => if Nat.eqb i j then wv (w h) (wV W h) b else 0
  end.
Lemma slope_weighted W j x : slope n d dk dv E e W j x = weighted_slope W (fun h => softmax n (rl d dk E e (wK W h) (wQ W h))) j x.
Proof. now destruct x. Qed.
End Weighted.

(* Factors of the data and of the matrices are factors of the derivatives. *)
Section Factors.
Variables (n d dk dv : nat) (E : nat -> nat -> R) (e : nat -> R) (W : place -> R) (w : nat -> nat -> R).
Variables (sE se : R) (factor : place -> R) (fK fQ fV fO : nat -> R).
Definition factors_of (x : place) : R := match x with AtKey h _ _ => fK h | AtQuery h _ _ => fQ h | AtValue h _ _ => fV h | AtOutput h _ _ => fO h end.
Local Notation E' := (fun i a => sE * E i a).
Local Notation e' := (fun a => se * e a).
Local Notation W' := (fun x => factors_of x * W x).
Definition column_factor (x : place) : R :=
  match x with
  | AtKey h _ _ => sE * (sE * fV h * fO h) * (se * fQ h)
  | AtQuery h _ _ => se * (fK h * (sE * (sE * fV h * fO h)))
  | AtValue h _ _ => sE * fO h
  | AtOutput h _ _ => fV h * sE
  end.
Lemma score_factor h j i : rs d dv E' (wV W' h) (wO W' h) j i = sE * fV h * fO h * rs d dv E (wV W h) (wO W h) j i.
Proof.
  unfold rs, rmix, wV, wO. cbn. rewrite <- SoundZ.sum_mull. apply SoundZ.sum_ext. intros a _. rewrite <- !SoundZ.sum_mull. apply SoundZ.sum_ext. intros b _. ring.
Qed.
Lemma gamma_factor h j a : wgamma n d dv E' (w h) (wV W' h) (wO W' h) j a = sE * (sE * fV h * fO h) * wgamma n d dv E (w h) (wV W h) (wO W h) j a.
Proof.
  unfold wgamma. rewrite <- SoundZ.sum_mull. apply SoundZ.sum_ext. intros i _. rewrite score_factor.
  assert (M : wmean n d dv E' (w h) (wV W' h) (wO W' h) j = sE * fV h * fO h * wmean n d dv E (w h) (wV W h) (wO W h) j).
  { unfold wmean. rewrite <- SoundZ.sum_mull. apply SoundZ.sum_ext. intros k _. rewrite score_factor. ring. }
  rewrite M. ring.
Qed.
Lemma mean_factor h a : wz n E' (w h) a = sE * wz n E (w h) a.
Proof. unfold wz. rewrite <- SoundZ.sum_mull. apply SoundZ.sum_ext. intros. ring. Qed.
Lemma slope_factor j x : weighted_slope n d dv E' e' W' w j x = column_factor x * weighted_slope n d dv E e W w j x.
Proof.
  destruct x as [h a b|h a b|h a b|h b i]; cbn [weighted_slope column_factor].
  - rewrite gamma_factor. replace (rq d e' (wQ W' h) b) with (se * fQ h * rq d e (wQ W h) b); [ring|].
    unfold rq, wQ. cbn. rewrite <- SoundZ.sum_mull. apply SoundZ.sum_ext. intros. ring.
  - replace (wback n d dv E' (w h) (wK W' h) (wV W' h) (wO W' h) j b) with (fK h * (sE * (sE * fV h * fO h)) * wback n d dv E (w h) (wK W h) (wV W h) (wO W h) j b); [ring|].
    unfold wback. rewrite <- SoundZ.sum_mull. apply SoundZ.sum_ext. intros k _. rewrite gamma_factor. unfold wK. cbn. ring.
  - rewrite mean_factor. cbn. ring.
  - destruct (Nat.eqb i j); [|ring]. unfold wv. rewrite <- SoundZ.sum_mull. apply SoundZ.sum_ext. intros k _. rewrite mean_factor. unfold wV. cbn. ring.
Qed.
End Factors.

(* Residues of lists. *)
Section Residues.
Variable p : Z.
Hypothesis Hp : (1 < p)%Z.
Local Notation res := (residue p).
Definition stands (z : Z) (x : R) : Prop := res x z.
Lemma residue_product x y a b : res x a -> res y b -> res (x * y) (a * b mod p)%Z.
Proof. intros. apply residue_reduce; [exact Hp|]. now apply residue_mul. Qed.
Lemma residue_less x y a b : res x a -> res y b -> res (x - y) (a - b)%Z.
Proof.
  intros Hx Hy. replace (x - y) with (x + IZR (-1) * y) by ring. replace (a - b)%Z with (a + (-1) * b)%Z by ring.
  apply residue_add; [exact Hx|]. apply residue_mul; [apply residue_Z|exact Hy].
Qed.
Lemma dot_residue n x y f g : like stands n x f -> like stands n y g -> res (sum n (fun i => f i * g i)) (CheckZ.dot x y).
Proof.
  rewrite !like_vec. revert x y f g. induction n as [|n IH]; intros x y f g H G.
  { cbn in H. inversion H. cbn. apply (residue_Z p 0). }
  rewrite vec_S in H, G. inversion H as [|a ? x' ? Ha Hx]; subst. inversion G as [|b ? y' ? Hb Hy]; subst. cbn [sum].
  change (CheckZ.dot (a :: x') (b :: y')) with (a * b + CheckZ.dot x' y')%Z. apply residue_add; [now apply residue_mul|].
  exact (IH x' y' (fun i => f (S i)) (fun i => g (S i)) Hx Hy).
Qed.
Lemma dotp_ok n x y f g : like stands n x f -> like stands n y g -> res (sum n (fun i => f i * g i)) (dotp p x y).
Proof. intros. apply residue_reduce; [exact Hp|]. now apply dot_residue. Qed.
Lemma reduced_ok u n l f : u <> 0%Z -> like (fraction u) n l f -> like stands n (map (fun x => x mod p)%Z l) (fun i => IZR u * f i).
Proof.
  intros U H. eapply like_map; [exact H|]. intros x i _ Hx. unfold fraction in Hx. apply not_0_IZR in U.
  replace (IZR u * f i) with (IZR x) by (rewrite <- Hx; field; exact U). apply residue_reduce; [exact Hp|apply residue_Z].
Qed.
Lemma stripped_ok gcd u h w rows rows' F : u <> 0%Z -> like (like (fraction u) w) h rows F -> stripped gcd p rows = Some rows' ->
  exists s, s <> 0 /\ like (like stands w) h rows' (fun i j => s * F i j).
Proof.
  intros U H. unfold stripped. cbv zeta. set (common := fold_left _ rows 0%Z). clearbody common. set (g := (if common =? 0 then 1 else common)%Z).
  assert (g0 : g <> 0%Z) by (unfold g; destruct (Z.eqb_spec common 0); lia). clearbody g.
  destruct (forallb _ rows) eqn:D; [|discriminate]. intros [= <-]. rewrite forallb_forall in D. exists (IZR u / IZR g). apply not_0_IZR in U.
  assert (G0 := not_0_IZR _ g0). split; [unfold Rdiv; apply Rmult_integral_contrapositive_currified; [exact U|now apply Rinv_neq_0_compat]|].
  apply (nth_like _ _ _ _ []); [now rewrite map_length, (like_length _ _ _ _ H)|]. intros i Hi.
  assert (Li : (i < length rows)%nat) by now rewrite (like_length _ _ _ _ H). pose proof (like_nth _ _ _ _ i [] H Hi) as R.
  assert (I : In (nth i rows []) rows) by now apply nth_In. specialize (D _ I). rewrite forallb_forall in D.
  rewrite (nth_indep _ [] (map (fun x => x / g mod p)%Z [])) by now rewrite map_length. rewrite (map_nth (map (fun x => x / g mod p)%Z)).
  apply (nth_like _ _ _ _ 0%Z); [now rewrite map_length, (like_length _ _ _ _ R)|]. intros j Hj.
  assert (Lj : (j < length (nth i rows []))%nat) by now rewrite (like_length _ _ _ _ R). pose proof (like_nth _ _ _ _ j 0%Z R Hj) as V.
  rewrite (nth_indep _ 0%Z (0 / g mod p)%Z) by now rewrite map_length. rewrite (map_nth (fun x => x / g mod p)%Z).
  specialize (D _ (nth_In _ 0%Z Lj)). apply Z.eqb_eq in D. set (x := nth j (nth i rows []) 0%Z) in *. unfold fraction in V.
  replace (IZR u / IZR g * F i j) with (IZR (x / g)); [apply residue_reduce; [exact Hp|apply residue_Z]|].
  rewrite <- V. rewrite <- D at 2. rewrite mult_IZR. field. split; assumption.
Qed.

(* A head on one example. *)
Section Example.
Variables (n d dk dv m : nat) (E : nat -> nat -> R) (e : nat -> R) (rows : list (list Z)) (query : list Z).
Hypotheses (Hn : (0 < n)%nat) (Hd : (0 < d)%nat) (Hdv : (0 < dv)%nat).
Hypotheses (HE : like (like stands d) n rows E) (He : like stands d query e).
Definition residues_hold (y : residue_head) (K Q V O : nat -> nat -> R) : Prop :=
  like (like stands dk) d (mK y) K /\ like (like stands dk) d (mQ y) Q /\ like (like stands dv) d (mV y) V /\ like (like stands m) dv (mO y) O /\
  mixes y = map (fun column => map (fun row => dotp p row column) (mV y)) (columns (mO y)).

Section Head.
Variables (y : residue_head) (ws : list Z) (w : nat -> R) (K Q V O : nat -> nat -> R).
Hypotheses (H : residues_hold y K Q V O) (Hw : like stands n ws w).
Local Notation s := (slopes_mod p rows query y ws).
Lemma m_query_ok : like stands dk (m_query s) (rq d e Q).
Proof.
  destruct H as (_ & HQ & _). eapply like_map; [eapply like_columns; [exact Hd|exact HQ]|]. intros c b _ Hc. cbn in Hc.
  now apply (dotp_ok d _ _ e (fun a => Q a b)).
Qed.
Lemma mixes_ok : like (like stands d) m (mixes y) (rmix dv V O).
Proof.
  destruct H as (_ & _ & HV & HO & ->). eapply like_map; [eapply like_columns; [exact Hdv|exact HO]|]. intros c j _ Hc. cbn in Hc.
  eapply like_map; [exact HV|]. intros row a _ Hr. now apply (dotp_ok dv _ _ (V a) (fun b => O b j)).
Qed.
Lemma m_gamma_ok : like (like stands d) m (m_gamma s) (wgamma n d dv E w V O).
Proof.
  unfold slopes_mod. cbn [m_gamma]. rewrite map_map. eapply like_map; [exact mixes_ok|]. intros v j _ Hv.
  assert (S : like stands n (map (fun token => dotp p token v) rows) (rs d dv E V O j)).
  { eapply like_map; [exact HE|]. intros token i _ Ht. now apply (dotp_ok d _ _ (E i) (rmix dv V O j)). }
  eapply like_map; [eapply like_columns; [exact Hn|exact HE]|]. intros c a _ Hc. cbn in Hc.
  apply (dotp_ok n _ _ (fun i => E i a) (fun i => w i * (rs d dv E V O j i - wmean n d dv E w V O j))); [exact Hc|].
  eapply like_map; [eapply like_combine; [exact Hw|exact S]|]. intros [x z] i _ [Hx Hz]. cbn [fst snd] in *.
  apply residue_product; [exact Hx|]. apply residue_less; [exact Hz|]. now apply (dotp_ok n _ _ w (rs d dv E V O j)).
Qed.
Lemma m_back_ok : like (like stands dk) m (m_back s) (wback n d dv E w K V O).
Proof.
  destruct H as (HK & _). eapply like_map; [exact m_gamma_ok|]. intros g j _ Hg. eapply like_map; [eapply like_columns; [exact Hd|exact HK]|].
  intros k b _ Hk. cbn in Hk. now apply (dotp_ok d _ _ (fun a => K a b) (wgamma n d dv E w V O j)).
Qed.
Lemma m_mean_ok : like stands d (m_mean s) (wz n E w).
Proof. eapply like_map; [eapply like_columns; [exact Hn|exact HE]|]. intros c a _ Hc. cbn in Hc. now apply (dotp_ok n _ _ (fun i => E i a) w). Qed.
Lemma m_value_ok : like stands dv (m_value s) (wv n d E w V).
Proof.
  destruct H as (_ & _ & HV & _). eapply like_map; [eapply like_columns; [exact Hd|exact HV]|]. intros c b _ Hc. cbn in Hc.
  apply (dotp_ok d _ _ (fun a => V a b) (wz n E w)); [exact Hc|exact m_mean_ok].
Qed.
End Head.

Variables (H : nat) (W : place -> R) (w : nat -> nat -> R) (l : list (residue_head * residue_slopes)).
Hypothesis heads_hold : forall h, (h < H)%nat -> exists y ws, nth_error l h = Some (y, slopes_mod p rows query y ws) /\
  residues_hold y (wK W h) (wQ W h) (wV W h) (wO W h) /\ like stands n ws (w h).
Lemma entry_residue a b h k M F : like (like stands k) h M F -> (a < h)%nat -> (b < k)%nat -> res (F a b) (entry M a b).
Proof. intros G Ha Hb. exact (like_nth _ _ _ (F a) b 0%Z (like_nth _ _ _ _ a [] G Ha) Hb). Qed.
Lemma derivative_mod_ok j x : (j < m)%nat -> valid_place d m H dk dv x = true ->
  res (weighted_slope n d dv E e W w j x) (derivative_mod p query l j x).
Proof.
  intros Hj Hx. destruct x as [h a b|h a b|h a b|h b i]; cbn [valid_place derivative_mod weighted_slope] in *; apply andb_prop in Hx as [Hx H3]; apply andb_prop in Hx as [H1 H2];
    apply Nat.ltb_lt in H1, H2, H3; destruct (heads_hold h H1) as (y & ws & -> & Hy & Hw).
  - apply residue_product; [exact (entry_residue j a _ _ _ _ (m_gamma_ok _ _ _ _ _ _ _ Hy Hw) Hj H2)|exact (like_nth _ _ _ _ b 0%Z (m_query_ok _ _ _ _ _ _ Hy) H3)].
  - apply residue_product; [exact (like_nth _ _ _ _ a 0%Z He H2)|exact (entry_residue j b _ _ _ _ (m_back_ok _ _ _ _ _ _ _ Hy Hw) Hj H3)].
  - apply residue_product; [exact (like_nth _ _ _ _ a 0%Z (m_mean_ok _ _ _ Hw) H2)|]. destruct Hy as (_ & _ & _ & HO & _). exact (entry_residue b j _ _ _ _ HO H3 Hj).
  - destruct (Nat.eqb i j); [exact (like_nth _ _ _ _ b 0%Z (m_value_ok _ _ _ _ _ _ _ Hy Hw) H2)|apply (residue_Z p 0)].
Qed.
End Example.

(* Softmax weights. *)
Hypothesis p_gt2 : (2 < p)%Z.
Hypothesis fermat : power p 2 (p - 1) = 1%Z.
Lemma weights_mod_ok n D ls ws : (0 < n)%nat -> D <> 0%Z -> length ls = n -> weights_mod p D ls = Some ws ->
  like stands n ws (softmax n (fun i => ln 2 * (SoundZ.ient ls i / IZR D))).
Proof.
  intros Hn HD L. unfold weights_mod. destruct (shifts D ls) as [ss|] eqn:Hs; [|discriminate]. set (small := map (power_of_2 p) ss). set (ps := map (Z.shiftl 1) ss).
  destruct (inverse p _) as [i|] eqn:Hi; [|discriminate]. intros [= <-].
  assert (Hnn := shifts_nonneg _ _ _ Hs). apply weights_shifts in Hs. fold ps in Hs.
  destruct (SoundZ.weights_ok _ _ _ HD Hs) as (Lp & c & Hc & Hw). change (@length ZNum.t ls = n) in L. rewrite L in Lp, Hw.
  destruct (SoundZ.softmax_ok n (fun i => ln 2 * (SoundZ.ient ls i / IZR D)) (SoundZ.ient ps) c Hn Hc Hw) as [Hpos Hsm].
  assert (Ls : length ss = n) by (unfold ps in Lp; now rewrite map_length in Lp).
  assert (R : like stands n small (SoundZ.ient ps)).
  { apply (nth_like _ _ _ _ 0%Z); [unfold small; now rewrite map_length|]. intros k Hk. rewrite ient_nth. unfold small, ps.
    rewrite (nth_indep _ 0%Z (power_of_2 p 0)), (nth_indep (map (Z.shiftl 1) ss) 0%Z (Z.shiftl 1 0)) by (rewrite map_length; lia). rewrite !map_nth.
    set (s := nth k ss 0%Z). assert (s0 : (0 <= s)%Z) by (rewrite Forall_forall in Hnn; apply Hnn, nth_In; lia).
    rewrite Z.shiftl_mul_pow2, Z.mul_1_l by exact s0. eapply residue_mod; [apply residue_Z|]. now apply power_of_2_ok. }
  assert (S : res (sum n (SoundZ.ient ps)) (CheckZ.total small mod p)).
  { apply residue_reduce; [exact Hp|]. apply like_vec in R. revert R. clear. generalize (SoundZ.ient ps). generalize small. induction n as [|n IH]; intros l f H.
    - inversion H. apply (residue_Z p 0).
    - rewrite vec_S in H. inversion H as [|a ? l' ? Ha Hl]; subst. change (CheckZ.total (a :: l')) with (a + CheckZ.total l')%Z. cbn [sum].
      apply residue_add; [exact Ha|]. now apply (IH l' (fun i => f (S i))). }
  apply (inverse_ok p Hp) in Hi. destruct (residue_unit p Hp _ _ _ S Hi) as [S0 RI].
  eapply like_map; [exact R|]. intros a k Hk Ha. rewrite Hsm by exact Hk. now apply residue_product.
Qed.
End Residues.
