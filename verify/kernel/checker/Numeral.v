(* The value of a decimal numeral, and a way to compute it that is quick for long ones. *)
From Coq Require Import ZArith List Lia.
Import ListNotations.
Open Scope Z_scope.

Definition ten := 10.
Definition horner (digits : list Z) : Z := fold_left (fun z x => ten * z + x) digits 0.

(* Digits from the last to the first, in base b; neighbours are joined to digits in base b^2. *)
Definition val (b : Z) (l : list Z) : Z := fold_right (fun x z => x + b * z) 0 l.
Fixpoint pairs (b : Z) (l done : list Z) : list Z :=
  match l with
  | x :: y :: r => pairs b r (x + b * y :: done)
  | [x] => x :: done
  | [] => done
  end.
Fixpoint join (fuel : nat) (b : Z) (l : list Z) : Z :=
  match l, fuel with
  | [], _ => 0
  | [x], _ => x
  | _, O => val b l
  | _, S fuel' => join fuel' (b * b) (rev_append (pairs b l []) [])
  end.
Definition rounds := Z.to_nat 40.
Definition numeral (digits : list Z) : Z := join rounds ten (rev_append digits []).

Lemma pairs_ok b l done :
  val (b * b) (rev_append (pairs b l done) []) = val (b * b) (rev done) + (b * b) ^ Z.of_nat (length done) * val b l.
Proof.
  assert (A : forall l l', val (b * b) (l ++ l') = val (b * b) l + (b * b) ^ Z.of_nat (length l) * val (b * b) l').
  { unfold val. induction l0 as [|x r IH]; intros l'; cbn [app fold_right length].
    - change (Z.of_nat 0) with 0. rewrite Z.pow_0_r. ring.
    - rewrite IH, Nat2Z.inj_succ, Z.pow_succ_r by lia. ring. }
  revert done. enough (H : forall k l done, (length l <= k)%nat -> val (b * b) (rev_append (pairs b l done) []) =
    val (b * b) (rev done) + (b * b) ^ Z.of_nat (length done) * val b l).
  { intros done. exact (H (length l) l done (le_n _)). }
  clear l. induction k as [|k IH]; intros [|x [|y r]] done L; cbn [length] in L; try lia; cbn [pairs].
  1,2: rewrite rev_append_rev, app_nil_r; unfold val; cbn [fold_right]; ring.
  - rewrite rev_append_rev, app_nil_r. cbn [rev]. rewrite A, rev_length. unfold val. cbn [fold_right]. ring.
  - rewrite IH by lia. cbn [rev length]. rewrite A, rev_length, Nat2Z.inj_succ, Z.pow_succ_r by lia.
    unfold val. cbn [fold_right]. ring.
Qed.
Lemma join_ok fuel b l : join fuel b l = val b l.
Proof.
  revert b l. induction fuel as [|fuel IH]; intros b [|x [|y r]]; cbn [join]; try reflexivity;
    try (cbn [val fold_right]; ring).
  rewrite IH, pairs_ok. change (Z.of_nat (length (@nil Z))) with 0. rewrite Z.pow_0_r. cbn [rev val fold_right]. ring.
Qed.
Theorem numeral_ok digits : numeral digits = horner digits.
Proof.
  unfold numeral, horner. rewrite join_ok, rev_append_rev, app_nil_r, <- fold_left_rev_right.
  induction (rev digits) as [|x l IH]; [reflexivity|]. cbn [val fold_right]. unfold val in IH. rewrite IH. ring.
Qed.
