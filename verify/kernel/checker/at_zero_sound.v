(* [zero_outputs] and [check_rank] imply what Ranks.v states of "jacobian at zero". At the weights of the file the outputs are 0, and they
   are smooth functions of all weights with independent rows of derivatives; so near these weights they take, for any labels and
   some s > 0, the values s times the labels. The outputs of the last block divided by s give the labels. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Arith FunctionalExtensionality.
Require Import Spec Json interpolation integers every_labelling every_labelling_sound Blocks fixed_point newton box_slopes general_position residues tower transfer network network_rank levels
  network_rank_numbers network_rank_sound open_map smooth at_zero Ranks.
Import ListNotations.
Local Notation length := List.length.
Open Scope R_scope.

(* The curves of the lines of weights, as functions of all weights: as curves whose point is the weights' change. *)
Section Extends.
Variables (a : point) (N : nat).
Definition extends (h F : curve) : Prop := smooth N (fun x => F x O 0) /\ forall i s, (i < N)%nat -> F (along i s) O 0 = h a i s.
Lemma extends_constant v : extends (fun _ _ _ => v) (fun _ _ _ => v).
Proof. split; [apply smooth_constant|reflexivity]. Qed.
Lemma extends_plus h k F G : extends h F -> extends k G -> extends (plus_curve h k) (plus_curve F G).
Proof. intros [A B] [C D]. split; [exact (smooth_plus N _ _ A C)|]. intros i s Hi. unfold plus_curve. now rewrite B, D. Qed.
Lemma extends_times h k F G : extends h F -> extends k G -> extends (times_curve h k) (times_curve F G).
Proof. intros [A B] [C D]. split; [exact (smooth_times N _ _ A C)|]. intros i s Hi. unfold times_curve. now rewrite B, D. Qed.
Lemma extends_weight h F : extends h F -> extends (weight_of h) (weight_of F).
Proof.
  intros [A B]. split; [exact (smooth_exp N _ (smooth_times N _ _ (smooth_constant N (ln 2)) A))|]. intros i s Hi. unfold weight_of. now rewrite B.
Qed.
Lemma extends_total l l' : Forall2 extends l l' -> extends (total_of l) (total_of l').
Proof. induction 1 as [|h F l l' H G IH]; [exact (extends_constant 0)|]. exact (extends_plus _ _ _ _ (extends_weight _ _ H) IH). Qed.
Lemma total_above_0 h l c i s : 0 < total_of (h :: l) c i s.
Proof.
  assert (P : 0 <= total_of l c i s) by (induction l as [|k l IH]; cbn; [lra|]; pose proof (exp_pos (ln 2 * k c i s)); unfold weight_of; lra).
  cbn. pose proof (exp_pos (ln 2 * h c i s)). unfold weight_of at 1. lra.
Qed.
Lemma shares_extend r l l' : Forall2 extends l l' -> gives (Forall2 extends) (shares_curve r l) (shares_curve r l').
Proof.
  intros H. destruct r as [[|]| |]; try (intros ? E; discriminate). apply gives_got. pose proof (extends_total _ _ H) as T.
  destruct H as [|h F l l' Hh H]; [constructor|].
  assert (S : forall k G, extends k G -> extends (fun c i s => weight_of k c i s / total_of (h :: l) c i s) (fun c i s => weight_of G c i s / total_of (F :: l') c i s)).
  { intros k G HG. apply extends_weight in HG. split.
    - apply (smooth_times N _ _ (proj1 HG)). apply (smooth_inverse N _ (proj1 T)). intros x. apply Rgt_not_eq, total_above_0.
    - intros i s Hi. now rewrite (proj2 HG), (proj2 T) by exact Hi. }
  revert S. generalize (total_of (h :: l)), (total_of (F :: l')). intros t t' S. cbn [map]. constructor; [now apply S|]. clear T Hh. induction H as [|k G l l' Hk H IH]; [constructor|]. constructor; [now apply S|exact IH].
Qed.

(* Entries that move with all weights below N. *)
Definition field_entry (l : nat) (e : entry) : curve := fun x _ _ =>
  let g := if of_key e then a l / ln 2 else 1 in
  g * real (fun z => z) (entry_of e) + match weight e with Some k => if Nat.ltb k N then g * x k else 0 | None => 0 end.
Fixpoint field_blocks (l : nat) (blocks : list (block (list (list entry)))) : list (block (list (list curve))) :=
  match blocks with [] => [] | b :: r => of_block (map (map (field_entry l))) b :: field_blocks (next b l) r end.
Lemma entry_extends l e : extends (curve_entry true l e) (field_entry l e).
Proof.
  unfold extends, field_entry, curve_entry, moving_entry. cbn [fst snd]. set (g := if of_key e then a l / ln 2 else 1). split.
  - apply (smooth_plus N (fun _ => g * real (fun z => z) (entry_of e))); [apply smooth_constant|].
    destruct (weight e) as [k|]; [|apply smooth_constant]. destruct (Nat.ltb_spec k N); [|apply smooth_constant].
    apply (smooth_times N (fun _ => g)); [apply smooth_constant|now apply smooth_number].
  - intros i s Hi. unfold along. destruct (weight e) as [k|]; [|ring].
    destruct (Nat.ltb_spec k N), (Nat.eqb_spec i k), (Nat.eqb_spec k i); subst; try lia; ring.
Qed.
Local Notation V := (Forall2 extends).
Lemma map_extends l m x x' : V x x' -> gives V (curve_mapped_by (map (map (curve_entry true l)) m) x) (curve_mapped_by (map (map (field_entry l)) m) x').
Proof.
  intros X. apply (mapped_agree _ _ _ _ _ _ _ _ extends extends extends); try exact X; try apply extends_constant;
    [intros; now apply extends_plus|intros; now apply extends_times|].
  induction m as [|y m IH]; cbn; constructor; [|exact IH]. induction y; cbn; constructor; [apply entry_extends|assumption].
Qed.
Lemma blocks_extend l b : Forall2 (blocks_agree V curve_mapped_by curve_mapped_by) (curve_blocks true l b) (field_blocks l b).
Proof.
  revert l. induction b as [|b r IH]; intros l; cbn [curve_blocks field_blocks]; constructor; [|apply IH].
  destruct b as [of weigh parts seen residual|of act linear residual]; cbn; (split; [reflexivity|]); [|intros x x'; apply map_extends].
  induction parts as [|q parts IHp]; cbn; constructor; [|exact IHp].
  repeat split; try (intros x x'; apply map_extends). intros z z' Rz. eapply gives_bind; [now apply map_extends|]. intros x x'. apply map_extends.
Qed.
Lemma state_extends b tokens tokens' query query' after y : Forall2 V tokens tokens' -> V query query' ->
  curve_state (curve_blocks true 0 b) tokens query = Got (after, y) -> exists after' z, curve_state (field_blocks 0 b) tokens' query' = Got (after', z) /\ V y z.
Proof.
  intros HT HQ. unfold curve_state, state_of. intros H. apply bind_got in H as (before & Hb & H). apply bind_got in H as (y' & Hq & H). injection H as _ <-.
  assert (H1 : forall l l', Forall2 V l l' -> gives V (joined_of l) (joined_of l')) by (intros l l' G; exact (joined_agree extends l l' G)).
  assert (H2 : forall l l', Forall2 V l l' -> gives V (added_of plus_curve l) (added_of plus_curve l')) by (intros l l' G; apply (added_agree _ _ extends); [intros; now apply extends_plus|exact G]).
  assert (H3 : forall x x' l l', V x x' -> Forall2 V l l' -> gives V (products_of zero_curve plus_curve times_curve x l) (products_of zero_curve plus_curve times_curve x' l'))
    by (intros x x' l l' G G'; apply (products_agree _ _ _ _ _ _ extends extends extends); try assumption; [apply extends_constant|intros; now apply extends_plus|intros; now apply extends_times]).
  assert (H5 : forall x x' l l', V x x' -> Forall2 V l l' -> gives V (combination_of plus_curve times_curve x l) (combination_of plus_curve times_curve x' l'))
    by (intros x x' l l' G G'; apply (combination_agree _ _ _ _ extends); try assumption; [intros; now apply extends_plus|intros; now apply extends_times]).
  assert (H6 : forall a x x', V x x' -> gives V (active_of a x) (active_of a x')) by (intros act x x' G; now apply active_agree).
  destruct (tables_agree V _ _ _ _ _ _ _ _ _ _ _ _ _ _ H1 H2 H3 shares_extend H5 H6 _ _ _ _ (blocks_extend 0 b) HT before Hb) as (before' & Eb & Ib).
  destruct (query_agree V _ _ _ _ _ _ _ _ _ _ _ _ _ _ H1 H2 H3 shares_extend H5 H6 _ _ _ _ query _ (blocks_extend 0 b) Ib HQ y' Hq) as (z & Ez & Rz).
  unfold curve_mapped_by in Eb, Ez. rewrite Eb. cbn [bind]. rewrite Ez. cbn [bind]. eexists. exists z. now split.
Qed.
End Extends.

(* Smooth outputs that are 0 at 0, with independent rows of derivatives there, take multiples of all values. *)
Lemma sum_table T m (g : nat -> R) : sum (T * m) g = sum T (fun t => sum m (fun j => g (t * m + j)%nat)).
Proof.
  revert g. induction T as [|T IH]; intros g; [reflexivity|]. cbn [mult sum]. rewrite sum_split, IH. f_equal.
  apply SoundZ.sum_ext. intros t _. apply SoundZ.sum_ext. intros j _. f_equal. lia.
Qed.
Lemma common_radius n (P : nat -> R -> Prop) : (forall l r r', P l r -> 0 < r' <= r -> P l r') -> (forall l, (l < n)%nat -> exists r, 0 < r /\ P l r) ->
  exists r, 0 < r /\ forall l, (l < n)%nat -> P l r.
Proof.
  intros mono. induction n as [|n IH]; intros H; [exists 1; split; [lra|lia]|].
  destruct IH as (r & Hr & A); [intros; apply H; lia|]. destruct (H n (Nat.lt_succ_diag_r n)) as (s & Hs & B).
  assert (M : 0 < Rmin r s) by now apply Rmin_pos. exists (Rmin r s). split; [exact M|]. intros l Hl.
  destruct (Nat.eq_dec l n) as [->|D]; [apply (mono n s _ B)|apply (mono l r); [apply A; lia|]]; (split; [exact M|]); [apply Rmin_r|apply Rmin_l].
Qed.
Lemma reached T m N (F : nat -> nat -> (nat -> R) -> R) (J : nat -> nat -> nat -> R) (Y : nat -> nat -> R) :
  (forall t j, (t < T)%nat -> (j < m)%nat -> smooth N (F t j)) ->
  (forall t j k, (t < T)%nat -> (j < m)%nat -> (k < N)%nat -> derivable_pt_lim (fun s => F t j (along k s)) 0 (J t j k)) ->
  (forall t j, (t < T)%nat -> (j < m)%nat -> F t j (fun _ => 0) = 0) -> independent_family T m N J ->
  exists s x, 0 < s /\ forall t j, (t < T)%nat -> (j < m)%nat -> F t j x = s * Y t j.
Proof.
  intros S D Z I.
  assert (place : forall l, (l < T * m)%nat -> (l / m < T)%nat /\ (l mod m < m)%nat).
  { intros l Hl. assert (M : m <> O) by (intros ->; lia). split; [apply Nat.div_lt_upper_bound; lia|now apply Nat.mod_upper_bound]. }
  destruct (onto (T * m) N (fun x l => F (l / m)%nat (l mod m)%nat x) (fun l k => J (l / m)%nat (l mod m)%nat k)) with (y := fun l => Y (l / m)%nat (l mod m)%nat) as (s & x & Hs & E).
  - intros e He. destruct (common_radius (T * m) (fun l r => forall x y, inside N r x -> inside N r y -> exists c : nat -> R,
      F (l / m)%nat (l mod m)%nat x - F (l / m)%nat (l mod m)%nat y = sum N (fun k => c k * (x k - y k)) /\ forall k, (k < N)%nat -> Rabs (c k - J (l / m)%nat (l mod m)%nat k) <= e)) as (r & Hr & A).
    + intros l r r' H L x y Hx Hy. apply H; intros k Hk; [specialize (Hx k Hk)|specialize (Hy k Hk)]; lra.
    + intros l Hl. destruct (place l Hl) as [Ht Hj]. destruct (smooth_slopes N _ (S _ _ Ht Hj)) as (J' & D' & B). destruct (B e He) as (r & Hr & C). exists r. split; [exact Hr|].
      intros x y Hx Hy. destruct (C x y Hx Hy) as (c & C1 & C2). exists c. split; [exact C1|]. intros k Hk.
      rewrite (uniqueness_limite _ _ _ _ (D _ _ k Ht Hj Hk) (D' k Hk)). now apply C2.
    + exists r. split; [exact Hr|]. intros x y Hx Hy. destruct (choose_upto (fun l (c : nat -> R) => F (l / m)%nat (l mod m)%nat x - F (l / m)%nat (l mod m)%nat y = sum N (fun k => c k * (x k - y k)) /\
        forall k, (k < N)%nat -> Rabs (c k - J (l / m)%nat (l mod m)%nat k) <= e) (fun _ => 0) (T * m)) as [c C]; [intros l Hl; now apply A|].
      exists c. split; [intros l Hl; apply (C l Hl)|]. intros l k Hl Hk. now apply (C l Hl).
  - intros x Hx l Hl. destruct (place l Hl) as [Ht Hj]. assert (M : m <> O) by (intros ->; lia). rewrite (Nat.div_mod l m M), Nat.mul_comm.
    apply (I (fun t j => x (t * m + j)%nat)); [|exact Ht|exact Hj]. intros k Hk. rewrite <- (Hx k Hk), sum_table. apply SoundZ.sum_ext. intros t _. apply SoundZ.sum_ext. intros j Hj'.
    f_equal. f_equal; [rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r by lia; reflexivity|rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small by lia; reflexivity].
  - intros l Hl. destruct (place l Hl). now apply Z.
  - exists s, x. split; [exact Hs|]. intros t j Ht Hj. specialize (E (t * m + j)%nat ltac:(nia)). cbn beta in E.
    rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r in E by lia. rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small in E by lia. exact E.
Qed.

(* The last block reads out: what comes before it, and another such block in its place. *)
Local Notation real_changed := (changed mapped_real joined_real added_real products_real shares_real Blocks.combination active_real).
Local Notation real_tables := (tables mapped_real joined_real added_real products_real shares_real Blocks.combination active_real).
Local Notation real_query := (query_after mapped_real joined_real added_real products_real shares_real Blocks.combination active_real).
Lemma last_block weigh parts parts' seen before tokens query T y : (forall tokens, keys_of mapped_real (Attention OfQuery weigh parts seen false) tokens = keys_of mapped_real (Attention OfQuery weigh parts' seen false) tokens) ->
  real_tables (before ++ [Attention OfQuery weigh parts seen false]) tokens = Got T -> real_query (before ++ [Attention OfQuery weigh parts seen false]) T query = Got y ->
  exists x tokens' keys see, keys_of mapped_real (Attention OfQuery weigh parts seen false) tokens' = Got keys /\
    real_changed (Attention OfQuery weigh parts seen false) x tokens' keys see = Got y /\
    real_tables (before ++ [Attention OfQuery weigh parts' seen false]) tokens = Got T /\
    forall y', real_changed (Attention OfQuery weigh parts' seen false) x tokens' keys see = Got y' -> real_query (before ++ [Attention OfQuery weigh parts' seen false]) T query = Got y'.
Proof.
  intros K. revert tokens query T. induction before as [|b r IH]; intros tokens query T HT HQ.
  - cbn [app tables] in HT. apply bind_got in HT as (keys & HK & HT). cbn [tokens_after of_all bind] in HT. injection HT as <-.
    cbn [app query_after] in HQ. apply bind_got in HQ as (see & Hs & HQ). apply bind_got in HQ as (after & HC & HQ). cbn in HQ. injection HQ as ->.
    exists query, tokens, keys, see. split; [exact HK|]. split; [exact HC|]. split; [cbn [app tables]; rewrite <- K, HK; reflexivity|].
    intros y' HC'. cbn [app query_after]. change (seen_by_query (Attention OfQuery weigh parts' seen false)) with (seen_by_query (Attention OfQuery weigh parts seen false)). rewrite Hs. cbn [bind]. rewrite HC'. reflexivity.
  - cbn [app tables] in HT. apply bind_got in HT as (keys & HK & HT). apply bind_got in HT as (after & HA & HT). apply bind_got in HT as (rest & HR & HT). injection HT as <-.
    cbn [app query_after] in HQ. apply bind_got in HQ as (see & Hs & HQ). apply bind_got in HQ as (q & HC & HQ).
    destruct (IH after q rest HR HQ) as (x & tokens' & keys' & see' & E1 & E2 & E3 & E4). exists x, tokens', keys', see'. split; [exact E1|]. split; [exact E2|].
    split; [cbn [app tables]; rewrite HK; cbn [bind]; rewrite HA; cbn [bind]; rewrite E3; reflexivity|].
    intros y' Hy'. cbn [app query_after]. rewrite Hs. cbn [bind]. rewrite HC. cbn [bind]. now apply E4.
Qed.
Lemma last_got before weigh parts seen tokens query after y : real_state (before ++ [Attention OfQuery weigh parts seen false]) tokens query = Got (after, y) ->
  exists x tokens' see keys each_part, Forall2 (fun p k => each (mapped_real (to_key p)) tokens' = Got k) parts keys /\
    Forall2 (fun q z => attended mapped_real products_real shares_real Blocks.combination weigh x tokens' see q = Got z) (combine parts keys) each_part /\ added_real each_part = Got y.
Proof.
  unfold real_state, state_of. intros H. apply bind_got in H as (T & HT & H). apply bind_got in H as (z & HQ & H). injection H as _ ->.
  destruct (last_block weigh parts parts seen before tokens query T y (fun _ => eq_refl) HT HQ) as (x & tokens' & keys & see & HK & HC & _).
  exists x, tokens', see, keys. unfold changed in HC. apply bind_got in HC as ([z r] & HC & E). apply bind_got in HC as (u & _ & HC). apply bind_got in HC as (l & HL & HC).
  apply bind_got in HC as (w & HA & HC). injection HC as -> <-. cbn in E. injection E as ->. exists l. split; [exact (each_all _ _ _ HK)|]. split; [exact (each_all _ _ _ HL)|exact HA].
Qed.

Lemma each_map {A B C} (f : B -> result C) (g : A -> B) l : each f (map g l) = each (fun x => f (g x)) l.
Proof. unfold each. generalize (@nil C). induction l as [|x l IH]; intros done; cbn; [reflexivity|]. destruct (f (g x)); [apply IH|reflexivity]. Qed.

(* Outputs are linear in the output matrix of the last block. *)
Definition scaled_part (s : R) (p : part (list (list R))) : part (list (list R)) := Part (to_key p) (to_query p) (to_value p) (map (map (Rmult s)) (to_output p)).
Definition scaled (s : R) (b : block (list (list R))) : block (list (list R)) :=
  match b with Attention of weigh parts seen residual => Attention of weigh (map (scaled_part s) parts) seen residual | b => b end.
Lemma as_long_scaled s n l : as_long n (map (map (Rmult s)) l) = as_long n l.
Proof. unfold as_long. induction l as [|x l IH]; [reflexivity|]. cbn [map forallb]. now rewrite map_length, IH. Qed.
Lemma dot_scaled s x y : dot x (map (Rmult s) y) = s * dot x y.
Proof.
  unfold dot, total. revert y. induction x as [|a x IH]; intros [|b y]; cbn; try ring. rewrite IH. ring.
Qed.
Lemma mapped_scaled s m x y : mapped_real m x = Got y -> mapped_real (map (map (Rmult s)) m) x = Got (map (Rmult s) y).
Proof.
  unfold mapped_real. rewrite as_long_scaled. intros H. apply bind_got in H as (u & H & E). rewrite H. cbn [bind]. injection E as <-. f_equal. rewrite !map_map.
  apply map_ext. intros c. apply dot_scaled.
Qed.
Lemma plus_scaled s x y : plus (map (Rmult s) x) (map (Rmult s) y) = map (Rmult s) (plus x y).
Proof. unfold plus. rewrite combine_map, !map_map. apply map_ext. intros [a b]. cbn. ring. Qed.
Lemma added_scaled s l y : added_real l = Got y -> added_real (map (map (Rmult s)) l) = Got (map (Rmult s) y).
Proof.
  destruct l as [|x r]; [discriminate|]. cbn [added_real map]. rewrite map_length, as_long_scaled. intros H. apply bind_got in H as (u & H & E). rewrite H. cbn [bind]. injection E as <-. f_equal.
  clear. induction r as [|z r IH]; [reflexivity|]. cbn [map fold_right]. now rewrite IH, plus_scaled.
Qed.
Lemma state_scaled s before weigh parts seen tokens query after y : real_state (before ++ [Attention OfQuery weigh parts seen false]) tokens query = Got (after, y) ->
  exists after', real_state (before ++ [scaled s (Attention OfQuery weigh parts seen false)]) tokens query = Got (after', map (Rmult s) y).
Proof.
  unfold real_state, state_of. intros H. apply bind_got in H as (T & HT & H). apply bind_got in H as (z & HQ & H). injection H as _ ->. cbn [scaled].
  destruct (last_block weigh parts (map (scaled_part s) parts) seen before tokens query T y) as (x & tokens' & keys & see & HK & HC & HT' & HQ'); [|exact HT|exact HQ|].
  { intros t. cbn [keys_of]. now rewrite each_map. }
  rewrite HT'. cbn [bind]. rewrite (HQ' (map (Rmult s) y)); [cbn [bind]; eexists; reflexivity|].
  unfold changed in *. apply bind_got in HC as ([z r] & HC & E). apply bind_got in HC as (u & HN & HC). apply bind_got in HC as (l & HL & HC).
  apply bind_got in HC as (w & HA & HC). injection HC as -> <-. cbn in E. injection E as ->. rewrite HN. cbn [bind].
  assert (HL' : each (attended mapped_real products_real shares_real Blocks.combination weigh x tokens' see) (combine (map (scaled_part s) parts) keys) = Got (map (map (Rmult s)) l)).
  { rewrite <- (map_id keys) at 1. rewrite combine_map. apply (each_transfer (attended mapped_real products_real shares_real Blocks.combination weigh x tokens' see) _ (fun q => (scaled_part s (fst q), snd q)) (map (Rmult s))); [|exact HL].
    intros [p k] v. cbn [fst snd]. unfold attended, scaled_part. cbn [to_query to_value to_output]. intros G.
    apply bind_got in G as (q & -> & G). cbn [bind]. apply bind_got in G as (lg & -> & G). cbn [bind]. apply bind_got in G as (sh & -> & G). cbn [bind].
    apply bind_got in G as (mn & -> & G). cbn [bind]. apply bind_got in G as (vl & -> & G). cbn [bind]. now apply mapped_scaled. }
  rewrite HL'. cbn [bind]. rewrite (added_scaled s l y HA). reflexivity.
Qed.

(* Integers over a common denominator, and their sums. *)
Lemma mapM_values {A B C} (f : A -> option B) (g : A -> C) (h : B -> C) l l' : (forall x y, f x = Some y -> g x = h y) -> CheckZ.mapM f l = Some l' -> map g l = map h l'.
Proof.
  intros H. revert l'. induction l as [|x l IH]; intros l' E; cbn in E; [now injection E as <-|].
  destruct (f x) as [y|] eqn:F; [|discriminate]. destruct (CheckZ.mapM f l) as [r|]; [|discriminate]. injection E as <-. cbn. now rewrite (H _ _ F), (IH r eq_refl).
Qed.
Definition over (u : Z) : list Z -> list R := map (fun z => IZR z / IZR u).
Lemma cleared_ok u m m' : u <> 0%Z -> cleared u m = Some m' -> map reals m = map (over u) m'.
Proof. intros U. apply mapM_values. intros x y. apply mapM_values. intros a b E. exact (SoundZ.clear_ok u a b U E). Qed.
Lemma over_nth u l a : nth a (over u l) 0 = IZR (nth a l 0%Z) / IZR u.
Proof. revert a. induction l as [|z l IH]; intros [|a]; cbn; try reflexivity; try (unfold Rdiv; ring). apply IH. Qed.
Lemma column_nth a b V : nth b (map (fun column => nth a column 0%Z) V) 0%Z = nth a (nth b V []) 0%Z.
Proof. revert b. induction V as [|v V IH]; intros [|b]; [now destruct a|now destruct a|reflexivity|apply IH]. Qed.
Lemma dot_unbiased (z c : list R) : length c = S (length z) -> last c 0 = 0 -> dot (z ++ [1]) c = sum (length z) (fun a => nth a z 0 * nth a c 0).
Proof.
  unfold dot, total. revert c. induction z as [|x z IH]; intros [|b c] L E; try discriminate.
  - destruct c; [|discriminate]. cbn in *. rewrite E. ring.
  - injection L as L. cbn [app combine map fold_right length sum nth fst snd]. rewrite (IH c L); [reflexivity|]. destruct c; [discriminate|exact E].
Qed.
Lemma dot_integers (x y : list Z) : (length x <= length y)%nat -> IZR (CheckZ.dot x y) = sum (length x) (fun b => IZR (nth b x 0%Z) * IZR (nth b y 0%Z)).
Proof.
  revert y. induction x as [|a x IH]; intros [|b y] L; cbn in L; try lia; try reflexivity. cbn [length sum nth]. rewrite <- (IH y) by lia.
  change (CheckZ.dot (a :: x) (b :: y)) with (a * b + CheckZ.dot x y)%Z. now rewrite plus_IZR, mult_IZR.
Qed.
Lemma no_bias_ok c : no_bias c = true -> last (reals c) 0 = 0.
Proof.
  unfold no_bias, reals. intros H. apply Z.eqb_eq in H. induction c as [|x c IH]; [reflexivity|]. destruct c as [|y c]; [|exact (IH H)].
  cbn in *. unfold real. rewrite H. unfold Rdiv. ring.
Qed.

(* What the heads of the last block add up to: for each number of a token, means times products of value and output. *)
Section Heads.
Variables (weigh : rule) (x : list R) (tokens : list (list R)) (see : option (list bool)) (f : R) (uk uq uv uo : Z) (d m : nat).
Hypotheses (uk0 : uk <> 0%Z) (uq0 : uq <> 0%Z) (uv0 : uv <> 0%Z) (uo0 : uo <> 0%Z).
Definition at_weights (p : part (mat Z)) : part (list (list R)) :=
  Part (map (map (Rmult f)) (map reals (to_key p))) (map reals (to_query p)) (map reals (to_value p)) (map reals (to_output p)).
Definition mean_by (K Q : list (list Z)) : result (list R) :=
  let* query := mapped_real (map (over uq) Q) x in
  let* keys := each (mapped_real (map (map (Rmult f)) (map (over uk) K))) tokens in
  let* logits := products_real query (seen_of see keys) in
  let* weights := shares_real weigh logits in Blocks.combination weights (seen_of see tokens).
Definition mean_at (K Q : list (list Z)) (a : nat) : R := match mean_by K Q with Got z => nth a z 0 | No _ => 0 end.
Definition all_unbiased (p : part (mat Z)) : bool := forallb no_bias (to_key p ++ to_query p ++ to_value p ++ to_output p).
Lemma unbiased_columns u M M' : u <> 0%Z -> cleared u M = Some M' -> forallb no_bias M = true -> forall i, (i < length M')%nat -> last (over u (nth i M' [])) 0 = 0.
Proof.
  intros U H B i Hi. apply (cleared_ok u M M' U) in H. rewrite <- (map_nth (over u)), <- H.
  assert (L : (i < length M)%nat) by (apply (f_equal (@List.length _)) in H; rewrite !map_length in H; lia).
  change (over u []) with (reals []). rewrite map_nth. apply no_bias_ok. rewrite forallb_forall in B. now apply B, nth_In.
Qed.
Lemma head_portion p h keys y : part_over uk uq uv uo d m p = Some h -> all_unbiased p = true ->
  each (mapped_real (to_key (at_weights p))) tokens = Got keys -> attended mapped_real products_real shares_real Blocks.combination weigh x tokens see (at_weights p, keys) = Got y ->
  table d m (SoundZ.C.cR h) /\ length y = m /\ forall j, (j < m)%nat -> nth j y 0 = portion d j mean_at h * / (IZR uv * IZR uo).
Proof.
  unfold part_over. destruct (as_long (S d) (to_value p) && Nat.eqb (length (to_output p)) m) eqn:S; [|discriminate]. apply andb_prop in S as [S1 S2]. apply Nat.eqb_eq in S2.
  destruct (cleared uk (to_key p)) as [K|] eqn:EK; [|discriminate]. destruct (cleared uq (to_query p)) as [Q|] eqn:EQ; [|discriminate].
  destruct (cleared uv (to_value p)) as [V|] eqn:EV; [|discriminate]. destruct (cleared uo (to_output p)) as [U|] eqn:EU; [|discriminate].
  intros [= <-] B HK HA. unfold all_unbiased in B. rewrite !forallb_app, !andb_true_iff in B. destruct B as (_ & _ & BV & BU).
  pose proof (unbiased_columns _ _ _ uv0 EV BV) as LastV. pose proof (unbiased_columns _ _ _ uo0 EU BU) as LastU. clear BV BU.
  apply cleared_ok in EK, EQ, EV, EU; try assumption. unfold attended in HA. cbn [at_weights to_key to_query to_value to_output] in HA, HK. rewrite EK in HK. rewrite EQ, EV, EU in HA.
  apply bind_got in HA as (q & Hq & HA). apply bind_got in HA as (l & Hl & HA). apply bind_got in HA as (w & Hw & HA). apply bind_got in HA as (z & Hz & HA). apply bind_got in HA as (v & Hv & HA).
  assert (M : mean_by K Q = Got z) by (unfold mean_by; rewrite Hq; cbn [bind]; rewrite HK; cbn [bind]; rewrite Hl; cbn [bind]; rewrite Hw; exact Hz).
  apply bind_got in Hv as (u1 & LV & Hv). apply need_got in LV. apply bind_got in HA as (u2 & LU & HA). apply need_got in LU. injection Hv as <-. injection HA as <-.
  assert (NU : length U = m) by (apply (f_equal (@List.length _)) in EU; rewrite !map_length in EU; congruence).
  set (v := map (dot (z ++ [1])) (map (over uv) V)) in *. assert (Nv : length v = length V) by (unfold v; now rewrite !map_length).
  assert (Lz : forall b, (b < length V)%nat -> length (nth b V []) = Datatypes.S (length z) /\ length (nth b V []) = Datatypes.S d).
  { intros b Hb. unfold as_long in LV, S1. rewrite forallb_forall in LV, S1. split.
    - specialize (LV (over uv (nth b V [])) (in_map _ _ _ (nth_In _ _ Hb))). apply Nat.eqb_eq in LV. unfold over in LV. rewrite map_length, app_length in LV. cbn in LV. lia.
    - assert (I : In (over uv (nth b V [])) (map reals (to_value p))) by (rewrite EV; exact (in_map _ _ _ (nth_In _ _ Hb))). apply in_map_iff in I as (c & E & I).
      specialize (S1 c I). apply Nat.eqb_eq in S1. apply (f_equal (@List.length _)) in E. unfold over, reals in E. rewrite !map_length in E. congruence. }
  assert (Lu : forall j, (j < m)%nat -> length (nth j U []) = Datatypes.S (length V)).
  { intros j Hj. unfold as_long in LU. rewrite forallb_forall in LU. assert (Hj' : (j < length U)%nat) by (rewrite NU; exact Hj). specialize (LU (over uo (nth j U [])) (in_map _ _ _ (nth_In _ [] Hj'))). apply Nat.eqb_eq in LU.
    unfold over in LU. rewrite map_length, app_length, Nv in LU. cbn in LU. lia. }
  split; [split; [cbn [cR_]; unfold product_of; now rewrite map_length, seq_length|]; cbn [cR_]; unfold product_of; apply Forall_map, Forall_forall; intros a _; now rewrite map_length|].
  split; [now rewrite !map_length|]. intros j Hj.
  set (P a := sum (length V) (fun b => IZR (nth a (nth b V []) 0%Z) * IZR (nth b (nth j U []) 0%Z))).
  assert (E1 : nth j (map (dot (v ++ [1])) (map (over uo) U)) 0 = sum (length z) (fun a => nth a z 0 * P a) * / (IZR uv * IZR uo)).
  { rewrite (nth_indep _ 0 (dot (v ++ [1]) (over uo []))), !map_nth by (rewrite !map_length; lia).
    rewrite dot_unbiased; [|unfold over; rewrite map_length, Nv; now apply Lu|apply LastU; lia]. rewrite Nv, <- SoundZ.sum_mul.
    transitivity (sum (length V) (fun b => sum (length z) (fun a => nth a z 0 * IZR (nth a (nth b V []) 0%Z) * IZR (nth b (nth j U []) 0%Z) * / (IZR uv * IZR uo)))).
    - apply SoundZ.sum_ext. intros b Hb. rewrite over_nth. unfold v. rewrite (nth_indep _ 0 (dot (z ++ [1]) (over uv []))), !map_nth by (rewrite !map_length; exact Hb).
      rewrite dot_unbiased; [|unfold over; rewrite map_length; now apply Lz|now apply LastV]. rewrite <- SoundZ.sum_mul. apply SoundZ.sum_ext. intros a _. rewrite over_nth.
      unfold Rdiv. rewrite Rinv_mult. ring.
    - rewrite SoundZ.sum_swap. apply SoundZ.sum_ext. intros a _. unfold P. rewrite <- SoundZ.sum_mull, <- SoundZ.sum_mul. apply SoundZ.sum_ext. intros b _. ring. }
  assert (E2 : portion d j mean_at (CheckZ.CHead K Q (product_of d V U)) = sum d (fun a => nth a z 0 * P a)).
  { unfold portion. apply SoundZ.sum_ext. intros a Ha. cbn [cK_ cQ_ cR_]. unfold mean_at. rewrite M. f_equal. unfold product_of.
    unfold SoundZ.ient2. rewrite full_rank_sound.ient_nth.
    rewrite (nth_indep _ [] (map (CheckZ.dot (map (fun column => nth O column 0%Z) V)) U)) by (now rewrite map_length, seq_length).
    rewrite (map_nth (fun a => map (CheckZ.dot (map (fun column => nth a column 0%Z) V)) U) (seq 0 d) O a), seq_nth by exact Ha. cbn [plus].
    rewrite (nth_indep _ 0%Z (CheckZ.dot (map (fun column => nth a column 0%Z) V) [])) by (rewrite map_length; exact (eq_ind_r (lt j) Hj NU)). rewrite map_nth.
    rewrite dot_integers by (rewrite map_length, Lu by exact Hj; lia). rewrite map_length. apply SoundZ.sum_ext. intros b _. now rewrite column_nth. }
  rewrite E1, E2. f_equal. destruct V as [|c V'] eqn:EV'.
  - rewrite !(SoundZ.sum_ext _ (fun a => nth a z 0 * P a) (fun _ => 0)), !SoundZ.sum_0 by (intros; unfold P; cbn; ring). reflexivity.
  - destruct (Lz O) as [A A']; [cbn; lia|]. rewrite A in A'. injection A' as ->. reflexivity.
Qed.
Lemma heads_portions parts hs keys ys : CheckZ.mapM (part_over uk uq uv uo d m) parts = Some hs -> forallb all_unbiased parts = true ->
  Forall2 (fun p k => each (mapped_real (to_key p)) tokens = Got k) (map at_weights parts) keys ->
  Forall2 (fun q z => attended mapped_real products_real shares_real Blocks.combination weigh x tokens see q = Got z) (combine (map at_weights parts) keys) ys ->
  Forall (fun h => table d m (SoundZ.C.cR h)) hs /\ Forall (fun y => length y = m) ys /\
  forall j, (j < m)%nat -> total (map (fun y => nth j y 0) ys) = portions d j mean_at hs * / (IZR uv * IZR uo).
Proof.
  revert hs keys ys. induction parts as [|p parts IH]; intros hs keys ys H B HK HA.
  - injection H as <-. cbn in HA. inversion HA. split; [constructor|]. split; [constructor|]. intros. cbn. ring.
  - cbn in H. destruct (part_over uk uq uv uo d m p) as [h|] eqn:E; [|discriminate]. destruct (CheckZ.mapM _ parts) as [r|] eqn:ER; [|discriminate]. injection H as <-.
    cbn [forallb] in B. apply andb_prop in B as [B1 B]. cbn [map] in HK. inversion HK as [|? k ? keys' Hk HK']; subst. cbn [combine] in HA. inversion HA as [|? y ? ys' Hy HA']; subst.
    destruct (head_portion p h k y E B1 Hk Hy) as (T & L & S). destruct (IH r keys' ys' eq_refl B HK' HA') as (T' & L' & S').
    split; [now constructor|]. split; [now constructor|]. intros j Hj. change (nth j y 0 + total (map (fun y => nth j y 0) ys') = (portion d j mean_at h + portions d j mean_at r) * / (IZR uv * IZR uo)).
    rewrite S, S' by exact Hj. ring.
Qed.
End Heads.
Lemma plus_nth (x y : list R) j : length x = length y -> nth j (plus x y) 0 = nth j x 0 + nth j y 0.
Proof.
  unfold plus. revert y j. induction x as [|a x IH]; intros [|b y] j L; try discriminate; [destruct j; cbn; ring|]. injection L as L. destruct j as [|j]; [reflexivity|]. exact (IH y j L).
Qed.
Lemma plus_long (x y : list R) : length x = length y -> length (plus x y) = length y.
Proof. intros L. unfold plus. rewrite map_length, combine_length, L. apply Nat.min_id. Qed.
Lemma added_nth m x r j : length x = m -> Forall (fun y => length y = m) r -> length (fold_right plus x r) = m /\ nth j (fold_right plus x r) 0 = nth j x 0 + total (map (fun y => nth j y 0) r).
Proof.
  intros L. induction 1 as [|y r Hy H [IH1 IH2]]; [split; [exact L|cbn; ring]|]. cbn [fold_right map]. split.
  - rewrite plus_long; congruence.
  - rewrite plus_nth by congruence. rewrite IH2. change (total (nth j y 0 :: map (fun y => nth j y 0) r)) with (nth j y 0 + total (map (fun y => nth j y 0) r)). ring.
Qed.
Lemma zero_at_file common m blocks weights tokens query after y : zero_outputs common m blocks = true -> Forall2 but_for_keys blocks weights ->
  real_state weights tokens query = Got (after, y) -> forall j, nth j y 0 = 0.
Proof.
  unfold zero_outputs. rewrite andb_true_iff. intros [B H] W S. destruct (rev blocks) as [|b r] eqn:E; [discriminate|].
  assert (EB : blocks = rev r ++ [b]) by (rewrite <- (rev_involutive blocks), E; reflexivity). subst blocks.
  apply Forall2_app_inv_l in W as (before & l & _ & Wl & ->). inversion Wl as [|? b' ? l' [f Hf] Wn]; subst. inversion Wn; subst. clear Wl Wn E.
  destruct b as [[] weigh parts seen [] |]; try discriminate. cbn [cancels] in H. rewrite !andb_true_iff in H. destruct H as [[[[Hk Hq] Hv] Ho] H].
  destruct (CheckZ.mapM _ parts) as [hs|] eqn:EH; [|discriminate]. rewrite forallb_app, andb_true_iff in B. destruct B as [_ B]. cbn [forallb unbiased] in B. rewrite andb_true_r in B.
  change (with_keys f (real_block (Attention OfQuery weigh parts seen false))) with (Attention OfQuery weigh
    (map (fun p => Part (map (map (Rmult f)) (to_key p)) (to_query p) (to_value p) (to_output p)) (map (of_part (map reals)) parts)) seen false) in S.
  rewrite map_map in S. change (map (fun p => Part (map (map (Rmult f)) (to_key (of_part (map reals) p))) (to_query (of_part (map reals) p)) (to_value (of_part (map reals) p)) (to_output (of_part (map reals) p))) parts)
    with (map (at_weights f) parts) in S.
  apply last_got in S as (x & tokens' & see & keys & ys & HK & HA & HS).
  destruct (heads_portions weigh x tokens' see f _ _ _ _ _ m (SoundZ.nonzero_ok _ Hk) (SoundZ.nonzero_ok _ Hq) (SoundZ.nonzero_ok _ Hv) (SoundZ.nonzero_ok _ Ho) parts hs keys ys EH B HK HA) as (T & L & P).
  destruct ys as [|z ys]; [discriminate|]. inversion L as [|? ? Lz L']; subst. apply bind_got in HS as (u & _ & HS). injection HS as <-. intros j.
  destruct (added_nth (length z) z ys j eq_refl L') as [A1 A2]. destruct (Nat.lt_ge_cases j (length z)) as [Hj|Hj]; [|apply nth_overflow; lia].
  rewrite A2. specialize (P j Hj). change (total (map (fun y => nth j y 0) (z :: ys))) with (nth j z 0 + total (map (fun y => nth j y 0) ys)) in P. rewrite P.
  rewrite (cancel_ok _ (length z) j _ hs T H). ring.
Qed.

(* The weights that move: at 0 those of the file, and of the same shape everywhere. *)
Definition moved (a : point) (N : nat) (x : point) (tags : list (block (list (list entry)))) : list (block (list (list R))) :=
  map (of_block (map (map (value_at x O 0)))) (field_blocks a N 0 tags).
Lemma field_start a N l b : map (of_block (map (map (value_at (fun _ => 0) O 0)))) (field_blocks a N l b) = map (at_time 0) (line_blocks true l a O b).
Proof.
  revert l. induction b as [|b r IH]; intros l; cbn [field_blocks line_blocks map]; [reflexivity|]. rewrite IH, at_time_of_block. f_equal.
  assert (M : forall m, map (map (value_at (fun _ => 0) O 0)) (map (map (field_entry a N l)) m) = map (map (fun e => curve_entry true l e a O 0)) m).
  { intros m. rewrite map_map. apply map_ext. intros x. rewrite map_map. apply map_ext. intros e. unfold value_at, field_entry, curve_entry, moving_entry. cbn [fst snd].
    destruct (weight e) as [k|]; [destruct (Nat.ltb k N)|]; ring. }
  destruct b; cbn; f_equal; [|apply M]. rewrite map_map. apply map_ext. intros q. unfold of_part. cbn. now rewrite !M.
Qed.
Lemma field_lengths a N x l key bias m columns : tagged key bias m columns -> lengths (map (map (value_at x O 0)) (map (map (field_entry a N l)) m)) = lengths columns.
Proof. intros (<- & _). unfold lengths. rewrite !map_map. apply map_ext. intros c. now rewrite !map_length. Qed.
Lemma field_no_biases key a N x l m columns : tagged key false m columns -> forallb no_bias columns = true -> no_biases (map (map (value_at x O 0)) (map (map (field_entry a N l)) m)).
Proof.
  intros (<- & _ & W) B. specialize (W eq_refl). unfold no_biases. rewrite map_map. apply Forall_map. rewrite forallb_forall in B.
  apply Forall_forall. intros c I. rewrite Forall_forall in W. specialize (W c I). specialize (B _ (in_map _ _ _ I)). cbn beta. clear I.
  induction c as [|e c IH]; [reflexivity|]. destruct c as [|e' c]; [|exact (IH W B)].
  specialize (W e eq_refl). cbn. unfold value_at, field_entry. rewrite W. unfold no_bias in B. cbn in B. apply Z.eqb_eq in B. unfold real. rewrite B. unfold Rdiv. ring.
Qed.
Lemma field_shape a N x l tags blocks : Forall2 block_tagged tags blocks -> forallb unbiased blocks = true ->
  Forall2 same_shape blocks (map (of_block (map (map (value_at x O 0)))) (field_blocks a N l tags)).
Proof.
  intros H. revert l. induction H as [|b b' r r' Hb H IH]; intros l B; cbn [field_blocks map]; constructor; cbn [forallb] in B; apply andb_prop in B as [B1 B]; [|now apply IH].
  destruct b as [of weigh parts seen residual|of act linear residual], b' as [of' weigh' parts' seen' residual'|of' act' linear' residual']; try easy; destruct Hb as [E Hb]; injection E; intros; subst.
  - cbn [unbiased] in B1. unfold same_shape. cbn. rewrite map_map. clear - Hb B1. induction Hb as [|q q' parts parts' (HK & HQ & HV & HO) Hb IH]; [split; [reflexivity|constructor]|].
    cbn [forallb] in B1. apply andb_prop in B1 as [B B1]. destruct (IH B1) as [IH1 IH2]. rewrite !forallb_app, !andb_true_iff in B. destruct B as (BK & BQ & BV & BO). split.
    + injection IH1 as IH1. cbn [map]. rewrite IH1. unfold of_part. cbn. now rewrite (field_lengths a N x l _ _ _ _ HK), (field_lengths a N x l _ _ _ _ HQ), (field_lengths a N x l _ _ _ _ HV), (field_lengths a N x l _ _ _ _ HO).
    + cbn [map]. constructor; [|exact IH2]. cbn. repeat split; eapply field_no_biases; eassumption.
  - unfold same_shape. cbn. now rewrite (field_lengths a N x l _ _ _ _ Hb).
Qed.
Lemma scaled_shape s b b' : same_shape b b' -> same_shape b (scaled s b').
Proof.
  unfold same_shape. intros [<- H]. destruct b' as [of weigh parts seen residual|]; [|now split]. cbn [scaled of_block]. split.
  - f_equal. rewrite map_map. apply map_ext. intros p. unfold of_part, scaled_part. cbn. f_equal. unfold lengths. rewrite map_map. apply map_ext. intros c. now rewrite map_length.
  - apply Forall_map. eapply Forall_impl; [|exact H]. intros p (HK & HQ & HV & HO). cbn. repeat split; try assumption. unfold no_biases in *. apply Forall_map.
    eapply Forall_impl; [|exact HO]. intros c Hc. cbn beta in *. induction c as [|v c IH]; [reflexivity|]. destruct c as [|v' c]; [|exact (IH Hc)]. cbn in *. rewrite Hc. ring.
Qed.

Theorem check_at_zero_sound common moduli slope blocks c u : zero_outputs common (dimm c) blocks = true -> check_rank moduli slope true blocks c = Got u -> every_labelling_by blocks c.
Proof.
  intros HZ H Y. destruct (jacobian_found _ _ _ _ _ H) as (a & N & C & J & HC & I). set (tags := fst (tag_blocks 0 blocks)) in *.
  assert (HT : Forall2 block_tagged tags blocks) by apply tag_blocks_ok.
  destruct (choose_upto (fun t Z => (exists after, curve_state (field_blocks a N 0 tags) (map (map data_curve) (ctx c t)) (map data_curve (nth t (queries c) [])) = Got (after, Z)) /\
    Forall2 (extends a N) (C t) Z) [] (dimT c)) as [Z HZs].
  { intros t Ht. destruct (HC t Ht) as (_ & (after & E) & _).
    assert (D : forall l, Forall2 (extends a N) (map data_curve l) (map data_curve l)) by (induction l as [|v l IH]; [exact (Forall2_nil _)|]; constructor; [exact (extends_constant a N (real (fun z => z) v))|exact IH]).
    assert (DM : forall M, Forall2 (Forall2 (extends a N)) (map (map data_curve) M) (map (map data_curve) M)) by (induction M as [|v M IH]; [exact (Forall2_nil _)|]; constructor; [apply D|exact IH]).
    destruct (state_extends a N tags _ _ _ _ after (C t) (DM (ctx c t)) (D (nth t (queries c) [])) E) as (after' & Z & E' & X).
    exists Z. split; [now exists after'|exact X]. }
  assert (LZ : forall t, (t < dimT c)%nat -> length (Z t) = dimm c).
  { intros t Ht. destruct (HZs t Ht) as [_ X]. rewrite <- (Forall2_lengths _ _ _ X). apply (HC t Ht). }
  assert (X : forall t j, (t < dimT c)%nat -> (j < dimm c)%nat -> extends a N (nth j (C t) zero_curve) (nth j (Z t) zero_curve)).
  { intros t j Ht Hj. destruct (HZs t Ht) as [_ X]. clear - X. revert j. induction X as [|h F l l' Hh X IH]; intros [|j]; cbn; try apply (extends_constant a N 0); [exact Hh|apply IH]. }
  assert (values : forall x t, (t < dimT c)%nat -> outputs_of (moved a N x tags) c t (map (value_at x O 0) (Z t))).
  { intros x t Ht. destruct (HZs t Ht) as ((after & E) & _). exact (state_values x O 0 _ _ _ _ _ E). }
  destruct (reached (dimT c) (dimm c) N (fun t j x => nth j (Z t) zero_curve x O 0) J Y) as (s & x & Hs & E); [| | |exact I|].
  - intros t j Ht Hj. apply (X t j Ht Hj).
  - intros t j k Ht Hj Hk. destruct (HC t Ht) as (_ & _ & D). destruct (X t j Ht Hj) as [_ L].
    replace (fun s => nth j (Z t) zero_curve (along k s) O 0) with (fun s => nth j (C t) zero_curve a k s) by (extensionality s; symmetry; now apply L). now apply D.
  - intros t j Ht Hj. destruct (values (fun _ => 0) t Ht) as (after & E). unfold moved in E. rewrite field_start in E.
    pose proof (zero_at_file _ _ _ _ _ _ _ _ HZ (start_ok true 0 a O tags blocks HT) E j) as V. etransitivity; [symmetry|exact V].
    rewrite (nth_indep _ 0 (value_at (fun _ => 0) O 0 zero_curve)) by (rewrite map_length, LZ by exact Ht; exact Hj). now rewrite map_nth.
  - pose proof HZ as HB. unfold zero_outputs in HB. apply andb_prop in HB as [HB HL]. destruct (rev blocks) as [|b r] eqn:ER; [discriminate|].
    assert (EB : blocks = rev r ++ [b]) by (rewrite <- (rev_involutive blocks), ER; reflexivity).
    pose proof (field_shape a N x 0 tags blocks HT HB) as S. change (Forall2 same_shape blocks (moved a N x tags)) in S. rewrite EB in S.
    apply Forall2_app_inv_l in S as (before & l & S1 & S2 & EM). inversion S2 as [|? b' ? l' Sb Sn]; subst l. inversion Sn; subst l'. clear S2 Sn.
    destruct b as [[] weigh parts seen [] |]; try discriminate. assert (P : exists parts', b' = Attention OfQuery weigh parts' seen false).
    { destruct Sb as [Sb _]. destruct b' as [of' weigh' parts' seen' residual'|]; [|discriminate]. cbn in Sb. injection Sb as -> -> _ -> ->. now exists parts'. }
    destruct P as [parts' ->]. exists (before ++ [scaled (/ s) (Attention OfQuery weigh parts' seen false)]). split.
    + rewrite EB. apply Forall2_app; [exact S1|]. constructor; [now apply scaled_shape|constructor].
    + intros t Ht. destruct (values x t Ht) as (after & V). rewrite EM in V. destruct (state_scaled (/ s) _ _ _ _ _ _ _ _ V) as (after' & V'). exists after'. rewrite V'. f_equal. f_equal.
      rewrite (map_nth_seq (value_at x O 0) (Z t) zero_curve (dimm c) (LZ t Ht)), map_map. apply map_ext_in. intros j Ij. apply in_seq in Ij. unfold value_at.
      rewrite E by (exact Ht || lia). field. lra.
Qed.
