(* Theorem 4 of docs/given-labels.md, in the words of Spec.v: heads of width one memorize every labelling of (H/2) kappa
   examples, and of one more if H is odd. *)
From Coq Require Import ZArith Reals List Permutation Lia Lra Arith FunctionalExtensionality.
Require Import Spec integers newton layer_slopes open_map general_position spread pairs.
Require one_head.
Open Scope R_scope.

Section LastHead.
Variables (T d kappa : nat) (n : nat -> nat) (E : nat -> nat -> nat -> R) (e : nat -> nat -> R).
Hypothesis two_rows : forall t, (t < T)%nat -> exists i k a, (i < n t)%nat /\ (k < n t)%nat /\ (a < d)%nat /\ E t i a <> E t k a.
Hypothesis choices : every_choice (Nat.min kappa T) T d e.
Hypothesis Hkappa : (2 <= kappa \/ (kappa = 1 /\ T = 1))%nat.

(* The mean of E_t u grows with the logits, so it is not 0 at two multiples of a query. *)
Lemma point_nonzero t : (t < T)%nat -> exists k0 q0 a, (a < d)%nat /\ point d n E e t k0 q0 a <> 0.
Proof.
  intros Ht. destruct (separating_key T d n E two_rows) as (u & U). set (g := projection d E u t).
  destruct (separating_query T d n e kappa choices Hkappa (projection d E u)) as (q & Q & _). specialize (Q t Ht). set (s := product d e q t) in *.
  destruct (U t Ht) as (i & k & Hi & Hk & N). fold (g i) (g k) in N. assert (Hn : (0 < n t)%nat) by lia.
  set (m x := mean (n t) g (moved (fun _ => 0) (fun i => g i * s) x)).
  assert (P : forall x, m x <> 0 -> exists a, (a < d)%nat /\ point d n E e t u (fun a => x * q a) a <> 0).
  { intros x X. destruct (zero_or_not d (point d n E e t u (fun a => x * q a))) as [A|Z]; [exact A|]. exfalso. apply X.
    transitivity (sum d (fun a => point d n E e t u (fun a => x * q a) a * u a)).
    2:{ rewrite (SoundZ.sum_ext d _ (fun _ => 0)) by (intros a Ha; rewrite Z by exact Ha; ring). apply SoundZ.sum_0. }
    assert (L : rl d 1 (E t) (e t) (fun a _ => u a) (fun a _ => x * q a) = moved (fun _ => 0) (fun i => g i * s) x).
    { extensionality i'. unfold rl, moved, g, s, projection, product. rewrite Rplus_0_l, <- SoundZ.sum_mul, <- SoundZ.sum_mull. apply SoundZ.sum_ext. intros a _.
      unfold rw, rq. cbn [sum]. rewrite Rplus_0_r. rewrite (SoundZ.sum_ext d _ (fun a => x * (q a * e t a))) by (intros; ring). rewrite SoundZ.sum_mull. ring. }
    unfold m, mean, point, rz. rewrite L. unfold g at 2, projection.
    rewrite (SoundZ.sum_ext d _ (fun a => sum (n t) (fun i => softmax (n t) (moved (fun _ => 0) (fun i => g i * s) x) i * (E t i a * u a)))).
    - rewrite SoundZ.sum_swap. apply SoundZ.sum_ext. intros. symmetry. apply SoundZ.sum_mull.
    - intros a _. rewrite <- SoundZ.sum_mul. apply SoundZ.sum_ext. intros. ring. }
  enough (exists x, m x <> 0) as (x & X) by (destruct (P x X) as (a & A); exists u, (fun a => x * q a), a; exact A).
  destruct (Req_dec (m 1) 0) as [E1|E1]; [exists 0|now exists 1]. intros E0.
  destruct (mean_between (n t) (fun _ => 0) (fun i => g i * s) g Hn 1) as (z & (Z0 & _) & G). fold (m 1) (m 0) in G. rewrite E1, E0 in G.
  destruct (variance_decays (n t) g s i k Hi Hk N Q) as (a & b & _ & _ & _ & low & high & Low & _ & B). destruct (B z Z0) as [V _].
  pose proof (Rmult_lt_0_compat _ _ Low (exp_pos (- (z * (s * (g a - g b)))))) as V0.
  assert (S : mean_slope (n t) (fun i => g i * s) g (moved (fun _ => 0) (fun i => g i * s) z) = s * variance (n t) (fun k => g k * (z * s)) g).
  { unfold mean_slope, variance. rewrite <- SoundZ.sum_mull. replace (moved (fun _ => 0) (fun i => g i * s) z) with (fun k => g k * (z * s)) by (extensionality k'; unfold moved; ring).
    apply SoundZ.sum_ext. intros. ring. }
  rewrite Rmult_1_r in G. replace (z * 1) with z in G by ring. rewrite S in G. assert (Nz : s * variance (n t) (fun k => g k * (z * s)) g <> 0) by (apply Rmult_integral_contrapositive_currified; lra). lra.
Qed.
End LastHead.

Theorem theorem_4 T d dv H kappa (n : nat -> nat) (E : nat -> nat -> nat -> R) (e : nat -> nat -> R) :
  (0 < dv)%nat ->
  (forall t, (t < T)%nat -> exists i k a, (i < n t)%nat /\ (k < n t)%nat /\ (a < d)%nat /\ E t i a <> E t k a) ->
  every_choice (Nat.min kappa T) T d e -> (2 <= kappa \/ kappa = 1 /\ T = 1)%nat ->
  (T <= H / 2 * kappa + H mod 2)%nat ->
  forall y : nat -> R, exists (K Q V : nat -> nat -> nat -> R) (O : nat -> nat -> R), forall t, (t < T)%nat ->
    layer (n t) d H 1 dv K Q V O (E t) (e t) 0 = y t.
Proof.
  intros Hdv C Q Hk Few y. pose proof (Nat.div_mod H 2 ltac:(lia)) as HE. pose proof (Nat.mod_upper_bound H 2 ltac:(lia)) as M.
  replace H with (H / 2 + H / 2 + H mod 2)%nat by lia. apply (pairs T d n E e C kappa Q Hk (H / 2) dv (H mod 2) (H mod 2) Hdv); [|lia|exact Few].
  intros order P. destruct (H mod 2) as [|[|]]; [|destruct T as [|T']|lia]; cbn [Nat.min].
  - exists (fun _ => 0), (fun _ => 0). intros a _ l Hl. lia.
  - exists (fun _ => 0), (fun _ => 0). intros a _ l Hl. lia.
  - destruct (point_nonzero (S T') d kappa n E e C Q Hk (nth (S T' - Nat.min 1 (S T') + 0) order O)) as (k0 & q0 & b & Hb & N).
    { enough (In (nth (S T' - Nat.min 1 (S T') + 0) order O) (seq 0 (S T'))) as I by (apply in_seq in I; lia). apply (Permutation_in _ (Permutation_sym P)), nth_In.
      rewrite <- (Permutation_length P), seq_length. lia. }
    exists k0, q0.
    intros a Z l Hl. replace l with O by (cbn in Hl; lia). specialize (Z b ltac:(lia)). change (a O * point d n E e (nth (S T' - Nat.min 1 (S T') + 0) order O) k0 q0 b + 0 = 0) in Z. rewrite Rplus_0_r in Z.
    apply Rmult_integral in Z as [Z|Z]; [exact Z|contradiction].
Qed.

(* If all contexts consist of n independent rows, the last head takes min(kappa, n) examples more. *)
Theorem theorem_4_odd T d dv H kappa n (E : nat -> nat -> nat -> R) (e : nat -> nat -> R) :
  (0 < dv)%nat ->
  (forall t, (t < T)%nat -> exists i k a, (i < n)%nat /\ (k < n)%nat /\ (a < d)%nat /\ E t i a <> E t k a) ->
  (forall t, (t < T)%nat -> independent_rows n d (E t)) ->
  every_choice (Nat.min kappa T) T d e -> (2 <= kappa \/ kappa = 1 /\ T = 1)%nat ->
  (T <= H / 2 * kappa + H mod 2 * Nat.min kappa n)%nat ->
  forall y : nat -> R, exists (K Q V : nat -> nat -> nat -> R) (O : nat -> nat -> R), forall t, (t < T)%nat ->
    layer n d H 1 dv K Q V O (E t) (e t) 0 = y t.
Proof.
  intros Hdv C A2 Q Hk Few y. pose proof (Nat.div_mod H 2 ltac:(lia)) as HE. pose proof (Nat.mod_upper_bound H 2 ltac:(lia)) as M.
  set (omega := (H mod 2 * Nat.min kappa n)%nat) in *. replace H with (H / 2 + H / 2 + H mod 2)%nat by lia.
  apply (pairs T d (fun _ => n) E e C kappa Q Hk (H / 2) dv (H mod 2) omega Hdv); [|lia|exact Few].
  intros order P. unfold omega in *. destruct (H mod 2) as [|[|]]; [|clear M|lia].
  - exists (fun _ => 0), (fun _ => 0). intros a _ l Hl. cbn in Hl. lia.
  - rewrite !Nat.mul_1_l in *. set (w := Nat.min (Nat.min kappa n) T). set (f i := nth (T - w + i) order O).
    destruct (@one_head.one_head w n d (fun i => E (f i)) (fun i => e (f i))) as (k0 & q0 & I).
    + lia.
    + pose proof (listed_choice T d e kappa Q Hk order (T - Nat.min kappa T) P ltac:(lia)) as L.
      pose proof (independent_part (Nat.min kappa T) d (Nat.min kappa T - w) w _ ltac:(lia) L) as L'. cbn in L'.
      replace (fun i => e (f i)) with (fun i => e (nth (T - Nat.min kappa T + (Nat.min kappa T - w + i)) order O)); [exact L'|]. extensionality i. unfold f. f_equal. f_equal. lia.
    + intros t Ht. apply A2. enough (In (f t) (seq 0 T)) as I by (apply in_seq in I; lia). apply (Permutation_in _ (Permutation_sym P)), nth_In.
      rewrite <- (Permutation_length P), seq_length. lia.
    + exists k0, q0. exact I.
Qed.
