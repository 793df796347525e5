(* A map whose slopes near a zero are near those of a matrix with independent rows takes, near that zero, multiples of all
   values. *)
From Coq Require Import Reals List Lia Lra Arith FunctionalExtensionality.
Require Import Spec integers fixed_point newton box_slopes.
Open Scope R_scope.

Lemma zero_or_not M (a : nat -> R) : (exists k, (k < M)%nat /\ a k <> 0) \/ forall k, (k < M)%nat -> a k = 0.
Proof.
  induction M as [|M [(k & Hk & E)|Z]]; [right; intros; lia|left; exists k; split; [lia|exact E]|].
  destruct (Req_dec (a M) 0) as [E|E]; [right|left; exists M; split; [lia|exact E]].
  intros k Hk. destruct (Nat.eq_dec k M) as [->|]; [exact E|apply Z; lia].
Qed.

(* Independent rows: a solution for every right side. *)
Definition independent_rows (N M : nat) (X : nat -> nat -> R) : Prop :=
  forall a, (forall k, (k < M)%nat -> sum N (fun l => a l * X l k) = 0) -> forall l, (l < N)%nat -> a l = 0.
Lemma solution N M X b : independent_rows N M X -> exists a, forall l, (l < N)%nat -> sum M (fun k => X l k * a k) = b l.
Proof.
  revert X b. induction N as [|N IH]; intros X b H; [exists (fun _ => 0); intros; lia|].
  destruct (zero_or_not M (X O)) as [(k & Hk & P)|Z].
  2:{ exfalso. apply R1_neq_R0. apply (H (fun l => match l with O => 1 | S _ => 0 end)) with (l := O); [|lia].
      intros k Hk. cbn [sum]. rewrite (SoundZ.sum_ext N _ (fun _ => 0)), SoundZ.sum_0 by (intros; ring). rewrite Z by exact Hk. ring. }
  set (q l := X (S l) k / X O k).
  destruct (IH (fun l i => X (S l) i - q l * X O i) (fun l => b (S l) - q l * b O)) as [a A].
  { intros a Z l Hl. set (first := - sum N (fun l => a l * q l)).
    apply (H (fun l => match l with O => first | S l => a l end)) with (l := S l); [|lia].
    intros i Hi. cbn [sum]. rewrite <- (Z i Hi). unfold first.
    rewrite (SoundZ.sum_ext N (fun l => a l * (X (S l) i - q l * X O i)) (fun l => a l * X (S l) i - a l * q l * X O i)) by (intros; ring).
    rewrite sum_sub, SoundZ.sum_mul. ring. }
  set (more := (b O - sum M (fun i => X O i * a i)) / X O k).
  assert (S : forall x : nat -> R, sum M (fun i => x i * (a i + unit_entry k i * more)) = sum M (fun i => x i * a i) + x k * more).
  { intros x. rewrite <- (sum_unit M k (fun i => x i * more) Hk), <- SoundZ.sum_add. apply SoundZ.sum_ext. intros. ring. }
  exists (fun i => a i + unit_entry k i * more). intros [|l] Hl; rewrite S; [unfold more; field; exact P|].
  specialize (A l ltac:(lia)).
  rewrite (SoundZ.sum_ext M _ (fun i => X (Datatypes.S l) i * a i - q l * (X O i * a i))) in A by (intros; ring). rewrite sum_sub, SoundZ.sum_mull in A.
  assert (B : X (Datatypes.S l) k * more = q l * (b O - sum M (fun i => X O i * a i))) by (unfold more, q; field; exact P). lra.
Qed.

Lemma term_below n f i : (i < n)%nat -> (forall k, (k < n)%nat -> 0 <= f k) -> f i <= sum n f.
Proof.
  intros Hi H. rewrite <- (sum_unit n i f Hi). apply sum_le. intros k Hk. specialize (H k Hk). unfold unit_entry. destruct (Nat.eqb i k); lra.
Qed.
Lemma sum_not_negative n f : (forall k, (k < n)%nat -> 0 <= f k) -> 0 <= sum n f.
Proof. intros H. rewrite <- (SoundZ.sum_0 n). now apply sum_le. Qed.

Section Onto.
Variables (N M : nat) (f : (nat -> R) -> nat -> R) (J : nat -> nat -> R).
Hypothesis slopes : forall e, 0 < e -> exists r, 0 < r /\ forall x y, inside M r x -> inside M r y -> exists c,
  (forall l, (l < N)%nat -> f x l - f y l = sum M (fun k => c l k * (x k - y k))) /\
  forall l k, (l < N)%nat -> (k < M)%nat -> Rabs (c l k - J l k) <= e.
Hypothesis rows : independent_rows N M J.

Theorem covers : exists radius, 0 < radius /\ forall y, inside N radius y -> exists x, forall l, (l < N)%nat -> f x l = f (fun _ => 0) l + y l.
Proof.
  destruct (choose_upto (fun i (a : nat -> R) => forall l, (l < N)%nat -> sum M (fun k => J l k * a k) = unit_entry l i) (fun _ => 0) N) as [B HB].
  { intros i _. exact (solution N M J (fun l => unit_entry l i) rows). }
  set (size := sum N (fun i => sum M (fun k => Rabs (B i k)))).
  assert (S0 : 0 <= size) by (apply sum_not_negative; intros; apply sum_not_negative; intros; apply Rabs_pos).
  set (b := 1 + size). assert (b0 : 0 < b) by (unfold b; lra).
  destruct (slopes (/ (2 * b))) as (r & Hr & Sl); [apply Rinv_0_lt_compat; lra|].
  set (rho := r / b). assert (rho0 : 0 < rho) by (apply Rmult_lt_0_compat; [exact Hr|now apply Rinv_0_lt_compat]).
  set (to v k := sum N (fun i => B i k * v i)).
  assert (T : forall v, inside N rho v -> inside M r (to v)).
  { intros v Hv k Hk. unfold to. apply Rle_trans with (1 := sum_abs _ _). apply Rle_trans with (sum N (fun i => sum M (fun k => Rabs (B i k)) * rho)).
    - apply sum_le. intros i Hi. rewrite Rabs_mult. apply Rmult_le_compat; [apply Rabs_pos|apply Rabs_pos| |now apply Hv].
      apply (term_below M (fun k => Rabs (B i k)) k Hk). intros; apply Rabs_pos.
    - rewrite SoundZ.sum_mul. fold size. unfold rho. assert (E : size * (r / b) = r - r / b) by (unfold b; field; unfold b in b0; lra).
      rewrite E. fold rho. lra. }
  set (start := fun l => f (fun _ => 0) l). exists (rho / 2). split; [lra|]. intros y Hy.
  destruct (zero_in_box N unit_entry (/ 2) ltac:(lra) rho (fun v l => f (to v) l - (start l + y l)) (fun _ => / 2)) as (v & _ & E).
  - lra.
  - intros; lra.
  - intros v w Hv Hw. destruct (Sl (to v) (to w) (T v Hv) (T w Hw)) as (c & C & D).
    exists (fun l i => sum M (fun k => c l k * B i k)). split.
    + intros l Hl. replace (f (to v) l - (start l + y l) - (f (to w) l - (start l + y l))) with (f (to v) l - f (to w) l) by ring. rewrite C by exact Hl.
      rewrite (SoundZ.sum_ext M _ (fun k => sum N (fun i => c l k * B i k * (v i - w i)))).
      * rewrite SoundZ.sum_swap. apply SoundZ.sum_ext. intros i _. now rewrite SoundZ.sum_mul.
      * intros k _. unfold to. rewrite <- sum_sub, <- SoundZ.sum_mull. apply SoundZ.sum_ext. intros. ring.
    + intros i Hi. unfold off. apply Rle_trans with (sum N (fun k => sum M (fun i => Rabs (B k i)) * / (2 * b))).
      * apply sum_le. intros k Hk. rewrite (sum_unit N i (fun l => sum M (fun k0 => c l k0 * B k k0)) Hi), <- (HB k Hk i Hi), <- sum_sub.
        apply Rle_trans with (1 := sum_abs _ _). rewrite <- SoundZ.sum_mul. apply sum_le. intros j Hj.
        replace (J i j * B k j - c i j * B k j) with (- (c i j - J i j) * B k j) by ring. rewrite Rabs_mult, Rabs_Ropp, Rmult_comm.
        apply Rmult_le_compat_l; [apply Rabs_pos|now apply D].
      * rewrite SoundZ.sum_mul. fold size. apply Rmult_le_reg_r with (2 * b); [lra|]. rewrite Rmult_assoc, Rinv_l by lra. unfold b. lra.
  - intros i Hi. rewrite (sum_unit N i (fun l => f (to (fun _ => 0)) l - (start l + y l)) Hi).
    replace (to (fun _ => 0)) with (fun _ : nat => 0).
    2:{ extensionality k. unfold to. rewrite (SoundZ.sum_ext N _ (fun _ => 0)) by (intros; ring). now rewrite SoundZ.sum_0. }
    specialize (Hy i Hi). replace (f (fun _ => 0) i - (start i + y i)) with (- y i) by (unfold start; ring). rewrite Rabs_Ropp. lra.
  - exists (to v). intros l Hl. specialize (E l Hl). cbn beta in E. lra.
Qed.

Theorem onto y : (forall l, (l < N)%nat -> f (fun _ => 0) l = 0) -> exists s x, 0 < s /\ forall l, (l < N)%nat -> f x l = s * y l.
Proof.
  intros zero. destruct covers as (r & r0 & C). set (most := 1 + sum N (fun l => Rabs (y l))).
  assert (most0 : 0 < most) by (pose proof (sum_not_negative N (fun l => Rabs (y l)) (fun _ _ => Rabs_pos _)); unfold most; lra).
  set (s := r / most). assert (s0 : 0 < s) by (apply Rmult_lt_0_compat; [exact r0|now apply Rinv_0_lt_compat]).
  destruct (C (fun l => s * y l)) as (x & X).
  - intros l Hl. rewrite Rabs_mult, (Rabs_pos_eq s) by lra. pose proof (term_below N (fun l => Rabs (y l)) l Hl (fun _ _ => Rabs_pos _)) as B. cbn in B.
    assert (E : s * most = r) by (unfold s; field; lra). unfold most in E. nra.
  - exists s, x. split; [exact s0|]. intros l Hl. rewrite X, zero by exact Hl. ring.
Qed.
End Onto.

(* Continuity at a point, for the maximum norm on families. *)
Section Steady.
Context {I : Type} (W0 : I -> R).
Definition within (r : R) (W : I -> R) : Prop := forall p, Rabs (W p - W0 p) <= r.
Definition steady (F : (I -> R) -> R) : Prop :=
  forall e, 0 < e -> exists r, 0 < r /\ forall W, within r W -> Rabs (F W - F W0) < e.

Lemma steady_constant v : steady (fun _ => v).
Proof. intros e He. exists 1. split; [lra|]. intros W _. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. exact He. Qed.
Lemma steady_at p : steady (fun W => W p).
Proof. intros e He. exists (e / 2). split; [lra|]. intros W H. specialize (H p). lra. Qed.
Lemma steady_both F G : steady F -> steady G -> forall e, 0 < e ->
  exists r, 0 < r /\ forall W, within r W -> Rabs (F W - F W0) < e /\ Rabs (G W - G W0) < e.
Proof.
  intros HF HG e He. destruct (HF e He) as (r & Hr & A), (HG e He) as (s & Hs & B). exists (Rmin r s). split; [now apply Rmin_pos|].
  intros W H. pose proof (Rmin_l r s). pose proof (Rmin_r r s). split; [apply A|apply B]; intros p; specialize (H p); lra.
Qed.
Lemma steady_plus F G : steady F -> steady G -> steady (fun W => F W + G W).
Proof.
  intros HF HG e He. destruct (steady_both F G HF HG (e / 2) ltac:(lra)) as (r & Hr & A). exists r. split; [exact Hr|]. intros W H.
  destruct (A W H) as [B C]. replace (F W + G W - (F W0 + G W0)) with (F W - F W0 + (G W - G W0)) by ring.
  apply Rle_lt_trans with (1 := Rabs_triang _ _). lra.
Qed.
Lemma steady_times F G : steady F -> steady G -> steady (fun W => F W * G W).
Proof.
  intros HF HG e He. set (c := 1 + Rabs (F W0) + Rabs (G W0)).
  assert (c1 : 1 <= c) by (pose proof (Rabs_pos (F W0)); pose proof (Rabs_pos (G W0)); unfold c; lra).
  set (d := Rmin 1 (e / c)). assert (d0 : 0 < d) by (apply Rmin_pos; [lra|apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; lra]]).
  destruct (steady_both F G HF HG d d0) as (r & Hr & A). exists r. split; [exact Hr|]. intros W H. destruct (A W H) as [B C].
  replace (F W * G W - F W0 * G W0) with ((F W - F W0) * (G W - G W0) + (F W0 * (G W - G W0) + G W0 * (F W - F W0))) by ring.
  apply Rle_lt_trans with (1 := Rabs_triang _ _). pose proof (Rabs_triang (F W0 * (G W - G W0)) (G W0 * (F W - F W0))) as T. rewrite !Rabs_mult in *.
  assert (d1 : d <= 1) by apply Rmin_l. assert (dc : d * c <= e).
  { apply Rle_trans with (e / c * c); [apply Rmult_le_compat_r; [lra|apply Rmin_r]|]. right. field. lra. }
  pose proof (Rabs_pos (F W - F W0)). pose proof (Rabs_pos (G W - G W0)). pose proof (Rabs_pos (F W0)). pose proof (Rabs_pos (G W0)).
  set (x := Rabs (F W - F W0)) in *. set (z := Rabs (G W - G W0)) in *. set (u := Rabs (F W0)) in *. set (v := Rabs (G W0)) in *.
  assert (x * z < d) by nra. assert (u * z <= u * d) by nra. assert (v * x <= v * d) by nra. unfold c in dc. lra.
Qed.
Lemma steady_sum n (F : nat -> (I -> R) -> R) : (forall i, (i < n)%nat -> steady (F i)) -> steady (fun W => sum n (fun i => F i W)).
Proof.
  revert F. induction n as [|n IH]; intros F H; cbn [sum]; [apply steady_constant|].
  apply steady_plus; [apply H; lia|]. apply (IH (fun i => F (S i))). intros i Hi. apply H. lia.
Qed.
Lemma steady_through g F : continuity_pt g (F W0) -> steady F -> steady (fun W => g (F W)).
Proof.
  intros C HF e He. destruct (C e He) as (d & Hd & D). destruct (HF d Hd) as (r & Hr & A). exists r. split; [exact Hr|]. intros W H.
  destruct (Req_dec (F W0) (F W)) as [E|E]; [rewrite E, Rminus_diag_eq, Rabs_R0 by reflexivity; exact He|].
  apply (D (F W)). split; [split; [exact Logic.I|exact E]|]. exact (A W H).
Qed.
Lemma steady_all n (F : nat -> (I -> R) -> R) e : 0 < e -> (forall k, (k < n)%nat -> steady (F k)) ->
  exists r, 0 < r /\ forall k W, (k < n)%nat -> within r W -> Rabs (F k W - F k W0) < e.
Proof.
  intros He. induction n as [|n IH]; intros H; [exists 1; split; [lra|intros; lia]|].
  destruct IH as (r & Hr & A); [intros; apply H; lia|]. destruct (H n ltac:(lia) e He) as (s & Hs & B).
  exists (Rmin r s). split; [now apply Rmin_pos|]. intros k W Hk G. pose proof (Rmin_l r s). pose proof (Rmin_r r s).
  destruct (Nat.eq_dec k n) as [->|N]; [apply B|apply A; [lia|]]; intros p; specialize (G p); lra.
Qed.
End Steady.
