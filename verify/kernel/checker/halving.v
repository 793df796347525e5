(* Theorem 13 of docs/given-labels.md, its algebraic half: if the derivatives of H heads have independent rows at some weights,
   2H heads output all labels. "Take each head twice, with values V and -V: the outputs are 0, and J contains the columns of the
   H heads." That heads which reach an open set have such weights (Sard) is not shown here. *)
From Coq Require Import ZArith Reals List Lia Lra Arith FunctionalExtensionality.
Require Import Spec integers newton weights_near layer_slopes layer_balls box_slopes open_map all_labels general_position.
Open Scope R_scope.

Section Twice.
Variables (H more : nat) (W : place -> R).

(* Head H + h has the key, query and output of head h, and the negative of its values. There may be more heads after these,
   with values 0. *)
Definition original (h : nat) : nat := if Nat.ltb h H then h else (h - H)%nat.
Definition sign (h : nat) : R := if Nat.ltb h H then 1 else if Nat.ltb h (H + H) then -1 else 0.
Definition twice (x : place) : R :=
  match x with
  | AtKey h a b => W (AtKey (original h) a b)
  | AtQuery h a b => W (AtQuery (original h) a b)
  | AtValue h a b => sign h * W (AtValue (original h) a b)
  | AtOutput h b j => W (AtOutput (original h) b j)
  end.

Lemma first_of_two h : (h < H)%nat -> original h = h /\ sign h = 1.
Proof. intros Hh. unfold original, sign. destruct (Nat.ltb_spec h H); [easy|lia]. Qed.
Lemma second_of_two h : (h < H)%nat -> original (H + h) = h /\ sign (H + h) = -1.
Proof. intros Hh. unfold original, sign. destruct (Nat.ltb_spec (H + h) H), (Nat.ltb_spec (H + h) (H + H)); try lia. split; [lia|reflexivity]. Qed.
Lemma sign_after h : sign (H + H + h) = 0.
Proof. unfold sign. destruct (Nat.ltb_spec (H + H + h) H), (Nat.ltb_spec (H + H + h) (H + H)); try lia. reflexivity. Qed.

Lemma first_head h : (h < H)%nat ->
  wK twice h = wK W h /\ wQ twice h = wQ W h /\ wV twice h = wV W h /\ wO twice h = wO W h.
Proof.
  intros Hh. destruct (first_of_two h Hh) as [E L].
  repeat split; extensionality a; extensionality b; unfold wK, wQ, wV, wO, twice; rewrite E, ?L; ring.
Qed.
Lemma second_head h : (h < H)%nat -> wK twice (H + h) = wK W h /\ wQ twice (H + h) = wQ W h /\
  wV twice (H + h) = (fun a b => - wV W h a b) /\ wO twice (H + h) = wO W h.
Proof.
  intros Hh. destruct (second_of_two h Hh) as [E L].
  repeat split; extensionality a; extensionality b; unfold wK, wQ, wV, wO, twice; rewrite E, ?L; ring.
Qed.

Section Example.
Variables (n d dk dv : nat) (E : nat -> nat -> R) (e : nat -> R).

Lemma mean_minus K Q V O j : rmean n d dk dv E e K Q (fun a b => - V a b) O j = - rmean n d dk dv E e K Q V O j.
Proof.
  unfold rmean, mean. apply Rminus_diag_uniq. unfold Rminus. rewrite Ropp_involutive, <- SoundZ.sum_add, <- (SoundZ.sum_0 n).
  apply SoundZ.sum_ext. intros i _.
  replace (rs d dv E (fun a b => - V a b) O j i) with (-1 * rs d dv E V O j i); [ring|].
  unfold rs, rmix. rewrite <- SoundZ.sum_mull. apply SoundZ.sum_ext. intros a _.
  replace (-1 * (E i a * sum dv (fun b => V a b * O b j))) with (E i a * (-1 * sum dv (fun b => V a b * O b j))) by ring.
  f_equal. rewrite <- SoundZ.sum_mull. apply SoundZ.sum_ext. intros. ring.
Qed.

Lemma mean_zero K Q O j : rmean n d dk dv E e K Q (fun _ _ => 0) O j = 0.
Proof.
  assert (M : forall a, rmix dv (fun _ _ => 0) O j a = 0).
  { intros a. unfold rmix. rewrite (SoundZ.sum_ext dv _ (fun _ => 0)) by (intros; ring). apply SoundZ.sum_0. }
  assert (S : forall i, rs d dv E (fun _ _ => 0) O j i = 0).
  { intros i. unfold rs. rewrite (SoundZ.sum_ext d _ (fun _ => 0)) by (intros; rewrite M; ring). apply SoundZ.sum_0. }
  unfold rmean, mean. rewrite (SoundZ.sum_ext n _ (fun _ => 0)) by (intros; rewrite S; ring). apply SoundZ.sum_0.
Qed.

Lemma outcome_twice j : outcome n d dk dv E e (H + H + more) twice j = 0.
Proof.
  unfold outcome. rewrite !sum_split, <- SoundZ.sum_add. rewrite (SoundZ.sum_ext H _ (fun _ => 0)), (SoundZ.sum_ext more _ (fun _ => 0)), !SoundZ.sum_0.
  - ring.
  - intros h _. unfold mean_of. replace (wV twice (H + H + h)) with (fun _ _ : nat => 0); [apply mean_zero|].
    extensionality a. extensionality b. unfold wV, twice. rewrite sign_after. ring.
  - intros h Hh. unfold mean_of. destruct (first_head h Hh) as (-> & -> & -> & ->), (second_head h Hh) as (-> & -> & -> & ->). rewrite mean_minus. ring.
Qed.

Lemma slope_twice m j x : valid_place d m H dk dv x = true -> slope n d dk dv E e twice j x = slope n d dk dv E e W j x.
Proof.
  intros V. destruct x as [h a b|h a b|h a b|h b i]; cbn [valid_place] in V; apply andb_prop in V as [V _];
    apply andb_prop in V as [Hh _]; apply Nat.ltb_lt in Hh; cbn [slope]; destruct (first_head h Hh) as (EK & EQ & EV & EO);
    rewrite ?EK, ?EQ, ?EV, ?EO; try reflexivity.
  unfold twice. now destruct (first_of_two h Hh) as [-> _].
Qed.
End Example.
End Twice.

Lemma valid_more d m H dk dv x : valid_place d m H dk dv x = true -> valid_place d m (H + H) dk dv x = true.
Proof. destruct x; cbn [valid_place]; rewrite !Bool.andb_true_iff, !Nat.ltb_lt; intuition lia. Qed.

(* J is onto somewhere for H heads, by the weights at some places; then 2H heads memorize every labelling. *)
Theorem halving T d dk dv m H (n : nat -> nat) (E : nat -> nat -> nat -> R) (e : nat -> nat -> R) (W : place -> R) (places : list place) :
  (forall t, (t < T)%nat -> (0 < n t)%nat) -> (0 < m)%nat ->
  distinct_places places = true -> forallb (valid_place d m H dk dv) places = true ->
  independent_rows (T * m) (length places) (jacobian d dk dv m n E e places W) ->
  forall y, exists W', forall l, (l < T * m)%nat -> out d dk dv m (H + H) n E e W' l = y l.
Proof.
  intros Hn Hm D V I. apply (all_labels T d dk dv m (H + H) n E e (twice H W) places Hn Hm D).
  - rewrite forallb_forall in *. intros x Hx. now apply valid_more, V.
  - intros l _. unfold out. rewrite <- (Nat.add_0_r (H + H)). apply outcome_twice.
  - intros a Z. apply I. intros k Hk. rewrite <- (Z k Hk). apply SoundZ.sum_ext. intros l _. f_equal. unfold jacobian. symmetry.
    apply slope_twice with (m := m). rewrite forallb_forall in V. apply V, nth_In, Hk.
Qed.
