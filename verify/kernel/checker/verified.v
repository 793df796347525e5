(* The three functions that the executable calls, and what each answer true proves. *)
From Coq Require Import ZArith Reals List Bool Lia.
Require Import Spec interpolation integers full_rank full_rank_sound dependent_set dependent_set_sound.
Import ListNotations.

Local Notation id := (fun x : Z => x).

Definition mat_okb (h w : nat) (M : mat Z) : bool :=
  Nat.eqb (length M) h && forallb (fun v => Nat.eqb (length v) w && forallb (fun x => Z.ltb 0 (denom x)) v) M.
Definition data_okb (c : cert Z) : bool :=
  forallb (Nat.ltb 0) [dimT c; dimn c; dimd c; dimm c; dimH c; dimk c; dimv c] &&
  (Nat.eqb (length (contexts c)) 1 || Nat.eqb (length (contexts c)) (dimT c)) &&
  forallb (mat_okb (dimn c) (dimd c)) (contexts c) &&
  mat_okb (dimT c) (dimd c) (queries c) && mat_okb (dimT c) (dimm c) (labels c) &&
  Nat.eqb (length (heads c)) (dimH c) &&
  forallb (fun x => mat_okb (dimd c) (dimk c) (key x) && mat_okb (dimd c) (dimk c) (query x)) (heads c).
Definition readout_okb (c : cert Z) : bool :=
  forallb (fun x => mat_okb (dimd c) (dimv c) (value x)) (heads c) && mat_okb (dimH c * dimv c) (dimm c) (output c).

Lemma forallb_Forall {A} (f : A -> bool) (P : A -> Prop) l :
  (forall x, f x = true -> P x) -> forallb f l = true -> Forall P l.
Proof. intros fP H. apply Forall_forall. intros x Hx. apply fP. rewrite forallb_forall in H. now apply H. Qed.
Lemma mat_okb_ok h w M : mat_okb h w M = true -> mat_ok id h w M.
Proof.
  unfold mat_okb. rewrite andb_true_iff, Nat.eqb_eq. intros [HL H]. split; [exact HL|]. revert H. apply forallb_Forall.
  intros v. rewrite andb_true_iff, Nat.eqb_eq. intros [Lv Hv]. split; [exact Lv|]. revert Hv. apply forallb_Forall.
  intros x. apply Z.ltb_lt.
Qed.
Lemma data_okb_ok c : data_okb c = true -> data_ok id c.
Proof.
  unfold data_okb. rewrite !andb_true_iff, orb_true_iff, !Nat.eqb_eq. intros [[[[[[H1 H2] H3] H4] H5] H6] H7].
  apply mat_okb_ok in H4, H5. split; [|repeat split; try assumption].
  - revert H1. apply forallb_Forall. intros s. apply Nat.ltb_lt.
  - revert H3. apply forallb_Forall. intros M. apply mat_okb_ok.
  - apply H4.
  - apply H4.
  - apply H5.
  - apply H5.
  - revert H7. apply forallb_Forall. intros x. rewrite andb_true_iff. intros [K Q]. split; now apply mat_okb_ok.
Qed.
Lemma readout_okb_ok c : readout_okb c = true -> readout_ok id c.
Proof.
  unfold readout_okb. rewrite andb_true_iff. intros [H1 H2]. split; [|now apply mat_okb_ok].
  revert H1. apply forallb_Forall. intros x. apply mat_okb_ok.
Qed.

(* The units u, uv and uf are common denominators: hints that nothing is believed of. *)
Definition interpolation_verified (u : units Z) (c : cert Z) : bool := data_okb c && readout_okb c && CheckZ.check u c.
Definition full_rank_verified (u : units Z) (p : Z) (c : cert Z) : bool := data_okb c && check_full_rank u p c.
Definition dependent_set_verified (uv uf : Z) (N d : nat) (vectors : mat Z) (indices : list nat) (coefficients : vec Z) : bool :=
  mat_okb N d vectors && check_dependent_set uv uf N d vectors indices coefficients.

Theorem interpolation_proved u c : interpolation_verified u c = true -> data_ok id c /\ readout_ok id c /\ interpolates id c.
Proof.
  unfold interpolation_verified. rewrite !andb_true_iff. intros [[H1 H2] H3].
  split; [now apply data_okb_ok|]. split; [now apply readout_okb_ok|]. exact (checkZ_sound u c H3).
Qed.
Theorem full_rank_proved u p c : full_rank_verified u p c = true -> data_ok id c /\ full_rank id c.
Proof.
  unfold full_rank_verified. rewrite andb_true_iff. intros [H1 H2].
  split; [now apply data_okb_ok|]. exact (check_full_rank_sound u p c H2).
Qed.
Theorem dependent_set_proved uv uf N d vectors indices coefficients :
  dependent_set_verified uv uf N d vectors indices coefficients = true ->
  mat_ok id N d vectors /\ dependent_set id N d vectors indices coefficients.
Proof.
  unfold dependent_set_verified. rewrite andb_true_iff. intros [H1 H2].
  split; [now apply mat_okb_ok|]. exact (check_dependent_set_sound uv uf N d vectors indices coefficients H2).
Qed.
