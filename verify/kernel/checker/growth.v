(* Sums of terms a x^e exp(g x), no two with the same e and g, are not 0 beyond some x. *)
From Coq Require Import Reals List Lia Lra.
Import ListNotations.
Open Scope R_scope.

Definition beyond (P : R -> Prop) : Prop := exists C, forall x, C < x -> P x.
Lemma beyond_and P Q : beyond P -> beyond Q -> beyond (fun x => P x /\ Q x).
Proof.
  intros [C H] [D G]. exists (Rmax C D). intros x Hx. pose proof (Rmax_l C D). pose proof (Rmax_r C D). split; [apply H|apply G]; lra.
Qed.
Lemma beyond_weaken (P Q : R -> Prop) : (forall x, P x -> Q x) -> beyond P -> beyond Q.
Proof. intros H [C G]. exists C. intros x Hx. now apply H, G. Qed.

(* Coefficient, power, exponent. *)
Definition term := (R * nat * R)%type.
Definition growing (t : term) (x : R) : R := let '(a, e, g) := t in a * x ^ e * exp (x * g).
Fixpoint grown (l : list term) (x : R) : R := match l with [] => 0 | t :: r => growing t x + grown r x end.

Lemma exp_times n x : exp (INR n * x) = exp x ^ n.
Proof. induction n as [|n IH]; [now rewrite Rmult_0_l, exp_0|]. rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus, IH. cbn. ring. Qed.
Lemma power_exp (n : nat) d eps : 0 < d -> 0 < eps -> beyond (fun x => 0 < x /\ x ^ n <= eps * exp (x * d)).
Proof.
  intros Hd He. set (k := d / INR (S n)). assert (N0 : 0 < INR (S n)) by (apply lt_0_INR; lia).
  assert (k0 : 0 < k) by (apply Rdiv_lt_0_compat; lra). assert (kn : 0 < k ^ S n) by now apply pow_lt.
  exists (Rmax 0 (/ (eps * k ^ S n))). intros x Hx. pose proof (Rmax_l 0 (/ (eps * k ^ S n))). pose proof (Rmax_r 0 (/ (eps * k ^ S n))).
  assert (x0 : 0 < x) by lra. split; [exact x0|].
  assert (E : exp (x * d) = exp (k * x) ^ S n).
  { rewrite <- exp_times. f_equal. unfold k. field. lra. }
  assert (G : (k * x) ^ S n <= exp (x * d)).
  { rewrite E. apply pow_incr. pose proof (exp_ineq1_le (k * x)). split; [apply Rlt_le, Rmult_lt_0_compat; lra|lra]. }
  apply Rle_trans with (eps * (k * x) ^ S n); [|apply Rmult_le_compat_l; lra].
  rewrite Rpow_mult_distr. cbn [pow] in *. assert (P : 0 < x ^ n) by now apply pow_lt.
  set (B := eps * (k * k ^ n)) in *. assert (B0 : 0 < B) by (apply Rmult_lt_0_compat; lra).
  assert (F : 1 <= B * x) by (apply Rmult_le_reg_l with (/ B); [now apply Rinv_0_lt_compat|]; rewrite Rmult_1_r, <- Rmult_assoc, Rinv_l, Rmult_1_l; lra).
  replace (eps * (k * k ^ n * (x * x ^ n))) with (B * x * x ^ n) by (unfold B; ring). nra.
Qed.

Definition below (s t : term) : Prop := let '(_, e, g) := s in let '(_, e', g') := t in g < g' \/ (g = g' /\ (e < e')%nat).
Definition apart (s t : term) : Prop := let '(_, e, g) := s in let '(_, e', g') := t in ~ (e = e' /\ g = g').
Lemma below_trans r s t : below r s -> below s t -> below r t.
Proof. destruct r as [[? ?] ?], s as [[? ?] ?], t as [[? ?] ?]. cbn. intros [H|[-> H]] [G|[-> G]]; [left; lra|left; lra|left; lra|right; split; [reflexivity|lia]]. Qed.
Lemma apart_below s t : apart s t -> below s t \/ below t s.
Proof.
  destruct s as [[? e] g], t as [[? e'] g']. cbn. intros N. destruct (Rtotal_order g g') as [H|[->|H]]; [now left; left| |now right; left].
  destruct (Compare_dec.lt_eq_lt_dec e e') as [[H| ->]|H]; [left; now right| |right; now right]. exfalso. now apply N.
Qed.
Definition size_of (t : term) (x : R) : R := let '(_, e, g) := t in x ^ e * exp (x * g).
Lemma below_small s t eps : below s t -> 0 < eps -> beyond (fun x => 0 < x /\ Rabs (growing s x) <= eps * size_of t x).
Proof.
  destruct s as [[a e] g], t as [[b e'] g']. cbn [below growing size_of]. intros H He. set (A := 1 + Rabs a). assert (A1 : 1 <= A) by (pose proof (Rabs_pos a); unfold A; lra).
  assert (D : forall x, 0 < x -> Rabs (a * x ^ e * exp (x * g)) <= A * (x ^ e * exp (x * g))).
  { intros x Hx. assert (0 < x ^ e * exp (x * g)) by (apply Rmult_lt_0_compat; [now apply pow_lt|apply exp_pos]).
    rewrite Rmult_assoc, Rabs_mult, (Rabs_pos_eq (x ^ e * exp (x * g))) by lra. apply Rmult_le_compat_r; unfold A; lra. }
  assert (eA : 0 < eps / A) by (apply Rdiv_lt_0_compat; lra).
  assert (SA : A * (eps / A) = eps) by (field; lra).
  destruct H as [H|[-> H]].
  - destruct (power_exp e (g' - g) (eps / A) ltac:(lra) eA) as [C G]. exists (Rmax 1 C). intros x Hx. pose proof (Rmax_l 1 C). pose proof (Rmax_r 1 C).
    destruct (G x ltac:(lra)) as [x0 P]. split; [exact x0|]. apply Rle_trans with (1 := D x x0).
    apply Rle_trans with (A * (eps / A * exp (x * (g' - g)) * exp (x * g))); [apply Rmult_le_compat_l; [lra|apply Rmult_le_compat_r; [apply Rlt_le, exp_pos|exact P]]|].
    rewrite (Rmult_assoc (eps / A)), <- exp_plus. replace (x * (g' - g) + x * g) with (x * g') by ring. rewrite <- Rmult_assoc, SA.
    apply Rmult_le_compat_l; [lra|]. rewrite <- (Rmult_1_l (exp (x * g'))) at 1. apply Rmult_le_compat_r; [apply Rlt_le, exp_pos|]. apply pow_R1_Rle. lra.
  - exists (Rmax 1 (A / eps)). intros x Hx. pose proof (Rmax_l 1 (A / eps)). pose proof (Rmax_r 1 (A / eps)). assert (x0 : 0 < x) by lra. split; [exact x0|].
    apply Rle_trans with (1 := D x x0). rewrite <- !Rmult_assoc. apply Rmult_le_compat_r; [apply Rlt_le, exp_pos|].
    replace e' with (S e + (e' - S e))%nat by lia. rewrite pow_add. cbn [pow].
    assert (Q : 1 <= x ^ (e' - S e)) by (apply pow_R1_Rle; lra). assert (P : 0 < x ^ e) by now apply pow_lt.
    assert (F : A <= eps * x). { apply Rmult_le_reg_l with (/ eps); [now apply Rinv_0_lt_compat|]. rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l by lra. unfold Rdiv in *. lra. }
    apply Rle_trans with (eps * x * x ^ e); [apply Rmult_le_compat_r; lra|].
    replace (eps * (x * x ^ e * x ^ (e' - S e))) with (eps * x * x ^ e * x ^ (e' - S e)) by ring.
    rewrite <- (Rmult_1_r (eps * x * x ^ e)) at 1. apply Rmult_le_compat_l; [|exact Q]. apply Rlt_le, Rmult_lt_0_compat; [nra|exact P].
Qed.
Lemma all_small l t eps : Forall (fun s => below s t) l -> 0 < eps -> beyond (fun x => 0 < x /\ Rabs (grown l x) <= eps * size_of t x).
Proof.
  intros H. revert eps. induction H as [|s l Hs H IH]; intros eps He.
  - exists 0. intros x Hx. split; [exact Hx|]. cbn [grown]. rewrite Rabs_R0. destruct t as [[a e] g]. cbn. apply Rlt_le, Rmult_lt_0_compat; [exact He|].
    apply Rmult_lt_0_compat; [now apply pow_lt|apply exp_pos].
  - generalize (beyond_and _ _ (below_small s t (eps / 2) Hs ltac:(lra)) (IH (eps / 2) ltac:(lra))). apply beyond_weaken.
    intros x [[x0 A] [_ B]]. split; [exact x0|]. cbn [grown]. apply Rle_trans with (1 := Rabs_triang _ _). lra.
Qed.
(* One term is above all others. *)
Lemma leading t l : ForallOrdPairs apart (t :: l) -> exists m r, In m (t :: l) /\ Forall (fun s => below s m) r /\ forall x, grown (t :: l) x = growing m x + grown r x.
Proof.
  revert t. induction l as [|s l IH]; intros t H; [exists t, []; repeat split; [now left|constructor]|].
  inversion H as [|? ? A B]; subst. destruct (IH s B) as (m & r & I & F & E).
  assert (N : apart t m) by (rewrite Forall_forall in A; now apply A). destruct (apart_below _ _ N) as [L|L].
  - exists m, (t :: r). split; [now right|]. split; [now constructor|]. intros x. cbn [grown] in *. rewrite E. ring.
  - exists t, (m :: r). split; [now left|]. split.
    + constructor; [exact L|]. eapply Forall_impl; [|exact F]. intros y Hy. exact (below_trans _ _ _ Hy L).
    + intros x. change (grown (t :: s :: l) x) with (growing t x + grown (s :: l) x). now rewrite E.
Qed.
Theorem no_zeros t l : ForallOrdPairs apart (t :: l) -> Forall (fun s => fst (fst s) <> 0) (t :: l) -> beyond (fun x => grown (t :: l) x <> 0).
Proof.
  intros H N. destruct (leading t l H) as (m & r & I & F & E). rewrite Forall_forall in N. specialize (N m I).
  destruct m as [[a e] g]. cbn in N. assert (a0 : 0 < Rabs a) by now apply Rabs_pos_lt.
  generalize (all_small r (a, e, g) (Rabs a / 2) F ltac:(lra)). apply beyond_weaken. intros x [x0 S]. rewrite E. cbn [growing size_of] in *.
  assert (P : 0 < x ^ e * exp (x * g)) by (apply Rmult_lt_0_compat; [now apply pow_lt|apply exp_pos]). intros Z.
  assert (Q : Rabs (a * x ^ e * exp (x * g)) = Rabs (grown r x)) by (replace (a * x ^ e * exp (x * g)) with (- grown r x) by lra; apply Rabs_Ropp).
  rewrite Rmult_assoc, Rabs_mult, (Rabs_pos_eq (x ^ e * exp (x * g))) in Q by lra. nra.
Qed.
