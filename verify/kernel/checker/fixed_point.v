(* A contraction of a box in R^N has a fixed point in it (Banach), for the maximum norm. A vector is a function; only its
   first N coordinates count. *)
From Coq Require Import Reals Lia Lra Psatz Arith.
Open Scope R_scope.

Definition near (N : nat) (D : R) (x y : nat -> R) : Prop := forall i, (i < N)%nat -> Rabs (x i - y i) <= D.
Definition inside (N : nat) (r : R) (x : nat -> R) : Prop := forall i, (i < N)%nat -> Rabs (x i) <= r.

Lemma small_powers q D e : 0 <= q < 1 -> 0 <= D -> 0 < e -> exists n0, forall n, (n0 <= n)%nat -> q ^ n * D < e.
Proof.
  intros Hq HD He. destruct (pow_lt_1_zero q ltac:(rewrite Rabs_pos_eq; lra) (e / (D + 1))) as [n0 H].
  { apply Rmult_lt_0_compat; [exact He|apply Rinv_0_lt_compat; lra]. }
  exists n0. intros n Hn. specialize (H n Hn). rewrite Rabs_pos_eq in H by (apply pow_le; lra).
  apply Rle_lt_trans with (q ^ n * (D + 1)).
  - apply Rmult_le_compat_l; [apply pow_le; lra|lra].
  - apply Rmult_lt_compat_r with (r := D + 1) in H; [|lra]. replace (e / (D + 1) * (D + 1)) with e in H by (field; lra). exact H.
Qed.
Lemma limit_within u l y D n0 : Un_cv u l -> (forall n, (n0 <= n)%nat -> Rabs (u n - y) <= D) -> Rabs (l - y) <= D.
Proof.
  intros H B. destruct (Rle_or_lt (Rabs (l - y)) D) as [L|L]; [exact L|]. exfalso.
  destruct (H (Rabs (l - y) - D) ltac:(lra)) as [n1 G]. specialize (G (max n0 n1) ltac:(lia)). specialize (B (max n0 n1) ltac:(lia)).
  unfold R_dist in G. pose proof (Rabs_triang (l - u (max n0 n1)) (u (max n0 n1) - y)) as T.
  rewrite (Rabs_minus_sym l) in T. replace (l - u (max n0 n1) + (u (max n0 n1) - y)) with (l - y) in T by ring. lra.
Qed.

Section FixedPoint.
Variables (N : nat) (r q : R) (g : (nat -> R) -> nat -> R).
Hypotheses (Hr : 0 <= r) (Hq : 0 <= q < 1).
Hypothesis into : forall x, inside N r x -> inside N r (g x).
Hypothesis contracts : forall x y D, inside N r x -> inside N r y -> near N D x y -> near N (q * D) (g x) (g y).

Fixpoint orbit (n : nat) : nat -> R := match n with O => fun _ => 0 | S k => g (orbit k) end.
Lemma orbit_inside n : inside N r (orbit n).
Proof. induction n as [|n IH]; [intros i _; cbn; rewrite Rabs_R0; exact Hr|exact (into _ IH)]. Qed.
Lemma orbit_close n k : near N (q ^ n * (2 * r)) (orbit n) (orbit (n + k)).
Proof.
  revert k. induction n as [|n IH]; intros k; cbn [plus orbit pow].
  - intros i Hi. pose proof (orbit_inside k i Hi) as A. pose proof (Rabs_triang (orbit 0 i) (- orbit k i)) as T.
    rewrite Rabs_Ropp in T. cbn [orbit] in *. rewrite Rabs_R0 in T. unfold Rminus. lra.
  - rewrite Rmult_assoc. apply contracts; [apply orbit_inside|apply orbit_inside|apply IH].
Qed.
Lemma orbit_limits i : (i < N)%nat -> exists l, Un_cv (fun n => orbit n i) l.
Proof.
  intros Hi. destruct (R_complete (fun n => orbit n i)) as [l H]; [|now exists l].
  intros e He. destruct (small_powers q (2 * r) e Hq ltac:(lra) He) as [n0 H]. 
  assert (B : forall n m, (n0 <= n)%nat -> (n <= m)%nat -> R_dist (orbit n i) (orbit m i) < e).
  { intros n m Hn Hm. unfold R_dist. pose proof (orbit_close n (m - n) i Hi) as C. replace (n + (m - n))%nat with m in C by lia.
    specialize (H n Hn). lra. }
  exists n0. intros n m Hn Hm. destruct (Nat.le_ge_cases n m) as [L|L]; [now apply B|]. rewrite R_dist_sym. now apply B.
Qed.
Lemma choose_limits n : (n <= N)%nat -> exists x : nat -> R, forall i, (i < n)%nat -> Un_cv (fun k => orbit k i) (x i).
Proof.
  induction n as [|n IH]; intros Hn; [exists (fun _ => 0); intros i Hi; lia|].
  destruct (IH ltac:(lia)) as [x H], (orbit_limits n ltac:(lia)) as [l L].
  exists (fun i => if Nat.eqb i n then l else x i). intros i Hi. destruct (Nat.eqb_spec i n) as [->|E]; [exact L|]. apply H. lia.
Qed.

Theorem fixed_point : exists x, inside N r x /\ forall i, (i < N)%nat -> g x i = x i.
Proof.
  destruct (choose_limits N (le_n N)) as [x H]. exists x.
  assert (I : inside N r x).
  { intros i Hi. rewrite <- (Rminus_0_r (x i)). apply (limit_within (fun n => orbit n i) _ _ _ 0 (H i Hi)).
    intros n _. rewrite Rminus_0_r. now apply orbit_inside. }
  split; [exact I|].
  assert (C : forall n, near N (q ^ n * (2 * r)) x (orbit n)).
  { intros n i Hi. apply (limit_within (fun k => orbit k i) _ _ _ n (H i Hi)). intros k Hk.
    rewrite Rabs_minus_sym. replace k with (n + (k - n))%nat by lia. now apply orbit_close. }
  intros i Hi. apply Rminus_diag_uniq. destruct (Req_dec (g x i - x i) 0) as [E|E]; [exact E|]. exfalso.
  destruct (small_powers q (4 * r) (Rabs (g x i - x i)) Hq ltac:(lra) (Rabs_pos_lt _ E)) as [n0 B]. specialize (B n0 (le_n _)).
  pose proof (contracts _ _ _ I (orbit_inside n0) (C n0) i Hi) as A. pose proof (C (S n0) i Hi) as D. cbn [orbit pow] in D.
  pose proof (Rabs_triang (g x i - g (orbit n0) i) (g (orbit n0) i - x i)) as T. rewrite (Rabs_minus_sym _ (x i)) in T.
  replace (g x i - g (orbit n0) i + (g (orbit n0) i - x i)) with (g x i - x i) in T by ring.
  assert (P : 0 <= q ^ n0 * r) by (apply Rmult_le_pos; [apply pow_le; lra|lra]). nra.
Qed.
End FixedPoint.
