(* Weights with a Jacobian of independent rows reach an open set of labels; if all outputs are 0 there, other weights reach all
   labels. The Jacobian is the derivative. *)
From Coq Require Import ZArith Reals List Lia Lra Arith FunctionalExtensionality.
Require Import Spec integers fixed_point newton weights_near layer_slopes layer_balls box_slopes near_sound open_map.
Open Scope R_scope.

(* The derivatives change little near any weights. *)
Section Steady.
Variables (n d dk dv m H : nat) (E : nat -> nat -> R) (e : nat -> R) (W0 : place -> R).
Hypothesis Hn : (0 < n)%nat.
Local Notation steady := (steady W0).
Local Ltac sums := repeat first [apply steady_sum; intros | apply steady_times | apply steady_at | apply steady_constant].
Variable h : nat.
Local Notation K W := (wK W h). Local Notation Q W := (wQ W h). Local Notation V W := (wV W h). Local Notation O W := (wO W h).
Lemma steady_query b : steady (fun W => rq d e (Q W) b).
Proof. unfold rq, wQ. sums. Qed.
Lemma steady_logit i : steady (fun W => rl d dk E e (K W) (Q W) i).
Proof. unfold rl, rw, rq, wK, wQ. sums. Qed.
Lemma steady_exp i : steady (fun W => exp (rl d dk E e (K W) (Q W) i)).
Proof. apply (steady_through W0 exp); [apply derivable_continuous_pt, derivable_pt_exp|apply steady_logit]. Qed.
Lemma steady_softmax i : steady (fun W => softmax n (rl d dk E e (K W) (Q W)) i).
Proof.
  unfold softmax, Rdiv. apply steady_times; [apply steady_exp|]. apply (steady_through W0 Rinv (fun W => sum n (fun j => exp (rl d dk E e (K W) (Q W) j)))).
  - apply (continuity_pt_inv (fun x => x)); [apply derivable_continuous_pt, derivable_pt_id|].
    apply Rgt_not_eq, SoundZ.sum_pos; [exact Hn|]. intros. apply exp_pos.
  - apply steady_sum. intros. apply steady_exp.
Qed.
Lemma steady_score j i : steady (fun W => rs d dv E (V W) (O W) j i).
Proof. unfold rs, rmix, wV, wO. sums. Qed.
Lemma steady_gamma j a : steady (fun W => rgamma n d dk dv E e (K W) (Q W) (V W) (O W) j a).
Proof.
  unfold rgamma, rg, rmean, mean. apply steady_sum. intros i _. apply steady_times; [apply steady_constant|]. apply steady_times; [apply steady_softmax|].
  apply steady_plus; [apply steady_score|].
  assert (A : forall F, steady F -> steady (fun W => - F W)).
  { intros F HF. replace (fun W => - F W) with (fun W => -1 * F W) by (extensionality W; ring). apply steady_times; [apply steady_constant|exact HF]. }
  apply A. apply steady_sum. intros k _. apply steady_times; [apply steady_softmax|apply steady_score].
Qed.
Lemma steady_mean a : steady (fun W => rz n d dk E e (K W) (Q W) a).
Proof. unfold rz. apply steady_sum. intros. apply steady_times; [apply steady_constant|apply steady_softmax]. Qed.
End Steady.
Lemma steady_slope n d dk dv E e W0 j x : (0 < n)%nat -> steady W0 (fun W => slope n d dk dv E e W j x).
Proof.
  intros Hn. destruct x as [h a b|h a b|h a b|h b i]; cbn [slope].
  - apply steady_times; [now apply steady_gamma|apply steady_query].
  - apply steady_times; [apply steady_constant|]. unfold rback. apply steady_sum. intros k _. apply steady_times; [apply steady_at|now apply steady_gamma].
  - apply steady_times; [now apply steady_mean|apply steady_at].
  - destruct (Nat.eqb i j); [|apply steady_constant]. unfold rv. apply steady_sum. intros k _. apply steady_times; [apply steady_at|now apply steady_mean].
Qed.

(* Outputs are linear in the values. *)
Definition scaled (y : R) (W : place -> R) : place -> R := fun x => match x with AtValue _ _ _ => y * W x | _ => W x end.
Lemma outcome_scaled n d dk dv E e H y W j : outcome n d dk dv E e H (scaled y W) j = y * outcome n d dk dv E e H W j.
Proof.
  unfold outcome. rewrite <- SoundZ.sum_mull. apply SoundZ.sum_ext. intros h _. unfold mean_of, rmean, mean.
  rewrite <- SoundZ.sum_mull. apply SoundZ.sum_ext. intros i _.
  assert (S : rs d dv E (wV (scaled y W) h) (wO (scaled y W) h) j i = y * rs d dv E (wV W h) (wO W h) j i).
  { unfold rs, rmix. rewrite <- SoundZ.sum_mull. apply SoundZ.sum_ext. intros a _. rewrite <- Rmult_assoc, (Rmult_comm y), Rmult_assoc. f_equal.
    rewrite <- SoundZ.sum_mull. apply SoundZ.sum_ext. intros b _. unfold wV, wO, scaled. ring. }
  rewrite S. change (rl d dk E e (wK (scaled y W) h) (wQ (scaled y W) h)) with (rl d dk E e (wK W h) (wQ W h)). ring.
Qed.

Section AllLabels.
Variables (T d dk dv m H : nat) (n : nat -> nat) (E : nat -> nat -> nat -> R) (e : nat -> nat -> R).
Variables (W0 : place -> R) (places : list place).
Hypotheses (Hn : forall t, (t < T)%nat -> (0 < n t)%nat) (Hm : (0 < m)%nat).
Hypotheses (distinct : distinct_places places = true) (valid : forallb (valid_place d m H dk dv) places = true).
Local Notation N := (T * m)%nat.
Local Notation M := (length places).
Definition out (W : place -> R) (l : nat) : R := outcome (n (l / m)) d dk dv (E (l / m)%nat) (e (l / m)%nat) H W (l mod m).
Definition jacobian (W : place -> R) (l k : nat) : R := slope (n (l / m)) d dk dv (E (l / m)%nat) (e (l / m)%nat) W (l mod m) (spot places k).

Lemma example_lt l : (l < N)%nat -> (l / m < T)%nat.
Proof. intros Hl. apply Nat.div_lt_upper_bound; lia. Qed.
Lemma near_slopes eps : 0 < eps -> exists r, 0 < r /\ forall l k W, (l < N)%nat -> (k < M)%nat -> within W0 r W ->
  Rabs (jacobian W l k - jacobian W0 l k) < eps.
Proof.
  intros He. destruct (steady_all W0 (N * M) (fun i W => jacobian W (i / M) (i mod M)) eps He) as (r & Hr & A).
  - intros i Hi. assert (M0 : (0 < M)%nat) by lia. apply steady_slope, Hn, example_lt, Nat.div_lt_upper_bound; lia.
  - exists r. split; [exact Hr|]. intros l k W Hl Hk HW. specialize (A (l * M + k)%nat W ltac:(nia) HW). cbn in A.
    rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r in A by lia. rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small in A by lia. exact A.
Qed.

Lemma put_zero : put W0 places (fun _ => 0) = W0.
Proof.
  extensionality x. unfold put. rewrite (SoundZ.sum_ext _ _ (fun _ => 0)) by (intros; now destruct (same_place _ _)). rewrite SoundZ.sum_0. ring.
Qed.
(* Between two points near 0 of the weights that move: slopes near those of the Jacobian. *)
Lemma slopes_near eps : 0 < eps -> exists r, 0 < r /\ forall x z, inside M r x -> inside M r z -> exists c : nat -> nat -> R,
  (forall l, (l < N)%nat -> out (put W0 places x) l - out (put W0 places z) l = sum M (fun k => c l k * (x k - z k))) /\
  forall l k, (l < N)%nat -> (k < M)%nat -> Rabs (c l k - jacobian W0 l k) <= eps.
Proof.
  intros He. destruct (near_slopes eps He) as (r & Hr & A). exists r. split; [exact Hr|]. intros x z Hx Hz.
  destruct (choose_upto (fun l (c : nat -> R) => out (put W0 places x) l - out (put W0 places z) l = sum M (fun k => c k * (x k - z k)) /\
    forall k, (k < M)%nat -> exists W, in_box W0 places r W /\ c k = jacobian W l k) (fun _ => 0) N) as [c C].
  { intros l Hl. apply slopes_between with (dv := dv) (m := m); try assumption; [lra|]. now apply Hn, example_lt. }
  exists c. split; [intros l Hl; apply (C l Hl)|]. intros l k Hl Hk. destruct (C l Hl) as [_ G]. destruct (G k Hk) as (W & HW & ->).
  left. apply A; [exact Hl|exact Hk|]. intros p. specialize (HW p). destruct (moves places p); lra.
Qed.

(* J is the derivative: if the weights at these places move by x, the outputs move by J x, up to eps |x| for small x. *)
Theorem jacobian_is_derivative eps : 0 < eps -> exists r, 0 < r /\ forall x, inside M r x -> forall l, (l < N)%nat ->
  Rabs (out (put W0 places x) l - out W0 l - sum M (fun k => jacobian W0 l k * x k)) <= eps * sum M (fun k => Rabs (x k)).
Proof.
  intros He. destruct (slopes_near eps He) as (r & Hr & S). exists r. split; [exact Hr|]. intros x Hx l Hl.
  destruct (S x (fun _ => 0) Hx) as (c & C & B); [intros k _; rewrite Rabs_R0; lra|]. specialize (C l Hl). rewrite put_zero in C. rewrite C, <- sum_sub.
  apply Rle_trans with (1 := sum_abs _ _). rewrite <- SoundZ.sum_mull. apply sum_le. intros k Hk.
  replace (c l k * (x k - 0) - jacobian W0 l k * x k) with ((c l k - jacobian W0 l k) * x k) by ring. rewrite Rabs_mult.
  apply Rmult_le_compat_r; [apply Rabs_pos|now apply B].
Qed.

(* Theorem 11, its second half. *)
Theorem open_set : independent_rows N M (jacobian W0) ->
  exists r, 0 < r /\ forall y, (forall l, (l < N)%nat -> Rabs (y l - out W0 l) <= r) -> exists W, forall l, (l < N)%nat -> out W l = y l.
Proof.
  intros independent. destruct (covers N M (fun x => out (put W0 places x)) (jacobian W0) slopes_near independent) as (r & Hr & C). exists r. split; [exact Hr|]. intros y Hy.
  destruct (C (fun l => y l - out W0 l) Hy) as (x & X). exists (put W0 places x). intros l Hl. rewrite X, put_zero by exact Hl. ring.
Qed.

Hypothesis zero : forall l, (l < N)%nat -> out W0 l = 0.
Hypothesis independent : independent_rows N M (jacobian W0).

Theorem all_labels y : exists W, forall l, (l < N)%nat -> out W l = y l.
Proof.
  destruct (onto N M (fun x => out (put W0 places x)) (jacobian W0) slopes_near independent y) as (s & x & Hs & X); [now rewrite put_zero|].
  exists (scaled (/ s) (put W0 places x)). intros l Hl. unfold out. rewrite outcome_scaled. fold (out (put W0 places x) l). rewrite X by exact Hl. field. lra.
Qed.
End AllLabels.
