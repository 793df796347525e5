(* check_full_rank = true implies full_rank. *)
From Coq Require Import ZArith Zpow_facts Reals List Bool Lia Lra.
Require Import Spec numbers interpolation interpolation_sound integers residues full_rank.
Import ListNotations.
Import SoundZ.
Open Scope R_scope.

Section Features.
Variable p : Z.
Hypothesis p_gt2 : (2 < p)%Z.
Hypothesis fermat : power p 2 (p - 1) = 1%Z.
Let p_gt1 : (1 < p)%Z. Proof. lia. Qed.

Lemma power_of_2_ok s : (0 <= s)%Z -> (p | 2 ^ s - power_of_2 p s)%Z.
Proof.
  intros Hs. unfold power_of_2. apply Z.divide_trans with (m := p); [apply Z.divide_refl|].
  assert (Hr := Z.mod_pos_bound s (p - 1) ltac:(lia)).
  replace (2 ^ s - power p 2 (s mod (p - 1)))%Z with
    ((2 ^ s - 2 ^ (s mod (p - 1))) + (2 ^ (s mod (p - 1)) - power p 2 (s mod (p - 1))))%Z by ring.
  apply Z.divide_add_r; [|apply power_ok; lia].
  assert (F := power_ok p p_gt1 2 (p - 1) ltac:(lia)). rewrite fermat in F.
  assert (Hq : (0 <= s / (p - 1))%Z) by (apply Z.div_pos; lia).
  rewrite (Z.div_mod s (p - 1)) at 1 by lia. rewrite Z.pow_add_r, Z.pow_mul_r by (try apply Z.mul_nonneg_nonneg; lia).
  replace ((2 ^ (p - 1)) ^ (s / (p - 1)) * 2 ^ (s mod (p - 1)) - 2 ^ (s mod (p - 1)))%Z with
    (((2 ^ (p - 1)) ^ (s / (p - 1)) - 1) * 2 ^ (s mod (p - 1)))%Z by ring.
  apply Z.divide_mul_l. apply Z.mod_divide; [lia|]. rewrite Zminus_mod, Zpower_mod by lia.
  replace ((2 ^ (p - 1)) mod p)%Z with 1%Z.
  - rewrite Z.pow_1_l by exact Hq. rewrite Z.sub_diag. apply Z.mod_0_l. lia.
  - destruct F as [k Hk]. replace (2 ^ (p - 1))%Z with (1 + k * p)%Z by lia. rewrite Z.mod_add, Z.mod_1_l; lia.
Qed.

Fixpoint sumZ (n : nat) (f : nat -> Z) : Z := match n with O => 0%Z | S k => (f O + sumZ k (fun i => f (S i)))%Z end.
Lemma IZR_sumZ n f : IZR (sumZ n f) = sum n (fun i => IZR (f i)).
Proof. revert f; induction n as [|n IH]; intros f; cbn; [reflexivity|]. now rewrite plus_IZR, IH. Qed.
Lemma residue_sum n f g : (forall i, (i < n)%nat -> residue p (f i) (g i)) -> residue p (sum n f) (sumZ n g).
Proof.
  revert f g; induction n as [|n IH]; intros f g H; cbn; [apply residue_Z|].
  apply residue_add; [apply H; lia|]. apply IH. intros i Hi. apply H. lia.
Qed.
Lemma ient_nth v j : ient v j = IZR (nth j v 0%Z).
Proof.
  unfold ient. destruct (nth_error v j) eqn:E; [now rewrite (nth_error_nth _ _ _ E)|].
  apply nth_error_None in E. now rewrite nth_overflow by exact E.
Qed.

Lemma weights_shifts D ls ss : shifts D ls = Some ss -> C.weights D ls = Some (map (Z.shiftl 1) ss).
Proof.
  unfold shifts. set (low := match ls with [] => _ | _ => _ end). cbv zeta. intros H.
  change (C.mapM (C.weight D low) ls = Some (map (Z.shiftl 1) ss)).
  clearbody low. revert ss H. induction ls as [|l ls IH]; intros ss H.
  - inversion H. reflexivity.
  - cbn in H. cbn. unfold C.weight at 1. unfold shift at 1 in H.
    change (ZNum.div l D) with (l / D)%Z. change (ZNum.mul (l / D) D) with (l / D * D)%Z.
    change (ZNum.eqb (l / D * D) l) with (l / D * D =? l)%Z. destruct (l / D * D =? l)%Z; [|discriminate].
    change (ZNum.leb ZNum.zero (ZNum.sub (l / D) low)) with (0 <=? l / D - low)%Z. destruct (0 <=? l / D - low)%Z; [|discriminate].
    destruct (CheckZ.mapM (shift D low) ls) as [r|]; [|discriminate]. inversion H; subst.
    rewrite (IH r eq_refl). reflexivity.
Qed.
Lemma shifts_nonneg D ls ss : shifts D ls = Some ss -> Forall (fun s => (0 <= s)%Z) ss.
Proof.
  unfold shifts. set (low := match ls with [] => _ | _ => _ end). clearbody low.
  revert ss. induction ls as [|l ls IH]; cbn; intros ss H; [inversion H; constructor|].
  destruct (shift D low l) as [s|] eqn:Hs; [|discriminate].
  destruct (CheckZ.mapM (shift D low) ls) as [r|]; [|discriminate]. inversion H; subst. constructor; [|now apply IH].
  unfold shift in Hs. destruct (_ =? _)%Z; [|discriminate]. destruct (Z.leb_spec 0 (l / D - low)); [|discriminate].
  now inversion Hs.
Qed.

Variables (n d dk : nat) (D uEv : Z) (E : list (list Z)) (e : list Z).
Hypotheses (n_pos : (0 < n)%nat) (D_nz : D <> 0%Z) (uE_nz : uEv <> 0%Z).
Hypotheses (E_len : length E = n) (E_rect : rect d E) (e_len : length e = d).

Lemma head_row_ok y r : length (C.cK y) = d -> rect dk (C.cK y) -> length (C.cQ y) = d -> rect dk (C.cQ y) ->
  head_row p D uEv d dk E e y = Some r ->
  length r = d /\ forall a, (a < d)%nat -> residue p (feat n dk D uEv E e y a) (nth a r 0%Z).
Proof.
  intros HK1 HK2 HQ1 HQ2. unfold head_row.
  change (CheckZ.logits dk (CheckZ.cK y) (CheckZ.cQ y) E e) with (C.logits dk (C.cK y) (C.cQ y) E e).
  destruct (shifts D _) as [ss|] eqn:Hs; [|discriminate].
  set (ws := map (power_of_2 p) ss). set (ps := map (Z.shiftl 1) ss).
  destruct (inverse p _) as [i|] eqn:Hi; [|discriminate]. intros [= <-].
  assert (Hnn := shifts_nonneg _ _ _ Hs). apply weights_shifts in Hs. fold ps in Hs.
  destruct (logits_ok n d dk (C.cK y) (C.cQ y) E e) as [Ll _]; try assumption.
  destruct (weights_ok _ _ _ D_nz Hs) as (Lp & c & Hc & Hw). rewrite Ll in Lp, Hw.
  set (l := fun i => ln 2 * (ient (C.logits dk (C.cK y) (C.cQ y) E e) i / IZR D)).
  destruct (softmax_ok n l (ient ps) c n_pos Hc Hw) as [Hpos Hsm].
  assert (Ls : length ss = n) by (unfold ps in Lp; now rewrite map_length in Lp).
  assert (Lw : length ws = n) by (unfold ws; now rewrite map_length).
  assert (Rw : forall i, (i < n)%nat -> residue p (ient ps i) (nth i ws 0%Z)).
  { intros k Hk. rewrite ient_nth. unfold ps, ws.
    rewrite (nth_indep _ 0%Z (Z.shiftl 1 0)), (nth_indep (map (power_of_2 p) ss) 0%Z (power_of_2 p 0)) by (rewrite map_length; lia).
    rewrite !map_nth. set (s := nth k ss 0%Z).
    assert (s0 : (0 <= s)%Z) by (rewrite Forall_forall in Hnn; apply Hnn, nth_In; lia).
    rewrite Z.shiftl_mul_pow2, Z.mul_1_l by exact s0.
    eapply residue_mod; [apply residue_Z|]. now apply power_of_2_ok. }
  destruct (lincomb_ok d n ws E Lw E_len E_rect) as [Lz Hz].
  change (CheckZ.lincomb d ws E) with (C.lincomb d ws E). rewrite map_length. split; [exact Lz|]. intros a Ha.
  assert (Rz : residue p (sum n (fun i => ient ps i * ient2 E i a)) (nth a (C.lincomb d ws E) 0%Z)).
  { replace (nth a (C.lincomb d ws E) 0%Z) with (sumZ n (fun i => nth i ws 0 * nth a (nth i E []) 0)%Z).
    - apply residue_sum. intros k Hk. apply residue_mul; [now apply Rw|]. unfold ient2. rewrite ient_nth. apply residue_Z.
    - apply eq_IZR. rewrite IZR_sumZ, <- ient_nth, Hz. apply sum_ext. intros k _. rewrite mult_IZR.
      unfold ient2. now rewrite !ient_nth. }
  assert (Rs : residue p (IZR uEv * sum n (ient ps)) (uEv * CheckZ.total ws mod p)).
  { apply residue_reduce; [exact p_gt1|]. apply residue_mul; [apply residue_Z|].
    replace (CheckZ.total ws) with (sumZ n (fun i => nth i ws 0%Z)); [now apply residue_sum|].
    apply eq_IZR. rewrite IZR_sumZ. change (CheckZ.total ws) with (C.total ws).
    transitivity (sum n (ient ws)); [apply sum_ext; intros k _; now rewrite ient_nth|]. symmetry. now apply total_ok. }
  apply (inverse_ok p p_gt1) in Hi. destruct (residue_unit p p_gt1 _ _ _ Rs Hi) as [S0 RI].
  rewrite (nth_indep _ 0%Z ((fun z => (z * i) mod p) 0)%Z) by (rewrite map_length; eapply Nat.lt_le_trans; [exact Ha|]; apply Nat.eq_le_incl; symmetry; exact Lz).
  rewrite (map_nth (fun z => (z * i mod p)%Z)). apply residue_reduce; [exact p_gt1|].
  replace (feat n dk D uEv E e y a) with (sum n (fun i => ient ps i * ient2 E i a) * / (IZR uEv * sum n (ient ps))).
  - now apply residue_mul.
  - unfold feat. rewrite <- sum_mul. apply sum_ext. intros k Hk. fold l. rewrite Hsm by exact Hk.
    change (ZNum.toZ uEv) with uEv. field. split; first [intros Z0; apply uE_nz; now apply eq_IZR | apply Rgt_not_eq; exact Hpos].
Qed.
End Features.

(* Blocks of equal width, one after the other. *)
Lemma nth_concat (w : nat) (ls : list (list Z)) h a : (forall r, In r ls -> length r = w) -> (h < length ls)%nat -> (a < w)%nat ->
  nth (h * w + a) (concat ls) 0%Z = nth a (nth h ls []) 0%Z.
Proof.
  revert h; induction ls as [|r ls IH]; cbn [length concat]; intros h Hw Hh Ha; [lia|].
  assert (Hr : length r = w) by (apply Hw; now left). destruct h as [|h]; cbn [nth].
  - rewrite app_nth1 by (cbn; lia). reflexivity.
  - rewrite app_nth2 by (cbn; lia). rewrite Hr. replace (S h * w + a - w)%nat with (h * w + a)%nat by (cbn; lia).
    apply IH; [intros r' Hr'; apply Hw; now right|lia|exact Ha].
Qed.
Lemma length_concat (w : nat) (ls : list (list Z)) : (forall r, In r ls -> length r = w) -> length (concat ls) = (length ls * w)%nat.
Proof.
  induction ls as [|r ls IH]; cbn [length concat]; intros H; [reflexivity|].
  rewrite app_length, IH by (intros r' Hr'; apply H; now right). rewrite (H r) by now left. reflexivity.
Qed.

Lemma mapM_forall2 {A B} (f : A -> option B) l l' : CheckZ.mapM f l = Some l' -> Forall2 (fun x y => f x = Some y) l l'.
Proof.
  revert l'; induction l as [|x l IH]; cbn; intros l' H; [inversion H; constructor|].
  destruct (f x) eqn:E; [|discriminate]. destruct (CheckZ.mapM f l); [|discriminate]. inversion H; subst.
  constructor; auto.
Qed.
Lemma forall2_length {A B} (P : A -> B -> Prop) l l' : Forall2 P l l' -> length l = length l'.
Proof. induction 1; cbn; congruence. Qed.
Lemma forall2_impl {A B} (P Q : A -> B -> Prop) l l' : (forall x y, P x y -> Q x y) -> Forall2 P l l' -> Forall2 Q l l'.
Proof. intros PQ. induction 1; constructor; auto. Qed.
Lemma forall2_nth {A B} (P : A -> B -> Prop) l l' i v w :
  Forall2 P l l' -> nth_error l i = Some v -> nth_error l' i = Some w -> P v w.
Proof. intros HF. revert i. induction HF; intros [|i] E1 E2; cbn in *; try discriminate; [congruence|eauto]. Qed.
Lemma combination_sum (X : nat -> nat -> R) a k T j :
  combination (map a (seq k T)) (map X (seq k T)) j = sum T (fun t => a (k + t)%nat * X (k + t)%nat j).
Proof.
  revert k; induction T as [|T IH]; intros k; cbn; [reflexivity|]. rewrite Nat.add_0_r, IH. f_equal.
  apply sum_ext. intros t _. now replace (S k + t)%nat with (k + S t)%nat by lia.
Qed.

Theorem check_full_rank_sound u p c : check_full_rank u p c = true -> full_rank (fun x : Z => x) c.
Proof.
  unfold check_full_rank, modulus. rewrite !andb_true_iff.
  intros [[[[[[[[Hp Hf] Hm] H1] H2] H3] H4] H8] H].
  apply Z.ltb_lt in Hp. apply Z.eqb_eq in Hf. apply Nat.leb_le in Hm. apply Nat.eqb_eq in H8.
  apply nonzero_ok in H1, H2, H3, H4. split; [exact Hm|]. intros a Ha.
  destruct (CheckZ.mapM (CheckZ.clear_key_query u (dimd c) (dimk c)) (heads c)) as [hs|] eqn:Hh; [|discriminate].
  set (D := ((uE Z u * uq Z u) * (uk Z u * uw Z u))%Z) in H.
  destruct (CheckZ.mapM (example_row p u D c hs) (seq 0 (dimT c))) as [rows|] eqn:Hr; [|discriminate].
  assert (HDr : IZR D = IZR (uE Z u) * IZR (uq Z u) * (IZR (uk Z u) * IZR (uw Z u))) by (unfold D; now rewrite !mult_IZR).
  assert (HD : D <> 0%Z) by (unfold D; unfold ZNum.toZ in *; lia).
  set (feat_of t h j := feature (tokens c t) (dimd c) (dimk c) (of_head (fun x : Z => x) key c) (of_head (fun x : Z => x) query c)
        (mentry (fun x : Z => x) (ctx c t)) (mentry (fun x : Z => x) (queries c) t) h j).
  set (X t k := feat_of t (k / dimd c)%nat (k mod dimd c)%nat).
  apply mapM_forall2 in Hh, Hr. assert (Lh : length (heads c) = length hs) by exact (forall2_length _ _ _ Hh).
  assert (Hhs : Forall2 (fun x y =>
      ((length (C.cK y) = dimd c /\ rect (dimk c) (C.cK y)) /\ (length (C.cQ y) = dimd c /\ rect (dimk c) (C.cQ y))) /\
      (forall a k, mentry ZNum.toZ (key x) a k = ient2 (C.cK y) a k / IZR (uk _ u)) /\
      (forall a k, mentry ZNum.toZ (query x) a k = ient2 (C.cQ y) a k / IZR (uw _ u))) (heads c) hs).
  { eapply forall2_impl; [|exact Hh]. intros x y. now apply clear_key_query_ok. }
  assert (Fits : Forall2 (residues.fits p (dimH c * dimd c)) (map X (seq 0 (dimT c))) rows).
  { clear H Ha. clear Hh. assert (Hall : forall t, In t (seq 0 (dimT c)) -> True) by auto.
    induction Hr as [|t r ts rows Ht Hr IH]; [constructor|]. cbn [map]. constructor; [|apply IH; auto].
    unfold example_row in Ht.
    destruct (CheckZ.clear_context _ _ (ctx c t)) as [E|] eqn:HE; [|discriminate].
    destruct (CheckZ.clearv _ _ _) as [e|] eqn:He; [|discriminate].
    destruct (CheckZ.mapM _ hs) as [bs|] eqn:Hb; [|discriminate]. cbn in Ht. inversion Ht; subst r; clear Ht.
    apply clear_context_ok in HE; [|exact H1]. apply clearv_ok in He; [|exact H2].
    destruct HE as (Hn & HE1 & HE2 & HE3), He as (He1 & He2). apply mapM_forall2 in Hb.
    assert (Lb := forall2_length _ _ _ Hb).
    assert (Blocks : forall h, (h < dimH c)%nat -> length (nth h bs []) = dimd c /\
       forall j, (j < dimd c)%nat -> residue p (feat_of t h j) (nth j (nth h bs []) 0%Z)).
    { intros h Hhd. destruct (nth_error (heads c) h) as [x|] eqn:Hx; [|apply nth_error_None in Hx; lia].
      destruct (nth_error hs h) as [y|] eqn:Hy; [|apply nth_error_None in Hy; lia].
      destruct (nth_error bs h) as [b|] eqn:Hbh; [|apply nth_error_None in Hbh; lia].
      rewrite (nth_error_nth _ _ _ Hbh).
      destruct (forall2_nth _ _ _ _ _ _ Hhs Hx Hy) as (((G1 & G2) & (G3 & G4)) & F1 & F2).
      assert (Hrow := forall2_nth _ _ _ _ _ _ Hb Hy Hbh). cbn beta in Hrow.
      destruct (head_row_ok p Hp Hf (tokens c t) (dimd c) (dimk c) D (uE Z u) E e Hn HD H1 HE1 HE2 He1 y b G1 G2 G3 G4 Hrow) as [Lbd HR].
      split; [exact Lbd|]. intros j Hj. unfold feat_of.
      rewrite (feature_computed u c D t h x y E e) by (try assumption; intros Z0; apply eq_IZR in Z0; contradiction).
      now apply HR. }
    assert (Lens : forall b, In b bs -> length b = dimd c).
    { intros b Hib. apply In_nth_error in Hib as [h Hhb].
      assert (Hlt : (h < length bs)%nat) by (apply nth_error_Some; congruence).
      destruct (Blocks h ltac:(lia)) as [L _]. now rewrite (nth_error_nth _ _ _ Hhb) in L. }
    split; [rewrite (length_concat (dimd c)) by exact Lens; f_equal; lia|].
    intros k Hk. assert (d0 : dimd c <> 0%nat) by lia.
    assert (Hkh : (k / dimd c < dimH c)%nat) by (apply Nat.div_lt_upper_bound; lia).
    assert (Hka := Nat.mod_upper_bound k (dimd c) d0).
    unfold X. destruct (Blocks _ Hkh) as [_ HR]. specialize (HR _ Hka).
    rewrite <- (nth_concat (dimd c) bs) in HR by (try exact Lens; lia).
    replace (k / dimd c * dimd c + k mod dimd c)%nat with k in HR; [exact HR|].
    rewrite Nat.mul_comm. apply Nat.div_mod. exact d0. }
  assert (All := independent_ok p ltac:(lia) (dimH c * dimd c) (dimT c) rows _ (map a (seq 0 (dimT c))) H Fits).
  rewrite !map_length in All. specialize (All eq_refl).
  intros t Ht. rewrite Forall_forall in All. apply All; [|apply in_map, in_seq; lia].
  intros k Hk. rewrite combination_sum. cbn [Nat.add].
  assert (d0 : dimd c <> 0%nat) by lia. unfold X. apply Ha.
  - apply Nat.div_lt_upper_bound; lia.
  - now apply Nat.mod_upper_bound.
Qed.
