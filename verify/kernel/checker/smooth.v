(* Functions of N numbers that are strictly differentiable at 0: a difference of values is a sum of slopes times differences of
   the numbers, and the slopes are continuous at 0. Constants, numbers, sums, products, exponentials and inverses of such. *)
From Coq Require Import Reals Lia Lra Arith FunctionalExtensionality.
Require Import Spec integers fixed_point newton open_map.
Open Scope R_scope.

(* Slopes depend on two points: the numbers [true, k] are the first one's, [false, k] the second one's. *)
Local Notation two := (bool * nat -> R).
Definition point_of (b : bool) (W : two) : nat -> R := fun k => W (b, k).
Definition at_0 : two := fun _ => 0.
Definition along (i : nat) (s : R) : nat -> R := fun k => if Nat.eqb i k then s else 0.
Local Notation steady := (open_map.steady at_0).

(* Continuity of compositions with a choice of numbers, and of the slopes of exp. *)
Definition select (from : bool * nat -> option (bool * nat)) (W : two) : two := fun q => match from q with Some q' => W q' | None => 0 end.
Lemma steady_select from F : steady F -> steady (fun W => F (select from W)).
Proof.
  intros H e He. destruct (H e He) as (r & Hr & A). exists r. split; [exact Hr|]. intros W HW.
  replace (select from at_0) with at_0 by (extensionality q; unfold select, at_0; now destruct (from q)).
  apply A. intros q. unfold select. destruct (from q) as [q'|]; [exact (HW q')|]. unfold at_0. rewrite Rminus_0_r, Rabs_R0. lra.
Qed.
Definition exp_slope (u v : R) : R := if Req_EM_T u v then exp u else (exp u - exp v) / (u - v).
Lemma exp_slope_ok u v : exp u - exp v = exp_slope u v * (u - v).
Proof. unfold exp_slope. destruct (Req_EM_T u v) as [->|N]; [ring|field; lra]. Qed.
Lemma exp_slope_between u v p d : Rabs (u - p) < d -> Rabs (v - p) < d -> exists z, Rabs (z - p) < d /\ exp_slope u v = exp z.
Proof.
  intros Hu Hv. unfold exp_slope. destruct (Req_EM_T u v) as [->|N]; [now exists v|].
  apply Rabs_def2 in Hu, Hv. assert (D : forall c, derivable_pt_lim exp c (exp c)) by (intros; apply derivable_pt_lim_exp).
  destruct (Rdichotomy _ _ N) as [L|L].
  - destruct (MVT_cor2 exp exp u v L (fun c _ => D c)) as (z & E & Hz). exists z. split; [apply Rabs_def1; lra|].
    replace (exp u - exp v) with (exp z * (u - v)) by lra. field. lra.
  - destruct (MVT_cor2 exp exp v u L (fun c _ => D c)) as (z & E & Hz). exists z. split; [apply Rabs_def1; lra|]. rewrite E. field. lra.
Qed.
Lemma steady_exp_slope F G : steady F -> steady G -> F at_0 = G at_0 -> steady (fun W => exp_slope (F W) (G W)).
Proof.
  intros HF HG E e He. destruct (derivable_continuous_pt _ _ (derivable_pt_exp (F at_0)) e He) as (d & Hd & C).
  destruct (steady_both at_0 F G HF HG d Hd) as (r & Hr & A). exists r. split; [exact Hr|]. intros W HW. destruct (A W HW) as [B1 B2].
  rewrite <- E in B2. destruct (exp_slope_between (F W) (G W) (F at_0) d B1 B2) as (z & Hz & ->). rewrite <- E.
  replace (exp_slope (F at_0) (F at_0)) with (exp (F at_0)) by (unfold exp_slope; destruct (Req_EM_T (F at_0) (F at_0)); [reflexivity|easy]).
  destruct (Req_dec (F at_0) z) as [<-|N]; [rewrite Rminus_diag_eq, Rabs_R0 by reflexivity; exact He|]. apply (C z). split; [split; [exact I|exact N]|exact Hz].
Qed.

Section Smooth.
Variable N : nat.
Definition smooth (F : (nat -> R) -> R) : Prop := exists D : nat -> two -> R, (forall k, steady (D k)) /\
  forall W, F (point_of true W) - F (point_of false W) = sum N (fun k => D k W * (W (true, k) - W (false, k))).

Lemma smooth_constant v : smooth (fun _ => v).
Proof.
  exists (fun _ _ => 0). split; [intros; apply steady_constant|]. intros W. rewrite (SoundZ.sum_ext N _ (fun _ => 0)), SoundZ.sum_0 by (intros; ring). ring.
Qed.
Lemma smooth_number i : (i < N)%nat -> smooth (fun x => x i).
Proof.
  intros Hi. exists (fun k _ => unit_entry i k). split; [intros; apply steady_constant|]. intros W. symmetry. exact (sum_unit N i (fun k => W (true, k) - W (false, k)) Hi).
Qed.
Lemma smooth_plus F G : smooth F -> smooth G -> smooth (fun x => F x + G x).
Proof.
  intros (D & SD & ED) (D' & SD' & ED'). exists (fun k W => D k W + D' k W). split; [intros; now apply steady_plus|]. intros W.
  rewrite (SoundZ.sum_ext N _ (fun k => D k W * (W (true, k) - W (false, k)) + D' k W * (W (true, k) - W (false, k)))) by (intros; ring).
  rewrite SoundZ.sum_add, <- ED, <- ED'. ring.
Qed.
(* Such a function of one of the two points is continuous. *)
Lemma smooth_steady b F : smooth F -> steady (fun W => F (point_of b W)).
Proof.
  intros (D & SD & ED). set (from := fun q : bool * nat => if fst q then Some (b, snd q) else None).
  replace (fun W : two => F (point_of b W)) with (fun W : two => F (fun _ => 0) + sum N (fun k => D k (select from W) * W (b, k))).
  - apply steady_plus; [apply steady_constant|]. apply steady_sum. intros k _. apply steady_times; [apply steady_select, SD|apply steady_at].
  - extensionality W. specialize (ED (select from W)).
    change (F (point_of b W) - F (fun _ => 0) = sum N (fun k => D k (select from W) * (W (b, k) - 0))) in ED.
    rewrite (SoundZ.sum_ext N _ (fun k => D k (select from W) * W (b, k))) in ED by (intros; ring). lra.
Qed.
Lemma smooth_times F G : smooth F -> smooth G -> smooth (fun x => F x * G x).
Proof.
  intros HF HG. pose proof (smooth_steady true F HF) as CF. pose proof (smooth_steady false G HG) as CG.
  destruct HF as (D & SD & ED), HG as (D' & SD' & ED'). exists (fun k W => F (point_of true W) * D' k W + G (point_of false W) * D k W).
  split; [intros k; apply steady_plus; now apply steady_times|]. intros W.
  rewrite (SoundZ.sum_ext N _ (fun k => F (point_of true W) * (D' k W * (W (true, k) - W (false, k))) + G (point_of false W) * (D k W * (W (true, k) - W (false, k))))) by (intros; ring).
  rewrite SoundZ.sum_add, !SoundZ.sum_mull, <- ED, <- ED'. ring.
Qed.
(* Functions of one number. *)
Lemma smooth_through g F (slope : two -> R) : smooth F -> steady slope ->
  (forall W, g (F (point_of true W)) - g (F (point_of false W)) = slope W * (F (point_of true W) - F (point_of false W))) -> smooth (fun x => g (F x)).
Proof.
  intros (D & SD & ED) S E. exists (fun k W => slope W * D k W). split; [intros; now apply steady_times|]. intros W. rewrite E, ED, <- SoundZ.sum_mull.
  apply SoundZ.sum_ext. intros. ring.
Qed.
Lemma smooth_exp F : smooth F -> smooth (fun x => exp (F x)).
Proof.
  intros H. apply (smooth_through exp F (fun W => exp_slope (F (point_of true W)) (F (point_of false W))) H).
  - apply steady_exp_slope; [now apply smooth_steady|now apply smooth_steady|reflexivity].
  - intros W. apply exp_slope_ok.
Qed.
Lemma smooth_inverse F : smooth F -> (forall x, F x <> 0) -> smooth (fun x => / F x).
Proof.
  intros H P. apply (smooth_through Rinv F (fun W => -1 * (/ F (point_of true W) * / F (point_of false W))) H).
  - assert (C : forall b, steady (fun W => / F (point_of b W))).
    { intros b. apply (steady_through at_0 Rinv (fun W => F (point_of b W))); [|now apply smooth_steady].
      apply (continuity_pt_inv (fun x => x)); [apply derivable_continuous_pt, derivable_pt_id|apply P]. }
    apply steady_times; [apply steady_constant|]. apply steady_times; apply C.
  - intros W. field. split; apply P.
Qed.

(* Slopes near those at 0, which are the derivatives along the lines through 0. *)
Theorem smooth_slopes F : smooth F -> exists J : nat -> R,
  (forall k, (k < N)%nat -> derivable_pt_lim (fun s => F (along k s)) 0 (J k)) /\
  forall e, 0 < e -> exists r, 0 < r /\ forall x y, inside N r x -> inside N r y -> exists c : nat -> R,
    F x - F y = sum N (fun k => c k * (x k - y k)) /\ forall k, (k < N)%nat -> Rabs (c k - J k) <= e.
Proof.
  intros (D & SD & ED). exists (fun k => D k at_0). split.
  - intros k Hk e He. destruct (SD k e He) as (r & Hr & A). exists (mkposreal r Hr). cbn [pos]. intros h H0 Hh. rewrite Rplus_0_l.
    set (W := fun q : bool * nat => if fst q then along k h (snd q) else 0). specialize (ED W).
    assert (E : F (along k h) - F (along k 0) = D k W * h).
    { replace (along k 0) with (fun _ : nat => 0) by (extensionality j; unfold along; now destruct (Nat.eqb k j)).
      change (F (along k h) - F (fun _ => 0) = sum N (fun j => D j W * (along k h j - 0))) in ED. rewrite ED.
      rewrite <- (sum_unit N k (fun j => D j W * h) Hk). apply SoundZ.sum_ext. intros j _. unfold along, unit_entry. destruct (Nat.eqb k j); ring. }
    rewrite E. replace (D k W * h / h) with (D k W) by (field; exact H0). apply A. intros [[|] j]; unfold W, at_0; cbn [fst snd]; rewrite Rminus_0_r.
    + unfold along. destruct (Nat.eqb k j); [now left|rewrite Rabs_R0; now left].
    + rewrite Rabs_R0. now left.
  - intros e He. destruct (steady_all at_0 N D e He (fun k _ => SD k)) as (r & Hr & A). exists r. split; [exact Hr|]. intros x y Hx Hy.
    set (cut := fun (z : nat -> R) k => if Nat.ltb k N then z k else 0).
    assert (C : forall z, F z = F (cut z)).
    { intros z. apply Rminus_diag_uniq. specialize (ED (fun q => if fst q then z (snd q) else cut z (snd q))).
      change (F z - F (cut z) = sum N (fun k => D k (fun q => if fst q then z (snd q) else cut z (snd q)) * (z k - cut z k))) in ED. rewrite ED.
      rewrite (SoundZ.sum_ext N _ (fun _ => 0)); [apply SoundZ.sum_0|]. intros k Hk. unfold cut at 2. destruct (Nat.ltb_spec k N); [ring|lia]. }
    set (W := fun q : bool * nat => cut (if fst q then x else y) (snd q)). exists (fun k => D k W). split.
    + rewrite (C x), (C y). change (cut x) with (point_of true W). change (cut y) with (point_of false W). rewrite ED. apply SoundZ.sum_ext. intros k Hk.
      unfold W, cut. cbn [fst snd]. destruct (Nat.ltb_spec k N); [ring|lia].
    + intros k Hk. left. apply A; [exact Hk|]. intros [b j]. unfold W, cut, at_0. cbn [fst snd]. rewrite Rminus_0_r.
      destruct (Nat.ltb_spec j N) as [L|L]; [destruct b; [now apply Hx|now apply Hy]|rewrite Rabs_R0; now left].
Qed.
End Smooth.
