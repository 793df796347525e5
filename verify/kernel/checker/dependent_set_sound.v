(* check_dependent_set = true implies dependent_set. *)
From Coq Require Import ZArith Reals List Bool Lia Lra.
Require Import Spec Certificate numbers interpolation interpolation_sound integers dependent_set.
Import ListNotations.
Import SoundZ.
Open Scope R_scope.

Lemma distinct_ok l : distinct l = true -> NoDup l.
Proof.
  induction l as [|i l IH]; cbn; intros H; [constructor|]. apply andb_prop in H as [H1 H2]. constructor; [|auto].
  intros Hi. apply negb_true_iff in H1. assert (existsb (Nat.eqb i) l = true); [|congruence].
  apply existsb_exists. exists i. split; [exact Hi|apply Nat.eqb_refl].
Qed.

Theorem check_dependent_set_sound uv uf N d vectors indices coefficients :
  check_dependent_set uv uf N d vectors indices coefficients = true ->
  dependent_set (fun x : Z => x) N d vectors indices coefficients.
Proof.
  unfold check_dependent_set. rewrite !andb_true_iff. intros [[[[[H1 H2] H3] H4] H5] H].
  apply nonzero_ok in H1, H2.
  destruct (CheckZ.clearm N d uv vectors) as [V|] eqn:HV; [|discriminate].
  destruct (CheckZ.clearv (length indices) uf coefficients) as [F|] eqn:HF; [|discriminate].
  destruct (clearm_ok _ _ _ _ _ H1 HV) as (V1 & V2 & V3), (clearv_ok _ _ _ _ H2 HF) as (F1 & F2).
  apply andb_prop in H as [Hnz H0]. rewrite forallb_forall in Hnz, H0, H5.
  assert (inN : forall i, In i indices -> (i < N)%nat) by (intros i Hi; apply Nat.ltb_lt; auto).
  split; [intros ->; discriminate|]. split; [now apply distinct_ok|]. split; [exact inN|]. split.
  - intros k Hk. change (fun x : Z => x) with ZNum.toZ. rewrite F2. unfold ient.
    destruct (nth_error F k) as [f|] eqn:Hf; [|apply nth_error_None in Hf; lia].
    assert (Hfn : ZNum.toZ f <> 0%Z) by (apply nonzero_ok, Hnz; eapply nth_error_In; eauto).
    apply nz in H2, Hfn. apply Rmult_integral_contrapositive_currified; [exact Hfn|now apply Rinv_neq_0_compat].
  - intros j Hj. change (fun x : Z => x) with ZNum.toZ.
    set (rows := map (fun i => nth i V []) indices) in *.
    assert (Lr : length rows = length indices) by apply map_length.
    assert (Rr : rect d rows).
    { apply Forall_forall. intros r Hr. apply in_map_iff in Hr as (i & <- & Hi). apply rect_nth; [exact V2|].
      rewrite V1. now apply inN. }
    destruct (lincomb_ok d (length indices) F rows F1 Lr Rr) as [Ll Hl].
    transitivity (ient (C.lincomb d F rows) j / (IZR uf * IZR uv)).
    + rewrite Hl. unfold Rdiv. rewrite <- sum_mul. apply sum_ext. intros k Hk. rewrite F2, V3.
      replace (ient2 rows k j) with (ient2 V (nth k indices 0%nat) j).
      * apply nz in H1, H2. change (ZNum.toZ uf) with uf in *. change (ZNum.toZ uv) with uv in *. field. split; assumption.
      * unfold ient2, rows. rewrite (nth_indep (map (fun i => nth i V []) indices) [] (nth 0 V [])) by (rewrite map_length; exact Hk).
        now rewrite (map_nth (fun i => nth i V []) indices 0%nat k).
    + replace (ient (C.lincomb d F rows) j) with 0; [unfold Rdiv; ring|]. unfold ient.
      match goal with |- context [nth_error ?l j] => destruct (nth_error l j) as [z|] eqn:Hz; [|reflexivity] end.
      apply nth_error_In in Hz. assert (E := H0 z Hz). apply Z.eqb_eq in E. now rewrite E.
Qed.
