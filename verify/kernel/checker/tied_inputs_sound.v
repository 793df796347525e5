(* check_tied_inputs = true implies no_weights. The argument is that of docs/certificate.md ("Why it holds for all
   weights") and of theory/impossible.v, on the lists that the checker computes with. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Permutation.
Require Import Spec numbers interpolation interpolation_sound integers tied_inputs.
Import ListNotations.
Import SoundZ.
Open Scope R_scope.

Local Notation id := (fun x : Z => x).

(* Sums over a list. *)
Definition lsum {A} (f : A -> R) (l : list A) : R := fold_right (fun x s => f x + s) 0 l.
Lemma lsum_perm {A} (f : A -> R) l l' : Permutation l l' -> lsum f l = lsum f l'.
Proof. unfold lsum. induction 1; cbn; lra. Qed.
Lemma lsum_map {A B} (g : A -> B) (f : B -> R) l : lsum f (map g l) = lsum (fun x => f (g x)) l.
Proof. unfold lsum. induction l as [|x l IH]; cbn; [reflexivity|]. now rewrite IH. Qed.
Lemma lsum_ext {A} (f g : A -> R) l : (forall x, In x l -> f x = g x) -> lsum f l = lsum g l.
Proof. unfold lsum. induction l as [|x l IH]; cbn; intros H; [reflexivity|]. rewrite IH; [rewrite H|]; auto. Qed.
Lemma lsum_mul {A} (f : A -> R) c l : lsum (fun x => c * f x) l = c * lsum f l.
Proof. unfold lsum. induction l as [|x l IH]; cbn; [ring|]. rewrite IH. ring. Qed.
Lemma lsum_0 {A} (l : list A) : lsum (fun _ => 0) l = 0.
Proof. unfold lsum. induction l as [|x l IH]; cbn; [reflexivity|]. rewrite IH. ring. Qed.
Lemma lsum_sum {A} (f : A -> R) (x0 : A) l : lsum f l = sum (length l) (fun i => f (nth i l x0)).
Proof. induction l as [|x l IH]; cbn [lsum fold_right length sum]; [reflexivity|]. f_equal. exact IH. Qed.

Lemma all_0_ok l j : all_0 l = true -> ient l j = 0.
Proof.
  revert j. induction l as [|z l IH]; intros [|j] H; try reflexivity; apply andb_prop in H as [Hz H]; [|now apply IH].
  apply Z.eqb_eq in Hz. subst. reflexivity.
Qed.
Lemma ient_scale g x j : ient (map (Z.mul g) x) j = IZR g * ient x j.
Proof.
  revert j. induction x as [|a x IH]; intros [|j]; unfold ient in *; cbn; try ring; [|apply IH].
  now rewrite <- mult_IZR.
Qed.
Lemma equal_rows_ok x y : equal_rows x y = true -> x = y.
Proof.
  unfold equal_rows. destruct (compare_rows x y) eqn:E; try discriminate. intros _. revert E.
  apply lexicographic_eq. intros a b. apply Z.compare_eq.
Qed.
Lemma compare_kinds_eq x y : compare_kinds x y = Eq -> x = y.
Proof. apply lexicographic_eq, lexicographic_eq. intros a b. apply Z.compare_eq. Qed.

(* Attention to centred tokens: phi(C, e) of docs/certificate.md, for a real matrix N. *)
Section Phi.
Variables (d : nat) (N : nat -> nat -> R).
Definition score (e x : list Z) : R := sum d (fun a => ient x a * sum d (fun b => N a b * ient e b)).
Definition phi (e : list Z) (C : list (list Z)) (a : nat) : R :=
  lsum (fun x : list Z => exp (score e x) * ient x a) C / lsum (fun x : list Z => exp (score e x)) C.

(* It does not depend on the order of the rows ... *)
Lemma phi_perm e C C' a : Permutation C C' -> phi e C a = phi e C' a.
Proof. intros P. unfold phi. now rewrite !(lsum_perm _ _ _ P). Qed.

Lemma score_scale g e x : score e (map (Z.mul g) x) = score (map (Z.mul g) e) x.
Proof.
  unfold score. apply sum_ext. intros a _. rewrite ient_scale, Rmult_assoc, (Rmult_comm (IZR g)), Rmult_assoc. f_equal.
  rewrite <- sum_mul. apply sum_ext. intros b _. rewrite ient_scale. ring.
Qed.
(* ... and phi(C, g q) = phi(g C, q) / g, since the logits are the same ... *)
Lemma phi_scale g q C a : g <> 0%Z -> phi (map (Z.mul g) q) C a = / IZR g * phi q (map (map (Z.mul g)) C) a.
Proof.
  intros Hg. apply nz in Hg. change (ZNum.toZ g) with g in Hg. unfold phi. rewrite !lsum_map.
  rewrite (lsum_ext (fun x => exp (score q (map (Z.mul g) x)) * ient (map (Z.mul g) x) a)
    (fun x => IZR g * (exp (score (map (Z.mul g) q) x) * ient x a))).
  2:{ intros x _. rewrite score_scale, ient_scale. ring. }
  rewrite lsum_mul, (lsum_ext (fun x => exp (score q (map (Z.mul g) x))) (fun x => exp (score (map (Z.mul g) q) x))).
  2:{ intros x _. now rewrite score_scale. }
  unfold Rdiv. rewrite <- !Rmult_assoc, Rinv_l, Rmult_1_l by exact Hg. reflexivity.
Qed.

(* ... and vanishes where the tokens are 0, or the query is 0 and the tokens add up to 0. *)
Lemma phi_tokens0 e C a : forallb all_0 C = true -> phi e C a = 0.
Proof.
  rewrite forallb_forall. intros H. unfold phi. rewrite (lsum_ext _ (fun _ => 0)), lsum_0; [unfold Rdiv; ring|].
  intros x Hx. rewrite all_0_ok by (apply H, Hx). ring.
Qed.
Lemma phi_query0 e C a : all_0 e = true -> lsum (fun x : list Z => ient x a) C = 0 -> phi e C a = 0.
Proof.
  intros H S. unfold phi. rewrite (lsum_ext _ (fun x : list Z => ient x a)), S; [unfold Rdiv; ring|].
  intros x _. replace (score e x) with 0; [rewrite exp_0; ring|].
  unfold score. rewrite <- (sum_0 d) at 1. apply sum_ext. intros i _.
  rewrite (sum_ext _ _ (fun _ => 0)), sum_0; [ring|]. intros b _. rewrite all_0_ok by exact H. ring.
Qed.

(* ... nor on whether all rows occur k times ... *)
Lemma lsum_repeated {A} (f : A -> R) k l : lsum f (flat_map (fun x => repeat x k) l) = INR k * lsum f l.
Proof.
  assert (App : forall l1 l2, lsum f (l1 ++ l2) = lsum f l1 + lsum f l2).
  { intros l1 l2. unfold lsum. induction l1 as [|x l1 IH]; cbn; [ring|]. rewrite IH. ring. }
  assert (Rep : forall x, lsum f (repeat x k) = INR k * f x).
  { intros x. induction k as [|j IH]; [unfold lsum; cbn; ring|]. rewrite S_INR. cbn [repeat lsum fold_right].
    unfold lsum in IH. rewrite IH. ring. }
  induction l as [|x l IH]; cbn [flat_map]; [unfold lsum; cbn; ring|]. rewrite App, Rep, IH. unfold lsum. cbn. ring.
Qed.
Lemma phi_repeated e k C a : k <> 0%nat -> phi e (flat_map (fun x => repeat x k) C) a = phi e C a.
Proof.
  intros Hk. apply not_0_INR in Hk. unfold phi. rewrite !lsum_repeated. unfold Rdiv.
  rewrite Rinv_mult. set (A := lsum (fun x : list Z => exp (score e x) * ient x a) C). set (B := lsum _ C).
  transitivity (INR k * / INR k * (A * / B)); [ring|]. rewrite Rinv_r by exact Hk. ring.
Qed.
Lemma phi_reduced e C a : phi e (reduced C) a = phi e C a.
Proof.
  unfold reduced. destruct C as [|x r]; [reflexivity|]. set (k := common_run x 1 r).
  destruct (lexicographic _ _ _) eqn:E; try reflexivity.
  apply lexicographic_eq in E; [|intros y z; apply lexicographic_eq; intros ? ?; apply Z.compare_eq].
  rewrite <- E at 2. symmetry. apply phi_repeated. intros k0. rewrite k0 in E.
  assert (Nil : forall l : list (list Z), flat_map (fun y => repeat y 0) l = []) by (induction l; auto).
  rewrite Nil in E. discriminate.
Qed.

(* One unknown for each kind. *)
Definition unknown (k : kind) (a : nat) : R := match k with [] => 0 | q :: X => phi q X a end.
Definition known_by (k : option (kind * Z)) (a : nat) : R :=
  match k with None => 0 | Some (k, g) => / IZR g * unknown k a end.

Lemma kind_of_ok gcd e C k a : kind_of gcd e C = Some k -> lsum (fun x : list Z => ient x a) C = 0 ->
  phi e C a = known_by k a /\ (forall k' g, k = Some (k', g) -> g <> 0%Z).
Proof.
  unfold kind_of. destruct (forallb all_0 C || all_0 e) eqn:E.
  - intros [= <-] S. split; [|discriminate]. apply orb_prop in E as [E|E]; [now apply phi_tokens0|now apply phi_query0].
  - destruct (_ && _) eqn:Q; [|discriminate]. intros [= <-] _. apply andb_prop in Q as [G Q].
    apply nonzero_ok in G. apply equal_rows_ok in Q. split; [|intros k' g [= _ <-]; exact G].
    cbn [known_by unknown]. rewrite <- Q at 1. rewrite phi_scale by exact G. f_equal.
    rewrite phi_reduced. apply phi_perm, SortRows.Permuted_sort.
Qed.
End Phi.

(* With n tokens and L = times n: L z = s + phi(C, e) in every head, s times the sum of tokens; with the denominators,
   L uE z = s + phi. *)
Section Feature.
Variables (n d dk : nat) (times L uE uq : Z) (E : list (list Z)) (e : list Z).
Variables (K Q : nat -> nat -> nat -> R) (Er : nat -> nat -> R) (er : nat -> R) (h : nat).
Hypotheses (n_pos : (0 < n)%nat) (L_n : (times * Z.of_nat n)%Z = L) (L_nz : IZR L <> 0) (uE_nz : IZR uE <> 0) (uq_nz : IZR uq <> 0).
Hypotheses (E_len : length E = n) (E_rect : rect d E).
Hypotheses (Er_ok : forall i a, Er i a = ient2 E i a / IZR uE) (er_ok : forall b, er b = ient e b / IZR uq).

Definition mixing (a b : nat) : R := sum dk (fun k => K h a k * (ln 2 * Q h b k)).
Definition scaled (a b : nat) : R := mixing a b / (IZR L * IZR uE * IZR uq).
Let s : list Z := map (Z.mul times) (sum_of_tokens d E).
Let C : list (list Z) := centred L s E.

Lemma sum_of_tokens_ok : length s = d /\ forall a, ient s a = IZR times * lsum (fun x : list Z => ient x a) E.
Proof.
  destruct (lincomb_ok d n (map (fun _ => 1%Z) E) E) as [Ls H]; rewrite ?map_length; try assumption.
  split; [unfold s; rewrite map_length; exact Ls|]. intros a. unfold s, sum_of_tokens. rewrite ient_scale, H, (lsum_sum _ []), E_len. f_equal. apply sum_ext.
  intros i Hi. unfold ient2. replace (ient (map (fun _ => 1%Z) E) i) with 1; [now rewrite Rmult_1_l|]. unfold ient.
  destruct (nth_error E i) as [x|] eqn:Ex; [now rewrite (map_nth_error _ _ _ Ex)|].
  apply nth_error_None in Ex. lia.
Qed.
Lemma ient_opp (x : list Z) j : ient (map Z.opp x) j = - ient x j.
Proof.
  revert j. induction x as [|a x IH]; intros [|j]; unfold ient in *; cbn; try ring; [|apply IH].
  now rewrite <- opp_IZR.
Qed.
Lemma centred_ok x a : In x E -> ient (CheckZ.axpy L x (map Z.opp s)) a = IZR L * ient x a - ient s a.
Proof.
  intros Hx. assert (R := E_rect). unfold rect in R. rewrite Forall_forall in R. destruct sum_of_tokens_ok as [Ls _].
  change CheckZ.axpy with C.axpy. rewrite axpy_ok by (rewrite map_length, Ls; auto).
  change (ZNum.toZ L) with L. rewrite ient_opp. ring.
Qed.
Lemma centred_sum a : lsum (fun x : list Z => ient x a) C = 0.
Proof.
  unfold C, centred. rewrite lsum_map. rewrite (lsum_ext _ (fun x => IZR L * ient x a + - ient s a)).
  2:{ intros x Hx. rewrite centred_ok by exact Hx. ring. }
  assert (A : forall (l : list (list Z)) f c, lsum (fun x => f x + c) l = lsum f l + INR (length l) * c).
  { induction l as [|x l IH]; intros f c; [cbn; ring|]. cbn [lsum fold_right]. unfold lsum in IH. rewrite IH.
    cbn [length]. rewrite S_INR. ring. }
  rewrite A, lsum_mul, E_len. destruct sum_of_tokens_ok as [_ ->]. rewrite <- L_n, mult_IZR, <- INR_IZR_INZ. ring.
Qed.

Lemma nth_centred i : (i < n)%nat -> nth i C [] = CheckZ.axpy L (nth i E []) (map Z.opp s).
Proof.
  intros Hi. unfold C, centred. cbv zeta. set (f := fun x : list Z => CheckZ.axpy L x (map Z.opp s)).
  rewrite (nth_indep _ [] (f [])); [apply (map_nth f)|]. rewrite map_length.
  rewrite <- E_len in Hi. exact Hi.
Qed.

(* The logits are those of the centred tokens, up to a shift. *)
Lemma logit_score i : (i < n)%nat ->
  score d scaled e (nth i C []) =
  logit d dk K Q Er er h i + - (sum d (fun a => ient s a * sum d (fun b => scaled a b * ient e b))).
Proof.
  intros Hi. rewrite nth_centred by exact Hi.
  unfold score, logit. rewrite <- (Rmult_1_l (sum d (fun a => ient s a * _))), Ropp_mult_distr_l, <- sum_mull, <- sum_add.
  apply sum_ext. intros a _. rewrite centred_ok by (apply nth_In; lia).
  replace (sum dk _) with (IZR L * IZR uE * sum d (fun b => scaled a b * ient e b)).
  2:{ rewrite <- sum_mull.
      rewrite (sum_ext dk _ (fun k => sum d (fun b => K h a k * (ln 2 * Q h b k) * er b))).
      2:{ intros k _. rewrite <- sum_mull. apply sum_ext. intros b _. ring. }
      rewrite sum_swap. apply sum_ext. intros b _. rewrite sum_mul. fold (mixing a b). unfold scaled.
      rewrite er_ok. field. repeat split; assumption. }
  rewrite Er_ok. unfold ient2. change ZNum.t with Z. field. assumption.
Qed.

Lemma feature_phi a : IZR L * IZR uE * feature n d dk K Q Er er h a = ient s a + phi d scaled e C a.
Proof.
  assert (C_len : length C = n) by (unfold C, centred; now rewrite map_length).
  set (ps := fun i => exp (score d scaled e (nth i C []))).
  set (shift := - (sum d (fun a => ient s a * sum d (fun b => scaled a b * ient e b)))).
  destruct (softmax_ok n (logit d dk K Q Er er h) ps (exp shift) n_pos (exp_pos _)) as [Hpos Hsm].
  { intros i Hi. unfold ps. rewrite logit_score, exp_plus by exact Hi. reflexivity. }
  unfold feature. rewrite <- sum_mull.
  rewrite (sum_ext n _ (fun i => (ps i * ient (nth i C []) a) * / sum n ps + (ps i * / sum n ps) * ient s a)).
  2:{ intros i Hi. rewrite Hsm, Er_ok by exact Hi.
      rewrite nth_centred by exact Hi.
      rewrite centred_ok by (apply nth_In; lia). unfold ient2. change ZNum.t with Z. field. split; [lra|assumption]. }
  rewrite sum_add, !sum_mul. unfold phi. rewrite !(lsum_sum _ [] C), C_len. fold ps.
  change (fun i => exp (score d scaled e (nth i C [])) * ient (nth i C []) a) with (fun i => ps i * ient (nth i C []) a).
  change (fun i => exp (score d scaled e (nth i C []))) with ps. field. lra.
Qed.
End Feature.

(* Fractions of one kind that add up to 0, kind by kind: so does their sum, each times its kind's unknown. *)
Section Cancels.
Variables (gcd : Z -> Z -> Z) (f : kind -> R).
Definition part (x : entry) : R := IZR (fst (snd x)) / IZR (snd (snd x)) * f (fst x).
Definition proper (x : entry) : Prop := snd (snd x) <> 0%Z.

Lemma lowest_ok a b x y : b <> 0%Z -> lowest gcd a b = (x, y) -> y <> 0%Z /\ IZR x / IZR y = IZR a / IZR b.
Proof.
  intros Hb. unfold lowest. destruct (_ && _) eqn:E; intros [= <- <-]; [|auto].
  apply andb_prop in E as [Ea Eb]. apply Z.eqb_eq in Ea, Eb. set (g := gcd a b) in *.
  assert (Hy : (b / g)%Z <> 0%Z) by (intros Z0; rewrite Z0 in Eb; lia).
  assert (Hg : g <> 0%Z) by (intros Z0; rewrite Z0, Z.mul_0_r in Eb; lia).
  split; [exact Hy|]. rewrite <- Ea at 2. rewrite <- Eb at 2. rewrite !mult_IZR.
  apply not_0_IZR in Hy, Hg. field. split; assumption.
Qed.
Lemma runs_ok l k a b : b <> 0%Z -> Forall proper l -> runs gcd k a b l = true -> IZR a / IZR b * f k + lsum part l = 0.
Proof.
  revert k a b. induction l as [|[k' [a' b']] l IH]; cbn [runs]; intros k a b Hb P H.
  - apply Z.eqb_eq in H. subst. cbn. unfold Rdiv. ring.
  - inversion P as [|? ? Hb' P']; subst. unfold proper in Hb'; cbn in Hb'. cbn [lsum fold_right]. fold (lsum part l). unfold part at 1. cbn [fst snd].
    destruct (compare_kinds k k') eqn:E.
    2,3: apply andb_prop in H as [H1 H2]; apply Z.eqb_eq in H1; rewrite H1; unfold Rdiv at 1;
      rewrite !Rmult_0_l, Rplus_0_l; now apply IH.
    apply compare_kinds_eq in E. subst k'.
    destruct (lowest gcd _ _) as [x y] eqn:L. apply lowest_ok in L as [Hy L]; [|lia].
    specialize (IH k x y Hy P' H). rewrite L, plus_IZR, !mult_IZR in IH.
    apply not_0_IZR in Hb, Hb'. rewrite <- IH. field. split; assumption.
Qed.
Lemma cancels_ok l : Forall proper l -> cancels gcd l = true -> lsum part l = 0.
Proof.
  intros P. unfold cancels. assert (S := SortEntries.Permuted_sort l). rewrite (lsum_perm _ _ _ S).
  apply (Permutation_Forall S) in P. destruct (SortEntries.sort l) as [|[k [a b]] r]; [reflexivity|].
  inversion P as [|? ? Hb P']; subst. intros H. apply runs_ok in H; [exact H|exact Hb|exact P'].
Qed.
End Cancels.

(* The entries, as a sum over the examples. *)
Lemma entries_ok d N F examples a : length F = length examples ->
  (forall x k g, In x examples -> snd x = Some (k, g) -> g <> 0%Z) ->
  Forall proper (entries F examples) /\
  lsum (part (fun k => unknown d N k a)) (entries F examples) =
  sum (length F) (fun t => ient F t * match nth_error examples t with Some x => known_by d N (snd x) a | None => 0 end).
Proof.
  revert examples. induction F as [|f F IH]; intros [|[s [[k g]|]] r]; cbn [entries length sum nth_error]; intros L H; try lia.
  - split; [constructor|reflexivity].
  - destruct (IH r ltac:(lia)) as [IP IS]; [intros x k' g' Hx; apply H; now right|].
    assert (Hg : g <> 0%Z) by (apply (H (s, Some (k, g)) k g); [now left|reflexivity]).
    split; [constructor; [exact Hg|exact IP]|]. cbn [lsum fold_right]. unfold lsum in IS. rewrite IS.
    unfold part. cbn [fst snd known_by]. replace (ient (f :: F) 0) with (IZR f) by reflexivity.
    apply not_0_IZR in Hg. f_equal. field. exact Hg.
  - destruct (IH r ltac:(lia)) as [IP IS]; [intros x k' g' Hx; apply H; now right|].
    split; [exact IP|]. rewrite IS. cbn [snd known_by]. rewrite Rmult_0_r, Rplus_0_l. reflexivity.
Qed.

Theorem check_tied_inputs_sound gcd L uE uq uy uc c relation :
  check_tied_inputs gcd L uE uq uy uc c relation = true -> no_weights id c.
Proof.
  unfold check_tied_inputs. rewrite !andb_true_iff. intros [[[[[H5 H1] H2] H3] H4] H].
  apply nonzero_ok in H1, H2, H3, H4, H5.
  destruct (CheckZ.clearv _ uc relation) as [F|] eqn:HF; [|discriminate].
  destruct (CheckZ.clearm _ _ uy (labels c)) as [Y|] eqn:HY; [|discriminate].
  destruct (CheckZ.mapM _ _) as [examples|] eqn:HX; [|discriminate].
  apply clearv_ok in HF; [|exact H4]. destruct HF as [F_len _].
  apply clearm_ok in HY; [|exact H3]. destruct HY as (Y_len & Y_rect & Y_ok).
  rewrite !andb_true_iff in H. destruct H as [[S0 K0] Y0].
  assert (X_len := mapM_length _ _ _ HX). rewrite seq_length in X_len.
  intros Hh dk dv K Q V O met.
  apply existsb_exists in Y0 as (y & Hy & y_nz). apply In_nth_error in Hy as [j Hj]. apply nonzero_ok in y_nz.
  destruct (lincomb_ok (dimm c) (dimT c) F Y F_len Y_len Y_rect) as [LL LE].
  change (length (CheckZ.lincomb (dimm c) F Y) = dimm c) in LL.
  assert (jm : (j < dimm c)%nat) by (rewrite <- LL; apply nth_error_Some; rewrite Hj; discriminate).
  specialize (LE j). change (ient (CheckZ.lincomb (dimm c) F Y) j = sum (dimT c) (fun t => ient F t * ient2 Y t j)) in LE.
  unfold ient at 1 in LE. rewrite Hj in LE. apply (nz y y_nz). rewrite LE. clear LE Hj LL.
  assert (uE0 : IZR uE <> 0) by now apply nz. assert (uq0 : IZR uq <> 0) by now apply nz.
  assert (uy0 : IZR uy <> 0) by now apply nz. assert (L0 : IZR L <> 0) by now apply nz.
  (* in every head the features obey the relation *)
  assert (tied : forall h a, (a < dimd c)%nat -> sum (dimT c) (fun t => ient F t *
    feature (tokens c t) (dimd c) dk K Q (mentry id (ctx c t)) (mentry id (queries c) t) h a) = 0).
  { intros h a Ha. apply Rmult_eq_reg_l with (IZR L * IZR uE);
      [|now apply Rmult_integral_contrapositive_currified]. rewrite Rmult_0_r, <- sum_mull.
    set (N := scaled dk L uE uq K Q h).
    assert (each : forall t, (t < dimT c)%nat -> exists x, nth_error examples t = Some x /\ length (fst x) = dimd c /\
      IZR L * IZR uE * feature (tokens c t) (dimd c) dk K Q (mentry id (ctx c t)) (mentry id (queries c) t) h a
        = ient (fst x) a + known_by (dimd c) N (snd x) a /\ (forall k g, snd x = Some (k, g) -> g <> 0%Z)).
    { intros t Ht. assert (Hs : nth_error (seq 0 (dimT c)) t = Some t).
      { rewrite (nth_error_nth' (seq 0 (dimT c)) 0%nat) by (rewrite seq_length; lia). now rewrite seq_nth. }
      destruct (mapM_nth _ _ _ _ _ HX Hs) as (x & Hx & Hex). exists x. split; [exact Hx|]. unfold example in Hex.
      destruct (CheckZ.clear_context _ uE _) as [E|] eqn:HE; [|discriminate].
      destruct (CheckZ.clearv _ uq _) as [e|] eqn:He; [|discriminate].
      apply clear_context_ok in HE; [|exact H1]. apply clearv_ok in He; [|exact H2].
      destruct HE as (Hn & HE1 & HE2 & HE3), He as (_ & He2). cbv zeta in Hex. rewrite HE1 in Hex.
      match type of Hex with (if ?b then _ else _) = _ => destruct b eqn:L_n; [apply Z.eqb_eq in L_n|discriminate] end.
      set (times := (L / _)%Z) in *.
      destruct (kind_of _ _ _) as [k|] eqn:Hk; [|discriminate]. cbn [option_map] in Hex. inversion Hex; subst x. cbn [fst snd].
      destruct (sum_of_tokens_ok (tokens c t) (dimd c) times E Hn HE1 HE2) as [Ls _]. split; [exact Ls|].
      rewrite (feature_phi (tokens c t) (dimd c) dk times L uE uq E e K Q _ _ h Hn L0 uE0 uq0 HE1 HE2 HE3 He2).
      destruct (kind_of_ok (dimd c) N gcd e _ k a Hk) as [P G]; [exact (centred_sum (tokens c t) (dimd c) times L E Hn L_n HE1 HE2 a)|].
      split; [now rewrite <- P|exact G]. }
    destruct (entries_ok (dimd c) N F examples a) as [P S]; [transitivity (dimT c); [exact F_len|now symmetry]| |].
    { intros x k g Hx Hk. apply In_nth_error in Hx as [t Hx].
      assert (Ht : (t < dimT c)%nat) by (rewrite <- X_len; apply nth_error_Some; rewrite Hx; discriminate).
      destruct (each t Ht) as (x' & Hx' & _ & _ & G). rewrite Hx in Hx'. inversion Hx'; subst. now apply (G k). }
    rewrite (cancels_ok gcd _ _ P K0) in S. change (@length Z F = dimT c) in F_len. rewrite F_len in S.
    destruct (lincomb_ok (dimd c) (dimT c) F (map fst examples)) as [_ LS]; [exact F_len|now rewrite map_length| |].
    { apply Forall_forall. intros r Hr. apply in_map_iff in Hr as (x & <- & Hx). apply In_nth_error in Hx as [t Hx].
      assert (Ht : (t < dimT c)%nat) by (rewrite <- X_len; apply nth_error_Some; rewrite Hx; discriminate).
      destruct (each t Ht) as (x' & Hx' & Lx & _). rewrite Hx in Hx'. now inversion Hx'; subst. }
    specialize (LS a). assert (A0 := all_0_ok _ a S0).
    change (ient (CheckZ.lincomb (dimd c) F (map fst examples)) a =
      sum (dimT c) (fun t => ient F t * ient2 (map fst examples) t a)) in LS. rewrite A0 in LS.
    transitivity (0 + 0); [|ring]. rewrite LS at 1. rewrite S at 1. rewrite <- sum_add. apply sum_ext.
    intros t Ht. destruct (each t Ht) as (x & Hx & _ & Fe & _).
    replace (IZR L * IZR uE * (ient F t * _)) with (ient F t * (IZR L * IZR uE *
      feature (tokens c t) (dimd c) dk K Q (mentry id (ctx c t)) (mentry id (queries c) t) h a)) by ring.
    rewrite Fe, Hx. unfold ient2. change ZNum.t with Z.
    rewrite (nth_error_nth _ _ [] (map_nth_error fst _ _ Hx)). ring. }
  (* so the outputs do, and the labels with them *)
  transitivity (IZR uy * sum (dimT c) (fun t => ient F t * mentry id (labels c) t j)).
  { rewrite <- sum_mull. apply sum_ext. intros t Ht. rewrite Y_ok. change (IZR (ZNum.toZ uy)) with (IZR uy). field. exact uy0. }
  rewrite (sum_ext _ _ (fun t => sum Hh (fun h => sum dv (fun b => sum (dimd c) (fun a => ient F t *
    feature (tokens c t) (dimd c) dk K Q (mentry id (ctx c t)) (mentry id (queries c) t) h a * (V h a b * O (h * dv + b)%nat j)))))).
  2:{ intros t Ht. rewrite <- (met t j Ht jm). unfold layer. rewrite <- sum_mull. apply sum_ext. intros h _.
      rewrite <- sum_mull. apply sum_ext. intros b _. rewrite <- sum_mul, <- sum_mull. apply sum_ext. intros a _. ring. }
  rewrite sum_swap, (sum_ext _ _ (fun _ => 0)), sum_0; [ring|]. intros h _.
  rewrite sum_swap, (sum_ext _ _ (fun _ => 0)), sum_0; [ring|]. intros b _.
  rewrite sum_swap, (sum_ext _ _ (fun _ => 0)), sum_0; [ring|]. intros a Ha.
  rewrite sum_mul, tied by exact Ha. ring.
Qed.
