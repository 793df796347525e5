(* check = true implies interpolates: each function of interpolation.v computes what Spec.v defines. *)
From Coq Require Import ZArith Reals List Bool Lia Lra PeanoNat.
Require Import Spec numbers interpolation.
Import ListNotations.

Module Soundness (N : NUM).
Import N.
Module C := Checker N.
Import C.
Open Scope R_scope.
Notation rz x := (IZR (toZ x)).

(* Sums of real numbers. *)
Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof.
  revert f g; induction n as [|n IH]; intros f g H; [reflexivity|]. cbn.
  rewrite (H O) by lia. f_equal. apply IH. intros i Hi. apply H. lia.
Qed.
Lemma sum_0 n : sum n (fun _ => 0) = 0.
Proof. induction n as [|n IH]; cbn; [reflexivity|rewrite IH; ring]. Qed.
Lemma sum_mul n f c : sum n (fun i => f i * c) = sum n f * c.
Proof. revert f; induction n as [|n IH]; intros f; cbn; [ring|rewrite IH; ring]. Qed.
Lemma sum_mull n f c : sum n (fun i => c * f i) = c * sum n f.
Proof. revert f; induction n as [|n IH]; intros f; cbn; [ring|rewrite IH; ring]. Qed.
Lemma sum_add n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. revert f g; induction n as [|n IH]; intros f g; cbn; [ring|rewrite IH; ring]. Qed.
Lemma sum_swap n m f : sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)).
Proof.
  revert f; induction n as [|n IH]; intros f; cbn; [now rewrite sum_0|].
  rewrite IH, <- sum_add. now apply sum_ext.
Qed.
Lemma sum_pos n f : (0 < n)%nat -> (forall i, (i < n)%nat -> 0 < f i) -> 0 < sum n f.
Proof.
  revert f; induction n as [|n IH]; intros f Hn H; [lia|]. cbn.
  destruct n as [|n]; [cbn; specialize (H O ltac:(lia)); lra|].
  specialize (IH (fun i => f (S i)) ltac:(lia) (fun i Hi => H (S i) ltac:(lia))).
  specialize (H O ltac:(lia)). lra.
Qed.

(* Entries of integer lists, as reals: 0 beyond the end. *)
Definition ient (v : list t) (j : nat) : R := match nth_error v j with Some x => rz x | None => 0 end.
Definition ient2 (M : list (list t)) i j : R := ient (nth i M []) j.
Definition rect (w : nat) (M : list (list t)) : Prop := Forall (fun r => length r = w) M.

Lemma rect_nth w M i : rect w M -> (i < length M)%nat -> length (nth i M []) = w.
Proof. intros H Hi. unfold rect in H. rewrite Forall_forall in H. apply H. now apply nth_In. Qed.

Lemma mapM_length {A B} (f : A -> option B) l l' : mapM f l = Some l' -> length l' = length l.
Proof.
  revert l'; induction l as [|x r IH]; cbn; intros l' H; [now inversion H|].
  destruct (f x); [|discriminate]. destruct (mapM f r); [|discriminate].
  inversion H; subst. cbn. f_equal. now apply IH.
Qed.
Lemma mapM_nth {A B} (f : A -> option B) l l' i x : mapM f l = Some l' -> nth_error l i = Some x ->
  exists y, nth_error l' i = Some y /\ f x = Some y.
Proof.
  revert l' i; induction l as [|a r IH]; cbn; intros l' i H Hx; [destruct i; discriminate|].
  destruct (f a) as [b|] eqn:Hb; [|discriminate]. destruct (mapM f r) as [r'|]; [|discriminate].
  inversion H; subst. destruct i; cbn in *.
  - inversion Hx; subst. eauto.
  - eapply IH; eauto.
Qed.

Lemma nz (x : t) : toZ x <> 0%Z -> rz x <> 0.
Proof. intros H E. apply H. now apply eq_IZR. Qed.

(* Cleared entries are those of the certificate, times the common denominator u. *)
Lemma clear_ok u x y : toZ u <> 0%Z -> clear u x = Some y -> real toZ x = rz y / rz u.
Proof.
  unfold clear, real. intros Hu. destruct (eqb _ _) eqn:E; [|discriminate]. intros [= <-].
  apply eqb_ok in E. rewrite mul_ok in E. rewrite mul_ok.
  assert (toZ (denom x) <> 0%Z /\ toZ (div u (denom x)) <> 0%Z) as [Hd Hk] by lia.
  rewrite <- E, !mult_IZR. field. split; now apply nz.
Qed.

Lemma clearv_ok w u v v' : toZ u <> 0%Z -> clearv w u v = Some v' ->
  length v' = w /\ forall j, ventry toZ v j = ient v' j / rz u.
Proof.
  unfold clearv. intros Hu. destruct (Nat.eqb_spec (length v) w) as [<-|]; [|discriminate].
  intros H. split; [eapply mapM_length; eauto|]. intros j. unfold ventry, ient.
  destruct (nth_error v j) as [x|] eqn:Hx.
  - destruct (mapM_nth _ _ _ _ _ H Hx) as (y & -> & Hy). now apply clear_ok.
  - apply nth_error_None in Hx. rewrite <- (mapM_length _ _ _ H) in Hx.
    apply nth_error_None in Hx. rewrite Hx. unfold Rdiv. ring.
Qed.

Lemma clearm_ok h w u M M' : toZ u <> 0%Z -> clearm h w u M = Some M' ->
  length M' = h /\ rect w M' /\ forall i j, mentry toZ M i j = ient2 M' i j / rz u.
Proof.
  unfold clearm. intros Hu. destruct (Nat.eqb_spec (length M) h) as [<-|]; [|discriminate].
  intros H. assert (HL := mapM_length _ _ _ H). split; [exact HL|]. split.
  - apply Forall_forall. intros r Hr. apply In_nth_error in Hr as [i Hi].
    destruct (nth_error M i) as [v|] eqn:Hv.
    + destruct (mapM_nth _ _ _ _ _ H Hv) as (y & Hy & Hc). rewrite Hy in Hi. inversion Hi; subst.
      now apply clearv_ok in Hc.
    + apply nth_error_None in Hv. rewrite <- HL in Hv. apply nth_error_None in Hv. congruence.
  - intros i j. unfold mentry, ient2. destruct (nth_error M i) as [v|] eqn:Hv.
    + destruct (mapM_nth _ _ _ _ _ H Hv) as (y & Hy & Hc).
      rewrite (nth_error_nth _ _ _ Hv), (nth_error_nth _ _ _ Hy). now apply clearv_ok in Hc.
    + apply nth_error_None in Hv. rewrite (nth_overflow M) by exact Hv. rewrite <- HL in Hv.
      rewrite (nth_overflow M') by exact Hv. unfold ventry, ient. destruct j; cbn; unfold Rdiv; ring.
Qed.
Lemma clear_context_ok w u M M' : toZ u <> 0%Z -> clear_context w u M = Some M' ->
  (0 < length M)%nat /\ length M' = length M /\ rect w M' /\ forall i j, mentry toZ M i j = ient2 M' i j / rz u.
Proof.
  intros Hu H. destruct M as [|v M]; [discriminate|]. split; [cbn; lia|]. exact (clearm_ok _ _ _ _ _ Hu H).
Qed.

(* Scalar products, combinations of rows, sums. *)
Lemma dot_ok n x y : length x = n -> length y = n -> rz (dot x y) = sum n (fun i => ient x i * ient y i).
Proof.
  revert x y; induction n as [|n IH]; intros [|a x] [|b y]; cbn [length dot sum]; try discriminate; intros Hx Hy.
  - now rewrite zero_ok.
  - rewrite add_ok, mul_ok, plus_IZR, mult_IZR, (IH x y) by lia. reflexivity.
Qed.

Lemma repeat_ok w j : ient (repeat zero w) j = 0.
Proof.
  unfold ient. destruct (nth_error _ j) eqn:E; [|reflexivity]. apply nth_error_In, repeat_spec in E.
  subst. now rewrite zero_ok.
Qed.

Lemma axpy_length c x y : length x = length y -> length (axpy c x y) = length y.
Proof. revert y; induction x as [|a x IH]; intros [|b y]; cbn; intros H; try lia. rewrite IH; lia. Qed.
Lemma axpy_ok c x y j : length x = length y -> ient (axpy c x y) j = rz c * ient x j + ient y j.
Proof.
  revert y j; induction x as [|a x IH]; intros [|b y] j; cbn [length axpy]; intros H; try lia.
  - unfold ient. destruct j; cbn; ring.
  - destruct j; [unfold ient; cbn; now rewrite add_ok, mul_ok, plus_IZR, mult_IZR|].
    apply (IH y j). lia.
Qed.

Lemma lincomb_ok w n c rows : length c = n -> length rows = n -> rect w rows ->
  length (lincomb w c rows) = w /\
  forall j, ient (lincomb w c rows) j = sum n (fun i => ient c i * ient2 rows i j).
Proof.
  revert c rows; induction n as [|n IH]; intros [|a c] [|r rows]; cbn [length lincomb]; try discriminate; intros Hc Hr Hw.
  - split; [apply repeat_length|]. intros j. apply repeat_ok.
  - inversion Hw as [|? ? Hr1 Hw']; subst. destruct (IH c rows) as [HL HE]; [lia|lia|exact Hw'|].
    destruct (eqb a zero) eqn:Ea.
    + split; [exact HL|]. intros j. rewrite HE. cbn [sum]. unfold ient2 at 2. cbn [nth].
      replace (ient (a :: c) 0) with 0; [|unfold ient; cbn; apply eqb_ok in Ea; now rewrite Ea, zero_ok].
      rewrite Rmult_0_l, Rplus_0_l. reflexivity.
    + split; [rewrite axpy_length; lia|]. intros j. rewrite axpy_ok by lia. cbn [sum]. rewrite HE. reflexivity.
Qed.

Lemma total_ok n x : length x = n -> rz (total x) = sum n (ient x).
Proof.
  revert x; induction n as [|n IH]; intros [|a x]; cbn [length total sum]; try discriminate; intros H.
  - now rewrite zero_ok.
  - rewrite add_ok, plus_IZR, (IH x) by lia. reflexivity.
Qed.

Lemma map_dot_ok n M v i : length v = n -> rect n M ->
  ient (map (fun r => dot r v) M) i = sum n (fun j => ient2 M i j * ient v j).
Proof.
  intros Hv HM. unfold ient at 1. destruct (nth_error M i) as [r|] eqn:Hr.
  - rewrite (map_nth_error _ _ _ Hr), (dot_ok n); [|unfold rect in HM; rewrite Forall_forall in HM; apply HM; eapply nth_error_In; eauto|exact Hv].
    unfold ient2. now rewrite (nth_error_nth _ _ _ Hr).
  - assert (H := Hr). apply nth_error_None in H. rewrite <- (map_length (fun r => dot r v)) in H.
    apply nth_error_None in H. rewrite H. apply nth_error_None in Hr. unfold ient2.
    rewrite (nth_overflow M) by exact Hr. rewrite <- (sum_0 n) at 1. apply sum_ext. intros j _.
    unfold ient at 1. destruct j; cbn; ring.
Qed.

(* The integers of logits are E K Q^T e. *)
Lemma logits_ok n d dk K Q E e : length e = d -> rect dk Q -> length Q = d -> rect dk K -> length K = d ->
  rect d E -> length E = n ->
  length (logits dk K Q E e) = n /\
  forall i, ient (logits dk K Q E e) i =
    sum d (fun a => ient2 E i a * sum dk (fun k => ient2 K a k * sum d (fun b => ient e b * ient2 Q b k))).
Proof.
  intros He HQ HQl HK HKl HE HEl. unfold logits.
  destruct (lincomb_ok dk d e Q He HQl HQ) as [HL HI].
  split; [now rewrite map_length|]. intros i.
  rewrite (map_dot_ok d) by (rewrite ?map_length; assumption).
  apply sum_ext. intros a _. f_equal. rewrite (map_dot_ok dk) by assumption.
  apply sum_ext. intros k _. f_equal. apply HI.
Qed.

(* 2^k, k an integer, is the true exponential at ln 2 * k *)
Lemma exp_ln2 k : exp (ln 2 * IZR k) = powerRZ 2 k.
Proof. rewrite powerRZ_Rpower by lra. unfold Rpower. f_equal. ring. Qed.
Lemma pow2_exp k : (0 <= k)%Z -> IZR (2 ^ k) = exp (ln 2 * IZR k).
Proof.
  intros H. rewrite exp_ln2. rewrite <- (Z2Nat.id k H). rewrite <- pow_IZR, <- pow_powerRZ. reflexivity.
Qed.

(* The weights are the exponentials of the logits, up to one factor c > 0 ... *)
Lemma weights_ok D ls ps : toZ D <> 0%Z -> weights D ls = Some ps ->
  length ps = length ls /\
  exists c, 0 < c /\ forall i, (i < length ls)%nat -> ient ps i = exp (ln 2 * (ient ls i / rz D)) * c.
Proof.
  unfold weights. set (low := match ls with [] => _ | _ => _ end). clearbody low. intros HD H.
  split; [eapply mapM_length; eauto|]. exists (exp (- (ln 2 * rz low))). split; [apply exp_pos|].
  intros i Hi. unfold ient. destruct (nth_error ls i) as [l|] eqn:Hl; [|apply nth_error_None in Hl; lia].
  destruct (mapM_nth _ _ _ _ _ H Hl) as (y & -> & Hw). unfold weight in Hw.
  destruct (eqb _ l) eqn:E1; [|discriminate]. destruct (leb _ _) eqn:E2; [|discriminate].
  inversion Hw as [Hy]. apply eqb_ok in E1. apply leb_ok in E2. rewrite zero_ok in E2. rewrite mul_ok in E1.
  rewrite pow2_ok, pow2_exp, <- exp_plus by exact E2. f_equal. rewrite <- E1, mult_IZR, sub_ok, minus_IZR.
  field. now apply nz.
Qed.

(* ... which softmax does not see. *)
Lemma softmax_ok n l ps c : (0 < n)%nat -> 0 < c -> (forall i, (i < n)%nat -> ps i = exp (l i) * c) ->
  0 < sum n ps /\ forall i, (i < n)%nat -> softmax n l i = ps i / sum n ps.
Proof.
  intros Hn Hc H.
  assert (HS : 0 < sum n (fun j => exp (l j))) by (apply sum_pos; [exact Hn|intros; apply exp_pos]).
  assert (HP : sum n ps = sum n (fun j => exp (l j)) * c).
  { rewrite <- sum_mul. apply sum_ext. exact H. }
  split; [rewrite HP; now apply Rmult_lt_0_compat|].
  intros i Hi. unfold softmax. rewrite HP, (H i Hi). field. split; lra.
Qed.

Lemma softmax_ext n l l' i : (forall i, (i < n)%nat -> l i = l' i) -> (i < n)%nat -> softmax n l i = softmax n l' i.
Proof. intros H Hi. unfold softmax. rewrite (H i Hi). f_equal. apply sum_ext. intros j Hj. now rewrite H. Qed.

Definition good (d dk m : nat) (y : chead) : Prop :=
  (length (cK y) = d /\ rect dk (cK y)) /\ (length (cQ y) = d /\ rect dk (cQ y)) /\ (length (cR y) = d /\ rect m (cR y)).

Section Outputs.
Variables (n d dk m : nat) (D uEv : t) (E : list (list t)) (e : list t).
Hypotheses (n_pos : (0 < n)%nat) (D_nz : toZ D <> 0%Z) (uE_nz : toZ uEv <> 0%Z).
Hypotheses (E_len : length E = n) (E_rect : rect d E) (e_len : length e = d).

(* The feature of a cleared head, and its part of the outputs. *)
Definition feat (y : chead) (a : nat) : R :=
  sum n (fun i => softmax n (fun i => ln 2 * (ient (logits dk (cK y) (cQ y) E e) i / rz D)) i * (ient2 E i a / rz uEv)).
Definition headval (j : nat) (y : chead) : R := sum d (fun a => feat y a * ient2 (cR y) a j).

(* The outputs: a sum over the heads, as numerators ns over one denominator. *)
Lemma outputs_ok hs ns den : Forall (good d dk m) hs -> outputs D uEv d dk m E e hs = Some (ns, den) ->
  length ns = m /\ toZ den <> 0%Z /\
  forall j, ient ns j / rz den = sum (length hs) (fun h => match nth_error hs h with Some y => headval j y | None => 0 end).
Proof.
  revert ns den; induction hs as [|x r IH]; cbn [outputs length sum nth_error]; intros ns den Hg H.
  - inversion H; subst. split; [apply repeat_length|].
    assert (P : toZ (pow2 zero) = 1%Z) by (rewrite pow2_ok; rewrite zero_ok; [reflexivity|lia]).
    split; [rewrite P; lia|]. intros j. rewrite repeat_ok. unfold Rdiv. ring.
  - inversion Hg as [|? ? Hx Hg']; subst. destruct Hx as ((HK1 & HK2) & (HQ1 & HQ2) & (HR1 & HR2)).
    destruct (weights _ _) as [ps|] eqn:Hps; [|discriminate].
    destruct (outputs D uEv d dk m E e r) as [[ns' den']|] eqn:Ho; [|discriminate].
    inversion H; subst ns den; clear H. destruct (IH ns' den' Hg' eq_refl) as (HL & Hden & HI).
    destruct (logits_ok n d dk (cK x) (cQ x) E e) as [Ll _]; try assumption.
    destruct (weights_ok _ _ _ D_nz Hps) as (Lp & c & Hc & Hw). rewrite Ll in Lp, Hw.
    set (l := fun i => ln 2 * (ient (logits dk (cK x) (cQ x) E e) i / rz D)).
    destruct (softmax_ok n l (ient ps) c n_pos Hc Hw) as [Hpos Hsm].
    rewrite <- (total_ok n) in Hpos, Hsm by exact Lp.
    destruct (lincomb_ok d n ps E Lp E_len E_rect) as [Lz Hz].
    destruct (lincomb_ok m d (lincomb d ps E) (cR x) Lz HR1 HR2) as [Ly Hy].
    assert (Ht : rz (total ps) <> 0) by lra.
    assert (Hs : toZ (mul uEv (total ps)) <> 0%Z).
    { rewrite mul_ok. intros Z0. apply Z.mul_eq_0 in Z0 as [Z0|Z0]; [now apply uE_nz|]. apply Ht. now rewrite Z0. }
    assert (L1 : length (axpy den' (lincomb m (lincomb d ps E) (cR x)) (repeat zero m)) = m)
      by (rewrite axpy_length; rewrite ?repeat_length; lia).
    split; [rewrite axpy_length; lia|].
    split; [rewrite mul_ok; lia|]. intros j.
    rewrite !axpy_ok by (rewrite ?L1, ?repeat_length; lia). rewrite repeat_ok, <- HI.
    assert (HV : headval j x = ient (lincomb m (lincomb d ps E) (cR x)) j / (rz uEv * rz (total ps))).
    { unfold headval. rewrite Hy. unfold Rdiv. rewrite <- sum_mul. apply sum_ext. intros a _.
      rewrite Hz. unfold feat. fold l. rewrite <- !sum_mul. apply sum_ext. intros i Hi.
      rewrite Hsm by exact Hi. field. split; first [exact Ht | now apply nz]. }
    rewrite HV, !mul_ok, !mult_IZR. apply nz in uE_nz, Hden. field. repeat split; assumption.
Qed.
End Outputs.

Lemma ient2_map f (M : list (list t)) a j : (a < length M)%nat -> ient2 (map f M) a j = ient (f (nth a M [])) j.
Proof.
  intros H. unfold ient2. f_equal. rewrite (nth_indep _ [] (f [])) by now rewrite map_length. apply map_nth.
Qed.

Lemma rect_firstn w k M : rect w M -> rect w (firstn k M).
Proof.
  unfold rect. rewrite !Forall_forall. intros H r Hr. apply H. rewrite <- (firstn_skipn k M).
  apply in_or_app. now left.
Qed.
Lemma rect_skipn w k M : rect w M -> rect w (skipn k M).
Proof.
  unfold rect. rewrite !Forall_forall. intros H r Hr. apply H. rewrite <- (firstn_skipn k M).
  apply in_or_app. now right.
Qed.

Section Heads.
Variables (u : units t) (d dk dv m : nat).
Hypotheses (uk_nz : toZ (uk _ u) <> 0%Z) (uw_nz : toZ (uw _ u) <> 0%Z) (uv_nz : toZ (uv _ u) <> 0%Z).

Definition fits (O : list (list t)) (x : head t) (y : chead) : Prop :=
  (forall a k, mentry toZ (key x) a k = ient2 (cK y) a k / rz (uk _ u)) /\
  (forall a k, mentry toZ (query x) a k = ient2 (cQ y) a k / rz (uw _ u)) /\
  (forall a j, (a < d)%nat -> sum dv (fun b => mentry toZ (value x) a b * ient2 O b j) = ient2 (cR y) a j / rz (uv _ u)).

Lemma clear_key_query_ok x y : clear_key_query u d dk x = Some y ->
  ((length (cK y) = d /\ rect dk (cK y)) /\ (length (cQ y) = d /\ rect dk (cQ y))) /\
  (forall a k, mentry toZ (key x) a k = ient2 (cK y) a k / rz (uk _ u)) /\
  (forall a k, mentry toZ (query x) a k = ient2 (cQ y) a k / rz (uw _ u)).
Proof.
  unfold clear_key_query. destruct (clearm d dk _ (key x)) as [K|] eqn:HK; [|discriminate].
  destruct (clearm d dk _ (query x)) as [Q|] eqn:HQ; [|discriminate]. intros [= <-].
  apply clearm_ok in HK, HQ; try assumption. destruct HK as (? & ? & ?), HQ as (? & ? & ?). repeat split; assumption.
Qed.

(* A cleared head is that of the certificate; its rows of the output are multiplied into its values. *)
Lemma clear_head_ok O x y : length O = dv -> rect m O -> clear_head u d dk dv m O x = Some y ->
  good d dk m y /\ fits O x y.
Proof.
  intros HOl HO. unfold clear_head.
  destruct (clearm d dk _ (key x)) as [K|] eqn:HK; [|discriminate].
  destruct (clearm d dk _ (query x)) as [Q|] eqn:HQ; [|discriminate].
  destruct (clearm d dv _ (value x)) as [V|] eqn:HV; [|discriminate].
  intros [= <-]. apply clearm_ok in HK, HQ, HV; try assumption.
  destruct HK as (? & ? & HK), HQ as (? & ? & HQ), HV as (HV1 & HV2 & HV).
  assert (row : forall r, length r = dv -> length (lincomb m r O) = m /\
     forall j, ient (lincomb m r O) j = sum dv (fun b => ient r b * ient2 O b j)).
  { intros r Hr. now apply lincomb_ok. }
  split; [split; [|split]; split; cbn; try assumption|split; [|split]; cbn; try assumption].
  - now rewrite map_length.
  - unfold rect in *. rewrite Forall_forall in *. intros r Hr. apply in_map_iff in Hr as (r' & <- & Hr').
    apply row. now apply HV2.
  - intros a j Ha. rewrite ient2_map by lia. destruct (row (nth a V [])) as [_ ->]; [apply rect_nth; [assumption|lia]|].
    unfold Rdiv. rewrite <- sum_mul. apply sum_ext. intros b _. rewrite HV. unfold ient2, Rdiv. ring.
Qed.

Lemma clear_heads_ok l O hs : length O = (length l * dv)%nat -> rect m O -> clear_heads u d dk dv m O l = Some hs ->
  length hs = length l /\ Forall (good d dk m) hs /\
  forall h x, nth_error l h = Some x -> exists y O', nth_error hs h = Some y /\ fits O' x y /\
    forall b j, (b < dv)%nat -> ient2 O' b j = ient2 O (h * dv + b) j.
Proof.
  revert O hs; induction l as [|x r IH]; cbn [clear_heads length]; intros O hs HL HO H.
  - inversion H; subst. repeat split; [constructor|]. intros [|h] x; discriminate.
  - destruct (clear_head _ _ _ _ _ _ x) as [y|] eqn:Hy; [|discriminate].
    destruct (clear_heads _ _ _ _ _ _ r) as [r'|] eqn:Hr; [|discriminate]. inversion H; subst; clear H.
    apply clear_head_ok in Hy; [|rewrite firstn_length, HL; cbn; lia|now apply rect_firstn]. destruct Hy as [Hg Hf].
    assert (HS : length (skipn dv O) = (length r * dv)%nat) by (rewrite skipn_length, HL; cbn; lia).
    destruct (IH _ _ HS (rect_skipn _ dv _ HO) Hr) as (IL & IG & IF).
    split; [cbn; lia|]. split; [now constructor|].
    assert (nthO : forall k i, nth i (skipn k O) [] = nth (k + i) O []).
    { intros k. clear. revert O. induction k as [|k IHk]; intros O i; [reflexivity|].
      destruct O as [|a O]; cbn; [destruct i; reflexivity|apply IHk]. }
    intros [|h] x' Hx; cbn in Hx.
    + inversion Hx; subst. exists y, (firstn dv O). split; [reflexivity|]. split; [assumption|].
      intros b j Hb. unfold ient2. f_equal. cbn.
      rewrite <- (firstn_skipn dv O) at 2. rewrite app_nth1; [reflexivity|]. rewrite firstn_length. lia.
    + destruct (IF h x' Hx) as (y' & O' & Hn & Hf' & Hb). exists y', O'. split; [exact Hn|]. split; [exact Hf'|].
      intros b j Hbd. rewrite Hb by exact Hbd. unfold ient2. rewrite nthO. do 2 f_equal. lia.
Qed.
End Heads.

(* x / g = y / f, entry by entry. *)
Lemma equal2_ok f g x y j : equal2 f g x y = true -> ient x j * rz f = ient y j * rz g.
Proof.
  revert y j; induction x as [|a x IH]; intros [|b y] j; cbn [equal2]; intros H; try discriminate.
  - unfold ient. destruct j; cbn; ring.
  - apply andb_prop in H as [H1 H2]. destruct j; [|apply (IH y j H2)].
    unfold ient; cbn. apply eqb_ok in H1. rewrite !mul_ok in H1. now rewrite <- !mult_IZR, H1.
Qed.

Lemma nonzero_ok x : nonzero x = true -> toZ x <> 0%Z.
Proof.
  unfold nonzero. destruct (eqb x zero) eqn:E; [discriminate|]. intros _. apply neqb_ok in E. now rewrite zero_ok in E.
Qed.

(* The logits and the features of the layer are those that the checker computes with. *)
Section OfHead.
Variables (u : units t) (c : cert t) (D : t) (tt h : nat) (x : head t) (y0 : chead) (E : list (list t)) (e : list t).
Hypotheses (uE_nz : rz (uE _ u) <> 0) (uq_nz : rz (uq _ u) <> 0) (uk_nz : rz (uk _ u) <> 0) (uw_nz : rz (uw _ u) <> 0).
Hypotheses (E_len : length E = tokens c tt) (E_rect : rect (dimd c) E)
  (E_ok : forall i j, mentry toZ (ctx c tt) i j = ient2 E i j / rz (uE _ u)).
Hypotheses (e_len : length e = dimd c) (e_ok : forall j, ventry toZ (nth tt (queries c) []) j = ient e j / rz (uq _ u)).
Hypothesis x_head : nth_error (heads c) h = Some x.
Hypotheses (K_len : length (cK y0) = dimd c) (K_rect : rect (dimk c) (cK y0)).
Hypotheses (Q_len : length (cQ y0) = dimd c) (Q_rect : rect (dimk c) (cQ y0)).
Hypotheses (K_ok : forall a k, mentry toZ (key x) a k = ient2 (cK y0) a k / rz (uk _ u))
  (Q_ok : forall a k, mentry toZ (query x) a k = ient2 (cQ y0) a k / rz (uw _ u)).
Hypothesis D_ok : rz D = rz (uE _ u) * rz (uq _ u) * (rz (uk _ u) * rz (uw _ u)).

Lemma logit_computed i :
  logit (dimd c) (dimk c) (of_head toZ key c) (of_head toZ query c) (mentry toZ (ctx c tt)) (mentry toZ (queries c) tt) h i
  = ln 2 * (ient (logits (dimk c) (cK y0) (cQ y0) E e) i / rz D).
Proof.
  unfold logit. destruct (logits_ok (tokens c tt) (dimd c) (dimk c) (cK y0) (cQ y0) E e) as [_ ->]; try assumption.
  unfold Rdiv at 1. rewrite <- sum_mul, <- sum_mull. apply sum_ext. intros a _.
  rewrite E_ok. unfold of_head. rewrite x_head.
  replace (sum (dimk c) (fun k => mentry toZ (key x) a k * sum (dimd c) (fun b => ln 2 * mentry toZ (query x) b k * mentry toZ (queries c) tt b)))
    with (sum (dimk c) (fun k => ient2 (cK y0) a k * sum (dimd c) (fun b => ient e b * ient2 (cQ y0) b k)) * (ln 2 / (rz (uk _ u) * rz (uw _ u) * rz (uq _ u)))).
  - rewrite D_ok. field. repeat split; assumption.
  - rewrite <- sum_mul. apply sum_ext. intros k _. rewrite K_ok.
    replace (sum (dimd c) (fun b => ln 2 * mentry toZ (query x) b k * mentry toZ (queries c) tt b))
      with (sum (dimd c) (fun b => ient e b * ient2 (cQ y0) b k) * (ln 2 / (rz (uw _ u) * rz (uq _ u)))).
    + field. repeat split; assumption.
    + rewrite <- sum_mul. apply sum_ext. intros b _. rewrite Q_ok. unfold mentry. rewrite e_ok. field. split; assumption.
Qed.
Lemma feature_computed a :
  feature (tokens c tt) (dimd c) (dimk c) (of_head toZ key c) (of_head toZ query c) (mentry toZ (ctx c tt)) (mentry toZ (queries c) tt) h a
  = feat (tokens c tt) (dimk c) D (uE _ u) E e y0 a.
Proof.
  unfold feature, feat. apply sum_ext. intros i Hi. rewrite E_ok. f_equal. apply softmax_ext; [|exact Hi].
  intros j _. apply logit_computed.
Qed.
End OfHead.

Theorem check_sound u c : check u c = true -> interpolates toZ c.
Proof.
  unfold check. rewrite !andb_true_iff. intros [[[[[[[[H1 H2] H3] H4] H5] H6] H7] H8] H].
  apply nonzero_ok in H1, H2, H3, H4, H5, H6, H7. apply Nat.eqb_eq in H8.
  destruct (clearm _ _ (uo _ u) (output c)) as [O|] eqn:HO; [|discriminate].
  apply clearm_ok in HO; [|assumption]. destruct HO as (HO1 & HO2 & HO3).
  destruct (clear_heads _ _ _ _ _ _ _) as [hs|] eqn:Hh; [|discriminate].
  apply clear_heads_ok in Hh; try assumption; [|now rewrite HO1, H8].
  destruct Hh as (Hl & Hg & Hf).
  set (D := mul (mul (uE _ u) (uq _ u)) (mul (uk _ u) (uw _ u))) in H.
  assert (HDr : rz D = rz (uE _ u) * rz (uq _ u) * (rz (uk _ u) * rz (uw _ u)))
    by (unfold D; now rewrite !mul_ok, !mult_IZR).
  assert (HD : toZ D <> 0%Z) by (unfold D; rewrite !mul_ok; lia).
  intros t j Ht Hj. rewrite forallb_forall in H. specialize (H t). rewrite in_seq in H. specialize (H ltac:(lia)).
  unfold check_example in H.
  destruct (clear_context _ (uE _ u) (ctx c t)) as [E|] eqn:HE; [|discriminate].
  destruct (clearv _ (uq _ u) _) as [e|] eqn:He; [|discriminate].
  destruct (clearv _ (uy _ u) _) as [y|] eqn:Hy; [|discriminate].
  apply clear_context_ok in HE; [|assumption]. apply clearv_ok in He, Hy; try assumption.
  destruct HE as (Hn & HE1 & HE2 & HE3), He as (He1 & He2), Hy as (Hy1 & Hy2).
  destruct (outputs _ _ _ _ _ _ _ _) as [[ns den]|] eqn:Ho; [|discriminate].
  destruct (outputs_ok (tokens c t) (dimd c) (dimk c) (dimm c) D (uE _ u) E e Hn HD H1 HE1 HE2 He1 hs ns den Hg Ho)
    as (HL & Hden & HV).
  apply (equal2_ok _ _ _ _ j) in H. rewrite !mul_ok, !mult_IZR in H.
  unfold mentry at 4. rewrite Hy2.
  apply nz in H1, H2, H3, H4, H5, H6, H7, Hden. assert (HDn := nz _ HD).
  transitivity (ient ns j / rz den / (rz (uv _ u) * rz (uo _ u))).
  2:{ apply Rmult_eq_reg_r with (rz (uy _ u) * rz den * (rz (uv _ u) * rz (uo _ u)));
      [|repeat apply Rmult_integral_contrapositive_currified; assumption].
      transitivity (ient ns j * rz (uy _ u)); [field; repeat split; assumption|]. rewrite H. field. assumption. }
  rewrite HV. unfold layer. rewrite Hl, H8. unfold Rdiv at 1. rewrite <- sum_mul. apply sum_ext. intros h Hh.
  destruct (nth_error (heads c) h) as [x|] eqn:Hx; [|apply nth_error_None in Hx; lia].
  destruct (Hf h x Hx) as (y0 & O' & Hy0 & (F1 & F2 & F3) & Hb). rewrite Hy0.
  assert (HG : good (dimd c) (dimk c) (dimm c) y0) by (rewrite Forall_forall in Hg; apply Hg; eapply nth_error_In; eauto).
  destruct HG as ((G1 & G2) & (G3 & G4) & _).
  unfold headval. rewrite <- sum_mul.
  (* exchange the two sums of the readout *)
  transitivity (sum (dimd c) (fun a => sum (dimv c) (fun b =>
     feature (tokens c t) (dimd c) (dimk c) (of_head toZ key c) (of_head toZ query c) (mentry toZ (ctx c t)) (mentry toZ (queries c) t) h a
     * (of_head toZ value c h a b * mentry toZ (output c) (h * dimv c + b) j)))).
  { rewrite sum_swap. apply sum_ext. intros b _. rewrite <- sum_mul. apply sum_ext. intros a _. ring. }
  apply sum_ext. intros a Ha. rewrite sum_mull.
  rewrite (feature_computed u c D t h x y0 E e) by assumption. rewrite Rmult_assoc. f_equal.
  transitivity (sum (dimv c) (fun b => mentry toZ (value x) a b * ient2 O' b j) * / rz (uo _ u)).
  { rewrite <- sum_mul. apply sum_ext. intros b Hbb. unfold of_head. rewrite Hx, HO3, Hb by exact Hbb. unfold Rdiv. ring. }
  rewrite F3 by exact Ha. field. split; assumption.
Qed.
End Soundness.
