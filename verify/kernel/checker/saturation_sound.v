(* check_saturation = true implies saturates. *)
From Coq Require Import ZArith Reals List Bool Lia Lra PeanoNat.
Require Import Spec numbers interpolation interpolation_sound.
Import ListNotations.

Lemma in_some (groups : list (list nat)) t : (exists g, In t (nth g groups [])) <-> exists G, In G groups /\ In t G.
Proof.
  split; intros [g H].
  - exists (nth g groups []). split; [|exact H]. destruct (Nat.lt_ge_cases g (length groups)) as [L|L]; [now apply nth_In|].
    rewrite nth_overflow in H by exact L. destruct H.
  - destruct H as [HG Ht]. apply In_nth_error in HG as [i Hi]. exists i. now rewrite (nth_error_nth _ _ _ Hi).
Qed.

Module SaturationSound (N : NUM).
Import N.
Module Export Sound := Soundness N.
Import C.
Open Scope R_scope.

Lemma covers_ok T groups : covers T groups = true -> forall t, (t < T)%nat <-> exists g, In t (nth g groups []).
Proof.
  unfold covers. rewrite andb_true_iff, !forallb_forall. intros [H1 H2] t. rewrite in_some. split.
  - intros Ht. specialize (H2 t ltac:(apply in_seq; lia)). apply existsb_exists in H2 as (G & HG & Hx).
    apply existsb_exists in Hx as (t' & Ht' & E). apply Nat.eqb_eq in E. subst t'. now exists G.
  - intros (G & HG & Hx). specialize (H1 G HG). rewrite forallb_forall in H1. now apply Nat.ltb_lt, H1.
Qed.

Lemma max_in a r : In (fold_right max2 a r) (a :: r).
Proof.
  induction r as [|b r IH]; cbn [fold_right]; [now left|]. unfold max2 at 1. destruct (leb b _); [|right; now left].
  destruct IH as [<-|IH]; [now left|]. right. now right.
Qed.
Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  revert f g; induction n as [|n IH]; intros f g H; [apply Rle_refl|]. cbn. apply Rplus_le_compat; [apply H; lia|].
  apply IH. intros i Hi. apply H. lia.
Qed.

(* One head on one example: with c = 2^(most - top), the exponentials times c are at most the q_i, and for the largest
   logit both are 2^most. *)
Lemma saturated_ok D most bits ls : toZ D <> 0%Z -> (0 <= toZ most)%Z -> (0 <= toZ bits)%Z ->
  saturated D most bits ls = true ->
  exists i, (i < length ls)%nat /\ 1 - softmax (length ls) (fun i => ln 2 * (ient ls i / rz D)) i < / IZR (2 ^ toZ bits).
Proof.
  unfold saturated. intros HD Hmost Hbits. destruct ls as [|l0 r]; [discriminate|].
  set (top := fold_right max2 _ _). assert (Htop : In top (map (fun l => div l D) (l0 :: r))) by apply max_in.
  clearbody top. set (ls := l0 :: r) in *. destruct (mapM (capped D most top) ls) as [qs|] eqn:Hq; [|discriminate].
  cbv zeta. intros H. apply leb_ok in H. rewrite add_ok, mul_ok, sub_ok, !pow2_ok in H; rewrite ?zero_ok in *; try lia.
  assert (Lq := mapM_length _ _ _ Hq).
  set (n := length ls) in *. set (f := fun i => ln 2 * (ient ls i / rz D)).
  set (c := exp (ln 2 * IZR (toZ most - toZ top))).
  (* each logit is an integer k, at most top, and its q is at least exp (ln 2 * k) * c *)
  assert (each : forall i l, nth_error ls i = Some l -> exists k q, nth_error qs i = Some q /\ k = toZ (div l D) /\
      f i = ln 2 * IZR k /\ exp (f i) * c <= rz q /\ (k = toZ top -> rz q = IZR (2 ^ toZ most) /\ exp (f i) * c = IZR (2 ^ toZ most))).
  { intros i l Hl. destruct (mapM_nth _ _ _ _ _ Hq Hl) as (q & Hqi & Hc). unfold capped in Hc.
    destruct (eqb _ l) eqn:E1; [|discriminate]. destruct (leb (div l D) top) eqn:E2; [|discriminate]. cbn [andb] in Hc.
    apply eqb_ok in E1. rewrite mul_ok in E1. apply leb_ok in E2. exists (toZ (div l D)), q.
    assert (Fi : f i = ln 2 * IZR (toZ (div l D))).
    { unfold f, ient. rewrite Hl. f_equal. rewrite <- E1, mult_IZR. field. now apply nz. }
    assert (Ex : exp (f i) * c = exp (ln 2 * IZR (toZ most - (toZ top - toZ (div l D))))).
    { rewrite Fi. unfold c. rewrite <- exp_plus. f_equal. rewrite <- Rmult_plus_distr_l, <- plus_IZR. do 2 f_equal. lia. }
    split; [exact Hqi|]. split; [reflexivity|]. split; [exact Fi|]. rewrite Ex.
    destruct (leb (sub top (div l D)) most) eqn:E3.
    - apply leb_ok in E3. rewrite sub_ok in E3. inversion Hc; subst q. rewrite pow2_ok; rewrite !sub_ok; [|lia].
      rewrite <- pow2_exp by lia. split; [apply Rle_refl|]. intros ->. now rewrite Z.sub_diag, Z.sub_0_r.
    - destruct (leb most _) eqn:E4; [|discriminate]. apply leb_ok in E4. rewrite sub_ok in E4. inversion Hc; subst q.
      rewrite pow2_ok, zero_ok by (rewrite zero_ok; lia). change (2 ^ 0)%Z with 1%Z.
      assert (L2 : 0 < ln 2) by (rewrite <- ln_1; apply ln_increasing; lra).
      split.
      + rewrite <- exp_0. destruct (Z.eq_dec (toZ most - (toZ top - toZ (div l D))) 0) as [->|Hne]; [rewrite Rmult_0_r; apply Rle_refl|].
        left. apply exp_increasing. rewrite <- (Rmult_0_r (ln 2)). apply Rmult_lt_compat_l; [exact L2|]. apply IZR_lt. lia.
      + intros Hk. replace (toZ most - (toZ top - toZ (div l D)))%Z with 0%Z by lia. replace (toZ most) with 0%Z by lia.
        rewrite Rmult_0_r, exp_0. now split. }
  apply in_map_iff in Htop as (l & Hl & Hin). apply In_nth_error in Hin as [i Hi].
  assert (Hlt : (i < n)%nat) by (apply nth_error_Some; congruence).
  exists i. split; [exact Hlt|]. destruct (each i l Hi) as (k & q & Hqi & -> & _ & _ & Heq).
  destruct (Heq (f_equal toZ Hl)) as [_ Htopval].
  assert (Hc : 0 < c) by apply exp_pos.
  assert (HS : 0 < sum n (fun j => exp (f j))) by (apply sum_pos; [lia|intros; apply exp_pos]).
  assert (HQ : sum n (fun j => exp (f j)) * c <= rz (total qs)).
  { rewrite (total_ok n) by exact Lq. rewrite <- sum_mul. apply sum_le. intros j Hj.
    destruct (nth_error ls j) as [l'|] eqn:Hl'; [|apply nth_error_None in Hl'; fold n in Hl'; lia].
    destruct (each j l' Hl') as (k' & q' & Hq' & _ & _ & Hle & _). unfold ient. now rewrite Hq'. }
  unfold softmax. fold f. set (S := sum n (fun j => exp (f j))) in *. set (a := exp (f i)) in *.
  set (B := IZR (2 ^ toZ bits)). set (M := IZR (2 ^ toZ most)) in *.
  assert (HB : 1 <= B) by (apply IZR_le; assert (P := Z.pow_pos_nonneg 2 (toZ bits)); lia).
  assert (HM : (rz (total qs) - M) * B < rz (total qs)).
  { unfold B, M. rewrite <- minus_IZR, <- mult_IZR. apply IZR_lt. change (2 ^ 0)%Z with 1%Z in H. lia. }
  apply Rmult_lt_reg_r with (S * B); [apply Rmult_lt_0_compat; lra|].
  replace ((1 - a / S) * (S * B)) with ((S - a) * B) by (field; lra).
  replace (/ B * (S * B)) with S by (field; lra).
  apply Rmult_lt_reg_r with c; [exact Hc|]. replace ((S - a) * B * c) with (S * c * B - a * c * B) by ring.
  rewrite Htopval. assert (S * c * (B - 1) <= rz (total qs) * (B - 1)) by (apply Rmult_le_compat_r; lra). lra.
Qed.

Lemma steered_ok test own groups hs : steered test own groups hs = true -> (length groups <= length hs)%nat /\
  forall g h t y, In t (nth g groups []) -> (h < length groups)%nat -> (g < h)%nat \/ (g = h /\ own = true) ->
    nth_error hs h = Some y -> exists ys, test t ys = true /\ In y ys.
Proof.
  revert hs; induction groups as [|group later IH]; intros hs; cbn [steered].
  - intros _. split; [cbn; lia|]. intros g h t y _ Hh. cbn in Hh. lia.
  - destruct hs as [|y0 ys]; [discriminate|]. rewrite andb_true_iff, forallb_forall. intros [H1 H2].
    destruct (IH ys H2) as [L IHs]. split; [cbn; lia|]. intros g h t y Ht Hh Hgh Hy.
    destruct g as [|g]; cbn [nth] in Ht.
    + exists (if own then y0 :: firstn (length later) ys else firstn (length later) ys). split; [now apply H1|].
      destruct h as [|h].
      * destruct Hgh as [Hgh|[_ ->]]; [lia|]. cbn in Hy. inversion Hy. now left.
      * cbn in Hy, Hh. assert (In y (firstn (length later) ys)).
        { apply nth_error_In with h. rewrite <- Hy. revert Hh. clear. generalize (length later). intros k. revert h ys.
          induction k as [|k IH]; intros h ys Hh; [lia|]. destruct ys as [|z ys]; [now destruct h|]. destruct h; cbn; [reflexivity|]. apply IH. lia. }
        destruct own; [now right|assumption].
    + destruct h as [|h]; [lia|]. cbn in Hy, Hh. apply (IHs g h t y Ht); [lia|destruct Hgh; [left|right]; intuition lia|exact Hy].
Qed.

Theorem check_saturation_sound u s c : check_saturation u s c = true -> saturates toZ s c.
Proof.
  unfold check_saturation. rewrite !andb_true_iff. intros [[[[[[[H1 H2] H3] H4] H8] Hb] Hcov] H].
  apply nonzero_ok in H1, H2, H3, H4. apply Nat.eqb_eq in H8. apply Z.ltb_lt in Hb.
  destruct (mapM _ (heads c)) as [hs|] eqn:Hh; [|discriminate]. cbv zeta in H.
  set (D := mul (mul (uE _ u) (uq _ u)) (mul (uk _ u) (uw _ u))) in H.
  assert (HDr : rz D = rz (uE _ u) * rz (uq _ u) * (rz (uk _ u) * rz (uw _ u)))
    by (unfold D; now rewrite !mul_ok, !mult_IZR).
  assert (HD : toZ D <> 0%Z) by (unfold D; rewrite !mul_ok; lia).
  assert (Lh := mapM_length _ _ _ Hh). destruct (steered_ok _ _ _ _ H) as [HL Hs].
  split; [exact Hb|]. split; [rewrite <- H8, <- Lh; exact HL|]. split; [now apply covers_ok|].
  intros g h t Ht Hhg Hgh.
  destruct (nth_error (heads c) h) as [x|] eqn:Hx; [|apply nth_error_None in Hx; lia].
  destruct (mapM_nth _ _ _ _ _ Hh Hx) as (y & Hy & Hc).
  destruct (Hs g h t y Ht Hhg Hgh Hy) as (ys & Htest & Hin). unfold example_saturated in Htest.
  destruct (clear_context _ (uE _ u) (ctx c t)) as [E|] eqn:HE; [|discriminate].
  destruct (clearv _ (uq _ u) _) as [e|] eqn:He; [|discriminate].
  rewrite forallb_forall in Htest. specialize (Htest y Hin).
  apply clear_key_query_ok in Hc; try assumption. destruct Hc as (((K1 & K2) & (Q1 & Q2)) & K3 & Q3).
  apply clear_context_ok in HE; [|assumption]. apply clearv_ok in He; [|assumption].
  destruct HE as (Hn & E1 & E2 & E3), He as (e1 & e2).
  apply saturated_ok in Htest; rewrite ?of_Z_ok; try lia; try assumption. rewrite of_Z_ok in Htest.
  destruct (logits_ok (tokens c t) (dimd c) (dimk c) (cK y) (cQ y) E e) as [Ll _]; try assumption. rewrite Ll in Htest.
  destruct Htest as (i & Hi & Hsat). exists i. split; [exact Hi|].
  rewrite (softmax_ext _ _ (fun i => ln 2 * (ient (logits (dimk c) (cK y) (cQ y) E e) i / rz D))); [exact Hsat| |exact Hi].
  intros j _. apply nz in H1, H2, H3, H4. apply (logit_computed u c D t h x y E e); assumption.
Qed.
End SaturationSound.
