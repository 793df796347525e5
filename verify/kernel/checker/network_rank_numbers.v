(* Numbers of network_rank.v and what they stand for: functions of real numbers c 0, c 1, .. and of the time s, along lines of
   weights that are numbered. Residues are those of the functions at s = 0, slopes those of their derivatives there. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Arith.
Require Import Spec Json Blocks residues growth tower transfer network_rank.
Import ListNotations.
Local Notation length := List.length.
Open Scope R_scope.

Definition curve := point -> nat -> R -> R.
Definition zero_curve : curve := fun _ _ _ => 0.
Definition one_curve : curve := fun _ _ _ => 1.
Definition plus_curve (f g : curve) : curve := fun c i s => f c i s + g c i s.
Definition times_curve (f g : curve) : curve := fun c i s => f c i s * g c i s.
Definition weight_of (h : curve) (c : point) (i : nat) (s : R) : R := exp (ln 2 * h c i s).
Fixpoint total_of (l : list curve) (c : point) (i : nat) (s : R) : R := match l with [] => 0 | h :: r => weight_of h c i s + total_of r c i s end.
Definition shares_curve (weigh : rule) (l : list curve) : result (list curve) :=
  match weigh with Softmax true => Got (map (fun h c i s => weight_of h c i s / total_of l c i s) l) | _ => No Unusable end.

Lemma hd_is_nth {A} (l : list A) d : hd d l = nth 0 l d.
Proof. now destruct l. Qed.
Section Numbers.
Variables (moduli : list Z) (slope : Z).
Definition p (k : nat) : Z := nth k moduli 3%Z.
Definition K : nat := pred (length moduli).
Hypothesis linked_moduli : linked moduli = true.

Lemma linked_gt1 k : (1 < p k)%Z.
Proof.
  unfold p. clear slope. revert k. induction moduli as [|q [|r l] IH]; [discriminate| |]; intros k.
  - cbn in linked_moduli. apply Z.ltb_lt in linked_moduli. destruct k as [|[|k]]; cbn; lia.
  - change (((1 <? q) && (residues.power q 2 r mod q =? 1) && linked (r :: l))%Z = true) in linked_moduli. apply andb_prop in linked_moduli as [H G]. apply andb_prop in H as [H _].
    apply Z.ltb_lt in H. destruct k as [|k]; [exact H|]. exact (IH G k).
Qed.
Lemma linked_order k : (k < K)%nat -> (p k | 2 ^ p (S k) - 1)%Z.
Proof.
  unfold p, K. clear slope. revert k. induction moduli as [|q [|r l] IH]; [discriminate| |]; intros k Hk; cbn in Hk; [lia|].
  change (((1 <? q) && (residues.power q 2 r mod q =? 1) && linked (r :: l))%Z = true) in linked_moduli. apply andb_prop in linked_moduli as [H G]. apply andb_prop in H as [H O].
  apply Z.ltb_lt in H. apply Z.eqb_eq in O. destruct k as [|k]; [|apply (IH G k); cbn; lia]. cbn [nth].
  assert (r1 : (0 <= r)%Z). { destruct l; cbn in G; [apply Z.ltb_lt in G; lia|]. apply andb_prop in G as [G _]. apply andb_prop in G as [G _]. apply Z.ltb_lt in G. lia. }
  replace (2 ^ r - 1)%Z with ((2 ^ r - residues.power q 2 r) + (residues.power q 2 r - residues.power q 2 r mod q) + (residues.power q 2 r mod q - 1))%Z by ring.
  apply Z.divide_add_r; [apply Z.divide_add_r; [now apply power_ok|now apply divide_mod]|]. rewrite O. exists 0%Z. ring.
Qed.
Lemma first_p : first moduli = p 0.
Proof. exact (hd_is_nth moduli 3%Z). Qed.
Lemma in_moduli k l : (k + l <= K)%nat -> (k < length moduli)%nat.
Proof. unfold K. pose proof linked_moduli as H. revert H. destruct moduli; [discriminate|]. cbn. lia. Qed.
Local Notation num l k f z := (tower.num p K slope l k f z%Z).
Local Notation same k a b := (tower.same p k a%Z b%Z).
Local Notation gt1 := linked_gt1.
Local Notation order := linked_order.
Existing Instance same_equivalence. Existing Instance same_add. Existing Instance same_mul. Existing Instance same_sub.

(* Lists of residues. *)
Lemma zip_length f ps x y : length (zip f ps x y) = Nat.min (length ps) (Nat.min (length x) (length y)).
Proof. revert x y. induction ps as [|q ps IH]; intros [|a x] [|b y]; cbn; try reflexivity. now rewrite IH. Qed.
Lemma zip_nth f ps x y k : (k < length (zip f ps x y))%nat -> nth k (zip f ps x y) 0%Z = f (nth k ps 3%Z) (nth k x 0%Z) (nth k y 0%Z).
Proof.
  revert x y k. induction ps as [|q ps IH]; intros [|a x] [|b y] k; cbn; try lia. destruct k as [|k]; [reflexivity|]. intros H. apply IH. lia.
Qed.
Lemma plus_slopes_ok x y i : same 0 (nth i (plus_slopes moduli x y) 0) (nth i x 0 + nth i y 0).
Proof.
  revert y i. induction x as [|a x IH]; intros y i.
  - cbn. destruct i; reflexivity.
  - destruct y as [|b y]; [cbn; destruct i; apply same_of; ring|]. destruct i as [|i]; cbn [plus_slopes nth]; [rewrite first_p; apply same_mod, gt1|apply IH].
Qed.
Lemma times_slopes_ok a x i : same 0 (nth i (times_slopes moduli a x) 0) (a * nth i x 0).
Proof.
  unfold times_slopes. destruct (Z.eqb_spec a 0) as [->|]; [destruct i; reflexivity|].
  destruct (Nat.lt_ge_cases i (length x)) as [H|H].
  - rewrite (nth_indep _ 0%Z (a * 0 mod first moduli)%Z) by now rewrite map_length. rewrite (map_nth (fun b => a * b mod first moduli)%Z), first_p. apply same_mod, gt1.
  - rewrite (nth_overflow _ _ H), nth_overflow by (now rewrite map_length). apply same_of. ring.
Qed.

Definition residues_of (l : nat) (x : number) (f : fn) : Prop := forall k, (k < length (fst x))%nat -> (k + l <= K)%nat -> num l k f (nth k (fst x) 0%Z).
Definition slopes_of (l : nat) (x : number) (f' : nat -> fn) : Prop := forall i, num l 0 (f' i) (nth i (snd x) 0%Z).
(* A number of level l: residues of a function of c 0, .., c (l-1). *)
Definition holds (l : nat) (x : number) (h : curve) : Prop := exists f f',
  (forall c i, h c i 0 = f c) /\ (forall c i, derivable_pt_lim (h c i) 0 (f' i c)) /\
  (0 < length (fst x))%nat /\ residues_of l x f /\ slopes_of l x f'.
(* A logit, or a part of a key: c l / ln 2 times one; it is the slope in place of c l / ln 2 modulo the first modulus. *)
Definition keyed (l : nat) (x : number) (h : curve) : Prop := exists g F,
  (forall c i, h c i 0 = c l / ln 2 * g c) /\ (forall c i, derivable_pt_lim (h c i) 0 (F i c / ln 2)) /\
  (0 < length (fst x))%nat /\ (exists w, same 0 (nth 0 (fst x) 0) (slope * w) /\ num l 0 g w) /\
  (forall k, (0 < k)%nat -> (k < length (fst x))%nat -> (k + l <= K)%nat -> num l k g (nth k (fst x) 0%Z)) /\ slopes_of (S l) x F.

Lemma derivative_eq f x a b : derivable_pt_lim f x a -> a = b -> derivable_pt_lim f x b.
Proof. now intros H <-. Qed.
Lemma map_const_nth {A} (l : list A) (a : Z) k : (k < length l)%nat -> nth k (map (fun _ => a) l) 0%Z = a.
Proof. revert k. induction l; intros [|k]; cbn; intros; try lia. apply IHl. lia. Qed.
Lemma moduli_0 : (0 < length moduli)%nat.
Proof. pose proof linked_moduli as H. revert H. destruct moduli; [discriminate|cbn; lia]. Qed.
Lemma constant l a : (l <= K)%nat -> holds l (map (fun _ => a) moduli, []) (fun _ _ _ => IZR a).
Proof.
  intros L. exists (fun _ => IZR a), (fun _ _ => 0). split; [reflexivity|]. split; [intros; apply derivable_pt_lim_const|].
  split; [cbn; rewrite map_length; exact moduli_0|]. split.
  - intros k Hk H. cbn [fst] in *. rewrite map_length in Hk. rewrite map_const_nth by exact Hk. apply num_Z; [exact gt1|exact H].
  - intros i. replace (nth i (snd (map (fun _ => a) moduli, [])) 0%Z) with 0%Z by (now destruct i). apply (num_Z p K slope gt1 l 0 0). lia.
Qed.
Lemma holds_zero l : (l <= K)%nat -> holds l (zero_number moduli) zero_curve.
Proof. exact (constant l 0). Qed.
Lemma holds_one l : (l <= K)%nat -> holds l (one_number moduli) one_curve.
Proof. exact (constant l 1). Qed.
Lemma keyed_zero l : (l < K)%nat -> keyed l (zero_number moduli) zero_curve.
Proof.
  intros L. exists (fun _ => 0), (fun _ _ => 0). split; [intros; unfold zero_curve; ring|]. split; [intros c i; eapply derivative_eq; [apply derivable_pt_lim_const|unfold Rdiv; ring]|].
  split; [cbn; rewrite map_length; exact moduli_0|]. split; [|split].
  - exists 0%Z. split; [|apply (num_Z p K slope gt1 l 0 0); lia]. cbn [fst zero_number]. rewrite map_const_nth by exact moduli_0. apply same_of. ring.
  - intros k _ Hk H. cbn [fst zero_number] in *. rewrite map_length in Hk. rewrite map_const_nth by exact Hk. apply (num_Z p K slope gt1 l k 0 H).
  - intros i. replace (nth i (snd (zero_number moduli)) 0%Z) with 0%Z by (now destruct i). apply (num_Z p K slope gt1 (S l) 0 0). lia.
Qed.
Lemma plus_length x y : (0 < length (fst x))%nat -> (0 < length (fst y))%nat -> (0 < length (fst (plus_number moduli x y)))%nat /\ (0 < length (fst (times_number moduli x y)))%nat.
Proof. intros. pose proof moduli_0. cbn. rewrite !zip_length. lia. Qed.
Lemma zip_within f x y k : (k < length (zip f moduli x y))%nat -> (k < length x)%nat /\ (k < length y)%nat.
Proof. rewrite zip_length. lia. Qed.
Lemma holds_plus l x y h k : holds l x h -> holds l y k -> holds l (plus_number moduli x y) (plus_curve h k).
Proof.
  intros (f & f' & Hf & Df & Lf & Rf & Sf) (g & g' & Hg & Dg & Lg & Rg & Sg). exists (fun c => f c + g c), (fun i c => f' i c + g' i c).
  split; [intros; unfold plus_curve; now rewrite Hf, Hg|]. split; [intros; now apply derivable_pt_lim_plus|]. split; [now apply plus_length|]. split.
  - intros j Hj Lj. cbn [fst plus_number] in *. destruct (zip_within _ _ _ _ Hj) as [A B]. rewrite zip_nth by exact Hj. eapply num_same; [exact (num_add _ _ _ gt1 order _ _ _ _ _ _ (Rf j A Lj) (Rg j B Lj))|].
    symmetry. apply (same_mod p gt1 j).
  - intros i. eapply num_same; [exact (num_add _ _ _ gt1 order _ _ _ _ _ _ (Sf i) (Sg i))|]. symmetry. apply plus_slopes_ok.
Qed.
Lemma keyed_plus l x y h k : keyed l x h -> keyed l y k -> keyed l (plus_number moduli x y) (plus_curve h k).
Proof.
  intros (f & f' & Hf & Df & Lf & (w & Wf & Zf) & Rf & Sf) (g & g' & Hg & Dg & Lg & (v & Wg & Zg) & Rg & Sg). exists (fun c => f c + g c), (fun i c => f' i c + g' i c).
  split; [intros; unfold plus_curve; rewrite Hf, Hg; ring|]. split; [intros; eapply derivative_eq; [now apply derivable_pt_lim_plus|unfold Rdiv; ring]|]. split; [now apply plus_length|]. split; [|split].
  - exists (w + v)%Z. split; [|now apply num_add; [exact gt1|exact order|..]]. destruct (plus_length x y Lf Lg) as [P _]. cbn [fst plus_number] in *. rewrite zip_nth by exact P.
    rewrite (same_mod p gt1 0), Wf, Wg. apply same_of. ring.
  - intros j j0 Hj Lj. cbn [fst plus_number] in *. destruct (zip_within _ _ _ _ Hj) as [A B]. rewrite zip_nth by exact Hj.
    eapply num_same; [exact (num_add _ _ _ gt1 order _ _ _ _ _ _ (Rf j j0 A Lj) (Rg j j0 B Lj))|]. symmetry. apply (same_mod p gt1 j).
  - intros i. eapply num_same; [exact (num_add _ _ _ gt1 order _ _ _ _ _ _ (Sf i) (Sg i))|]. symmetry. apply plus_slopes_ok.
Qed.
Lemma product_slopes x y i : same 0 (nth i (snd (times_number moduli x y)) 0) (nth i (snd x) 0 * nth 0 (fst y) 0 + nth 0 (fst x) 0 * nth i (snd y) 0).
Proof. cbn [snd times_number]. rewrite plus_slopes_ok, !times_slopes_ok, !hd_is_nth. apply same_of. ring. Qed.
Lemma holds_times l x y h k : (l <= K)%nat -> holds l x h -> holds l y k -> holds l (times_number moduli x y) (times_curve h k).
Proof.
  intros L (f & f' & Hf & Df & Lf & Rf & Sf) (g & g' & Hg & Dg & Lg & Rg & Sg). exists (fun c => f c * g c), (fun i c => f' i c * g c + f c * g' i c).
  split; [intros; unfold times_curve; now rewrite Hf, Hg|]. split; [|split; [now apply plus_length|split]].
  - intros c i. eapply derivative_eq; [apply (derivable_pt_lim_mult (h c i) (k c i)); [apply Df|apply Dg]|]. now rewrite Hf, Hg.
  - intros j Hj Lj. cbn [fst times_number] in *. destruct (zip_within _ _ _ _ Hj) as [A B]. rewrite zip_nth by exact Hj. eapply num_same; [exact (num_mul _ _ _ gt1 order _ _ _ _ _ _ (Rf j A Lj) (Rg j B Lj))|].
    symmetry. apply (same_mod p gt1 j).
  - intros i. eapply num_same; [|symmetry; apply product_slopes].
    apply num_add; try exact gt1; try exact order; apply num_mul; try exact gt1; try exact order; [apply Sf|apply Rg; lia|apply Rf; lia|apply Sg].
Qed.
Lemma keyed_times l x y h k : (l < K)%nat -> holds l x h -> keyed l y k -> keyed l (times_number moduli x y) (times_curve h k).
Proof.
  intros L (f & f' & Hf & Df & Lf & Rf & Sf) (g & G & Hg & Dg & Lg & (w & Wg & Zg) & Rg & Sg).
  exists (fun c => f c * g c), (fun i c => f' i c * (c l * g c) + f c * G i c).
  split; [intros; unfold times_curve; rewrite Hf, Hg; ring|]. split; [|split; [now apply plus_length|split; [|split]]].
  - intros c i. eapply derivative_eq; [apply (derivable_pt_lim_mult (h c i) (k c i)); [apply Df|apply Dg]|]. rewrite Hf, Hg. unfold Rdiv. ring.
  - exists (nth 0 (fst x) 0 * w)%Z. split; [|apply num_mul; try exact gt1; try exact order; [apply Rf; lia|exact Zg]].
    destruct (plus_length x y Lf Lg) as [_ P]. cbn [fst times_number] in *. rewrite zip_nth by exact P. rewrite (same_mod p gt1 0), Wg. apply same_of. ring.
  - intros j j0 Hj Lj. cbn [fst times_number] in *. destruct (zip_within _ _ _ _ Hj) as [A B]. rewrite zip_nth by exact Hj.
    eapply num_same; [exact (num_mul _ _ _ gt1 order _ _ _ _ _ _ (Rf j A Lj) (Rg j j0 B Lj))|]. symmetry. apply (same_mod p gt1 j).
  - intros i. eapply num_same; [|symmetry; rewrite product_slopes, Wg; reflexivity].
    assert (lift : forall a z, num l 0 a z -> num (S l) 0 a z) by (intros; apply num_lift; try exact gt1; try exact order; [lia|assumption]).
    apply num_add; try exact gt1; try exact order; apply num_mul; try exact gt1; try exact order;
      [apply lift, Sf|exact (num_times p K slope gt1 l 0 g w ltac:(lia) Zg)|apply lift, Rf; lia|apply Sg].
Qed.
Lemma holds_lift l x h : (l < K)%nat -> holds l x h -> holds (S l) x h.
Proof.
  intros L (f & f' & Hf & Df & Lf & Rf & Sf). exists f, f'. split; [exact Hf|]. split; [exact Df|]. split; [exact Lf|]. split.
  - intros k Hk Lk. apply num_lift; try exact gt1; [lia|]. apply Rf; [exact Hk|lia].
  - intros i. apply num_lift; try exact gt1; [lia|]. apply Sf.
Qed.

(* The softmax. *)
Lemma ln_2_not_0 : ln 2 <> 0.
Proof. apply Rgt_not_eq. rewrite <- ln_1. apply ln_increasing; lra. Qed.
Lemma powers_nth ps z k : (k < length (powers_of_2 ps z))%nat -> (S k < length z)%nat /\ (S k < length ps)%nat /\
  nth k (powers_of_2 ps z) 0%Z = residues.power (nth k ps 3%Z) 2 (nth (S k) z 0 mod nth (S k) ps 3)%Z.
Proof.
  revert z k. induction ps as [|q [|r ps] IH]; intros [|a [|b z]] k; try (cbn; lia). cbn [powers_of_2 length nth]. destruct k as [|k]; [intros _; repeat split; cbn; lia|].
  intros H. destruct (IH (b :: z) k) as (A & B & C); [cbn; lia|]. cbn in A, B, C. repeat split; [lia|lia|exact C].
Qed.
Lemma inverses_ok ps z over k : inverses ps z = Got over -> (k < length over)%nat -> (forall k, (1 < nth k ps 3)%Z) ->
  (k < length z)%nat /\ (nth k ps 3 | nth k z 0 * nth k over 0 - 1)%Z.
Proof.
  revert z over k. induction ps as [|q ps IH]; intros z over k; cbn.
  - intros [= <-] H. cbn in H. lia.
  - destruct z as [|a z]; [intros [= <-] H; cbn in H; lia|]. destruct (inverse q (a mod q)) as [i|] eqn:I; [|discriminate]. intros H Hk gt1.
    apply bind_got in H as (r & H & E). injection E as <-. destruct k as [|k].
    + cbn. split; [lia|]. pose proof (gt1 O) as g. cbn in g. apply (inverse_ok q g) in I. replace (a * i - 1)%Z with ((a mod q * i - 1) + (a - a mod q) * i)%Z by ring.
      apply Z.divide_add_r; [exact I|]. apply Z.divide_mul_l. now apply divide_mod.
    + cbn in *. destruct (IH z r k H ltac:(lia) (fun k => gt1 (S k))) as [A B]. split; [lia|exact B].
Qed.

Record logit := Logit { as_number : number; as_curve : curve; lg : fn; lF : nat -> fn; lw : Z }.
Definition logit_ok (l : nat) (d : logit) : Prop :=
  (forall c i, as_curve d c i 0 = c l / ln 2 * lg d c) /\ (forall c i, derivable_pt_lim (as_curve d c i) 0 (lF d i c / ln 2)) /\
  (forall k, (0 < k)%nat -> (k < length (fst (as_number d)))%nat -> (k + l <= K)%nat -> num l k (lg d) (nth k (fst (as_number d)) 0)) /\
  slopes_of (S l) (as_number d) (lF d).
Lemma logits_of l xs hs : Forall2 (keyed l) xs hs -> exists ds, xs = map as_number ds /\ hs = map as_curve ds /\ Forall (logit_ok l) ds.
Proof.
  induction 1 as [|x h xs hs (g & F & Hg & DF & _ & _ & R & S) H (ds & -> & -> & A)]; [exists []; repeat split; constructor|].
  exists (Logit x h g F 0 :: ds). split; [reflexivity|]. split; [reflexivity|]. constructor; [|exact A]. split; [exact Hg|]. split; [exact DF|]. now split.
Qed.
Section Softmax.
Variables (l : nat) (ds : list logit).
Hypotheses (Hl : (l < K)%nat) (Hds : Forall (logit_ok l) ds).
Definition powers_list (d : logit) := powers_of_2 moduli (fst (as_number d)).
Definition zs_at (k : nat) (ds : list logit) : list Z := map (fun d => nth (S k) (fst (as_number d)) 0%Z) ds.
Definition sum_list (ds : list logit) := fold_right (zip (fun p a b => (a + b) mod p)%Z moduli) (map (fun _ => 0%Z) moduli) (map powers_list ds).
Lemma power_nth d k : (k < length (powers_list d))%nat -> same k (nth k (powers_list d) 0) (power_of p k (nth (S k) (fst (as_number d)) 0)).
Proof.
  unfold powers_list. intros H. destruct (powers_nth _ _ _ H) as (_ & B & ->). unfold power_of. change (nth (S k) moduli 3%Z) with (p (S k)). change (nth k moduli 3%Z) with (p k).
  pose proof (gt1 (S k)). pose proof (Z.mod_pos_bound (nth (S k) (fst (as_number d)) 0%Z) (p (S k)) ltac:(lia)). symmetry. unfold tower.same. apply power_ok; [apply gt1|lia].
Qed.
Lemma sum_nth k ds' : (k < length (sum_list ds'))%nat -> Forall (fun d => (k < length (powers_list d))%nat) ds' /\ same k (nth k (sum_list ds') 0) (powers p k (zs_at k ds')).
Proof.
  unfold sum_list. induction ds' as [|d ds' IH]; cbn [map fold_right].
  - intros H. split; [constructor|]. rewrite map_length in H. cbn. rewrite map_const_nth by exact H. reflexivity.
  - intros H. destruct (zip_within _ _ _ _ H) as [A B]. destruct (IH B) as [C D]. split; [now constructor|]. rewrite zip_nth by exact H. change (nth k moduli 3%Z) with (p k).
    rewrite (same_mod p gt1 k), D. cbn [zs_at map powers]. rewrite (power_nth d k A). reflexivity.
Qed.
Variable over : list Z.
Hypothesis Hover : inverses moduli (sum_list ds) = Got over.
Definition share (d : logit) : list Z := zip (fun p a b => a * b mod p)%Z moduli (powers_list d) over.
Definition sigma (d : logit) : fn := fun c => exp (c l * lg d c) / exps l (map lg ds) c.
Lemma share_ok d k : In d ds -> (k < length (share d))%nat -> (k + S l <= K)%nat -> num (S l) k (sigma d) (nth k (share d) 0).
Proof.
  intros I Hk Lk. destruct (zip_within _ _ _ _ Hk) as [A B]. destruct (inverses_ok _ _ _ k Hover B gt1) as [C U]. destruct (sum_nth k ds C) as [D E].
  unfold share. rewrite zip_nth by exact Hk. change (nth k moduli 3%Z) with (p k).
  eapply num_same; [apply (num_share p K slope gt1 l k (lg d) (nth (S k) (fst (as_number d)) 0%Z) (map lg ds) (zs_at k ds) (nth k over 0%Z))|].
  - lia.
  - clear - I. unfold zs_at. induction ds as [|e r IH]; [easy|]. destruct I as [->|I]; [now left|right; now apply IH].
  - assert (G : forall r, Forall (logit_ok l) r -> Forall (fun d => (k < length (powers_list d))%nat) r -> Forall2 (fun g z => num l (S k) g z) (map lg r) (zs_at k r)).
    { clear - Lk. induction r as [|e r IH]; intros H D; cbn; constructor; inversion H as [|? ? (_ & _ & R & _) H']; inversion D as [|? ? De D']; subst; [|now apply IH].
      destruct (powers_nth _ _ _ De) as (A & _ & _). apply R; lia. }
    now apply G.
  - rewrite <- E. exact U.
  - rewrite <- (power_nth d k A). symmetry. apply (same_mod p gt1 k).
Qed.
Lemma weight_0 d c i : logit_ok l d -> weight_of (as_curve d) c i 0 = exp (c l * lg d c).
Proof. intros (E & _). unfold weight_of. rewrite E. f_equal. field. exact ln_2_not_0. Qed.
Lemma weight_slope d c i : logit_ok l d -> derivable_pt_lim (weight_of (as_curve d) c i) 0 (exp (c l * lg d c) * lF d i c).
Proof.
  intros H. rewrite <- (weight_0 d c i H). destruct H as (_ & D & _). unfold weight_of.
  eapply derivative_eq; [apply (derivable_pt_lim_comp (fun s => ln 2 * as_curve d c i s) exp)|].
  - apply (derivable_pt_lim_scal (as_curve d c i)). apply D.
  - apply derivable_pt_lim_exp.
  - cbn beta. field. exact ln_2_not_0.
Qed.
Fixpoint sum_slopes (r : list logit) (i : nat) (c : point) : R := match r with [] => 0 | d :: r => exp (c l * lg d c) * lF d i c + sum_slopes r i c end.
Lemma total_ok r c i : Forall (logit_ok l) r -> total_of (map as_curve r) c i 0 = exps l (map lg r) c /\ derivable_pt_lim (total_of (map as_curve r) c i) 0 (sum_slopes r i c).
Proof.
  induction 1 as [|d r Hd H [A B]]; cbn [map exps sum_slopes].
  - split; [reflexivity|apply derivable_pt_lim_const].
  - split; [cbn [total_of]; now rewrite A, (weight_0 d c i Hd)|]. exact (derivable_pt_lim_plus (weight_of (as_curve d) c i) (total_of (map as_curve r) c i) 0 _ _ (weight_slope d c i Hd) B).
Qed.
Lemma exps_pos r c d : In d r -> 0 < exps l (map lg r) c.
Proof.
  assert (nn : forall r, 0 <= exps l (map lg r) c) by (clear; induction r as [|e r IH]; cbn; [lra|]; pose proof (exp_pos (c l * lg e c)); lra).
  induction r as [|e r IH]; [easy|]. cbn. pose proof (exp_pos (c l * lg e c)). specialize (nn r). intros _. lra.
Qed.
(* The mean of the derivatives of the logits. *)
Fixpoint mean_slope (r : list logit) (i : nat) (c : point) : R := match r with [] => 0 | d :: r => sigma d c * lF d i c + mean_slope r i c end.
Fixpoint mean_mod (r : list logit) (i : nat) : Z := match r with [] => 0%Z | d :: r => (nth 0 (share d) 0 * nth i (snd (as_number d)) 0 + mean_mod r i)%Z end.
Lemma mean_sum r i c : mean_slope r i c = sum_slopes r i c / exps l (map lg ds) c.
Proof. induction r as [|d r IH]; cbn; [unfold Rdiv; ring|]. rewrite IH. unfold sigma, Rdiv. ring. Qed.
Lemma mean_ok r i : incl r ds -> Forall (fun d => (0 < length (share d))%nat) r -> Forall (logit_ok l) r -> num (S l) 0 (mean_slope r i) (mean_mod r i).
Proof.
  induction r as [|d r IH]; intros I N H; cbn [mean_slope mean_mod]; [apply (num_Z p K slope gt1 (S l) 0 0); lia|].
  inversion N as [|? ? Nd N']; inversion H as [|? ? Hd H']; subst. apply (num_add p K slope gt1 order); [|apply IH; [intros x Hx; apply I; now right|exact N'|exact H']].
  apply (num_mul p K slope gt1 order); [apply share_ok; [apply I; now left|exact Nd|lia]|apply Hd].
Qed.
Definition summed_slopes (r : list logit) : list Z := fold_right (plus_slopes moduli) [] (map (fun d => times_slopes moduli (hd 0%Z (share d)) (snd (as_number d))) r).
Lemma summed_ok r i : same 0 (nth i (summed_slopes r) 0) (mean_mod r i).
Proof.
  unfold summed_slopes. induction r as [|d r IH]; cbn [map fold_right mean_mod]; [destruct i; reflexivity|]. now rewrite plus_slopes_ok, times_slopes_ok, IH, hd_is_nth.
Qed.
Definition share_number (d : logit) : number :=
  (share d, times_slopes moduli (hd 0%Z (share d)) (plus_slopes moduli (snd (as_number d)) (times_slopes moduli (-1) (summed_slopes ds)))).
Lemma share_holds d : In d ds -> Forall (fun d => (0 < length (share d))%nat) ds ->
  holds (S l) (share_number d) (fun c i s => weight_of (as_curve d) c i s / total_of (map as_curve ds) c i s).
Proof.
  intros I N. assert (Hd : logit_ok l d) by (rewrite Forall_forall in Hds; now apply Hds). exists (sigma d), (fun i c => sigma d c * (lF d i c - mean_slope ds i c)).
  assert (Ld : (0 < length (share d))%nat) by (rewrite Forall_forall in N; now apply N).
  split; [|split; [|split; [exact Ld|split]]].
  - intros c i. destruct (total_ok ds c i Hds) as [-> _]. now rewrite weight_0.
  - intros c i. destruct (total_ok ds c i Hds) as [E D]. pose proof (exps_pos ds c d I) as P.
    eapply derivative_eq; [apply (derivable_pt_lim_div (weight_of (as_curve d) c i) (total_of (map as_curve ds) c i) 0); [exact (weight_slope d c i Hd)|exact D|rewrite E; lra]|].
    rewrite E, (weight_0 d c i Hd), mean_sum. unfold sigma, Rsqr. field. lra.
  - intros k Hk Lk. now apply share_ok.
  - intros i. cbn [snd share_number]. eapply num_same.
    + apply (num_mul p K slope gt1 order); [apply (share_ok d 0 I Ld); lia|]. apply (num_sub p K slope gt1 order); [lia|apply Hd|]. apply mean_ok; [apply incl_refl|exact N|exact Hds].
    + rewrite times_slopes_ok, plus_slopes_ok, times_slopes_ok, summed_ok, hd_is_nth. apply same_of. ring.
Qed.
End Softmax.
Lemma softmax_holds l xs hs : (l < K)%nat -> Forall2 (keyed l) xs hs -> gives (Forall2 (holds (S l))) (softmax_number moduli xs) (shares_curve (Softmax true) hs).
Proof.
  intros Hl H ys E. apply logits_of in H as (ds & -> & -> & A). cbn [shares_curve]. eexists. split; [reflexivity|].
  unfold softmax_number in E. rewrite map_map in E. apply bind_got in E as (over & Ho & E).
  change (map (fun x => powers_of_2 moduli (fst (as_number x))) ds) with (map powers_list ds) in *.
  rewrite !map_map in E. change (map (fun x => zip (fun p a b => a * b mod p)%Z moduli (powers_list x) over) ds) with (map (share over) ds) in E.
  apply bind_got in E as (v & N & E). apply need_got in N. injection E as <-.
  assert (C : combine (map (share over) ds) (map (fun x => snd (as_number x)) ds) = map (fun d => (share over d, snd (as_number d))) ds) by (clear; induction ds as [|d r IH]; cbn; [reflexivity|]; now rewrite IH).
  rewrite C, !map_map. cbn [fst snd].
  assert (N' : Forall (fun d => (0 < length (share over d))%nat) ds).
  { apply Forall_forall. intros d I. rewrite forallb_forall in N. specialize (N (share over d) (in_map _ _ _ I)). destruct (share over d); [discriminate|cbn; lia]. }
  change (Forall2 (holds (S l)) (map (share_number ds over) ds) (map (fun d c i s => weight_of (as_curve d) c i s / total_of (map as_curve ds) c i s) ds)).
  assert (G : forall r, incl r ds -> Forall2 (holds (S l)) (map (share_number ds over) r) (map (fun d c i s => weight_of (as_curve d) c i s / total_of (map as_curve ds) c i s) r)).
  { induction r as [|d r IH]; intros I; cbn; constructor; [|apply IH; intros x Hx; apply I; now right]. apply (share_holds l ds Hl A over Ho); [apply I; now left|exact N']. }
  apply G, incl_refl.
Qed.
End Numbers.
