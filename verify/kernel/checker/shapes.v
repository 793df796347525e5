(* Shapes that are found in order are in order. *)
From Coq Require Import ZArith List Bool.
Require Import Spec Certificate.
Import ListNotations.

Lemma forallb_Forall {A} (f : A -> bool) (P : A -> Prop) l :
  (forall x, f x = true -> P x) -> forallb f l = true -> Forall P l.
Proof. intros fP H. apply Forall_forall. intros x Hx. apply fP. rewrite forallb_forall in H. now apply H. Qed.

(* The shapes. *)
Section Shapes.
Context {num : Type} (toZ : num -> Z) (above_0 : num -> bool).
Hypothesis above_0_ok : forall x, above_0 x = true -> (0 < toZ x)%Z.
Local Notation mat_okb := (mat_okb above_0).
Local Notation inputs_okb := (inputs_okb above_0).
Local Notation data_okb := (data_okb above_0).
Local Notation readout_okb := (readout_okb above_0).
Lemma mat_okb_ok h w M : mat_okb h w M = true -> mat_ok toZ h w M.
Proof.
  unfold mat_okb. rewrite andb_true_iff, Nat.eqb_eq. intros [HL H]. split; [exact HL|]. revert H. apply forallb_Forall.
  intros v. rewrite andb_true_iff, Nat.eqb_eq. intros [Lv Hv]. split; [exact Lv|]. revert Hv. apply forallb_Forall.
  intros x. apply above_0_ok.
Qed.
Lemma positive_ok sizes : forallb (Nat.ltb 0) sizes = true -> positive sizes.
Proof. apply forallb_Forall. intros s. apply Nat.ltb_lt. Qed.
Lemma inputs_okb_ok c : inputs_okb c = true -> inputs_ok toZ c.
Proof.
  unfold inputs_okb. rewrite !andb_true_iff, orb_true_iff, !Nat.eqb_eq. intros [[[[H1 H2] H3] H4] H5].
  split; [now apply positive_ok|]. split; [exact H2|]. split; [|split; now apply mat_okb_ok].
  revert H3. apply forallb_Forall. intros M. unfold between_1. rewrite !andb_true_iff, Nat.ltb_lt, Nat.leb_le.
  intros [Hn HM]. split; [exact Hn|now apply mat_okb_ok].
Qed.
Lemma data_okb_ok c : data_okb c = true -> data_ok toZ c.
Proof.
  unfold data_okb, heads_okb. rewrite !andb_true_iff, Nat.eqb_eq. intros [H1 [[H2 H3] H4]].
  split; [now apply inputs_okb_ok|]. split; [now apply positive_ok|]. split; [exact H3|].
  revert H4. apply forallb_Forall. intros x. rewrite andb_true_iff. intros [K Q]. split; now apply mat_okb_ok.
Qed.
Lemma readout_okb_ok c : readout_okb c = true -> readout_ok toZ c.
Proof.
  unfold readout_okb, values_okb. rewrite andb_true_iff. intros [H1 H2]. split; [|now apply mat_okb_ok].
  revert H1. apply forallb_Forall. intros x. apply mat_okb_ok.
Qed.
End Shapes.
