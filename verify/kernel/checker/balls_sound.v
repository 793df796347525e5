(* Every ball holds the number that it stands for: sums, products, exp, ln 2, softmax. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Psatz.
Require Import Blocks balls.
Import ListNotations.
Open Scope R_scope.

(* Rounding. *)
Lemma floor_ok a u : (0 < u)%Z -> IZR (a / u) <= IZR a / IZR u < IZR (a / u) + 1.
Proof.
  intros H. assert (U : 0 < IZR u) by now apply IZR_lt.
  pose proof (Z.mul_div_le a u H) as L. pose proof (Z.mul_succ_div_gt a u H) as G. apply IZR_le in L. apply IZR_lt in G.
  rewrite mult_IZR in L. rewrite mult_IZR, succ_IZR in G. split; apply Rmult_le_reg_r with (IZR u) || apply Rmult_lt_reg_r with (IZR u);
    try exact U; unfold Rdiv; rewrite ?Rmult_assoc, Rinv_l by lra; lra.
Qed.
Lemma up_ok a u : (0 < u)%Z -> IZR a / IZR u <= IZR (up a u) < IZR a / IZR u + 1.
Proof.
  intros H. unfold up. rewrite opp_IZR. pose proof (floor_ok (- a) u H) as F. rewrite opp_IZR in F.
  unfold Rdiv in *. lra.
Qed.
Lemma power_above k : (0 <= k)%Z -> (0 < 2 ^ k)%Z.
Proof. intros H. now apply Z.pow_pos_nonneg. Qed.
Lemma shifted_ok a k : (0 <= k)%Z -> IZR (Z.shiftr a k) <= IZR a / IZR (2 ^ k) < IZR (Z.shiftr a k) + 1.
Proof. intros H. rewrite Z.shiftr_div_pow2 by exact H. apply floor_ok. now apply power_above. Qed.
Lemma up_shift_ok a k : (0 <= k)%Z -> IZR a / IZR (2 ^ k) <= IZR (up_shift a k).
Proof.
  intros H. unfold up_shift. rewrite Z.shiftr_div_pow2 by exact H. apply up_ok. now apply power_above.
Qed.
Lemma left_ok a k : (0 <= k)%Z -> IZR (Z.shiftl a k) = IZR a * IZR (2 ^ k).
Proof. intros H. now rewrite Z.shiftl_mul_pow2, mult_IZR by exact H. Qed.
Lemma unit_ok k : (0 <= k)%Z -> IZR (Z.shiftl 1 k) = IZR (2 ^ k).
Proof. intros H. rewrite left_ok by exact H. apply Rmult_1_l. Qed.
Lemma div_le a b c : 0 < c -> a <= b * c -> a / c <= b.
Proof. intros H L. apply Rmult_le_reg_r with c; [exact H|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. Qed.
Lemma le_div a b c : 0 < c -> a * c <= b -> a <= b / c.
Proof. intros H L. apply Rmult_le_reg_r with c; [exact H|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. Qed.
Lemma Rabs_between x a : Rabs x <= a -> - a <= x <= a.
Proof. unfold Rabs. destruct (Rcase_abs x); lra. Qed.
Lemma IZR_abs z : IZR (Z.abs z) = Rabs (IZR z).
Proof. apply abs_IZR. Qed.

(* The exponential between its partial sums. *)
Definition term (y : R) (i : nat) : R := / INR (fact i) * y ^ i.
Definition partial (y : R) (n : nat) : R := sum_f_R0 (term y) n.
Lemma partials_converge y : Un_cv (partial y) (exp y).
Proof. unfold exp. destruct (exist_exp y) as [l H]. exact H. Qed.
Lemma term_step y n : term y (S n) = term y n * y / INR (S n).
Proof.
  unfold term. rewrite fact_simpl, mult_INR. cbn [pow]. field. split; [apply INR_fact_neq_0|]. apply not_0_INR. lia.
Qed.
Lemma term_above y n : 0 <= y -> 0 <= term y n.
Proof.
  intros H. apply Rmult_le_pos; [left; apply Rinv_0_lt_compat, INR_fact_lt_0|now apply pow_le].
Qed.
Lemma partial_below y n : 0 <= y -> partial y n <= exp y.
Proof. intros H. apply sum_incr; [apply partials_converge|]. intros k. now apply term_above. Qed.
Lemma term_halves y n j : 0 <= y <= 1 -> (0 < n)%nat -> term y (n + j) <= term y n * (/ 2) ^ j.
Proof.
  intros H Hn. induction j as [|j IH]; [rewrite Nat.add_0_r; cbn; lra|]. rewrite Nat.add_succ_r, term_step. cbn [pow].
  pose proof (term_above y (n + j) (proj1 H)) as A.
  assert (Q : y / INR (S (n + j)) <= / 2).
  { apply Rmult_le_reg_r with (INR (S (n + j))); [apply lt_0_INR; lia|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by (apply not_0_INR; lia).
    assert (2 <= INR (S (n + j))) by (change 2 with (INR 2); apply le_INR; lia). lra. }
  apply Rle_trans with (term y (n + j) * / 2).
  - unfold Rdiv in *. rewrite Rmult_assoc. now apply Rmult_le_compat_l.
  - apply Rmult_le_compat_r with (r := / 2) in IH; lra.
Qed.
Lemma partial_above y n : 0 <= y <= 1 -> (0 < n)%nat -> exp y <= partial y n + term y n.
Proof.
  intros H Hn.
  assert (B : forall j, partial y (n + j) <= partial y n + term y n * (1 - (/ 2) ^ j)).
  { induction j as [|j IH]; [rewrite Nat.add_0_r; cbn; lra|]. rewrite Nat.add_succ_r. unfold partial in *. rewrite tech5.
    rewrite <- Nat.add_succ_r. pose proof (term_halves y n (S j) H Hn). cbn [pow] in *. lra. }
  assert (M : forall k, partial y k <= partial y n + term y n).
  { intros k. pose proof (term_above y n (proj1 H)) as A. assert (P : forall j, 0 <= (/ 2) ^ j) by (intros; apply pow_le; lra).
    destruct (Nat.le_ge_cases n k) as [L|L].
    - replace k with (n + (k - n))%nat by lia. pose proof (B (k - n)%nat). pose proof (P (k - n)%nat).
      pose proof (Rmult_le_pos _ _ A H1). lra.
    - replace n with (k + (n - k))%nat by lia. enough (partial y k <= partial y (k + (n - k))) by (pose proof (term_above y (k + (n - k)) (proj1 H)); lra).
      induction (n - k)%nat as [|j IH]; [rewrite Nat.add_0_r; lra|]. rewrite Nat.add_succ_r. unfold partial in *. rewrite tech5.
      pose proof (term_above y (S (k + j)) (proj1 H)). lra. }
  apply Rle_cv_lim with (partial y) (fun _ => partial y n + term y n); [exact M|apply partials_converge|].
  intros e He. exists O. intros. now rewrite R_dist_eq.
Qed.

Lemma series_ok fuel W Y k t sum K total : (0 <= W)%Z -> (0 <= Y)%Z -> IZR Y / IZR (2 ^ W) <= 1 -> (0 <= k)%Z -> (0 <= t)%Z ->
  let y := IZR Y / IZR (2 ^ W) in let s := IZR (2 ^ W) in let n := Z.to_nat k in
  IZR t <= s * term y n <= IZR t + (if (k =? 0)%Z then 0 else 2) -> IZR sum <= s * partial y n <= IZR sum + 2 * IZR k -> s <= IZR sum ->
  series fuel W Y k t sum = Some (K, total) -> IZR total <= s * exp y <= IZR total + 2 * IZR K + 2 /\ s <= IZR total /\ (0 <= K)%Z.
Proof.
  intros HW HY Hy. cbv zeta. set (y := IZR Y / IZR (2 ^ W)) in *. set (s := IZR (2 ^ W)).
  assert (S0 : 0 < s) by (apply IZR_lt; now apply power_above).
  assert (Y0 : 0 <= y) by (apply Rmult_le_pos; [now apply IZR_le|left; now apply Rinv_0_lt_compat]).
  revert k t sum. induction fuel as [|fuel IH]; intros k t sum Hk Ht Hterm Hsum Hlow; cbn [series];
    destruct (Z.eqb_spec t 0) as [->|N]; try discriminate.
  1,2: intros [= <- <-]; pose proof (partial_below y (Z.to_nat k) Y0) as B;
    (destruct (Z.eqb_spec k 0) as [->|K0];
      [exfalso; cbn in Hterm; unfold term in Hterm; cbn in Hterm; lra|]);
    assert (Hn : (0 < Z.to_nat k)%nat) by lia; pose proof (partial_above y (Z.to_nat k) (conj Y0 Hy) Hn) as A;
    apply Rmult_le_compat_l with (r := s) in A, B; try lra; repeat split; try lia; lra.
  set (t' := (Z.shiftr (t * Y) W / (k + 1))%Z).
  assert (T0 : (0 <= t')%Z) by (apply Z.div_pos; [apply Z.shiftr_nonneg; nia|lia]).
  assert (N' : Z.to_nat (k + 1) = S (Z.to_nat k)) by lia.
  assert (T : IZR t' <= s * term y (S (Z.to_nat k)) <= IZR t' + 2).
  { assert (KR : INR (S (Z.to_nat k)) = IZR (k + 1)) by (rewrite INR_IZR_INZ; f_equal; lia).
    assert (U : (0 < 2 ^ W * (k + 1))%Z) by (pose proof (power_above W HW); nia).
    pose proof (floor_ok (t * Y) _ U) as F. rewrite !mult_IZR in F. rewrite term_step, KR. unfold t'.
    rewrite Z.shiftr_div_pow2, Z.div_div by (try apply Z.pow_nonzero; lia || (pose proof (power_above W HW); lia)).
    set (floor := IZR (t * Y / (2 ^ W * (k + 1)))) in *. clearbody floor.
    assert (K1 : 1 <= IZR (k + 1)) by (apply (IZR_le 1); lia).
    assert (E : IZR t * IZR Y / (IZR (2 ^ W) * IZR (k + 1)) = IZR t * (y / IZR (k + 1))) by (unfold y; fold s; field; lra).
    rewrite E in F. replace (s * (term y (Z.to_nat k) * y / IZR (k + 1))) with (s * term y (Z.to_nat k) * (y / IZR (k + 1))) by (unfold Rdiv; ring).
    assert (Q : 0 <= y / IZR (k + 1) /\ (y / IZR (k + 1)) * IZR (k + 1) <= 1).
    { split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    destruct (Z.eqb_spec k 0) as [->|K0]; [split; nra|].
    assert (2 <= IZR (k + 1)) by (apply (IZR_le 2); lia). split; nra. }
  clearbody t'. apply IH; try lia; rewrite ?N'.
  - destruct (Z.eqb_spec (k + 1) 0) as [|_]; [lia|exact T].
  - unfold partial in *. rewrite tech5, !plus_IZR. lra.
  - rewrite plus_IZR. apply IZR_le in T0. lra.
Qed.

Lemma squared_ok times W low high x : (0 <= W)%Z -> (0 <= low)%Z -> IZR low <= IZR (2 ^ W) * x <= IZR high ->
  let (low', high') := squared times W low high in (0 <= low')%Z /\ IZR low' <= IZR (2 ^ W) * x ^ (2 ^ times) <= IZR high'.
Proof.
  intros HW. pose proof (power_above W HW) as U. assert (S0 : 0 < IZR (2 ^ W)) by now apply IZR_lt.
  revert low high x. induction times as [|n IH]; intros low high x L B; cbn [squared]; [now rewrite pow_1|].
  replace (2 ^ S n)%nat with (2 * 2 ^ n)%nat by reflexivity. rewrite pow_mult. apply IH.
  - apply Z.shiftr_nonneg. nia.
  - apply IZR_le in L. pose proof (shifted_ok (low * low) W HW) as F. pose proof (up_shift_ok (high * high) W HW) as G.
    rewrite mult_IZR in F, G. set (s := IZR (2 ^ W)) in *.
    assert (E : s * x ^ 2 = (s * x) * (s * x) / s) by (field; lra). rewrite E.
    assert (I : 0 < / s) by now apply Rinv_0_lt_compat. unfold Rdiv in *.
    assert (IZR low * IZR low <= s * x * (s * x) <= IZR high * IZR high) by nra. nra.
Qed.

Lemma halvings_ok p count : (0 <= count)%Z -> (count < halvings p count)%Z /\ ((Zpos p + 1) * 2 ^ count <= 2 ^ halvings p count)%Z.
Proof.
  assert (Two : forall k, (0 <= k)%Z -> (2 ^ (k + 1) = 2 ^ k * 2)%Z) by (intros k Hk; now rewrite Z.pow_add_r).
  revert count. induction p as [p IH|p IH|]; intros count H; cbn [halvings].
  3:{ split; [lia|]. rewrite (Two count H). pose proof (power_above count H). lia. }
  all: destruct (IH (count + 1)%Z) as [L G]; [lia|]; split; [lia|]; rewrite (Two count H) in G; pose proof (power_above count H) as U;
    apply Z.le_trans with (2 := G); clear - U; revert U; generalize (2 ^ count)%Z; intros u U; nia.
Qed.
Lemma bit_length_ok x : (0 <= x)%Z -> (0 <= bit_length x)%Z /\ (x < 2 ^ bit_length x)%Z.
Proof.
  intros H. destruct x as [|p|p]; cbn [bit_length]; [cbn; lia| |lia]. destruct (halvings_ok p 0 ltac:(lia)) as [L G].
  change (2 ^ 0)%Z with 1%Z in G. lia.
Qed.
Lemma exp_times y n : exp y ^ n = exp (INR n * y).
Proof.
  induction n as [|n IH]; [cbn; now rewrite Rmult_0_l, exp_0|]. cbn [pow]. rewrite IH, <- exp_plus, S_INR. f_equal. ring.
Qed.
Lemma two_times n : INR (2 ^ n) = IZR (2 ^ Z.of_nat n).
Proof. rewrite INR_IZR_INZ. f_equal. rewrite Nat2Z.inj_pow. reflexivity. Qed.
Lemma exp_small n : (0 <= n)%Z -> IZR (2 ^ n) * exp (- IZR n) <= 1.
Proof.
  intros H. rewrite exp_Ropp. pose proof (exp_pos (IZR n)) as E. apply Rmult_le_reg_r with (exp (IZR n)); [exact E|].
  rewrite Rmult_assoc, Rinv_l, Rmult_1_l, Rmult_1_r by lra.
  replace n with (Z.of_nat (Z.to_nat n)) by lia. rewrite <- two_times, <- INR_IZR_INZ. generalize (Z.to_nat n). clear.
  induction n as [|n IH]; [cbn; rewrite exp_0; lra|]. rewrite S_INR, exp_plus. replace (2 ^ S n)%nat with (2 * 2 ^ n)%nat by reflexivity.
  rewrite mult_INR. replace (INR 2) with 2 by reflexivity. pose proof (exp_ineq1 1 ltac:(lra)). pose proof (pos_INR (2 ^ n)). pose proof (exp_pos (INR n)). nra.
Qed.

Section Balls.
Variable P : Z.
Hypothesis HP : (0 <= P)%Z.
Local Notation scale := (IZR (2 ^ P)).
Lemma scale_above : 0 < scale.
Proof. apply IZR_lt. now apply power_above. Qed.
Hint Resolve scale_above : core.

Theorem exp_bounds_ok X : (X <= 0)%Z -> let (low, high) := exp_bounds P X in
  (0 <= low)%Z /\ IZR low <= scale * exp (IZR X / scale) <= IZR high.
Proof.
  intros HX. pose proof scale_above as S0. unfold exp_bounds, unit_ball.
  assert (One : scale * exp (IZR X / scale) <= scale).
  { rewrite <- (Rmult_1_r scale) at 3. apply Rmult_le_compat_l; [lra|]. rewrite <- exp_0. 
    assert (IZR X / scale <= 0) by (apply Rmult_le_reg_r with scale; [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; apply IZR_le in HX; lra).
    destruct H as [H| ->]; [left; now apply exp_increasing|lra]. }
  assert (Pos : 0 <= scale * exp (IZR X / scale)) by (pose proof (exp_pos (IZR X / scale)); nra).
  rewrite Z.shiftl_mul_pow2, Z.mul_1_l by exact HP.
  destruct (Z.leb_spec (P * 2 ^ P) (- X)) as [L|L].
  { split; [lia|]. split; [lra|]. apply IZR_le in L. rewrite mult_IZR, opp_IZR in L. apply Rle_trans with (2 := exp_small P HP).
    apply Rmult_le_compat_l; [lra|].
    assert (IZR X / scale <= - IZR P) by (apply Rmult_le_reg_r with scale; [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra).
    destruct H as [H| ->]; [left; now apply exp_increasing|lra]. }
  assert (X0 : (0 <= Z.shiftr (- X) P)%Z) by (apply Z.shiftr_nonneg; lia).
  destruct (bit_length_ok _ X0) as [B0 B]. set (s := bit_length (Z.shiftr (- X) P)) in *. clearbody s.
  set (W := (P + s + 16)%Z). assert (HW : (0 <= W)%Z) by lia.
  assert (SW : 0 < IZR (2 ^ W)) by (apply IZR_lt; now apply power_above).
  assert (EW : IZR (2 ^ W) = scale * IZR (2 ^ s) * IZR (2 ^ 16)) by (unfold W; rewrite !Z.pow_add_r, !mult_IZR by lia; reflexivity).
  assert (Ss : 0 < IZR (2 ^ s)) by (apply IZR_lt; now apply power_above).
  set (Y := Z.shiftl (- X) 16). assert (HY : IZR Y = - IZR X * IZR (2 ^ 16)) by (unfold Y; now rewrite left_ok, opp_IZR).
  assert (Y0 : (0 <= Y)%Z) by (unfold Y; apply Z.shiftl_nonneg; lia).
  assert (EY : IZR Y / IZR (2 ^ W) = - IZR X / scale / IZR (2 ^ s)) by (rewrite HY, EW; field; repeat split; lra || (apply not_0_IZR; lia)).
  set (y := IZR Y / IZR (2 ^ W)) in *.
  assert (Y1 : y <= 1).
  { rewrite EY. rewrite Z.shiftr_div_pow2 in B by exact HP.
    assert (Lt : (- X < 2 ^ s * 2 ^ P)%Z).
    { pose proof (power_above P HP). pose proof (Z.mul_succ_div_gt (- X) (2 ^ P) H). nia. }
    apply IZR_lt in Lt. rewrite mult_IZR, opp_IZR in Lt. apply Rmult_le_reg_r with (scale * IZR (2 ^ s)); [nra|].
    replace (- IZR X / scale / IZR (2 ^ s) * (scale * IZR (2 ^ s))) with (- IZR X) by (field; lra). lra. }
  destruct (series _ W Y 0 (Z.shiftl 1 W) (Z.shiftl 1 W)) as [[K total]|] eqn:E.
  2:{ split; [lia|]. lra. }
  apply series_ok in E; try lia; try exact Y1.
  2:{ apply Z.shiftl_nonneg. lia. }
  2:{ rewrite unit_ok by exact HW. cbn. unfold term. cbn. fold y. lra. }
  2:{ rewrite unit_ok by exact HW. cbn. unfold partial, term. cbn. lra. }
  2:{ rewrite unit_ok by exact HW. lra. }
  destruct E as ([E1 E2] & E3 & K0). fold y in E1, E2.
  set (low := (Z.shiftl 1 (2 * W) / (total + 2 * K + 2))%Z). set (high := up (Z.shiftl 1 (2 * W)) total).
  assert (T0 : (0 < total)%Z) by (apply lt_IZR; lra).
  assert (D : (0 < total + 2 * K + 2)%Z) by lia.
  assert (W2 : IZR (Z.shiftl 1 (2 * W)) = IZR (2 ^ W) * IZR (2 ^ W)).
  { rewrite unit_ok, <- mult_IZR, <- Z.pow_add_r by lia. do 2 f_equal. lia. }
  assert (First : IZR low <= IZR (2 ^ W) * exp (- y) <= IZR high).
  { rewrite exp_Ropp. pose proof (exp_pos y) as Ey.
    assert (Eq : IZR (2 ^ W) * / exp y = IZR (2 ^ W) * IZR (2 ^ W) / (IZR (2 ^ W) * exp y)) by (field; lra). rewrite Eq.
    pose proof (floor_ok (Z.shiftl 1 (2 * W)) _ D) as F. pose proof (up_ok (Z.shiftl 1 (2 * W)) _ T0) as G. fold low in F. fold high in G.
    rewrite W2 in F, G. rewrite !plus_IZR, mult_IZR in F. assert (IZR 2 = 2) by reflexivity.
    split.
    - apply Rle_trans with (1 := proj1 F). apply Rmult_le_compat_l; [nra|]. apply Rinv_le_contravar; [nra|lra].
    - apply Rle_trans with (2 := proj1 G). apply Rmult_le_compat_l; [nra|]. apply Rinv_le_contravar; [apply IZR_lt; lia|lra]. }
  assert (L0 : (0 <= low)%Z) by (apply Z.div_pos; [apply Z.shiftl_nonneg; lia|lia]).
  pose proof (squared_ok (Z.to_nat s) W low high _ HW L0 First) as Q.
  destruct (squared (Z.to_nat s) W low high) as [low' high']. destruct Q as [L1 [Q1 Q2]].
  assert (Last : exp (- y) ^ 2 ^ Z.to_nat s = exp (IZR X / scale)).
  { rewrite exp_times, two_times, Z2Nat.id by exact B0. f_equal. rewrite EY. field. lra. }
  rewrite Last in Q1, Q2. assert (HD : (0 <= W - P)%Z) by lia.
  pose proof (shifted_ok low' (W - P) HD) as F. pose proof (up_shift_ok high' (W - P) HD) as G.
  assert (SD : 0 < IZR (2 ^ (W - P))) by (apply IZR_lt; now apply power_above).
  assert (ED : IZR (2 ^ W) = scale * IZR (2 ^ (W - P))) by (rewrite <- mult_IZR, <- Z.pow_add_r by lia; do 2 f_equal; lia).
  rewrite ED in Q1, Q2. split; [apply Z.shiftr_nonneg; lia|]. split.
  - apply Rle_trans with (1 := proj1 F). apply div_le; [exact SD|lra].
  - apply Rle_trans with (2 := G). apply le_div; [exact SD|lra].
Qed.

(* A ball and what it stands for. *)
Definition encloses (b : ball) (v : R) : Prop := Rabs (scale * v - IZR (fst b)) <= IZR (snd b).
Lemma encloses_iff b v : encloses b v <-> IZR (fst b) - IZR (snd b) <= scale * v <= IZR (fst b) + IZR (snd b).
Proof.
  unfold encloses. split.
  - intros H. apply Rabs_between in H. lra.
  - intros H. apply Rabs_le. lra.
Qed.

Lemma of_quotient_ok p unit : (0 < unit)%Z -> encloses (of_quotient P p unit) (IZR p / IZR unit).
Proof.
  intros U. apply encloses_iff. unfold of_quotient. cbn [fst snd]. pose proof (floor_ok (Z.shiftl p P) unit U) as F.
  rewrite left_ok in F by exact HP. unfold Rdiv in *. lra.
Qed.
Lemma plus_ball_ok b c v w : encloses b v -> encloses c w -> encloses (plus_ball b c) (v + w).
Proof. rewrite !encloses_iff. unfold plus_ball. cbn [fst snd]. rewrite !plus_IZR. lra. Qed.

Lemma weighed_ok factors v vs : Forall2 encloses v vs ->
  Rabs (scale * dot (map IZR factors) vs - IZR (fst (weighed factors v))) <= IZR (snd (weighed factors v)).
Proof.
  intros H. revert factors. induction H as [|[c r] w v vs Hw H IH]; intros [|f factors];
    try (cbn; rewrite Rmult_0_r, Rminus_0_r, Rabs_R0; apply Rle_refl).
  cbn [weighed map]. specialize (IH factors). destruct (weighed factors v) as [a b]. cbn [fst snd] in *.
  change (dot (IZR f :: map IZR factors) (w :: vs)) with (IZR f * w + dot (map IZR factors) vs).
  unfold encloses in Hw. cbn [fst snd] in Hw. rewrite !plus_IZR, !mult_IZR, IZR_abs.
  replace (scale * (IZR f * w + dot (map IZR factors) vs) - (IZR f * IZR c + IZR a))
    with (IZR f * (scale * w - IZR c) + (scale * dot (map IZR factors) vs - IZR a)) by ring.
  apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rabs_mult. pose proof (Rabs_pos (IZR f)). nra.
Qed.
Lemma dot_scaled u x y : dot (map (fun z => IZR z / u) x) y = dot (map IZR x) y / u.
Proof.
  revert y. induction x as [|a x IH]; intros [|b y]; try (cbn; unfold Rdiv; ring). cbn [map].
  change (IZR a / u * b + dot (map (fun z => IZR z / u) x) y = (IZR a * b + dot (map IZR x) y) / u). rewrite IH. unfold Rdiv. ring.
Qed.
Theorem weighted_ok factors unit v vs : (0 < unit)%Z -> Forall2 encloses v vs ->
  encloses (weighted factors unit v) (dot (map (fun z => IZR z / IZR unit) factors) vs).
Proof.
  intros U H. apply weighed_ok with (factors := factors) in H. apply encloses_iff. unfold weighted. rewrite dot_scaled.
  destruct (weighed factors v) as [c r]. cbn [fst snd] in *. set (x := dot (map IZR factors) vs) in *. clearbody x.
  apply Rabs_between in H. pose proof (floor_ok c unit U) as F. pose proof (up_ok r unit U) as G. rewrite plus_IZR.
  assert (I : 0 < / IZR unit) by (apply Rinv_0_lt_compat; now apply IZR_lt). unfold Rdiv in *.
  assert ((IZR c - IZR r) * / IZR unit <= scale * x * / IZR unit <= (IZR c + IZR r) * / IZR unit) by (split; apply Rmult_le_compat_r; lra). lra.
Qed.

Lemma cross V W c d r s : Rabs (V - c) <= r -> Rabs (W - d) <= s -> Rabs (V * W - c * d) <= Rabs c * s + r * (Rabs d + s).
Proof.
  intros Hr Hs. replace (V * W - c * d) with (c * (W - d) + ((V - c) * d + (V - c) * (W - d))) by ring.
  apply Rle_trans with (1 := Rabs_triang _ _). pose proof (Rabs_triang ((V - c) * d) ((V - c) * (W - d))) as T. rewrite !Rabs_mult in *.
  pose proof (Rabs_pos (V - c)). pose proof (Rabs_pos (W - d)). pose proof (Rabs_pos c). pose proof (Rabs_pos d). nra.
Qed.
Lemma crossed_ok x xs y ys : Forall2 encloses x xs -> Forall2 encloses y ys ->
  Rabs (scale * scale * dot xs ys - IZR (fst (crossed x y))) <= IZR (snd (crossed x y)).
Proof.
  intros H. revert y ys. induction H as [|[c r] v x xs Hv H IH]; intros y ys G; inversion G as [|[d s] w y' ys' Hw G']; subst;
    try (cbn; rewrite Rmult_0_r, Rminus_0_r, Rabs_R0; apply Rle_refl).
  cbn [crossed]. specialize (IH y' ys' G'). destruct (crossed x y') as [a b]. cbn [fst snd] in *.
  change (dot (v :: xs) (w :: ys')) with (v * w + dot xs ys').
  unfold encloses in Hv, Hw. cbn [fst snd] in Hv, Hw. pose proof (cross _ _ _ _ _ _ Hv Hw) as C.
  rewrite !plus_IZR, !mult_IZR, plus_IZR, !IZR_abs.
  replace (scale * scale * (v * w + dot xs ys') - (IZR c * IZR d + IZR a))
    with (scale * v * (scale * w) - IZR c * IZR d + (scale * scale * dot xs ys' - IZR a)) by ring.
  apply Rle_trans with (1 := Rabs_triang _ _). lra.
Qed.
Theorem inner_ok x xs y ys : Forall2 encloses x xs -> Forall2 encloses y ys -> encloses (inner P x y) (dot xs ys).
Proof.
  intros H G. pose proof (crossed_ok _ _ _ _ H G) as C. apply encloses_iff. unfold inner.
  destruct (crossed x y) as [c r]. cbn [fst snd] in *. set (v := dot xs ys) in *. clearbody v.
  apply Rabs_between in C. pose proof (shifted_ok c P HP) as F. pose proof (shifted_ok r P HP) as E. rewrite plus_IZR.
  pose proof scale_above as S0. assert (I : 0 < / scale) by now apply Rinv_0_lt_compat. unfold Rdiv in *.
  assert (V : scale * v = scale * scale * v * / scale) by (field; lra). rewrite V.
  assert ((IZR c - IZR r) * / scale <= scale * scale * v * / scale <= (IZR c + IZR r) * / scale) by (split; apply Rmult_le_compat_r; lra). lra.
Qed.
Lemma product_ok b c v w : encloses b v -> encloses c w -> encloses (product P b c) (v * w).
Proof.
  intros H G. replace (v * w) with (dot [v] [w]) by (unfold dot; cbn; ring). unfold product. apply inner_ok; (constructor; [assumption|constructor]).
Qed.

(* Softmax. *)
Lemma Forall2_weaken {A B} (R1 R2 : A -> B -> Prop) l r : (forall a b, R1 a b -> R2 a b) -> Forall2 R1 l r -> Forall2 R2 l r.
Proof. induction 2; constructor; auto. Qed.
Definition within_ends (e : Z * Z) (w : R) : Prop := (0 <= fst e)%Z /\ IZR (fst e) <= w <= IZR (snd e) /\ 0 < w.
Lemma sums_ok ends ws : Forall2 within_ends ends ws ->
  (0 <= sum_of (map fst ends))%Z /\ IZR (sum_of (map fst ends)) <= total ws <= IZR (sum_of (map snd ends)) /\ 0 <= total ws.
Proof.
  induction 1 as [|e w ends ws (H1 & H2 & H3) H IH]; [cbn; lra || (split; [lia|lra])|].
  change (total (w :: ws)) with (w + total ws). cbn [map sum_of fold_right]. fold (sum_of (map fst ends)). fold (sum_of (map snd ends)).
  rewrite !plus_IZR. split; [lia|lra].
Qed.
Lemma others_ok ends ws a b c : Forall2 within_ends ends ws -> (0 <= a)%Z -> IZR a <= b <= IZR c -> 0 <= b ->
  Forall2 (fun e w => within_ends e w /\ (0 <= a + sum_of (map fst ends) - fst e)%Z /\ 0 <= b + total ws - w /\
    IZR (a + sum_of (map fst ends) - fst e) <= b + total ws - w <= IZR (c + sum_of (map snd ends) - snd e)) ends ws.
Proof.
  intros H. revert a b c. induction H as [|e w ends ws He H IH]; intros a b c Ha Hb Hb0; [constructor|].
  pose proof (sums_ok _ _ H) as (S0 & S1 & S2). pose proof He as (E0 & E1 & E2).
  change (total (w :: ws)) with (w + total ws). cbn [map sum_of fold_right]. fold (sum_of (map fst ends)). fold (sum_of (map snd ends)).
  constructor.
  - split; [exact He|]. rewrite !minus_IZR, !plus_IZR. repeat split; try lia; lra.
  - eapply Forall2_weaken; [|apply (IH (a + fst e)%Z (b + w) (c + snd e)%Z)]; try lia; rewrite ?plus_IZR; try lra.
    intros e' w' (G1 & G2 & G3 & G4). split; [exact G1|]. rewrite !Z.add_assoc, <- Rplus_assoc. now repeat split.
Qed.
Lemma between_ends_ok low high ol oh A B : (0 <= low)%Z -> IZR low <= A <= IZR high -> 0 < A -> (0 <= ol)%Z -> IZR ol <= B <= IZR oh -> 0 <= B ->
  encloses (between_ends P low high ol oh) (A / (A + B)).
Proof.
  intros L0 HA A0 O0 HB B0. pose proof scale_above as S0. apply encloses_iff. unfold between_ends.
  set (least := (Z.shiftl low P / (low + oh))%Z). set (most := up (Z.shiftl high P) (high + ol)).
  assert (Hl : IZR least <= scale * (A / (A + B))).
  { assert (N : 0 <= scale * (A / (A + B))) by (apply Rmult_le_pos; [lra|]; apply Rmult_le_pos; [lra|]; left; apply Rinv_0_lt_compat; lra).
    destruct (Z.eq_dec (low + oh) 0) as [Z0|Z0]; [unfold least; now rewrite Z0, Zdiv_0_r|].
    assert (OH : (0 <= oh)%Z) by (apply le_IZR; lra). assert (U : (0 < low + oh)%Z) by lia.
    pose proof (floor_ok (Z.shiftl low P) _ U) as [F _]. fold least in F. apply Rle_trans with (1 := F).
    rewrite left_ok, plus_IZR by exact HP. apply IZR_lt in U. rewrite plus_IZR in U. apply div_le; [exact U|].
    replace (scale * (A / (A + B)) * (IZR low + IZR oh)) with (scale * (A * (IZR low + IZR oh)) / (A + B)) by (field; lra).
    apply le_div; [lra|]. apply IZR_le in L0, OH. assert (IZR low * B <= A * IZR oh) by nra. nra. }
  assert (Hm : scale * (A / (A + B)) <= IZR most).
  { assert (H0 : (0 < high)%Z) by (apply lt_IZR; lra). assert (U : (0 < high + ol)%Z) by lia.
    pose proof (up_ok (Z.shiftl high P) _ U) as [F _]. fold most in F. apply Rle_trans with (2 := F).
    rewrite left_ok, plus_IZR by exact HP. apply IZR_lt in U. rewrite plus_IZR in U. apply le_div; [exact U|].
    replace (scale * (A / (A + B)) * (IZR high + IZR ol)) with (scale * (A * (IZR high + IZR ol)) / (A + B)) by (field; lra).
    apply div_le; [lra|]. apply IZR_le in O0. assert (A * IZR ol <= IZR high * B) by nra. nra. }
  cbn [fst snd]. set (centre := Z.shiftr (least + most) 1). assert (C : (2 * centre <= least + most)%Z).
  { unfold centre. rewrite Z.shiftr_div_pow2 by lia. change (2 ^ 1)%Z with 2%Z. apply Z.mul_div_le. lia. }
  apply IZR_le in C. rewrite mult_IZR, plus_IZR in C. rewrite minus_IZR. lra.
Qed.

Lemma ends_max_ok l b : In b l -> (fst b + snd b <= ends_max l)%Z.
Proof.
  destruct l as [|a l]; [easy|]. cbn [ends_max In]. intros [<-|H].
  - induction l as [|x l IH]; cbn; lia.
  - induction l as [|x l IH]; [easy|]. cbn. destruct H as [<-|H]; [lia|]. specialize (IH H). lia.
Qed.
Lemma total_times (f : R -> R) c l : total (map (fun x => c * f x) l) = c * total (map f l).
Proof. induction l as [|x l IH]; cbn; [ring|]. unfold total in IH. rewrite IH. ring. Qed.
Lemma Forall2_map {A B C D} (R1 : C -> D -> Prop) (f : A -> C) (g : B -> D) l r :
  Forall2 (fun a b => R1 (f a) (g b)) l r -> Forall2 R1 (map f l) (map g r).
Proof. induction 1; cbn; now constructor. Qed.

Theorem softmax_ok l xs : Forall2 encloses l xs -> Forall2 encloses (softmax_balls P l) (normalized exp xs).
Proof.
  intros H. unfold softmax_balls. set (top := ends_max l). pose proof scale_above as S0.
  cbv zeta. match goal with |- context [map ?f l] => set (ends := map f l) end. set (w x := scale * exp (x - IZR top / scale)).
  assert (E : Forall2 within_ends ends (map w xs)).
  { assert (M : forall b, In b l -> (fst b + snd b <= top)%Z) by apply ends_max_ok. unfold ends. clearbody top. clear ends.
    apply Forall2_map. induction H as [|b x l xs Hb H IH]; constructor; [|apply IH; intros; apply M; now right].
    specialize (M b (or_introl eq_refl)). apply encloses_iff in Hb. assert (R0 : (0 <= snd b)%Z) by (apply le_IZR; lra).
    assert (L : (fst b - snd b - top <= 0)%Z) by lia. assert (G : (fst b + snd b - top <= 0)%Z) by lia.
    pose proof (exp_bounds_ok _ L) as B1. pose proof (exp_bounds_ok _ G) as B2.
    destruct (exp_bounds P (fst b - snd b - top)) as [low1 high1], (exp_bounds P (fst b + snd b - top)) as [low2 high2].
    unfold within_ends, w. cbn [fst snd]. split; [apply B1|]. 
    assert (Mono : forall u v, u <= v -> scale * exp u <= scale * exp v).
    { intros u v [Luv| ->]; [|lra]. apply exp_increasing in Luv. nra. }
    split; [|pose proof (exp_pos (x - IZR top / scale)); nra]. split.
    - apply Rle_trans with (1 := proj1 (proj2 B1)). apply Mono. apply div_le; [exact S0|]. rewrite !minus_IZR.
      replace ((x - IZR top / scale) * scale) with (scale * x - IZR top) by (field; lra). lra.
    - apply Rle_trans with (2 := proj2 (proj2 B2)). apply Mono. apply le_div; [exact S0|]. rewrite minus_IZR, plus_IZR.
      replace ((x - IZR top / scale) * scale) with (scale * x - IZR top) by (field; lra). lra. }
  unfold normalized. pose proof (others_ok _ _ 0%Z 0 0%Z E (Z.le_refl _) (conj (Rle_refl _) (Rle_refl _)) (Rle_refl _)) as O.
  assert (T : total (map w xs) = scale * exp (- (IZR top / scale)) * total (map exp xs)).
  { rewrite <- total_times. f_equal. apply map_ext. intros x. unfold w. unfold Rminus. rewrite exp_plus. ring. }
  replace (map (fun x => exp x / total (map exp xs)) xs) with (map (fun x => x / (x + (total (map w xs) - x))) (map w xs)).
  - apply Forall2_map. eapply Forall2_weaken; [|exact O]. intros e x ((H1 & H2 & H3) & H4 & H5 & H6). rewrite !Z.add_0_l in *. rewrite Rplus_0_l in *.
    apply between_ends_ok; assumption.
  - rewrite map_map. apply map_ext_in. intros x I. assert (TP : 0 < total (map exp xs)).
    { clear - I. destruct xs as [|a xs]; [easy|]. clear I. change (0 < exp a + total (map exp xs)). pose proof (exp_pos a).
      enough (0 <= total (map exp xs)) by lra. clear. induction xs as [|a xs IH]; [apply Rle_refl|].
      change (0 <= exp a + total (map exp xs)). pose proof (exp_pos a). lra. }
    replace (w x + (total (map w xs) - w x)) with (total (map w xs)) by ring. rewrite T. unfold w. unfold Rminus. rewrite exp_plus.
    pose proof (exp_pos (- (IZR top / scale))). field. repeat split; lra.
Qed.

(* ln 2: the difference to the partial sum at x has the derivative x^n / (1 - x). *)
Fixpoint logarithm (n : nat) (x : R) : R := match n with O => 0 | S k => logarithm k x + x ^ n / INR n end.
Fixpoint geometric (n : nat) (x : R) : R := match n with O => 0 | S k => geometric k x + x ^ k end.
Lemma geometric_ok n x : geometric n x * (1 - x) = 1 - x ^ n.
Proof. induction n as [|n IH]; cbn [geometric pow]; [ring|]. rewrite Rmult_plus_distr_r, IH. ring. Qed.
Lemma logarithm_slope n x : derivable_pt_lim (logarithm n) x (geometric n x).
Proof.
  induction n as [|n IH]; [apply derivable_pt_lim_const|].
  change (derivable_pt_lim (plus_fct (logarithm n) (fun x => x ^ S n / INR (S n))) x (geometric n x + x ^ n)).
  apply derivable_pt_lim_plus; [exact IH|].
  replace (x ^ n) with (/ INR (S n) * (INR (S n) * x ^ pred (S n))) by (cbn [pred]; field; apply not_0_INR; lia).
  apply derivable_pt_lim_ext with (mult_real_fct (/ INR (S n)) (fun x => x ^ S n)); [intros; unfold mult_real_fct, Rdiv; ring|].
  apply derivable_pt_lim_scal, derivable_pt_lim_pow.
Qed.
Lemma logarithm_ok n : 0 <= ln 2 - logarithm n (/ 2) <= (/ 2) ^ n.
Proof.
  set (f x := - ln (1 - x) - logarithm n x). set (f' x := / (1 - x) - geometric n x).
  assert (D : forall c, 0 <= c <= / 2 -> derivable_pt_lim f c (f' c)).
  { intros c Hc. unfold f, f'. apply (derivable_pt_lim_minus (fun x => - ln (1 - x)) (logarithm n)); [|apply logarithm_slope].
    replace (/ (1 - c)) with (- (/ (1 - c) * (0 - 1))) by ring. apply (derivable_pt_lim_opp (fun x => ln (1 - x))).
    apply (derivable_pt_lim_comp (fun x => 1 - x) ln); [|apply derivable_pt_lim_ln; lra].
    apply (derivable_pt_lim_minus (fun _ => 1) (fun x => x)); [apply derivable_pt_lim_const|apply derivable_pt_lim_id]. }
  destruct (MVT_cor2 f f' 0 (/ 2) ltac:(lra) D) as (c & E & Hc).
  assert (F0 : f 0 = 0) by (unfold f; rewrite Rminus_0_r, ln_1; clear; enough (logarithm n 0 = 0) by lra; induction n as [|n IH]; [reflexivity|]; cbn [logarithm]; rewrite IH; cbn [pow]; unfold Rdiv; ring).
  assert (F1 : f (/ 2) = ln 2 - logarithm n (/ 2)) by (unfold f; replace (1 - / 2) with (/ 2) by lra; rewrite ln_Rinv by lra; ring).
  rewrite <- F1. replace (f (/ 2)) with (f' c * (/ 2)) by lra.
  assert (G : f' c = c ^ n * / (1 - c)).
  { unfold f'. pose proof (geometric_ok n c). apply Rmult_eq_reg_r with (1 - c); [|lra]. rewrite Rmult_minus_distr_r, H, Rmult_assoc, Rinv_l by lra. ring. }
  assert (Q : 0 <= c ^ n <= (/ 2) ^ n) by (split; [apply pow_le; lra|apply pow_incr; lra]).
  assert (I : 0 < / (1 - c) <= 2) by (split; [apply Rinv_0_lt_compat; lra|replace 2 with (/ / 2) by field; apply Rinv_le_contravar; lra]).
  rewrite G. nra.
Qed.
Lemma ln_2_sum_ok n : IZR (ln_2_sum P n) <= scale * logarithm n (/ 2) <= IZR (ln_2_sum P n) + INR n.
Proof.
  induction n as [|n IH]; [cbn; lra|]. cbn [ln_2_sum logarithm]. rewrite S_INR, plus_IZR. unfold unit_ball.
  rewrite Z.shiftl_mul_pow2 with (n := Z.of_nat (S n)) by lia. set (U := (Z.of_nat (S n) * 2 ^ Z.of_nat (S n))%Z).
  assert (U0 : (0 < U)%Z) by (pose proof (power_above (Z.of_nat (S n)) ltac:(lia)); unfold U; nia).
  pose proof (floor_ok (Z.shiftl 1 P) U U0) as F. rewrite unit_ok in F by exact HP.
  assert (E : scale * ((/ 2) ^ S n / INR (S n)) = scale / IZR U).
  { unfold U. rewrite mult_IZR, <- two_times, <- INR_IZR_INZ. rewrite pow_INR. replace (INR 2) with 2 by reflexivity. 
    rewrite <- Rinv_pow by lra. field. split; first [apply not_0_INR; lia|apply pow_nonzero; lra]. }
  rewrite S_INR in E. lra.
Qed.
Theorem ln_2_ok : encloses (ln_2_ball P) (ln 2).
Proof.
  pose proof scale_above as S0. apply encloses_iff. unfold ln_2_ball. cbn [fst snd]. set (n := Z.to_nat P).
  pose proof (ln_2_sum_ok n) as S. pose proof (logarithm_ok n) as L. rewrite plus_IZR.
  assert (N : INR n = IZR P) by (rewrite INR_IZR_INZ; f_equal; lia). rewrite N in S.
  assert (Q : scale * (/ 2) ^ n = 1).
  { replace P with (Z.of_nat n) by lia. rewrite <- two_times, pow_INR. replace (INR 2) with 2 by reflexivity.
    rewrite <- Rinv_pow by lra. apply Rinv_r, pow_nonzero. lra. }
  assert (scale * (ln 2 - logarithm n (/ 2)) <= 1) by (rewrite <- Q; apply Rmult_le_compat_l; lra).
  assert (0 <= scale * (ln 2 - logarithm n (/ 2))) by (apply Rmult_le_pos; lra). lra.
Qed.
End Balls.
