(* How an output of a layer changes as one weight moves: a slope somewhere between, times the way. *)
From Coq Require Import Reals List Bool Lia Lra Arith FunctionalExtensionality.
Require Import Spec integers newton weights_near.
Open Scope R_scope.

(* The mean of s under softmax, as the logits move along a line. *)
Lemma slope_of_sum n (f f' : nat -> R -> R) x : (forall i, (i < n)%nat -> derivable_pt_lim (f i) x (f' i x)) ->
  derivable_pt_lim (fun y => sum n (fun i => f i y)) x (sum n (fun i => f' i x)).
Proof.
  revert f f'. induction n as [|n IH]; intros f f' H; cbn; [apply derivable_pt_lim_const|].
  apply (derivable_pt_lim_plus (f O) (fun y => sum n (fun i => f (S i) y))); [apply H; lia|].
  apply (IH (fun i => f (S i)) (fun i => f' (S i))). intros i Hi. apply H. lia.
Qed.
Section Mean.
Variables (n : nat) (l v s : nat -> R).
Hypothesis Hn : (0 < n)%nat.
Definition moved (y : R) (i : nat) : R := l i + y * v i.
Definition mean (l : nat -> R) : R := sum n (fun i => softmax n l i * s i).
Definition mean_slope (l : nat -> R) : R := sum n (fun i => softmax n l i * (s i - mean l) * v i).
Lemma exp_slope i y : derivable_pt_lim (fun y => exp (moved y i)) y (exp (moved y i) * v i).
Proof.
  apply (derivable_pt_lim_comp (fun y => moved y i) exp); [|apply derivable_pt_lim_exp].
  assert (D : derivable_pt_lim (plus_fct (fun _ => l i) (mult_fct (fun y => y) (fun _ => v i))) y (0 + (1 * v i + y * 0))).
  { apply derivable_pt_lim_plus; [apply derivable_pt_lim_const|].
    apply derivable_pt_lim_mult; [apply derivable_pt_lim_id|apply derivable_pt_lim_const]. }
  replace (0 + (1 * v i + y * 0)) with (v i) in D by ring. exact D.
Qed.
Lemma all_above y : 0 < sum n (fun i => exp (moved y i)).
Proof. apply SoundZ.sum_pos; [exact Hn|]. intros. apply exp_pos. Qed.
Lemma mean_quotient l' : mean l' = sum n (fun i => exp (l' i) * s i) / sum n (fun i => exp (l' i)).
Proof. unfold mean, softmax, Rdiv. rewrite <- SoundZ.sum_mul. apply SoundZ.sum_ext. intros. ring. Qed.
Lemma mean_has_slope y : derivable_pt_lim (fun y => mean (moved y)) y (mean_slope (moved y)).
Proof.
  set (den y := sum n (fun i => exp (moved y i))). assert (D : 0 < den y) by apply all_above. set (num y := sum n (fun i => exp (moved y i) * s i)).
  assert (Hd : derivable_pt_lim den y (sum n (fun i => exp (moved y i) * v i))) by (apply (slope_of_sum n (fun i y => exp (moved y i)) (fun i y => exp (moved y i) * v i)); intros; apply exp_slope).
  assert (Hn' : derivable_pt_lim num y (sum n (fun i => exp (moved y i) * v i * s i))).
  { apply (slope_of_sum n (fun i y => exp (moved y i) * s i) (fun i y => exp (moved y i) * v i * s i)). intros i _.
    replace (exp (moved y i) * v i * s i) with (exp (moved y i) * v i * s i + exp (moved y i) * 0) by ring.
    apply (derivable_pt_lim_mult (fun y => exp (moved y i)) (fun _ => s i)); [apply exp_slope|apply derivable_pt_lim_const]. }
  assert (E : (fun y => mean (moved y)) = (num / den)%F) by (extensionality x; apply mean_quotient). rewrite E.
  replace (mean_slope (moved y)) with ((sum n (fun i => exp (moved y i) * v i * s i) * den y - sum n (fun i => exp (moved y i) * v i) * num y) / Rsqr (den y)).
  - apply derivable_pt_lim_div; [exact Hn'|exact Hd|lra].
  - unfold mean_slope. rewrite mean_quotient. fold (num y) (den y). unfold softmax. fold (den y). symmetry.
    transitivity (sum n (fun i => (exp (moved y i) * v i * s i) * / den y - (exp (moved y i) * v i) * (num y / (den y * den y)))).
    + apply SoundZ.sum_ext. intros. field. lra.
    + rewrite sum_sub, !SoundZ.sum_mul. unfold Rsqr. field. lra.
Qed.
Lemma mean_between y : exists z, 0 <= z <= 1 /\ mean (moved y) - mean (moved 0) = mean_slope (moved (z * y)) * y.
Proof.
  destruct (Rtotal_order y 0) as [L|[->|L]].
  - destruct (MVT_cor2 (fun y => mean (moved y)) (fun y => mean_slope (moved y)) y 0 L) as (c & E & C); [intros; apply mean_has_slope|].
    exists (c / y). split.
    + assert (I : / y < 0) by now apply Rinv_lt_0_compat. assert (y * / y = 1) by (apply Rinv_r; lra). unfold Rdiv. split; nra.
    + replace (c / y * y) with c by (field; lra). lra.
  - exists 0. split; [lra|]. ring.
  - destruct (MVT_cor2 (fun y => mean (moved y)) (fun y => mean_slope (moved y)) 0 y L) as (c & E & C); [intros; apply mean_has_slope|].
    exists (c / y). split.
    + assert (I : 0 < / y) by now apply Rinv_0_lt_compat. assert (y * / y = 1) by (apply Rinv_r; lra). unfold Rdiv. split; nra.
    + replace (c / y * y) with c by (field; lra). lra.
Qed.
End Mean.

(* A head on one example. *)
Section Head.
Variables (n d dk dv : nat) (E : nat -> nat -> R) (e : nat -> R).
Hypothesis Hn : (0 < n)%nat.
Section Of.
Variables (K Q V O : nat -> nat -> R).
Definition rq b := sum d (fun a => e a * Q a b).
Definition rw a := sum dk (fun b => K a b * rq b).
Definition rl i := sum d (fun a => E i a * rw a).
Definition rmix j a := sum dv (fun b => V a b * O b j).
Definition rs j i := sum d (fun a => E i a * rmix j a).
Definition rmean j := mean n (rs j) rl.
Definition rg j i := softmax n rl i * (rs j i - rmean j).
Definition rgamma j a := sum n (fun i => E i a * rg j i).
Definition rback j b := sum d (fun a => K a b * rgamma j a).
Definition rz a := sum n (fun i => E i a * softmax n rl i).
Definition rv b := sum d (fun a => V a b * rz a).
End Of.

Definition change (F : nat -> nat -> R) (a b : nat) (y : R) : nat -> nat -> R :=
  fun i j => F i j + (if Nat.eqb a i && Nat.eqb b j then y else 0).
Lemma sum_change m a0 y (f g : nat -> R) : (a0 < m)%nat ->
  sum m (fun a => f a * (g a + (if Nat.eqb a0 a then y else 0))) = sum m (fun a => f a * g a) + y * f a0.
Proof.
  intros H. rewrite <- (sum_unit m a0 (fun a => y * f a) H), <- SoundZ.sum_add. apply SoundZ.sum_ext. intros i _. unfold unit_entry.
  destruct (Nat.eqb a0 i); ring.
Qed.
Lemma sum_changed m a0 y (f g : nat -> R) : (a0 < m)%nat ->
  sum m (fun a => (g a + (if Nat.eqb a0 a then y else 0)) * f a) = sum m (fun a => g a * f a) + y * f a0.
Proof.
  intros H. rewrite (SoundZ.sum_ext m _ (fun a => f a * (g a + (if Nat.eqb a0 a then y else 0)))) by (intros; ring).
  rewrite sum_change by exact H. f_equal. apply SoundZ.sum_ext. intros. ring.
Qed.

Lemma mean_change l v s y l' : (forall y i, (i < n)%nat -> l' y i = l i + y * v i) ->
  exists z, 0 <= z <= 1 /\ mean n s (l' y) - mean n s l = sum n (fun i => softmax n (l' (z * y)) i * (s i - mean n s (l' (z * y))) * v i) * y.
Proof.
  intros H. assert (Soft : forall y i, (i < n)%nat -> softmax n (l' y) i = softmax n (moved l v y) i).
  { intros x i Hi. unfold softmax, moved. rewrite H by exact Hi. f_equal. apply SoundZ.sum_ext. intros k Hk. now rewrite H. }
  assert (M : forall y, mean n s (l' y) = mean n s (moved l v y)) by (intros x; apply SoundZ.sum_ext; intros i Hi; now rewrite Soft).
  assert (L0 : mean n s l = mean n s (moved l v 0)).
  { apply SoundZ.sum_ext. intros i Hi. f_equal. unfold softmax, moved. rewrite Rmult_0_l, Rplus_0_r. f_equal. apply SoundZ.sum_ext. intros. f_equal. ring. }
  destruct (mean_between n l v s Hn y) as (z & Hz & G). exists z. split; [exact Hz|]. rewrite M, L0, G. f_equal. unfold mean_slope.
  apply SoundZ.sum_ext. intros i Hi. now rewrite Soft, M.
Qed.

Variables (K Q V O : nat -> nat -> R).
Lemma key_moves a0 b0 j y : (a0 < d)%nat -> (b0 < dk)%nat -> exists z, 0 <= z <= 1 /\
  rmean (change K a0 b0 y) Q V O j - rmean K Q V O j = rgamma (change K a0 b0 (z * y)) Q V O j a0 * rq Q b0 * y.
Proof.
  intros Ha Hb. destruct (mean_change (rl K Q) (fun i => E i a0 * rq Q b0) (rs V O j) y (fun y => rl (change K a0 b0 y) Q)) as (z & Hz & G).
  - intros x i Hi. unfold rl. rewrite (SoundZ.sum_ext d _ (fun a => E i a * (rw K Q a + (if Nat.eqb a0 a then x * rq Q b0 else 0)))).
    + rewrite sum_change by exact Ha. ring.
    + intros a _. f_equal. unfold rw, change. destruct (Nat.eqb a0 a); cbn [andb].
      * now rewrite sum_changed.
      * rewrite Rplus_0_r. apply SoundZ.sum_ext. intros. ring.
  - exists z. split; [exact Hz|]. unfold rmean. rewrite G. f_equal. unfold rgamma. rewrite <- SoundZ.sum_mul. apply SoundZ.sum_ext. intros i _. unfold rg, rmean. ring.
Qed.
Lemma query_moves a0 b0 j y : (a0 < d)%nat -> (b0 < dk)%nat -> exists z, 0 <= z <= 1 /\
  rmean K (change Q a0 b0 y) V O j - rmean K Q V O j = e a0 * rback K (change Q a0 b0 (z * y)) V O j b0 * y.
Proof.
  intros Ha Hb. destruct (mean_change (rl K Q) (fun i => e a0 * sum d (fun a => E i a * K a b0)) (rs V O j) y (fun y => rl K (change Q a0 b0 y))) as (z & Hz & G).
  - intros x i Hi. unfold rl. rewrite <- !SoundZ.sum_mull, <- SoundZ.sum_add. apply SoundZ.sum_ext. intros a _.
    assert (W : rw K (change Q a0 b0 x) a = rw K Q a + x * e a0 * K a b0).
    { unfold rw. rewrite (SoundZ.sum_ext dk _ (fun b => K a b * (rq Q b + (if Nat.eqb b0 b then x * e a0 else 0)))).
      - now rewrite sum_change.
      - intros b _. f_equal. unfold rq, change. destruct (Nat.eqb b0 b); rewrite ?andb_true_r, ?andb_false_r.
        + rewrite (SoundZ.sum_ext d _ (fun a => e a * (Q a b + (if Nat.eqb a0 a then x else 0)))) by (intros; now rewrite andb_true_r).
          now rewrite sum_change.
        + rewrite Rplus_0_r. apply SoundZ.sum_ext. intros. rewrite andb_false_r. ring. }
    rewrite W. ring.
  - exists z. split; [exact Hz|]. unfold rmean. rewrite G. f_equal. unfold rback, rgamma. set (K' := change Q a0 b0 (z * y)).
    transitivity (sum n (fun i => sum d (fun a => e a0 * (K a b0 * (E i a * rg K K' V O j i))))).
    + apply SoundZ.sum_ext. intros i _. unfold rg, rmean. rewrite <- !SoundZ.sum_mull. apply SoundZ.sum_ext. intros. ring.
    + rewrite SoundZ.sum_swap, <- SoundZ.sum_mull. apply SoundZ.sum_ext. intros a _. now rewrite !SoundZ.sum_mull.
Qed.
Lemma value_moves a0 b0 j y : (a0 < d)%nat -> (b0 < dv)%nat ->
  rmean K Q (change V a0 b0 y) O j - rmean K Q V O j = rz K Q a0 * O b0 j * y.
Proof.
  intros Ha Hb. unfold rmean, mean, rz. rewrite <- sum_sub. rewrite Rmult_assoc, <- SoundZ.sum_mul. apply SoundZ.sum_ext. intros i _.
  enough (S : rs (change V a0 b0 y) O j i = rs V O j i + y * O b0 j * E i a0) by (rewrite S; ring). unfold rs.
  rewrite (SoundZ.sum_ext d _ (fun a => E i a * (rmix V O j a + (if Nat.eqb a0 a then y * O b0 j else 0)))); [now rewrite sum_change|].
  intros a _. f_equal. unfold rmix, change. destruct (Nat.eqb a0 a); cbn [andb]; [now rewrite sum_changed|].
  rewrite Rplus_0_r. apply SoundZ.sum_ext. intros. ring.
Qed.
Lemma output_moves b0 j0 j y : (b0 < dv)%nat ->
  rmean K Q V (change O b0 j0 y) j - rmean K Q V O j = (if Nat.eqb j0 j then rv K Q V b0 else 0) * y.
Proof.
  intros Hb. assert (M : forall a, rmix V (change O b0 j0 y) j a = rmix V O j a + (if Nat.eqb j0 j then y * V a b0 else 0)).
  { intros a. unfold rmix, change. destruct (Nat.eqb j0 j).
    - rewrite (SoundZ.sum_ext dv _ (fun b => V a b * (O b j + (if Nat.eqb b0 b then y else 0)))) by (intros; now rewrite andb_true_r). now rewrite sum_change.
    - rewrite Rplus_0_r. apply SoundZ.sum_ext. intros. rewrite andb_false_r. ring. }
  unfold rmean, mean. rewrite <- sum_sub. destruct (Nat.eqb j0 j).
  2:{ rewrite Rmult_0_l, (SoundZ.sum_ext n _ (fun _ => 0)); [apply SoundZ.sum_0|]. intros i _. enough (S : rs V (change O b0 j0 y) j i = rs V O j i) by (rewrite S; ring).
      apply SoundZ.sum_ext. intros a _. rewrite M. ring. }
  unfold rv, rz. rewrite <- SoundZ.sum_mul. rewrite (SoundZ.sum_ext d _ (fun a => sum n (fun i => V a b0 * (E i a * softmax n (rl K Q) i) * y)))
    by (intros; now rewrite SoundZ.sum_mul, SoundZ.sum_mull).
  rewrite SoundZ.sum_swap. apply SoundZ.sum_ext. intros i _.
  rewrite (SoundZ.sum_ext d _ (fun a => softmax n (rl K Q) i * (E i a * (y * V a b0)))) by (intros; ring). rewrite SoundZ.sum_mull, <- Rmult_minus_distr_l. f_equal.
  unfold rs. rewrite <- sum_sub. apply SoundZ.sum_ext. intros a _. rewrite M. ring.
Qed.
End Head.
