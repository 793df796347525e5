(* The same blocks in two arithmetics: where operations agree, so do all states. *)
From Coq Require Import List Bool.
Require Import Json Blocks.
Import ListNotations.

(* What was got was got step by step. *)
Lemma bind_got {A B} (x : result A) (g : A -> result B) b : bind x g = Got b -> exists a, x = Got a /\ g a = Got b.
Proof. destruct x as [a|]; cbn; [|discriminate]. intros H. now exists a. Qed.
Lemma need_got s b u : need s b = Got u -> b = true.
Proof. destruct b; [reflexivity|discriminate]. Qed.
Ltac steps := repeat match goal with
  | H : bind _ _ = Got _ |- _ => apply bind_got in H as (? & ? & H)
  | H : need _ _ = Got ?u |- _ => destruct u; apply need_got in H
  | H : Got _ = Got _ |- _ => injection H as H
  | H : _ && _ = true |- _ => apply andb_prop in H as [? ?]
  end.

Lemma each_transfer_ {A B A' B'} (f : A -> result B) (f' : A' -> result B') (g : A -> A') (h : B -> B') l done ys :
  (forall x y, f x = Got y -> f' (g x) = Got (h y)) ->
  each_ f l done = Got ys -> each_ f' (map g l) (map h done) = Got (map h ys).
Proof.
  intros H. revert done. induction l as [|x l IH]; cbn; intros done E.
  - injection E as <-. now rewrite !rev_append_rev, !app_nil_r, map_rev.
  - destruct (f x) as [y|] eqn:F; [|discriminate]. rewrite (H _ _ F). exact (IH _ E).
Qed.
Lemma each_transfer {A B A' B'} (f : A -> result B) (f' : A' -> result B') (g : A -> A') (h : B -> B') l ys :
  (forall x y, f x = Got y -> f' (g x) = Got (h y)) -> each f l = Got ys -> each f' (map g l) = Got (map h ys).
Proof. intros H. exact (each_transfer_ f f' g h l [] ys H). Qed.
(* The values of a function of results that are known. *)
Lemma each_values {A B C} (f : A -> result B) (g : A -> C) (h : B -> C) l ys :
  (forall x y, f x = Got y -> g x = h y) -> each f l = Got ys -> map g l = map h ys.
Proof.
  intros H E. apply (each_transfer f Got g h) in E; [|intros x y F; now rewrite (H _ _ F)].
  revert E. generalize (map h ys). clear. unfold each. generalize (map g l). intros x z E.
  enough (G : forall done, each_ Got x done = Got (rev_append done x)).
  { rewrite G in E. now injection E. }
  clear. induction x as [|a x IH]; intros done; cbn; [reflexivity|]. now rewrite IH.
Qed.
Lemma each_got_ {A B} (f : A -> result B) l done ys x : each_ f l done = Got ys -> In x l -> exists y, f x = Got y.
Proof.
  revert done. induction l as [|a l IH]; cbn; intros done E; [easy|].
  destruct (f a) as [y|] eqn:F; [|discriminate]. intros [<-|I]; [now exists y|exact (IH _ E I)].
Qed.
Lemma each_got {A B} (f : A -> result B) l ys x : each f l = Got ys -> In x l -> exists y, f x = Got y.
Proof. exact (each_got_ f l [] ys x). Qed.
Lemma each_in {A B} (f : A -> result B) l ys x y : each f l = Got ys -> In x l -> f x = Got y -> In y ys.
Proof.
  intros H I F. apply (each_values f f Got) in H; [|auto]. apply (in_map f) in I. rewrite H, F in I. apply in_map_iff in I as (z & E & I). now injection E as <-.
Qed.
Lemma each_id {A} (l : list A) : each Got l = Got l.
Proof.
  unfold each. enough (G : forall done, each_ Got l done = Got (rev_append done l)) by apply G.
  induction l as [|a l IH]; intros done; cbn; [reflexivity|]. now rewrite IH.
Qed.
Lemma combine_map {A B C D} (f : A -> C) (g : B -> D) l r :
  combine (map f l) (map g r) = map (fun p => (f (fst p), g (snd p))) (combine l r).
Proof. revert r. induction l as [|x l IH]; intros [|y r]; cbn; try reflexivity. now rewrite IH. Qed.

(* What is got of the left is got of the right, too, and they are related. *)
Definition gives {A B} (R : A -> B -> Prop) (x : result A) (y : result B) : Prop :=
  forall a, x = Got a -> exists b, y = Got b /\ R a b.
Lemma gives_got {A B} (R : A -> B -> Prop) a b : R a b -> gives R (Got a) (Got b).
Proof. intros H c [= <-]. now exists b. Qed.
Lemma gives_bind {A B A' B'} (R : A -> A' -> Prop) (S : B -> B' -> Prop) x x' f f' :
  gives R x x' -> (forall a a', R a a' -> gives S (f a) (f' a')) -> gives S (bind x f) (bind x' f').
Proof. intros H G b E. apply bind_got in E as (a & E & F). apply H in E as (a' & -> & E). cbn. exact (G a a' E b F). Qed.
Lemma gives_need {B B'} (S : B -> B' -> Prop) s b (x : result B) (x' : result B') :
  gives S x x' -> gives S (let* _ := need s b in x) (let* _ := need s b in x').
Proof. destruct b; [auto|]. intros _ y E. discriminate. Qed.
Lemma gives_each {A B A' B'} (R : A -> A' -> Prop) (S : B -> B' -> Prop) f f' l l' :
  Forall2 R l l' -> (forall a a', R a a' -> gives S (f a) (f' a')) -> gives (Forall2 S) (each f l) (each f' l').
Proof.
  intros H G. unfold each. assert (D : Forall2 S [] []) by constructor. revert D. generalize (@nil B), (@nil B').
  induction H as [|a a' l l' Ha H IH]; intros done done' D; cbn [each_].
  - apply gives_got. rewrite !rev_append_rev, !app_nil_r. clear - D. induction D; cbn; [constructor|]. now apply Forall2_app; [|constructor].
  - destruct (f a) as [b|] eqn:E; [|intros ? F; discriminate]. apply (G _ _ Ha) in E as (b' & -> & E). apply IH. now constructor.
Qed.
Lemma Forall2_combine {A B A' B'} (R : A -> A' -> Prop) (S : B -> B' -> Prop) l l' r r' :
  Forall2 R l l' -> Forall2 S r r' -> Forall2 (fun p p' => R (fst p) (fst p') /\ S (snd p) (snd p')) (combine l r) (combine l' r').
Proof. intros H. revert r r'. induction H; intros r r' G; cbn; [constructor|]. destruct G; constructor; auto. Qed.
Lemma Forall2_same {A} (l : list A) : Forall2 eq l l.
Proof. induction l; now constructor. Qed.
Lemma Forall2_lengths {A B} (R : A -> B -> Prop) l r : Forall2 R l r -> length l = length r.
Proof. induction 1; cbn; congruence. Qed.
Lemma Forall2_last {A B} (R : A -> B -> Prop) l l' d d' : Forall2 R l l' -> R d d' -> R (last l d) (last l' d').
Proof. induction 1 as [|a b l l' H F IH]; intros D; [exact D|]. cbn. destruct F; [exact H|]. now apply IH. Qed.

Section Transfer.
Context {V M V' M' : Type} (R : V -> V' -> Prop).
Variables (mapped : M -> V -> result V) (joined : list V -> result V) (added : list V -> result V)
  (products : V -> list V -> result V) (shares : rule -> V -> result V) (mean : V -> list V -> result V)
  (active : activation -> V -> result V).
Variables (mapped' : M' -> V' -> result V') (joined' : list V' -> result V') (added' : list V' -> result V')
  (products' : V' -> list V' -> result V') (shares' : rule -> V' -> result V') (mean' : V' -> list V' -> result V')
  (active' : activation -> V' -> result V').
Hypotheses
  (Hjoined : forall l l', Forall2 R l l' -> gives R (joined l) (joined' l'))
  (Hadded : forall l l', Forall2 R l l' -> gives R (added l) (added' l'))
  (Hproducts : forall x x' l l', R x x' -> Forall2 R l l' -> gives R (products x l) (products' x' l'))
  (Hshares : forall r x x', R x x' -> gives R (shares r x) (shares' r x'))
  (Hmean : forall x x' l l', R x x' -> Forall2 R l l' -> gives R (mean x l) (mean' x' l'))
  (Hactive : forall a x x', R x x' -> gives R (active a x) (active' a x')).

(* Maps that agree; of a part the value and the output need to agree only together. *)
Definition agree (f : V -> result V) (f' : V' -> result V') : Prop := forall x x', R x x' -> gives R (f x) (f' x').
Definition parts_agree (p : part M) (p' : part M') : Prop :=
  agree (mapped (to_key p)) (mapped' (to_key p')) /\ agree (mapped (to_query p)) (mapped' (to_query p')) /\
  agree (fun z => let* z := mapped (to_value p) z in mapped (to_output p) z)
    (fun z => let* z := mapped' (to_value p') z in mapped' (to_output p') z).
Definition blocks_agree (b : block M) (b' : block M') : Prop :=
  match b, b' with
  | Attention of weigh parts seen residual, Attention of' weigh' parts' seen' residual' =>
    (of, weigh, seen, residual) = (of', weigh', seen', residual') /\ Forall2 parts_agree parts parts'
  | FeedForward of act linear residual, FeedForward of' act' linear' residual' =>
    (of, act, residual) = (of', act', residual') /\ agree (mapped linear) (mapped' linear')
  | _, _ => False
  end.
Local Notation changed := (Blocks.changed mapped joined added products shares mean active).
Local Notation changed' := (Blocks.changed mapped' joined' added' products' shares' mean' active').
Local Notation tables := (Blocks.tables mapped joined added products shares mean active).
Local Notation tables' := (Blocks.tables mapped' joined' added' products' shares' mean' active').
Local Notation query_after := (Blocks.query_after mapped joined added products shares mean active).
Local Notation query_after' := (Blocks.query_after mapped' joined' added' products' shares' mean' active').

Lemma those_agree s l l' : Forall2 R l l' -> Forall2 R (those s l) (those s l').
Proof. intros H. revert s. induction H; intros [|[|] s]; cbn; auto. Qed.
Lemma seen_agree s l l' : Forall2 R l l' -> Forall2 R (seen_of s l) (seen_of s l').
Proof. destruct s; [apply those_agree|auto]. Qed.

Lemma attended_agree r x x' tokens tokens' seen p p' keys keys' : R x x' -> Forall2 R tokens tokens' -> parts_agree p p' -> Forall2 R keys keys' ->
  gives R (attended mapped products shares mean r x tokens seen (p, keys)) (attended mapped' products' shares' mean' r x' tokens' seen (p', keys')).
Proof.
  intros Hx Ht (_ & Hq & Ho) Hk. unfold attended. eapply gives_bind; [now apply Hq|]. intros q q' Rq.
  eapply gives_bind; [apply Hproducts; [exact Rq|now apply seen_agree]|]. intros l l' Rl.
  eapply gives_bind; [now apply Hshares|]. intros w w' Rw.
  eapply gives_bind; [apply Hmean; [exact Rw|now apply seen_agree]|]. exact Ho.
Qed.
Lemma changed_agree b b' x x' tokens tokens' keys keys' seen : blocks_agree b b' -> R x x' -> Forall2 R tokens tokens' ->
  Forall2 (Forall2 R) keys keys' -> gives R (changed b x tokens keys seen) (changed' b' x' tokens' keys' seen).
Proof.
  intros Hb Hx Ht Hk. unfold Blocks.changed. eapply (gives_bind (fun a a' => R (fst a) (fst a') /\ snd a = snd a')).
  2:{ intros [y r] [y' r'] [Ry E]. cbn in Ry, E. subst r'. destruct r; [|now apply gives_got]. apply Hadded. repeat constructor; assumption. }
  destruct b as [of weigh parts s r|of act linear r], b' as [of' weigh' parts' s' r'|of' act' linear' r']; try easy; destruct Hb as [E Hb]; injection E; intros; subst.
  - rewrite (Forall2_lengths _ _ _ Ht). apply gives_need. eapply gives_bind.
    + eapply gives_each; [exact (Forall2_combine _ _ _ _ _ _ Hb Hk)|]. intros [p k] [p' k'] [Hp Rk]. now apply attended_agree.
    + intros l l' Rl. eapply gives_bind; [apply Hadded; exact Rl|]. intros y y' Ry. now apply gives_got.
  - eapply (gives_bind R).
    + destruct of'; try now apply gives_got. apply Hjoined. now constructor.
    + intros row row' Rr. eapply gives_bind; [now apply Hb|]. intros z z' Rz. eapply gives_bind; [now apply Hactive|].
      intros y y' Ry. now apply gives_got.
Qed.
Lemma keys_agree b b' tokens tokens' : blocks_agree b b' -> Forall2 R tokens tokens' ->
  gives (Forall2 (Forall2 R)) (keys_of mapped b tokens) (keys_of mapped' b' tokens').
Proof.
  intros Hb Ht. destruct b, b'; try easy; destruct Hb as [E Hb]; cbn [keys_of]; [|now apply gives_got].
  eapply gives_each; [exact Hb|]. intros p p' (Hk & _). eapply gives_each; [exact Ht|]. exact Hk.
Qed.
Lemma alike b b' : blocks_agree b b' ->
  of_all b = of_all b' /\ (forall n, seen_by_tokens b n = seen_by_tokens b' n) /\ seen_by_query b = seen_by_query b'.
Proof. destruct b, b'; try easy; intros [E _]; injection E; intros; now subst. Qed.
Lemma tokens_agree b b' tokens tokens' keys keys' : blocks_agree b b' -> Forall2 R tokens tokens' -> Forall2 (Forall2 R) keys keys' ->
  gives (Forall2 R) (tokens_after mapped joined added products shares mean active b tokens keys)
    (tokens_after mapped' joined' added' products' shares' mean' active' b' tokens' keys').
Proof.
  intros Hb Ht Hk. unfold tokens_after. destruct (alike _ _ Hb) as (-> & E & _). rewrite E, (Forall2_lengths _ _ _ Ht).
  destruct (of_all b'); [|now apply gives_got]. eapply (gives_bind eq); [intros s ->; now exists s|]. intros seen ? <-.
  eapply gives_each; [exact (Forall2_combine _ _ _ _ _ _ Ht (Forall2_same seen))|]. intros [x s] [x' s'] [Rx E']. cbn in Rx, E'. subst s'.
  now apply changed_agree.
Qed.

Definition image (p : list V * list (list V)) (p' : list V' * list (list V')) : Prop :=
  Forall2 R (fst p) (fst p') /\ Forall2 (Forall2 R) (snd p) (snd p').
Lemma tables_agree blocks blocks' tokens tokens' : Forall2 blocks_agree blocks blocks' -> Forall2 R tokens tokens' ->
  gives (Forall2 image) (tables blocks tokens) (tables' blocks' tokens').
Proof.
  intros H. revert tokens tokens'. induction H as [|b b' r r' Hb H IH]; intros tokens tokens' Ht; cbn [Blocks.tables].
  - apply gives_got. repeat constructor; assumption.
  - eapply gives_bind; [now apply keys_agree|]. intros keys keys' Hk. eapply gives_bind; [now apply tokens_agree|]. intros after after' Ha.
    eapply gives_bind; [now apply IH|]. intros rest rest' Hr. apply gives_got. now constructor.
Qed.
Lemma query_agree blocks blocks' before before' query query' : Forall2 blocks_agree blocks blocks' -> Forall2 image before before' ->
  R query query' -> gives R (query_after blocks before query) (query_after' blocks' before' query').
Proof.
  intros H. revert before before' query query'. induction H as [|b b' r r' Hb H IH]; intros before before' query query' B Hq;
    destruct B as [|[tokens keys] [tokens' keys'] rest rest' [Ht Hk] B]; cbn [Blocks.query_after]; try now apply gives_got.
  destruct (alike _ _ Hb) as (_ & _ & ->). eapply (gives_bind eq); [intros s ->; now exists s|]. intros seen ? <-.
  eapply gives_bind; [now apply changed_agree|]. intros after after' Ha. now apply IH.
Qed.
End Transfer.
