(* Lists beside functions of the index: [like R n l f] says that l has n entries, and that R holds of entry i and f i. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Arith.
Require Import Spec Blocks Certificate integers transfer balls balls_sound enclosed_sound.
Import ListNotations.
Local Notation length := List.length.

Definition like {A B} (R : A -> B -> Prop) (n : nat) (l : list A) (f : nat -> B) : Prop := Forall2 (fun x i => R x (f i)) l (seq 0 n).
Definition listed {B} (n : nat) (f : nat -> B) : list B := map f (seq 0 n).
Lemma vec_S {B} n (f : nat -> B) : listed (S n) f = f O :: listed n (fun i => f (S i)).
Proof. unfold listed. cbn. now rewrite <- seq_shift, map_map. Qed.
Lemma in_seq_0 i n : In i (seq 0 n) -> (i < n)%nat.
Proof. rewrite in_seq. lia. Qed.

Lemma like_length {A B} (R : A -> B -> Prop) n l f : like R n l f -> length l = n.
Proof. intros H. apply Forall2_lengths in H. now rewrite seq_length in H. Qed.
Lemma like_map {A B C D} (R : A -> B -> Prop) (S : C -> D -> Prop) n l f (g : A -> C) h :
  like R n l f -> (forall x i, (i < n)%nat -> R x (f i) -> S (g x) (h i)) -> like S n (map g l) h.
Proof.
  unfold like. intros H G. assert (G' : forall x i, In i (seq 0 n) -> R x (f i) -> S (g x) (h i)) by (intros x i I; apply G; now apply in_seq_0).
  clear G. induction H as [|x i l s Hx H IH]; constructor; [apply G'; [now left|exact Hx]|]. apply IH. intros y k I. apply G'. now right.
Qed.
Lemma like_weaken {A B D} (R : A -> B -> Prop) (S : A -> D -> Prop) n l f h : like R n l f -> (forall x i, (i < n)%nat -> R x (f i) -> S x (h i)) -> like S n l h.
Proof. intros H G. rewrite <- (map_id l). exact (like_map R S n l f (fun x => x) h H G). Qed.
Lemma like_vec {A B} (R : A -> B -> Prop) n l f : like R n l f <-> Forall2 R l (listed n f).
Proof.
  unfold like, listed. generalize (seq 0 n). intros s. split.
  - induction 1; constructor; assumption.
  - revert s. induction l as [|x l IH]; intros [|i s] H; inversion H; subst; constructor; auto.
Qed.
Lemma like_nth {A B} (R : A -> B -> Prop) n l f i d : like R n l f -> (i < n)%nat -> R (nth i l d) (f i).
Proof.
  intros H. apply like_vec in H. revert f l H i. induction n as [|n IH]; intros f l H i Hi; [lia|]. rewrite vec_S in H.
  inversion H as [|x y l' s Hx H' E1 E2]; subst. destruct i as [|i]; [exact Hx|]. apply (IH (fun i => f (S i)) l' H'). lia.
Qed.
Lemma nth_like {A B} (R : A -> B -> Prop) n l f d : length l = n -> (forall i, (i < n)%nat -> R (nth i l d) (f i)) -> like R n l f.
Proof.
  intros L H. apply like_vec. revert n f L H. induction l as [|x l IH]; intros n f L H; (destruct n as [|n]; [|try discriminate]); [constructor|discriminate|].
  rewrite vec_S. constructor; [exact (H O (Nat.lt_0_succ _))|]. apply IH; [now injection L|]. intros i Hi. apply (H (S i)). lia.
Qed.
Lemma like_seq {A B} (R : A -> B -> Prop) n (g : nat -> A) f : (forall i, (i < n)%nat -> R (g i) (f i)) -> like R n (map g (seq 0 n)) f.
Proof.
  intros H. apply (nth_like R n _ f (g O)); [now rewrite map_length, seq_length|]. intros i Hi. rewrite map_nth, seq_nth by exact Hi. now apply H.
Qed.
Lemma like_combine {A B C D} (R : A -> B -> Prop) (S : C -> D -> Prop) n l f l' f' : like R n l f -> like S n l' f' ->
  like (fun p q => R (fst p) (fst q) /\ S (snd p) (snd q)) n (combine l l') (fun i => (f i, f' i)).
Proof.
  unfold like. generalize (seq 0 n). intros s H. revert l'. induction H as [|x i l s Hx H IH]; intros l' G; inversion G; subst; constructor; auto.
Qed.
Lemma like_numbered {A B} (R : A -> B -> Prop) n l f : like R n l f ->
  like (fun p q => fst p = fst q /\ R (snd p) (snd q)) n (combine (seq 0 n) l) (fun i => (i, f i)).
Proof.
  intros H. apply (like_combine eq R n (seq 0 n) (fun i => i) l f); [|exact H]. unfold like. induction (seq 0 n); constructor; auto.
Qed.

(* Tables. *)
Lemma combine_same {A} (l : list A) : combine l l = map (fun x => (x, x)) l.
Proof. induction l as [|x l IH]; cbn; [reflexivity|]. now rewrite IH. Qed.
Lemma columns_vec {B} p (F : nat -> nat -> B) i s :
  columns (map (fun i => listed p (F i)) (i :: s)) = listed p (fun b => map (fun i => F i b) (i :: s)).
Proof.
  revert i. induction s as [|k s IH]; intros i.
  - cbn [map]. rewrite columns_one. unfold listed. now rewrite map_map.
  - cbn [map] in *. rewrite columns_cons by (unfold listed; now rewrite !map_length). rewrite IH. unfold listed. rewrite combine_map, combine_same, !map_map. reflexivity.
Qed.
Lemma like_table {A B} (R : A -> B -> Prop) n p M F : like (like R p) n M F <-> Forall2 (Forall2 R) M (listed n (fun i => listed p (F i))).
Proof.
  rewrite <- like_vec. split; intros H; apply (like_weaken _ _ _ _ _ _ H); intros x i _; apply like_vec.
Qed.
Lemma like_columns {A B} (R : A -> B -> Prop) n p M F : (0 < n)%nat -> like (like R p) n M F -> like (like R n) p (columns M) (fun b a => F a b).
Proof.
  intros Hn H. apply like_table. assert (E : listed p (fun b => listed n (fun a => F a b)) = columns (listed n (fun i => listed p (F i)))).
  { destruct n as [|n]; [lia|]. unfold listed. cbn [seq]. exact (eq_sym (columns_vec p F O (seq 1 n))). }
  rewrite E. apply (columns_related R p).
  - intros ->. apply like_length in H. cbn in H. lia.
  - apply Forall_forall. intros x I. apply (In_nth _ _ []) in I as (i & Hi & <-). rewrite (like_length _ _ _ _ H) in Hi.
    exact (like_length _ _ _ _ (like_nth _ _ _ _ i [] H Hi)).
  - now apply like_table.
Qed.
Lemma like_concat {A B} (R : A -> B -> Prop) T m L F : (0 < m)%nat -> like (like R m) T L F ->
  like R (T * m) (concat L) (fun l => F (l / m)%nat (l mod m)%nat).
Proof.
  intros Hm H. apply like_table in H. apply like_vec.
  assert (E : listed (T * m) (fun l => F (l / m)%nat (l mod m)%nat) = concat (listed T (fun i => listed m (F i)))).
  { clear - Hm. revert F. induction T as [|T IH]; intros F; [reflexivity|]. rewrite vec_S. cbn [concat mult]. rewrite <- IH.
    unfold listed at 1. rewrite seq_app, map_app. f_equal; unfold listed.
    - apply map_ext_in. intros i I. apply in_seq_0 in I. now rewrite Nat.div_small, Nat.mod_small.
    - rewrite Nat.add_0_l. replace (seq m (T * m)) with (map (Nat.add m) (seq 0 (T * m))) by (clear; generalize (T * m)%nat; intros k;
        rewrite <- (Nat.add_0_r m) at 2; generalize O; induction k as [|k IH]; intros o; cbn; [reflexivity|]; rewrite IH, Nat.add_succ_r; reflexivity).
      rewrite map_map. apply map_ext. intros i. replace (m + i)%nat with (i + 1 * m)%nat by lia. rewrite Nat.div_add, Nat.mod_add by lia. now rewrite Nat.add_1_r. }
  rewrite E. clear E. induction H; [constructor|]. cbn. now apply Forall2_app.
Qed.

(* Sums. *)
Open Scope R_scope.
Lemma dot_sum n f g : dot (listed n f) (listed n g) = sum n (fun i => f i * g i).
Proof.
  revert f g. induction n as [|n IH]; intros f g; [reflexivity|]. rewrite !vec_S. cbn [sum]. rewrite <- (IH (fun i => f (S i))). reflexivity.
Qed.
Lemma total_sum n f : total (listed n f) = sum n f.
Proof. revert f. induction n as [|n IH]; intros f; [reflexivity|]. rewrite vec_S. cbn [sum]. rewrite <- IH. reflexivity. Qed.
Lemma softmax_vec n l : normalized exp (listed n l) = listed n (softmax n l).
Proof.
  unfold normalized. replace (total (map exp (listed n l))) with (sum n (fun j => exp (l j))) by (rewrite <- total_sum; unfold listed; now rewrite map_map).
  unfold listed. now rewrite map_map.
Qed.
Definition worth (z : Z) (r : R) : Prop := IZR z = r.
Lemma worth_dot n x y f g : like worth n x f -> like worth n y g -> IZR (CheckZ.dot x y) = sum n (fun i => f i * g i).
Proof.
  rewrite !like_vec. revert x y f g. induction n as [|n IH]; intros x y f g H G; [cbn in H; inversion H; now inversion G|].
  rewrite vec_S in H, G. inversion H as [|a ? x' ? Ha Hx]; subst. inversion G as [|b ? y' ? Hb Hy]; subst. cbn [sum].
  rewrite <- Ha, <- Hb, <- (IH x' y' (fun i => f (S i)) (fun i => g (S i)) Hx Hy), <- mult_IZR, <- plus_IZR. reflexivity.
Qed.
Lemma worth_sum n x f : like worth n x f -> IZR (sum_of x) = sum n f.
Proof.
  rewrite like_vec. revert x f. induction n as [|n IH]; intros x f H; [cbn in H; now inversion H|].
  rewrite vec_S in H. inversion H as [|a ? x' ? Ha Hx]; subst. cbn [sum]. rewrite <- Ha, <- (IH x' _ Hx), <- plus_IZR. reflexivity.
Qed.
