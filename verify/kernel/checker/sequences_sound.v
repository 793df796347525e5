(* Sequences that are written out are the sequences: written_out gives prefixes. *)
From Coq Require Import ZArith Reals List Bool Lia Lra.
Require Import Spec Json Certificate shapes transfer.
Import ListNotations.
Local Notation id := (fun x : Z => x).

Lemma plus_frac_ok x y : (0 < denom x)%Z -> (0 < denom y)%Z -> real id (plus_frac x y) = (real id x + real id y)%R.
Proof.
  intros Hx Hy. unfold plus_frac. generalize (divisor max_bytes (denom x) (denom y)). intros g.
  destruct (_ && _) eqn:H; unfold real; cbn [numer denom].
  - apply andb_prop in H as [Ha Hb]. apply Z.eqb_eq in Ha, Hb. revert Ha Hb. generalize (denom x / g)%Z, (denom y / g)%Z. intros a b Ha Hb.
    rewrite <- Ha, <- Hb in *. rewrite plus_IZR, !mult_IZR. field. repeat split; apply not_0_IZR; nia.
  - rewrite plus_IZR, !mult_IZR. field. split; apply not_0_IZR; lia.
Qed.

Lemma each_length {A B} (f : A -> result B) l ys : each f l = Got ys -> length ys = length l.
Proof. intros H. apply (each_values f (fun _ => tt) (fun _ => tt)) in H; [|auto]. apply (f_equal (@length _)) in H. now rewrite !map_length in H. Qed.
Lemma each_from {A B} (f : A -> result B) l ys y : each f l = Got ys -> In y ys -> exists x, In x l /\ f x = Got y.
Proof.
  intros H I. apply (each_values f f Got) in H; [|auto]. apply (in_map Got) in I. rewrite <- H in I.
  apply in_map_iff in I as (x & E & I). now exists x.
Qed.
Lemma index_of_got n j k : index_of n j = Got k -> (k < n)%nat.
Proof. unfold index_of. intros H. steps. subst k. now apply Nat.ltb_lt. Qed.

(* What reading gives. *)
Definition sequences_ok (n T d : nat) (q : sequences Z) : Prop :=
  length (ends q) = T /\ mat_ok id (length (embedding q)) d (embedding q) /\
  (forall text x, In text (texts q) -> In x text -> (x < length (embedding q))%nat) /\
  (forall s i, In (s, i) (ends q) -> exists text, nth_error (texts q) s = Some text /\ (i < length text)%nat) /\
  forall P, positions q = Some P -> mat_ok id (length P) d P /\ forall text, In text (texts q) -> (length text <= length P)%nat.

Lemma above_0_ok x : above_0 x = true -> (0 < x)%Z.
Proof. apply Z.ltb_lt. Qed.
Lemma sequences_of_ok f n T embedding positions texts ends q : sequences_of f n T embedding positions texts ends = Got q ->
  sequences_ok n T (width (Spec.embedding q)) q.
Proof.
  unfold sequences_of. intros H. steps. subst q. cbn [Spec.embedding Spec.positions Spec.texts Spec.ends]. unfold sequences_ok; cbn [Spec.embedding Spec.positions Spec.texts Spec.ends].
  match goal with H : shaped _ = Got ?E |- _ => rename H into HS; rename E into E0 end.
  match goal with H : of_list (of_list _) _ = Got ?E |- _ => rename H into HT; rename E into texts0 end.
  match goal with H : of_list (end_of _) _ = Got ?E |- _ => rename H into HP; rename E into places0 end.
  match goal with H : (if is_null _ then _ else _) = Got ?P |- _ => rename H into HQ; rename P into P0 end.
  assert (R : forall text x, In text texts0 -> In x text -> (x < length E0)%nat).
  { intros text k It Ik. destruct texts; try discriminate. apply each_from with (y := text) in HT as (j & _ & Hj); [|exact It].
    destruct j; try discriminate. apply each_from with (y := k) in Hj as (i & _ & Hk); [|exact Ik]. exact (index_of_got _ _ _ Hk). }
  split; [now apply Nat.eqb_eq|]. split.
  { unfold shaped in HS. match type of HS with match ?r with _ => _ end = _ => destruct r as [|[|a row] rows]; try discriminate end. steps. subst E0. now apply (mat_okb_ok id above_0 above_0_ok). }
  split; [exact R|]. split.
  - intros s i I. destruct ends; try discriminate. apply each_from with (y := (s, i)) in HP as (j & _ & Hj); [|exact I].
    unfold end_of in Hj. destruct j as [| | |[|? [|? [|]]]|]; try discriminate. steps. subst.
    repeat match goal with H : index_of _ _ = Got _ |- _ => apply index_of_got in H end.
    exists (nth s texts0 []). split; [now apply nth_error_nth'|assumption].
  - intros P ->. destruct (is_null positions); [discriminate|]. steps. subst. split; [now apply (mat_okb_ok id above_0 above_0_ok)|].
    intros text It. match goal with H : forallb _ texts0 = true |- _ => rewrite forallb_forall in H; apply H in It end. now apply Nat.leb_le.
Qed.

Section Written.
Variables (n T d : nat) (q : sequences Z).
Hypothesis ok : sequences_ok n T d q.

Lemma mat_row h w M i : mat_ok id h w M -> (i < h)%nat -> length (nth i M []) = w /\ Forall (fun x => (0 < denom x)%Z) (nth i M []).
Proof. intros [L H] Hi. rewrite Forall_forall in H. apply H. apply nth_In. now rewrite L. Qed.
Lemma ventry_plus x y w j : length x = w -> length y = w -> Forall (fun a => (0 < denom a)%Z) x -> Forall (fun a => (0 < denom a)%Z) y ->
  ventry id (map (fun p => plus_frac (fst p) (snd p)) (combine x y)) j = (ventry id x j + ventry id y j)%R.
Proof.
  revert y w j. induction x as [|a x IH]; intros [|b y] w j Lx Ly Fx Fy; cbn in Lx, Ly; try (subst w; discriminate).
  - unfold ventry. cbn. destruct j; cbn; lra.
  - inversion Fx; inversion Fy; subst. destruct j; cbn.
    + unfold ventry. cbn [nth_error]. now apply plus_frac_ok.
    + apply (IH y (length x)); auto.
Qed.
Lemma token_rows_length text : In text (texts q) -> length (token_rows q text) = length text.
Proof.
  intros It. unfold token_rows. destruct (positions q) as [P|] eqn:EP; [|apply map_length].
  rewrite map_length, combine_length, map_length. apply Nat.min_l. destruct ok as (_ & _ & _ & _ & H). now apply (proj2 (H P EP)).
Qed.
Lemma token_rows_ok text k j : In text (texts q) -> (k < length text)%nat -> ventry id (nth k (token_rows q text) []) j = token id q text k j.
Proof.
  intros It Hk. destruct ok as (_ & HE & HR & _ & HP). specialize (HR text (nth k text O) It (nth_In _ _ Hk)).
  destruct (mat_row _ _ _ _ HE HR) as [LE FE].
  assert (N : nth_error (map (fun x => nth x (embedding q) []) text) k = Some (nth (nth k text O) (embedding q) [])).
  { now apply (map_nth_error (fun x => nth x (embedding q) [])), nth_error_nth'. }
  unfold token, token_rows, mentry. destruct (positions q) as [P|].
  - destruct (HP P eq_refl) as [HM HL]. specialize (HL text It). assert (HkP : (k < length P)%nat) by exact (Nat.lt_le_trans _ _ _ Hk HL). destruct (mat_row _ _ _ k HM HkP) as [LP FP].
    assert (C : forall A B (x : list A) (y : list B) t a b, nth_error x t = Some a -> nth_error y t = Some b -> nth_error (combine x y) t = Some (a, b)).
    { clear. intros A B. induction x as [|a' x IH]; intros [|b' y] [|t] a b; cbn; try discriminate; [now intros [= ->] [= ->]|apply IH]. }
    erewrite nth_error_nth; [|apply map_nth_error, C; [exact N|now apply nth_error_nth']]. cbn [fst snd].
    now apply (ventry_plus _ _ d).
  - rewrite (nth_error_nth _ _ _ N). lra.
Qed.

Theorem written_out_ok c : dimT c = T -> contexts c = fst (written_out q) -> queries c = snd (written_out q) -> prefixes id q c.
Proof.
  intros HT HE Hq. assert (O := ok). destruct O as (LT & _ & HR & HP & HPos). split; [congruence|]. split; [exact HR|]. split.
  { intros text P It EP. now apply (proj2 (HPos P EP)). }
  intros t s i Hp. destruct (HP s i (nth_error_In _ _ Hp)) as (text & Ht & Hi). exists text. split; [exact Ht|]. split; [exact Hi|].
  assert (It := nth_error_In _ _ Ht).
  assert (R : nth s (map (token_rows q) (texts q)) [] = token_rows q text) by (apply nth_error_nth, map_nth_error, Ht).
  assert (Hc : nth_error (contexts c) t = Some (firstn (S i) (token_rows q text))).
  { rewrite HE. cbn [written_out fst]. erewrite map_nth_error by exact Hp. cbn [fst snd]. now rewrite R. }
  assert (HQ : nth t (queries c) [] = nth i (token_rows q text) []).
  { rewrite Hq. cbn [written_out snd]. erewrite nth_error_nth; [|apply map_nth_error, Hp]. cbn [fst snd]. now rewrite R. }
  assert (C : ctx c t = firstn (S i) (token_rows q text)).
  { unfold ctx. destruct (contexts c) as [|M [|M' r]] eqn:EC.
    - destruct t; discriminate.
    - destruct t as [|t]; [now injection Hc as ->|]. destruct t; discriminate.
    - now apply nth_error_nth. }
  unfold tokens, mentry. rewrite C, HQ. assert (L := token_rows_length text It).
  split; [now rewrite firstn_length, L, Nat.min_l by lia|]. split.
  - intros k j Hk _. rewrite <- token_rows_ok by (auto; lia). f_equal.
    rewrite <- (firstn_skipn (S i) (token_rows q text)) at 2. rewrite app_nth1; [reflexivity|]. rewrite firstn_length, L. lia.
  - intros j _. now apply token_rows_ok.
Qed.
End Written.
