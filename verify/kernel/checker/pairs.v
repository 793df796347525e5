(* Theorem 4 of docs/given-labels.md, for heads of width one and scalar labels. The heads of a pair share key u and query
   tau_h q, with values u and -u, so all outputs are 0. By the query of one head of pair h, example t moves by the variance of
   E_t u times e_t. Taken in the order of their gaps, the examples fall into blocks of kappa, one for each pair, and the largest
   tau_h belongs to the least gaps: all rows are independent. Theorem 12 does the rest. *)
From Coq Require Import ZArith Reals List Permutation Lia Lra Arith FunctionalExtensionality.
Require Import Spec integers newton weights_near layer_slopes layer_balls box_slopes open_map all_labels halving general_position spread near_sound.
Import ListNotations.
Local Notation length := List.length.
Open Scope R_scope.

(* Blocks of rows: variances v i tau beside each other. Examples are in the order of their gaps. *)
Section Blocks.
Variables (T d M K kappa omega : nat) (e B0 : nat -> nat -> R) (v : nat -> R -> R) (gap : nat -> R) (low high : R).
Hypotheses (low0 : 0 < low) (high0 : 0 < high).
Hypothesis decay : forall i tau, (i < T)%nat -> 0 <= tau -> low * exp (- (tau * gap i)) <= v i tau <= high * exp (- (tau * gap i)).
Hypothesis increasing : forall i k, (i < k < T)%nat -> gap i < gap k.
Hypothesis windows : forall o, (o + K <= T)%nat -> independent_rows K d (fun i => e (o + i)%nat).
Hypotheses (HK : K = Nat.min kappa T) (kappa0 : (0 < kappa)%nat).
Hypothesis last : independent_rows (Nat.min omega T) M (fun i => B0 (T - Nat.min omega T + i)%nat).

Fixpoint rows (p : nat) (tau : nat -> R) : nat -> nat -> R :=
  match p with O => B0 | S p => beside d (fun i => v i (tau p)) e (rows p tau) end.
Lemma rows_ext p tau tau' : (forall h, (h < p)%nat -> tau h = tau' h) -> rows p tau = rows p tau'.
Proof. induction p as [|p IH]; intros H; [reflexivity|]. cbn. rewrite H by lia. now rewrite IH by (intros; apply H; lia). Qed.

Lemma decreasing a b x : a <= b -> 0 <= x -> exp (- (x * b)) <= exp (- (x * a)).
Proof. intros L X. assert (x * a <= x * b) by now apply Rmult_le_compat_l. destruct (Req_dec (x * a) (x * b)) as [->|]; [lra|left; apply exp_increasing; lra]. Qed.

Lemma in_blocks p o : (o <= T)%nat -> (T - o <= p * kappa + omega)%nat ->
  exists tau, independent_rows (T - o) (p * d + M) (fun i => rows p tau (o + i)%nat).
Proof.
  revert o. induction p as [|p IH]; intros o Ho Few.
  { exists (fun _ => 0). cbn [rows Nat.mul Nat.add]. set (w := Nat.min omega T) in *.
    pose proof (independent_part w M (w - (T - o)) (T - o) _ ltac:(lia) last) as I. cbn in I.
    replace (fun i => B0 (o + i)%nat) with (fun i => B0 (T - w + (w - (T - o) + i))%nat); [exact I|]. extensionality i. f_equal. lia. }
  set (G := Nat.min K (T - o)). destruct (IH (o + G)%nat ltac:(lia) ltac:(nia)) as (tau & I).
  replace (T - (o + G))%nat with (T - o - G)%nat in I by lia. set (S := (T - o - G)%nat) in *.
  assert (IG : independent_rows G d (fun i => e (o + i)%nat)).
  { destruct (Nat.le_gt_cases (o + K) T) as [L|L].
    - pose proof (independent_part K d 0 G _ ltac:(lia) (windows o L)) as I'. exact I'.
    - pose proof (independent_part K d (o - (T - K)) G _ ltac:(lia) (windows (T - K)%nat ltac:(lia))) as I'. cbn in I'.
      replace (fun i => e (o + i)%nat) with (fun i => e (T - K + (o - (T - K) + i))%nat); [exact I'|]. extensionality i. f_equal. lia. }
  destruct (small_others G S d (p * d + M) (fun i => e (o + i)%nat) (fun i => rows p tau (o + i)%nat) IG) as (eps & Heps & P).
  { replace (fun i => rows p tau (o + (G + i))%nat) with (fun i => rows p tau (o + G + i)%nat); [exact I|]. extensionality i. f_equal. lia. }
  enough (exists x, 0 <= x /\ exists m, 0 < m /\ (forall i, (i < G)%nat -> m <= v (o + i)%nat x) /\
      forall i, (i < S)%nat -> Rabs (v (o + (G + i))%nat x) <= eps * m) as (x & _ & m & m0 & A & A').
  { exists (fun h => if Nat.eqb h p then x else tau h). cbn [rows]. rewrite Nat.eqb_refl. rewrite (rows_ext p _ tau).
    2:{ intros h Hh. destruct (Nat.eqb_spec h p); [lia|reflexivity]. }
    specialize (P (fun i => v (o + i)%nat x) m m0 A A'). replace (T - o)%nat with (G + S)%nat by lia.
    replace (Datatypes.S p * d + M)%nat with (d + (p * d + M))%nat by lia. exact P. }
  destruct (Nat.eq_dec S 0) as [S0|S0].
  - exists 0. split; [lra|]. exists low. split; [exact low0|]. split; [|intros; lia]. intros i Hi.
    destruct (decay (o + i) 0 ltac:(lia) ltac:(lra)) as [L _]. rewrite Rmult_0_l, Ropp_0, exp_0, Rmult_1_r in L. exact L.
  - assert (G0 : (0 < G)%nat) by lia. set (a := gap (o + (G - 1))%nat). set (b := gap (o + G)%nat).
    assert (ab : a < b) by (apply increasing; lia). set (x := high / (eps * low * (b - a))). assert (el : 0 < eps * low) by now apply Rmult_lt_0_compat.
    assert (X : 0 < x) by (apply Rmult_lt_0_compat; [exact high0|apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra]).
    exists x. split; [lra|]. exists (low * exp (- (x * a))). split; [apply Rmult_lt_0_compat; [exact low0|apply exp_pos]|]. split.
    + intros i Hi. apply Rle_trans with (2 := proj1 (decay (o + i) x ltac:(lia) ltac:(lra))). apply Rmult_le_compat_l; [lra|]. apply decreasing; [|lra].
      destruct (Nat.eq_dec i (G - 1)) as [->|]; [apply Rle_refl|left; apply increasing; lia].
    + intros i Hi. destruct (decay (o + (G + i)) x ltac:(lia) ltac:(lra)) as [L U]. pose proof (exp_pos (- (x * gap (o + (G + i))%nat))) as E0.
      rewrite Rabs_pos_eq by nra. apply Rle_trans with (1 := U). apply Rle_trans with (high * exp (- (x * b))).
      * apply Rmult_le_compat_l; [lra|]. apply decreasing; [|lra]. unfold b. destruct (Nat.eq_dec i 0) as [->|]; [rewrite Nat.add_0_r; apply Rle_refl|left; apply increasing; lia].
      * replace (- (x * a)) with (- (x * b) + x * (b - a)) by ring. rewrite exp_plus. pose proof (exp_pos (- (x * b))) as Eb.
        assert (Y : 0 < x * (b - a)) by (apply Rmult_lt_0_compat; lra). pose proof (exp_ineq1 (x * (b - a)) (Rgt_not_eq _ _ Y)) as Big.
        assert (Q : eps * low * (x * (b - a)) = high) by (unfold x; field; split; lra).
        replace (eps * (low * (exp (- (x * b)) * exp (x * (b - a))))) with (eps * low * exp (x * (b - a)) * exp (- (x * b))) by ring.
        apply Rmult_le_compat_r; [lra|]. nra.
Qed.
End Blocks.

(* Any two examples of T are the first two of some order of all. *)
Lemma two_first T s t : (s < T)%nat -> (t < T)%nat -> s <> t -> exists r, Permutation (seq 0 T) (s :: t :: r).
Proof.
  intros Hs Ht N. destruct (in_split s (seq 0 T)) as (l1 & l2 & E); [apply in_seq; lia|].
  assert (P : Permutation (seq 0 T) (s :: l1 ++ l2)) by (rewrite E; apply Permutation_sym, Permutation_middle).
  assert (I : In t (l1 ++ l2)) by (assert (In t (s :: l1 ++ l2)) as [|]; [apply (Permutation_in _ P), in_seq; lia|congruence|assumption]).
  destruct (in_split t _ I) as (l3 & l4 & E'). exists (l3 ++ l4). apply perm_trans with (1 := P), perm_skip. rewrite E'. apply Permutation_sym, Permutation_middle.
Qed.

Lemma least T f : (forall t, (t < T)%nat -> 0 < f t) -> exists m, 0 < m /\ forall t, (t < T)%nat -> m <= f t.
Proof.
  induction T as [|T IH]; intros H; [exists 1; split; [lra|intros; lia]|]. destruct IH as (m & m0 & B); [intros; apply H; lia|].
  exists (Rmin m (f T)). split; [apply Rmin_pos; [exact m0|apply H; lia]|]. intros t Ht. pose proof (Rmin_l m (f T)). pose proof (Rmin_r m (f T)).
  destruct (Nat.eq_dec t T) as [->|]; [lra|]. specialize (B t ltac:(lia)). lra.
Qed.

(* K of the rows of queries, whichever: independent. *)
Definition every_choice (K T d : nat) (e : nat -> nat -> R) : Prop :=
  forall g : nat -> nat, (forall i, (i < K)%nat -> (g i < T)%nat) -> (forall i k, (i < K)%nat -> (k < K)%nat -> g i = g k -> i = k) ->
  independent_rows K d (fun i => e (g i)).

Section Examples.
Variables (T d : nat) (n : nat -> nat) (E : nat -> nat -> nat -> R) (e : nat -> nat -> R).
Hypothesis two_rows : forall t, (t < T)%nat -> exists i k a, (i < n t)%nat /\ (k < n t)%nat /\ (a < d)%nat /\ E t i a <> E t k a.

(* The key u, and the projections of the tokens on it. *)
Definition projection (u : nat -> R) (t i : nat) : R := sum d (fun a => E t i a * u a).
Lemma separating_key : exists u, forall t, (t < T)%nat -> exists i k, (i < n t)%nat /\ (k < n t)%nat /\ projection u t i <> projection u t k.
Proof.
  destruct (off_hyperplanes d (flat_map (fun t => flat_map (fun i => map (fun k a => E t i a - E t k a) (seq 0 (n t))) (seq 0 (n t))) (seq 0 T))) as (u & U).
  exists u. intros t Ht. destruct (two_rows t Ht) as (i & k & a & Hi & Hk & Ha & N). exists i, k. repeat (split; [assumption|]). intros Eq.
  apply (U (fun a => E t i a - E t k a)).
  - apply in_flat_map. exists t. split; [apply in_seq; lia|]. apply in_flat_map. exists i. split; [apply in_seq; lia|].
    apply (in_map (fun k a => E t i a - E t k a)), in_seq. lia.
  - exists a. split; [exact Ha|]. intros Z. apply N. lra.
  - unfold projection in Eq. rewrite (SoundZ.sum_ext d _ (fun a => E t i a * u a - E t k a * u a)) by (intros; ring). rewrite sum_sub. lra.
Qed.

(* The queries. *)
Variable kappa : nat.
Hypothesis choices : every_choice (Nat.min kappa T) T d e.
Hypothesis Hkappa : (2 <= kappa \/ (kappa = 1 /\ T = 1))%nat.
Local Notation K := (Nat.min kappa T).

Lemma listed_choice l o : Permutation (seq 0 T) l -> (o + K <= T)%nat -> independent_rows K d (fun i => e (nth (o + i) l O)).
Proof.
  intros P L. assert (Len : length l = T) by (rewrite <- (Permutation_length P); apply seq_length). apply (choices (fun i => nth (o + i) l O)).
  - intros i Hi. assert (In (nth (o + i) l O) (seq 0 T)) as H by (apply (Permutation_in _ (Permutation_sym P)), nth_In; lia). apply in_seq in H. lia.
  - intros i k Hi Hk Eq. assert (N : NoDup l) by (apply (Permutation_NoDup P), seq_NoDup). rewrite NoDup_nth with (d := O) in N. specialize (N (o + i)%nat (o + k)%nat ltac:(lia) ltac:(lia) Eq). lia.
Qed.
Lemma two_apart s t x y : (s < T)%nat -> (t < T)%nat -> s <> t -> x <> 0 -> exists a, (a < d)%nat /\ x * e s a - y * e t a <> 0.
Proof.
  intros Hs Ht N X. destruct (zero_or_not d (fun a => x * e s a - y * e t a)) as [A|Z]; [exact A|]. exfalso. apply X.
  destruct (two_first T s t Hs Ht N) as (r & P). pose proof (independent_part K d 0 2 _ ltac:(lia) (listed_choice _ 0 P ltac:(lia))) as I. cbn in I.
  apply (I (fun i => match i with O => x | _ => - y end)) with (l := O); [|lia]. intros k Hk. specialize (Z k Hk). cbn in Z |- *. lra.
Qed.
Lemma query_nonzero t : (t < T)%nat -> exists a, (a < d)%nat /\ e t a <> 0.
Proof.
  intros Ht. destruct (Nat.eq_dec T 1) as [T1|T1].
  - destruct (zero_or_not d (e t)) as [A|Z]; [exact A|]. exfalso. apply R1_neq_R0.
    pose proof (choices (fun i => i) ltac:(intros; lia) ltac:(now intros)) as I. apply (I (fun _ => 1)) with (l := t); [|lia].
    intros k Hk. replace K with 1%nat by lia. cbn. replace t with O in Z by lia. rewrite Z by exact Hk. ring.
  - destruct (two_apart t (if Nat.eqb t 0 then 1 else 0)%nat 1 0 Ht ltac:(destruct (Nat.eqb_spec t 0); lia) ltac:(destruct (Nat.eqb_spec t 0); lia) R1_neq_R0) as (a & Ha & A).
    exists a. split; [exact Ha|]. intros Z. apply A. rewrite Z. ring.
Qed.

(* The direction q of the queries: all gaps differ. *)
Definition product (q : nat -> R) (t : nat) : R := sum d (fun a => q a * e t a).
Lemma separating_query (g : nat -> nat -> R) : exists q, (forall t, (t < T)%nat -> product q t <> 0) /\
  forall s t i j k l, (s < T)%nat -> (t < T)%nat -> s <> t -> (i < n s)%nat -> (j < n s)%nat -> (k < n t)%nat -> (l < n t)%nat ->
    g s i - g s j <> 0 -> product q s * (g s i - g s j) <> product q t * (g t k - g t l).
Proof.
  set (pair s t i j k l a := (g s i - g s j) * e s a - (g t k - g t l) * e t a).
  destruct (off_hyperplanes d (map e (seq 0 T) ++ flat_map (fun s => flat_map (fun t => flat_map (fun i => flat_map (fun j => flat_map (fun k =>
    map (pair s t i j k) (seq 0 (n t))) (seq 0 (n t))) (seq 0 (n s))) (seq 0 (n s))) (seq 0 T)) (seq 0 T))) as (q & Q).
  exists q. split.
  - intros t Ht. apply (Q (e t)); [|now apply query_nonzero]. apply in_or_app. left. apply in_map, in_seq. lia.
  - intros s t i j k l Hs Ht N Hi Hj Hk Hl G Eq. apply (Q (pair s t i j k l)).
    + apply in_or_app. right. apply in_flat_map. exists s. split; [apply in_seq; lia|]. apply in_flat_map. exists t. split; [apply in_seq; lia|].
      apply in_flat_map. exists i. split; [apply in_seq; lia|]. apply in_flat_map. exists j. split; [apply in_seq; lia|].
      apply in_flat_map. exists k. split; [apply in_seq; lia|]. apply in_map, in_seq. lia.
    + now apply two_apart.
    + unfold product in Eq. unfold pair. rewrite (SoundZ.sum_ext d _ (fun a => (q a * e s a) * (g s i - g s j) - (q a * e t a) * (g t k - g t l))) by (intros; ring).
      rewrite sum_sub, !SoundZ.sum_mul. lra.
Qed.

(* The features of a head of width one. *)
Definition point (t : nat) (k0 q0 : nat -> R) : nat -> R := rz (n t) d 1 (E t) (e t) (fun a _ => k0 a) (fun a _ => q0 a).
Variables (p dv more omega : nat).
Hypothesis Hdv : (0 < dv)%nat.
Local Notation w := (Nat.min omega T).
Hypothesis last : forall l, Permutation (seq 0 T) l ->
  exists k0 q0, independent_rows w (more * d) (fun i k => point (nth (T - w + i) l O) k0 q0 k).
Hypotheses (Hmore : (more <= 1)%nat) (few : (T <= p * kappa + omega)%nat).

(* p heads, which are doubled, and the last head, whose values become 0. *)
Definition weights (u q : nat -> R) (tau : nat -> R) (k0 q0 : nat -> R) (x : place) : R :=
  match x with
  | AtKey h a _ => if Nat.ltb h p then u a else k0 a
  | AtQuery h a _ => if Nat.ltb h p then tau h * q a else q0 a
  | AtValue _ a b => if Nat.eqb b 0 then u a else 0
  | AtOutput _ _ _ => 1
  end.
Fixpoint queries_at (p : nat) : list place := match p with O => [] | S p => map (fun b => AtQuery p b 0) (seq 0 d) ++ queries_at p end.
Definition last_values : list place := map (fun a => AtValue (p + p) a 0) (seq 0 (more * d)).
Definition places : list place := queries_at p ++ last_values.

Lemma queries_at_length h : length (queries_at h) = (h * d)%nat.
Proof. induction h as [|h IH]; [reflexivity|]. cbn [queries_at]. rewrite app_length, map_length, seq_length, IH. lia. Qed.
Lemma places_length : length places = (p * d + more * d)%nat.
Proof. unfold places, last_values. now rewrite app_length, queries_at_length, map_length, seq_length. Qed.
Lemma in_queries_at h x : In x (queries_at h) -> exists k b, x = AtQuery k b 0 /\ (k < h)%nat /\ (b < d)%nat.
Proof.
  induction h as [|h IH]; [intros []|]. cbn [queries_at]. intros H. apply in_app_or in H as [H|H].
  - apply in_map_iff in H as (b & <- & Hb). apply in_seq in Hb. exists h, b. repeat split; lia.
  - destruct (IH H) as (k & b & -> & Hk & Hb). exists k, b. repeat split; lia.
Qed.
Lemma in_last_values x : In x last_values -> exists a, x = AtValue (p + p) a 0 /\ (a < d)%nat /\ more = 1%nat.
Proof. intros H. apply in_map_iff in H as (a & <- & Ha). apply in_seq in Ha. exists a. repeat split; nia. Qed.
Lemma places_valid : forallb (valid_place d 1 (p + p + more) 1 dv) places = true.
Proof.
  apply forallb_forall. intros x H. apply in_app_or in H as [H|H].
  - destruct (in_queries_at p x H) as (k & b & -> & Hk & Hb). cbn [valid_place]. rewrite !Bool.andb_true_iff, !Nat.ltb_lt. lia.
  - destruct (in_last_values x H) as (a & -> & Ha & ->). cbn [valid_place]. rewrite !Bool.andb_true_iff, !Nat.ltb_lt. lia.
Qed.
Lemma distinct_of l : NoDup l -> distinct_places l = true.
Proof.
  induction 1 as [|x l N D IH]; [reflexivity|]. cbn [distinct_places]. rewrite IH, Bool.andb_true_r. apply Bool.negb_true_iff, Bool.not_true_is_false.
  intros M. apply existsb_exists in M as (y & Hy & S). apply same_place_eq in S. subst y. contradiction.
Qed.
Lemma nodup_app {A} (l r : list A) : NoDup l -> NoDup r -> (forall x, In x l -> In x r -> False) -> NoDup (l ++ r).
Proof.
  induction 1 as [|x l N D IH]; intros Nr A0; [exact Nr|]. cbn. constructor.
  - intros H. apply in_app_or in H as [H|H]; [contradiction|]. apply (A0 x); [now left|exact H].
  - apply IH; [exact Nr|]. intros y Hy. apply A0. now right.
Qed.
Lemma places_distinct : distinct_places places = true.
Proof.
  apply distinct_of, nodup_app.
  - generalize p. intros h. induction h as [|h IH]; [constructor|]. cbn [queries_at]. apply nodup_app; [|exact IH|].
    + apply FinFun.Injective_map_NoDup; [intros a b [= ->]; reflexivity|apply seq_NoDup].
    + intros x H H'. apply in_map_iff in H as (b & <- & _). destruct (in_queries_at h _ H') as (k & b' & [= ->] & Hk & _). lia.
  - apply FinFun.Injective_map_NoDup; [intros a b [= ->]; reflexivity|apply seq_NoDup].
  - intros x H H'. destruct (in_queries_at p x H) as (k & b & -> & _), (in_last_values _ H') as (a & D & _). discriminate.
Qed.

Section Slopes.
Variables (u q tau k0 q0 : nat -> R).
Local Notation W := (twice p (weights u q tau k0 q0)).
Local Notation g := (projection u).
Lemma query_slope t h b : (h < p)%nat ->
  slope (n t) d 1 dv (E t) (e t) W 0 (AtQuery h b 0) = variance (n t) (fun i => g t i * (tau h * product q t)) (g t) * e t b.
Proof.
  intros Hh. cbn [slope]. rewrite Rmult_comm. f_equal. destruct (first_head p (weights u q tau k0 q0) h Hh) as (-> & -> & -> & ->).
  assert (KE : wK (weights u q tau k0 q0) h = fun a _ => u a) by (extensionality a; extensionality c; unfold wK, weights; destruct (Nat.ltb_spec h p); [reflexivity|lia]).
  assert (QE : wQ (weights u q tau k0 q0) h = fun a _ => tau h * q a) by (extensionality a; extensionality c; unfold wQ, weights; destruct (Nat.ltb_spec h p); [reflexivity|lia]).
  rewrite KE, QE. set (K0 := fun a _ : nat => u a). set (Q0 := fun a _ : nat => tau h * q a). set (V0 := wV _ h). set (O0 := wO _ h).
  assert (S : forall i, rs d dv (E t) V0 O0 0 i = g t i).
  { intros i. unfold rs, projection. apply SoundZ.sum_ext. intros a _. f_equal. unfold rmix, V0, O0, wV, wO, weights.
    rewrite (SoundZ.sum_ext dv _ (fun b => unit_entry 0 b * u a)) by (intros c _; unfold unit_entry; destruct c; cbn; ring). now apply (sum_unit dv 0 (fun _ => u a)). }
  assert (L : forall i, rl d 1 (E t) (e t) K0 Q0 i = g t i * (tau h * product q t)).
  { intros i. unfold rl, projection, product. rewrite <- SoundZ.sum_mul. apply SoundZ.sum_ext. intros a _. unfold rw, rq, K0, Q0. cbn [sum].
    rewrite Rplus_0_r, Rmult_assoc. f_equal. f_equal. rewrite <- SoundZ.sum_mull. apply SoundZ.sum_ext. intros. ring. }
  assert (P : softmax (n t) (rl d 1 (E t) (e t) K0 Q0) = softmax (n t) (fun i => g t i * (tau h * product q t))) by (f_equal; extensionality i; apply L).
  unfold rback, rgamma, rg, rmean, variance, mean. rewrite P. replace (rs d dv (E t) V0 O0 0) with (g t) by (extensionality i; now rewrite S).
  set (m := sum (n t) _). rewrite (SoundZ.sum_ext d _ (fun a => sum (n t) (fun i => (E t i a * u a) * (softmax (n t) (fun i => g t i * (tau h * product q t)) i * (g t i - m))))).
  - rewrite SoundZ.sum_swap. apply SoundZ.sum_ext. intros i _. now rewrite SoundZ.sum_mul.
  - intros a _. rewrite <- SoundZ.sum_mull. apply SoundZ.sum_ext. intros. unfold K0. ring.
Qed.
Lemma value_slope t a : more = 1%nat -> slope (n t) d 1 dv (E t) (e t) W 0 (AtValue (p + p) a 0) = point t k0 q0 a.
Proof.
  intros M. cbn [slope]. unfold point. replace (twice p _ (AtOutput (p + p) 0 0)) with 1 by reflexivity. rewrite Rmult_1_r. f_equal.
  all: extensionality b; extensionality c; unfold wK, wQ, twice, original, weights; destruct (Nat.ltb_spec (p + p) p); [lia|]; destruct (Nat.ltb_spec (p + p - p) p); [lia|reflexivity].
Qed.
Lemma slope_rows t h k : (h <= p)%nat -> (k < h * d + more * d)%nat ->
  slope (n t) d 1 dv (E t) (e t) W 0 (nth k (queries_at h ++ last_values) (AtKey 0 0 0)) =
  rows d e (fun t => point t k0 q0) (fun t x => variance (n t) (fun i => g t i * (x * product q t)) (g t)) h tau t k.
Proof.
  revert k. induction h as [|h IH]; intros k Hh Hk; cbn [queries_at rows app].
  - cbn in Hk. unfold last_values. rewrite (nth_indep _ _ (AtValue (p + p) 0 0)) by (rewrite map_length, seq_length; exact Hk).
    rewrite (map_nth (fun a => AtValue (p + p) a 0)), seq_nth by exact Hk. apply value_slope. nia.
  - rewrite <- app_assoc. unfold beside. destruct (Nat.ltb_spec k d).
    + rewrite app_nth1 by (rewrite map_length, seq_length; lia). rewrite (nth_indep _ _ (AtQuery h 0 0)) by (rewrite map_length, seq_length; lia).
      rewrite (map_nth (fun b => AtQuery h b 0)), seq_nth by lia. now apply query_slope.
    + rewrite app_nth2 by (rewrite map_length, seq_length; lia). rewrite map_length, seq_length. apply IH; lia.
Qed.
End Slopes.

Theorem pairs y : exists (K Q V : nat -> nat -> nat -> R) (O : nat -> nat -> R), forall t, (t < T)%nat ->
  layer (n t) d (p + p + more) 1 dv K Q V O (E t) (e t) 0 = y t.
Proof.
  destruct separating_key as (u & U). set (g := projection u). destruct (separating_query g) as (q & Q0 & Q).
  destruct (choose_upto (fun t (x : nat * nat * R * R) => let '(a, b, low, high) := x in (a < n t)%nat /\ (b < n t)%nat /\ 0 < product q t * (g t a - g t b) /\ 0 < low /\ 0 < high /\
    forall tau, 0 <= tau -> low * exp (- (tau * (product q t * (g t a - g t b)))) <= variance (n t) (fun i => g t i * (tau * product q t)) (g t) <= high * exp (- (tau * (product q t * (g t a - g t b)))))
    (O, O, 0, 0) T) as (f & F).
  { intros t Ht. destruct (U t Ht) as (i & k & Hi & Hk & N). destruct (variance_decays (n t) (g t) (product q t) i k Hi Hk N (Q0 t Ht)) as (a & b & Ha & Hb & G & low & high & B).
    exists (a, b, low, high). tauto. }
  set (gap t := let '(a, b, _, _) := f t in product q t * (g t a - g t b)). set (lowest t := let '(_, _, low, _) := f t in low). set (highest t := let '(_, _, _, high) := f t in high).
  assert (D : forall s t, (s < T)%nat -> (t < T)%nat -> s <> t -> gap s <> gap t).
  { intros s t Hs Ht N. pose proof (F s Hs) as Fs. pose proof (F t Ht) as Ft. unfold gap. destruct (f s) as [[[a b] ?] ?], (f t) as [[[a' b'] ?] ?].
    destruct Fs as (Ha & Hb & G & _), Ft as (Ha' & Hb' & _). apply Q; try assumption. intros Z. rewrite Z in G. lra. }
  destruct (least T lowest) as (low & low0 & Low); [intros t Ht; specialize (F t Ht); unfold lowest; destruct (f t) as [[[? ?] ?] ?]; tauto|].
  set (high := 1 + sum T (fun t => Rabs (highest t))). assert (S0 : 0 <= sum T (fun t => Rabs (highest t))) by (apply sum_not_negative; intros; apply Rabs_pos).
  destruct (in_order T gap D) as (l & P & Inc). assert (Len : length l = T) by (rewrite <- (Permutation_length P); apply seq_length).
  assert (inT : forall i, (i < T)%nat -> (nth i l O < T)%nat).
  { intros i Hi. assert (In (nth i l O) (seq 0 T)) as H by (apply (Permutation_in _ (Permutation_sym P)), nth_In; lia). apply in_seq in H. lia. }
  destruct (last l P) as (k0 & q0 & I0).
  destruct (in_blocks T d (more * d) K kappa omega (fun i => e (nth i l O)) (fun i => point (nth i l O) k0 q0)
    (fun i x => variance (n (nth i l O)) (fun k => g (nth i l O) k * (x * product q (nth i l O))) (g (nth i l O))) (fun i => gap (nth i l O)) low high) with (p := p) (o := O) as (tau & I).
  - exact low0.
  - unfold high. lra.
  - intros i tau Hi X. specialize (F _ (inT i Hi)). specialize (Low _ (inT i Hi)). pose proof (term_below T (fun t => Rabs (highest t)) _ (inT i Hi) (fun _ _ => Rabs_pos _)) as High.
    cbn beta in High. set (t := nth i l O) in *. unfold gap, lowest, highest in *. destruct (f t) as [[[a b] lo] hi]. destruct F as (_ & _ & _ & _ & H0 & B). destruct (B tau X) as [B1 B2].
    rewrite Rabs_pos_eq in High by lra. pose proof (exp_pos (- (tau * (product q t * (g t a - g t b))))) as E0. split; [apply Rle_trans with (2 := B1)|apply Rle_trans with (1 := B2)]; apply Rmult_le_compat_r; try lra.
    unfold high. lra.
  - intros i k H. now apply Inc.
  - intros o Ho. now apply listed_choice.
  - reflexivity.
  - lia.
  - exact I0.
  - lia.
  - lia.
  - set (W := twice p (weights u q tau k0 q0)). rewrite Nat.sub_0_r in I. cbn [Nat.add] in I.
    destruct (all_labels T d 1 dv 1 (p + p + more) n E e W places) with (y := y) as (W' & HW).
    + intros t Ht. destruct (two_rows t Ht) as (i & _ & _ & Hi & _). lia.
    + lia.
    + exact places_distinct.
    + exact places_valid.
    + intros t _. unfold out. apply outcome_twice.
    + rewrite Nat.mul_1_r, places_length. apply (independent_order T _ l _ P). intros a Z. apply I. intros k Hk. rewrite <- (Z k Hk). apply SoundZ.sum_ext. intros i Hi. f_equal.
      unfold jacobian, spot, W. rewrite Nat.div_1_r, Nat.mod_1_r. symmetry. unfold places. rewrite slope_rows by (try exact Hk; lia).
      clear. generalize k. induction p as [|h IH]; intros c; cbn [rows]; [reflexivity|]. unfold beside. destruct (Nat.ltb c d); [reflexivity|apply IH].
    + exists (wK W'), (fun h a b => wQ W' h a b / ln 2), (wV W'), (fun r j => W' (AtOutput (r / dv) (r mod dv) j)). intros t Ht. rewrite near_sound.layer_is by exact Hdv.
      specialize (HW t ltac:(lia)). unfold out in HW. rewrite Nat.div_1_r, Nat.mod_1_r in HW. exact HW.
Qed.
End Examples.

(* A head that meets all labels of some examples has independent features on them. *)
Lemma feature_point n d K Q E E' e e' c : (forall i a, (i < n)%nat -> (a < d)%nat -> E' i a = E i a) -> (forall a, (a < d)%nat -> e' a = e a) -> (c < d)%nat ->
  feature n d 1 K Q E' e' 0 c = rz n d 1 E e (fun a _ => K O a O) (fun a _ => ln 2 * Q O a O) c.
Proof.
  intros HE He Hc. assert (L : forall i, (i < n)%nat -> logit d 1 K Q E' e' 0 i = rl d 1 E e (fun a _ => K O a O) (fun a _ => ln 2 * Q O a O) i).
  { intros i Hi. unfold logit, rl. apply SoundZ.sum_ext. intros a Ha. rewrite HE by assumption. f_equal. unfold rw, rq. cbn [sum]. f_equal. f_equal.
    apply SoundZ.sum_ext. intros b Hb. rewrite He by exact Hb. ring. }
  unfold feature, rz. apply SoundZ.sum_ext. intros i Hi. rewrite HE, Rmult_comm by assumption. f_equal. now apply SoundZ.softmax_ext.
Qed.
Lemma met_independent w n d K Q E E' e e' :
  (forall t i a, (t < w)%nat -> (i < n)%nat -> (a < d)%nat -> E' t i a = E t i a) -> (forall t a, (t < w)%nat -> (a < d)%nat -> e' t a = e t a) ->
  (forall y : nat -> R, exists V O, forall t, (t < w)%nat -> layer n d 1 1 1 K Q V O (E' t) (e' t) 0 = y t) ->
  independent_rows w d (fun t => rz n d 1 (E t) (e t) (fun a _ => K O a O) (fun a _ => ln 2 * Q O a O)).
Proof.
  intros HE He Met a Z. destruct (Met a) as (V & O & M). set (f t c := rz n d 1 (E t) (e t) (fun a _ => K 0%nat a 0%nat) (fun a _ => ln 2 * Q 0%nat a 0%nat) c).
  assert (Z' : forall c, (c < d)%nat -> sum w (fun t => a t * f t c) = 0) by exact Z.
  assert (A : forall t, (t < w)%nat -> sum d (fun c => f t c * V 0%nat c 0%nat) * O 0%nat 0%nat = a t).
  { intros t Ht. rewrite <- (M t Ht). unfold layer. cbn [sum Nat.mul Nat.add]. rewrite !Rplus_0_r. f_equal. apply SoundZ.sum_ext. intros c Hc. f_equal. symmetry.
    apply feature_point; [intros; now apply HE|intros; now apply He|exact Hc]. }
  assert (S : sum w (fun t => a t * a t) = 0).
  { transitivity (sum d (fun c => sum w (fun t => a t * f t c) * V 0%nat c 0%nat) * O 0%nat 0%nat).
    - rewrite <- SoundZ.sum_mul. rewrite (SoundZ.sum_ext d _ (fun c => sum w (fun t => a t * (f t c * V 0%nat c 0%nat * O 0%nat 0%nat)))).
      + rewrite SoundZ.sum_swap. apply SoundZ.sum_ext. intros t Ht. rewrite SoundZ.sum_mull, SoundZ.sum_mul. now rewrite A.
      + intros c _. rewrite <- !SoundZ.sum_mul. apply SoundZ.sum_ext. intros. ring.
    - rewrite (SoundZ.sum_ext d _ (fun _ => 0)) by (intros c Hc; rewrite Z' by exact Hc; ring). rewrite SoundZ.sum_0. ring. }
  intros t Ht. pose proof (sum_zero w (fun t => a t * a t) (fun _ _ => Rle_0_sqr _) ltac:(lra) t Ht) as Q0. cbn in Q0. now apply Rsqr_0_uniq.
Qed.
