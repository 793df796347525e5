(* check_domain = true implies whole. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Permutation Mergesort.
Require Import Spec interpolation integers domain.
Import ListNotations CheckZ.
Local Notation id := (fun x : Z => x).

Lemma increasing_above x r : increasing (x :: r) = true -> increasing r = true /\ forall y, In y r -> compare_pairs x y = Lt.
Proof.
  revert x. induction r as [|y r IH]; intros x H; [split; [reflexivity|intros y []]|].
  cbn [increasing] in H. destruct (compare_pairs x y) eqn:C; try discriminate. split; [exact H|].
  destruct (IH y H) as [_ G]. intros z [<-|I]; [exact C|]. exact (proj2 (proj2 ordered_pairs) _ _ _ C (G z I)).
Qed.
Lemma increasing_NoDup l : increasing l = true -> NoDup l.
Proof.
  induction l as [|x r IH]; intros H; [constructor|]. apply increasing_above in H as [H G]. constructor; [|exact (IH H)].
  intros I. apply G in I. now rewrite (proj2 (proj1 ordered_pairs x x) eq_refl) in I.
Qed.
Lemma nth_error_combine {A B} (x : list A) (y : list B) t a b :
  nth_error x t = Some a -> nth_error y t = Some b -> nth_error (combine x y) t = Some (a, b).
Proof. revert y t. induction x as [|a' x IH]; intros [|b' y] [|t]; cbn; try discriminate; [now intros [= ->] [= ->]|apply IH]. Qed.

(* Over one denominator, equal integers are equal reals. *)
Lemma ient_nth l j : (j < length l)%nat -> SoundZ.ient l j = IZR (nth j l 0%Z).
Proof. intros H. unfold SoundZ.ient. now rewrite (nth_error_nth' l 0%Z H). Qed.
Lemma clearv_same d v x y x' y' : v <> 0%Z -> clearv d v x = Some x' -> clearv d v y = Some y' ->
  (forall j, (j < d)%nat -> ventry id x j = ventry id y j) <-> x' = y'.
Proof.
  intros Hv Hx Hy. apply (SoundZ.clearv_ok _ _ _ _ Hv) in Hx as [Lx Hx], Hy as [Ly Hy]. split; [|intros <- j _; now rewrite Hx, Hy].
  intros H. apply (nth_ext _ _ 0%Z 0%Z); [exact (eq_trans Lx (eq_sym Ly))|]. intros j Hj. assert (Hd : (j < d)%nat) by (now rewrite <- Lx). specialize (H j Hd).
  rewrite Hx, Hy, !ient_nth in H by (first [rewrite Lx|rewrite Ly]; exact Hd). apply eq_IZR. apply (Rmult_eq_reg_r (/ IZR v)); [exact H|].
  apply Rinv_neq_0_compat. now apply not_0_IZR.
Qed.
Lemma clearm_row h d u M M' i : clearm h d u M = Some M' -> (i < h)%nat -> clearv d u (nth i M []) = Some (nth i M' []).
Proof.
  unfold clearm. destruct (Nat.eqb_spec (length M) h) as [<-|]; [|discriminate]. intros H Hi.
  destruct (SoundZ.mapM_nth _ _ _ _ _ H (nth_error_nth' M [] Hi)) as (y & Hy & C). now rewrite (nth_error_nth _ _ _ Hy).
Qed.
Lemma clearm_same h d u M N M' N' : u <> 0%Z -> clearm h d u M = Some M' -> clearm h d u N = Some N' ->
  (forall i j, (i < h)%nat -> (j < d)%nat -> mentry id M i j = mentry id N i j) <-> M' = N'.
Proof.
  intros Hu HM HN. assert (LM := proj1 (SoundZ.clearm_ok _ _ _ _ _ Hu HM)). assert (LN := proj1 (SoundZ.clearm_ok _ _ _ _ _ Hu HN)).
  split.
  - intros H. apply (nth_ext _ _ [] []); [exact (eq_trans LM (eq_sym LN))|]. intros i Hi. assert (Hh : (i < h)%nat) by (now rewrite <- LM). clear Hi. rename Hh into Hi.
    apply (clearv_same d u (nth i M []) (nth i N [])); [exact Hu|exact (clearm_row _ _ _ _ _ _ HM Hi)|exact (clearm_row _ _ _ _ _ _ HN Hi)|].
    intros j Hj. exact (H i j Hi Hj).
  - intros <- i j Hi Hj. exact (proj2 (clearv_same d u _ _ _ _ Hu (clearm_row _ _ _ _ _ _ HM Hi) (clearm_row _ _ _ _ _ _ HN Hi)) eq_refl j Hj).
Qed.

Theorem check_domain_sound u v T d contexts queries D : check_domain u v T d contexts queries D = true ->
  forall c, dimT c = T -> dimd c = d -> Spec.contexts c = contexts -> Spec.queries c = queries -> whole id D c.
Proof.
  intros H c HT Hd HE Hq. subst T d contexts queries. unfold check_domain in H. rewrite !andb_true_iff, orb_true_iff, !Nat.eqb_eq in H.
  destruct H as [[[[Hu Hv] Lq] LE] H]. apply SoundZ.nonzero_ok in Hu, Hv.
  destruct (mapM (cleared (dimd c) u) (Spec.contexts c)) as [Es|] eqn:CE; [|discriminate]. destruct (mapM (clearv (dimd c) v) (Spec.queries c)) as [es|] eqn:Ce; [|discriminate].
  destruct (mapM (cleared (dimd c) u) (all_contexts D)) as [every|] eqn:CD; [|discriminate]. destruct (mapM (clearv (dimd c) v) (all_queries D)) as [all|] eqn:Ca; [|discriminate].
  set (found := map _ _) in H. set (pairs := flat_map _ _) in H.
  destruct (lexicographic _ _ _) eqn:L; try discriminate. apply (ordered_lexicographic _ ordered_pairs) in L.
  assert (P : Permutation found pairs).
  { rewrite (PairSort.Permuted_sort found), L. symmetry. apply PairSort.Permuted_sort. }
  assert (N : NoDup found).
  { apply increasing_NoDup in H. rewrite <- L in H. exact (Permutation_NoDup (Permutation_sym (PairSort.Permuted_sort found)) H). }
  (* The examples, and the pairs, as they are found. *)
  assert (F : forall t, (t < dimT c)%nat -> exists E e, nth_error found t = Some (e :: E) /\
    clearm (length (ctx c t)) (dimd c) u (ctx c t) = Some E /\ clearv (dimd c) v (nth t (Spec.queries c) []) = Some e).
  { intros t Ht. assert (Hq : (t < length (Spec.queries c))%nat) by congruence.
    destruct (SoundZ.mapM_nth _ _ _ _ _ Ce (nth_error_nth' _ [] Hq)) as (e & He & Ke).
    assert (G : exists E, nth_error (match Es with [E] => repeat E (dimT c) | _ => Es end) t = Some E /\
      clearm (length (ctx c t)) (dimd c) u (ctx c t) = Some E).
    { assert (LEs := SoundZ.mapM_length _ _ _ CE).
      assert (G : forall k, (k < length (Spec.contexts c))%nat -> exists E, nth_error Es k = Some E /\ cleared (dimd c) u (nth k (Spec.contexts c) []) = Some E).
      { intros k Hk. exact (SoundZ.mapM_nth _ _ _ _ _ CE (nth_error_nth' _ [] Hk)). }
      unfold ctx. destruct (Spec.contexts c) as [|M [|M' r]]; cbn [length] in LE, LEs, G; [lia| |].
      - destruct (G O ltac:(lia)) as (E & HE & KE). exists E. split; [|exact KE]. destruct Es as [|E' [|]]; try discriminate. injection HE as ->.
        rewrite (nth_error_nth' _ E); [now rewrite nth_repeat|now rewrite repeat_length].
      - destruct (G t ltac:(lia)) as (E & HE & KE). exists E. split; [|exact KE]. destruct Es as [|? [|]]; try discriminate. exact HE. }
    destruct G as (E & HE & KE). exists E, e. split; [|split; assumption].
    unfold found. erewrite map_nth_error; [|apply nth_error_combine; eassumption]. reflexivity. }
  assert (G : forall i k, (i < length (all_contexts D))%nat -> (k < length (all_queries D))%nat -> exists C q, In (q :: C) pairs /\
    clearm (length (nth i (all_contexts D) [])) (dimd c) u (nth i (all_contexts D) []) = Some C /\ clearv (dimd c) v (nth k (all_queries D) []) = Some q).
  { intros i k Hi Hk. destruct (SoundZ.mapM_nth _ _ _ _ _ CD (nth_error_nth' _ [] Hi)) as (C & HC & KC).
    destruct (SoundZ.mapM_nth _ _ _ _ _ Ca (nth_error_nth' _ [] Hk)) as (q & Hq & Kq). exists C, q. split; [|split; assumption].
    apply in_flat_map. exists C. split; [exact (nth_error_In _ _ HC)|]. apply in_map_iff. exists q. split; [reflexivity|exact (nth_error_In _ _ Hq)]. }
  assert (S : forall t i k E e C q, clearm (length (ctx c t)) (dimd c) u (ctx c t) = Some E -> clearv (dimd c) v (nth t (Spec.queries c) []) = Some e ->
    clearm (length (nth i (all_contexts D) [])) (dimd c) u (nth i (all_contexts D) []) = Some C -> clearv (dimd c) v (nth k (all_queries D) []) = Some q ->
    is_pair id D c t i k <-> e :: E = q :: C).
  { intros t i k E e C q KE Ke KC Kq. split.
    - intros (Ht & Hr & He). f_equal; [exact (proj1 (clearv_same _ _ _ _ _ _ Hv Ke Kq) He)|]. unfold tokens in Ht. rewrite <- Ht in KC.
      exact (proj1 (clearm_same _ _ _ _ _ _ _ Hu KE KC) Hr).
    - intros [= -> ->]. assert (Ht : tokens c t = length (nth i (all_contexts D) [])).
      { unfold tokens. now rewrite <- (proj1 (SoundZ.clearm_ok _ _ _ _ _ Hu KE)), <- (proj1 (SoundZ.clearm_ok _ _ _ _ _ Hu KC)). }
      split; [exact Ht|]. split; [|exact (proj2 (clearv_same _ _ _ _ _ _ Hv Ke Kq) eq_refl)].
      unfold tokens in *. rewrite <- Ht in KC. exact (proj2 (clearm_same _ _ _ _ _ _ _ Hu KE KC) eq_refl). }
  split.
  - intros t Ht. destruct (F t Ht) as (E & e & Ft & KE & Ke). assert (I := Permutation_in _ P (nth_error_In _ _ Ft)).
    apply in_flat_map in I as (C & IC & I). apply in_map_iff in I as (q & [= -> ->] & Iq).
    apply In_nth_error in IC as [i HC], Iq as [k Hq].
    assert (Hi : (i < length (all_contexts D))%nat) by (eapply Nat.lt_le_trans; [|exact (Nat.eq_le_incl _ _ (SoundZ.mapM_length _ _ _ CD))]; apply nth_error_Some; intros X; discriminate (eq_trans (eq_sym HC) X)).
    assert (Hk : (k < length (all_queries D))%nat) by (eapply Nat.lt_le_trans; [|exact (Nat.eq_le_incl _ _ (SoundZ.mapM_length _ _ _ Ca))]; apply nth_error_Some; intros X; discriminate (eq_trans (eq_sym Hq) X)).
    exists i, k. split; [now split|].
    destruct (SoundZ.mapM_nth _ _ _ _ _ CD (nth_error_nth' _ [] Hi)) as (C' & HC' & KC).
    destruct (SoundZ.mapM_nth _ _ _ _ _ Ca (nth_error_nth' _ [] Hk)) as (q' & Hq' & Kq).
    injection (eq_trans (eq_sym HC) HC') as <-. injection (eq_trans (eq_sym Hq) Hq') as <-.
    now apply (proj2 (S t i k _ _ _ _ KE Ke KC Kq)).
  - intros i k [Hi Hk]. destruct (G i k Hi Hk) as (C & q & I & KC & Kq). apply (Permutation_in _ (Permutation_sym P)) in I.
    apply In_nth_error in I as [t It]. assert (Ht : (t < dimT c)%nat).
    { assert (Lt : (t < length found)%nat) by (apply nth_error_Some; intros X; discriminate (eq_trans (eq_sym It) X)). unfold found in Lt.
      rewrite map_length, combine_length in Lt. apply Nat.min_glb_lt_iff in Lt as [_ Lt]. rewrite <- Lq. exact (Nat.lt_le_trans _ _ _ Lt (Nat.eq_le_incl _ _ (SoundZ.mapM_length _ _ _ Ce))). }
    exists t. split; [exact Ht|]. destruct (F t Ht) as (E & e & Ft & KE & Ke). injection (eq_trans (eq_sym It) Ft) as <- <-.
    split; [now apply (proj2 (S t i k _ _ _ _ KE Ke KC Kq))|]. intros t' Ht' H'. destruct (F t' Ht') as (E' & e' & Ft' & KE' & Ke').
    apply (proj1 (S t' i k _ _ _ _ KE' Ke' KC Kq)) in H'. apply (fun X => eq_trans X (eq_trans (f_equal Some H') (eq_sym It))) in Ft'.
    apply (proj1 (NoDup_nth_error found) N); [apply nth_error_Some; intros X; discriminate (eq_trans (eq_sym It) (eq_trans (eq_sym Ft') X))|exact Ft'].
Qed.
