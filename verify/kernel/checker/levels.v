(* Blocks in two arithmetics, where what agrees depends on how many blocks of attention are before: operations on vectors that
   are those of numbers, and states. *)
From Coq Require Import List Bool Lia.
Require Import Json Blocks transfer network_rank.
Import ListNotations.

Section Vectors.
Context {S S' : Type} (zero one : S) (plus times : S -> S -> S) (zero' one' : S') (plus' times' : S' -> S' -> S').
Lemma as_long_agree {A B} (R : A -> B -> Prop) n l l' : Forall2 (Forall2 R) l l' -> as_long n l = as_long n l'.
Proof. unfold as_long. induction 1 as [|x x' l l' Hx H IH]; [reflexivity|]. cbn [forallb]. now rewrite (Forall2_lengths _ _ _ Hx), IH. Qed.
Lemma dots_agree (A B C : S -> S' -> Prop) x x' y y' : C zero zero' -> (forall a a' b b', C a a' -> C b b' -> C (plus a b) (plus' a' b')) ->
  (forall a a' b b', A a a' -> B b b' -> C (times a b) (times' a' b')) -> Forall2 A x x' -> Forall2 B y y' ->
  C (dot_of zero plus times x y) (dot_of zero' plus' times' x' y').
Proof.
  intros Z P T H. revert y y'. induction H as [|a a' x x' Ha H IH]; intros y y' G; [exact Z|]. destruct G as [|b b' y y' Hb G]; [exact Z|].
  unfold dot_of in *. cbn. apply P; [now apply T|now apply IH].
Qed.
Lemma plus_agree (C : S -> S' -> Prop) x x' y y' : (forall a a' b b', C a a' -> C b b' -> C (plus a b) (plus' a' b')) -> Forall2 C x x' -> Forall2 C y y' ->
  Forall2 C (plus_of plus x y) (plus_of plus' x' y').
Proof.
  intros P H. revert y y'. induction H as [|a a' x x' Ha H IH]; intros y y' G; [constructor|]. destruct G as [|b b' y y' Hb G]; [constructor|].
  unfold plus_of in *. cbn. constructor; [now apply P|now apply IH].
Qed.
Lemma mapped_agree (A B C : S -> S' -> Prop) m m' x x' : C zero zero' -> A one one' -> (forall a a' b b', C a a' -> C b b' -> C (plus a b) (plus' a' b')) ->
  (forall a a' b b', A a a' -> B b b' -> C (times a b) (times' a' b')) -> Forall2 (Forall2 B) m m' -> Forall2 A x x' ->
  gives (Forall2 C) (mapped_of zero one plus times m x) (mapped_of zero' one' plus' times' m' x').
Proof.
  intros Z O P T M X. unfold mapped_of. assert (XO : Forall2 A (x ++ [one]) (x' ++ [one'])) by (apply Forall2_app; [exact X|now constructor]).
  rewrite (Forall2_lengths _ _ _ XO), (as_long_agree _ _ _ _ M). apply gives_need, gives_got. clear - Z P T M XO.
  induction M as [|c c' m m' Hc M IH]; cbn; constructor; [|exact IH]. now apply (dots_agree A B C).
Qed.
Lemma added_agree (C : S -> S' -> Prop) l l' : (forall a a' b b', C a a' -> C b b' -> C (plus a b) (plus' a' b')) -> Forall2 (Forall2 C) l l' ->
  gives (Forall2 C) (added_of plus l) (added_of plus' l').
Proof.
  intros P [|x x' r r' Hx H]; cbn; [intros ? E; discriminate|]. rewrite (Forall2_lengths _ _ _ Hx), (as_long_agree _ _ _ _ H). apply gives_need, gives_got.
  induction H; cbn; [exact Hx|]. now apply plus_agree.
Qed.
Lemma products_agree (A B C : S -> S' -> Prop) x x' l l' : C zero zero' -> (forall a a' b b', C a a' -> C b b' -> C (plus a b) (plus' a' b')) ->
  (forall a a' b b', A a a' -> B b b' -> C (times a b) (times' a' b')) -> Forall2 A x x' -> Forall2 (Forall2 B) l l' ->
  gives (Forall2 C) (products_of zero plus times x l) (products_of zero' plus' times' x' l').
Proof.
  intros Z P T X H. unfold products_of. rewrite (Forall2_lengths _ _ _ X), (as_long_agree _ _ _ _ H). apply gives_need, gives_got.
  induction H; cbn; constructor; [|assumption]. now apply (dots_agree A B C).
Qed.
Lemma combination_agree (C : S -> S' -> Prop) w w' l l' : (forall a a' b b', C a a' -> C b b' -> C (plus a b) (plus' a' b')) ->
  (forall a a' b b', C a a' -> C b b' -> C (times a b) (times' a' b')) -> Forall2 C w w' -> Forall2 (Forall2 C) l l' ->
  gives (Forall2 C) (combination_of plus times w l) (combination_of plus' times' w' l').
Proof.
  intros P T H. assert (M : forall a a' x x', C a a' -> Forall2 C x x' -> Forall2 C (map (times a) x) (map (times' a') x')).
  { intros a a' x x' Ha G. induction G; cbn; constructor; auto. }
  revert l l'. induction H as [|a a' w w' Ha H IH]; intros l l' G; [intros ? E; destruct l; discriminate|].
  destruct G as [|x x' l l' Hx G]; [intros ? E; destruct w; discriminate|]. destruct H as [|b b' w w' Hb H].
  - destruct G; [apply gives_got; now apply M|intros ? E; discriminate].
  - destruct G as [|y y' l l' Hy G].
    + specialize (IH [] [] (Forall2_nil _)). cbn [combination_of] in *. intros ? E. destruct w; cbn in E; discriminate.
    + change (gives (Forall2 C) (let* y := combination_of plus times (b :: w) (y :: l) in let* _ := need Unusable (Nat.eqb (length x) (length y)) in Got (plus_of plus (map (times a) x) y))
        (let* y := combination_of plus' times' (b' :: w') (y' :: l') in let* _ := need Unusable (Nat.eqb (length x') (length y)) in Got (plus_of plus' (map (times' a') x') y))).
      eapply gives_bind; [apply IH; now constructor|]. intros z z' Hz. rewrite (Forall2_lengths _ _ _ Hx), (Forall2_lengths _ _ _ Hz).
      apply gives_need, gives_got. apply plus_agree; [exact P|now apply M|exact Hz].
Qed.
Lemma joined_agree (C : S -> S' -> Prop) l l' : Forall2 (Forall2 C) l l' -> gives (Forall2 C) (joined_of l) (joined_of l').
Proof. intros H. apply gives_got. induction H; cbn; [constructor|]. now apply Forall2_app. Qed.
Lemma active_agree (C : S -> S' -> Prop) a x x' : Forall2 C x x' -> gives (Forall2 C) (active_of a x) (active_of a x').
Proof. intros H. destruct a; cbn; [now apply gives_got| |]; intros ? E; discriminate. Qed.
End Vectors.

Section Levels.
Context {V M V' M' : Type} (R Q : nat -> V -> V' -> Prop).
Variables (mapped : M -> V -> result V) (joined : list V -> result V) (added : list V -> result V)
  (products : V -> list V -> result V) (shares : rule -> V -> result V) (mean : V -> list V -> result V)
  (active : activation -> V -> result V).
Variables (mapped' : M' -> V' -> result V') (joined' : list V' -> result V') (added' : list V' -> result V')
  (products' : V' -> list V' -> result V') (shares' : rule -> V' -> result V') (mean' : V' -> list V' -> result V')
  (active' : activation -> V' -> result V').
Variable most : nat.   (* levels of attention are below *)
Hypotheses
  (Hlift : forall l x x', l < most -> R l x x' -> R (S l) x x')
  (Hjoined : forall n l l', Forall2 (R n) l l' -> gives (R n) (joined l) (joined' l'))
  (Hadded : forall n l l', Forall2 (R n) l l' -> gives (R n) (added l) (added' l'))
  (Hproducts : forall n x x' l l', n < most -> R n x x' -> Forall2 (Q n) l l' -> gives (Q n) (products x l) (products' x' l'))
  (Hshares : forall n r x x', n < most -> Q n x x' -> gives (R (S n)) (shares r x) (shares' r x'))
  (Hmean : forall n x x' l l', n <= most -> R n x x' -> Forall2 (R n) l l' -> gives (R n) (mean x l) (mean' x' l'))
  (Hactive : forall n a x x', R n x x' -> gives (R n) (active a x) (active' a x')).
Definition map_agrees (A B : V -> V' -> Prop) (m : M) (m' : M') : Prop := forall x x', A x x' -> gives B (mapped m x) (mapped' m' x').
Definition part_agrees (n : nat) (p : part M) (p' : part M') : Prop :=
  map_agrees (R n) (Q n) (to_key p) (to_key p') /\ map_agrees (R n) (R n) (to_query p) (to_query p') /\
  map_agrees (R (S n)) (R (S n)) (to_value p) (to_value p') /\ map_agrees (R (S n)) (R (S n)) (to_output p) (to_output p').
Definition block_agrees_at (n : nat) (b : block M) (b' : block M') : Prop :=
  match b, b' with
  | Attention of weigh parts seen residual, Attention of' weigh' parts' seen' residual' =>
    (of, weigh, seen, residual) = (of', weigh', seen', residual') /\ n < most /\ Forall2 (part_agrees n) parts parts'
  | FeedForward of act linear residual, FeedForward of' act' linear' residual' =>
    (of, act, residual) = (of', act', residual') /\ map_agrees (R n) (R n) linear linear'
  | _, _ => False
  end.
Definition next {N} (b : block N) (n : nat) : nat := match b with Attention _ _ _ _ _ => S n | FeedForward _ _ _ _ => n end.
Fixpoint agree_from (n : nat) (blocks : list (block M)) (blocks' : list (block M')) : Prop :=
  match blocks, blocks' with
  | [], [] => True
  | b :: r, b' :: r' => block_agrees_at n b b' /\ agree_from (next b n) r r'
  | _, _ => False
  end.
Fixpoint level_after (n : nat) (blocks : list (block M)) : nat := match blocks with [] => n | b :: r => level_after (next b n) r end.
Local Notation changed := (Blocks.changed mapped joined added products shares mean active).
Local Notation changed' := (Blocks.changed mapped' joined' added' products' shares' mean' active').
Local Notation tables := (Blocks.tables mapped joined added products shares mean active).
Local Notation tables' := (Blocks.tables mapped' joined' added' products' shares' mean' active').
Local Notation query_after := (Blocks.query_after mapped joined added products shares mean active).
Local Notation query_after' := (Blocks.query_after mapped' joined' added' products' shares' mean' active').

Lemma lift_all n l l' : n < most -> Forall2 (R n) l l' -> Forall2 (R (S n)) l l'.
Proof. intros L. induction 1; constructor; auto. Qed.
Lemma those_alike (A : V -> V' -> Prop) s l l' : Forall2 A l l' -> Forall2 A (seen_of s l) (seen_of s l').
Proof. destruct s as [s|]; [|auto]. intros H. cbn. revert s. induction H; intros [|[|] s]; cbn; auto. Qed.
Lemma attended_levels n r x x' tokens tokens' seen p p' keys keys' : n < most -> R n x x' -> Forall2 (R n) tokens tokens' -> part_agrees n p p' -> Forall2 (Q n) keys keys' ->
  gives (R (S n)) (attended mapped products shares mean r x tokens seen (p, keys)) (attended mapped' products' shares' mean' r x' tokens' seen (p', keys')).
Proof.
  intros L Hx Ht (_ & Hq & Hv & Ho) Hk. unfold attended. eapply gives_bind; [now apply Hq|]. intros q q' Rq.
  eapply gives_bind; [apply Hproducts; [exact L|exact Rq|now apply those_alike]|]. intros l l' Rl.
  eapply gives_bind; [exact (Hshares n r _ _ L Rl)|]. intros w w' Rw.
  eapply gives_bind; [apply Hmean; [exact L|exact Rw|now apply those_alike, lift_all]|]. intros z z' Rz.
  eapply gives_bind; [now apply Hv|]. exact (Ho).
Qed.
Lemma changed_levels n b b' x x' tokens tokens' keys keys' seen : block_agrees_at n b b' -> R n x x' -> Forall2 (R n) tokens tokens' ->
  Forall2 (Forall2 (Q n)) keys keys' -> gives (R (next b n)) (changed b x tokens keys seen) (changed' b' x' tokens' keys' seen).
Proof.
  intros Hb Hx Ht Hk. unfold Blocks.changed. eapply (gives_bind (fun a a' => R (next b n) (fst a) (fst a') /\ snd a = snd a')).
  2:{ intros [y r] [y' r'] [Ry E]. cbn in Ry, E. subst r'. destruct r; [|now apply gives_got]. apply Hadded.
      constructor; [exact Ry|]. constructor; [|constructor]. destruct b, b'; try easy. cbn. destruct Hb as (_ & L & _). now apply Hlift. }
  destruct b as [of weigh parts s r|of act linear r], b' as [of' weigh' parts' s' r'|of' act' linear' r']; try easy; destruct Hb as [E Hb]; injection E; intros; subst.
  - destruct Hb as [L Hb]. rewrite (Forall2_lengths _ _ _ Ht). apply gives_need. cbn [next]. eapply gives_bind.
    + eapply gives_each; [exact (Forall2_combine _ _ _ _ _ _ Hb Hk)|]. intros [p k] [p0 k0] [Hp Rk]. cbn in Hp, Rk. apply (attended_levels n); assumption.
    + intros l l' Rl. eapply gives_bind; [apply Hadded; exact Rl|]. intros y y' Ry. now apply gives_got.
  - cbn [next]. eapply (gives_bind (R n)).
    + destruct of'; try now apply gives_got. apply Hjoined. now constructor.
    + intros row row' Rr. eapply gives_bind; [now apply Hb|]. intros z z' Rz. eapply gives_bind; [exact (Hactive n _ _ _ Rz)|].
      intros y y' Ry. now apply gives_got.
Qed.
Lemma keys_levels n b b' tokens tokens' : block_agrees_at n b b' -> Forall2 (R n) tokens tokens' ->
  gives (Forall2 (Forall2 (Q n))) (keys_of mapped b tokens) (keys_of mapped' b' tokens').
Proof.
  intros Hb Ht. destruct b, b'; try easy; cbn [keys_of]; [|now apply gives_got]. destruct Hb as (E & L & Hb).
  eapply gives_each; [exact Hb|]. intros p p' (Hk & _). eapply gives_each; [exact Ht|]. exact Hk.
Qed.
Lemma alike_at n b b' : block_agrees_at n b b' ->
  of_all b = of_all b' /\ (forall n, seen_by_tokens b n = seen_by_tokens b' n) /\ seen_by_query b = seen_by_query b'.
Proof. destruct b, b'; try easy; intros [E _]; injection E; intros; now subst. Qed.
Lemma tokens_levels n b b' tokens tokens' keys keys' : block_agrees_at n b b' -> Forall2 (R n) tokens tokens' -> Forall2 (Forall2 (Q n)) keys keys' ->
  gives (Forall2 (R (next b n))) (tokens_after mapped joined added products shares mean active b tokens keys)
    (tokens_after mapped' joined' added' products' shares' mean' active' b' tokens' keys').
Proof.
  intros Hb Ht Hk. unfold tokens_after. destruct (alike_at _ _ _ Hb) as (-> & E & _). rewrite E, (Forall2_lengths _ _ _ Ht).
  destruct (of_all b').
  2:{ apply gives_got. destruct b, b'; try easy. cbn. destruct Hb as (_ & L & _). now apply lift_all. }
  eapply (gives_bind eq); [intros s ->; now exists s|]. intros seen ? <-.
  eapply gives_each; [exact (Forall2_combine _ _ _ _ _ _ Ht (Forall2_same seen))|]. intros [x s] [x' s'] [Rx E']. cbn in Rx, E'. subst s'.
  now apply changed_levels.
Qed.
Fixpoint at_levels (n : nat) (blocks : list (block M)) (T : list (list V * list (list V))) (T' : list (list V' * list (list V'))) : Prop :=
  match T, T' with
  | [], [] => True
  | (t, k) :: r, (t', k') :: r' => Forall2 (R n) t t' /\ Forall2 (Forall2 (Q n)) k k' /\
    match blocks with [] => r = [] /\ r' = [] | b :: bs => at_levels (next b n) bs r r' end
  | _, _ => False
  end.
Lemma tables_levels n blocks blocks' tokens tokens' : agree_from n blocks blocks' -> Forall2 (R n) tokens tokens' ->
  gives (at_levels n blocks) (tables blocks tokens) (tables' blocks' tokens').
Proof.
  revert n blocks' tokens tokens'. induction blocks as [|b r IH]; intros n [|b' r'] tokens tokens' H Ht; try easy; cbn [Blocks.tables].
  - apply gives_got. repeat split; [exact Ht|constructor].
  - destruct H as [Hb H]. eapply gives_bind; [now apply (keys_levels n)|]. intros keys keys' Hk. eapply gives_bind; [now apply (tokens_levels n)|]. intros after after' Ha.
    eapply gives_bind; [apply (IH (next b n)); [exact H|exact Ha]|]. intros rest rest' Hr. apply gives_got. now repeat split.
Qed.
Lemma query_levels n blocks blocks' before before' query query' : agree_from n blocks blocks' -> at_levels n blocks before before' ->
  R n query query' -> length blocks < length before -> gives (R (level_after n blocks)) (query_after blocks before query) (query_after' blocks' before' query').
Proof.
  revert n blocks' before before' query query'. induction blocks as [|b r IH]; intros n [|b' r'] before before' query query' H B Hq L; try easy; cbn [Blocks.query_after level_after].
  - now apply gives_got.
  - destruct before as [|[t k] before], before' as [|[t' k'] before']; try easy. destruct H as [Hb H], B as (Ht & Hk & B).
    destruct (alike_at _ _ _ Hb) as (_ & _ & ->). eapply (gives_bind eq); [intros s ->; now exists s|]. intros seen ? <-.
    eapply gives_bind; [now apply (changed_levels n)|]. intros after after' Ha. apply IH; [exact H|exact B|exact Ha|]. cbn in L. lia.
Qed.
Lemma tables_length blocks tokens T : tables blocks tokens = Got T -> length T = S (length blocks).
Proof.
  revert tokens T. induction blocks as [|b r IH]; intros tokens T; cbn [Blocks.tables]; [now intros [= <-]|].
  intros H. apply bind_got in H as (? & _ & H). apply bind_got in H as (? & _ & H). apply bind_got in H as (rest & G & H). injection H as <-. cbn. now rewrite (IH _ _ G).
Qed.
(* So the query after the blocks agrees. *)
Theorem states_levels blocks blocks' tokens tokens' query query' before y : agree_from 0 blocks blocks' -> Forall2 (R 0) tokens tokens' -> R 0 query query' ->
  tables blocks tokens = Got before -> query_after blocks before query = Got y ->
  exists after y', state_of mapped' joined' added' products' shares' mean' active' blocks' tokens' query' = Got (after, y') /\ R (level_after 0 blocks) y y'.
Proof.
  intros H Ht Hq Eb Ey. destruct (tables_levels 0 _ _ _ _ H Ht before Eb) as (before' & Eb' & B). pose proof (tables_length _ _ _ Eb) as L.
  destruct (query_levels 0 _ _ _ _ _ _ H B Hq ltac:(lia) y Ey) as (y' & Ey' & Ry). unfold state_of. rewrite Eb'. cbn [bind]. rewrite Ey'. cbn [bind].
  eexists. exists y'. split; [reflexivity|exact Ry].
Qed.
End Levels.
