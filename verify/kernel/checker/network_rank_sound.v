(* [check_rank] implies what Ranks.v states. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Arith.
Require Import Spec Json Blocks Ranks integers residues growth tower transfer network network_sound network_rank levels network_rank_numbers box_slopes.
Import ListNotations.
Local Notation length := List.length.
Open Scope R_scope.

(* Entries as they move: those of keys c l / ln 2 times those of the file. *)
Definition moving_entry (moves : bool) (l : nat) (c : point) (i : nat) (e : entry) : R * R :=
  let g := if of_key e then c l / ln 2 else 1 in
  (g * real (fun z => z) (entry_of e), if moves then match weight e with Some k => if Nat.eqb k i then g else 0 | None => 0 end else 0).
Definition curve_entry (moves : bool) (l : nat) (e : entry) : curve := fun c i s => fst (moving_entry moves l c i e) + snd (moving_entry moves l c i e) * s.
Fixpoint curve_blocks (moves : bool) (l : nat) (blocks : list (block (list (list entry)))) : list (block (list (list curve))) :=
  match blocks with [] => [] | b :: r => of_block (map (map (curve_entry moves l))) b :: curve_blocks moves (next b l) r end.
Fixpoint line_blocks (moves : bool) (l : nat) (c : point) (i : nat) (blocks : list (block (list (list entry)))) : list moving :=
  match blocks with [] => [] | b :: r => of_block (map (map (moving_entry moves l c i))) b :: line_blocks moves (next b l) c i r end.
Definition data_curve (x : frac Z) : curve := fun _ _ _ => real (fun z => z) x.

(* How entries are tagged. *)
Definition tagged (key bias : bool) (m : list (list entry)) (columns : mat Z) : Prop :=
  map (map entry_of) m = columns /\ Forall (Forall (fun e => of_key e = key)) m /\
  (bias = false -> Forall (fun x => forall e, last (map Some x) None = Some e -> weight e = None) m).
Lemma tag_column_ok key bias n x : let m := fst (tag_column key bias n x) in map entry_of m = x /\ Forall (fun e => of_key e = key) m /\
  (bias = false -> forall e, last (map Some m) None = Some e -> weight e = None).
Proof.
  revert n. induction x as [|a [|b x] IH]; intros n; cbn zeta.
  - cbn. repeat split; [constructor|discriminate].
  - cbn. destruct bias; cbn; repeat split; try (repeat constructor); [discriminate|]. intros _ e [= <-]. reflexivity.
  - specialize (IH (S n)). cbn zeta in IH. change (tag_column key bias n (a :: b :: x)) with (let (l, k) := tag_column key bias (S n) (b :: x) in (Entry key (Some n) a :: l, k)).
    destruct (tag_column key bias (S n) (b :: x)) as [l k]. cbn [fst] in *. destruct IH as (A & B & C). split; [cbn; now rewrite A|]. split; [now constructor|].
    intros E e. destruct l as [|e' l]; [discriminate|]. exact (C E e).
Qed.
Lemma tag_map_ok key bias n columns : tagged key bias (fst (tag_map key bias n columns)) columns.
Proof.
  revert n. induction columns as [|x r IH]; intros n; cbn; [repeat split; constructor|].
  pose proof (tag_column_ok key bias n x) as H. cbn zeta in H. destruct (tag_column key bias n x) as [y k]. specialize (IH k). destruct (tag_map key bias k r) as [l k']. cbn [fst] in *.
  destruct H as (A & B & C), IH as (D & F & G). split; [cbn; now rewrite A, D|]. split; [now constructor|]. intros E. constructor; [now apply C|now apply G].
Qed.
Definition part_tagged (p : part (list (list entry))) (q : part (mat Z)) : Prop :=
  tagged true false (to_key p) (to_key q) /\ tagged false false (to_query p) (to_query q) /\ tagged false false (to_value p) (to_value q) /\ tagged false false (to_output p) (to_output q).
Lemma tag_parts_ok n parts : Forall2 part_tagged (fst (tag_parts n parts)) parts.
Proof.
  revert n. induction parts as [|q r IH]; intros n; cbn [tag_parts]; [constructor|].
  pose proof (tag_map_ok true false n (to_key q)) as HK. destruct (tag_map true false n (to_key q)) as [mK nK].
  pose proof (tag_map_ok false false nK (to_query q)) as HQ. destruct (tag_map false false nK (to_query q)) as [mQ nQ].
  pose proof (tag_map_ok false false nQ (to_value q)) as HV. destruct (tag_map false false nQ (to_value q)) as [mV nV].
  pose proof (tag_map_ok false false nV (to_output q)) as HO. destruct (tag_map false false nV (to_output q)) as [mO nO].
  specialize (IH nO). destruct (tag_parts nO r) as [l m]. cbn [fst] in *. constructor; [repeat split; assumption || (apply HK || apply HQ || apply HV || apply HO)|exact IH].
Qed.
Definition block_tagged (b : block (list (list entry))) (b' : block (mat Z)) : Prop :=
  match b, b' with
  | Attention of weigh parts seen residual, Attention of' weigh' parts' seen' residual' => (of, weigh, seen, residual) = (of', weigh', seen', residual') /\ Forall2 part_tagged parts parts'
  | FeedForward of act linear residual, FeedForward of' act' linear' residual' => (of, act, residual) = (of', act', residual') /\ tagged false true linear linear'
  | _, _ => False
  end.
Lemma tag_blocks_ok n blocks : Forall2 block_tagged (fst (tag_blocks n blocks)) blocks.
Proof.
  revert n. induction blocks as [|b r IH]; intros n; cbn [tag_blocks]; [constructor|].
  assert (H : block_tagged (fst (tag_block n b)) b).
  { destruct b as [of weigh parts seen residual|of act linear residual]; cbn [tag_block].
    - pose proof (tag_parts_ok n parts) as H. destruct (tag_parts n parts) as [l m]. now split.
    - pose proof (tag_map_ok false true n linear) as H. destruct (tag_map false true n linear) as [l m]. now split. }
  destruct (tag_block n b) as [b' k]. specialize (IH k). destruct (tag_blocks k r) as [l m]. now constructor.
Qed.

(* The weights at the time 0 are those of the file, but for keys; and biases of attention rest. *)
Lemma at_time_of_block s moves l c i b : at_time s (of_block (map (map (moving_entry moves l c i))) b) = of_block (map (map (fun e => curve_entry moves l e c i s))) b.
Proof.
  assert (M : forall m, map (map (fun w : R * R => fst w + snd w * s)) (map (map (moving_entry moves l c i)) m) = map (map (fun e => curve_entry moves l e c i s)) m).
  { intros m. rewrite map_map. apply map_ext. intros x. rewrite map_map. reflexivity. }
  destruct b as [of weigh parts seen residual|of act linear residual]; cbn; f_equal; [|apply M]. rewrite map_map. apply map_ext. intros p. unfold of_part. cbn. now rewrite !M.
Qed.
Lemma start_of_map (g : R) key bias moves l c i m columns : tagged key bias m columns -> (g = if key then c l / ln 2 else 1) ->
  map (map (fun e => curve_entry moves l e c i 0)) m = map (map (Rmult g)) (map reals columns).
Proof.
  intros (<- & F & _) ->. rewrite !map_map. apply map_ext_in. intros x I. rewrite Forall_forall in F. specialize (F x I). unfold reals. rewrite !map_map.
  apply map_ext_in. intros e J. rewrite Forall_forall in F. unfold curve_entry, moving_entry. rewrite (F e J). cbn [fst snd]. now rewrite Rmult_0_r, Rplus_0_r.
Qed.
Lemma times_1 (m : list (list R)) : map (map (Rmult 1)) m = m.
Proof. rewrite <- (map_id m) at 2. apply map_ext. intros x. rewrite <- (map_id x) at 2. apply map_ext. intros. ring. Qed.
Lemma start_ok moves l c i b blocks : Forall2 block_tagged b blocks -> Forall2 but_for_keys blocks (map (at_time 0) (line_blocks moves l c i b)).
Proof.
  intros H. revert l. induction H as [|b b' r r' Hb H IH]; intros l; cbn [line_blocks map]; constructor; [|apply IH].
  rewrite at_time_of_block. destruct b as [of weigh parts seen residual|of act linear residual], b' as [of' weigh' parts' seen' residual'|of' act' linear' residual']; try easy;
    destruct Hb as [E Hb]; injection E; intros; subst.
  - exists (c l / ln 2). cbn. f_equal. rewrite map_map. symmetry. clear - Hb. induction Hb as [|p q parts parts' (HK & HQ & HV & HO) Hb IH]; cbn; [reflexivity|]. f_equal; [|exact IH].
    unfold of_part. cbn. f_equal; [symmetry; exact (start_of_map _ _ _ _ _ _ _ _ _ HK eq_refl)| | |]; rewrite <- (times_1 (map reals _)); symmetry;
      [exact (start_of_map _ _ _ _ _ _ _ _ _ HQ eq_refl)|exact (start_of_map _ _ _ _ _ _ _ _ _ HV eq_refl)|exact (start_of_map _ _ _ _ _ _ _ _ _ HO eq_refl)].
  - exists 1. cbn. f_equal. rewrite <- (times_1 (map reals _)). exact (start_of_map _ _ _ _ _ _ _ _ _ Hb eq_refl).
Qed.
Lemma starts_alike moves l c i k b : map (at_time 0) (line_blocks moves l c i b) = map (at_time 0) (line_blocks moves l c k b).
Proof.
  revert l. induction b as [|b r IH]; intros l; cbn [line_blocks map]; [reflexivity|]. rewrite IH, !at_time_of_block. f_equal.
  assert (M : forall m, map (map (fun e => curve_entry moves l e c i 0)) m = map (map (fun e => curve_entry moves l e c k 0)) m).
  { intros m. apply map_ext. intros x. apply map_ext. intros e. unfold curve_entry. now rewrite !Rmult_0_r. }
  destruct b; cbn; f_equal; [|apply M]. apply map_ext. intros p. unfold of_part. now rewrite !M.
Qed.
Lemma rests_ok key moves l c i m columns : tagged key false m columns -> rests (map (map (moving_entry moves l c i)) m).
Proof.
  intros (_ & _ & F). specialize (F eq_refl). apply Forall_map. eapply Forall_impl; [|exact F]. intros x H. clear F.
  induction x as [|e x IH]; [reflexivity|]. destruct x as [|e' x]; [|apply IH; exact H]. specialize (H e eq_refl). cbn. unfold moving_entry. rewrite H. cbn. now destruct moves.
Qed.
Lemma biases_ok moves l c i b blocks : Forall2 block_tagged b blocks -> Forall biases_rest (line_blocks moves l c i b).
Proof.
  intros H. revert l. induction H as [|b b' r r' Hb H IH]; intros l; cbn [line_blocks]; constructor; [|apply IH].
  destruct b, b'; try easy. destruct Hb as [_ Hb]. cbn. apply Forall_map. clear - Hb. induction Hb as [|p q parts parts' (HK & HQ & HV & HO) Hb IH]; constructor; [|exact IH].
  cbn. repeat split; eapply rests_ok; eassumption.
Qed.

(* Curves at a point, a line and a time are real numbers. *)
Section Values.
Variables (c : point) (i : nat) (s : R).
Definition comes_to (h : curve) (x : R) : Prop := h c i s = x.
Definition value_at (h : curve) : R := h c i s.
Local Notation V := (Forall2 comes_to).
Lemma come_plus f g x y : comes_to f x -> comes_to g y -> comes_to (plus_curve f g) (x + y).
Proof. intros <- <-. reflexivity. Qed.
Lemma come_times f g x y : comes_to f x -> comes_to g y -> comes_to (times_curve f g) (x * y).
Proof. intros <- <-. reflexivity. Qed.
Lemma come_values l : V l (map value_at l).
Proof. induction l; constructor; [reflexivity|assumption]. Qed.
Lemma values_come l x : V l x -> x = map value_at l.
Proof. induction 1 as [|h y l x <- H ->]; reflexivity. Qed.
Lemma shares_come r l x : V l x -> gives V (shares_curve r l) (shares_real r x).
Proof.
  intros H. destruct r as [[|]| |]; try (intros ? E; discriminate). apply gives_got. apply values_come in H as ->. unfold normalized. rewrite !map_map.
  assert (T : total (map (fun h => exp (ln 2 * value_at h)) l) = total_of l c i s) by (induction l as [|h l IH]; cbn; [reflexivity|]; now rewrite <- IH).
  rewrite T. clear T. generalize (total_of l). intros t. induction l as [|h l IH]; [constructor|]. cbn [map]. constructor; [reflexivity|exact IH].
Qed.
Definition curve_state := state_of (mapped_of zero_curve one_curve plus_curve times_curve) joined_of (added_of plus_curve) (products_of zero_curve plus_curve times_curve) shares_curve (combination_of plus_curve times_curve) active_of.
Lemma curve_mapped m x x' : V x x' -> gives V (mapped_of zero_curve one_curve plus_curve times_curve m x) (mapped_real (map (map value_at) m) x').
Proof.
  intros H. change mapped_real with (mapped_of 0 1 Rplus Rmult).
  apply (mapped_agree _ _ _ _ _ _ _ _ comes_to comes_to comes_to); try reflexivity; try exact H; [intros; now apply come_plus|intros; now apply come_times|].
  induction m; constructor; [apply come_values|assumption].
Qed.
Lemma curve_blocks_agree b : blocks_agree V (mapped_of zero_curve one_curve plus_curve times_curve) mapped_real b (of_block (map (map value_at)) b).
Proof.
  assert (A : forall m, agree V (mapped_of zero_curve one_curve plus_curve times_curve m) (mapped_real (map (map value_at) m))) by (intros m x x' H; now apply curve_mapped).
  destruct b as [of weigh parts seen residual|of act linear residual]; cbn; (split; [reflexivity|]); [|apply A].
  induction parts as [|q parts IH]; cbn; constructor; [|exact IH]. repeat split; try apply A. intros z z' Rz. eapply gives_bind; [now apply A|]. apply A.
Qed.
Lemma curve_state_real blocks tokens query after y : curve_state blocks tokens query = Got (after, y) ->
  exists after', real_state (map (of_block (map (map value_at))) blocks) (map (map value_at) tokens) (map value_at query) = Got (after', map value_at y).
Proof.
  unfold curve_state, real_state, state_of. intros H. apply bind_got in H as (before & Hb & H). apply bind_got in H as (y' & Hq & H). injection H as _ <-.
  assert (HB : Forall2 (blocks_agree V (mapped_of zero_curve one_curve plus_curve times_curve) mapped_real) blocks (map (of_block (map (map value_at))) blocks))
    by (clear; induction blocks; constructor; [apply curve_blocks_agree|assumption]).
  assert (HT : Forall2 V tokens (map (map value_at) tokens)) by (clear; induction tokens; constructor; [apply come_values|assumption]).
  assert (H1 : forall l l', Forall2 V l l' -> gives V (joined_of l) (joined_real l')) by (intros l l' G; exact (joined_agree comes_to l l' G)).
  assert (H2 : forall l l', Forall2 V l l' -> gives V (added_of plus_curve l) (added_real l'))
    by (intros l l' G; change added_real with (added_of Rplus); apply (added_agree _ _ comes_to); [intros; now apply come_plus|exact G]).
  assert (H3 : forall x x' l l', V x x' -> Forall2 V l l' -> gives V (products_of zero_curve plus_curve times_curve x l) (products_real x' l'))
    by (intros x x' l l' G G'; change products_real with (products_of 0 Rplus Rmult); apply (products_agree _ _ _ _ _ _ comes_to comes_to comes_to); try assumption; [reflexivity|intros; now apply come_plus|intros; now apply come_times]).
  assert (H5 : forall x x' l l', V x x' -> Forall2 V l l' -> gives V (combination_of plus_curve times_curve x l) (Blocks.combination x' l'))
    by (intros x x' l l' G G'; change Blocks.combination with (combination_of Rplus Rmult); apply (combination_agree _ _ _ _ comes_to); try assumption; [intros; now apply come_plus|intros; now apply come_times]).
  assert (H6 : forall a x x', V x x' -> gives V (active_of a x) (active_real a x')) by (intros a x x' G; destruct a; [now apply gives_got|intros ? E; discriminate|intros ? E; discriminate]).
  destruct (tables_agree V _ _ _ _ _ _ _ _ _ _ _ _ _ _ H1 H2 H3 shares_come H5 H6 _ _ _ _ HB HT before Hb) as (before' & Eb & Ib).
  destruct (query_agree V _ _ _ _ _ _ _ _ _ _ _ _ _ _ H1 H2 H3 shares_come H5 H6 _ _ _ _ query _ HB Ib (come_values query) y' Hq) as (z & Ez & Rz).
  rewrite Eb. cbn [bind]. rewrite Ez. cbn [bind]. apply values_come in Rz as ->. eexists. reflexivity.
Qed.
End Values.
Lemma line_values moves l c i s b : map (of_block (map (map (value_at c i s)))) (curve_blocks moves l b) = map (at_time s) (line_blocks moves l c i b).
Proof.
  revert l. induction b as [|b r IH]; intros l; cbn [curve_blocks line_blocks map]; [reflexivity|]. rewrite IH, at_time_of_block. f_equal.
  assert (M : forall m, map (map (value_at c i s)) (map (map (curve_entry moves l)) m) = map (map (fun e => curve_entry moves l e c i s)) m)
    by (intros m; rewrite map_map; apply map_ext; intros x; rewrite map_map; reflexivity).
  destruct b; cbn; f_equal; [|apply M]. rewrite map_map. apply map_ext. intros q. unfold of_part. cbn. now rewrite !M.
Qed.

(* Placed entries. *)
Lemma each_all {A B} (f : A -> result B) l ys : each f l = Got ys -> Forall2 (fun x y => f x = Got y) l ys.
Proof.
  unfold each. enough (G : forall done, each_ f l done = Got ys -> exists zs, ys = rev_append done zs /\ Forall2 (fun x y => f x = Got y) l zs) by (intros H; destruct (G [] H) as (zs & -> & F); exact F).
  induction l as [|x l IH]; intros done; cbn [each_].
  - intros [= <-]. exists []. now split.
  - destruct (f x) as [y|] eqn:E; [|discriminate]. intros H. destruct (IH _ H) as (zs & -> & F). exists (y :: zs). split; [reflexivity|now constructor].
Qed.
Lemma each_related {A B C} (P : A -> Prop) (f : A -> result B) (g : A -> C) (R : B -> C -> Prop) l ys : each f l = Got ys -> Forall P l ->
  (forall x y, P x -> f x = Got y -> R y (g x)) -> Forall2 R ys (map g l).
Proof.
  intros H F G. apply each_all in H. induction H as [|x y l ys Hx H IH]; cbn; constructor; inversion F; subst; [now apply G|now apply IH].
Qed.
(* The outputs of an example as curves; at any point, on any line, at any time they are the outputs. *)
Definition output_curves (moves : bool) (b : list (block (list (list entry)))) (c : cert Z) (t : nat) (Y : list curve) : Prop :=
  exists after, curve_state (curve_blocks moves 0 b) (map (map data_curve) (ctx c t)) (map data_curve (nth t (queries c) [])) = Got (after, Y).
Lemma state_values a i s blocks c t after Y : curve_state blocks (map (map data_curve) (ctx c t)) (map data_curve (nth t (queries c) [])) = Got (after, Y) ->
  outputs_of (map (of_block (map (map (value_at a i s)))) blocks) c t (map (value_at a i s) Y).
Proof.
  intros H. destruct (curve_state_real a i s _ _ _ after Y H) as (after' & E). exists after'. rewrite !map_map in E.
  replace (map reals (ctx c t)) with (map (fun x => map (value_at a i s) (map data_curve x)) (ctx c t)) by (apply map_ext; intros x; unfold reals; rewrite map_map; reflexivity).
  exact E.
Qed.
Lemma output_values moves b c t Y a i s : output_curves moves b c t Y -> outputs_of (map (at_time s) (line_blocks moves 0 a i b)) c t (map (fun h => h a i s) Y).
Proof. intros (after & H). rewrite <- line_values. exact (state_values a i s _ _ _ _ _ H). Qed.
Section Sound.
Variables (moduli : list Z) (slope : Z).
Hypothesis linked_moduli : linked moduli = true.
Local Notation p := (p moduli).
Local Notation K := (K moduli).
Local Notation gt1 := (linked_gt1 moduli linked_moduli).
Local Notation order := (linked_order moduli linked_moduli).
Local Notation holds := (holds moduli slope).
Local Notation keyed := (keyed moduli slope).
Existing Instance same_equivalence.

Definition part_of (left : list Z) : Prop := (0 < length left)%nat /\ forall k, (k < length left)%nat -> nth k left 3%Z = p k.
Lemma fraction_ok left x z : part_of left -> fraction_in left x = Got z -> length z = length left /\ forall k, (k < length left)%nat -> residue (p k) (real (fun z => z) x) (nth k z 0%Z).
Proof.
  intros [_ P]. assert (G : forall k, (1 < nth k left 3)%Z).
  { intros k. destruct (Nat.lt_ge_cases k (length left)) as [H|H]; [rewrite P by exact H; apply gt1|rewrite nth_overflow by exact H; lia]. }
  enough (E : fraction_in left x = Got z -> length z = length left /\ forall k, (k < length left)%nat -> residue (nth k left 3%Z) (real (fun z => z) x) (nth k z 0%Z)).
  { intros H. destruct (E H) as [A B]. split; [exact A|]. intros k Hk. rewrite <- P by exact Hk. now apply B. }
  clear P. revert z. induction left as [|q left IH]; intros z; cbn [fraction_in]; [intros [= <-]; split; [reflexivity|cbn; lia]|].
  destruct (inverse q (denom x mod q)) as [i|] eqn:I; [|discriminate]. intros H. apply bind_got in H as (r & H & E). injection E as <-.
  destruct (IH (fun k => G (S k)) r H) as [A B]. split; [cbn; now rewrite A|]. intros [|k] Hk; [|apply B; cbn in Hk; lia]. cbn.
  pose proof (G O) as q1. cbn in q1. apply (inverse_ok q q1) in I.
  assert (U : (q | denom x * i - 1)%Z).
  { replace (denom x * i - 1)%Z with ((denom x mod q * i - 1) + (denom x - denom x mod q) * i)%Z by ring. apply Z.divide_add_r; [exact I|]. apply Z.divide_mul_l. now apply divide_mod. }
  apply residue_reduce; [exact q1|]. exists (numer x), (denom x), i. split; [|split; [exact U|exists 0%Z; ring]].
  unfold real. field. apply not_0_IZR. exact (unit_nonzero q q1 _ _ U).
Qed.
Lemma moduli_part : part_of moduli.
Proof. split; [exact (moduli_0 moduli linked_moduli)|]. reflexivity. Qed.
Lemma given_holds x n : given moduli x = Got n -> holds 0 n (data_curve x).
Proof.
  unfold given. intros H. apply bind_got in H as (z & H & E). injection E as <-. destruct (fraction_ok _ _ _ moduli_part H) as [L R].
  exists (fun _ => real (fun z => z) x), (fun _ _ => 0). split; [reflexivity|]. split; [intros; apply derivable_pt_lim_const|]. cbn [fst snd].
  split; [rewrite L; apply moduli_part|]. split.
  - intros k Hk Lk. cbn [fst] in *. rewrite L in Hk. apply num_const; [exact gt1|exact Lk|now apply R].
  - intros i. replace (nth i (snd (z, [])) 0%Z) with 0%Z by (now destruct i). apply (num_Z p K slope gt1 0 0 0). lia.
Qed.
Lemma nth_nil i : nth i [] 0%Z = 0%Z.
Proof. now destruct i. Qed.
Lemma unit_slopes n a i : nth i (repeat 0%Z n ++ [a]) 0%Z = if Nat.eqb n i then a else 0%Z.
Proof. revert i. induction n as [|n IH]; intros [|i]; cbn; try reflexivity; [now destruct i|apply IH]. Qed.
Lemma plain_entry moves l l' left e n : part_of left -> (l' <= K)%nat -> of_key e = false -> entry_number moduli slope moves left e = Got n -> holds l' n (curve_entry moves l e).
Proof.
  intros P L' Hk. unfold entry_number. intros H. apply bind_got in H as (z & H & E). injection E as <-. destruct (fraction_ok _ _ _ P H) as [L R]. rewrite Hk.
  set (moved := fun i => if moves then match weight e with Some k => if Nat.eqb k i then 1 else 0 | None => 0 end else 0).
  exists (fun _ => real (fun z => z) (entry_of e)), (fun i _ => moved i). destruct P as [P0 P]. split; [|split; [|split; [|split]]].
  - intros c i. unfold curve_entry, moving_entry. rewrite Hk. cbn [fst snd]. ring.
  - intros c i. unfold curve_entry, moving_entry. rewrite Hk. cbn [fst snd]. fold (moved i).
    eapply derivative_eq; [apply (derivable_pt_lim_plus (fun _ => 1 * real (fun z => z) (entry_of e)) (fun s => moved i * s)); [apply derivable_pt_lim_const|apply (derivable_pt_lim_scal (fun s => s)), derivable_pt_lim_id]|ring].
  - cbn [fst]. destruct z as [|a z]; cbn in *; lia.
  - intros k Hkk Lk. cbn [fst] in *. destruct z as [|a z]; [cbn in Hkk; lia|]. eapply num_same; [apply (num_const p K slope gt1 l' k _ _ Lk (R k ltac:(cbn in *; lia)))|].
    destruct k as [|k]; [|reflexivity]. cbn [nth]. rewrite first_p. symmetry. rewrite Z.mul_1_l. apply same_mod, gt1.
  - intros i. cbn [snd]. unfold moved. pose proof (num_Z p K slope gt1 l' 0 0 ltac:(lia)) as O0. pose proof (num_Z p K slope gt1 l' 0 1 ltac:(lia)) as O1.
    destruct moves, (weight e) as [k|]; rewrite ?unit_slopes, ?nth_nil; try exact O0. destruct (Nat.eqb k i); [exact O1|exact O0].
Qed.
Lemma key_entry moves l left e n : part_of left -> (l < K)%nat -> of_key e = true -> entry_number moduli slope moves left e = Got n -> keyed l n (curve_entry moves l e).
Proof.
  intros P Ll Hk. unfold entry_number. intros H. apply bind_got in H as (z & H & E). injection E as <-. destruct (fraction_ok _ _ _ P H) as [L R]. rewrite Hk.
  set (moved := fun i => if moves then match weight e with Some k => Nat.eqb k i | None => false end else false).
  assert (MV : forall c i, snd (moving_entry moves l c i e) = if moved i then c l / ln 2 else 0).
  { intros c i. unfold moving_entry, moved. rewrite Hk. cbn [snd]. destruct moves, (weight e) as [k|]; reflexivity. }
  exists (fun _ => real (fun z => z) (entry_of e)), (fun i c => if moved i then c l else 0). destruct P as [P0 P]. destruct z as [|a z]; [cbn in *; lia|].
  split; [|split; [|split; [|split; [|split]]]].
  - intros c i. unfold curve_entry. rewrite Rmult_0_r, Rplus_0_r. unfold moving_entry. rewrite Hk. reflexivity.
  - intros c i. unfold curve_entry. rewrite MV.
    eapply derivative_eq; [apply (derivable_pt_lim_plus (fun _ => fst (moving_entry moves l c i e)) (fun s => (if moved i then c l / ln 2 else 0) * s)); [apply derivable_pt_lim_const|apply (derivable_pt_lim_scal (fun s => s)), derivable_pt_lim_id]|].
    destruct (moved i); unfold Rdiv; ring.
  - cbn. lia.
  - exists a. split; [|apply (num_const p K slope gt1 l 0 _ _ ltac:(lia) (R O P0))]. cbn [fst nth]. rewrite first_p.
    assert (S1 : same p 0 (slope mod p 0) slope) by (apply same_mod, gt1). transitivity (slope mod p 0 * a)%Z; [apply same_mod, gt1|]. now apply same_mul.
  - intros k k0 Hkk Lk. cbn [fst] in *. destruct k as [|k]; [lia|]. exact (num_const p K slope gt1 l (S k) _ _ Lk (R (S k) ltac:(cbn in *; lia))).
  - assert (C : num p K slope (S l) 0 (fun c => c l) (slope mod p 0)).
    { eapply num_same; [eapply num_ext; [exact (num_times p K slope gt1 l 0 (fun _ => 1) 1 ltac:(lia) (num_Z p K slope gt1 l 0 1 ltac:(lia)))|]|].
      - intros c. cbn. ring.
      - cbn [image]. rewrite Z.mul_1_r. symmetry. apply same_mod, gt1. }
    intros i. cbn [snd]. unfold moved. rewrite first_p. pose proof (num_Z p K slope gt1 (S l) 0 0 ltac:(lia)) as Z0.
    destruct moves, (weight e) as [k|]; rewrite ?unit_slopes, ?nth_nil; try exact Z0. destruct (Nat.eqb k i); [exact C|exact Z0].
Qed.

(* Placed blocks. *)
Local Notation at_level := (fun l => Forall2 (holds l)).
Local Notation keys_at := (fun l => Forall2 (keyed l)).
Definition number_mapped := mapped_of (zero_number moduli) (one_number moduli) (plus_number moduli) (times_number moduli).
Definition curve_mapped_by := mapped_of zero_curve one_curve plus_curve times_curve.
Lemma placed_map (rel : number -> curve -> Prop) key moves l left m m' : place_map moduli slope moves left m = Got m' -> Forall (Forall (fun e => of_key e = key)) m ->
  (forall e n, of_key e = key -> entry_number moduli slope moves left e = Got n -> rel n (curve_entry moves l e)) -> Forall2 (Forall2 rel) m' (map (map (curve_entry moves l)) m).
Proof. intros H F G. eapply each_related; [exact H|exact F|]. intros x y P E. eapply each_related; [exact E|exact P|]. exact G. Qed.
Lemma plain_map moves l l' left m m' columns bias : part_of left -> (l' <= K)%nat -> tagged false bias m columns -> place_map moduli slope moves left m = Got m' ->
  map_agrees number_mapped curve_mapped_by (Forall2 (holds l')) (Forall2 (holds l')) m' (map (map (curve_entry moves l)) m).
Proof.
  intros P L (_ & F & _) H x x' X. apply (mapped_agree _ _ _ _ _ _ _ _ (holds l') (holds l') (holds l')); try exact X.
  - now apply holds_zero.
  - now apply holds_one.
  - intros. now apply holds_plus.
  - intros. now apply holds_times.
  - eapply placed_map; [exact H|exact F|]. intros e n Hk E. eapply plain_entry; eassumption.
Qed.
Lemma key_map moves l left m m' columns : part_of left -> (l < K)%nat -> tagged true false m columns -> place_map moduli slope moves left m = Got m' ->
  map_agrees number_mapped curve_mapped_by (Forall2 (holds l)) (Forall2 (keyed l)) m' (map (map (curve_entry moves l)) m).
Proof.
  intros P L (_ & F & _) H x x' X. apply (mapped_agree _ _ _ _ _ _ _ _ (holds l) (keyed l) (keyed l)); try exact X.
  - now apply keyed_zero.
  - apply holds_one; [exact linked_moduli|lia].
  - intros. now apply keyed_plus.
  - intros. now apply keyed_times.
  - eapply placed_map; [exact H|exact F|]. intros e n Hk E. eapply key_entry; eassumption.
Qed.
Lemma removelast_part left : part_of left -> (2 <= length left)%nat -> part_of (removelast left) /\ length (removelast left) = pred (length left).
Proof.
  intros [P0 P] L. assert (N : left <> []) by (intros ->; cbn in P0; lia). pose proof (app_removelast_last 3%Z N) as E.
  assert (Len : length left = S (length (removelast left))) by (rewrite E at 1; rewrite app_length; cbn; lia).
  split; [|lia]. split; [lia|]. intros k Hk. rewrite <- P by lia. rewrite E at 2. now rewrite app_nth1.
Qed.
Lemma placed_block moves left l b b' left' bb : part_of left -> (length left + l = S K)%nat -> block_tagged b bb -> place_block moduli slope moves left b = Got (b', left') ->
  block_agrees_at at_level keys_at number_mapped curve_mapped_by K l b' (of_block (map (map (curve_entry moves l))) b) /\ part_of left' /\ (length left' + next b l = S K)%nat /\ next b' l = next b l.
Proof.
  intros P Len HT H. destruct b as [of weigh parts seen residual|of act linear residual], bb as [of' weigh' parts' seen' residual'|of' act' linear' residual']; try easy; cbn [place_block] in H.
  - apply bind_got in H as (u & G & H). apply need_got, Nat.leb_le in G. apply bind_got in H as (ps & H & E). injection E as <- <-. destruct HT as [_ HT].
    destruct (removelast_part left P G) as [P' L']. split; [|split; [exact P'|split; [cbn; lia|reflexivity]]]. cbn [block_agrees_at of_block]. split; [reflexivity|]. split; [lia|].
    apply each_all in H. clear - H HT P Len G linked_moduli. revert parts' HT. induction H as [|q q' parts ps Hq H IH]; intros parts' HT; cbn [map]; constructor; inversion HT as [|? t ? ts Ht HT']; subst; [|now apply (IH ts)].
    destruct Ht as (HK & HQ & HV & HO). unfold place_part in Hq. apply bind_got in Hq as (K' & EK & Hq). apply bind_got in Hq as (Q' & EQ & Hq). apply bind_got in Hq as (V' & EV & Hq). apply bind_got in Hq as (O' & EO & Hq).
    injection Hq as <-. unfold part_agrees, of_part. cbn [to_key to_query to_value to_output].
    split; [eapply key_map; [exact P|lia|exact HK|exact EK]|]. split; [eapply plain_map; [exact P|lia|exact HQ|exact EQ]|].
    split; [eapply plain_map; [exact P|lia|exact HV|exact EV]|eapply plain_map; [exact P|lia|exact HO|exact EO]].
  - apply bind_got in H as (m & H & E). injection E as <- <-. destruct HT as [_ HT]. split; [|split; [exact P|split; [exact Len|reflexivity]]]. cbn [block_agrees_at of_block]. split; [reflexivity|].
    destruct P as [P0 P]. eapply plain_map; [split; [exact P0|exact P]|lia|exact HT|exact H].
Qed.
Lemma placed_blocks moves left l b b' bb : part_of left -> (length left + l = S K)%nat -> Forall2 block_tagged b bb -> place_blocks moduli slope moves left b = Got b' ->
  agree_from at_level keys_at number_mapped curve_mapped_by K l b' (curve_blocks moves l b) /\ (level_after l b' <= K)%nat.
Proof.
  intros P Len HT. revert left l b' P Len. induction HT as [|x bx b bb Hx HT IH]; intros left l b' P Len H; cbn [place_blocks] in H.
  - injection H as <-. split; [exact I|]. cbn. destruct P. lia.
  - apply bind_got in H as ([x' left'] & Hb & H). apply bind_got in H as (r & H & E). injection E as <-.
    destruct (placed_block moves left l x x' left' bx P Len Hx Hb) as (A & P' & L' & N). destruct (IH left' (next x l) r P' L' H) as [B C].
    cbn [curve_blocks agree_from level_after]. rewrite N. split; [split; [exact A|exact B]|exact C].
Qed.

(* The outputs of an example. *)
Lemma outputs_ok moves blocks placed c outs t : place_blocks moduli slope moves moduli (fst (tag_blocks 0 blocks)) = Got placed ->
  outputs_mod moduli placed c = Got outs -> (t < dimT c)%nat ->
  (level_after 0 placed <= K)%nat /\ exists Y : list curve, Forall2 (holds (level_after 0 placed)) (nth t outs []) Y /\
  output_curves moves (fst (tag_blocks 0 blocks)) c t Y.
Proof.
  intros HP HO Ht. set (b := fst (tag_blocks 0 blocks)) in *.
  assert (Len : (length moduli + 0 = S K)%nat) by (pose proof (moduli_0 moduli linked_moduli); unfold network_rank_numbers.K; lia).
  destruct (placed_blocks moves moduli 0 b placed blocks (moduli_part) Len (tag_blocks_ok 0 blocks) HP) as [A L].
  unfold outputs_mod in HO. apply (example_ok _ _ _ _ t []) in HO as (before & Hb & Hq); [|exact Ht].
  apply bind_got in Hb as (tokens & Et & Hb). apply bind_got in Hq as (query & Eq & Hq).
  assert (HQ : Forall2 (holds 0) query (map data_curve (nth t (queries c) []))).
  { eapply (each_related (fun _ => True)); [exact Eq|now apply Forall_forall|]. intros x n _. now apply given_holds. }
  assert (HT : Forall2 (Forall2 (holds 0)) tokens (map (map data_curve) (ctx c t))).
  { eapply (each_related (fun _ => True)); [exact Et|now apply Forall_forall|]. intros x n _ E. eapply (each_related (fun _ => True)); [exact E|now apply Forall_forall|]. intros y m _. now apply given_holds. }
  destruct (states_levels at_level keys_at number_mapped joined_of (added_of (plus_number moduli)) (products_of (zero_number moduli) (plus_number moduli) (times_number moduli)) (shares_number moduli)
    (combination_of (plus_number moduli) (times_number moduli)) active_of curve_mapped_by joined_of (added_of plus_curve) (products_of zero_curve plus_curve times_curve) shares_curve (combination_of plus_curve times_curve) active_of K)
    with (blocks := placed) (blocks' := curve_blocks moves 0 b) (tokens := tokens) (tokens' := map (map data_curve) (ctx c t)) (query := query) (query' := map data_curve (nth t (queries c) [])) (before := before) (y := nth t outs [])
    as (after & Y & Ey & RY); try assumption.
  - intros l x x' Ll H. clear - H Ll linked_moduli. induction H; constructor; [now apply holds_lift|assumption].
  - intros n l l' H. now apply joined_agree.
  - intros n l l' H. apply (added_agree _ _ (holds n)); [intros; now apply holds_plus|exact H].
  - intros n x x' l l' Ln X H. apply (products_agree _ _ _ _ _ _ (holds n) (keyed n) (keyed n)); try assumption; [now apply keyed_zero|intros; now apply keyed_plus|intros; now apply keyed_times].
  - intros n r x x' Ln X. destruct r as [[|]| |]; try (intros ? E; discriminate). now apply softmax_holds.
  - intros n x x' l l' Ln X H. apply (combination_agree _ _ _ _ (holds n)); try assumption; [intros; now apply holds_plus|intros; now apply holds_times].
  - intros n a x x' X. now apply active_agree.
  - split; [exact L|]. exists Y. split; [exact RY|]. now exists after.
Qed.

(* Tables of functions whose rows of residues are independent. *)
Lemma combination_app a b X Y j : length a = length X -> combination (a ++ b) (X ++ Y) j = combination a X j + combination b Y j.
Proof. revert X. induction a as [|x a IH]; intros [|Z X] L; try discriminate; cbn; [ring|]. rewrite IH by (now injection L). ring. Qed.
Lemma combination_seq (x : nat -> R) (F : nat -> nat -> R) s n k : combination (map x (seq s n)) (map F (seq s n)) k = sum n (fun j => x (s + j)%nat * F (s + j)%nat k).
Proof.
  revert s. induction n as [|n IH]; intros s; [reflexivity|]. cbn [seq map combination sum]. rewrite IH, Nat.add_0_r. f_equal. apply SoundZ.sum_ext. intros j _. now rewrite Nat.add_succ_r.
Qed.
Lemma combination_table (x : nat -> nat -> R) (F : nat -> nat -> nat -> R) m s T k :
  combination (concat (map (fun t => map (x t) (seq 0 m)) (seq s T))) (concat (map (fun t => map (F t) (seq 0 m)) (seq s T))) k =
  sum T (fun t => sum m (fun j => x (s + t)%nat j * F (s + t)%nat j k)).
Proof.
  revert s. induction T as [|T IH]; intros s; [reflexivity|]. cbn [seq map concat sum]. rewrite combination_app by now rewrite !map_length.
  rewrite combination_seq, IH, Nat.add_0_r. f_equal. apply SoundZ.sum_ext. intros t _. now rewrite Nat.add_succ_r.
Qed.
Lemma Forall2_table {A B} (P : A -> B -> Prop) (f : nat -> nat -> A) (g : nat -> nat -> B) m T : (forall t j, (t < T)%nat -> (j < m)%nat -> P (f t j) (g t j)) ->
  Forall2 P (concat (map (fun t => map (f t) (seq 0 m)) (seq 0 T))) (concat (map (fun t => map (g t) (seq 0 m)) (seq 0 T))).
Proof.
  intros H. assert (G : forall l r, (forall t, In t l -> (t < T)%nat) -> (forall j, In j r -> (j < m)%nat) -> Forall2 P (concat (map (fun t => map (f t) r) l)) (concat (map (fun t => map (g t) r) l))).
  { intros l r. induction l as [|t l IH]; intros Hl Hr; cbn; [constructor|]. apply Forall2_app; [|apply IH; [intros; apply Hl; now right|exact Hr]].
    specialize (Hl t (or_introl eq_refl)). clear IH. induction r as [|j r IH]; cbn; constructor; [apply H; [exact Hl|apply Hr; now left]|apply IH; intros; apply Hr; now right]. }
  apply G; intros t I; apply in_seq in I; lia.
Qed.
Lemma independent_table L N T m (F : nat -> nat -> nat -> fn) (row : nat -> nat -> list Z) fuel : (L <= K)%nat ->
  (forall t j, (t < T)%nat -> (j < m)%nat -> stands_for p K slope L N (F t j) (row t j)) ->
  independent (p 0) fuel (concat (map (fun t => map (row t) (seq 0 m)) (seq 0 T))) = true ->
  exists a, independent_family T m N (fun t j k => F t j k a).
Proof.
  intros LK H I. pose proof (independent_functions p K slope gt1 order L N (fun _ => 0) LK fuel _ _ I (Forall2_table _ F row m T H)) as S.
  apply sure_some in S as (a & S). exists a. intros x Hx t j Ht Hj.
  specialize (S (concat (map (fun t => map (x t) (seq 0 m)) (seq 0 T)))).
  assert (E : map (at_point a) (concat (map (fun t => map (F t) (seq 0 m)) (seq 0 T))) = concat (map (fun t => map (fun j k => F t j k a) (seq 0 m)) (seq 0 T))).
  { rewrite concat_map, map_map. f_equal. apply map_ext. intros u. rewrite map_map. reflexivity. }
  rewrite E in S. assert (A : Forall (fun y => y = 0) (concat (map (fun t => map (x t) (seq 0 m)) (seq 0 T)))).
  { apply S.
    - clear. generalize (seq 0 T). intros l. induction l as [|t l IH]; cbn; [reflexivity|]. rewrite !app_length, IH, !map_length. reflexivity.
    - intros k Hk. rewrite (combination_table x (fun t j k => F t j k a) m 0 T k). now apply Hx. }
  rewrite Forall_forall in A. apply A. apply in_concat. exists (map (x t) (seq 0 m)). split; [apply in_map_iff; exists t; split; [reflexivity|apply in_seq; lia]|].
  apply in_map, in_seq. lia.
Qed.
End Sound.
Lemma map_nth_seq {A B} (f : A -> B) l d n : length l = n -> map f l = map (fun j => f (nth j l d)) (seq 0 n).
Proof.
  intros <-. induction l as [|x l IH]; [reflexivity|]. cbn [length seq map]. f_equal. rewrite IH, <- seq_shift, map_map. reflexivity.
Qed.
Lemma example_count {A B} (before_of : mat Z -> result B) c f (all : list A) : each_example before_of c f = Got all -> length all = dimT c.
Proof.
  unfold each_example. intros H. rewrite <- (seq_length (dimT c) 0). destruct (contexts c) as [|? [|]];
    [|apply bind_got in H as (before & Hb & H)|]; (apply each_all in H; symmetry; exact (Forall2_lengths _ _ _ H)).
Qed.
Lemma jacobian_found moduli slope blocks c u : check_rank moduli slope true blocks c = Got u ->
  exists (a : point) (N : nat) (Y : nat -> list curve) (J : nat -> nat -> nat -> R),
    (forall t, (t < dimT c)%nat -> length (Y t) = dimm c /\ output_curves true (fst (tag_blocks 0 blocks)) c t (Y t) /\
      forall j k, (j < dimm c)%nat -> derivable_pt_lim (nth j (Y t) zero_curve a k) 0 (J t j k)) /\
    independent_family (dimT c) (dimm c) N J.
Proof.
  unfold check_rank. intros H. apply bind_got in H as (v & HL & H). apply need_got in HL. destruct (tag_blocks 0 blocks) as [tags n] eqn:ET.
  apply bind_got in H as (placed & HP & H). apply bind_got in H as (outs & HO & H). apply bind_got in H as (w & HW & H). apply need_got in HW, H.
  assert (tags_are : tags = fst (tag_blocks 0 blocks)) by now rewrite ET. rewrite tags_are in HP.
  set (T := dimT c) in *. set (m := dimm c) in *. pose proof (example_count _ _ _ _ HO) as LT. fold T in LT.
  assert (Lm : forall t, (t < T)%nat -> length (nth t outs []) = m).
  { intros t Ht. rewrite forallb_forall in HW. apply Nat.eqb_eq, HW, nth_In. lia. }
  set (d := (([], []) : number)). set (P t Y F := Forall2 (fun (x : number) (h : curve) => True) (nth t outs []) Y /\
    output_curves true tags c t Y /\
    forall j, (j < m)%nat -> (forall a i, derivable_pt_lim (nth j Y zero_curve a i) 0 (F j i a)) /\ slopes_of moduli slope (level_after 0 placed) (nth j (nth t outs []) d) (F j)).
  assert (lines : forall t, (t < T)%nat -> (level_after 0 placed <= K moduli)%nat /\ exists YF : list curve * (nat -> nat -> fn), P t (fst YF) (snd YF)).
  { intros t Ht. destruct (outputs_ok moduli slope HL true blocks placed c outs t HP HO Ht) as (LK & Y & HY & O). split; [exact LK|]. rewrite <- tags_are in O.
    destruct (choose_upto (fun j (F : nat -> fn) => (forall a i, derivable_pt_lim (nth j Y zero_curve a i) 0 (F i a)) /\ slopes_of moduli slope (level_after 0 placed) (nth j (nth t outs []) d) F) (fun _ _ => 0) m) as [F HF].
    - intros j Hj. assert (G : holds moduli slope (level_after 0 placed) (nth j (nth t outs []) d) (nth j Y zero_curve)).
      { rewrite <- (Lm t Ht) in Hj. clear - HY Hj. revert j Hj. induction HY as [|x h l Y' Hx HY IH]; intros j Hj; [cbn in Hj; lia|]. destruct j as [|j]; [exact Hx|]. apply IH. cbn in Hj. lia. }
      destruct G as (f & f' & _ & D & _ & _ & S). exists f'. split; [intros; apply D|exact S].
    - exists (Y, F). split; [|split; [exact O|exact HF]]. clear - HY. induction HY; constructor; [exact I|assumption]. }
  destruct (choose_upto (fun t YF => P t (fst YF) (snd YF)) ([], fun _ _ _ => 0) T) as [YF HYF]; [intros t Ht; apply (lines t Ht)|].
  assert (LK : T = 0%nat \/ (level_after 0 placed <= K moduli)%nat) by (destruct T; [now left|right; apply (lines O); lia]).
  assert (A : exists a, independent_family T m n (fun t j k => snd (YF t) j k a)).
  { destruct LK as [E|LK]; [exists (fun _ => 0); rewrite E; intros x _ t j Ht; lia|].
    apply (independent_table moduli slope HL (level_after 0 placed) n T m (fun t j => snd (YF t) j) (fun t j => as_row n (snd (nth j (nth t outs []) d)))
      (length (concat (map (map (fun y => as_row n (snd y))) outs))) LK).
    - intros t j Ht Hj. destruct (HYF t Ht) as (_ & _ & G). destruct (G j Hj) as [_ S]. unfold as_row. split.
      + rewrite firstn_length, app_length, repeat_length. lia.
      + exists 1%Z, 1%Z. split; [apply same_of; reflexivity|]. intros k Hk. rewrite Z.mul_1_l. specialize (S k).
        assert (N : nth k (firstn n (snd (nth j (nth t outs []) d) ++ repeat 0%Z (n - length (snd (nth j (nth t outs []) d))))) 0%Z = nth k (snd (nth j (nth t outs []) d)) 0%Z).
        { set (x := snd (nth j (nth t outs []) d)). assert (G1 : forall q l, (q < n)%nat -> nth q (firstn n l) 0%Z = nth q l 0%Z).
          { clear. revert n. intros n q l. revert n q. induction l as [|z l IH]; intros [|n] [|q] H; cbn; try reflexivity; try lia. apply IH. lia. }
          rewrite G1 by exact Hk. destruct (Nat.lt_ge_cases k (length x)) as [Q|Q]; [now rewrite app_nth1|]. rewrite app_nth2, nth_repeat by exact Q. now rewrite nth_overflow. }
        rewrite N. exact S.
    - assert (E : concat (map (fun t => map (fun j => as_row n (snd (nth j (nth t outs []) d))) (seq 0 m)) (seq 0 T)) = concat (map (map (fun y => as_row n (snd y))) outs)).
      { f_equal. rewrite (map_nth_seq (map (fun y => as_row n (snd y))) outs [] T LT). apply map_ext_in. intros t I. apply in_seq in I.
        symmetry. apply (map_nth_seq (fun y : number => as_row n (snd y)) _ d m). apply Lm. lia. }
      rewrite E. rewrite <- first_p. exact H. }
  destruct A as [a A]. exists a, n, (fun t => fst (YF t)), (fun t j k => snd (YF t) j k a). split; [|exact A].
  intros t Ht. destruct (HYF t Ht) as (L2 & O & G). split; [rewrite <- (Forall2_lengths _ _ _ L2); now apply Lm|]. split; [exact O|].
  intros j k Hj. apply (G j Hj).
Qed.
Theorem check_jacobian_sound moduli slope blocks c u : check_rank moduli slope true blocks c = Got u -> jacobian_rank blocks c.
Proof.
  intros H. destruct (jacobian_found _ _ _ _ _ H) as (a & N & Y & J & HY & A). set (tags := fst (tag_blocks 0 blocks)) in *.
  assert (HT : Forall2 block_tagged tags blocks) by apply tag_blocks_ok.
  exists (map (at_time 0) (line_blocks true 0 a 0 tags)), N, (fun k => line_blocks true 0 a k tags), J.
  split; [now apply start_ok|]. split; [intros k; split; [apply starts_alike|now apply biases_ok with (blocks := blocks)]|]. split; [|exact A].
  intros t k Ht. destruct (HY t Ht) as (Ly & O & G). exists (fun s j => nth j (Y t) zero_curve a k s). split; [|intros j Hj; now apply G].
  intros s. rewrite <- (map_nth_seq (fun h : curve => h a k s) (Y t) zero_curve (dimm c) Ly). now apply output_values.
Qed.
Theorem check_features_sound moduli slope blocks c u : check_rank moduli slope false blocks c = Got u -> features_rank blocks c.
Proof.
  unfold check_rank. intros H. apply bind_got in H as (v & HL & H). apply need_got in HL. set (read := on_last read_means blocks) in *. destruct (tag_blocks 0 read) as [tags n] eqn:ET.
  apply bind_got in H as (placed & HP & H). apply bind_got in H as (outs & HO & H). apply bind_got in H as (w & HW & H). apply need_got in HW, H.
  assert (tags_are : tags = fst (tag_blocks 0 read)) by now rewrite ET. rewrite tags_are in HP.
  set (T := dimT c) in *. set (N := length (hd [] outs)) in *. pose proof (example_count _ _ _ _ HO) as LT. fold T in LT.
  assert (LN : forall t, (t < T)%nat -> length (nth t outs []) = N).
  { intros t Ht. rewrite forallb_forall in HW. apply Nat.eqb_eq, HW, nth_In. lia. }
  set (d := (([], []) : number)).
  set (P t Y f := Forall2 (fun (x : number) (h : curve) => True) (nth t outs []) Y /\
    output_curves false tags c t Y /\
    forall j, (j < N)%nat -> (forall a i, nth j Y zero_curve a i 0 = f j a) /\ num (p moduli) (K moduli) slope (level_after 0 placed) 0 (f j) (hd 0%Z (fst (nth j (nth t outs []) d)))).
  assert (rows : forall t, (t < T)%nat -> (level_after 0 placed <= K moduli)%nat /\ exists Yf : list curve * (nat -> fn), P t (fst Yf) (snd Yf)).
  { intros t Ht. destruct (outputs_ok moduli slope HL false read placed c outs t HP HO Ht) as (LK & Y & HY & O). split; [exact LK|]. rewrite <- tags_are in O.
    destruct (choose_upto (fun j (f : fn) => (forall a i, nth j Y zero_curve a i 0 = f a) /\ num (p moduli) (K moduli) slope (level_after 0 placed) 0 f (hd 0%Z (fst (nth j (nth t outs []) d)))) (fun _ => 0) N) as [f Hf].
    - intros j Hj. assert (G : holds moduli slope (level_after 0 placed) (nth j (nth t outs []) d) (nth j Y zero_curve)).
      { rewrite <- (LN t Ht) in Hj. clear - HY Hj. revert j Hj. induction HY as [|x h l Y' Hx HY IH]; intros j Hj; [cbn in Hj; lia|]. destruct j as [|j]; [exact Hx|]. apply IH. cbn in Hj. lia. }
      destruct G as (f & f' & V & _ & L0 & S & _). exists f. split; [exact V|]. rewrite hd_is_nth. apply S; [exact L0|lia].
    - exists (Y, f). split; [|split; [exact O|exact Hf]]. clear - HY. induction HY; constructor; [exact I|assumption]. }
  destruct (choose_upto (fun t Yf => P t (fst Yf) (snd Yf)) ([], fun _ _ => 0) T) as [Yf HYf]; [intros t Ht; apply (rows t Ht)|].
  assert (LK : T = 0%nat \/ (level_after 0 placed <= K moduli)%nat) by (destruct T; [now left|right; apply (rows O); lia]).
  assert (A : exists a, independent_family T 1 N (fun t _ k => snd (Yf t) k a)).
  { destruct LK as [E|LK]; [exists (fun _ => 0); rewrite E; intros x _ t j Ht; lia|].
    apply (independent_table moduli slope HL (level_after 0 placed) N T 1 (fun t _ => snd (Yf t)) (fun t _ => map (fun y => hd 0%Z (fst y)) (nth t outs []))
      (length (map (map (fun y : number => hd 0%Z (fst y))) outs)) LK).
    - intros t j Ht _. destruct (HYf t Ht) as (_ & _ & G). split; [now rewrite map_length, LN|]. exists 1%Z, 1%Z. split; [apply same_of; reflexivity|].
      intros k Hk. rewrite Z.mul_1_l, (nth_indep _ 0%Z (hd 0%Z (fst d))) by now rewrite map_length, LN. rewrite (map_nth (fun y : number => hd 0%Z (fst y))). apply (G k Hk).
    - assert (E : concat (map (fun t => map (fun _ : nat => map (fun y : number => hd 0%Z (fst y)) (nth t outs [])) (seq 0 1)) (seq 0 T)) = map (map (fun y => hd 0%Z (fst y))) outs).
      { etransitivity; [|symmetry; exact (map_nth_seq (map (fun y : number => hd 0%Z (fst y))) outs [] T LT)]. generalize (seq 0 T). intros l. induction l as [|t l IH]; [reflexivity|]. exact (f_equal (cons (map (fun y : number => hd 0%Z (fst y)) (nth t outs []))) IH). }
      refine (eq_trans (f_equal (independent (p moduli 0) _) E) _). rewrite <- first_p. exact H. }
  destruct A as [a A]. exists (map (at_time 0) (line_blocks false 0 a 0 tags)), N, (fun t k => snd (Yf t) k a).
  assert (HT : Forall2 block_tagged tags read) by (rewrite tags_are; apply tag_blocks_ok).
  split; [now apply start_ok|]. split; [|exact A].
  intros t Ht. destruct (HYf t Ht) as (L2 & O & G). apply (output_values false tags c t _ a 0%nat 0) in O. assert (Ly : length (fst (Yf t)) = N) by (rewrite <- (Forall2_lengths _ _ _ L2); now apply LN).
  pose proof (map_nth_seq (fun h : curve => h a 0%nat 0) (fst (Yf t)) zero_curve N Ly) as E. unfold curve in E, O. rewrite E in O.
  replace (map (fun k => snd (Yf t) k a) (seq 0 N)) with (map (fun j => nth j (fst (Yf t)) zero_curve a 0%nat 0) (seq 0 N)); [exact O|].
  apply map_ext_in. intros j I. apply in_seq in I. apply (G j). lia.
Qed.
