(* check_rounding = true implies rounded. *)
From Coq Require Import ZArith Reals List Bool Lia Lra.
Require Import Spec rounding.
Import ListNotations.
Open Scope R_scope.
Local Notation id := (fun x : Z => x).

Section Entry.
Variables (x y : frac Z).
Hypotheses (x_pos : (0 < denom x)%Z) (y_pos : (0 < denom y)%Z).
Let b := IZR (denom x). Let d := IZR (denom y).
Let b_pos : 0 < b. Proof. now apply IZR_lt. Qed.
Let d_pos : 0 < d. Proof. now apply IZR_lt. Qed.
Let bd_pos : 0 < b * d. Proof. now apply Rmult_lt_0_compat. Qed.

Lemma off_ok : Rabs (real id x - real id y) * (b * d) = IZR (off (x, y)).
Proof.
  unfold off. cbn [fst snd]. rewrite abs_IZR, minus_IZR, !mult_IZR. fold b d.
  rewrite <- (Rabs_pos_eq (b * d)) by lra. rewrite <- Rabs_mult. f_equal. unfold real. fold b d. field. lra.
Qed.
(* |x - y| beside a fraction u/v, v > 0, is off times v beside u times b d. *)
Lemma compare_ok u v : (0 < v)%Z -> let r := Rabs (real id x - real id y) in
  match (off (x, y) * v ?= u * (denom x * denom y))%Z with
  | Lt => r < IZR u / IZR v | Eq => r = IZR u / IZR v | Gt => r > IZR u / IZR v
  end.
Proof.
  intros Hv r. assert (V : 0 < IZR v) by now apply IZR_lt.
  assert (R : r * (b * d * IZR v) = IZR (off (x, y) * v)) by (rewrite mult_IZR, <- off_ok; unfold r; ring).
  assert (U : IZR u / IZR v * (b * d * IZR v) = IZR (u * (denom x * denom y))) by (rewrite !mult_IZR; fold b d; field; lra).
  assert (P : 0 < b * d * IZR v) by now apply Rmult_lt_0_compat.
  destruct (Z.compare_spec (off (x, y) * v) (u * (denom x * denom y))) as [H|H|H].
  - apply Rmult_eq_reg_r with (b * d * IZR v); [|lra]. now rewrite R, U, H.
  - apply Rmult_lt_reg_r with (b * d * IZR v); [exact P|]. rewrite R, U. now apply IZR_lt.
  - apply Rmult_lt_reg_r with (b * d * IZR v); [exact P|]. rewrite R, U. now apply IZR_lt.
Qed.
End Entry.

Lemma check_nearest_ok g x y : (0 < denom g)%Z -> (0 < numer g)%Z -> check_nearest g (x, y) = true ->
  denom_ok id x /\ denom_ok id y /\ nearest (real id g) (real id x) (real id y).
Proof.
  intros Hq Hp. unfold check_nearest. set (k := (_ / _)%Z). rewrite !andb_true_iff, !Z.ltb_lt, Z.eqb_eq.
  intros [[[Hx Hy] Hk] H]. split; [exact Hx|]. split; [exact Hy|]. exists k. split.
  - assert (D : 0 < IZR (denom y)) by now apply IZR_lt. assert (Q : 0 < IZR (denom g)) by now apply IZR_lt.
    apply (f_equal IZR) in Hk. rewrite !mult_IZR in Hk. unfold real.
    apply Rmult_eq_reg_r with (IZR (denom y) * IZR (denom g)); [|apply Rgt_not_eq; now apply Rmult_lt_0_compat].
    transitivity (IZR (numer y) * IZR (denom g)); [field; lra|]. rewrite <- Hk. field. lra.
  - assert (C := compare_ok x y Hx Hy (numer g) (denom g * 2) ltac:(lia)). cbv zeta in C.
    replace (off (x, y) * (denom g * 2))%Z with (2 * off (x, y) * denom g)%Z in C by ring.
    replace (IZR (numer g) / IZR (denom g * 2)) with (real id g / 2) in C.
    2: { unfold real. rewrite mult_IZR. field. apply Rgt_not_eq. now apply IZR_lt. }
    destruct (2 * off (x, y) * denom g ?= numer g * (denom x * denom y))%Z; [right; now split|left; exact C|discriminate].
Qed.

Theorem check_rounding_sound r : check_rounding r = true -> rounded id r.
Proof.
  unfold check_rounding. rewrite !andb_true_iff, !Z.ltb_lt, !forallb_forall, existsb_exists.
  intros [[[[[Hg Hc] Hp] Hnear] Hle] ([x y] & Hin & Heq)].
  assert (near : forall x y, In (x, y) (entries r) -> denom_ok id x /\ denom_ok id y /\ nearest (real id (grid r)) (real id x) (real id y))
    by (intros x' y' H'; apply check_nearest_ok; auto).
  assert (compared : forall x y, In (x, y) (entries r) -> let d := Rabs (real id x - real id y) in
    match compare_off (change r) (x, y) with
    | Lt => d < real id (change r) | Eq => d = real id (change r) | Gt => d > real id (change r) end)
    by (intros x' y' H'; destruct (near _ _ H') as (Dx & Dy & _); exact (compare_ok x' y' Dx Dy _ _ Hc)).
  split; [exact Hg|]. split; [exact Hc|]. split; [|split].
  - unfold real. apply Rmult_lt_0_compat; [now apply IZR_lt|]. apply Rinv_0_lt_compat. now apply IZR_lt.
  - intros x' y' H'. destruct (near _ _ H') as (Dx & Dy & Nr). split; [exact Dx|]. split; [exact Dy|]. split; [exact Nr|].
    specialize (Hle _ H'). assert (C := compared _ _ H'). cbv zeta in C.
    destruct (compare_off (change r) (x', y')); [now apply Req_le|now apply Rlt_le|discriminate].
  - exists x, y. split; [exact Hin|]. assert (C := compared _ _ Hin). cbv zeta in C.
    destruct (compare_off (change r) (x, y)); [exact C|discriminate|discriminate].
Qed.
