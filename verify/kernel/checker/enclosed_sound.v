(* Accepted outputs are within the bound, over the real numbers: each operation on balls holds what the real one gives. *)
From Coq Require Import ZArith Reals List Bool Lia Lra.
Require Import Spec Json Blocks Certificate shapes transfer interpolation integers network network_sound balls balls_sound enclosed.
Import ListNotations.
Open Scope R_scope.
Local Notation length := List.length.

(* Rows and columns. *)
Lemma as_long_ok {A} n (l : list (list A)) : as_long n l = true <-> Forall (fun x => length x = n) l.
Proof. unfold as_long. rewrite forallb_forall, Forall_forall. split; intros H x I; apply H in I; now apply Nat.eqb_eq. Qed.
Lemma as_long_alike {A B} (R : list A -> list B -> Prop) n l l' : (forall x y, R x y -> length x = length y) ->
  Forall2 R l l' -> as_long n l = as_long n l'.
Proof. intros H. unfold as_long. induction 1 as [|x y l l' Hx F IH]; cbn [forallb]; [reflexivity|]. now rewrite (H _ _ Hx), IH. Qed.
Lemma dot_comm x y : dot x y = dot y x.
Proof.
  revert y. induction x as [|a x IH]; intros [|b y]; try reflexivity.
  change (a * b + dot x y = b * a + dot y x). rewrite IH. ring.
Qed.
Lemma dot_plus x y z : length x = length y -> dot (plus x y) z = dot x z + dot y z.
Proof.
  revert y z. induction x as [|a x IH]; intros [|b y] z E; try discriminate; [cbn; ring|]. injection E as E. destruct z as [|c z]; [cbn; ring|].
  change ((a + b) * c + dot (plus x y) z = a * c + dot x z + (b * c + dot y z)). rewrite (IH _ _ E). ring.
Qed.
Lemma dot_times a x z : dot (map (Rmult a) x) z = a * dot x z.
Proof.
  revert z. induction x as [|b x IH]; intros [|c z]; try (cbn; ring).
  change (a * b * c + dot (map (Rmult a) x) z = a * (b * c + dot x z)). rewrite IH. ring.
Qed.
(* A map after a map: the columns of the two together are combinations of the first's. *)
Lemma combination_dot ws rows y z : combination ws rows = Got y -> dot ws (map (dot z) rows) = dot z y.
Proof.
  revert rows y. induction ws as [|w ws IH]; intros rows y H; [discriminate|]. destruct rows as [|x rows]; [now destruct ws|].
  destruct ws as [|w' ws], rows as [|x' rows]; try discriminate; [|now destruct ws|].
  - injection H as <-. cbn [map]. rewrite (dot_comm z (map _ _)), dot_times, (dot_comm x). unfold dot at 1. cbn. ring.
  - change (bind (combination (w' :: ws) (x' :: rows)) (fun y => let* _ := need Unusable (Nat.eqb (length x) (length y)) in
      Got (plus (map (Rmult w) x) y)) = Got y) in H.
    apply bind_got in H as (v & H & E). steps. subst y. apply IH in H. apply Nat.eqb_eq in H0.
    change (w * dot z x + dot (w' :: ws) (map (dot z) (x' :: rows)) = dot z (plus (map (Rmult w) x) v)).
    rewrite H, (dot_comm z (plus _ _)), dot_plus by now rewrite map_length. rewrite dot_times, (dot_comm x), (dot_comm v). reflexivity.
Qed.
Lemma columns_length {A} n (rows : list (list A)) : rows <> [] -> Forall (fun x => length x = n) rows -> length (columns rows) = n.
Proof.
  intros N H. unfold columns, width. assert (E : length (hd [] rows) = n) by (destruct H; [easy|assumption]). rewrite E. clear N E.
  induction H as [|x rows Hx H IH]; cbn; [apply repeat_length|]. rewrite map_length, combine_length, IH, Hx. lia.
Qed.
Lemma columns_cons {A} x y (rows : list (list A)) : length x = length y ->
  columns (x :: y :: rows) = map (fun p => fst p :: snd p) (combine x (columns (y :: rows))).
Proof. intros E. unfold columns, width. cbn [hd fold_right]. now rewrite E. Qed.
Lemma columns_one {A} (x : list A) : columns [x] = map (fun a => [a]) x.
Proof. unfold columns, width. cbn. induction x as [|a x IH]; cbn; [reflexivity|]. now rewrite IH. Qed.
Lemma combination_columns n ws rows : rows <> [] -> length ws = length rows -> Forall (fun x => length x = n) rows ->
  combination ws rows = Got (map (dot ws) (columns rows)).
Proof.
  intros N L H. revert ws L. induction H as [|x rows Hx H IH]; [easy|]. intros [|w ws] L; [discriminate|]. injection L as L.
  destruct rows as [|x' rows].
  - destruct ws; [|discriminate]. rewrite columns_one, map_map. cbn [combination]. f_equal. apply map_ext. intros a. unfold dot. cbn. ring.
  - destruct ws as [|w' ws]; [discriminate|]. specialize (IH ltac:(discriminate) _ L).
    change (bind (combination (w' :: ws) (x' :: rows)) (fun y => let* _ := need Unusable (Nat.eqb (length x) (length y)) in
      Got (plus (map (Rmult w) x) y)) = Got (map (dot (w :: w' :: ws)) (columns (x :: x' :: rows)))).
    rewrite IH. cbn [bind]. pose proof (columns_length n (x' :: rows) ltac:(discriminate) H) as C. rewrite map_length, C, Hx, Nat.eqb_refl. cbn [need bind].
    rewrite columns_cons by (inversion H; congruence). f_equal. rewrite map_map. unfold plus.
    rewrite <- C in Hx. clear - Hx. revert Hx. generalize (columns (x' :: rows)). clear.
    induction x as [|a x IH]; intros [|c l] E; try discriminate; [reflexivity|]. injection E as E. cbn [map combine]. f_equal. now apply IH.
Qed.
Lemma columns_related {A B} (R : A -> B -> Prop) n rows rows' : rows <> [] -> Forall (fun x => length x = n) rows ->
  Forall2 (Forall2 R) rows rows' -> Forall2 (Forall2 R) (columns rows) (columns rows').
Proof.
  intros N L H. induction H as [|x x' rows rows' Hx H IH]; [easy|]. destruct H as [|y y' rows rows' Hy H].
  - rewrite !columns_one. clear - Hx. induction Hx; cbn; constructor; [now repeat constructor|assumption].
  - inversion L as [|? ? L1 L2]; subst. inversion L2 as [|? ? L3 _]; subst. specialize (IH ltac:(discriminate) L2).
    rewrite !columns_cons by (rewrite <- ?(Forall2_lengths _ _ _ Hx), <- ?(Forall2_lengths _ _ _ Hy); congruence).
    revert IH. generalize (columns (y :: rows)), (columns (y' :: rows')). clear - Hx. induction Hx; intros c c' G; cbn; [constructor|].
    destruct G; cbn; constructor; [now constructor|auto].
Qed.

Lemma dot_app x y a b : length x = length y -> dot (x ++ [a]) (y ++ [b]) = dot x y + a * b.
Proof.
  revert y. induction x as [|c x IH]; intros [|d y] E; try discriminate; [unfold dot; cbn; ring|]. injection E as E.
  change (c * d + dot (x ++ [a]) (y ++ [b]) = c * d + dot x y + a * b). rewrite (IH _ E). ring.
Qed.
Lemma combined_length n weights rows y : Forall (fun x => length x = n) rows -> combined weights rows = Got y -> length y = n.
Proof.
  intros H. revert weights y. induction H as [|x rows Hx H IH]; intros [|w weights] y E; try discriminate; [now destruct weights|].
  destruct weights as [|w' weights], rows as [|x' rows]; try discriminate; [injection E as <-; now rewrite map_length|now destruct weights|].
  change (bind (combined (w' :: weights) (x' :: rows)) (fun y => let* _ := need Unusable (Nat.eqb (length x) (length y)) in
    Got (add_up (map (Z.mul w) x) y)) = Got y) in E.
  apply bind_got in E as (z & E & F). steps. subst y. apply IH in E. unfold add_up. rewrite map_length, combine_length, map_length. lia.
Qed.

Section Operations.
Variables (P : Z) (ln_2 : ball).
Hypotheses (HP : (0 <= P)%Z) (Hln : encloses P ln_2 (ln 2)).
Local Notation holds := (Forall2 (encloses P)).
Local Notation scale := (IZR (2 ^ P)).

Lemma exactly_ok b : encloses P (exactly P b) (if b then 1 else 0).
Proof.
  apply encloses_iff. unfold exactly, unit_ball. cbn [fst snd]. destruct b; [rewrite unit_ok by exact HP|]; lra.
Qed.
Lemma holds_app x xs y ys : holds x xs -> holds y ys -> holds (x ++ y) (xs ++ ys).
Proof. apply Forall2_app. Qed.
Lemma mapped_ok_ m : agree holds (mapped_balls P m) (mapped_real (map_values m)).
Proof.
  destruct m as [columns u]. intros x xs Hx. unfold mapped_balls, mapped_real, map_values. cbn [fst snd].
  assert (H1 : holds (x ++ [(unit_ball P, 0%Z)]) (xs ++ [1])) by (apply holds_app; [exact Hx|constructor; [exact (exactly_ok true)|constructor]]).
  rewrite as_long_over, <- (Forall2_lengths _ _ _ H1). destruct (Z.ltb_spec 0 u) as [U|U]; [|intros ? E; discriminate]. cbn [andb].
  apply gives_need. apply gives_got. rewrite map_map. clear - HP H1 U. induction columns as [|c columns IH]; constructor; [|exact IH].
  rewrite dot_comm. now apply weighted_ok.
Qed.
Lemma joined_ok_ l l' : Forall2 holds l l' -> gives holds (joined_balls l) (joined_real l').
Proof. intros H. apply gives_got. induction H; cbn; [constructor|]. now apply Forall2_app. Qed.
Lemma plus_balls_ok x xs y ys : holds x xs -> holds y ys -> holds (plus_balls x y) (plus xs ys).
Proof.
  intros H G. apply Forall2_map. eapply Forall2_weaken; [|exact (Forall2_combine _ _ _ _ _ _ H G)].
  intros a b [A B]. now apply plus_ball_ok.
Qed.
Lemma added_ok_ l l' : Forall2 holds l l' -> gives holds (added_balls l) (added_real l').
Proof.
  intros [|x xs r r' Hx H]; [intros ? E; discriminate|]. unfold added_balls, added_real.
  rewrite (Forall2_lengths _ _ _ Hx), (as_long_alike _ _ _ _ (@Forall2_lengths _ _ _) H). apply gives_need, gives_got.
  induction H; cbn [fold_right]; [exact Hx|]. now apply plus_balls_ok.
Qed.
Lemma products_ok_ x xs l l' : holds x xs -> Forall2 holds l l' -> gives holds (products_balls P x l) (products_real xs l').
Proof.
  intros Hx H. unfold products_balls, products_real. rewrite (Forall2_lengths _ _ _ Hx), (as_long_alike _ _ _ _ (@Forall2_lengths _ _ _) H).
  apply gives_need, gives_got. induction H; constructor; [now apply inner_ok|assumption].
Qed.
Lemma mean_ok_ x xs l l' : holds x xs -> Forall2 holds l l' -> gives holds (mean_balls P x l) (combination xs l').
Proof.
  intros Hx H. unfold mean_balls. intros y E. steps. subst y.
  match goal with H1 : as_long _ _ = true, H2 : Nat.eqb (length x) _ = true, H3 : negb _ = true |- _ =>
    rename H1 into L; apply Nat.eqb_eq in H2; rename H2 into W; apply negb_true_iff in H3; apply Nat.eqb_neq in H3; rename H3 into N end.
  apply as_long_ok in L. rewrite (Forall2_lengths _ _ _ H), (Forall2_lengths _ _ _ Hx) in *.
  assert (N1 : l <> []) by (intros ->; apply N; apply Forall2_lengths in H; now rewrite <- H).
  assert (N2 : l' <> []) by (intros ->; now apply N).
  assert (L' : Forall (fun x => length x = width l) l').
  { apply as_long_ok. apply as_long_ok in L. rewrite <- L. symmetry. exact (as_long_alike _ _ _ _ (@Forall2_lengths _ _ _) H). }
  rewrite (combination_columns (width l)) by assumption. eexists. split; [reflexivity|].
  apply Forall2_map. eapply Forall2_weaken; [|exact (columns_related _ _ _ _ N1 L H)]. intros c c' Hc. now apply inner_ok.
Qed.

Lemma abs_max z : (Z.max z 0 = Z.max 0 z)%Z.
Proof. apply Z.max_comm. Qed.
Lemma active_ok_ a x xs : holds x xs -> gives holds (active_balls P a x) (active_real a xs).
Proof.
  intros H. pose proof (scale_above P HP) as S0. destruct a; cbn [active_balls active_real].
  - now apply gives_got.
  - apply gives_got. induction H as [|[c r] v x xs Hv H IH]; constructor; [|exact IH]. apply encloses_iff in Hv. apply encloses_iff. cbn [fst snd] in *.
    assert (M : scale * Rmax 0 v = Rmax 0 (scale * v)).
    { rewrite <- RmaxRmult; [now rewrite Rmult_0_r|]. now left. }
    rewrite M. unfold positive_part. cbn [fst snd]. destruct (Z.leb_spec (c + r) 0) as [L|_]; cbn [fst snd].
    { apply IZR_le in L. rewrite plus_IZR in L. rewrite Rmax_left by lra. lra. }
    unfold Rmax. destruct (Z.max_spec c 0) as [[L ->]|[L ->]]; [apply IZR_lt in L|apply IZR_le in L]; destruct (Rle_dec 0 (scale * v)); lra.
  - intros y E. steps. subst y. eexists. split; [reflexivity|]. rename H0 into D. revert D.
    induction H as [|[c r] v x xs Hv H IH]; cbn [forallb map]; intros D; constructor; apply andb_prop in D as [D D2]; [|now apply IH].
    unfold decided in D. cbn [fst snd] in *. apply encloses_iff in Hv. cbn [fst snd] in Hv.
    replace (if Rle_dec 0 v then 1 else 0) with (if (0 <=? c)%Z then 1 else 0); [apply exactly_ok|].
    apply orb_prop in D. destruct (Z.leb_spec 0 c) as [L|L], (Rle_dec 0 v) as [G|G]; try reflexivity; exfalso.
    + apply G. apply Rmult_le_reg_l with scale; [exact S0|]. rewrite Rmult_0_r. destruct D as [D|D].
      * apply Z.ltb_lt in D. assert (E : (r < c)%Z) by lia. apply IZR_lt in E. lra.
      * apply Z.eqb_eq in D. subst r. lra.
    + assert (0 <= scale * v) by nra. destruct D as [D|D].
      * apply Z.ltb_lt in D. assert (E : (r < - c)%Z) by lia. apply IZR_lt in E. rewrite opp_IZR in E. lra.
      * apply Z.eqb_eq in D. subst r. apply IZR_lt in L. lra.
Qed.

(* One logit leads: it is the largest, and no other is. *)
Lemma largest_is l m : In m l -> (forall x, In x l -> x <= m) -> largest l = m.
Proof.
  intros I H. destruct l as [|a l]; [easy|]. cbn [largest].
  assert (G : In (fold_right Rmax a l) (a :: l) /\ forall x, In x (a :: l) -> x <= fold_right Rmax a l).
  { clear. induction l as [|b l [IH1 IH2]]; cbn [fold_right].
    - split; [now left|]. intros x [->|[]]. lra.
    - split.
      + apply (Rmax_case b (fold_right Rmax a l) (fun m => In m (a :: b :: l))); [now right; left|destruct IH1; [now left|now right; right]].
      + intros x [->|[->|I]].
        * apply Rle_trans with (2 := Rmax_r _ _). apply IH2. now left.
        * apply Rmax_l.
        * apply Rle_trans with (2 := Rmax_r _ _). apply IH2. now right. }
  apply Rle_antisym; [apply H, G|now apply G].
Qed.
Definition largest_low (l : list ball) : Z := match l with [] => 0%Z | x :: r => fold_right (fun y m => Z.max (fst y - snd y) m) (fst x - snd x)%Z r end.
Lemma largest_low_in l : l <> [] -> exists b, In b l /\ largest_low l = (fst b - snd b)%Z.
Proof.
  destruct l as [|a l]; [easy|]. intros _. cbn [largest_low]. induction l as [|x l IH]; cbn [fold_right]; [exists a; split; [now left|reflexivity]|].
  destruct IH as (b & I & E). rewrite E. destruct (Z.max_spec (fst x - snd x) (fst b - snd b)) as [[_ ->]|[_ ->]].
  - exists b. split; [destruct I; [now left|now right; right]|reflexivity].
  - exists x. split; [now right; left|reflexivity].
Qed.
Lemma none_leads (f : ball -> bool) l : filter (fun b => b) (map f l) = [] -> Forall (fun b => f b = false) l.
Proof. induction l as [|b l IH]; cbn; [constructor|]. destruct (f b) eqn:E; [discriminate|]. constructor; auto. Qed.
Lemma one_leads (f : ball -> bool) l : length (filter (fun b => b) (map f l)) = 1%nat ->
  exists l1 b l2, l = l1 ++ b :: l2 /\ f b = true /\ Forall (fun b => f b = false) l1 /\ Forall (fun b => f b = false) l2.
Proof.
  induction l as [|b l IH]; [discriminate|]. cbn. destruct (f b) eqn:E; intros H.
  - exists [], b, l. repeat split; [assumption|constructor|]. apply none_leads. cbn in H. injection H as H. now apply length_zero_iff_nil.
  - destruct (IH H) as (l1 & c & l2 & -> & F & G1 & G2). exists (b :: l1), c, l2. repeat split; [assumption|now constructor|assumption].
Qed.
Lemma shares_ok_ r x xs : holds x xs -> gives holds (shares_balls P ln_2 r x) (shares_real r xs).
Proof.
  intros H. pose proof (scale_above P HP) as S0. destruct r as [in_ln_2| |]; cbn [shares_balls shares_real]; [| |now apply gives_got].
  - apply gives_got. replace (normalized (fun x => exp ((if in_ln_2 then ln 2 else 1) * x)) xs)
      with (normalized exp (if in_ln_2 then map (fun x => x * ln 2) xs else xs)).
    + apply softmax_ok; [exact HP|]. destruct in_ln_2; [|exact H]. apply Forall2_map. eapply Forall2_weaken; [|exact H].
      intros b v Hb. now apply product_ok.
    + unfold normalized. destruct in_ln_2; [rewrite !map_map|]; apply map_ext_in; intros a _; f_equal;
        try (f_equal; ring); f_equal; apply map_ext; intros b; f_equal; ring.
  - intros y E. apply bind_got in E as (e & E & F). apply need_got in E. injection F as <-. apply Nat.eqb_eq in E.
    eexists. split; [reflexivity|]. unfold leads in *. fold (largest_low x) in *.
    set (f b := (largest_low x <=? fst b + snd b)%Z) in *. change (map (fun x0 => f x0) x) with (map f x) in *.
    destruct (one_leads f x E) as (l1 & b & l2 & EX & Fb & G1 & G2).
    assert (LB : largest_low x = (fst b - snd b)%Z).
    { destruct (largest_low_in x) as (c & I & Ec); [rewrite EX; now destruct l1|]. 
      assert (Fc : f c = true).
      { unfold f. apply Z.leb_le. rewrite Ec. assert (0 <= snd c)%Z; [|lia]. apply le_IZR.
        clear - H I. induction H as [|d w x xs Hd H IH]; [easy|]. destruct I as [->|I]; [apply encloses_iff in Hd; lra|auto]. }
      enough (c = b) by (subst c; exact Ec). rewrite EX in I. apply in_app_or in I. rewrite Forall_forall in G1, G2.
      destruct I as [I|[I|I]]; [apply G1 in I; congruence|now symmetry|apply G2 in I; congruence]. }
    assert (Below : forall c v, encloses P c v -> f c = false -> scale * v < IZR (largest_low x)).
    { intros c v Hc Fc. apply Z.leb_gt in Fc. apply IZR_lt in Fc. rewrite plus_IZR in Fc. apply encloses_iff in Hc. lra. }
    rewrite EX in H. apply Forall2_app_inv_l in H as (xs1 & rest & H1 & Hr & ->). inversion Hr as [|? w ? xs2 Hw H2]; subst. clear Hr.
    assert (Lead : IZR (largest_low (l1 ++ b :: l2)) <= scale * w) by (rewrite LB, minus_IZR; apply encloses_iff in Hw; lra).
    assert (Small : forall c v, encloses P c v -> f c = false -> v < w).
    { intros c v Hc Fc. specialize (Below _ _ Hc Fc). nra. }
    assert (A : forall l ys, holds l ys -> Forall (fun b => f b = false) l -> Forall (fun v => v < w) ys).
    { intros l ys Hl. induction Hl; intros Fl; constructor; inversion Fl; subst; eauto. }
    pose proof (A _ _ H1 G1) as A1. pose proof (A _ _ H2 G2) as A2. rewrite Forall_forall in A1, A2.
    rewrite (largest_is _ w); [|apply in_or_app; right; now left|].
    2:{ intros v I. apply in_app_or in I as [I|[->|I]]; [apply A1 in I|..|apply A2 in I]; lra. }
    set (mark v := if Req_EM_T v w then 1 else 0).
    assert (Mw : mark w = 1) by (unfold mark; destruct (Req_EM_T w w); [reflexivity|easy]).
    assert (Z1 : forall ys, (forall v, In v ys -> v < w) -> map mark ys = map (fun _ => 0) ys).
    { intros ys L. apply map_ext_in. intros v I. apply L in I. unfold mark. destruct (Req_EM_T v w); [lra|reflexivity]. }
    assert (T0 : forall ys a, fold_right Rplus a (map (fun _ : R => 0) ys) = a) by (induction ys as [|z ys IH]; intros a; cbn; [reflexivity|rewrite IH; ring]).
    assert (T : total (map mark (xs1 ++ w :: xs2)) = 1).
    { unfold total. rewrite map_app, fold_right_app. cbn [map fold_right]. rewrite (Z1 xs2 A2), (Z1 xs1 A1), !T0, Mw. ring. }
    unfold normalized. fold mark. rewrite T, map_map. 
    assert (Nn : forall l ys, holds l ys -> Forall (fun b => f b = false) l -> (forall v, In v ys -> v < w) ->
      holds (map (fun x => exactly P (f x)) l) (map (fun x => mark x / 1) ys)).
    { intros l ys Hl. induction Hl as [|c v l ys Hc Hl IH]; intros Fl L; constructor; inversion Fl as [|? ? Fc Fr]; subst; [|apply IH; [exact Fr|intros; apply L; now right]].
      rewrite Fc. unfold mark. destruct (Req_EM_T v w) as [E'|_]; [specialize (L v (or_introl eq_refl)); lra|]. replace (0 / 1) with 0 by field. apply (exactly_ok false). }
    rewrite !map_app. apply Forall2_app; [now apply Nn|]. cbn [map]. constructor; [|now apply Nn].
    rewrite Fb, Mw. replace (1 / 1) with 1 by field. apply (exactly_ok true).
Qed.

(* Blocks. *)
Lemma composed_ok v o m : (snd v <> 0)%Z -> (snd o <> 0)%Z -> composed v o = Got m -> forall x y,
  mapped_real (map_values m) x = Got y -> (let* z := mapped_real (map_values v) x in mapped_real (map_values o) z) = Got y.
Proof.
  destruct v as [vs u], o as [os w]. cbn [snd]. intros Hu Hw. apply IZR_nz in Hu, Hw. unfold composed. intros H. apply bind_got in H as (e & N & H). apply need_got in N.
  apply bind_got in H as (cs & H & E). injection E as <-. apply andb_prop in N as [N No]. apply andb_prop in N as [N Nv].
  set (wide := length (hd [] vs)) in *. clearbody wide.
  intros x y. unfold mapped_real, map_values. cbn [fst snd]. rewrite !as_long_over. intros G. apply bind_got in G as (e2 & L & G). apply need_got in L. injection G as <-.
  set (x1 := x ++ [1]) in *. set (last := repeat 0%Z (pred wide) ++ [u]) in *.
  apply negb_true_iff, orb_false_iff in N as [N N0]. apply Nat.eqb_neq in N, N0. apply as_long_ok in Nv.
  assert (Last : length last = wide) by (unfold last; rewrite app_length, repeat_length; cbn; lia).
  assert (Wide : Forall (fun x => length x = wide) (vs ++ [last])) by (apply Forall_app; split; [exact Nv|repeat constructor; exact Last]).
  assert (X1 : length x1 = wide).
  { destruct os as [|o os]; [easy|]. destruct (each_got _ _ _ o H (or_introl eq_refl)) as (c & Hc).
    pose proof (combined_length _ _ _ _ Wide Hc) as Lc. pose proof (each_in _ _ _ _ _ H (or_introl eq_refl) Hc) as Ic.
    apply as_long_ok in L. rewrite Forall_forall in L. rewrite <- (L _ Ic). exact Lc. }
  assert (L1 : as_long (length x1) vs = true) by (apply as_long_ok; now rewrite X1).
  rewrite L1. cbn [need bind]. rewrite app_length, !map_length, Nat.add_1_r, as_long_over, No. cbn [need bind]. f_equal. rewrite !(map_map _ (dot _)).
  revert H. apply each_values. intros o c Hc. apply (combined_ok w u) in Hc; [|assumption|assumption]. apply (combination_dot _ _ _ x1) in Hc.
  rewrite <- Hc, (dot_comm _ (over w o)). f_equal. rewrite !map_app, !map_map. f_equal. cbn [map]. f_equal.
  unfold x1, last, over. rewrite map_app. cbn [map]. rewrite dot_app.
  - replace (IZR u / IZR u) with 1 by (field; exact Hu). enough (dot x (map (fun z => IZR z / IZR u) (repeat 0%Z (pred wide))) = 0) by lra.
    generalize (pred wide). clear. induction x as [|a x IH]; intros [|n]; try reflexivity. cbn [repeat map].
    change (a * (0 / IZR u) + dot x (map (fun z => IZR z / IZR u) (repeat 0%Z n)) = 0). rewrite IH. unfold Rdiv. ring.
  - rewrite map_length, repeat_length. unfold x1 in X1. rewrite app_length in X1. cbn in X1. lia.
Qed.
Lemma cleared_unit common M m : clear_map common M = Got m -> (snd m <> 0)%Z.
Proof. unfold clear_map. intros H. steps. subst m. cbn. apply Z.ltb_lt in H0. lia. Qed.
Lemma ball_of_ok x : (0 < denom x)%Z -> encloses P (ball_of P x) (real (fun z => z) x).
Proof. apply of_quotient_ok. exact HP. Qed.
Lemma close_ok most b v y : (0 < denom most)%Z -> (0 < denom y)%Z -> encloses P b v -> close P most (b, y) = true ->
  Rabs (v - real (fun z => z) y) <= real (fun z => z) most.
Proof.
  intros D Dy Hb H. pose proof (scale_above P HP) as S0. apply ball_of_ok in Dy. unfold close in H. destruct b as [c r]. set (l := ball_of P y) in *.
  assert (R1 : snd l = 1%Z) by reflexivity. apply Z.leb_le, IZR_le in H.
  rewrite mult_IZR, left_ok, !plus_IZR, IZR_abs, minus_IZR in H by exact HP. unfold encloses in Hb, Dy. rewrite R1 in Dy. cbn [fst snd] in *.
  apply IZR_lt in D. unfold real at 2. apply le_div; [exact D|]. apply Rmult_le_reg_l with scale; [exact S0|].
  apply Rle_trans with ((Rabs (IZR c - IZR (fst l)) + IZR r + 1) * IZR (denom most)); [|lra].
  rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [lra|].
  rewrite <- (Rabs_pos_eq scale) at 1 by lra. rewrite <- Rabs_mult.
  replace (scale * (v - real (fun z => z) y)) with ((IZR c - IZR (fst l)) + ((scale * v - IZR c) + - (scale * real (fun z => z) y - IZR (fst l)))) by ring.
  apply Rle_trans with (1 := Rabs_triang _ _). pose proof (Rabs_triang (scale * v - IZR c) (- (scale * real (fun z => z) y - IZR (fst l)))) as T.
  rewrite Rabs_Ropp in T. lra.
Qed.
End Operations.

(* Vectors that are rational or balls. *)
Section Mixed.
Variables (common : list (mat Z) -> Z) (gcd : Z -> Z -> Z) (longest P : Z) (ln_2 : ball).
Hypotheses (HP : (0 <= P)%Z) (Hln : encloses P ln_2 (ln 2)).
Local Notation holds := (Forall2 (encloses P)).
Definition stands (v : mixed) (x : list R) : Prop :=
  match v with Whole v => (0 < snd v)%Z /\ values v = x | Around l => holds l x end.

Lemma ball_over_ok u z : (0 < u)%Z -> encloses P (ball_over P u z) (IZR z / IZR u).
Proof.
  intros U. pose proof (of_quotient_ok P HP z u U) as Q. unfold ball_over, of_quotient in *. destruct (Z.eqb_spec (Z.shiftl z P / u * u) (Z.shiftl z P)) as [E|_]; [|exact Q].
  apply (f_equal IZR) in E. rewrite mult_IZR, left_ok in E by exact HP. apply IZR_lt in U. apply encloses_iff. cbn [fst snd].
  set (q := IZR (Z.shiftl z P / u)) in *. clearbody q. replace (IZR (2 ^ P) * (IZR z / IZR u)) with q; [lra|].
  apply Rmult_eq_reg_r with (IZR u); [|lra]. rewrite E. field. lra.
Qed.
Lemma around_ok v x : stands v x -> holds (around P v) x.
Proof.
  destruct v as [[z u]|l]; [|auto]. cbn. intros [U <-]. unfold values, over. cbn [fst snd].
  clear - HP U. induction z; cbn; constructor; [now apply ball_over_ok|assumption].
Qed.
Lemma all_around l xs : Forall2 stands l xs -> Forall2 holds (map (around P) l) xs.
Proof. induction 1; cbn; constructor; [now apply around_ok|assumption]. Qed.
Lemma all_whole_ok l vs xs : all_whole l = Some vs -> Forall2 stands l xs -> map values vs = xs.
Proof.
  intros E H. revert vs E. induction H as [|v x l xs Hv H IH]; intros vs E; [now injection E as <-|].
  unfold all_whole in *. cbn in E. destruct v as [v|]; [|discriminate]. destruct (CheckZ.mapM _ l) as [r|]; [|discriminate]. injection E as <-.
  cbn. rewrite (IH r eq_refl). destruct Hv as [_ ->]. reflexivity.
Qed.
Lemma kept_ok v y : kept longest P v = Got y -> stands y (values v).
Proof.
  unfold kept. intros H. apply bind_got in H as (e & U & H). apply need_got, Z.ltb_lt in U. injection H as <-.
  assert (S : stands (Whole v) (values v)) by now split. 
  match goal with |- stands (if ?b then _ else _) _ => destruct b end; [exact S|exact (around_ok _ _ S)].
Qed.
Lemma settled_ok l xs y : holds l xs -> settled gcd longest P l = Got y -> stands y xs.
Proof.
  unfold settled. intros H. match goal with |- (if ?b then _ else _) = _ -> _ => destruct b eqn:E end; intros G; [|injection G as <-; exact H]. apply bind_got in G as (v & L & G).
  apply lowest_ok in L as [_ L]. apply kept_ok in G. rewrite L in G. replace xs with (values (map fst l, unit_ball P)); [exact G|].
  unfold values, over. cbn [fst snd]. rewrite map_map. clear - HP H E. pose proof (scale_above P HP) as S0. induction H as [|[c r] v l xs Hv H IH]; [reflexivity|].
  cbn [forallb snd] in E. apply andb_prop in E as [E1 E]. cbn [map]. rewrite (IH E). f_equal. apply Z.eqb_eq in E1. subst r.
  apply encloses_iff in Hv. cbn [fst snd] in *. unfold unit_ball. rewrite unit_ok by exact HP.
  apply Rmult_eq_reg_l with (IZR (2 ^ P)); [|lra]. replace (IZR (2 ^ P) * (IZR c / IZR (2 ^ P))) with (IZR c) by (field; lra). lra.
Qed.
Lemma gives_around x l : gives holds x l -> gives stands (let* y := x in Got (Around y)) l.
Proof. intros H y E. apply bind_got in E as (b & E & F). injection F as <-. exact (H _ E). Qed.
Lemma gives_settled x l : gives holds x l -> gives stands (let* y := x in settled gcd longest P y) l.
Proof. intros H y E. apply bind_got in E as (b & E & F). apply H in E as (xs & E & Hb). exists xs. split; [exact E|exact (settled_ok _ _ _ Hb F)]. Qed.
Lemma gives_kept x l : (forall v, x = Got v -> l = Got (values v)) -> gives stands (let* y := x in kept longest P y) l.
Proof. intros H y E. apply bind_got in E as (v & E & F). exists (values v). split; [now apply H|exact (kept_ok _ _ F)]. Qed.

Lemma mixed_mapped m : agree stands (mapped_mixed gcd longest P (Some m)) (mapped_real (map_values m)).
Proof.
  intros [v|l] x H; cbn [mapped_mixed]; [|exact (gives_around _ _ (mapped_ok_ P HP m l x H))].
  destruct H as [_ <-]. apply gives_kept. intros y. exact (mapped_ok gcd m v y).
Qed.
Lemma mixed_joined l xs : Forall2 stands l xs -> gives stands (joined_mixed common longest P l) (joined_real xs).
Proof.
  intros H. unfold joined_mixed. destruct (all_whole l) as [vs|] eqn:E; [|apply gives_around, joined_ok_; now apply all_around].
  rewrite <- (all_whole_ok _ _ _ E H). apply gives_kept. intros y. exact (joined_ok common vs y).
Qed.
Lemma mixed_added l xs : Forall2 stands l xs -> gives stands (added_mixed common gcd longest P l) (added_real xs).
Proof.
  intros H. unfold added_mixed. destruct (all_whole l) as [vs|] eqn:E; [|apply gives_around, added_ok_; now apply all_around].
  rewrite <- (all_whole_ok _ _ _ E H). apply gives_kept. intros y. exact (added_ok common gcd vs y).
Qed.
Lemma mixed_products v x l xs : stands v x -> Forall2 stands l xs -> gives stands (products_mixed common longest P v l) (products_real x xs).
Proof.
  intros Hv H. assert (B : gives stands (let* y := products_balls P (around P v) (map (around P) l) in Got (Around y)) (products_real x xs)).
  { apply gives_around, products_ok_; [exact HP|now apply around_ok|now apply all_around]. }
  unfold products_mixed. destruct v as [v|]; [|exact B]. destruct (all_whole l) as [vs|] eqn:E; [|exact B].
  rewrite <- (all_whole_ok _ _ _ E H). destruct Hv as [_ <-]. apply gives_kept. intros y. exact (products_ok common v vs y).
Qed.
Lemma mixed_mean v x l xs : stands v x -> Forall2 stands l xs -> gives stands (mean_mixed common gcd longest P v l) (combination x xs).
Proof.
  intros Hv H. assert (B : gives stands (let* y := mean_balls P (around P v) (map (around P) l) in Got (Around y)) (combination x xs)).
  { apply gives_around, mean_ok_; [exact HP|now apply around_ok|now apply all_around]. }
  unfold mean_mixed. destruct v as [v|]; [|exact B]. destruct (all_whole l) as [vs|] eqn:E; [|exact B].
  rewrite <- (all_whole_ok _ _ _ E H). destruct Hv as [_ <-]. apply gives_kept. intros y. exact (mean_ok common gcd v vs y).
Qed.
Lemma mixed_shares r v x : stands v x -> gives stands (shares_mixed gcd longest P ln_2 r v) (shares_real r x).
Proof.
  intros H. assert (B : gives stands (let* y := shares_balls P ln_2 r (around P v) in settled gcd longest P y) (shares_real r x)).
  { apply gives_settled, shares_ok_; [exact HP|exact Hln|now apply around_ok]. }
  unfold shares_mixed. destruct v as [v|]; [|exact B]. destruct (shares_exact r v) as [y|] eqn:E; [|exact B].
  destruct H as [_ <-]. intros z F. exists (values y). split; [exact (shares_ok r v y E)|exact (kept_ok _ _ F)].
Qed.
Lemma mixed_active a v x : stands v x -> gives stands (active_mixed gcd longest P a v) (active_real a x).
Proof.
  destruct v as [v|l]; cbn [active_mixed]; intros H; [|apply gives_settled, active_ok_; assumption].
  destruct H as [_ <-]. apply gives_kept. intros y. exact (active_ok a v y).
Qed.

Local Notation agrees := (blocks_agree stands (mapped_mixed gcd longest P) mapped_real).
Lemma ball_part_ok p q : ball_part common p = Got q ->
  parts_agree stands (mapped_mixed gcd longest P) mapped_real q (of_part (map reals) p).
Proof.
  unfold ball_part. intros H. apply bind_got in H as (e & He & H). apply bind_got in H as (m & Hm & H). injection H as <-.
  rewrite (part_ok _ _ _ He). cbn [of_part to_key to_query to_value to_output]. repeat split; try apply mixed_mapped.
  intros z zs Hz y E. cbn [to_value to_output] in E. apply bind_got in E as (y' & E & F). injection F as <-.
  destruct (mixed_mapped m z zs Hz _ E) as (ys & E' & Hy). exists ys. split; [|exact Hy].
  unfold clear_part in He. steps. subst e. revert E'. apply composed_ok; [| |exact Hm]; eapply cleared_unit; eassumption.
Qed.
Lemma ball_block_ok b b' : ball_block common b = Got b' -> agrees b' (real_block b).
Proof.
  destruct b as [of weigh parts s r|of act linear r]; cbn [ball_block]; intros H; apply bind_got in H as (x & H & E); injection E as <-;
    unfold real_block; cbn [of_block blocks_agree]; (split; [reflexivity|]).
  - assert (G : gives (Forall2 (parts_agree stands (mapped_mixed gcd longest P) mapped_real)) (each (ball_part common) parts) (each Got (map (of_part (map reals)) parts))).
    { eapply (gives_each (fun p p' => p' = of_part (map reals) p)).
      - clear. induction parts; cbn; constructor; [reflexivity|assumption].
      - intros p p' -> q Eq. exists (of_part (map reals) p). split; [reflexivity|]. exact (ball_part_ok _ _ Eq). }
    destruct (G _ H) as (y & Ey & Fy). rewrite each_id in Ey. injection Ey as <-. exact Fy.
  - rewrite (map_ok _ _ _ H). apply mixed_mapped.
Qed.
Lemma ball_blocks_ok blocks balls : each (ball_block common) blocks = Got balls -> Forall2 agrees balls (map real_block blocks).
Proof.
  intros H. assert (G : gives (Forall2 agrees) (each (ball_block common) blocks) (each Got (map real_block blocks))).
  { eapply (gives_each (fun b b' => b' = real_block b)).
    - clear. induction blocks; cbn; constructor; [reflexivity|assumption].
    - intros b b' -> q Eq. exists (real_block b). split; [reflexivity|]. exact (ball_block_ok _ _ Eq). }
  destruct (G _ H) as (y & Ey & Fy). rewrite each_id in Ey. injection Ey as <-. exact Fy.
Qed.

Lemma mixed_of_ok v y : mixed_of common gcd longest P v = Got y -> stands y (reals v).
Proof. unfold mixed_of. intros H. apply bind_got in H as (x & H & E). rewrite (lowest_vector_ok _ _ _ _ H). exact (kept_ok _ _ E). Qed.
Lemma mixed_state_ok blocks balls c t before y : each (ball_block common) blocks = Got balls ->
  mixed_before common gcd longest P ln_2 balls (ctx c t) = Got before -> mixed_query common gcd longest P ln_2 balls c before t = Got y ->
  exists tokens outputs, state blocks c t = Got (tokens, outputs) /\ stands y outputs.
Proof.
  unfold mixed_before, mixed_query. intros HB Hb Hy. apply ball_blocks_ok in HB. unfold state, real_state, state_of.
  apply bind_got in Hb as (tokens & Ht & Hb). apply bind_got in Hy as (query & Hq & Hy). apply mixed_of_ok in Hq.
  assert (Tokens : Forall2 stands tokens (map reals (ctx c t))).
  { assert (G : gives (Forall2 stands) (each (mixed_of common gcd longest P) (ctx c t)) (each Got (map reals (ctx c t)))).
    { eapply (gives_each (fun v v' => v' = reals v)); [clear; induction (ctx c t); cbn; now constructor|].
      intros v v' -> z E. exists (reals v). split; [reflexivity|exact (mixed_of_ok _ _ E)]. }
    destruct (G _ Ht) as (xs & E & H). rewrite each_id in E. now injection E as <-. }
  destruct (tables_agree stands _ _ _ _ _ _ _ _ _ _ _ _ _ _ mixed_joined mixed_added mixed_products mixed_shares mixed_mean mixed_active
    _ _ _ _ HB Tokens before Hb) as (before' & Eb & Ib).
  destruct (query_agree stands _ _ _ _ _ _ _ _ _ _ _ _ _ _ mixed_joined mixed_added mixed_products mixed_shares mixed_mean mixed_active
    _ _ _ _ query _ HB Ib Hq y Hy) as (y' & Ey & Hyy).
  rewrite Eb. cbn [bind]. rewrite Ey. cbn [bind]. eexists _, y'. split; [reflexivity|exact Hyy].
Qed.
Lemma around_length v x : stands v x -> length (around P v) = length x.
Proof. intros H. now apply around_ok, Forall2_lengths in H. Qed.
Lemma check_outputs_ok blocks c judge u t : check_outputs common gcd longest P ln_2 blocks c judge = Got u -> (t < dimT c)%nat ->
  exists tokens outputs y v, state blocks c t = Got (tokens, outputs) /\ stands y outputs /\
    length outputs = length (nth t (labels c) []) /\ judge t y = Got v.
Proof.
  unfold check_outputs. intros H Ht. apply bind_got in H as (e & _ & H). apply bind_got in H as (balls & HB & H). apply bind_got in H as (all & H & _).
  destruct (example_ok _ _ _ _ _ tt H Ht) as (before & Hb & Hy). apply bind_got in Hy as (y & Hy & E).
  apply bind_got in E as (w & HL & HE). apply need_got, Nat.eqb_eq in HL.
  destruct (mixed_state_ok _ _ _ _ _ _ HB Hb Hy) as (tokens & outputs & Es & Ho).
  exists tokens, outputs, y, (nth t all tt). repeat split; try assumption. now rewrite <- HL, (around_length _ _ Ho).
Qed.

Lemma within_exact_ok most u z y : (0 < denom most)%Z -> (0 < denom y)%Z -> (0 < u)%Z -> within_exact most u (z, y) = true ->
  Rabs (IZR z / IZR u - real (fun z => z) y) <= real (fun z => z) most.
Proof.
  unfold within_exact, real. intros Hm Hy Hu H. apply Z.leb_le, IZR_le in H. rewrite !mult_IZR, abs_IZR, minus_IZR, !mult_IZR in H.
  apply IZR_lt in Hm, Hy, Hu. apply le_div; [exact Hm|]. set (a := IZR z / IZR u - IZR (numer y) / IZR (denom y)).
  assert (U : 0 < IZR u * IZR (denom y)) by nra. replace (IZR z * IZR (denom y) - IZR (numer y) * IZR u) with (a * (IZR u * IZR (denom y))) in H by (unfold a; field; lra).
  rewrite Rabs_mult, (Rabs_pos_eq (IZR u * IZR (denom y))) in H by lra. apply Rmult_le_reg_r with (IZR u * IZR (denom y)); [exact U|]. lra.
Qed.
Lemma within_ok most label v x w : (0 < denom most)%Z -> Forall (fun y => (0 < denom y)%Z) label -> stands v x -> length x = length label ->
  within P most label v = Got w -> Forall2 (fun y label => Rabs (y - label) <= real (fun z => z) most) x (reals label).
Proof.
  intros D A H L E. destruct v as [[z u]|l]; cbn [within] in E.
  - apply need_got in E. destruct H as [U <-]. cbn [snd] in U. unfold values, over in *. cbn [fst snd] in *. rewrite map_length in L. revert label A L E.
    induction z as [|a z IH]; intros [|y label] A L E; try discriminate; [constructor|]. injection L as L. cbn [combine forallb] in E. apply andb_prop in E as [E1 E2].
    inversion A; subst. constructor; [now apply within_exact_ok|now apply IH].
  - apply bind_got in E as (e & _ & E). apply need_got in E. cbn [stands] in H. revert label A L E. induction H as [|b v l x Hb H IH]; intros [|y label] A L E; try discriminate; [constructor|].
    injection L as L. cbn [combine forallb] in E. apply andb_prop in E as [E1 E2]. inversion A; subst. constructor; [now apply (close_ok P HP most b)|now apply IH].
Qed.
End Mixed.

Lemma precision_ok x : (0 <= precision x)%Z.
Proof.
  unfold precision, guard. destruct (Z.le_gt_cases 0 (denom x / numer x)) as [H|H]; [destruct (bit_length_ok _ H); lia|].
  destruct (denom x / numer x)%Z; [lia..|cbn; lia].
Qed.
Lemma mat_above h w M : mat_ok (fun z : Z => z) h w M -> Forall (Forall (fun x => (0 < denom x)%Z)) M.
Proof. intros [_ H]. eapply Forall_impl; [|exact H]. intros v [_ G]. exact G. Qed.
Lemma nth_above t M : Forall (Forall (fun x : frac Z => (0 < denom x)%Z)) M -> Forall (fun x => (0 < denom x)%Z) (nth t M []).
Proof. intros H. destruct (nth_in_or_default t M []) as [I| ->]; [|constructor]. rewrite Forall_forall in H. now apply H. Qed.
Lemma labels_above c : inputs_ok (fun z => z) c -> Forall (Forall (fun x => (0 < denom x)%Z)) (labels c).
Proof. intros (_ & _ & _ & _ & H). eapply mat_above; eassumption. Qed.

Theorem check_within_sound common gcd most blocks c u : inputs_ok (fun z => z) c -> (0 < denom most)%Z ->
  check_within common gcd most blocks c = Got u -> outputs_within most blocks c.
Proof.
  intros I D H t Ht. pose proof (precision_ok most) as HP.
  destruct (check_outputs_ok _ _ _ _ _ HP (ln_2_ok _ HP) _ _ _ _ _ H Ht) as (tokens & outputs & y & v & E & Hy & L & J).
  exists tokens, outputs. split; [exact E|]. eapply within_ok; try eassumption. now apply nth_above, labels_above.
Qed.
Theorem check_network_sound common gcd blocks c u : inputs_ok (fun z => z) c -> check_network common gcd blocks c = Got u -> computes blocks c.
Proof.
  intros I H t Ht. assert (HP : (0 <= guard)%Z) by (unfold guard; lia).
  destruct (check_outputs_ok _ _ _ _ _ HP (ln_2_ok _ HP) _ _ _ _ _ H Ht) as (tokens & outputs & y & v & E & Hy & L & J).
  exists tokens. rewrite E. do 2 f_equal. eapply within_ok in J; try eassumption; [|reflexivity|now apply nth_above, labels_above].
  clear - J. induction J as [|a b x l H J IH]; [reflexivity|]. f_equal; [|exact IH]. unfold real in H. cbn [numer denom] in H.
  replace (0 / 1) with 0 in H by field. pose proof (Rabs_pos (a - b)). assert (Z0 : Rabs (a - b) = 0) by lra.
  destruct (Req_dec (a - b) 0) as [|N]; [lra|]. now apply Rabs_no_R0 in N.
Qed.

(* Margins. *)
Lemma same_row_ok x y : same_row x y = true <-> x = y.
Proof.
  split; [|intros <-; induction x as [|a x IH]; [reflexivity|]; cbn; now rewrite Z.eqb_refl].
  revert y. induction x as [|a x IH]; intros [|b y] H; try discriminate; [reflexivity|]. cbn in H. apply andb_prop in H as [E H].
  apply Z.eqb_eq in E. subst b. f_equal. now apply IH.
Qed.
Lemma distinct_rows_ok rows y : In y rows -> In y (distinct_rows rows).
Proof.
  induction rows as [|x rows IH]; [easy|]. unfold distinct_rows. cbn [fold_right In]. fold (distinct_rows rows).
  destruct (existsb (same_row x) (distinct_rows rows)) eqn:E; intros [->|I].
  - apply existsb_exists in E as (z & Iz & S). apply same_row_ok in S. now subst z.
  - now apply IH.
  - now left.
  - right. now apply IH.
Qed.
Lemma towards_ok u y other o : IZR u <> 0 -> length y = length other -> length o = length y ->
  dot (o ++ [1]) (over (2 * u * u) (towards u y other)) =
  dot (difference (over u y) (over u other)) o - (dot (over u y) (over u y) - dot (over u other) (over u other)) / 2.
Proof.
  intros U L Lo. unfold towards. unfold over at 1. rewrite map_app, map_map. cbn [map]. rewrite dot_app by (rewrite map_length, combine_length; lia).
  rewrite !dot_ok by exact U. rewrite minus_IZR, !mult_IZR.
  replace (map _ (combine y other)) with (difference (over u y) (over u other)).
  - rewrite dot_comm. field. exact U.
  - unfold difference, over. rewrite combine_map, map_map. apply map_ext. intros [a b]. cbn [fst snd]. rewrite !mult_IZR, minus_IZR. field. exact U.
Qed.
Section Margins.
Variables (common : list (mat Z) -> Z) (gcd : Z -> Z -> Z) (longest P : Z).
Hypothesis HP : (0 <= P)%Z.
Lemma at_least_ok margin v x w : (0 < denom margin)%Z -> stands P v x -> at_least P margin v = Got w -> Forall (fun y => real (fun z => z) margin <= y) x.
Proof.
  intros D H E. pose proof (scale_above P HP) as S0. unfold real. apply IZR_lt in D. destruct v as [[z u]|l]; cbn [at_least] in E.
  - apply need_got in E. destruct H as [U <-]. cbn [snd] in U. apply IZR_lt in U. unfold values, over. cbn [fst snd].
    rewrite forallb_forall in E. apply Forall_forall. intros y I. apply in_map_iff in I as (a & <- & I). apply E in I. apply Z.leb_le, IZR_le in I.
    rewrite !mult_IZR in I. apply div_le; [exact D|]. replace (IZR a / IZR u * IZR (denom margin)) with (IZR a * IZR (denom margin) / IZR u) by (field; lra).
    now apply le_div.
  - apply bind_got in E as (e & _ & E). apply need_got in E. cbn [stands] in H. induction H as [|[c r] y l x Hb H IH]; [constructor|].
    cbn [forallb fst snd] in E. apply andb_prop in E as [E1 E2]. constructor; [|now apply IH]. apply Z.leb_le, IZR_le in E1. rewrite left_ok, mult_IZR, minus_IZR in E1 by exact HP.
    apply encloses_iff in Hb. cbn [fst snd] in Hb. apply div_le; [exact D|]. apply Rmult_le_reg_l with (IZR (2 ^ P)); [exact S0|]. nra.
Qed.
Lemma far_ok margin rows u others t v o w label : (0 < denom margin)%Z -> (0 < u)%Z -> stands P v o ->
  length o = length (nth t rows []) -> length label = length (nth t rows []) -> In label others -> label <> nth t rows [] ->
  far gcd longest P margin rows u others t v = Got w ->
  let y := over u (nth t rows []) in let y' := over u label in
  real (fun z => z) margin <= dot (difference y y') o - (dot y y - dot y' y') / 2.
Proof.
  unfold far. set (y := nth t rows []). intros D U Ho L L' I N H. cbv zeta. apply bind_got in H as (m & Hm & H).
  destruct (mixed_mapped gcd longest P HP _ _ _ Ho _ Hm) as (x & Ex & Hx). apply (at_least_ok _ _ _ _ D Hx) in H.
  unfold mapped_real, map_values in Ex. cbn [fst snd] in Ex. steps. subst x. rewrite map_map, Forall_map, Forall_map in H. rewrite Forall_forall in H.
  rewrite <- towards_ok; [|apply IZR_nz; lia|exact (eq_sym L')|exact L]. apply (H label). apply filter_In. split; [exact I|].
  destruct (same_row y label) eqn:E; [|reflexivity]. apply same_row_ok in E. now subst label.
Qed.
End Margins.
Theorem check_margins_sound common gcd margin blocks c u : inputs_ok (fun z => z) c -> (0 < denom margin)%Z ->
  check_margins common gcd margin blocks c = Got u -> nearest_labels margin blocks c.
Proof.
  unfold check_margins. intros I D H t Ht. pose proof (precision_ok margin) as HP. apply bind_got in H as ([rows unit] & C & H).
  apply bind_got in H as (e & _ & H).
  destruct (check_outputs_ok _ _ _ _ _ HP (ln_2_ok _ HP) _ _ _ _ _ H Ht) as (tokens & outputs & y & v & E & Hy & L & J).
  exists tokens, outputs. split; [exact E|]. cbv zeta. split; [unfold reals; now rewrite map_length|]. intros label Il N.
  assert (U : (0 < unit)%Z) by (unfold clear_map in C; steps; subst unit; now apply Z.ltb_lt).
  assert (M := map_ok _ _ _ C). unfold map_values in M. cbn [fst snd] in M.
  assert (Lr : length rows = length (labels c)) by (apply (f_equal (@length _)) in M; now rewrite !map_length in M).
  destruct I as (_ & _ & _ & _ & [LT Hl]).
  assert (Hw : forall i, (i < length (labels c))%nat -> reals (nth i (labels c) []) = over unit (nth i rows []) /\ length (nth i rows []) = dimm c).
  { intros i Hi. assert (Q : reals (nth i (labels c) []) = over unit (nth i rows [])).
    { rewrite <- (map_nth reals), <- (map_nth (over unit)). now rewrite M. }
    split; [exact Q|]. apply (f_equal (@length _)) in Q. unfold reals, over in Q. rewrite !map_length in Q. rewrite <- Q.
    rewrite Forall_forall in Hl. now apply Hl, nth_In. }
  destruct (In_nth _ _ [] Il) as (s & Hs & Es). destruct (Hw s Hs) as [Qs Ls], (Hw t ltac:(lia)) as [Qt Lt].
  assert (Q : reals label = over unit (nth s rows [])) by (rewrite <- Es; exact Qs). rewrite Q in *. rewrite Qt in *. eapply far_ok; try eassumption.
  - rewrite L, Lt. apply (f_equal (@length _)) in Qt. unfold reals, over in Qt. now rewrite !map_length, Lt in Qt.
  - now rewrite Ls, Lt.
  - apply distinct_rows_ok, nth_In. rewrite Lr. exact Hs.
  - intros F. apply N. now rewrite F.
Qed.
