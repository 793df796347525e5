(* A zero near an approximate one: a map of a box whose slopes, times a matrix A, are near the identity has a zero in the
   box, where A moves its value at the centre by little. Nothing is presumed of A. *)
From Coq Require Import Reals List Lia Lra Arith.
Require Import Spec integers fixed_point.
Open Scope R_scope.

Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof. exact (SaturationZ.sum_le n f g). Qed.
Lemma sum_abs n f : Rabs (sum n f) <= sum n (fun i => Rabs (f i)).
Proof.
  revert f. induction n as [|n IH]; intros f; cbn; [rewrite Rabs_R0; lra|].
  apply Rle_trans with (1 := Rabs_triang _ _). specialize (IH (fun i => f (S i))). lra.
Qed.
Lemma sum_sub n f g : sum n (fun i => f i - g i) = sum n f - sum n g.
Proof. revert f g. induction n as [|n IH]; intros f g; cbn; [ring|]. rewrite IH. ring. Qed.
Definition unit_entry (i k : nat) : R := if Nat.eqb i k then 1 else 0.
Lemma sum_unit n i f : (i < n)%nat -> sum n (fun k => unit_entry i k * f k) = f i.
Proof.
  revert i f. induction n as [|n IH]; intros i f Hi; [lia|]. cbn. destruct i as [|i].
  - unfold unit_entry. cbn. rewrite (SoundZ.sum_ext n _ (fun _ => 0)) by (intros; ring). rewrite SoundZ.sum_0. ring.
  - unfold unit_entry at 1. cbn. rewrite <- (IH i (fun k => f (S k))) by lia. rewrite Rmult_0_l, Rplus_0_l. now apply SoundZ.sum_ext.
Qed.

(* The numbers but for k. *)
Definition skip (k j : nat) : nat := if Nat.ltb j k then j else S j.
Lemma skip_lt k j n : (k <= n)%nat -> (j < n)%nat -> (skip k j < S n)%nat /\ skip k j <> k.
Proof. intros H L. unfold skip. destruct (Nat.ltb_spec j k); lia. Qed.
Lemma skipped k j n : (k <= n)%nat -> (j < S n)%nat -> j <> k -> exists i, (i < n)%nat /\ skip k i = j.
Proof.
  intros K H L. unfold skip. destruct (Nat.lt_ge_cases j k) as [C|C].
  - exists j. split; [lia|]. destruct (Nat.ltb_spec j k); lia.
  - exists (pred j). split; [lia|]. destruct (Nat.ltb_spec (pred j) k); lia.
Qed.
Lemma sum_skip n k f : (k <= n)%nat -> sum (S n) f = f k + sum n (fun j => f (skip k j)).
Proof.
  revert k f. induction n as [|n IH]; intros k f H.
  - replace k with O by lia. cbn. ring.
  - destruct k as [|k]; [reflexivity|]. change (f O + sum (S n) (fun i => f (S i)) = f (S k) + (f (skip (S k) O) + sum n (fun j => f (skip (S k) (S j))))).
    rewrite (IH k (fun i => f (S i))) by lia. replace (skip (S k) O) with O by reflexivity.
    enough (sum n (fun j => f (S (skip k j))) = sum n (fun j => f (skip (S k) (S j)))) as -> by ring.
    apply SoundZ.sum_ext. intros j _. f_equal. unfold skip. change (Nat.ltb (S j) (S k)) with (Nat.ltb j k). now destruct (Nat.ltb j k).
Qed.

(* Fewer equations than unknowns: a solution that is not 0. *)
Lemma underdetermined n m (a : nat -> nat -> R) : (n < m)%nat ->
  exists w, (exists j, (j < m)%nat /\ w j <> 0) /\ forall i, (i < n)%nat -> sum m (fun j => a i j * w j) = 0.
Proof.
  revert m a. induction n as [|n IH]; intros m a H.
  { exists (fun _ => 1). split; [exists O; split; [exact H|lra]|intros i Hi; lia]. }
  assert (P : (exists k, (k < m)%nat /\ a n k <> 0) \/ forall k, (k < m)%nat -> a n k = 0).
  { clear. induction m as [|m [(k & Hk & N)|Z]]; [right; intros; lia|left; exists k; split; [lia|exact N]|].
    destruct (Req_dec (a n m) 0) as [E|E]; [right|left; exists m; split; [lia|exact E]].
    intros k Hk. destruct (Nat.eq_dec k m) as [->|]; [exact E|apply Z; lia]. }
  destruct P as [(k & Hk & N)|Z].
  2:{ destruct (IH m a ltac:(lia)) as (w & W & E). exists w. split; [exact W|]. intros i Hi. destruct (Nat.eq_dec i n) as [->|]; [|apply E; lia].
      rewrite (SoundZ.sum_ext m _ (fun _ => 0)); [apply SoundZ.sum_0|]. intros j Hj. rewrite Z by exact Hj. ring. }
  destruct m as [|m]; [lia|].
  destruct (IH m (fun i j => a i (skip k j) - a i k / a n k * a n (skip k j)) ltac:(lia)) as (w & (j & Hj & W) & E).
  set (rest := sum m (fun j => a n (skip k j) * w j)).
  set (x i := if Nat.eqb i k then - rest / a n k else w (if Nat.ltb i k then i else pred i)).
  assert (X : forall j, x (skip k j) = w j).
  { intros i. unfold x, skip. destruct (Nat.ltb_spec i k).
    - destruct (Nat.eqb_spec i k); [lia|]. destruct (Nat.ltb_spec i k); [reflexivity|lia].
    - destruct (Nat.eqb_spec (S i) k); [lia|]. destruct (Nat.ltb_spec (S i) k); [lia|reflexivity]. }
  assert (K : x k = - rest / a n k) by (unfold x; now rewrite Nat.eqb_refl).
  exists x. split.
  { exists (skip k j). split; [apply skip_lt; lia|]. now rewrite X. }
  intros i Hi. rewrite (sum_skip m k) by lia. rewrite K.
  rewrite (SoundZ.sum_ext m _ (fun j => a i (skip k j) * w j)) by (intros; now rewrite X).
  destruct (Nat.eq_dec i n) as [->|]; [fold rest; field; exact N|].
  specialize (E i ltac:(lia)). rewrite (SoundZ.sum_ext m _ (fun j => a i (skip k j) * w j - a i k / a n k * (a n (skip k j) * w j))) in E by (intros; ring).
  rewrite sum_sub, SoundZ.sum_mull in E. fold rest in E.
  replace (sum m (fun j => a i (skip k j) * w j)) with (a i k / a n k * rest) by lra. field. exact N.
Qed.

Section Newton.
Variables (N : nat) (A : nat -> nat -> R) (q : R).
Hypothesis Hq : 0 <= q < 1.
Definition off (c : nat -> nat -> R) (i : nat) : R := sum N (fun k => Rabs (unit_entry i k - sum N (fun l => A i l * c l k))).

Lemma left_injective c w : (forall i, (i < N)%nat -> off c i <= q) -> (forall l, (l < N)%nat -> sum N (fun i => w i * A i l) = 0) ->
  forall i, (i < N)%nat -> w i = 0.
Proof.
  intros H Z. set (m i k := unit_entry i k - sum N (fun l => A i l * c l k)).
  assert (E : forall k, (k < N)%nat -> w k = sum N (fun i => w i * m i k)).
  { intros k Hk. unfold m. rewrite (SoundZ.sum_ext N _ (fun i => unit_entry k i * w i - sum N (fun l => (w i * A i l) * c l k))).
    - rewrite sum_sub, sum_unit by exact Hk. rewrite SoundZ.sum_swap, (SoundZ.sum_ext N _ (fun _ => 0)); [rewrite SoundZ.sum_0; ring|].
      intros l Hl. rewrite SoundZ.sum_mul, Z by exact Hl. ring.
    - intros i Hi. rewrite Rmult_minus_distr_l. unfold unit_entry. rewrite (Nat.eqb_sym k i). rewrite <- SoundZ.sum_mull.
      f_equal; [ring|]. apply SoundZ.sum_ext. intros l _. ring. }
  set (S := sum N (fun k => Rabs (w k))).
  assert (L : S <= q * S).
  { apply Rle_trans with (sum N (fun i => Rabs (w i) * off c i)).
    - unfold S. apply Rle_trans with (sum N (fun k => sum N (fun i => Rabs (w i) * Rabs (m i k)))).
      + apply sum_le. intros k Hk. rewrite (E k Hk) at 1. apply Rle_trans with (1 := sum_abs _ _). apply sum_le. intros i _. rewrite Rabs_mult. lra.
      + rewrite SoundZ.sum_swap. apply sum_le. intros i _. rewrite SoundZ.sum_mull. apply Rle_refl.
    - unfold S. rewrite <- SoundZ.sum_mull. apply sum_le. intros i Hi. rewrite (Rmult_comm q). apply Rmult_le_compat_l; [apply Rabs_pos|now apply H]. }
  assert (S0 : 0 <= S) by (unfold S; rewrite <- (SoundZ.sum_0 N); apply sum_le; intros; apply Rabs_pos).
  assert (SZ : S = 0) by nra. intros i Hi. destruct (Req_dec (w i) 0) as [Q|Q]; [exact Q|]. apply Rabs_pos_lt in Q. exfalso.
  assert (P : Rabs (w i) <= S).
  { unfold S. rewrite <- (sum_unit N i (fun k => Rabs (w k)) Hi) . apply sum_le. intros k _. unfold unit_entry.
    pose proof (Rabs_pos (w k)). destruct (Nat.eqb i k); lra. }
  lra.
Qed.

Lemma injective c v : (forall i, (i < N)%nat -> off c i <= q) -> (forall i, (i < N)%nat -> sum N (fun l => A i l * v l) = 0) ->
  forall l, (l < N)%nat -> v l = 0.
Proof.
  intros H Z k Hk. destruct (Req_dec (v k) 0) as [Q|Q]; [exact Q|]. exfalso. destruct N as [|n] eqn:EN; [lia|].
  destruct (underdetermined n (S n) (fun j i => A i (skip k j)) ltac:(lia)) as (w & (i & Hi & W) & E). apply W.
  rewrite <- EN in *. apply (left_injective c w H); [|exact Hi]. rewrite EN in *.
  assert (O : forall j, (j < n)%nat -> sum (S n) (fun i => w i * A i (skip k j)) = 0).
  { intros j Hj. rewrite <- (E j Hj). apply SoundZ.sum_ext. intros. ring. }
  assert (K : sum (S n) (fun i => w i * A i k) = 0).
  { apply Rmult_eq_reg_r with (v k); [|exact Q]. rewrite Rmult_0_l.
    assert (T : sum (S n) (fun l => sum (S n) (fun i => w i * A i l) * v l) = 0).
    { rewrite (SoundZ.sum_ext _ _ (fun l => sum (S n) (fun i => w i * (A i l * v l)))).
      - rewrite SoundZ.sum_swap, (SoundZ.sum_ext _ _ (fun _ => 0)); [apply SoundZ.sum_0|]. intros a Ha. rewrite SoundZ.sum_mull, Z by exact Ha. ring.
      - intros l _. rewrite <- SoundZ.sum_mul. apply SoundZ.sum_ext. intros. ring. }
    rewrite (sum_skip n k) in T by lia. rewrite (SoundZ.sum_ext n _ (fun _ => 0)) in T; [rewrite SoundZ.sum_0 in T; lra|].
    intros j Hj. rewrite O by exact Hj. ring. }
  intros l Hl. destruct (Nat.eq_dec l k) as [->|D]; [exact K|]. destruct (skipped k l n ltac:(lia) Hl D) as (j & Hj & <-). now apply O.
Qed.

Variables (r : R) (f : (nat -> R) -> nat -> R) (kappa : nat -> R).
Hypotheses (Hr : 0 <= r) (small : forall i, (i < N)%nat -> kappa i <= q).
Hypothesis slopes : forall x y, inside N r x -> inside N r y -> exists c,
  (forall l, (l < N)%nat -> f x l - f y l = sum N (fun k => c l k * (x k - y k))) /\ forall i, (i < N)%nat -> off c i <= kappa i.
Hypothesis start : forall i, (i < N)%nat -> Rabs (sum N (fun l => A i l * f (fun _ => 0) l)) + kappa i * r <= r.

Theorem zero_in_box : exists x, inside N r x /\ forall l, (l < N)%nat -> f x l = 0.
Proof.
  set (g x i := x i - sum N (fun l => A i l * f x l)).
  assert (M : forall x y D, inside N r x -> inside N r y -> near N D x y -> forall i, (i < N)%nat -> Rabs (g x i - g y i) <= kappa i * D).
  { intros x y D Hx Hy Hd i Hi. destruct (slopes x y Hx Hy) as (c & E & O).
    assert (G : g x i - g y i = sum N (fun k => (unit_entry i k - sum N (fun l => A i l * c l k)) * (x k - y k))).
    { symmetry. transitivity (sum N (fun k => unit_entry i k * (x k - y k) - sum N (fun l => A i l * (c l k * (x k - y k))))).
      - apply SoundZ.sum_ext. intros k _. rewrite Rmult_minus_distr_r, <- SoundZ.sum_mul. f_equal. apply SoundZ.sum_ext. intros. ring.
      - rewrite sum_sub, sum_unit, SoundZ.sum_swap by exact Hi. unfold g.
        enough (sum N (fun l => sum N (fun k => A i l * (c l k * (x k - y k)))) = sum N (fun l => A i l * f x l) - sum N (fun l => A i l * f y l)) by lra.
        rewrite <- sum_sub. apply SoundZ.sum_ext. intros l Hl. rewrite SoundZ.sum_mull, <- E by exact Hl. ring. }
    rewrite G. apply Rle_trans with (1 := sum_abs _ _). apply Rle_trans with (off c i * D).
    - unfold off. rewrite <- SoundZ.sum_mul. apply sum_le. intros k Hk. rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|now apply Hd].
    - apply Rmult_le_compat_r; [|now apply O]. apply Rle_trans with (2 := Hd i Hi). apply Rabs_pos. }
  assert (Z0 : inside N r (fun _ => 0)) by (intros i _; rewrite Rabs_R0; exact Hr).
  destruct (fixed_point N r q g Hr Hq) as (x & Hx & E).
  - intros x Hx i Hi. specialize (M x _ r Hx Z0 ltac:(intros k Hk; rewrite Rminus_0_r; now apply Hx) i Hi). specialize (start i Hi).
    assert (G0 : g (fun _ => 0) i = - sum N (fun l => A i l * f (fun _ => 0) l)) by (unfold g; ring).
    pose proof (Rabs_triang (g x i - g (fun _ => 0) i) (g (fun _ => 0) i)) as T. rewrite G0, Rabs_Ropp in T.
    replace (g x i - - sum N (fun l => A i l * f (fun _ : nat => 0) l) + - sum N (fun l => A i l * f (fun _ : nat => 0) l)) with (g x i) in T by ring.
    rewrite G0 in M. lra.
  - intros x y D Hx Hy Hd i Hi. apply Rle_trans with (1 := M x y D Hx Hy Hd i Hi). apply Rmult_le_compat_r; [|now apply small].
    apply Rle_trans with (2 := Hd i Hi). apply Rabs_pos.
  - exists x. split; [exact Hx|]. destruct (slopes x x Hx Hx) as (c & _ & O).
    apply (injective c); [intros i Hi; apply Rle_trans with (1 := O i Hi); now apply small|].
    intros i Hi. specialize (E i Hi). unfold g in E. lra.
Qed.
End Newton.
