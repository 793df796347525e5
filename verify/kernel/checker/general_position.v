(* Vectors off finitely many hyperplanes; examples in the order of a number; rows in blocks, the later ones scaled down. *)
From Coq Require Import Reals List Permutation Sorted Lia Lra Arith.
Require Import Spec integers newton box_slopes open_map.
Import ListNotations.
Local Notation length := List.length.
Open Scope R_scope.

(* A number apart from finitely many, and a vector with q v <> 0 for each v <> 0 of finitely many. *)
Lemma apart (l : list R) : exists s, s <> 0 /\ ~ In s l.
Proof.
  assert (B : exists b, 0 <= b /\ forall x, In x l -> x <= b).
  { induction l as [|x l (b & B0 & B)]; [exists 0; split; [lra|intros x []]|]. exists (Rmax b x). split; [pose proof (Rmax_l b x); lra|].
    intros z [<-|Hz]; [apply Rmax_r|]. specialize (B z Hz). pose proof (Rmax_l b x). lra. }
  destruct B as (b & B0 & B). exists (b + 1). split; [lra|]. intros H. specialize (B _ H). lra.
Qed.
Lemma off_hyperplanes d (vs : list (nat -> R)) : exists q, forall v, In v vs -> (exists a, (a < d)%nat /\ v a <> 0) -> sum d (fun a => q a * v a) <> 0.
Proof.
  induction vs as [|v vs (q & Hq)]; [exists (fun _ => 0); intros v []|]. set (dot := fun x y : nat -> R => sum d (fun a => x a * y a)).
  destruct (apart (map (fun w => - dot q w / dot v w) (v :: vs))) as (s & S0 & S).
  exists (fun a => q a + s * v a). assert (Dot : forall w, sum d (fun a => (q a + s * v a) * w a) = dot q w + s * dot v w).
  { intros w. unfold dot. rewrite <- SoundZ.sum_mull, <- SoundZ.sum_add. apply SoundZ.sum_ext. intros. ring. }
  intros w Hw N Z. rewrite Dot in Z. destruct (Req_dec (dot v w) 0) as [E|E].
  - destruct Hw as [<-|Hw]; [|apply (Hq w Hw N); unfold dot in *; rewrite E in Z; lra].
    destruct N as (a & Ha & Va). assert (P : v a * v a <= dot v v) by (apply (term_below d (fun a => v a * v a) a Ha); intros; apply Rle_0_sqr).
    pose proof (Rsqr_pos_lt _ Va) as Q. unfold Rsqr in Q. lra.
  - apply S. replace s with (- dot q w / dot v w); [now apply (in_map (fun w => - dot q w / dot v w))|].
    apply Rmult_eq_reg_r with (dot v w); [|exact E]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by exact E. lra.
Qed.

(* The whole numbers below T in the order of c. *)
Lemma in_order T (c : nat -> R) : (forall s t, (s < T)%nat -> (t < T)%nat -> s <> t -> c s <> c t) ->
  exists l, Permutation (seq 0 T) l /\ forall i k, (i < k < T)%nat -> c (nth i l O) < c (nth k l O).
Proof.
  intros D. assert (S : forall ts, NoDup ts -> (forall t, In t ts -> (t < T)%nat) -> exists l, Permutation ts l /\ StronglySorted (fun s t => c s < c t) l).
  { induction ts as [|t ts IH]; intros N B; [exists []; split; constructor|]. inversion N as [|? ? Ht N']; subst.
    destruct IH as (l & P & S); [exact N'|intros x Hx; apply B; now right|].
    assert (Far : forall x, In x l -> c x <> c t).
    { intros x Hx. apply (Permutation_in _ (Permutation_sym P)) in Hx. apply D; [apply B; now right|apply B; now left|]. intros ->. contradiction. }
    enough (exists l', Permutation (t :: l) l' /\ StronglySorted (fun s t => c s < c t) l') as (l' & P' & S').
    { exists l'. split; [|exact S']. now apply perm_trans with (2 := P'), perm_skip. }
    clear - S Far. induction S as [|x l S IH F]; [exists [t]; split; [apply Permutation_refl|repeat constructor]|].
    destruct (Rlt_or_le (c t) (c x)) as [L|L].
    - exists (t :: x :: l). split; [apply Permutation_refl|]. constructor; [now constructor|]. constructor; [exact L|].
      rewrite Forall_forall in *. intros y Hy. specialize (F y Hy). lra.
    - destruct IH as (l' & P & S'); [intros y Hy; apply Far; now right|]. exists (x :: l'). split; [apply perm_trans with (x :: t :: l); [apply perm_swap|now apply perm_skip]|].
      constructor; [exact S'|]. rewrite Forall_forall in *. intros y Hy. apply (Permutation_in _ (Permutation_sym P)) in Hy as [<-|Hy]; [|now apply F].
      specialize (Far x (or_introl eq_refl)). lra. }
  destruct (S (seq 0 T) (seq_NoDup T 0)) as (l & P & O); [intros t Ht; apply in_seq in Ht; lia|]. exists l. split; [exact P|].
  assert (L : length l = T) by (rewrite <- (Permutation_length P); apply seq_length). rewrite <- L. clear - O.
  induction O as [|x l O IH F]; intros i k H; [cbn in H; lia|]. destruct k as [|k]; [lia|]. cbn [length] in H. destruct i as [|i]; cbn [nth].
  - rewrite Forall_forall in F. apply F, nth_In. lia.
  - apply IH. lia.
Qed.

(* Sums and independence do not depend on the order. *)
Lemma sum_list (l : list nat) f : sum (length l) (fun i => f (nth i l O)) = fold_right (fun t s => f t + s) 0 l.
Proof. induction l as [|t l IH]; cbn; [reflexivity|]. now rewrite <- IH. Qed.
Lemma sum_order T l f : Permutation (seq 0 T) l -> sum T (fun i => f (nth i l O)) = sum T f.
Proof.
  intros P. assert (L : length l = T) by (rewrite <- (Permutation_length P); apply seq_length).
  transitivity (sum (length (seq 0 T)) (fun i => f (nth i (seq 0 T) O))).
  - rewrite <- L at 1. rewrite !sum_list. clear L. revert P. generalize (seq 0 T). intros k P. symmetry.
    induction P as [|t k l P IH|s t l|k l r P1 IH1 P2 IH2]; cbn; [reflexivity|now rewrite IH|rewrite <- !Rplus_assoc; f_equal; apply Rplus_comm|now rewrite IH1].
  - rewrite seq_length. apply SoundZ.sum_ext. intros i Hi. now rewrite seq_nth.
Qed.
Lemma independent_order T M l X : Permutation (seq 0 T) l -> independent_rows T M (fun i => X (nth i l O)) -> independent_rows T M X.
Proof.
  intros P I a Z t Ht. assert (L : length l = T) by (rewrite <- (Permutation_length P); apply seq_length).
  assert (In t l) as Hl by (apply (Permutation_in _ P), in_seq; lia). destruct (In_nth l t O Hl) as (i & Hi & <-).
  apply (I (fun i => a (nth i l O))); [|lia]. intros k Hk. rewrite <- (Z k Hk). apply (sum_order T l (fun t => a t * X t k) P).
Qed.

Lemma sum_split n m f : sum (n + m) f = sum n f + sum m (fun i => f (n + i)%nat).
Proof. revert f. induction n as [|n IH]; intros f; cbn [sum Nat.add]; [now rewrite Rplus_0_l|]. rewrite IH. ring. Qed.
Lemma independent_part N M o k X : (o + k <= N)%nat -> independent_rows N M X -> independent_rows k M (fun i => X (o + i)%nat).
Proof.
  intros B I a Z i Hi. set (a' := fun i => if Nat.ltb i o then 0 else if Nat.ltb i (o + k) then a (i - o)%nat else 0).
  enough (a' (o + i)%nat = 0) as E.
  { revert E. unfold a'. destruct (Nat.ltb_spec (o + i) o), (Nat.ltb_spec (o + i) (o + k)); try lia. now replace (o + i - o)%nat with i by lia. }
  apply I; [|lia]. intros c Hc. replace N with (o + (k + (N - o - k)))%nat by lia. rewrite !sum_split, <- (Z c Hc).
  rewrite (SoundZ.sum_ext o _ (fun _ => 0)), SoundZ.sum_0.
  2:{ intros x Hx. unfold a'. destruct (Nat.ltb_spec x o); [ring|lia]. }
  rewrite (SoundZ.sum_ext (N - o - k) _ (fun _ => 0)), SoundZ.sum_0.
  2:{ intros x Hx. unfold a'. destruct (Nat.ltb_spec (o + (k + x)) o), (Nat.ltb_spec (o + (k + x)) (o + k)); try lia. ring. }
  rewrite Rplus_0_l, Rplus_0_r. apply SoundZ.sum_ext. intros x Hx. unfold a'.
  destruct (Nat.ltb_spec (o + x) o), (Nat.ltb_spec (o + x) (o + k)); try lia. now replace (o + x - o)%nat with x by lia.
Qed.

(* Independent rows: a bound on the coefficients of a combination. *)
Lemma bounded_below N M X : independent_rows N M X ->
  exists C, 0 <= C /\ forall w, sum N (fun l => Rabs (w l)) <= C * sum M (fun k => Rabs (sum N (fun l => w l * X l k))).
Proof.
  intros I. destruct (choose_upto (fun i (a : nat -> R) => forall l, (l < N)%nat -> sum M (fun k => X l k * a k) = unit_entry i l) (fun _ => 0) N) as [B HB].
  { intros i _. exact (solution N M X (unit_entry i) I). }
  set (C := sum N (fun i => sum M (fun k => Rabs (B i k)))). exists C.
  assert (C0 : 0 <= C) by (apply sum_not_negative; intros; apply sum_not_negative; intros; apply Rabs_pos). split; [exact C0|]. intros w.
  set (total := sum M (fun k => Rabs (sum N (fun l => w l * X l k)))). unfold C. rewrite <- SoundZ.sum_mul. apply sum_le. intros i Hi.
  assert (E : w i = sum M (fun k => B i k * sum N (fun l => w l * X l k))).
  { rewrite <- (sum_unit N i w Hi). transitivity (sum N (fun l => w l * sum M (fun k => X l k * B i k))).
    - apply SoundZ.sum_ext. intros l Hl. rewrite (HB i Hi l Hl). ring.
    - transitivity (sum N (fun l => sum M (fun k => B i k * (w l * X l k)))).
      + apply SoundZ.sum_ext. intros l _. rewrite <- SoundZ.sum_mull. apply SoundZ.sum_ext. intros. ring.
      + rewrite SoundZ.sum_swap. apply SoundZ.sum_ext. intros k _. apply SoundZ.sum_mull. }
  rewrite E. apply Rle_trans with (1 := sum_abs _ _). rewrite <- SoundZ.sum_mul. apply sum_le. intros k Hk. rewrite Rabs_mult.
  apply Rmult_le_compat_l; [apply Rabs_pos|]. apply (term_below M (fun k => Rabs (sum N (fun l => w l * X l k))) k Hk). intros; apply Rabs_pos.
Qed.

Lemma sum_zero n f : (forall i, (i < n)%nat -> 0 <= f i) -> sum n f <= 0 -> forall i, (i < n)%nat -> f i = 0.
Proof. intros P S i Hi. pose proof (term_below n f i Hi P). specialize (P i Hi). lra. Qed.

(* Rows k_i e_i beside B_i. The first G of the e_i are independent, and so are the other B_i. If the other k_i are small
   enough beside the first ones, all rows are independent. *)
Definition beside (d : nat) (kap : nat -> R) (e B : nat -> nat -> R) (i k : nat) : R := if Nat.ltb k d then kap i * e i k else B i (k - d)%nat.
Lemma sum_beside d M kap e B (w : nat -> R) N : (forall k, (k < d + M)%nat -> sum N (fun i => w i * beside d kap e B i k) = 0) ->
  (forall k, (k < d)%nat -> sum N (fun i => w i * kap i * e i k) = 0) /\ forall k, (k < M)%nat -> sum N (fun i => w i * B i k) = 0.
Proof.
  intros Z. split; intros k Hk.
  - rewrite <- (Z k ltac:(lia)). apply SoundZ.sum_ext. intros i _. unfold beside. destruct (Nat.ltb_spec k d); [ring|lia].
  - rewrite <- (Z (d + k)%nat ltac:(lia)). apply SoundZ.sum_ext. intros i _. unfold beside. destruct (Nat.ltb_spec (d + k) d); [lia|]. now replace (d + k - d)%nat with k by lia.
Qed.
Lemma small_others G S d M e B : independent_rows G d e -> independent_rows S M (fun i => B (G + i)%nat) ->
  exists eps, 0 < eps /\ forall kap m, 0 < m -> (forall i, (i < G)%nat -> m <= kap i) -> (forall i, (i < S)%nat -> Rabs (kap (G + i)%nat) <= eps * m) ->
    independent_rows (G + S) (d + M) (beside d kap e B).
Proof.
  intros IG IS. destruct (bounded_below G d e IG) as (C & C0 & HC), (bounded_below S M _ IS) as (C' & C0' & HC').
  set (a := sum d (fun k => sum S (fun i => Rabs (e (G + i)%nat k)))). set (b := sum M (fun k => sum G (fun i => Rabs (B i k)))).
  assert (a0 : 0 <= a) by (apply sum_not_negative; intros; apply sum_not_negative; intros; apply Rabs_pos).
  assert (b0 : 0 <= b) by (apply sum_not_negative; intros; apply sum_not_negative; intros; apply Rabs_pos).
  set (c := C * a * (C' * b)). assert (c0 : 0 <= c) by (unfold c; repeat apply Rmult_le_pos; assumption).
  exists (/ (1 + c)). split; [apply Rinv_0_lt_compat; lra|]. intros kap m m0 First Others w Z. apply sum_beside in Z as [Zd ZM].
  set (eps := / (1 + c)) in *. assert (E : eps * (1 + c) = 1) by (apply Rinv_l; lra). assert (eps0 : 0 < eps) by (apply Rinv_0_lt_compat; lra).
  set (wG := sum G (fun i => Rabs (w i))). set (wS := sum S (fun i => Rabs (w (G + i)%nat))).
  assert (wG0 : 0 <= wG) by (apply sum_not_negative; intros; apply Rabs_pos). assert (wS0 : 0 <= wS) by (apply sum_not_negative; intros; apply Rabs_pos).
  assert (A : m * wG <= C * (a * (eps * m * wS))).
  { apply Rle_trans with (sum G (fun i => Rabs (w i * kap i))).
    - unfold wG. rewrite <- SoundZ.sum_mull. apply sum_le. intros i Hi. rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat_l; [apply Rabs_pos|].
      specialize (First i Hi). rewrite Rabs_pos_eq; lra.
    - apply Rle_trans with (1 := HC _). apply Rmult_le_compat_l; [exact C0|]. unfold a. rewrite <- SoundZ.sum_mul. apply sum_le. intros k Hk.
      specialize (Zd k Hk). rewrite sum_split in Zd. replace (sum G (fun l => w l * kap l * e l k)) with (- sum S (fun i => w (G + i)%nat * kap (G + i)%nat * e (G + i)%nat k)) by lra.
      rewrite Rabs_Ropp. apply Rle_trans with (1 := sum_abs _ _). rewrite <- SoundZ.sum_mul. apply sum_le. intros i Hi. rewrite Rabs_mult, Rmult_comm.
      apply Rmult_le_compat_l; [apply Rabs_pos|]. rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat; [apply Rabs_pos|apply Rabs_pos|now apply Others|].
      apply (term_below S (fun i => Rabs (w (G + i)%nat)) i Hi). intros; apply Rabs_pos. }
  assert (A' : wS <= C' * (b * wG)).
  { apply Rle_trans with (1 := HC' (fun i => w (G + i)%nat)). apply Rmult_le_compat_l; [exact C0'|]. unfold b. rewrite <- SoundZ.sum_mul. apply sum_le. intros k Hk.
    specialize (ZM k Hk). rewrite sum_split in ZM. replace (sum S (fun l => w (G + l)%nat * B (G + l)%nat k)) with (- sum G (fun i => w i * B i k)) by lra.
    rewrite Rabs_Ropp. apply Rle_trans with (1 := sum_abs _ _). rewrite <- SoundZ.sum_mul. apply sum_le. intros i Hi. rewrite Rabs_mult, Rmult_comm.
    apply Rmult_le_compat_l; [apply Rabs_pos|]. apply (term_below G (fun i => Rabs (w i)) i Hi). intros; apply Rabs_pos. }
  assert (P : m * wG <= m * (eps * c * wG)).
  { apply Rle_trans with (1 := A). apply Rle_trans with (C * (a * (eps * m * (C' * (b * wG))))); [|right; unfold c; ring].
    apply Rmult_le_compat_l; [exact C0|]. apply Rmult_le_compat_l; [exact a0|]. apply Rmult_le_compat_l; [|exact A'].
    left. now apply Rmult_lt_0_compat. }
  apply Rmult_le_reg_l in P; [|exact m0]. assert (Q : eps * c = 1 - eps) by lra. rewrite Q in P. assert (G0 : wG <= 0) by nra.
  assert (S0 : wS <= 0) by (assert (wG = 0) by lra; rewrite H in A'; lra).
  intros i Hi. destruct (Req_dec (w i) 0) as [N|N]; [exact N|]. apply Rabs_pos_lt in N. exfalso. destruct (Nat.lt_ge_cases i G) as [L|L].
  - pose proof (sum_zero G (fun i => Rabs (w i)) (fun _ _ => Rabs_pos _) G0 i L). cbn in H. lra.
  - pose proof (sum_zero S (fun i => Rabs (w (G + i)%nat)) (fun _ _ => Rabs_pos _) S0 (i - G)%nat ltac:(lia)). cbn in H. replace (G + (i - G))%nat with i in H by lia. lra.
Qed.
