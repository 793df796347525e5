(* The balls of weights_near.v hold what they stand for: on one example, the outputs of a layer and how they change. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Arith.
Require Import Spec Blocks balls balls_sound network weights_near layer_slopes integers indexed newton transfer.
Require Import Certificate.
Import ListNotations.
Local Notation length := List.length.
Open Scope R_scope.

Definition fraction (u z : Z) (r : R) : Prop := IZR z / IZR u = r.
Lemma fractions_map u n l f : like (fraction u) n l f -> map (fun z => IZR z / IZR u) l = listed n f.
Proof. rewrite like_vec. generalize (listed n f). intros s. induction 1 as [|z r l s <- H IH]; cbn; [reflexivity|]. now rewrite IH. Qed.

Section Balls.
Variable P : Z.
Hypothesis HP : (0 <= P)%Z.
Local Notation holds := (like (encloses P)).
Local Notation holds_all n p := (like (holds p) n).

Lemma weighted_like u n l f v g : (0 < u)%Z -> like (fraction u) n l f -> holds n v g ->
  encloses P (weighted l u v) (sum n (fun i => f i * g i)).
Proof.
  intros U H G. apply like_vec in G. rewrite <- dot_sum, <- (fractions_map u n l f H). now apply weighted_ok.
Qed.
Lemma inner_like n v f w g : holds n v f -> holds n w g -> encloses P (inner P v w) (sum n (fun i => f i * g i)).
Proof. rewrite !like_vec. intros H G. rewrite <- dot_sum. now apply inner_ok. Qed.
Lemma softmax_like n v l : holds n v l -> holds n (softmax_balls P v) (softmax n l).
Proof. rewrite !like_vec. intros H. rewrite <- softmax_vec. now apply softmax_ok. Qed.
Lemma less_ok b c v w : encloses P b v -> encloses P c w -> encloses P (less b c) (v - w).
Proof. rewrite !encloses_iff. unfold less. cbn [fst snd]. rewrite minus_IZR, plus_IZR. lra. Qed.
Lemma none_ok : encloses P none 0.
Proof. apply encloses_iff. unfold none. cbn [fst snd]. lra. Qed.
Lemma vec_nth n v f i : holds n v f -> (i < n)%nat -> encloses P (nth i v none) (f i).
Proof. exact (like_nth (encloses P) n v f i none). Qed.
Lemma entry_nth n p M F a b : holds_all n p M F -> (a < n)%nat -> (b < p)%nat -> encloses P (entry M a b) (F a b).
Proof. intros H Ha Hb. exact (vec_nth p _ (F a) b (like_nth _ _ _ _ a [] H Ha) Hb). Qed.

Section Example.
Variables (n d dk dv m : nat) (E : nat -> nat -> R) (e : nat -> R) (exact_E : exact_map) (exact_e : exact).
Hypotheses (Hn : (0 < n)%nat) (Hd : (0 < d)%nat) (Hdv : (0 < dv)%nat).
Hypotheses (UE : (0 < snd exact_E)%Z) (Ue : (0 < snd exact_e)%Z).
Hypotheses (HE : like (like (fraction (snd exact_E)) d) n (fst exact_E) E) (He : like (fraction (snd exact_e)) d (fst exact_e) e).

Definition head_holds (h : ball_head) (K Q V O : nat -> nat -> R) : Prop :=
  holds_all d dk (bK h) K /\ holds_all d dk (bQ h) Q /\ holds_all d dv (bV h) V /\ holds_all dv m (bO h) O.

Section Head.
Variables (h : ball_head) (K Q V O : nat -> nat -> R).
Hypothesis H : head_holds h K Q V O.

Lemma tokens_like v g : holds d v g -> holds n (map (fun token => weighted token (snd exact_E) v) (fst exact_E)) (fun i => sum d (fun a => E i a * g a)).
Proof. intros G. eapply like_map; [exact HE|]. intros token i _ Ht. now apply weighted_like. Qed.
Lemma across_like v g : holds n v g ->
  holds d (map (fun column => weighted column (snd exact_E) v) (columns (fst exact_E))) (fun a => sum n (fun i => E i a * g i)).
Proof. intros G. eapply like_map; [eapply like_columns; [exact Hn|exact HE]|]. intros column a _ Hc. cbn in Hc. now apply (weighted_like _ _ _ (fun i => E i a)). Qed.

Local Notation x := (go P exact_E exact_e h).
Lemma at_query_ok : holds dk (at_query x) (rq d e Q).
Proof.
  destruct H as (_ & HQ & _). eapply like_map; [eapply like_columns; [exact Hd|exact HQ]|]. intros c b _ Hc. cbn in Hc.
  now apply (weighted_like _ _ _ e _ (fun a => Q a b)).
Qed.
Lemma at_weights_ok : holds n (at_weights x) (softmax n (rl d dk E e K Q)).
Proof.
  destruct H as (HK & _). apply softmax_like. apply tokens_like. eapply like_map; [exact HK|]. intros row a _ Hr. cbn in Hr.
  apply (inner_like dk _ (K a) _ (rq d e Q)); [exact Hr|exact at_query_ok].
Qed.
Lemma mixed_ok : holds_all m d (mixed P h) (rmix dv V O).
Proof.
  destruct H as (_ & _ & HV & HO). eapply like_map; [eapply like_columns; [exact Hdv|exact HO]|]. intros c j _ Hc. cbn in Hc.
  eapply like_map; [exact HV|]. intros row a _ Hr. now apply (inner_like dv _ (V a) _ (fun b => O b j)).
Qed.
Lemma at_scores_ok : holds_all m n (at_scores x) (rs d dv E V O).
Proof. eapply like_map; [exact mixed_ok|]. intros v j _ Hv. now apply tokens_like. Qed.
Lemma at_means_ok : holds m (at_means x) (rmean n d dk dv E e K Q V O).
Proof. eapply like_map; [exact at_scores_ok|]. intros v j _ Hv. apply inner_like; [exact at_weights_ok|exact Hv]. Qed.

Local Notation s := (turn_back P exact_E h x).
Lemma by_gamma_ok : holds_all m d (by_gamma s) (rgamma n d dk dv E e K Q V O).
Proof.
  eapply like_map; [eapply like_combine; [exact at_scores_ok|exact at_means_ok]|]. intros [v c] j _ [Hv Hc]. cbn [fst snd] in *.
  apply across_like. eapply like_map; [eapply like_combine; [exact at_weights_ok|exact Hv]|]. intros [p y] i _ [Hp Hy]. cbn [fst snd] in *.
  apply product_ok; [exact HP|exact Hp|]. now apply less_ok.
Qed.
Lemma by_back_ok : holds_all m dk (by_back s) (rback n d dk dv E e K Q V O).
Proof.
  destruct H as (HK & _). eapply like_map; [exact by_gamma_ok|]. intros g j _ Hg. eapply like_map; [eapply like_columns; [exact Hd|exact HK]|].
  intros k b _ Hk. cbn in Hk. now apply (inner_like d _ (fun a => K a b)).
Qed.
Lemma by_mean_ok : holds d (by_mean s) (rz n d dk E e K Q).
Proof. apply (across_like _ _ at_weights_ok). Qed.
Lemma by_value_ok : holds dv (by_value s) (rv n d dk E e K Q V).
Proof.
  destruct H as (_ & _ & HV & _). eapply like_map; [eapply like_columns; [exact Hd|exact HV]|]. intros c b _ Hc. cbn in Hc.
  apply (inner_like d _ (fun a => V a b)); [exact Hc|exact by_mean_ok].
Qed.
End Head.

(* The layer: its weights, by where they stand. *)
Variable H : nat.
Definition wK (W : place -> R) (h a b : nat) : R := W (AtKey h a b).
Definition wQ (W : place -> R) (h a b : nat) : R := W (AtQuery h a b).
Definition wV (W : place -> R) (h a b : nat) : R := W (AtValue h a b).
Definition wO (W : place -> R) (h b j : nat) : R := W (AtOutput h b j).
Definition mean_of (W : place -> R) (h j : nat) : R := rmean n d dk dv E e (wK W h) (wQ W h) (wV W h) (wO W h) j.
Definition outcome (W : place -> R) (j : nat) : R := sum H (fun h => mean_of W h j).
Definition slope (W : place -> R) (j : nat) (x : place) : R :=
  match x with
  | AtKey h a b => rgamma n d dk dv E e (wK W h) (wQ W h) (wV W h) (wO W h) j a * rq d e (wQ W h) b
  | AtQuery h a b => e a * rback n d dk dv E e (wK W h) (wQ W h) (wV W h) (wO W h) j b
  | AtValue h a b => rz n d dk E e (wK W h) (wQ W h) a * W (AtOutput h b j)
  | AtOutput h b i => if Nat.eqb i j then rv n d dk E e (wK W h) (wQ W h) (wV W h) b else 0
  end.

Variables (W : place -> R) (balls : list ball_head).
Definition weights_hold : Prop := like (fun y h => head_holds y (wK W h) (wQ W h) (wV W h) (wO W h)) H balls (fun h => h).
Hypothesis HW : weights_hold.

Lemma outcome_ok j : (j < m)%nat -> encloses P (total_means (map (go P exact_E exact_e) balls) j) (outcome W j).
Proof.
  intros Hj. assert (G : holds H (map (fun y => nth j (at_means (go P exact_E exact_e y)) (0, 0)%Z) balls) (fun h => mean_of W h j)).
  { eapply like_map; [exact HW|]. intros y h _ Hy. apply (like_nth (encloses P) m _ (mean_of W h)); [|exact Hj]. exact (at_means_ok y _ _ _ _ Hy). }
  unfold outcome. rewrite <- total_sum. apply like_vec in G. revert G. generalize (listed H (fun h => mean_of W h j)). unfold total_means.
  clear HW. induction balls as [|y l IH]; cbn [map fold_right]; intros s G; inversion G; subst; [exact none_ok|]. apply plus_ball_ok; auto.
Qed.

Local Notation slopes_of := (map (fun y => let x := go P exact_E exact_e y in (y, x, turn_back P exact_E y x)) balls).
Lemma slope_ok j x : (j < m)%nat -> valid_place d m H dk dv x = true -> encloses P (derivative P exact_e slopes_of j x) (slope W j x).
Proof.
  intros Hj Hx. set (l := slopes_of).
  assert (G : forall h, (h < H)%nat -> exists y, nth_error l h = Some (y, go P exact_E exact_e y, turn_back P exact_E y (go P exact_E exact_e y)) /\
    head_holds y (wK W h) (wQ W h) (wV W h) (wO W h)).
  { intros h Hh. exists (nth h balls (BallHead [] [] [] [])). split; [|exact (like_nth _ _ _ _ h _ HW Hh)].
    unfold l. erewrite map_nth_error; [reflexivity|]. apply nth_error_nth'. now rewrite (like_length _ _ _ _ HW). }
  destruct x as [h a b|h a b|h a b|h b i]; cbn [valid_place derivative slope] in *; apply andb_prop in Hx as [Hx H3]; apply andb_prop in Hx as [H1 H2];
    apply Nat.ltb_lt in H1, H2, H3; destruct (G h H1) as (y & -> & Hy).
  - apply product_ok; [exact HP|exact (entry_nth _ _ _ _ j a (by_gamma_ok _ _ _ _ _ Hy) Hj H2)|exact (vec_nth _ _ _ b (at_query_ok _ _ _ _ _ Hy) H3)].
  - replace (e a * _) with (sum 1 (fun i => e a * rback n d dk dv E e (wK W h) (wQ W h) (wV W h) (wO W h) j b)) by (cbn; ring).
    apply (weighted_like _ 1 _ (fun _ => e a) _ (fun _ => rback n d dk dv E e (wK W h) (wQ W h) (wV W h) (wO W h) j b)); [exact Ue|..].
    + constructor; [|constructor]. exact (like_nth _ _ _ _ a 0%Z He H2).
    + constructor; [|constructor]. exact (entry_nth _ _ _ _ j b (by_back_ok _ _ _ _ _ Hy) Hj H3).
  - apply product_ok; [exact HP|exact (vec_nth _ _ _ a (by_mean_ok _ _ _ _ _ Hy) H2)|]. destruct Hy as (_ & _ & _ & HO).
    exact (entry_nth _ _ _ _ b j HO H3 Hj).
  - destruct (Nat.eqb i j); [exact (vec_nth _ _ _ b (by_value_ok _ _ _ _ _ Hy) H2)|exact none_ok].
Qed.
End Example.
End Balls.
