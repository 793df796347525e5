(* The variance of numbers g under softmax, as the logits tau s g grow: exp(-tau gap) up to factors, where gap is that of
   the two largest distinct numbers among s g. *)
From Coq Require Import Reals Lia Lra Arith.
Require Import Spec integers newton fixed_point layer_slopes box_slopes open_map.
Open Scope R_scope.

(* The largest number of those with a property. *)
Lemma largest n (P : nat -> Prop) (c : nat -> R) : (forall i, P i \/ ~ P i) -> (exists i, (i < n)%nat /\ P i) ->
  exists a, (a < n)%nat /\ P a /\ forall i, (i < n)%nat -> P i -> c i <= c a.
Proof.
  intros D. induction n as [|n IH]; intros (i & Hi & Pi); [lia|].
  assert (W : (exists i, (i < n)%nat /\ P i) \/ ~ exists i, (i < n)%nat /\ P i).
  { clear - D. induction n as [|n IH]; [right; intros (i & Hi & _); lia|]. destruct IH as [(i & Hi & Pi)|N]; [left; exists i; split; [lia|exact Pi]|].
    destruct (D n) as [Pn|Nn]; [left; exists n; split; [lia|exact Pn]|right]. intros (i & Hi & Pi). apply N. exists i. split; [|exact Pi].
    destruct (Nat.eq_dec i n) as [->|]; [contradiction|lia]. }
  destruct W as [W|W].
  - destruct (IH W) as (a & Ha & Pa & M). destruct (D n) as [Pn|Nn].
    + destruct (Rle_or_lt (c n) (c a)) as [L|L].
      * exists a. repeat split; [lia|exact Pa|]. intros k Hk Pk. destruct (Nat.eq_dec k n) as [->|]; [exact L|apply M; [lia|exact Pk]].
      * exists n. repeat split; [lia|exact Pn|]. intros k Hk Pk. destruct (Nat.eq_dec k n) as [->|]; [lra|]. specialize (M k ltac:(lia) Pk). lra.
    + exists a. repeat split; [lia|exact Pa|]. intros k Hk Pk. destruct (Nat.eq_dec k n) as [->|]; [contradiction|apply M; [lia|exact Pk]].
  - assert (i = n) as -> by (destruct (Nat.eq_dec i n) as [E|E]; [exact E|exfalso; apply W; exists i; split; [lia|exact Pi]]).
    exists n. repeat split; [lia|exact Pi|]. intros k Hk Pk. destruct (Nat.eq_dec k n) as [->|]; [lra|]. exfalso. apply W. exists k. split; [lia|exact Pk].
Qed.

(* The largest of some numbers that are not all equal, and the next. *)
Lemma two_largest n (c : nat -> R) i j : (i < n)%nat -> (j < n)%nat -> c i <> c j ->
  exists a b, (a < n)%nat /\ (b < n)%nat /\ c b < c a /\ forall k, (k < n)%nat -> c k = c a \/ c k <= c b.
Proof.
  intros Hi Hj N. destruct (largest n (fun _ => True) c) as (a & Ha & _ & A); [now left|now exists i|].
  destruct (largest n (fun k => c k < c a) c) as (b & Hb & L & B).
  - intros k. destruct (Rlt_or_le (c k) (c a)) as [L|L]; [now left|right; lra].
  - pose proof (A i Hi Logic.I). pose proof (A j Hj Logic.I). destruct (Req_dec (c i) (c a)) as [E|E]; [exists j|exists i]; split; try assumption; lra.
  - exists a, b. repeat split; try assumption. intros k Hk. specialize (A k Hk Logic.I). destruct (Rlt_or_le (c k) (c a)) as [M|M]; [right; now apply B|left; lra].
Qed.

Section Variance.
Variables (n : nat) (l g : nat -> R).
Hypothesis Hn : (0 < n)%nat.
Local Notation p := (softmax n l).
Definition variance : R := sum n (fun i => g i * (p i * (g i - mean n g l))).

Lemma total_pos : 0 < sum n (fun j => exp (l j)).
Proof. apply SoundZ.sum_pos; [exact Hn|]. intros. apply exp_pos. Qed.
Lemma softmax_pos i : 0 < p i.
Proof. apply Rmult_lt_0_compat; [apply exp_pos|apply Rinv_0_lt_compat, total_pos]. Qed.
Lemma softmax_one : sum n p = 1.
Proof. unfold softmax, Rdiv. rewrite SoundZ.sum_mul. apply Rinv_r. pose proof total_pos. lra. Qed.

Lemma around r : variance = sum n (fun i => p i * ((g i - r) * (g i - r))) - (mean n g l - r) * (mean n g l - r).
Proof.
  unfold variance. set (m := mean n g l). assert (Hm : sum n (fun i => p i * g i) = m) by reflexivity.
  transitivity (sum n (fun i => p i * ((g i - r) * (g i - r)) + (2 * r - m) * (p i * g i) - r * r * p i)); [apply SoundZ.sum_ext; intros; ring|].
  rewrite sum_sub, SoundZ.sum_add, !SoundZ.sum_mull, Hm, softmax_one. ring.
Qed.
Lemma variance_below i j : (i < n)%nat -> (j < n)%nat -> i <> j -> p i * ((g i - mean n g l) * (g i - mean n g l)) + p j * ((g j - mean n g l) * (g j - mean n g l)) <= variance.
Proof.
  intros Hi Hj N. rewrite (around (mean n g l)). set (m := mean n g l). set (f k := p k * ((g k - m) * (g k - m))).
  enough (f i + f j <= sum n f) by (fold f; replace (sum n f - (m - m) * (m - m)) with (sum n f) by ring; exact H).
  rewrite <- (sum_unit n i f Hi), <- (sum_unit n j f Hj), <- SoundZ.sum_add. apply sum_le. intros k _.
  assert (0 <= f k) by (apply Rmult_le_pos; [left; apply softmax_pos|apply Rle_0_sqr]).
  unfold unit_entry. destruct (Nat.eqb_spec i k), (Nat.eqb_spec j k); try lra. congruence.
Qed.
End Variance.

(* Two bounds for all tau >= 0. *)
Lemma variance_decays n (g : nat -> R) s i j : (i < n)%nat -> (j < n)%nat -> g i <> g j -> s <> 0 ->
  exists a b, (a < n)%nat /\ (b < n)%nat /\ 0 < s * (g a - g b) /\ exists low high, 0 < low /\ 0 < high /\ forall tau, 0 <= tau ->
    low * exp (- (tau * (s * (g a - g b)))) <= variance n (fun k => g k * (tau * s)) g <= high * exp (- (tau * (s * (g a - g b)))).
Proof.
  intros Hi Hj N S. destruct (two_largest n (fun k => s * g k) i j Hi Hj) as (a & b & Ha & Hb & L & A).
  { intros E. apply N. now apply Rmult_eq_reg_l with s. }
  exists a, b. split; [exact Ha|]. split; [exact Hb|]. set (gap := s * (g a - g b)). assert (G : 0 < gap) by (unfold gap; lra). split; [exact G|].
  assert (Hn : (0 < n)%nat) by lia. assert (n0 : 0 < INR n) by now apply lt_0_INR.
  set (squares := sum n (fun k => (g k - g a) * (g k - g a))). set (dist := (g a - g b) * (g a - g b)).
  assert (D : 0 < dist) by (assert (g a <> g b) by (intros E; rewrite E in L; lra); apply Rsqr_pos_lt; lra).
  assert (Q : 0 <= squares) by (apply sum_not_negative; intros; apply Rle_0_sqr).
  exists (dist / (2 * INR n)), (1 + squares). split; [apply Rmult_lt_0_compat; [exact D|apply Rinv_0_lt_compat; lra]|]. split; [lra|]. intros tau T.
  set (l := fun k => g k * (tau * s)). assert (top : forall k, (k < n)%nat -> l k <= l a).
  { intros k Hk. unfold l. destruct (A k Hk) as [E|M]; [replace (g k * (tau * s)) with (tau * (s * g k)) by ring; rewrite E; lra|].
    assert (tau * (s * g k) <= tau * (s * g a)) by (apply Rmult_le_compat_l; lra). lra. }
  assert (lb : l b = l a - tau * gap) by (unfold l, gap; ring).
  set (Z := sum n (fun k => exp (l k))). assert (Z0 : 0 < Z) by now apply total_pos.
  assert (Ztop : exp (l a) <= Z) by (apply (term_below n (fun k => exp (l k)) a Ha); intros; left; apply exp_pos).
  assert (Zlow : Z <= INR n * exp (l a)).
  { apply Rle_trans with (sum n (fun _ => exp (l a))).
    - apply sum_le. intros k Hk. destruct (top k Hk) as [M|E]; [left; now apply exp_increasing|rewrite E; apply Rle_refl].
    - right. clear. induction n as [|n IH]; cbn [sum]; [cbn; ring|]. rewrite IH, S_INR. ring. }
  set (x := exp (- (tau * gap))). assert (X0 : 0 < x) by apply exp_pos.
  assert (X1 : x <= 1) by (unfold x; rewrite <- exp_0; destruct (Req_dec tau 0) as [->|]; [right; f_equal; ring|left; apply exp_increasing; nra]).
  assert (Xb : exp (l b) = exp (l a) * x) by (rewrite lb; unfold Rminus; now rewrite exp_plus). pose proof (exp_pos (l a)) as Ea.
  split.
  - assert (P : forall k, (k < n)%nat -> exp (l b) <= exp (l k) -> x / INR n <= softmax n l k).
    { intros k Hk M. unfold softmax. fold Z. apply Rmult_le_reg_r with (INR n * Z); [nra|].
      replace (x / INR n * (INR n * Z)) with (x * Z) by (field; lra). replace (exp (l k) / Z * (INR n * Z)) with (exp (l k) * INR n) by (field; lra).
      rewrite Xb in M. apply Rle_trans with (x * (INR n * exp (l a))); [apply Rmult_le_compat_l; lra|]. nra. }
    assert (Pa : x / INR n <= softmax n l a) by (apply P; [exact Ha|rewrite Xb; nra]).
    assert (Pb : x / INR n <= softmax n l b) by (apply P; [exact Hb|apply Rle_refl]).
    assert (ab : a <> b) by (intros ->; lra).
    apply Rle_trans with (2 := variance_below n l g Hn a b Ha Hb ab). set (m := mean n g l).
    replace (dist / (2 * INR n) * x) with (x / INR n * (dist / 2)) by (field; lra). set (y := x / INR n) in *.
    assert (y0 : 0 < y) by (apply Rmult_lt_0_compat; [exact X0|now apply Rinv_0_lt_compat]).
    pose proof (Rle_0_sqr (g a - m)) as Sa. pose proof (Rle_0_sqr (g b - m)) as Sb. pose proof (Rle_0_sqr (g a - m + (g b - m))) as Sc. unfold Rsqr in *.
    apply Rle_trans with (y * ((g a - m) * (g a - m)) + y * ((g b - m) * (g b - m))).
    + rewrite <- Rmult_plus_distr_l. apply Rmult_le_compat_l; [lra|]. unfold dist. nra.
    + apply Rplus_le_compat; apply Rmult_le_compat_r; assumption.
  - rewrite (around n l g Hn (g a)). pose proof (Rle_0_sqr (mean n g l - g a)) as Sq. unfold Rsqr in Sq.
    apply Rle_trans with (squares * x); [|nra]. apply Rle_trans with (sum n (fun k => softmax n l k * ((g k - g a) * (g k - g a)))); [lra|].
    unfold squares. rewrite <- SoundZ.sum_mul. apply sum_le. intros k Hk. rewrite Rmult_comm. destruct (A k Hk) as [E|M].
    + replace (g k) with (g a) by (symmetry; now apply Rmult_eq_reg_l with s). lra.
    + apply Rmult_le_compat_l; [apply Rle_0_sqr|]. unfold softmax. fold Z. apply Rmult_le_reg_r with Z; [exact Z0|].
      replace (exp (l k) / Z * Z) with (exp (l k)) by (field; lra). apply Rle_trans with (exp (l b)).
      * assert (lk : l k <= l b) by (unfold l; assert (tau * (s * g k) <= tau * (s * g b)) by (apply Rmult_le_compat_l; lra); lra).
        destruct lk as [lk|lk]; [left; now apply exp_increasing|rewrite lk; apply Rle_refl].
      * rewrite Xb, Rmult_comm. apply Rmult_le_compat_l; lra.
Qed.
