(* Accepted weights have, for all labels, real ones that give them. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Arith FunctionalExtensionality.
Require Import Spec Json Certificate shapes interpolation interpolation_sound integers residues full_rank full_rank_sound newton.
Require Import weights_near layer_slopes indexed layer_balls box_slopes near_sound network_sound open_map all_labels every_labelling derivatives_mod.
Import ListNotations.
Local Notation length := List.length.
Local Notation id := (fun z : Z => z).
Open Scope R_scope.

(* Heads that cancel. *)
Lemma equal_rows_ok x y : equal_rows x y = true -> x = y.
Proof.
  revert y. induction x as [|a x IH]; intros [|b y] H; try easy. cbn in H. apply andb_prop in H as [H1 H2]. apply Z.eqb_eq in H1. now rewrite H1, (IH y H2).
Qed.
Lemma equal_tables_ok x y : equal_tables x y = true -> x = y.
Proof.
  revert y. induction x as [|a x IH]; intros [|b y] H; try easy. cbn in H. apply andb_prop in H as [H1 H2]. apply equal_rows_ok in H1. now rewrite H1, (IH y H2).
Qed.
Lemma table_place T m t j : (t < T)%nat -> (j < m)%nat -> (t * m + j < T * m)%nat.
Proof. intros Ht Hj. apply Nat.lt_le_trans with (S t * m)%nat; [cbn; lia|]. now apply Nat.mul_le_mono_r. Qed.
Section Cancel.
Variables (d m j : nat) (G : list (list Z) -> list (list Z) -> nat -> R).
Definition table (M : list (list Z)) : Prop := length M = d /\ Forall (fun r => length r = m) M.
Definition portion (y : SoundZ.C.chead) : R := sum d (fun a => G (SoundZ.C.cK y) (SoundZ.C.cQ y) a * SoundZ.ient2 (SoundZ.C.cR y) a j).
Fixpoint portions (l : list SoundZ.C.chead) : R := match l with [] => 0 | y :: r => portion y + portions r end.
Lemma added_ok x y : table x -> table y -> table (added x y) /\ forall a, SoundZ.ient2 (added x y) a j = SoundZ.ient2 x a j + SoundZ.ient2 y a j.
Proof.
  unfold table. revert d y. induction x as [|r x IH]; intros k [|s y] [Lx Fx] [Ly Fy]; cbn [length] in *; subst k; try discriminate.
  - split; [split; constructor|]. intros a. unfold SoundZ.ient2. cbn [added]. destruct a; cbn [nth]; unfold SoundZ.ient; destruct j; cbn; ring.
  - inversion Fx as [|? ? Hr Fx']; subst. inversion Fy as [|? ? Hs Fy']; subst. injection Ly as Ly.
    destruct (IH (length x) y (conj eq_refl Fx') (conj Ly Fy')) as [[L F] E].
    change (added (r :: x) (s :: y)) with (CheckZ.axpy 1%Z r s :: added x y).
    assert (A : length (CheckZ.axpy 1%Z r s) = length s) by (apply SoundZ.axpy_length; now symmetry).
    split; [split; [cbn [length]; now rewrite L|]; constructor; [exact (eq_trans A Hs)|exact F]|].
    intros [|a]; [|exact (E a)]. unfold SoundZ.ient2. cbn [nth]. pose proof (SoundZ.axpy_ok 1%Z r s j (eq_sym Hs)) as X.
    etransitivity; [exact X|]. change (IZR (ZNum.toZ 1%Z)) with 1. ring.
Qed.
Lemma joined_ok y l : table (SoundZ.C.cR y) -> Forall (fun x => table (SoundZ.C.cR x)) l ->
  Forall (fun x => table (SoundZ.C.cR x)) (joined y l) /\ portions (joined y l) = portion y + portions l.
Proof.
  intros Hy. induction l as [|x l IH]; intros F; cbn [joined]; [split; [now constructor|reflexivity]|]. inversion F as [|? ? Hx F']; subst.
  destruct (equal_tables _ _ && equal_tables _ _) eqn:E.
  - apply andb_prop in E as [E1 E2]. apply equal_tables_ok in E1, E2. destruct (added_ok _ _ Hx Hy) as [T A]. split; [now constructor|].
    cbn [portions]. enough (P : portion (CheckZ.CHead (SoundZ.C.cK x) (SoundZ.C.cQ x) (added (SoundZ.C.cR x) (SoundZ.C.cR y))) = portion x + portion y) by (rewrite P; ring).
    unfold portion. cbn [cK_ cQ_ cR_]. rewrite <- E1, <- E2, <- SoundZ.sum_add. apply SoundZ.sum_ext. intros a _. rewrite A. ring.
  - destruct (IH F') as [T P]. split; [now constructor|]. cbn [portions]. rewrite P. ring.
Qed.
Lemma cancel_ok hs : Forall (fun x => table (SoundZ.C.cR x)) hs -> cancel hs = true -> portions hs = 0.
Proof.
  intros F H. assert (J : Forall (fun x => table (SoundZ.C.cR x)) (fold_right joined [] hs) /\ portions (fold_right joined [] hs) = portions hs).
  { clear H. induction F as [|y l Hy F [IH1 IH2]]; [split; [constructor|reflexivity]|]. cbn [fold_right]. destruct (joined_ok y _ Hy IH1) as [A B].
    split; [exact A|]. rewrite B, IH2. reflexivity. }
  destruct J as [_ <-]. unfold cancel in H. rewrite forallb_forall in H. induction (fold_right joined [] hs) as [|x l IH]; [reflexivity|].
  cbn [portions]. rewrite IH by (intros y I; apply H; now right). specialize (H x (or_introl eq_refl)). rewrite forallb_forall in H.
  unfold portion. rewrite (SoundZ.sum_ext d _ (fun _ => 0)); [rewrite SoundZ.sum_0; ring|]. intros a _.
  enough (Z : SoundZ.ient2 (SoundZ.C.cR x) a j = 0) by (rewrite Z; ring). unfold SoundZ.ient2. rewrite ient_nth.
  destruct (Nat.lt_ge_cases a (length (SoundZ.C.cR x))) as [L|L]; [|rewrite (nth_overflow (SoundZ.C.cR x)) by exact L; now destruct j].
  specialize (H _ (nth_In _ [] L)). rewrite forallb_forall in H. set (r := nth a (SoundZ.C.cR x) []) in *.
  destruct (Nat.lt_ge_cases j (length r)) as [Lj|Lj]; [|exact (f_equal IZR (nth_overflow r 0%Z Lj))].
  specialize (H _ (nth_In _ 0%Z Lj)). apply Z.eqb_eq in H. exact (f_equal IZR (eq_sym H)).
Qed.
Lemma portions_sum l : portions l = sum (length l) (fun h => match nth_error l h with Some y => portion y | None => 0 end).
Proof. induction l as [|y l IH]; [reflexivity|]. cbn [portions length sum nth_error]. now rewrite IH. Qed.
End Cancel.

(* Tables over one denominator, by index. *)
Lemma table_like u h w M (F : nat -> nat -> R) : length M = h -> SoundZ.rect w M -> (forall i j, F i j = SoundZ.ient2 M i j / IZR u) ->
  like (like (fraction u) w) h M F.
Proof.
  intros L R H. apply (nth_like _ _ _ _ [] L). intros i Hi. assert (Li : length (nth i M []) = w) by (apply SoundZ.rect_nth; [exact R|exact (eq_ind_r _ Hi L)]).
  apply (nth_like _ _ _ _ 0%Z Li). intros j _. unfold fraction. rewrite H. unfold SoundZ.ient2. now rewrite ient_nth.
Qed.
Lemma vector_like u w v (f : nat -> R) : length v = w -> (forall j, f j = SoundZ.ient v j / IZR u) -> like (fraction u) w v f.
Proof. intros L H. apply (nth_like _ _ _ _ 0%Z L). intros j _. unfold fraction. now rewrite H, ient_nth. Qed.
Lemma nth_error_combine {A B} (l : list A) (r : list B) i x y : nth_error l i = Some x -> nth_error r i = Some y -> nth_error (combine l r) i = Some (x, y).
Proof. revert l r. induction i as [|i IH]; intros [|a l] [|b r] H G; try discriminate; cbn in *; [congruence|now apply IH]. Qed.
Lemma nth_error_numbered {A} (l : list A) i x : nth_error l i = Some x -> nth_error (numbered l) i = Some (i, x).
Proof.
  intros H. apply nth_error_combine; [|exact H]. apply nth_error_seq. apply nth_error_Some. congruence.
Qed.
Lemma mapM_at {A B} (f : A -> option B) l l' i x : CheckZ.mapM f l = Some l' -> nth_error l i = Some x -> exists y, nth_error l' i = Some y /\ f x = Some y.
Proof. exact (SoundZ.mapM_nth f l l' i x). Qed.

(* The weights of the layer: W_Q = ln 2 * query. *)
Definition ln_2_at_queries (x : place) : R := match x with AtQuery _ _ _ => ln 2 | _ => 1 end.
Definition layer_weights (c : cert Z) (x : place) : R := ln_2_at_queries x * file_weights c x.
Lemma ln_2_above : 0 < ln 2.
Proof. pose proof ln_lt_2. lra. Qed.

Section Labelling.
Variables (gcd : Z -> Z -> Z) (u : units Z) (p : Z) (c : cert Z).
Local Notation d := (dimd c). Local Notation dk := (dimk c). Local Notation dv := (dimv c). Local Notation m := (dimm c). Local Notation H := (dimH c).
Local Notation E t := (mentry id (ctx c t)). Local Notation e t := (mentry id (queries c) t).
Local Notation n := (tokens c).
Local Notation W0 := (layer_weights c).
Local Notation soft t h := (softmax (n t) (rl d dk (E t) (e t) (wK W0 h) (wQ W0 h))).

Hypotheses (uE0 : uE _ u <> 0%Z) (uq0 : uq _ u <> 0%Z) (uk0 : uk _ u <> 0%Z) (uw0 : uw _ u <> 0%Z) (uv0 : uv _ u <> 0%Z) (uo0 : uo _ u <> 0%Z).
Local Notation D := ((uE _ u * uq _ u) * (uk _ u * uw _ u))%Z.
Lemma D0 : D <> 0%Z.
Proof. unfold ZNum.t in *. nia. Qed.

Lemma same_logits t h i : rl d dk (E t) (e t) (wK W0 h) (wQ W0 h) i = logit d dk (of_head id key c) (of_head id query c) (E t) (e t) h i.
Proof.
  unfold rl, rw, rq, logit. apply SoundZ.sum_ext. intros a _. f_equal. apply SoundZ.sum_ext. intros k _.
  unfold wK, wQ, layer_weights, ln_2_at_queries, file_weights. rewrite Rmult_1_l. f_equal. apply SoundZ.sum_ext. intros. ring.
Qed.

Variables (out : list (list Z)) (hs : list SoundZ.C.chead) (mO : list (list Z)) (ms : list residue_head).
Hypothesis Hout : CheckZ.clearm (H * dv) m (uo _ u) (output c) = Some out.
Hypothesis Hhs : CheckZ.clear_heads u d dk dv m out (heads c) = Some hs.
Hypothesis HmO : stripped gcd p out = Some mO.
Hypothesis Hms : CheckZ.mapM (residue_head_of gcd u p c mO) (numbered (combine (heads c) hs)) = Some ms.
Hypothesis Hcancel : cancel hs = true.
Hypothesis count : length (heads c) = H.

Lemma out_is : length out = (H * dv)%nat /\ SoundZ.rect m out /\ forall i j, mentry id (output c) i j = SoundZ.ient2 out i j / IZR (uo _ u).
Proof. exact (SoundZ.clearm_ok _ _ _ _ _ uo0 Hout). Qed.
Lemma heads_are : length hs = H /\ Forall (SoundZ.good d dk m) hs /\ forall h, (h < H)%nat -> exists x y O', nth_error (heads c) h = Some x /\
  nth_error hs h = Some y /\ SoundZ.good d dk m y /\ SoundZ.fits u d dv O' x y /\ forall b j, (b < dv)%nat -> SoundZ.ient2 O' b j = SoundZ.ient2 out (h * dv + b) j.
Proof.
  destruct out_is as (L & R & _). pose proof (SoundZ.clear_heads_ok u d dk dv m uk0 uw0 uv0 (heads c) out hs) as C.
  destruct C as (L' & G & F); [exact (eq_trans L (f_equal (fun k => (k * dv)%nat) (eq_sym count)))|exact R|exact Hhs|]. split; [exact (eq_trans L' count)|]. split; [exact G|]. intros h Hh.
  destruct (nth_error (heads c) h) as [x|] eqn:Hx; [|apply nth_error_None in Hx; lia]. destruct (F h x Hx) as (y & O' & Hy & Hf & HO).
  exists x, y, O'. repeat split; try assumption; try apply Hf. all: rewrite Forall_forall in G; apply (G y); eapply nth_error_In; exact Hy.
Qed.

Section Example.
Variables (t : nat) (rows : list (list Z)) (query : list Z).
Hypothesis HE : CheckZ.clear_context d (uE _ u) (ctx c t) = Some rows.
Hypothesis He : CheckZ.clearv d (uq _ u) (nth t (queries c) []) = Some query.
Lemma rows_are : (0 < n t)%nat /\ length rows = n t /\ SoundZ.rect d rows /\ forall i j, E t i j = SoundZ.ient2 rows i j / IZR (uE _ u).
Proof. exact (SoundZ.clear_context_ok _ _ _ _ uE0 HE). Qed.
Lemma query_is : length query = d /\ forall j, e t j = SoundZ.ient query j / IZR (uq _ u).
Proof. exact (SoundZ.clearv_ok _ _ _ _ uq0 He). Qed.
Lemma head_logits h x y O' i : nth_error (heads c) h = Some x -> SoundZ.good d dk m y -> SoundZ.fits u d dv O' x y ->
  rl d dk (E t) (e t) (wK W0 h) (wQ W0 h) i = ln 2 * (SoundZ.ient (CheckZ.logits dk (SoundZ.C.cK y) (SoundZ.C.cQ y) rows query) i / IZR D).
Proof.
  intros Hx ((K1 & K2) & (Q1 & Q2) & _) (F1 & F2 & _). destruct rows_are as (_ & L & R & V), query_is as (L' & V'). rewrite same_logits.
  apply (SoundZ.logit_computed u c D t h x y rows query); try assumption; try (intros Z0; apply eq_IZR in Z0; contradiction).
  unfold ZNum.toZ. now rewrite !mult_IZR.
Qed.
Lemma outputs_cancel j : outcome (n t) d dk dv (E t) (e t) H W0 j = 0.
Proof.
  destruct rows_are as (Hn & Lr & Rr & Vr), heads_are as (Lh & G & F), out_is as (_ & _ & VO).
  set (sm K Q := softmax (n t) (fun i => ln 2 * (SoundZ.ient (CheckZ.logits dk K Q rows query) i / IZR D))).
  set (part K Q a := sum (n t) (fun i => sm K Q i * E t i a)).
  assert (P : portions d j part hs = 0).
  { apply cancel_ok with (m := m); [|exact Hcancel]. eapply Forall_impl; [|exact G]. intros y (_ & _ & T). exact T. }
  unfold outcome. transitivity (sum H (fun h => match nth_error hs h with Some y => portion d j part y | None => 0 end * / (IZR (uv _ u) * IZR (uo _ u)))).
  2:{ rewrite SoundZ.sum_mul, <- Lh, <- portions_sum, P. ring. }
  apply SoundZ.sum_ext. intros h Hh. destruct (F h Hh) as (x & y & O' & Hx & -> & Gy & Fy & HO). unfold portion, mean_of, rmean, mean.
  rewrite <- SoundZ.sum_mul. transitivity (sum d (fun a => sum (n t) (fun i => softmax (n t) (rl d dk (E t) (e t) (wK W0 h) (wQ W0 h)) i * (E t i a * rmix dv (wV W0 h) (wO W0 h) j a)))).
  { rewrite SoundZ.sum_swap. apply SoundZ.sum_ext. intros i _. unfold rs. now rewrite SoundZ.sum_mull. }
  apply SoundZ.sum_ext. intros a Ha.
  assert (X : rmix dv (wV W0 h) (wO W0 h) j a = SoundZ.ient2 (SoundZ.C.cR y) a j * / (IZR (uv _ u) * IZR (uo _ u))).
  { destruct Fy as (_ & _ & F3). transitivity (sum dv (fun b => mentry id (value x) a b * SoundZ.ient2 O' b j) * / IZR (uo _ u)).
    - rewrite <- SoundZ.sum_mul. apply SoundZ.sum_ext. intros b Hb. unfold wV, wO, layer_weights, ln_2_at_queries, file_weights, of_head. rewrite Hx, VO, HO by exact Hb.
      unfold Rdiv. ring.
    - etransitivity; [exact (f_equal (fun z => z * / IZR (uo _ u)) (F3 a j Ha))|]. unfold Rdiv. rewrite Rmult_assoc, <- Rinv_mult. reflexivity. }
  rewrite X. transitivity (part (SoundZ.C.cK y) (SoundZ.C.cQ y) a * (SoundZ.ient2 (SoundZ.C.cR y) a j * / (IZR (uv _ u) * IZR (uo _ u)))); [|ring].
  unfold part. rewrite <- SoundZ.sum_mul. apply SoundZ.sum_ext. intros i Hi. rewrite <- Rmult_assoc. f_equal. f_equal. unfold sm.
  apply SoundZ.softmax_ext; [|exact Hi]. intros k _. exact (head_logits h x y O' k Hx Gy Fy).
Qed.
End Example.

(* The factors of the matrices. *)
Hypotheses (p_gt2 : (2 < p)%Z) (fermat : power p 2 (p - 1) = 1%Z).
Hypotheses (Hd : (0 < d)%nat) (Hdv : (0 < dv)%nat) (Hm : (0 < m)%nat).
Let p_gt1 : (1 < p)%Z. Proof. lia. Qed.
Lemma output_factor : exists f, f <> 0 /\ like (like (stands p) m) (H * dv) mO (fun i j => f * mentry id (output c) i j).
Proof.
  destruct out_is as (L & R & V). apply (stripped_ok p p_gt1 gcd (uo _ u) (H * dv) m out mO); [exact uo0| |exact HmO]. now apply table_like.
Qed.
Lemma head_factors fO : like (like (stands p) m) (H * dv) mO (fun i j => fO * mentry id (output c) i j) ->
  forall h, (h < H)%nat -> exists f : R * R * R, (fst (fst f) <> 0 /\ snd (fst f) <> 0 /\ snd f <> 0) /\ exists z, nth_error ms h = Some z /\
    residues_hold p d dk dv m z (fun a b => fst (fst f) * of_head id key c h a b) (fun a b => snd (fst f) * of_head id query c h a b)
      (fun a b => snd f * of_head id value c h a b) (fun b j => fO * mentry id (output c) (h * dv + b) j).
Proof.
  intros LO h Hh. destruct heads_are as (_ & _ & F). destruct (F h Hh) as (x & y & O' & Hx & Hy & ((K1 & K2) & (Q1 & Q2) & _) & (F1 & F2 & _) & _).
  destruct (mapM_at _ _ _ h (h, (x, y)) Hms) as (z & Hz & G); [apply nth_error_numbered; now apply nth_error_combine|].
  unfold residue_head_of in G. destruct (CheckZ.clearm d dv (uv _ u) (value x)) as [V|] eqn:HV; [|discriminate].
  destruct (SoundZ.clearm_ok _ _ _ _ _ uv0 HV) as (V1 & V2 & V3).
  destruct (stripped gcd p (CheckZ.cK y)) as [K|] eqn:SK; [|discriminate]. destruct (stripped gcd p (CheckZ.cQ y)) as [Q|] eqn:SQ; [|discriminate].
  destruct (stripped gcd p V) as [V'|] eqn:SV; [|discriminate]. injection G as <-.
  destruct (stripped_ok p p_gt1 gcd (uk _ u) d dk (CheckZ.cK y) K (of_head id key c h) uk0) with (2 := SK) as (fK & K0 & LK).
  { apply table_like; try assumption. intros a b. unfold of_head. rewrite Hx. exact (F1 a b). }
  destruct (stripped_ok p p_gt1 gcd (uw _ u) d dk (CheckZ.cQ y) Q (of_head id query c h) uw0) with (2 := SQ) as (fQ & Q0 & LQ).
  { apply table_like; try assumption. intros a b. unfold of_head. rewrite Hx. exact (F2 a b). }
  destruct (stripped_ok p p_gt1 gcd (uv _ u) d dv V V' (of_head id value c h) uv0) with (2 := SV) as (fV & V0 & LV).
  { apply table_like; try assumption. intros a b. unfold of_head. rewrite Hx. exact (V3 a b). }
  exists (fK, fQ, fV). cbn [fst snd]. split; [repeat split; assumption|]. eexists. split; [exact Hz|]. unfold residues_hold. cbn [mK mQ mV every_labelling.mO mixes].
  repeat (split; [assumption|]). split; [|reflexivity].
  assert (B : (h * dv + dv <= H * dv)%nat) by (rewrite Nat.add_comm; exact (Nat.mul_le_mono_r (S h) H dv Hh)). pose proof (like_length _ _ _ _ LO) as L.
  apply (nth_like _ _ _ _ []); [rewrite firstn_length, skipn_length; lia|]. intros b Hb. rewrite nth_part by exact Hb. exact (like_nth _ _ _ _ (h * dv + b) [] LO ltac:(lia)).
Qed.

Variables (fO : R) (f : nat -> R * R * R).
Hypotheses (fO0 : fO <> 0) (f0 : forall h, (h < H)%nat -> fst (fst (f h)) <> 0 /\ snd (fst (f h)) <> 0 /\ snd (f h) <> 0).
Hypothesis held : forall h, (h < H)%nat -> exists z, nth_error ms h = Some z /\
    residues_hold p d dk dv m z (fun a b => fst (fst (f h)) * of_head id key c h a b) (fun a b => snd (fst (f h)) * of_head id query c h a b)
      (fun a b => snd (f h) * of_head id value c h a b) (fun b j => fO * mentry id (output c) (h * dv + b) j).
Local Notation fK := (fun h => fst (fst (f h))). Local Notation fQ := (fun h => snd (fst (f h))). Local Notation fV := (fun h => snd (f h)).
Local Notation places := (all_places c).
Hypothesis valid : forallb (valid_place d m H dk dv) places = true.
Local Notation M := (length places).
Local Notation W' := (fun x => factors_of fK fQ fV (fun _ => fO) x * file_weights c x).
Local Notation factor := (column_factor (IZR (uE _ u)) (IZR (uq _ u)) fK fQ fV (fun _ => fO)).
Definition residue_slope (t j : nat) (x : place) : R :=
  weighted_slope (n t) d dv (fun i a => IZR (uE _ u) * E t i a) (fun a => IZR (uq _ u) * e t a) W' (fun h => soft t h) j x.
Lemma valid_spot k : (k < M)%nat -> valid_place d m H dk dv (spot places k) = true.
Proof. intros Hk. rewrite forallb_forall in valid. now apply valid, nth_In. Qed.

Lemma rows_hold t rows : rows_of u p c (all_places c) D hs ms t = Some rows -> like (like (stands p) M) m rows (fun j k => residue_slope t j (spot places k)).
Proof.
  unfold rows_of. destruct (CheckZ.clear_context _ _ _) as [Et|] eqn:HE; [|discriminate]. destruct (CheckZ.clearv _ _ _) as [et|] eqn:He; [|discriminate].
  destruct (CheckZ.mapM _ hs) as [wss|] eqn:Hw; [|discriminate]. cbv zeta. intros [= <-].
  destruct (rows_are t Et HE) as (Hn & Lr & Rr & Vr), (query_is t et He) as (Le & Ve), heads_are as (Lh & _ & F).
  apply like_seq. intros j Hj. eapply like_map; [exact (like_self places M (AtKey 0 0 0) eq_refl)|]. intros x k Hk ->.
  apply (derivative_mod_ok p p_gt1 (n t) d dk dv m) with (rows := map (map (fun x => x mod p)%Z) Et) (H := H); try assumption.
  - pose proof (table_like (uE _ u) (n t) d Et (E t) Lr Rr Vr) as T. eapply like_map; [exact T|]. intros r i _ Hr. now apply reduced_ok.
  - apply reduced_ok; [exact p_gt1|exact uq0|]. now apply vector_like.
  - intros h Hh. destruct (F h Hh) as (x & y & O' & Hx & Hy & Gy & Fy & _). destruct (held h Hh) as (z & Hz & Rz).
    destruct (mapM_at _ _ _ h y Hw Hy) as (ws & Hws & Ww). exists z, ws. split; [|split; [exact Rz|]].
    + erewrite map_nth_error by (apply nth_error_combine; eassumption). reflexivity.
    + destruct Gy as ((K1 & K2) & (Q1 & Q2) & GR).
      destruct (SoundZ.logits_ok (n t) d dk (CheckZ.cK y) (CheckZ.cQ y) Et et) as [Ll _]; try assumption.
      pose proof (weights_mod_ok p p_gt1 p_gt2 fermat (n t) D _ ws Hn D0 Ll Ww) as Q.
      eapply like_weaken; [exact Q|]. intros a i Hi Ha. unfold stands in *.
      replace (soft t h i) with (softmax (n t) (fun i => ln 2 * (SoundZ.ient (CheckZ.logits dk (CheckZ.cK y) (CheckZ.cQ y) Et et) i / IZR D)) i); [exact Ha|].
      apply SoundZ.softmax_ext; [|exact Hi]. intros k' _. symmetry. apply (head_logits t Et et HE He h x y O' k' Hx); [|exact Fy]. exact (conj (conj K1 K2) (conj (conj Q1 Q2) GR)).
  - now apply valid_spot.
Qed.

Definition ln_2_at_keys (x : place) : R := match x with AtKey _ _ _ => ln 2 | _ => 1 end.
Lemma true_slope t j x : slope (n t) d dk dv (E t) (e t) W0 j x * factor x = ln_2_at_keys x * residue_slope t j x.
Proof.
  unfold residue_slope. rewrite slope_factor, slope_weighted.
  set (w := fun h => soft t h). fold w.
  pose proof (slope_factor (n t) d dv (E t) (e t) (file_weights c) w 1 1 (fun _ => 1) (fun _ => ln 2) (fun _ => 1) (fun _ => 1) j x) as S.
  replace (fun i a => 1 * E t i a) with (E t) in S by (extensionality i; extensionality a; ring).
  replace (fun a => 1 * e t a) with (e t) in S by (extensionality a; ring).
  replace (fun x => factors_of (fun _ => 1) (fun _ => ln 2) (fun _ => 1) (fun _ => 1) x * file_weights c x) with W0 in S by (extensionality y; now destruct y).
  rewrite S. destruct x; cbn [column_factor ln_2_at_keys]; ring.
Qed.
Lemma factor0 x : valid_place d m H dk dv x = true -> factor x <> 0.
Proof.
  intros V. assert (A := not_0_IZR _ uE0). assert (B := not_0_IZR _ uq0).
  destruct x as [h a b|h a b|h a b|h b i]; cbn [valid_place column_factor] in *; apply andb_prop in V as [V _]; apply andb_prop in V as [V _];
    apply Nat.ltb_lt in V; destruct (f0 h V) as (F1 & F2 & F3); repeat apply Rmult_integral_contrapositive_currified; assumption.
Qed.
Variable all_rows : list (list (list Z)).
Hypothesis Hrows : CheckZ.mapM (rows_of u p c (all_places c) D hs ms) (seq 0 (dimT c)) = Some all_rows.
Hypothesis accepted : independent p (dimT c * m) (concat all_rows) = true.
Hypothesis distinct : distinct_places places = true.
Local Notation N := (dimT c * m)%nat.
Lemma row_at t : (t < dimT c)%nat -> exists rows, nth_error all_rows t = Some rows /\ rows_of u p c (all_places c) D hs ms t = Some rows.
Proof. intros Ht. exact (mapM_at _ _ _ t t Hrows (nth_error_seq _ _ Ht)). Qed.
Lemma independent_slopes : independent_rows N M (fun l k => residue_slope (l / m) (l mod m) (spot places k)).
Proof.
  intros a Z l Hl.
  assert (R : like (like (stands p) M) N (concat all_rows) (fun l k => residue_slope (l / m) (l mod m) (spot places k))).
  { apply (like_concat (like (stands p) M) (dimT c) m all_rows (fun t j k => residue_slope t j (spot places k)) Hm).
    apply (nth_like _ _ _ _ []); [pose proof (SoundZ.mapM_length _ _ _ Hrows) as L; etransitivity; [exact L|apply seq_length]|].
    intros t Ht. destruct (row_at t Ht) as (rows & Hr & G). rewrite (nth_error_nth _ _ _ Hr). exact (rows_hold t rows G). }
  set (X := fun l k => residue_slope (l / m) (l mod m) (spot places k)) in *.
  assert (F : Forall2 (residues.fits p M) (map X (seq 0 N)) (concat all_rows)).
  { unfold like in R at 1. clear - R. induction R as [|r l rows ls Hr R IH]; [constructor|]. cbn [map]. constructor; [|exact IH].
    split; [exact (like_length _ _ _ _ Hr)|]. intros k Hk. exact (like_nth _ _ _ _ k 0%Z Hr Hk). }
  assert (A := independent_ok p p_gt1 M N (concat all_rows) _ (map a (seq 0 N)) accepted F). rewrite !map_length in A. specialize (A eq_refl).
  rewrite Forall_forall in A. apply A; [|apply in_map, in_seq; lia]. intros k Hk. rewrite combination_sum. exact (Z k Hk).
Qed.
Theorem labelled : (forall t, (t < dimT c)%nat -> (0 < n t)%nat) -> every_labelling id c.
Proof.
  intros Hn Y. destruct (all_labels (dimT c) d dk dv m H n (fun t => E t) (fun t => e t) W0 places Hn Hm distinct valid) with (y := fun l => Y (l / m)%nat (l mod m)%nat) as (W & HW).
  - intros l Hl. assert (Ht : (l / m < dimT c)%nat) by (apply Nat.div_lt_upper_bound; lia). destruct (row_at _ Ht) as (rows & _ & G). unfold rows_of in G.
    destruct (CheckZ.clear_context _ _ _) as [Et|] eqn:HE; [|discriminate]. destruct (CheckZ.clearv _ _ _) as [et|] eqn:He; [|discriminate].
    exact (outputs_cancel _ Et et HE He (l mod m)%nat).
  - intros a Z l Hl. apply (independent_slopes a); [|exact Hl]. intros k Hk.
    assert (L0 : ln_2_at_keys (spot places k) <> 0) by (pose proof ln_2_above; destruct (spot places k); cbn; lra).
    apply Rmult_eq_reg_l with (ln_2_at_keys (spot places k)); [|exact L0]. rewrite Rmult_0_r, <- SoundZ.sum_mull.
    transitivity (sum N (fun l => a l * jacobian d dk dv m n (fun t => E t) (fun t => e t) places W0 l k) * factor (spot places k)).
    + rewrite <- SoundZ.sum_mul. apply SoundZ.sum_ext. intros i _. unfold jacobian. rewrite Rmult_assoc, true_slope. ring.
    + unfold jacobian in *. rewrite (Z k Hk). ring.
  - exists (wK W), (fun h a b => wQ W h a b / ln 2), (wV W), (fun r j => W (AtOutput (r / dv) (r mod dv) j)). intros t j Ht Hj. rewrite layer_is by exact Hdv.
    specialize (HW (t * m + j)%nat (table_place _ _ _ _ Ht Hj)). unfold all_labels.out in HW.
    rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r in HW by lia. rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small in HW by lia. exact HW.
Qed.
End Labelling.

Theorem check_every_labelling_sound gcd u p c : data_ok id c -> check_every_labelling gcd u p c = true -> every_labelling id c.
Proof.
  intros HD. unfold check_every_labelling, modulus. cbv zeta. rewrite !andb_true_iff.
  intros [[[[[[[[[[Hp Hf] H1] H2] H3] H4] H5] H6] distinct] valid] A].
  apply Z.ltb_lt in Hp. apply Z.eqb_eq in Hf. apply SoundZ.nonzero_ok in H1, H2, H3, H4, H5, H6.
  destruct (sizes c HD) as (Hd & Hdv & Hm & _). pose proof HD as (I & _ & count & _).
  destruct (CheckZ.clearm _ _ _ (output c)) as [out|] eqn:Hout; [|discriminate]. destruct (CheckZ.clear_heads _ _ _ _ _ _ _) as [hs|] eqn:Hhs; [|discriminate].
  destruct (stripped gcd p out) as [mO|] eqn:HmO; [|discriminate]. apply andb_prop in A as [Hc A].
  destruct (CheckZ.mapM _ (numbered _)) as [ms|] eqn:Hms; [|discriminate]. destruct (CheckZ.mapM _ (seq 0 _)) as [rows|] eqn:Hr; [|discriminate].
  assert (FO : exists f, f <> 0 /\ like (like (stands p) (dimm c)) (dimH c * dimv c) mO (fun i j => f * mentry id (output c) i j)) by (eapply output_factor; eassumption).
  destruct FO as (fO & fO0 & LO).
  destruct (choose_upto (fun h (f : R * R * R) => (fst (fst f) <> 0 /\ snd (fst f) <> 0 /\ snd f <> 0) /\ exists z, nth_error ms h = Some z /\
    residues_hold p (dimd c) (dimk c) (dimv c) (dimm c) z (fun a b => fst (fst f) * of_head id key c h a b) (fun a b => snd (fst f) * of_head id query c h a b)
      (fun a b => snd f * of_head id value c h a b) (fun b j => fO * mentry id (output c) (h * dimv c + b) j)) (0, 0, 0) (dimH c)) as [f Hff].
  { intros h Hh. eapply head_factors; eassumption. }
  apply (labelled u p c) with (out := out) (hs := hs) (ms := ms) (fO := fO) (f := f) (all_rows := rows); try assumption.
  all: intros h Hh; first [apply (Hff h Hh)|now apply (context_ok c h I Hh)].
Qed.
