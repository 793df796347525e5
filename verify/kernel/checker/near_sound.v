(* Accepted weights have exact ones near them, over the real numbers. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Arith.
Require Import Spec Json Blocks Certificate shapes transfer balls balls_sound network network_sound enclosed enclosed_sound.
Require Import integers fixed_point newton weights_near layer_slopes indexed layer_balls box_slopes.
Import ListNotations.
Local Notation length := List.length.
Local Notation id := (fun z : Z => z).
Open Scope R_scope.

(* Lists of integers, by index. *)
Lemma like_self {A} (l : list A) n d : length l = n -> like eq n l (fun i => nth i l d).
Proof. intros H. now apply (nth_like eq n l _ d). Qed.
Lemma worth_self l n : length l = n -> like worth n l (fun i => IZR (nth i l 0%Z)).
Proof. intros H. now apply (nth_like worth n l _ 0%Z). Qed.
Lemma like_numbers {A B} (R : A -> B -> Prop) n l f : like R n l f ->
  like (fun p q => fst p = fst q /\ R (snd p) (snd q)) n (numbered l) (fun i => (i, f i)).
Proof. intros H. unfold numbered. rewrite (like_length _ _ _ _ H). now apply like_numbered. Qed.
Lemma worth_abs n l f : like worth n l f -> like worth n (map Z.abs l) (fun i => Rabs (f i)).
Proof. intros H. eapply like_map; [exact H|]. intros z i _ Hz. unfold worth in *. now rewrite IZR_abs, Hz. Qed.

Lemma one_ok unit_a : IZR (Z.shiftl unit_a guard_derivatives) = IZR unit_a * IZR (2 ^ guard_derivatives).
Proof. apply left_ok. unfold guard_derivatives. lia. Qed.

(* One row of Newton's map. *)
Section Row.
Variables (P : Z) (N : nat) (radius : frac Z) (unit_a : Z) (f : list ball) (rows : list (list ball)) (row : list Z) (i : nat).
Variables (f0 : nat -> R) (c : nat -> nat -> R).
Hypotheses (HP : (guard_derivatives <= P)%Z) (Ha : (0 < unit_a)%Z) (Hp : (0 < numer radius)%Z) (Hq : (0 < denom radius)%Z).
Hypotheses (Hf : like (encloses P) N f f0) (Hrow : length row = N) (Hi : (i < N)%nat).
Local Notation drop := (P - guard_derivatives)%Z.
Local Notation one := (Z.shiftl unit_a guard_derivatives).
Local Notation fine := (IZR (2 ^ guard_derivatives)).
Definition centre (l k : nat) : R := IZR (coarse drop (nth k (nth l rows []) none)).
Definition wide (l k : nat) : R := IZR (width_of drop (nth k (nth l rows []) none)).
Definition coefficient (l : nat) : R := IZR (nth l row 0%Z).

Lemma coarse_ok b v : encloses P b v -> Rabs (fine * v - IZR (coarse drop b)) <= IZR (width_of drop b).
Proof.
  intros H. apply encloses_iff in H. unfold coarse, width_of. assert (D : (0 <= drop)%Z) by lia.
  assert (E : IZR (2 ^ P) = fine * IZR (2 ^ drop)) by (rewrite <- mult_IZR, <- Z.pow_add_r by (unfold guard_derivatives in *; lia); do 2 f_equal; lia).
  rewrite E in H. pose proof (shifted_ok (fst b) _ D) as F. pose proof (shifted_ok (snd b) _ D) as G. rewrite plus_IZR.
  assert (S0 : 0 < IZR (2 ^ drop)) by (apply IZR_lt; now apply power_above). assert (I : 0 < / IZR (2 ^ drop)) by now apply Rinv_0_lt_compat.
  unfold Rdiv in *. assert (V : fine * v = fine * IZR (2 ^ drop) * v * / IZR (2 ^ drop)) by (field; lra).
  assert ((IZR (fst b) - IZR (snd b)) * / IZR (2 ^ drop) <= fine * v <= (IZR (fst b) + IZR (snd b)) * / IZR (2 ^ drop)) by (rewrite V; split; apply Rmult_le_compat_r; lra).
  apply Rabs_le. lra.
Qed.
Lemma fine_above : 0 < fine.
Proof. apply IZR_lt. reflexivity. Qed.
Lemma unit_above : 0 < IZR unit_a.
Proof. now apply IZR_lt. Qed.

Hypothesis Hc : like (like (encloses P) N) N rows c.
Lemma coarse_rows : like (like worth N) N (map (map (coarse drop)) rows) centre.
Proof.
  eapply like_map; [exact (like_self rows N [] (like_length _ _ _ _ Hc))|]. intros x l Hl ->. cbn.
  assert (L : length (nth l rows []) = N) by exact (like_length _ _ _ _ (like_nth _ _ _ _ l [] Hc Hl)).
  eapply like_map; [exact (like_self _ N none L)|]. intros b k _ ->. reflexivity.
Qed.
Lemma row_widths : like worth N (map (fun row => sum_of (map (width_of drop) row)) rows) (fun l => sum N (wide l)).
Proof.
  eapply like_map; [exact (like_self rows N [] (like_length _ _ _ _ Hc))|]. intros x l Hl ->. cbn.
  assert (L : length (nth l rows []) = N) by exact (like_length _ _ _ _ (like_nth _ _ _ _ l [] Hc Hl)).
  unfold worth. apply worth_sum. eapply like_map; [exact (like_self _ N none L)|]. intros b k _ ->. reflexivity.
Qed.
Lemma slopes_within l k : (l < N)%nat -> (k < N)%nat -> Rabs (fine * c l k - centre l k) <= wide l k.
Proof. intros Hl Hk. apply coarse_ok. exact (like_nth _ _ _ _ k none (like_nth _ _ _ _ l [] Hc Hl) Hk). Qed.

Local Notation kappa := (contraction one (columns (map (map (coarse drop)) rows)) (map (fun row => sum_of (map (width_of drop) row)) rows) i row).
Lemma kappa_is : (0 < N)%nat -> IZR kappa = sum N (fun l => Rabs (coefficient l) * sum N (wide l)) +
  sum N (fun k => Rabs ((if Nat.eqb i k then IZR one else 0) - sum N (fun l => coefficient l * centre l k))).
Proof.
  intros HN. unfold contraction. rewrite plus_IZR. f_equal.
  - exact (worth_dot N _ _ _ _ (worth_abs _ _ _ (worth_self row N Hrow)) row_widths).
  - apply worth_sum. eapply like_map; [eapply like_numbers; eapply like_columns; [exact HN|exact coarse_rows]|].
    intros [k' column] k _ [E Hk]. cbn [fst snd] in *. subst k'. unfold worth. rewrite IZR_abs, minus_IZR. f_equal. f_equal.
    + now destruct (Nat.eqb i k).
    + exact (worth_dot N _ _ _ _ (worth_self row N Hrow) Hk).
Qed.
Lemma off_small : off N (fun _ l => coefficient l / IZR unit_a) c i <= IZR kappa / IZR one.
Proof.
  pose proof unit_above as U. pose proof fine_above as F. rewrite kappa_is by lia. rewrite one_ok. apply le_div; [now apply Rmult_lt_0_compat|].
  unfold off. rewrite <- SoundZ.sum_mul.
  assert (S : sum N (fun l => Rabs (coefficient l) * sum N (wide l)) = sum N (fun k => sum N (fun l => Rabs (coefficient l) * wide l k))).
  { rewrite SoundZ.sum_swap. apply SoundZ.sum_ext. intros l _. now rewrite SoundZ.sum_mull. }
  rewrite S, <- SoundZ.sum_add. apply sum_le. intros k Hk.
  rewrite <- (Rabs_pos_eq (IZR unit_a * fine)) at 1 by nra. rewrite <- Rabs_mult.
  replace ((unit_entry i k - sum N (fun l => coefficient l / IZR unit_a * c l k)) * (IZR unit_a * fine)) with
    (sum N (fun l => coefficient l * (centre l k - fine * c l k)) + ((if Nat.eqb i k then IZR unit_a * fine else 0) - sum N (fun l => coefficient l * centre l k))).
  2:{ rewrite (SoundZ.sum_ext N (fun l => coefficient l * (centre l k - fine * c l k)) (fun l => coefficient l * centre l k - coefficient l / IZR unit_a * c l k * (IZR unit_a * fine))) by (intros; field; lra).
      rewrite sum_sub, SoundZ.sum_mul. unfold unit_entry. destruct (Nat.eqb i k); ring. }
  apply Rle_trans with (1 := Rabs_triang _ _). apply Rplus_le_compat_r. apply Rle_trans with (1 := sum_abs _ _). apply sum_le. intros l Hl.
  rewrite Rabs_mult, Rabs_minus_sym. apply Rmult_le_compat_l; [apply Rabs_pos|]. now apply slopes_within.
Qed.
Lemma movement_bounds : IZR (2 ^ P) * Rabs (sum N (fun l => coefficient l * f0 l)) <= IZR (movement row f).
Proof.
  assert (P0 : 0 < IZR (2 ^ P)) by (apply IZR_lt, power_above; unfold guard_derivatives in HP; lia).
  set (F l := IZR (fst (nth l f none))). set (G l := IZR (snd (nth l f none))). pose proof (like_length _ _ _ _ Hf) as Lf.
  assert (M : IZR (movement row f) = Rabs (sum N (fun l => coefficient l * F l)) + sum N (fun l => Rabs (coefficient l) * G l)).
  { unfold movement. rewrite plus_IZR, IZR_abs. f_equal; [f_equal|].
    - apply worth_dot; [exact (worth_self row N Hrow)|]. eapply like_map; [exact (like_self f N none Lf)|]. intros b l _ ->. reflexivity.
    - apply worth_dot; [exact (worth_abs _ _ _ (worth_self row N Hrow))|]. eapply like_map; [exact (like_self f N none Lf)|]. intros b l _ ->. reflexivity. }
  rewrite M. rewrite <- (Rabs_pos_eq (IZR (2 ^ P))) at 1 by lra. rewrite <- Rabs_mult, <- SoundZ.sum_mull.
  replace (sum N (fun l => IZR (2 ^ P) * (coefficient l * f0 l))) with (sum N (fun l => coefficient l * F l) + sum N (fun l => coefficient l * (IZR (2 ^ P) * f0 l - F l)))
    by (rewrite <- SoundZ.sum_add; apply SoundZ.sum_ext; intros; ring).
  apply Rle_trans with (1 := Rabs_triang _ _). apply Rplus_le_compat_l. apply Rle_trans with (1 := sum_abs _ _). apply sum_le. intros l Hl.
  rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|]. exact (like_nth _ _ _ _ l none Hf Hl).
Qed.
Local Notation checked := (row_holds P radius unit_a f (columns (map (map (coarse drop)) rows)) (map (fun row => sum_of (map (width_of drop) row)) rows) (i, row)).
Lemma kappa_small : checked = true -> IZR kappa / IZR one <= 1 - / IZR one.
Proof.
  intros H. unfold row_holds in H. apply andb_prop in H as [H _]. apply Z.ltb_lt in H.
  assert (O : 0 < IZR one) by (rewrite one_ok; apply Rmult_lt_0_compat; [exact unit_above|exact fine_above]).
  apply div_le; [exact O|]. rewrite Rmult_minus_distr_r, Rinv_l by lra. assert (K : (kappa <= one - 1)%Z) by lia. apply IZR_le in K. rewrite minus_IZR in K. lra.
Qed.
Lemma stays_inside : checked = true -> Rabs (sum N (fun l => coefficient l / IZR unit_a * f0 l)) + IZR kappa / IZR one * real id radius <= real id radius.
Proof.
  intros H. unfold row_holds in H. apply andb_prop in H as [_ H]. apply Z.leb_le, IZR_le in H.
  assert (P1 : (0 <= P)%Z) by (unfold guard_derivatives in HP; lia). assert (P0 : 0 < IZR (2 ^ P)) by now apply IZR_lt, power_above.
  rewrite !left_ok, !mult_IZR, minus_IZR in H by (exact P1 || (unfold guard_derivatives; lia)).
  pose proof movement_bounds as M. pose proof unit_above as U. pose proof fine_above as F. rewrite one_ok in *.
  rewrite (SoundZ.sum_ext N _ (fun l => coefficient l * f0 l * / IZR unit_a)) by (intros; unfold Rdiv; ring). rewrite SoundZ.sum_mul, Rabs_mult.
  rewrite (Rabs_pos_eq (/ IZR unit_a)) by (left; now apply Rinv_0_lt_compat). unfold real. apply IZR_lt in Hp, Hq.
  set (S := Rabs (sum N (fun l => coefficient l * f0 l))) in *. set (p := IZR (numer radius)) in *. set (q := IZR (denom radius)) in *.
  apply Rmult_le_reg_r with (IZR unit_a * fine * IZR (2 ^ P) * q); [apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]|]; assumption|].
  replace ((S * / IZR unit_a + IZR kappa / (IZR unit_a * fine) * (p / q)) * (IZR unit_a * fine * IZR (2 ^ P) * q))
    with (IZR (2 ^ P) * S * (q * fine) + IZR kappa * p * IZR (2 ^ P)) by (field; lra).
  replace (p / q * (IZR unit_a * fine * IZR (2 ^ P) * q)) with (p * (IZR unit_a * fine) * IZR (2 ^ P)) by (field; lra).
  apply Rmult_le_compat_r with (r := q * fine) in M; [|left; now apply Rmult_lt_0_compat]. lra.
Qed.
End Row.

(* The weights of the file, and those near them. *)
Definition file_weights (c : cert Z) (x : place) : R :=
  match x with
  | AtKey h a b => of_head id key c h a b
  | AtQuery h a b => of_head id query c h a b
  | AtValue h a b => of_head id value c h a b
  | AtOutput h b j => mentry id (output c) (h * dimv c + b) j
  end.
Lemma ventry_nth v j d : (j < length v)%nat -> ventry id v j = real id (nth j v d).
Proof. intros H. unfold ventry. now rewrite (nth_error_nth' v d H). Qed.
Lemma mat_row h w M i : mat_ok id h w M -> (i < h)%nat -> length (nth i M []) = w /\ Forall (fun x => (0 < denom x)%Z) (nth i M []).
Proof. intros [L H] Hi. rewrite Forall_forall in H. apply H, nth_In. lia. Qed.

Section Weights.
Variable P : Z.
Hypothesis HP : (0 <= P)%Z.
Local Notation scale := (IZR (2 ^ P)).
Lemma weight_ball_ok x reach v : (0 < denom x)%Z -> Rabs (scale * (v - real id x)) <= IZR reach -> encloses P (weight_ball P x reach) v.
Proof.
  intros D H. apply Rabs_between in H. apply encloses_iff. unfold weight_ball. cbn [fst snd]. rewrite plus_IZR.
  set (s := Z.shiftl (numer x) P). assert (E : scale * real id x = IZR s / IZR (denom x)) by (unfold s, real, Rdiv; rewrite left_ok by exact HP; ring).
  pose proof (floor_ok s _ D) as F. rewrite <- E in F. destruct (Z.eqb_spec (s mod denom x) 0) as [M|M]; [|lra].
  assert (G : IZR (s / denom x) = scale * real id x); [|lra].
  rewrite E. pose proof (Z.div_mod s (denom x) ltac:(lia)) as Q. rewrite M, Z.add_0_r in Q. rewrite Q at 2. rewrite mult_IZR. field. apply not_0_IZR. lia.
Qed.
Lemma matrix_like reach h w M F : mat_ok id h w M ->
  (forall i j, (i < h)%nat -> (j < w)%nat -> Rabs (scale * (F i j - mentry id M i j)) <= IZR (reach i j)) ->
  like (like (encloses P) w) h (matrix_balls P reach M) F.
Proof.
  intros HM H. eapply like_map; [eapply like_numbers; exact (like_self M h [] (proj1 HM))|]. intros [i' row] i Hi [E ->]. cbn [fst snd] in *. subst i'.
  destruct (mat_row _ _ _ _ HM Hi) as [L D]. eapply like_map; [eapply like_numbers; exact (like_self _ w (Frac 0%Z 1%Z) L)|].
  intros [j' x] j Hj [E ->]. cbn [fst snd] in *. subst j'. apply weight_ball_ok.
  - rewrite Forall_forall in D. apply D, nth_In. lia.
  - rewrite <- ventry_nth by lia. exact (H i j Hi Hj).
Qed.
Lemma nth_part {A} (l : list A) k n b d : (b < n)%nat -> nth b (firstn n (skipn k l)) d = nth (k + b) l d.
Proof.
  intros Hb. revert l. induction k as [|k IH]; intros l.
  - cbn [skipn Nat.add]. revert b l Hb. induction n as [|n IH]; intros b l Hb; [lia|]. destruct l as [|x l]; [now destruct b|].
    destruct b as [|b]; [reflexivity|]. cbn. apply IH. lia.
  - destruct l as [|x l]; [cbn; now destruct n, b|]. exact (IH l).
Qed.
Lemma part_shape h dv H m O : mat_ok id (H * dv) m O -> (h < H)%nat -> mat_ok id dv m (firstn dv (skipn (h * dv) O)).
Proof.
  intros [L F] Hh. split; [rewrite firstn_length, skipn_length, L; nia|]. rewrite Forall_forall in *. intros v I. apply F.
  rewrite <- (firstn_skipn (h * dv) O). apply in_or_app. right. rewrite <- (firstn_skipn dv (skipn (h * dv) O)). apply in_or_app. now left.
Qed.
Lemma weights_balls_hold reach c W : data_ok id c -> readout_ok id c -> (forall x, Rabs (scale * (W x - file_weights c x)) <= IZR (reach x)) ->
  weights_hold P (dimd c) (dimk c) (dimv c) (dimm c) (dimH c) W (weights_balls P reach c).
Proof.
  intros (_ & _ & LH & HH) (HV & HO) HW. unfold weights_hold, weights_balls.
  eapply like_map; [eapply like_numbers; exact (like_self (heads c) (dimH c) (Head [] [] []) LH)|]. intros [h' x] h Hh [E Ex]. cbn [fst snd] in E, Ex. subst h' x.
  rewrite Forall_forall in HH, HV. assert (I : In (nth h (heads c) (Head [] [] [])) (heads c)) by (apply nth_In; lia).
  destruct (HH _ I) as [HK HQ]. specialize (HV _ I). unfold head_balls. set (x := nth h (heads c) (Head [] [] [])) in *.
  assert (O : forall f a b, of_head id f c h a b = mentry id (f x) a b) by (intros f a b; unfold of_head, x; now rewrite (nth_error_nth' (heads c) (Head [] [] [])) by lia).
  repeat split; cbn [bK bQ bV bO]; apply matrix_like; try assumption.
  - intros a b _ _. rewrite <- O. exact (HW (AtKey h a b)).
  - intros a b _ _. rewrite <- O. exact (HW (AtQuery h a b)).
  - intros a b _ _. rewrite <- O. exact (HW (AtValue h a b)).
  - exact (part_shape _ _ _ _ _ HO Hh).
  - intros b j Hb _. unfold mentry. rewrite nth_part by exact Hb. exact (HW (AtOutput h b j)).
Qed.
End Weights.

(* One example. *)
Definition no_example : exact_map * exact := (([], 1%Z), ([], 1%Z)).
Lemma over_like u y v : over u y = reals v -> like (fraction u) (length v) y (ventry id v).
Proof.
  unfold over, reals. intros E. assert (L : length y = length v) by (apply (f_equal (@length R)) in E; now rewrite !map_length in E).
  apply (nth_like _ _ _ _ 0%Z L). intros j Hj. unfold fraction.
  rewrite <- (map_nth (fun z => IZR z / IZR u) y 0%Z j), E. rewrite (nth_indep _ _ (real id (Frac 0%Z 1%Z))) by now rewrite map_length.
  rewrite map_nth. symmetry. now apply ventry_nth.
Qed.
Lemma cleared_vector common v x : clear_vector common v = Got x -> (0 < snd x)%Z /\ like (fraction (snd x)) (length v) (fst x) (ventry id v).
Proof.
  intros H. pose proof (vector_ok _ _ _ H) as E. unfold clear_vector in H. steps. subst x. apply Z.ltb_lt in H0. split; [exact H0|].
  apply over_like. now symmetry.
Qed.
Lemma cleared_table common h w M x : clear_map common M = Got x -> mat_ok id h w M ->
  (0 < snd x)%Z /\ like (like (fraction (snd x)) w) h (fst x) (mentry id M).
Proof.
  intros H HM. pose proof (map_ok _ _ _ H) as E. unfold clear_map in H. set (u := common [M]) in *. clearbody u. apply bind_got in H as (o & U & H).
  apply need_got, Z.ltb_lt in U. apply bind_got in H as (rows & _ & H). injection H as <-. unfold map_values in E. cbn [fst snd] in *. split; [exact U|].
  assert (L : length rows = h) by (apply (f_equal (@length (list R))) in E; rewrite !map_length in E; now rewrite <- E, (proj1 HM)).
  apply (nth_like _ _ _ _ [] L). intros i Hi. destruct (mat_row _ _ _ _ HM Hi) as [W _]. rewrite <- W at 1. apply over_like.
  rewrite <- (map_nth (over u)), <- E. rewrite (nth_indep _ _ (reals [])) by (rewrite map_length; destruct HM; lia). apply map_nth.
Qed.
Lemma context_ok c t : inputs_ok id c -> (t < dimT c)%nat -> (0 < tokens c t)%nat /\ mat_ok id (tokens c t) (dimd c) (ctx c t).
Proof.
  intros (_ & HL & HE & _) Ht. unfold tokens. enough (I : In (ctx c t) (contexts c)) by (rewrite Forall_forall in HE; destruct (HE _ I) as [L M]; split; [lia|exact M]).
  unfold ctx. apply nth_In. destruct (contexts c) as [|E [|E' r]]; cbn [length] in *; lia.
Qed.

(* The layer of Spec.v, from the weights by where they stand. *)
Lemma layer_is n d H dk dv W E e j : (0 < dv)%nat ->
  layer n d H dk dv (wK W) (fun h a b => wQ W h a b / ln 2) (wV W) (fun r j => W (AtOutput (r / dv) (r mod dv) j)) E e j = outcome n d dk dv E e H W j.
Proof.
  intros Hdv. unfold layer, outcome. apply SoundZ.sum_ext. intros h Hh. unfold mean_of, rmean, mean.
  assert (L : forall i, logit d dk (wK W) (fun h a b => wQ W h a b / ln 2) E e h i = rl d dk E e (wK W h) (wQ W h) i).
  { intros i. unfold logit, rl, rw, rq. apply SoundZ.sum_ext. intros a _. f_equal. apply SoundZ.sum_ext. intros k _. f_equal. apply SoundZ.sum_ext. intros b _.
    field. pose proof ln_lt_2. lra. }
  assert (S : forall i, softmax n (logit d dk (wK W) (fun h a b => wQ W h a b / ln 2) E e h) i = softmax n (rl d dk E e (wK W h) (wQ W h)) i).
  { intros i. unfold softmax. rewrite L. f_equal. apply SoundZ.sum_ext. intros k _. now rewrite L. }
  transitivity (sum dv (fun b => sum d (fun a => sum n (fun i => softmax n (rl d dk E e (wK W h) (wQ W h)) i * (E i a * (wV W h a b * wO W h b j)))))).
  - apply SoundZ.sum_ext. intros b Hb. rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r by lia. rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small by lia.
    rewrite <- SoundZ.sum_mul. apply SoundZ.sum_ext. intros a _. unfold feature. rewrite <- !SoundZ.sum_mul. apply SoundZ.sum_ext. intros i _. rewrite S. unfold wO. ring.
  - rewrite SoundZ.sum_swap. rewrite (SoundZ.sum_ext d _ (fun a => sum n (fun i => softmax n (rl d dk E e (wK W h) (wQ W h)) i * (E i a * rmix dv (wV W h) (wO W h) j a)))).
    + rewrite SoundZ.sum_swap. apply SoundZ.sum_ext. intros i _. rewrite SoundZ.sum_mull. reflexivity.
    + intros a _. rewrite SoundZ.sum_swap. apply SoundZ.sum_ext. intros i _. rewrite !SoundZ.sum_mull. reflexivity.
Qed.

Section Near.
Variables (common : list (mat Z) -> Z) (radius : frac Z) (unknowns : list nat) (inverse : mat Z) (c : cert Z).
Hypotheses (data : data_ok id c) (readout : readout_ok id c).
Local Notation P := (precision radius).
Local Notation places := (places unknowns c).
Local Notation N := (dimT c * dimm c)%nat.
Local Notation W0 := (file_weights c).
Definition error_at (W : place -> R) (l : nat) : R :=
  let t := (l / dimm c)%nat in
  outcome (tokens c t) (dimd c) (dimk c) (dimv c) (mentry id (ctx c t)) (mentry id (queries c) t) (dimH c) W (l mod dimm c) - mentry id (labels c) t (l mod dimm c).
Definition slope_at (W : place -> R) (l k : nat) : R :=
  let t := (l / dimm c)%nat in
  slope (tokens c t) (dimd c) (dimk c) (dimv c) (mentry id (ctx c t)) (mentry id (queries c) t) W (l mod dimm c) (spot places k).

Lemma P_above : (0 <= P)%Z /\ (guard_derivatives <= P)%Z.
Proof.
  unfold precision, guard, guard_derivatives. destruct (denom radius / numer radius)%Z as [|p|p] eqn:E; cbn [bit_length]; [lia|destruct (halvings_ok p 0); lia|lia].
Qed.
Lemma sizes : (0 < dimd c)%nat /\ (0 < dimv c)%nat /\ (0 < dimm c)%nat /\ (0 < dimT c)%nat.
Proof.
  destruct data as ((H1 & _) & H2 & _). unfold positive in *. repeat match goal with H : Forall _ (_ :: _) |- _ => inversion H; clear H; subst end. repeat split; assumption.
Qed.

Variable examples : list (exact_map * exact).
Hypothesis each_example : each (example_of common c) (seq 0 (dimT c)) = Got examples.
Lemma examples_are : like eq (dimT c) examples (fun t => nth t examples no_example).
Proof.
  apply like_self. apply (each_values _ (fun _ => tt) (fun _ => tt)) in each_example; [|reflexivity].
  apply (f_equal (@length unit)) in each_example. rewrite !map_length, seq_length in each_example. now symmetry.
Qed.
Lemma example_is t : (t < dimT c)%nat -> let Ee := nth t examples no_example in
  (0 < snd (fst Ee))%Z /\ like (like (fraction (snd (fst Ee))) (dimd c)) (tokens c t) (fst (fst Ee)) (mentry id (ctx c t)) /\
  (0 < snd (snd Ee))%Z /\ like (fraction (snd (snd Ee))) (dimd c) (fst (snd Ee)) (mentry id (queries c) t).
Proof.
  intros Ht. cbv zeta. pose proof (each_nth _ _ _ _ _ no_example each_example (nth_error_seq _ _ Ht)) as H. unfold example_of in H.
  apply bind_got in H as (E & HE & H). apply bind_got in H as (e & He & H). injection H as H. rewrite <- H. cbn [fst snd].
  destruct data as (I & _). destruct (context_ok c t I Ht) as [_ M]. destruct (cleared_table _ _ _ _ _ HE M) as [U1 L1].
  destruct (cleared_vector _ _ _ He) as [U2 L2]. destruct I as (_ & _ & _ & HQ & _). destruct (mat_row _ _ _ _ HQ Ht) as [W _]. rewrite W in L2. repeat split; assumption.
Qed.

Lemma errors_hold : like (encloses P) N (concat (map (errors_of radius c (weights_balls P (fun _ => 0%Z) c)) (numbered examples))) (error_at W0).
Proof.
  destruct P_above as [HP _]. destruct sizes as (Hd & Hdv & Hm & _).
  apply (like_concat _ _ _ _ (fun t j => outcome (tokens c t) (dimd c) (dimk c) (dimv c) (mentry id (ctx c t)) (mentry id (queries c) t) (dimH c) W0 j - mentry id (labels c) t j) Hm).
  eapply like_map; [eapply like_numbers; exact examples_are|]. intros [t' Ee] t Ht [Et Ex]. cbn [fst snd] in Et, Ex. subst t' Ee. unfold errors_of.
  destruct (example_is t Ht) as (U1 & L1 & U2 & L2). set (Ee := nth t examples _) in *.
  apply like_seq. intros j Hj. apply (less_ok P _ (ball_of P (nth j (nth t (labels c) []) (Frac 0%Z 1%Z)))).
  - apply (outcome_ok P HP (tokens c t) (dimd c) (dimk c) (dimv c) (dimm c)); try assumption.
    apply weights_balls_hold; try assumption. intros x. rewrite Rminus_diag_eq, Rmult_0_r, Rabs_R0 by reflexivity. lra.
  - destruct data as ((_ & _ & _ & _ & HY) & _). destruct (mat_row _ _ _ _ HY Ht) as [LY DY]. unfold mentry. rewrite (ventry_nth _ _ (Frac 0%Z 1%Z)) by lia.
    apply ball_of_ok; [exact HP|]. rewrite Forall_forall in DY. apply DY, nth_In. lia.
Qed.

Hypothesis Hp : (0 < numer radius)%Z.
Hypothesis Hq : (0 < denom radius)%Z.
Local Notation r := (real id radius).
Lemma r_above : 0 <= r.
Proof. apply IZR_lt in Hp, Hq. unfold real. apply Rmult_le_pos; [lra|]. left. now apply Rinv_0_lt_compat. Qed.
Hypothesis count : length places = N.
Hypothesis valid : forallb (valid_place (dimd c) (dimm c) (dimH c) (dimk c) (dimv c)) places = true.
Hypothesis distinct : distinct_places places = true.
Local Notation rows := (concat (map (derivatives_of radius unknowns c (weights_balls P (fun x => if moves places x then reach radius else 0%Z) c)) examples)).
Lemma slopes_hold W : in_box W0 places r W -> like (like (encloses P) N) N rows (slope_at W).
Proof.
  intros HW. destruct P_above as [HP _]. destruct sizes as (Hd & Hdv & Hm & _).
  apply (like_concat (like (encloses P) N) _ _ _ (fun t j k => slope (tokens c t) (dimd c) (dimk c) (dimv c) (mentry id (ctx c t)) (mentry id (queries c) t) W j (spot places k)) Hm).
  eapply like_map; [exact examples_are|]. intros Ee t Ht ->. destruct (example_is t Ht) as (U1 & L1 & U2 & L2). set (Ee := nth t examples _) in *.
  unfold derivatives_of. apply like_seq. intros j Hj. eapply like_map; [exact (like_self places N (AtKey 0 0 0) count)|]. intros x k Hk ->.
  apply (slope_ok P HP (tokens c t) (dimd c) (dimk c) (dimv c) (dimm c)) with (H := dimH c); try assumption.
  - destruct data as (I & _). now apply (context_ok c t I Ht).
  - apply weights_balls_hold; try assumption. intros x. specialize (HW x). destruct (moves places x).
    + unfold reach. pose proof (up_ok (Z.shiftl (numer radius) P) (denom radius) Hq) as [U _]. apply Rle_trans with (2 := U). rewrite left_ok by exact HP.
      assert (S : 0 < IZR (2 ^ P)) by now apply IZR_lt, power_above. rewrite Rabs_mult, Rabs_pos_eq by lra. unfold real in HW. unfold Rdiv in *. nra.
    + assert (E : W x - W0 x = 0) by (apply Rabs_between in HW; lra). rewrite E, Rmult_0_r, Rabs_R0. lra.
  - rewrite forallb_forall in valid. apply valid. apply nth_In. lia.
Qed.
Lemma slopes_chosen x y : inside N r x -> inside N r y -> exists s : nat -> nat -> R,
  (forall l, (l < N)%nat -> error_at (put W0 places x) l - error_at (put W0 places y) l = sum N (fun k => s l k * (x k - y k))) /\
  like (like (encloses P) N) N rows s.
Proof.
  intros Hx Hy. rewrite <- count in Hx, Hy.
  destruct (choose_upto (fun l (v : nat -> R) => error_at (put W0 places x) l - error_at (put W0 places y) l = sum N (fun k => v k * (x k - y k)) /\
    forall k, (k < N)%nat -> exists W, in_box W0 places r W /\ v k = slope_at W l k) (fun _ => 0) N) as [s S].
  { intros l Hl. assert (Ht : (l / dimm c < dimT c)%nat) by (apply Nat.div_lt_upper_bound; lia).
    destruct data as (I & _). destruct (context_ok c _ I Ht) as [Hn _].
    destruct (slopes_between W0 places r distinct r_above (tokens c (l / dimm c)) (dimd c) (dimk c) (dimv c) (dimm c) (dimH c) (mentry id (ctx c (l / dimm c)))
      (mentry id (queries c) (l / dimm c)) (l mod dimm c) x y Hn valid Hx Hy) as (v & E & G).
    exists v. rewrite <- count. split; [rewrite <- E; unfold error_at; ring|exact G]. }
  exists s. split; [intros l Hl; apply (S l Hl)|].
  assert (Z : in_box W0 places r (put W0 places (fun _ => 0))) by (apply put_in_box; [exact distinct|intros k _; rewrite Rabs_R0; exact r_above]).
  pose proof (slopes_hold _ Z) as L. apply (nth_like _ _ _ _ [] (like_length _ _ _ _ L)). intros l Hl.
  apply (nth_like _ _ _ _ none (like_length _ _ _ _ (like_nth _ _ _ _ l [] L Hl))). intros k Hk.
  destruct (S l Hl) as [_ G]. destruct (G k Hk) as (W & HW & ->). exact (like_nth _ _ _ _ k none (like_nth _ _ _ _ l [] (slopes_hold W HW) Hl) Hk).
Qed.

(* A zero of the errors, in the box. *)
Variables (A : list (list Z)) (unit_a : Z).
Hypotheses (Ha : (0 < unit_a)%Z) (square : like (like (fraction unit_a) N) N A (mentry id inverse)).
Local Notation one := (Z.shiftl unit_a guard_derivatives).
Local Notation columns_of := (columns (map (map (coarse (P - guard_derivatives))) rows)).
Local Notation widths_of := (map (fun row => sum_of (map (width_of (P - guard_derivatives)) row)) rows).
Local Notation errors := (concat (map (errors_of radius c (weights_balls P (fun _ => 0%Z) c)) (numbered examples))).
Hypothesis rows_hold : forallb (row_holds P radius unit_a errors columns_of widths_of) (numbered A) = true.
Lemma row_is i : (i < N)%nat -> length (nth i A []) = N /\ row_holds P radius unit_a errors columns_of widths_of (i, nth i A []) = true.
Proof.
  intros Hi. split; [exact (like_length _ _ _ _ (like_nth _ _ _ _ i [] square Hi))|]. rewrite forallb_forall in rows_hold. apply rows_hold.
  pose proof (like_length _ _ _ _ square) as L. unfold numbered. replace (i, nth i A []) with (nth i (combine (seq 0 (length A)) A) (O, [])).
  - apply nth_In. rewrite combine_length, seq_length. lia.
  - rewrite combine_nth by now rewrite seq_length. rewrite seq_nth by lia. reflexivity.
Qed.
Lemma exact_weights : exists W, in_box W0 places r W /\ forall l, (l < N)%nat -> error_at W l = 0.
Proof.
  destruct P_above as [_ HP].
  destruct (zero_in_box N (fun i l => coefficient (nth i A []) l / IZR unit_a) (1 - / IZR one)) with (r := r) (f := fun u => error_at (put W0 places u))
    (kappa := fun i => IZR (contraction one columns_of widths_of i (nth i A [])) / IZR one) as (u & Hu & E).
  - rewrite one_ok. assert (O : 1 <= IZR unit_a * IZR (2 ^ guard_derivatives)).
    { rewrite <- mult_IZR. apply (IZR_le 1). assert (0 < 2 ^ guard_derivatives)%Z by reflexivity. nia. }
    set (o := IZR unit_a * IZR (2 ^ guard_derivatives)) in *. assert (I : 0 < / o) by (apply Rinv_0_lt_compat; lra).
    assert (/ o <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra). lra.
  - exact r_above.
  - intros i Hi. destruct (row_is i Hi) as [_ H]. eapply kappa_small; [exact Ha|exact (proj1 (row_is i Hi))|exact Hi|exact H].
  - intros x y Hx Hy. destruct (slopes_chosen x y Hx Hy) as (s & S & L). exists s. split; [exact S|]. intros i Hi. destruct (row_is i Hi) as [R _].
    eapply off_small; eassumption.
  - intros i Hi. destruct (row_is i Hi) as [R H].
    assert (F : like (encloses P) N errors (error_at (put W0 places (fun _ => 0)))).
    { replace (put W0 places (fun _ => 0)) with W0; [exact errors_hold|]. apply FunctionalExtensionality.functional_extensionality. intros x. unfold put.
      rewrite (SoundZ.sum_ext _ _ (fun _ => 0)) by (intros; now destruct (same_place _ _)). rewrite SoundZ.sum_0. ring. }
    eapply stays_inside; eassumption.
  - exists (put W0 places u). split; [|exact E]. apply put_in_box; [exact distinct|]. now rewrite count.
Qed.
Lemma near_weights : interpolates_near id radius c.
Proof.
  destruct exact_weights as (W & B & E). destruct sizes as (_ & Hdv & Hm & _).
  assert (C : forall x, Rabs (W x - W0 x) <= r).
  { intros x. apply Rle_trans with (1 := B x). destruct (moves places x); [apply Rle_refl|exact r_above]. }
  exists (wK W), (wQ W), (wV W), (fun r j => W (AtOutput (r / dimv c) (r mod dimv c) j)). split; [|split; [|split]].
  - intros h a b _ _ _. split; [exact (C (AtKey h a b))|exact (C (AtQuery h a b))].
  - intros h a b _ _ _. exact (C (AtValue h a b)).
  - intros q j _ _. specialize (C (AtOutput (q / dimv c) (q mod dimv c) j)). cbn [file_weights] in C.
    replace (q / dimv c * dimv c + q mod dimv c)%nat with q in C by (rewrite (Nat.div_mod q (dimv c)) at 1 by lia; lia). exact C.
  - intros t j Ht Hj. rewrite layer_is by exact Hdv. specialize (E (t * dimm c + j)%nat ltac:(nia)). unfold error_at in E.
    rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r in E by lia. rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small in E by lia. lra.
Qed.
End Near.

Theorem check_near_sound common radius unknowns inverse c u : data_ok id c -> readout_ok id c -> check_near common radius unknowns inverse c = Got u ->
  denom_ok id radius /\ interpolates_near id radius c.
Proof.
  unfold check_near. intros HD HR H. apply bind_got in H as (o1 & H1 & H). apply need_got in H1. apply bind_got in H as (o2 & H2 & H). apply need_got in H2.
  apply andb_prop in H1 as [H1 Hq]. apply andb_prop in H1 as [H1 Hp]. apply andb_prop in H2 as [H2 V]. apply andb_prop in H2 as [H2 D].
  apply Z.ltb_lt in Hp, Hq. apply Nat.eqb_eq in H2. apply (mat_okb_ok id above_0) in H1; [|intros x; apply Z.ltb_lt].
  apply bind_got in H as (examples & HE & H). apply bind_got in H as ([A unit_a] & HA & H). apply need_got in H.
  destruct (cleared_table _ _ _ _ _ HA H1) as [Ha S]. split; [exact Hq|]. eapply near_weights; eassumption.
Qed.
