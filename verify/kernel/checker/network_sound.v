(* An accepted network computes its labels over the real numbers: each exact operation is the real one, so the same
   blocks give the same vectors. *)
From Coq Require Import ZArith Reals List Bool Lia Lra.
Require Import Spec Json Blocks transfer interpolation integers network.
Import ListNotations.

(* What exact vectors and maps are worth. *)
Open Scope R_scope.
Definition over (u : Z) (x : list Z) : list R := map (fun z => IZR z / IZR u) x.
Definition values (v : exact) : list R := over (snd v) (fst v).
Definition map_values (m : exact_map) : list (list R) := map (over (snd m)) (fst m).

Lemma IZR_nz z : (z <> 0)%Z -> IZR z <> 0.
Proof. intros H. now apply not_0_IZR. Qed.
Lemma IZR_above z : (0 <? z)%Z = true -> 0 < IZR z.
Proof. intros H. apply IZR_lt. now apply Z.ltb_lt. Qed.
Ltac units := repeat match goal with H : (0 <? _)%Z = true |- _ => apply IZR_above in H; rewrite ?mult_IZR in H end.

Lemma over_length u x : length (over u x) = length x.
Proof. apply map_length. Qed.
Lemma as_long_over n u l : as_long n (map (over u) l) = as_long n l.
Proof. unfold as_long. induction l as [|x l IH]; cbn; [reflexivity|]. now rewrite over_length, IH. Qed.
Lemma scaled_over k w u x : (k * w = u)%Z -> (u <> 0)%Z -> over w x = over u (map (Z.mul k) x).
Proof.
  intros E H. unfold over. rewrite map_map. apply map_ext. intros z. rewrite <- E, !mult_IZR.
  assert (k <> 0 /\ w <> 0)%Z as [Hk Hw] by lia. apply IZR_nz in Hk, Hw. field. now split.
Qed.

Section Exact.
Variables (common : list (mat Z) -> Z) (gcd : Z -> Z -> Z).

Lemma quotients_ok g x y : (0 < g)%Z -> CheckZ.mapM (quotient g) x = Some y -> x = map (Z.mul g) y.
Proof.
  intros Hg. revert y. induction x as [|a x IH]; cbn; intros y H; [now injection H as <-|].
  unfold quotient in H at 1. destruct (Z.eqb_spec (a / g * g) a) as [E|]; [|discriminate].
  destruct (CheckZ.mapM (quotient g) x) as [x'|]; [|discriminate]. injection H as <-. cbn. rewrite <- (IH x' eq_refl). f_equal. lia.
Qed.
Lemma lowest_ok v w : lowest gcd v = Got w -> (0 < snd v)%Z /\ values w = values v.
Proof.
  destruct v as [x u]. unfold lowest. set (g := fold_left gcd x u). clearbody g. cbv zeta.
  destruct (CheckZ.mapM (quotient g) (u :: x)) as [[|k y]|] eqn:E; intros H; steps; apply Z.ltb_lt in H0;
    destruct (Z.ltb_spec 1 g) as [Hg|]; injection H as <-; try now split.
  split; [assumption|]. apply quotients_ok in E; [|lia]. cbn [map] in E. injection E as Eu Ex. unfold values. cbn [fst snd]. subst x.
  apply scaled_over; [now rewrite Eu|lia].
Qed.

Lemma on_one_unit_ok l rows u : on_one_unit common l = Got (rows, u) -> 0 < IZR u /\ map values l = map (over u) rows.
Proof.
  unfold on_one_unit. set (w := common _). clearbody w. intros H. apply bind_got in H as (t & Hw & H). apply need_got in Hw.
  apply bind_got in H as (r & HR & H). injection H as <- <-. split; [now apply IZR_above|]. apply Z.ltb_lt in Hw.
  revert HR. apply each_values. intros v y. unfold scaled. intros F. steps. apply Z.eqb_eq in H. subst y. unfold values.
  apply scaled_over; [exact H|lia].
Qed.

Lemma entry_ok u x z : (0 < u)%Z -> clear_entry u x = Got z -> real (fun z => z) x = IZR z / IZR u.
Proof.
  unfold clear_entry, real. intros Hu H. steps. apply Z.eqb_eq in H0. subst z. rewrite <- H0 at 2. rewrite !mult_IZR.
  assert (u / denom x <> 0 /\ denom x <> 0)%Z as [Hk Hd] by nia. apply IZR_nz in Hk, Hd. field. now split.
Qed.
Lemma vector_ok v x : clear_vector common v = Got x -> reals v = values x.
Proof.
  unfold clear_vector. set (u := common _). clearbody u. intros H. steps. subst x. apply Z.ltb_lt in H0.
  revert H1. apply each_values. intros a z. now apply entry_ok.
Qed.
Lemma lowest_vector_ok v x : clear_lowest common gcd v = Got x -> reals v = values x.
Proof. unfold clear_lowest. intros H. apply bind_got in H as (y & H & L). rewrite (vector_ok _ _ H). symmetry. apply (lowest_ok _ _ L). Qed.
Lemma map_ok M m : clear_map common M = Got m -> map reals M = map_values m.
Proof.
  unfold clear_map. set (u := common _). clearbody u. intros H. steps. subst m. apply Z.ltb_lt in H0.
  revert H1. apply each_values. intros v z. apply each_values. intros a b. now apply entry_ok.
Qed.
Lemma part_ok p q : clear_part common p = Got q -> of_part (map reals) p = of_part map_values q.
Proof.
  unfold clear_part, of_part. intros H. steps. subst q. cbn [to_key to_query to_value to_output].
  f_equal; now apply map_ok.
Qed.
Lemma block_ok b c : clear_block common b = Got c -> real_block b = of_block map_values c.
Proof.
  destruct b as [of weigh parts s r|of act linear r]; cbn; intros H; steps; subst c; unfold real_block; cbn.
  - f_equal. revert H0. apply each_values. exact part_ok.
  - f_equal. now apply map_ok.
Qed.

(* Sums, scalar products. *)
Lemma add_up_ok u x y : over u (add_up x y) = plus (over u x) (over u y).
Proof.
  unfold over, add_up, plus. rewrite combine_map, !map_map. apply map_ext. intros [a b]. cbn. rewrite plus_IZR. unfold Rdiv. ring.
Qed.
Lemma total_ok x : IZR (CheckZ.total x) = total (map IZR x).
Proof. induction x as [|a x IH]; cbn; [reflexivity|]. unfold ZNum.add. now rewrite plus_IZR, IH. Qed.
Lemma dot_ok u w x y : IZR u <> 0 -> IZR w <> 0 -> dot (over u x) (over w y) = IZR (CheckZ.dot x y) / IZR (u * w).
Proof.
  intros Hu Hw. rewrite mult_IZR. revert y. induction x as [|a x IH]; intros [|b y]; try (cbn; unfold ZNum.zero, Rdiv; ring).
  change (dot (over u (a :: x)) (over w (b :: y))) with (IZR a / IZR u * (IZR b / IZR w) + dot (over u x) (over w y)).
  change (CheckZ.dot (a :: x) (b :: y)) with (a * b + CheckZ.dot x y)%Z. rewrite (IH y), plus_IZR, mult_IZR. field. now split.
Qed.
Lemma dots_ok u w x l : IZR u <> 0 -> IZR w <> 0 ->
  map (dot (over u x)) (map (over w) l) = over (u * w) (map (CheckZ.dot x) l).
Proof. intros Hu Hw. unfold over at 3. rewrite !map_map. apply map_ext. intros y. now apply dot_ok. Qed.

Lemma mapped_ok m x y : mapped_exact gcd m x = Got y -> mapped_real (map_values m) (values x) = Got (values y).
Proof.
  destruct m as [columns w], x as [x u]. unfold mapped_exact, mapped_real, map_values, values. cbn [fst snd]. intros H. steps.
  apply lowest_ok in H as [Hw H]. unfold values in H. cbn [fst snd] in H, Hw. apply Z.ltb_lt in H0. assert (Hu : IZR u <> 0) by (apply IZR_nz; lia). assert (Hw' : IZR w <> 0) by (apply IZR_nz; nia).
  assert (E : over u x ++ [1] = over u (x ++ [u])).
  { unfold over. rewrite map_app. cbn. do 2 f_equal. field. exact Hu. }
  rewrite E, over_length, as_long_over, H1. cbn [need bind]. f_equal. rewrite H. now apply dots_ok.
Qed.
Lemma joined_ok l y : joined_exact common l = Got y -> joined_real (map values l) = Got (values y).
Proof.
  unfold joined_exact, joined_real. intros H. apply bind_got in H as ([rows u] & H & E). injection E as <-.
  apply on_one_unit_ok in H as [_ ->]. f_equal. unfold values, over. cbn. now rewrite concat_map.
Qed.
Lemma added_ok l y : added_exact common gcd l = Got y -> added_real (map values l) = Got (values y).
Proof.
  unfold added_exact, added_real. intros H. apply bind_got in H as ([rows u] & H & E).
  apply on_one_unit_ok in H as [_ ->]. destruct rows as [|x r]; [discriminate|]. cbn [map].
  apply bind_got in E as (t & L & E). rewrite over_length, as_long_over. apply need_got in L. rewrite L. cbn [need bind]. f_equal.
  apply lowest_ok in E as [_ E]. rewrite E. unfold values. cbn [fst snd]. clear. induction r as [|z r IH]; cbn [fold_right map]; [reflexivity|].
  now rewrite add_up_ok, IH.
Qed.
Lemma products_ok x l y : products_exact common x l = Got y -> products_real (values x) (map values l) = Got (values y).
Proof.
  destruct x as [x u]. unfold products_exact, products_real. intros H. apply bind_got in H as ([rows w] & H & E).
  apply on_one_unit_ok in H as [Hw ->]. steps. units. subst y. unfold values. cbn [fst snd].
  rewrite over_length, as_long_over, H0. cbn [need bind]. f_equal. apply dots_ok; lra.
Qed.

Lemma active_ok a x y : active_exact a x = Got y -> active_real a (values x) = Got (values y).
Proof.
  destruct x as [x u]. unfold active_exact, active_real. intros H. steps. units. subst y. f_equal.
  destruct a; [reflexivity| |]; unfold values, over; cbn [fst snd]; rewrite !map_map; apply map_ext; intros z.
  - assert (I : 0 < / IZR u) by now apply Rinv_0_lt_compat. unfold Rdiv. destruct (Z.max_spec 0 z) as [[L ->]|[L ->]].
    + apply IZR_lt in L. rewrite Rmax_right; [reflexivity|]. nra.
    + apply IZR_le in L. rewrite Rmax_left; [ring|]. nra.
  - assert (I : 0 < / IZR u) by now apply Rinv_0_lt_compat. unfold Rdiv. destruct (Z.leb_spec 0 z) as [L|L].
    + apply IZR_le in L. destruct (Rle_dec _ _) as [|N]; [field|]. exfalso. apply N. nra.
    + apply IZR_lt in L. destruct (Rle_dec _ _) as [N|]; [exfalso; nra|field].
Qed.

Lemma combined_ok u w weights rows y : IZR u <> 0 -> IZR w <> 0 -> combined weights rows = Got y ->
  combination (over u weights) (map (over w) rows) = Got (over (u * w) y).
Proof.
  intros Hu Hw.
  assert (S : forall a x, map (Rmult (IZR a / IZR u)) (over w x) = over (u * w) (map (Z.mul a) x)).
  { intros a x. unfold over. rewrite !map_map. apply map_ext. intros z. rewrite !mult_IZR. field. now split. }
  revert rows y. induction weights as [|a weights IH]; intros [|x rows] y H; try discriminate; [now destruct weights|].
  destruct weights as [|b weights], rows as [|x' rows]; try discriminate; [|now destruct weights|].
  - cbn in H. injection H as <-. cbn [over map combination]. now rewrite <- S.
  - change (bind (combined (b :: weights) (x' :: rows)) (fun y => let* _ := need Unusable (Nat.eqb (length x) (length y)) in
      Got (add_up (map (Z.mul a) x) y)) = Got y) in H.
    apply bind_got in H as (z & H & E). apply IH in H. steps. subst y.
    change (bind (combination (over u (b :: weights)) (map (over w) (x' :: rows))) (fun y =>
      let* _ := need Unusable (Nat.eqb (length (over w x)) (length y)) in Got (plus (map (Rmult (IZR a / IZR u)) (over w x)) y))
      = Got (over (u * w) (add_up (map (Z.mul a) x) z))).
    rewrite H. cbn [bind]. rewrite !over_length, H0. cbn [need bind]. now rewrite add_up_ok, <- S.
Qed.
Lemma mean_ok x l y : mean_exact common gcd x l = Got y -> combination (values x) (map values l) = Got (values y).
Proof.
  destruct x as [x u]. unfold mean_exact. intros H. apply bind_got in H as ([rows w] & H & E).
  apply on_one_unit_ok in H as [Hw ->]. steps. units. apply lowest_ok in E as [_ E]. rewrite E. unfold values. cbn [fst snd]. apply combined_ok; lra || assumption.
Qed.

(* Shares: weights that are f of the logits up to one factor, over their total. *)
Lemma total_scaled (f : R -> R) c l : total (map (fun x => f x * c) l) = total (map f l) * c.
Proof. unfold total in *. induction l as [|x l IH]; cbn [map fold_right]; [ring|]. rewrite IH. ring. Qed.
Lemma over_total_ok x y f c l : over_total x = Got y -> c <> 0 -> map IZR x = map (fun a => f a * c) l -> normalized f l = values y.
Proof.
  unfold over_total. intros H Hc E. steps. units. subst y. unfold values, over. cbn [fst snd].
  rewrite total_ok, E, total_scaled in H0. rewrite total_ok, E, total_scaled.
  rewrite <- (map_map IZR (fun r => r / _)), E, map_map. unfold normalized. apply map_ext. intros a. field.
  split; [exact Hc|]. intros Z0. rewrite Z0 in H0. lra.
Qed.
Lemma power_ok in_ln_2 low u l p : 0 < IZR u -> power in_ln_2 low u l = Got p ->
  IZR p = exp ((if in_ln_2 then ln 2 else 1) * (IZR l / IZR u)) * exp (- ((if in_ln_2 then ln 2 else 1) * (IZR low / IZR u))).
Proof.
  unfold power. intros Hu H. steps. apply Z.eqb_eq in H0. apply Z.leb_le in H3. subst p.
  set (k := ((l - low) / u)%Z) in *. clearbody k. rewrite <- exp_plus.
  rewrite (ZNum.pow2_ok k H3 : Z.shiftl 1 k = (2 ^ k)%Z), SoundZ.pow2_exp by exact H3.
  f_equal. assert (E : IZR l = IZR k * IZR u + IZR low) by (rewrite <- mult_IZR, H0, minus_IZR; ring). rewrite E.
  destruct in_ln_2; [field; lra|]. cbn in H2. apply Z.eqb_eq in H2. subst k. field. lra.
Qed.
Lemma largest_ok u l : 0 < IZR u -> largest (over u l) = IZR (extreme Z.max l) / IZR u.
Proof.
  intros Hu. destruct l as [|x l]; cbn; [unfold Rdiv; ring|]. induction l as [|y l IH]; cbn; [reflexivity|].
  fold (over u l) in *. rewrite IH. unfold Rdiv. assert (I : 0 < / IZR u) by now apply Rinv_0_lt_compat.
  destruct (Z.max_spec y (fold_right Z.max x l)) as [[L ->]|[L ->]].
  - apply IZR_lt in L. rewrite Rmax_right; [reflexivity|]. nra.
  - apply IZR_le in L. rewrite Rmax_left; [reflexivity|]. nra.
Qed.
Lemma shares_ok r x y : shares_exact r x = Got y -> shares_real r (values x) = Got (values y).
Proof.
  destruct x as [x u]. unfold shares_exact, shares_real. intros H. steps. units. f_equal. destruct r as [in_ln_2| |].
  - steps. set (low := extreme Z.min x) in *. clearbody low.
    eapply (over_total_ok _ _ _ (exp (- ((if in_ln_2 then ln 2 else 1) * (IZR low / IZR u))))); [exact H|apply not_eq_sym, Rlt_not_eq, exp_pos|].
    unfold values, over. cbn [fst snd]. rewrite map_map. symmetry. revert H1. apply each_values. intros a p F.
    symmetry. exact (power_ok _ _ _ _ _ H0 F).
  - eapply (over_total_ok _ _ _ 1); [exact H|lra|]. unfold values. rewrite largest_ok by exact H0. unfold over. cbn [fst snd].
    rewrite !map_map. apply map_ext. intros z. set (top := extreme Z.max x). clearbody top. destruct (Z.eqb_spec z top) as [<-|N].
    + destruct (Req_EM_T _ _); [ring|contradiction].
    + destruct (Req_EM_T _ _) as [E|]; [|ring]. exfalso. apply N. apply eq_IZR.
      apply Rmult_eq_reg_r with (/ IZR u); [exact E|]. apply Rinv_neq_0_compat. lra.
  - injection H as <-. reflexivity.
Qed.

Definition worth (v : exact) (x : list R) : Prop := values v = x.
Lemma worth_all l xs : Forall2 worth l xs -> map values l = xs.
Proof. induction 1; cbn; [reflexivity|]. now f_equal. Qed.
Lemma all_worth l : Forall2 worth l (map values l).
Proof. induction l; constructor; [reflexivity|assumption]. Qed.
Lemma agree_if {M M'} (f : M -> exact -> result exact) (f' : M' -> list R -> result (list R)) m m' :
  (forall x y, f m x = Got y -> f' m' (values x) = Got (values y)) -> agree worth (f m) (f' m').
Proof. intros H x x' <- y E. exists (values y). split; [now apply H|reflexivity]. Qed.
Lemma block_agrees b : blocks_agree worth (mapped_exact gcd) mapped_real b (of_block map_values b).
Proof.
  assert (A : forall m, agree worth (mapped_exact gcd m) (mapped_real (map_values m))) by (intros m; apply agree_if, mapped_ok).
  destruct b as [of weigh parts s r|of act linear r]; cbn; (split; [reflexivity|]); [|apply A].
  induction parts as [|p parts IH]; cbn; constructor; [|exact IH]. repeat split; try apply A.
  intros z z' Rz. eapply gives_bind; [now apply A|]. apply A.
Qed.
Lemma blocks_ok blocks exact_blocks : each (clear_block common) blocks = Got exact_blocks ->
  Forall2 (blocks_agree worth (mapped_exact gcd) mapped_real) exact_blocks (map real_block blocks).
Proof.
  intros H. rewrite (each_values _ real_block (of_block map_values) _ _ block_ok H). clear H.
  induction exact_blocks; constructor; [apply block_agrees|assumption].
Qed.

Lemma state_ok blocks exact_blocks c t before y : each (clear_block common) blocks = Got exact_blocks ->
  before_of common gcd exact_blocks (ctx c t) = Got before -> query_of common gcd exact_blocks c before t = Got y ->
  state blocks c t = Got (map values (fst (last before ([], []))), values y).
Proof.
  unfold before_of, query_of. intros HB Hb Hq. apply bind_got in Hb as (tokens & Ht & Hb). apply bind_got in Hq as (query & Hq & Hy).
  apply blocks_ok in HB. unfold state, real_state, state_of. rewrite (lowest_vector_ok _ _ Hq), (each_values _ reals values _ _ lowest_vector_ok Ht).
  assert (H1 : forall l l', Forall2 worth l l' -> gives worth (joined_exact common l) (joined_real l'))
    by (intros l l' <-%worth_all y' E; exists (values y'); split; [exact (joined_ok _ _ E)|reflexivity]).
  assert (H2 : forall l l', Forall2 worth l l' -> gives worth (added_exact common gcd l) (added_real l'))
    by (intros l l' <-%worth_all y' E; exists (values y'); split; [exact (added_ok _ _ E)|reflexivity]).
  assert (H3 : forall x x' l l', worth x x' -> Forall2 worth l l' -> gives worth (products_exact common x l) (products_real x' l'))
    by (intros x x' l l' <- <-%worth_all y' E; exists (values y'); split; [exact (products_ok _ _ _ E)|reflexivity]).
  assert (H4 : forall r x x', worth x x' -> gives worth (shares_exact r x) (shares_real r x'))
    by (intros r x x' <- y' E; exists (values y'); split; [exact (shares_ok _ _ _ E)|reflexivity]).
  assert (H5 : forall x x' l l', worth x x' -> Forall2 worth l l' -> gives worth (mean_exact common gcd x l) (combination x' l'))
    by (intros x x' l l' <- <-%worth_all y' E; exists (values y'); split; [exact (mean_ok _ _ _ E)|reflexivity]).
  assert (H6 : forall a x x', worth x x' -> gives worth (active_exact a x) (active_real a x'))
    by (intros a x x' <- y' E; exists (values y'); split; [exact (active_ok _ _ _ E)|reflexivity]).
  destruct (tables_agree worth _ _ _ _ _ _ _ _ _ _ _ _ _ _ H1 H2 H3 H4 H5 H6 _ _ _ _ HB (all_worth tokens) before Hb) as (before' & Eb & Ib).
  destruct (query_agree worth _ _ _ _ _ _ _ _ _ _ _ _ _ _ H1 H2 H3 H4 H5 H6 _ _ _ _ query _ HB Ib eq_refl y Hy) as (y' & Ey & <-).
  rewrite Eb. cbn [bind]. rewrite Ey. cbn [bind]. do 2 f_equal. symmetry. apply worth_all.
  assert (D : image worth ([], []) ([], [])) by (split; constructor). exact (proj1 (Forall2_last _ _ _ _ _ Ib D)).
Qed.

Lemma each_nth {A B} (f : A -> result B) l ys i x d : each f l = Got ys -> nth_error l i = Some x -> f x = Got (nth i ys d).
Proof.
  intros H. apply (each_values f f Got) in H; [|auto]. intros E. apply (map_nth_error f) in E. rewrite H in E.
  destruct (nth_error ys i) as [y|] eqn:N.
  - rewrite (map_nth_error Got _ _ N) in E. rewrite (nth_error_nth _ _ _ N). congruence.
  - apply nth_error_None in N. rewrite <- (map_length (@Got B)) in N. apply nth_error_None in N. congruence.
Qed.
Lemma nth_error_seq n t : (t < n)%nat -> nth_error (seq 0 n) t = Some t.
Proof. intros H. rewrite (nth_error_nth' _ O) by now rewrite seq_length. now rewrite seq_nth. Qed.
Lemma example_ok {A B} (before_of : mat Z -> result B) c f (all : list A) t d : each_example before_of c f = Got all -> (t < dimT c)%nat ->
  exists before, before_of (ctx c t) = Got before /\ f before t = Got (nth t all d).
Proof.
  unfold each_example, ctx. intros H Ht. apply nth_error_seq in Ht. destruct (contexts c) as [|E [|E' r]].
  2:{ apply bind_got in H as (before & Hb & H). exists before. split; [exact Hb|]. exact (each_nth _ _ _ _ _ _ H Ht). }
  all: apply (each_nth _ _ _ _ _ d H) in Ht; apply bind_got in Ht as (before & Hb & Ht); now exists before.
Qed.

Lemma fractions_ok v : reals (fractions v) = values v.
Proof. unfold reals, fractions, values, over. now rewrite map_map. Qed.
Theorem derived_sound d blocks c c' : derived common gcd d blocks c = Got c' -> behind blocks c c'.
Proof.
  unfold derived. destruct blocks as [|b r]; [now intros [= <-]|]. set (blocks := b :: r). intros H.
  apply bind_got in H as (e & _ & H). apply bind_got in H as (exact_blocks & HB & H). apply bind_got in H as (all & H & E). injection E as <-.
  split; [reflexivity|]. intros t Ht. assert (none : list exact * exact) by exact ([], ([], 1%Z)).
  assert (L : forall t, (t < dimT c)%nat -> exists before, before_of common gcd exact_blocks (ctx c t) = Got before /\
    query_of common gcd exact_blocks c before t = Got (snd (nth t all none)) /\ fst (nth t all none) = fst (last before ([], []))).
  { intros s Hs. destruct (example_ok _ _ _ _ _ none H Hs) as (before & Hb & Hy). apply bind_got in Hy as (y & Hy & E).
    injection E as E. exists before. rewrite <- E. now repeat split. }
  assert (HL : length all = dimT c).
  { unfold each_example in H. rewrite <- (seq_length (dimT c) 0). destruct (contexts c) as [|? [|]];
      [|apply bind_got in H as (before & Hb & H)|]; (apply (each_values _ (fun _ => tt) (fun _ => tt)) in H; [|reflexivity]);
      apply (f_equal (@length unit)) in H; now rewrite !map_length in H. }
  assert (C : forall tables, (forall i, (i < length tables)%nat -> nth i (map (fun s => map fractions (fst s)) tables) [] = map fractions (fst (nth i tables none))))
    by (intros tables i Hi; rewrite (nth_indep _ [] (map fractions (fst none))) by (now rewrite map_length);
        apply (map_nth (fun s => map fractions (fst s)))).
  cbn [queries]. rewrite (nth_indep _ [] (fractions (snd none))) by (rewrite map_length; lia).
  rewrite (map_nth (fun s => fractions (snd s))), fractions_ok. destruct (L t Ht) as (before & Hb & Hq & Hl).
  rewrite (state_ok _ _ _ _ _ _ HB Hb Hq). do 2 f_equal.
  assert (F : forall s, map reals (map fractions s) = map values s) by (intros s; rewrite map_map; apply map_ext, fractions_ok).
  destruct (contexts c) as [|E [|E' rest]] eqn:HE.
  2:{ destruct all as [|a all]; [cbn in HL; lia|]. unfold ctx at 1. cbn. rewrite F. f_equal.
      destruct (L O ltac:(lia)) as (before' & Hb' & _ & Hl'). cbn in Hl'. rewrite Hl'. unfold ctx in Hb, Hb'. rewrite HE in Hb, Hb'. congruence. }
  all: unfold ctx at 1; cbn [contexts]; rewrite <- Hl, <- F, <- C by lia; f_equal.
  all: destruct all as [|a [|a' all]]; cbn [map]; cbn in HL; try lia; try reflexivity; now replace t with O by lia.
Qed.
End Exact.
