(* The outputs as functions of the weights that move: between two points of the box, a slope for each output and each weight. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Arith FunctionalExtensionality.
Require Import Spec integers newton fixed_point weights_near layer_slopes layer_balls.
Import ListNotations.
Local Notation length := List.length.
Open Scope R_scope.

Lemma three_eq a b c x y z : three a b c x y z = true <-> a = x /\ b = y /\ c = z.
Proof. unfold three. rewrite !andb_true_iff, !Nat.eqb_eq. tauto. Qed.
Lemma same_place_eq x y : same_place x y = true <-> x = y.
Proof.
  destruct x, y; cbn [same_place]; rewrite ?three_eq; split; intros H; try discriminate; try (now destruct H as (-> & -> & ->)); injection H; tauto.
Qed.
Lemma same_place_sym x y : same_place x y = same_place y x.
Proof.
  destruct (same_place x y) eqn:A, (same_place y x) eqn:B; try reflexivity.
  - apply same_place_eq in A. subst. rewrite (proj2 (same_place_eq y y) eq_refl) in B. discriminate.
  - apply same_place_eq in B. subst. rewrite (proj2 (same_place_eq x x) eq_refl) in A. discriminate.
Qed.

(* One weight moves. *)
Definition shift (W : place -> R) (x : place) (y : R) : place -> R := fun p => W p + (if same_place x p then y else 0).
Section Example.
Variables (n d dk dv m H : nat) (E : nat -> nat -> R) (e : nat -> R).
Hypothesis Hn : (0 < n)%nat.
Local Notation outcome := (outcome n d dk dv E e H).
Local Notation slope := (slope n d dk dv E e).
Local Notation mean_of := (mean_of n d dk dv E e).

Lemma sum_one k f : (k < H)%nat -> (forall h, (h < H)%nat -> h <> k -> f h = 0) -> sum H f = f k.
Proof.
  intros Hk Z. rewrite <- (sum_unit H k f Hk). apply SoundZ.sum_ext. intros h Hh. unfold unit_entry.
  destruct (Nat.eqb_spec k h) as [->|N]; [ring|]. rewrite Z by auto. ring.
Qed.
(* What a shift makes of the four matrices of a head. *)
Ltac matrices := extensionality a'; extensionality b'; unfold wK, wQ, wV, wO, shift, change; cbn [same_place]; unfold three.
Ltac other := matrices; match goal with N : ?h <> ?k |- context [Nat.eqb ?k ?h] => destruct (Nat.eqb_spec k h); [congruence|] | _ => idtac end; cbn [andb]; ring.
Ltac same := matrices; rewrite Nat.eqb_refl; reflexivity.
Lemma elsewhere W x y h j : (match x with AtKey k _ _ | AtQuery k _ _ | AtValue k _ _ | AtOutput k _ _ => h <> k end) ->
  mean_of (shift W x y) h j = mean_of W h j.
Proof.
  intros N. unfold layer_balls.mean_of.
  replace (wK (shift W x y) h) with (wK W h) by (destruct x; other). replace (wQ (shift W x y) h) with (wQ W h) by (destruct x; other).
  replace (wV (shift W x y) h) with (wV W h) by (destruct x; other). replace (wO (shift W x y) h) with (wO W h) by (destruct x; other). reflexivity.
Qed.
Lemma outcome_moves W x y j : valid_place d m H dk dv x = true ->
  exists z, 0 <= z <= 1 /\ outcome (shift W x y) j - outcome W j = slope (shift W x (z * y)) j x * y.
Proof.
  intros V. unfold layer_balls.outcome. rewrite <- sum_sub.
  assert (D : forall k, (k < H)%nat -> (match x with AtKey h _ _ | AtQuery h _ _ | AtValue h _ _ | AtOutput h _ _ => h = k end) ->
    sum H (fun h => mean_of (shift W x y) h j - mean_of W h j) = mean_of (shift W x y) k j - mean_of W k j).
  { intros k Hk Hx. apply (sum_one k (fun h => mean_of (shift W x y) h j - mean_of W h j) Hk). intros h _ N. rewrite elsewhere; [ring|]. destruct x; congruence. }
  destruct x as [h a b|h a b|h a b|h b i]; cbn [valid_place] in V; apply andb_prop in V as [V H3]; apply andb_prop in V as [H1 H2];
    apply Nat.ltb_lt in H1, H2, H3; rewrite (D h H1 eq_refl); clear D; unfold layer_balls.mean_of; cbn [layer_balls.slope].
  - assert (EK : forall y, wK (shift W (AtKey h a b) y) h = change (wK W h) a b y) by (intros; same).
    assert (EQ : forall y, wQ (shift W (AtKey h a b) y) h = wQ W h) by (intros; other).
    assert (EV : forall y, wV (shift W (AtKey h a b) y) h = wV W h) by (intros; other).
    assert (EO : forall y, wO (shift W (AtKey h a b) y) h = wO W h) by (intros; other).
    destruct (key_moves n d dk dv E e Hn (wK W h) (wQ W h) (wV W h) (wO W h) a b j y H2 H3) as (z & Hz & G).
    exists z. split; [exact Hz|]. now rewrite !EK, !EQ, !EV, !EO.
  - assert (EK : forall y, wK (shift W (AtQuery h a b) y) h = wK W h) by (intros; other).
    assert (EQ : forall y, wQ (shift W (AtQuery h a b) y) h = change (wQ W h) a b y) by (intros; same).
    assert (EV : forall y, wV (shift W (AtQuery h a b) y) h = wV W h) by (intros; other).
    assert (EO : forall y, wO (shift W (AtQuery h a b) y) h = wO W h) by (intros; other).
    destruct (query_moves n d dk dv E e Hn (wK W h) (wQ W h) (wV W h) (wO W h) a b j y H2 H3) as (z & Hz & G).
    exists z. split; [exact Hz|]. now rewrite !EK, !EQ, !EV, !EO.
  - assert (EK : forall y, wK (shift W (AtValue h a b) y) h = wK W h) by (intros; other).
    assert (EQ : forall y, wQ (shift W (AtValue h a b) y) h = wQ W h) by (intros; other).
    assert (EV : forall y, wV (shift W (AtValue h a b) y) h = change (wV W h) a b y) by (intros; same).
    assert (EO : forall y, wO (shift W (AtValue h a b) y) h = wO W h) by (intros; other).
    exists 0. split; [lra|]. rewrite !EK, !EQ, EV, EO. rewrite value_moves by assumption.
    unfold shift at 1. cbn [same_place]. unfold wO. ring.
  - assert (EK : forall y, wK (shift W (AtOutput h b i) y) h = wK W h) by (intros; other).
    assert (EQ : forall y, wQ (shift W (AtOutput h b i) y) h = wQ W h) by (intros; other).
    assert (EV : forall y, wV (shift W (AtOutput h b i) y) h = wV W h) by (intros; other).
    assert (EO : forall y, wO (shift W (AtOutput h b i) y) h = change (wO W h) b i y) by (intros; same).
    exists 0. split; [lra|]. rewrite !EK, !EQ, !EV, EO. now rewrite output_moves.
Qed.
End Example.

(* Several weights move, each of them once. *)
Section Box.
Variables (W0 : place -> R) (places : list place) (r : R).
Hypothesis distinct : distinct_places places = true.
Hypothesis Hr : 0 <= r.
Local Notation N := (length places).
Definition spot (k : nat) : place := nth k places (AtKey 0 0 0).
Definition put (u : nat -> R) (p : place) : R := W0 p + sum N (fun k => if same_place (spot k) p then u k else 0).
Definition in_box (W : place -> R) : Prop := forall p, Rabs (W p - W0 p) <= if moves places p then r else 0.

Lemma put_ext u v : (forall k, (k < N)%nat -> u k = v k) -> put u = put v.
Proof. intros G. extensionality p. unfold put. f_equal. apply SoundZ.sum_ext. intros k Hk. now rewrite G. Qed.
Lemma put_in_box u : inside N r u -> in_box (put u).
Proof.
  intros Hu p. unfold put, spot. replace (W0 p + _ - W0 p) with (sum N (fun k => if same_place (nth k places (AtKey 0 0 0)) p then u k else 0)) by ring.
  revert u Hu. induction places as [|x l IH]; intros u Hu; [cbn; rewrite Rabs_R0; lra|]. cbn [distinct_places] in distinct. apply andb_prop in distinct as [D1 D2].
  cbn [length sum nth moves existsb]. rewrite (same_place_sym p x). specialize (IH D2 (fun k => u (S k)) ltac:(intros k Hk; apply (Hu (S k)); cbn; lia)).
  fold (moves l p) in *. destruct (same_place x p) eqn:S; cbn [orb].
  - apply same_place_eq in S. subst x. apply negb_true_iff in D1. rewrite D1 in IH. specialize (Hu O ltac:(cbn; lia)).
    pose proof (Rabs_triang (u O) (sum (length l) (fun i => if same_place (nth i l (AtKey 0 0 0)) p then u (S i) else 0))) as T. lra.
  - rewrite Rplus_0_l. exact IH.
Qed.
Lemma put_shift u k y : (k < N)%nat -> put (fun i => u i + (if Nat.eqb i k then y else 0)) = shift (put u) (spot k) y.
Proof.
  intros Hk. extensionality p. unfold shift, put. rewrite Rplus_assoc. f_equal.
  rewrite <- (sum_unit N k (fun i => if same_place (spot i) p then y else 0) Hk), <- SoundZ.sum_add. apply SoundZ.sum_ext. intros i _.
  unfold unit_entry. rewrite (Nat.eqb_sym k i). destruct (same_place (spot i) p), (Nat.eqb i k); ring.
Qed.

(* From y to x, one coordinate after the other. *)
Definition mixture (x y : nat -> R) (k i : nat) : R := if Nat.ltb i k then x i else y i.
Lemma telescope M (g : nat -> R) : sum M (fun k => g (S k) - g k) = g M - g O.
Proof. revert g. induction M as [|M IH]; intros g; cbn [sum]; [ring|]. rewrite (IH (fun k => g (S k))). ring. Qed.
Lemma mixture_step x y k z : (fun i => mixture x y k i + (if Nat.eqb i k then z * (x k - y k) else 0)) =
  (fun i => if Nat.eqb i k then y k + z * (x k - y k) else mixture x y k i).
Proof.
  extensionality i. unfold mixture. destruct (Nat.eqb_spec i k) as [->|]; [|ring]. rewrite Nat.ltb_irrefl. reflexivity.
Qed.
Lemma mixture_inside x y k z : inside N r x -> inside N r y -> 0 <= z <= 1 -> (k < N)%nat ->
  inside N r (fun i => mixture x y k i + (if Nat.eqb i k then z * (x k - y k) else 0)).
Proof.
  intros Hx Hy Hz Hk. rewrite mixture_step. intros i Hi. destruct (Nat.eqb_spec i k) as [->|].
  - specialize (Hx k Hk). specialize (Hy k Hk). apply Rabs_le. unfold Rabs in Hx, Hy. destruct (Rcase_abs (x k)), (Rcase_abs (y k)); split; nra.
  - unfold mixture. destruct (Nat.ltb i k); [now apply Hx|now apply Hy].
Qed.
Lemma mixture_next x y k : mixture x y (S k) = (fun i => mixture x y k i + (if Nat.eqb i k then 1 * (x k - y k) else 0)).
Proof.
  rewrite mixture_step. extensionality i. unfold mixture. destruct (Nat.eqb_spec i k) as [->|D].
  - destruct (Nat.ltb_spec k (S k)); [ring|lia].
  - destruct (Nat.ltb_spec i (S k)), (Nat.ltb_spec i k); try reflexivity; lia.
Qed.

Lemma choose_upto {A} (P : nat -> A -> Prop) (a0 : A) M : (forall k, (k < M)%nat -> exists v, P k v) -> exists f, forall k, (k < M)%nat -> P k (f k).
Proof.
  induction M as [|M IH]; intros H; [exists (fun _ => a0); intros; lia|]. destruct IH as [f G]; [intros; apply H; lia|].
  destruct (H M ltac:(lia)) as [v V]. exists (fun k => if Nat.eqb k M then v else f k). intros k Hk.
  destruct (Nat.eqb_spec k M) as [->|D]; [exact V|]. apply G. lia.
Qed.

(* One output of one example. *)
Lemma slopes_between n d dk dv m H E e j x y : (0 < n)%nat -> forallb (valid_place d m H dk dv) places = true -> inside N r x -> inside N r y ->
  exists c : nat -> R, outcome n d dk dv E e H (put x) j - outcome n d dk dv E e H (put y) j = sum N (fun k => c k * (x k - y k)) /\
    forall k, (k < N)%nat -> exists W, in_box W /\ c k = slope n d dk dv E e W j (spot k).
Proof.
  intros Hn V Hx Hy. set (g k := outcome n d dk dv E e H (put (mixture x y k)) j).
  destruct (choose_upto (fun k v => g (S k) - g k = v * (x k - y k) /\ exists W, in_box W /\ v = slope n d dk dv E e W j (spot k)) 0 N) as [c C].
  { intros k Hk. assert (Vk : valid_place d m H dk dv (spot k) = true).
    { rewrite forallb_forall in V. apply V. apply nth_In. exact Hk. }
    destruct (outcome_moves n d dk dv m H E e Hn (put (mixture x y k)) (spot k) (x k - y k) j Vk) as (z & Hz & G).
    rewrite <- !put_shift in G by exact Hk.
    eexists. split; [|eexists; split; [|reflexivity]].
    - unfold g. rewrite mixture_next. rewrite <- G. rewrite Rmult_1_l. reflexivity.
    - apply put_in_box. now apply mixture_inside. }
  exists c. split; [|intros k Hk; apply (C k Hk)]. replace (outcome n d dk dv E e H (put x) j) with (g N).
  2:{ unfold g. now rewrite (put_ext (mixture x y N) x) by (intros k Hk; unfold mixture; destruct (Nat.ltb_spec k N); [reflexivity|lia]). }
  replace (outcome n d dk dv E e H (put y) j) with (g O) by reflexivity. rewrite <- telescope. apply SoundZ.sum_ext. intros k Hk. apply (C k Hk).
Qed.
End Box.
