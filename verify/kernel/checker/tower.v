(* A tower of moduli. Functions of real numbers c 0, c 1, .. that are built from fractions by sums, products, and the softmax
   exp(c l g i) / sum_j exp(c l g j) of functions g of c 0, .., c (l-1), have residues: a fraction its own, exp(c l g)
   the power of 2 by the residue of g modulo the next modulus, of which that of 2 is a divisor. A function whose residue is not 0
   is not 0 if c 0 is large, c 1 large enough for it, and so on. *)
From Coq Require Import ZArith Zpow_facts Reals List Bool Lia Lra Arith Setoid Morphisms.
Require Import residues growth.
Import ListNotations.
Open Scope R_scope.

Definition point := nat -> R.
Definition fn := point -> R.
Definition put (c : point) (l : nat) (x : R) : point := fun i => if Nat.eqb i l then x else c i.
Fixpoint sure (l : nat) (P : point -> Prop) (c : point) : Prop :=
  match l with O => P c | S l' => sure l' (fun c => beyond (fun x => P (put c l' x))) c end.
Lemma sure_weaken l (P Q : point -> Prop) c : (forall c, P c -> Q c) -> sure l P c -> sure l Q c.
Proof.
  revert P Q c. induction l as [|l IH]; intros P Q c H; cbn; [apply H|]. apply IH. intros d. apply beyond_weaken. intros x. apply H.
Qed.
Lemma sure_always l (P : point -> Prop) c : (forall c, P c) -> sure l P c.
Proof. revert P c. induction l as [|l IH]; intros P c H; cbn; [apply H|]. apply IH. intros d. exists 0. intros x _. apply H. Qed.
Lemma sure_and l (P Q : point -> Prop) c : sure l P c -> sure l Q c -> sure l (fun c => P c /\ Q c) c.
Proof.
  revert P Q c. induction l as [|l IH]; intros P Q c H G; cbn in *; [now split|].
  eapply sure_weaken; [|exact (IH _ _ _ H G)]. intros d [A B]. now apply beyond_and.
Qed.
Lemma sure_some l (P : point -> Prop) c : sure l P c -> exists c, P c.
Proof.
  revert P c. induction l as [|l IH]; intros P c; cbn; [intros H; now exists c|]. intros H. apply IH in H as (d & C & H).
  exists (put d l (C + 1)). apply H. lra.
Qed.

Section Tower.
Variables (p : nat -> Z) (K : nat) (slope : Z).
Hypothesis p_gt1 : forall k, (1 < p k)%Z.
Hypothesis order : forall k, (k < K)%nat -> (p k | 2 ^ p (S k) - 1)%Z.

Definition same (k : nat) (a b : Z) : Prop := (p k | a - b)%Z.
Instance same_equivalence k : Equivalence (same k).
Proof.
  split; unfold same; red.
  - intros a. exists 0%Z. lia.
  - intros a b [i H]. exists (- i)%Z. lia.
  - intros a b c [i H] [j G]. exists (i + j)%Z. lia.
Qed.
Instance same_add k : Proper (same k ==> same k ==> same k) Z.add.
Proof. intros a b [i H] c d [j G]. exists (i + j)%Z. lia. Qed.
Instance same_sub k : Proper (same k ==> same k ==> same k) Z.sub.
Proof. intros a b [i H] c d [j G]. exists (i - j)%Z. lia. Qed.
Instance same_mul k : Proper (same k ==> same k ==> same k) Z.mul.
Proof. intros a b [i H] c d [j G]. exists (i * c + b * j)%Z. replace (a * c - b * d)%Z with ((a - b) * c + b * (c - d))%Z by ring. rewrite H, G. ring. Qed.
Lemma same_mod k a : same k (a mod p k) a.
Proof. destruct (divide_mod (p k) (p_gt1 k) a) as [i H]. exists (- i)%Z. lia. Qed.
Lemma same_of k a b : a = b -> same k a b.
Proof. intros ->. reflexivity. Qed.
Lemma zero_divides k a : same k a 0 <-> (p k | a)%Z.
Proof. unfold same. now rewrite Z.sub_0_r. Qed.
Lemma unit_not_0 k a i : same k (a * i) 1 -> ~ same k a 0.
Proof.
  intros H G. rewrite G in H. destruct H as [j H]. pose proof (p_gt1 k). assert (E : (p k * - j = 1)%Z) by lia. apply Z.mul_eq_1 in E. lia.
Qed.

(* Powers of 2, by residues modulo the next modulus. *)
Definition power_of (k : nat) (g : Z) : Z := 2 ^ (g mod p (S k)).
Lemma power_of_same k g h : same (S k) g h -> power_of k g = power_of k h.
Proof.
  intros [i H]. unfold power_of. f_equal. replace g with (h + i * p (S k))%Z by lia. apply Z.mod_add. pose proof (p_gt1 (S k)). lia.
Qed.
Lemma power_of_add k g h : (k < K)%nat -> same k (power_of k (g + h)) (power_of k g * power_of k h).
Proof.
  intros Hk. unfold power_of. pose proof (p_gt1 (S k)) as q1. set (q := p (S k)) in *.
  pose proof (Z.mod_pos_bound g q ltac:(lia)). pose proof (Z.mod_pos_bound h q ltac:(lia)). pose proof (Z.mod_pos_bound (g + h) q ltac:(lia)).
  rewrite <- Z.pow_add_r by lia. rewrite Zplus_mod in *. set (s := (g mod q + h mod q)%Z) in *.
  rewrite (Z.div_mod s q) at 2 by lia. rewrite Z.pow_add_r, Z.pow_mul_r by (try apply Z.mul_nonneg_nonneg; try apply Z.div_pos; lia).
  assert (O : same k (2 ^ q) 1) by (apply order; exact Hk).
  assert (P : forall n, (0 <= n)%Z -> same k ((2 ^ q) ^ n) 1).
  { intros n Hn. pattern n. apply natlike_ind; [reflexivity| |exact Hn]. intros m Hm IH. rewrite Z.pow_succ_r by exact Hm. now rewrite IH, O. }
  rewrite P by (apply Z.div_pos; lia). apply same_of. ring.
Qed.
Lemma power_of_0 k : power_of k 0 = 1%Z.
Proof. unfold power_of. rewrite Z.mod_0_l; [reflexivity|]. pose proof (p_gt1 (S k)). lia. Qed.

(* Terms a x^e exp(x g) with x = c l. The residue of x is that of the slope modulo the first modulus, and 1 modulo the others. *)
Record piece := Piece { co : fn; co_mod : Z; ex : nat; expo : fn; expo_mod : Z }.
Definition image (k : nat) : Z := match k with O => slope | _ => 1%Z end.
Definition worth (l : nat) (c : point) (t : piece) : R := co t c * c l ^ ex t * exp (c l * expo t c).
Definition mod_of (k : nat) (t : piece) : Z := (co_mod t * image k ^ Z.of_nat (ex t) * power_of k (expo_mod t))%Z.
Fixpoint worths (l : nat) (c : point) (N : list piece) : R := match N with [] => 0 | t :: r => worth l c t + worths l c r end.
Fixpoint mods (k : nat) (N : list piece) : Z := match N with [] => 0%Z | t :: r => (mod_of k t + mods k r)%Z end.

(* f, of c 0, .., c (l-1), has the residue z modulo p k. *)
Fixpoint num (l k : nat) (f : fn) (z : Z) : Prop :=
  match l with
  | O => exists r, (forall c, f c = r) /\ residue (p k) r z
  | S l' => (k < K)%nat /\ exists N D,
    Forall (fun t => num l' k (co t) (co_mod t) /\ num l' (S k) (expo t) (expo_mod t)) N /\
    Forall (fun t => num l' k (co t) (co_mod t) /\ num l' (S k) (expo t) (expo_mod t)) D /\
    (forall c, worths l' c D <> 0 /\ f c * worths l' c D = worths l' c N) /\
    (exists i, same k (mods k D * i) 1) /\ same k (z * mods k D) (mods k N)
  end.
Definition fine (l k : nat) (t : piece) : Prop := num l k (co t) (co_mod t) /\ num l (S k) (expo t) (expo_mod t).

Lemma num_same l k f z z' : num l k f z -> same k z z' -> num l k f z'.
Proof.
  destruct l as [|l]; cbn.
  - intros (r & E & H) S. exists r. split; [exact E|]. exact (residue_mod _ _ _ _ H S).
  - intros (Hk & N & D & HN & HD & E & U & H) S. split; [exact Hk|]. exists N, D. repeat split; try assumption; try apply E. now rewrite <- S.
Qed.
Lemma num_ext l k f g z : num l k f z -> (forall c, f c = g c) -> num l k g z.
Proof.
  intros H E. destruct l as [|l]; cbn in *.
  - destruct H as (r & F & H). exists r. split; [|exact H]. intros c. now rewrite <- E.
  - destruct H as (Hk & N & D & HN & HD & F & U & H). split; [exact Hk|]. exists N, D. repeat split; try assumption; [apply F|]. rewrite <- E. apply F.
Qed.
Lemma num_level l k f z : num l k f z -> (l = O \/ k < K)%nat.
Proof. destruct l; cbn; [now left|intros [H _]; now right]. Qed.
Lemma num_local l k f z : num l k f z -> forall c d, (forall i, (i < l)%nat -> c i = d i) -> f c = f d.
Proof.
  revert k f z. induction l as [|l IH]; intros k f z H c d E; cbn in H.
  - destruct H as (r & F & _). now rewrite !F.
  - destruct H as (_ & N & D & HN & HD & F & _).
    assert (W : forall M, Forall (fine l k) M -> worths l c M = worths l d M).
    { induction 1 as [|t M [Hc He] HM IHM]; cbn; [reflexivity|]. rewrite IHM. f_equal. unfold worth. rewrite (E l) by lia.
      rewrite (IH _ _ _ Hc c d), (IH _ _ _ He c d) by (intros; apply E; lia). reflexivity. }
    destruct (F c) as [C1 C2], (F d) as [D1 D2]. apply Rmult_eq_reg_r with (worths l c D); [|exact C1]. rewrite C2, (W N HN), (W D HD). now rewrite <- D2.
Qed.

(* Products and sums. *)
Definition both (s t : piece) : piece :=
  Piece (fun c => co s c * co t c) (co_mod s * co_mod t) (ex s + ex t) (fun c => expo s c + expo t c) (expo_mod s + expo_mod t).
Definition products (M N : list piece) : list piece := flat_map (fun s => map (both s) N) M.
Lemma products_cons s M N : products (s :: M) N = map (both s) N ++ products M N.
Proof. reflexivity. Qed.
Lemma worths_app l c M N : worths l c (M ++ N) = worths l c M + worths l c N.
Proof. induction M as [|t M IH]; cbn; [ring|]. rewrite IH. ring. Qed.
Lemma mods_app k M N : mods k (M ++ N) = (mods k M + mods k N)%Z.
Proof. induction M as [|t M IH]; cbn; [ring|]. rewrite IH. ring. Qed.
Lemma worths_products l c M N : worths l c (products M N) = worths l c M * worths l c N.
Proof.
  induction M as [|s M IH]; [cbn; ring|]. rewrite products_cons, worths_app, IH. cbn [worths]. rewrite Rmult_plus_distr_r. f_equal. clear IH.
  induction N as [|t N IH]; cbn; [ring|]. rewrite IH, Rmult_plus_distr_l. f_equal. unfold worth. cbn. rewrite pow_add, Rmult_plus_distr_l, exp_plus. ring.
Qed.
Lemma mod_of_both k s t : (k < K)%nat -> same k (mod_of k (both s t)) (mod_of k s * mod_of k t).
Proof.
  intros Hk. unfold mod_of. cbn. rewrite Nat2Z.inj_add, Z.pow_add_r by lia. rewrite (power_of_add k _ _ Hk). apply same_of. ring.
Qed.
Lemma mods_products k M N : (k < K)%nat -> same k (mods k (products M N)) (mods k M * mods k N).
Proof.
  intros Hk. induction M as [|s M IH]; [reflexivity|]. rewrite products_cons, mods_app, IH. cbn [mods]. rewrite Z.mul_add_distr_r. apply same_add; [|reflexivity]. clear IH.
  induction N as [|t N IH]; cbn; [apply same_of; ring|]. rewrite IH, Z.mul_add_distr_l, (mod_of_both k s t Hk). reflexivity.
Qed.

Lemma closed l : forall k f g a b, num l k f a -> num l k g b ->
  num l k (fun c => f c + g c) (a + b) /\ num l k (fun c => f c * g c) (a * b).
Proof.
  induction l as [|l IH]; intros k f g a b.
  - intros (r & F & H) (s & G & I). cbn. split; [exists (r + s)|exists (r * s)]; (split; [intros c; now rewrite F, G|]).
    + now apply residue_add.
    + now apply residue_mul.
  - intros (Hk & N & D & HN & HD & F & (i & U) & H) (_ & N' & D' & HN' & HD' & F' & (i' & U') & H').
    assert (P : forall M M', Forall (fine l k) M -> Forall (fine l k) M' -> Forall (fine l k) (products M M')).
    { intros M M' HM HM'. apply Forall_flat_map. eapply Forall_impl; [|exact HM]. intros s [Hs Is]. apply Forall_map. eapply Forall_impl; [|exact HM'].
      intros t [Ht It]. split; cbn; [exact (proj2 (IH _ _ _ _ _ Hs Ht))|exact (proj1 (IH _ _ _ _ _ Is It))]. }
    assert (V : same k (mods k (products D D') * (i * i')) 1).
    { rewrite (mods_products k D D' Hk). replace (mods k D * mods k D' * (i * i'))%Z with ((mods k D * i) * (mods k D' * i'))%Z by ring. now rewrite U, U'. }
    split; (split; [exact Hk|]).
    + exists (products N D' ++ products N' D), (products D D'). split; [apply Forall_app; split; now apply P|]. split; [now apply P|]. split; [|split; [now exists (i * i')%Z|]].
      * intros c. destruct (F c) as [A B], (F' c) as [A' B']. rewrite worths_app, !worths_products, <- B, <- B'. split; [now apply Rmult_integral_contrapositive|ring].
      * rewrite mods_app, !(mods_products k _ _ Hk), <- H, <- H'. apply same_of. ring.
    + exists (products N N'), (products D D'). split; [now apply P|]. split; [now apply P|]. split; [|split; [now exists (i * i')%Z|]].
      * intros c. destruct (F c) as [A B], (F' c) as [A' B']. rewrite !worths_products, <- B, <- B'. split; [now apply Rmult_integral_contrapositive|ring].
      * rewrite !(mods_products k _ _ Hk), <- H, <- H'. apply same_of. ring.
Qed.
Lemma num_add l k f g a b : num l k f a -> num l k g b -> num l k (fun c => f c + g c) (a + b).
Proof. intros H G. exact (proj1 (closed l k f g a b H G)). Qed.
Lemma num_mul l k f g a b : num l k f a -> num l k g b -> num l k (fun c => f c * g c) (a * b).
Proof. intros H G. exact (proj2 (closed l k f g a b H G)). Qed.

(* One power of c l, over 1. *)
Lemma num_piece l k e f z : (k + l < K)%nat -> num l k f z -> num l k (fun _ => 1) 1 -> num l (S k) (fun _ => 0) 0 ->
  num (S l) k (fun c => f c * c l ^ e) (z * image k ^ Z.of_nat e).
Proof.
  intros Hk H one zero. split; [lia|]. exists [Piece f z e (fun _ => 0) 0], [Piece (fun _ => 1) 1 0 (fun _ => 0) 0].
  assert (W : forall c g m y, worths l c [Piece g y m (fun _ => 0) 0] = g c * c l ^ m).
  { intros. cbn. unfold worth. cbn. rewrite Rmult_0_r, exp_0. ring. }
  assert (M : forall g m y, mods k [Piece g y m (fun _ => 0) 0] = (y * image k ^ Z.of_nat m)%Z).
  { intros. cbn. unfold mod_of. cbn [co_mod ex expo_mod]. rewrite power_of_0. ring. }
  rewrite !M. split; [repeat constructor; assumption|]. split; [repeat constructor; assumption|]. split; [|split].
  - intros c. rewrite !W. cbn [pow]. split; [lra|ring].
  - exists 1%Z. reflexivity.
  - apply same_of. cbn [Z.of_nat]. rewrite Z.pow_0_r. ring.
Qed.
Lemma num_const l k r z : (k + l <= K)%nat -> residue (p k) r z -> num l k (fun _ => r) z.
Proof.
  revert k r z. induction l as [|l IH]; intros k r z Hk H; [exists r; now split|].
  assert (Z0 : forall j a, residue (p j) (IZR a) a) by (intros; apply residue_Z).
  eapply num_same; [eapply num_ext; [apply (num_piece l k 0 (fun _ => r) z); [lia|apply IH; [lia|exact H]|apply IH; [lia|exact (Z0 k 1%Z)]|apply IH; [lia|exact (Z0 (S k) 0%Z)]]|]|].
  - intros c. cbn. ring.
  - apply same_of. cbn [Z.of_nat]. rewrite Z.pow_0_r. ring.
Qed.
Lemma num_Z l k a : (k + l <= K)%nat -> num l k (fun _ => IZR a) a.
Proof. intros H. apply num_const; [exact H|apply residue_Z]. Qed.
Lemma num_power l k e f z : (k + l < K)%nat -> num l k f z -> num (S l) k (fun c => f c * c l ^ e) (z * image k ^ Z.of_nat e).
Proof. intros Hk H. apply num_piece; [exact Hk|exact H|apply (num_Z l k 1); lia|apply (num_Z l (S k) 0); lia]. Qed.
Lemma num_lift l k f z : (k + l < K)%nat -> num l k f z -> num (S l) k f z.
Proof.
  intros Hk H. eapply num_same; [eapply num_ext; [exact (num_power l k 0 f z Hk H)|]|]; [intros c; cbn; ring|]. apply same_of. cbn [Z.of_nat]. rewrite Z.pow_0_r. ring.
Qed.
Lemma num_times l k f z : (k + l < K)%nat -> num l k f z -> num (S l) k (fun c => c l * f c) (image k * z).
Proof.
  intros Hk H. eapply num_same; [eapply num_ext; [exact (num_power l k 1 f z Hk H)|]|]; [intros c; cbn; ring|]. apply same_of. cbn [Z.of_nat Pos.of_succ_nat]. rewrite Z.pow_1_r. ring.
Qed.
Lemma num_sub l k f g a b : (k + l <= K)%nat -> num l k f a -> num l k g b -> num l k (fun c => f c - g c) (a - b).
Proof.
  intros Hk H G. eapply num_same; [eapply num_ext; [exact (num_add _ _ _ _ _ _ H (num_mul _ _ _ _ _ _ (num_Z l k (-1) Hk) G))|]|].
  - intros c. cbn. ring.
  - apply same_of. ring.
Qed.

(* A softmax. *)
Fixpoint exps (l : nat) (gs : list fn) (c : point) : R := match gs with [] => 0 | g :: r => exp (c l * g c) + exps l r c end.
Fixpoint powers (k : nat) (zs : list Z) : Z := match zs with [] => 0%Z | z :: r => (power_of k z + powers k r)%Z end.
Lemma num_share l k g z gs zs i : (k + l < K)%nat -> In (g, z) (combine gs zs) -> Forall2 (num l (S k)) gs zs -> same k (powers k zs * i) 1 ->
  num (S l) k (fun c => exp (c l * g c) / exps l gs c) (power_of k z * i).
Proof.
  intros Hk I H U. assert (Hg : num l (S k) g z).
  { clear - I H. induction H as [|a b gs zs Ha H IH]; cbn in I; [easy|]. destruct I as [[= -> ->]|I]; [exact Ha|now apply IH]. }
  assert (one : num l k (fun _ => 1) 1) by (apply (num_Z l k 1); lia).
  set (exp_of (q : fn * Z) := Piece (fun _ => 1) 1 0 (fst q) (snd q)).
  assert (W : forall c q, worth l c (exp_of q) = exp (c l * fst q c)) by (intros; unfold worth, exp_of; cbn; ring).
  assert (M : forall q, mod_of k (exp_of q) = power_of k (snd q)) by (intros q; unfold mod_of, exp_of; cbn [co_mod ex expo_mod Z.of_nat]; rewrite Z.pow_0_r; ring).
  set (D := map exp_of (combine gs zs)).
  assert (WD : forall c, worths l c D = exps l gs c /\ mods k D = powers k zs).
  { intros c. unfold D. clear - H W M. induction H as [|a b gs zs Ha H [A B]]; [now split|]. cbn [combine map worths mods exps powers]. now rewrite A, B, W, M. }
  assert (pos : forall c, 0 < exps l gs c).
  { intros c. assert (nn : forall hs, 0 <= exps l hs c) by (induction hs; cbn; [lra|]; pose proof (exp_pos (c l * a c)); lra).
    destruct gs as [|a r]; [easy|]. cbn. pose proof (exp_pos (c l * a c)). specialize (nn r). lra. }
  split; [lia|]. exists [exp_of (g, z)], D. split; [repeat constructor; assumption|]. split; [|split; [|split]].
  - unfold D. clear - H one. induction H as [|a b gs zs Ha H IH]; cbn; constructor; [split; assumption|exact IH].
  - intros c. destruct (WD c) as [-> _]. specialize (pos c). split; [lra|]. cbn [worths]. rewrite (W c (g, z)). cbn [fst]. field. lra.
  - exists i. now destruct (WD (fun _ => 0)) as [_ ->].
  - destruct (WD (fun _ => 0)) as [_ ->]. cbn [mods]. rewrite (M (g, z)). cbn [snd]. rewrite Z.add_0_r, <- Z.mul_assoc, (Z.mul_comm i), U. apply same_of. ring.
Qed.

(* A function is 0 for all, or for no, large c; in the first case its residue is 0. *)
Definition decided (l : nat) : Prop := forall k f z c, (k + l <= K)%nat -> num l k f z -> sure l (fun c => f c <> 0) c \/ (sure l (fun c => f c = 0) c /\ same k z 0).
Section Step.
Variables (l k : nat) (c0 : point).
Hypothesis decided_l : decided l.
Hypothesis Hk : (k + l < K)%nat.
Definition differ (s t : piece) : Prop := ex s <> ex t \/ sure l (fun c => expo s c <> expo t c) c0.
Definition clear_of_0 (t : piece) : Prop := sure l (fun c => co t c <> 0) c0.
Definition reduced (N : list piece) : Prop := Forall (fine l k) N /\ Forall clear_of_0 N /\ ForallOrdPairs differ N.
Lemma inserted t N : fine l k t -> reduced N -> exists N', reduced N' /\ sure l (fun c => forall x, worths l (put c l x) N' = worths l (put c l x) (t :: N)) c0 /\
  same k (mods k N') (mods k (t :: N)) /\ forall u, In u N' -> exists v, In v (t :: N) /\ ex u = ex v /\ expo u = expo v.
Proof.
  intros Ht. revert t Ht. induction N as [|s N IH]; intros t Ht (F & C & D).
  - destruct (decided_l k _ _ c0 ltac:(lia) (proj1 Ht)) as [H|[H Z]].
    + exists [t]. split; [split; [|split]; repeat constructor; (exact H || apply Ht)|]. split; [now apply sure_always|]. split; [reflexivity|]. intros u [<-|[]]. exists t. repeat split. now left.
    + exists []. split; [split; [|split]; constructor|]. split; [|split; [|easy]].
      * eapply sure_weaken; [|exact H]. intros c E x. cbn. unfold worth. rewrite (num_local _ _ _ _ (proj1 Ht) (put c l x) c), E; [ring|].
        intros i Hi. unfold put. destruct (Nat.eqb_spec i l); [lia|reflexivity].
      * cbn. unfold mod_of. rewrite Z. reflexivity.
  - inversion F as [|? ? Fs FN]; subst. inversion C as [|? ? Cs CN]; subst. inversion D as [|? ? Ds DN]; subst.
    assert (S : differ t s \/ (ex t = ex s /\ sure l (fun c => expo t c = expo s c) c0 /\ same (S k) (expo_mod t) (expo_mod s))).
    { unfold differ. destruct (Nat.eq_dec (ex t) (ex s)) as [E|E]; [|now left; left].
      destruct (decided_l (S k) _ _ c0 ltac:(lia) (num_sub l (S k) _ _ _ _ ltac:(lia) (proj2 Ht) (proj2 Fs))) as [H|[H Z]].
      - left. right. eapply sure_weaken; [|exact H]. intros c G E'. apply G. cbn. lra.
      - right. split; [exact E|]. split; [eapply sure_weaken; [|exact H]; intros c G; cbn in G; lra|]. unfold same in *. now rewrite Z.sub_0_r in Z. }
    destruct S as [S|(E & G & Z)].
    + destruct (IH t Ht) as (N' & (F' & C' & D') & W & M & I); [now repeat split|]. exists (s :: N'). split; [|split; [|split]].
      * split; [now constructor|]. split; [now constructor|]. constructor; [|exact D']. rewrite Forall_forall in *. intros u Hu. destruct (I u Hu) as (v & [<-|Hv] & E1 & E2).
        -- unfold differ in *. rewrite E1, E2. destruct S as [S|S]; [left; auto|right; eapply sure_weaken; [|exact S]; intros c N0; auto].
        -- specialize (Ds v Hv). unfold differ in *. now rewrite E1, E2.
      * eapply sure_weaken; [|exact W]. intros c H x. cbn [worths] in *. rewrite H. ring.
      * cbn [mods] in *. rewrite M. apply same_of. ring.
      * intros u [<-|Hu]; [exists s; repeat split; right; now left|]. destruct (I u Hu) as (v & [<-|Hv] & E'); [exists t|exists v]; (split; [|exact E']); [now left|right; now right].
    + set (a := Piece (fun c => co t c + co s c) (co_mod t + co_mod s) (ex s) (expo s) (expo_mod s)).
      assert (Fa : fine l k a) by (split; [exact (num_add _ _ _ _ _ _ (proj1 Ht) (proj1 Fs))|exact (proj2 Fs)]).
      assert (Ma : same k (mod_of k a) (mod_of k t + mod_of k s)) by (unfold mod_of; cbn; rewrite E, (power_of_same k _ _ Z); apply same_of; ring).
      assert (Wa : sure l (fun c => forall x, worth l (put c l x) a = worth l (put c l x) t + worth l (put c l x) s) c0).
      { eapply sure_weaken; [|exact G]. intros c E' x. unfold worth. cbn. rewrite E.
        replace (expo t (put c l x)) with (expo s (put c l x)); [ring|].
        assert (P : forall i, (i < l)%nat -> put c l x i = c i) by (intros i Hi; unfold put; destruct (Nat.eqb_spec i l); [lia|reflexivity]).
        rewrite (num_local _ _ _ _ (proj2 Ht) (put c l x) c P), (num_local _ _ _ _ (proj2 Fs) (put c l x) c P). now symmetry. }
      destruct (decided_l k _ _ c0 ltac:(lia) (proj1 Fa)) as [H|[H Z0]].
      * exists (a :: N). split; [split; [|split]; constructor; assumption|]. split; [|split].
        -- eapply sure_weaken; [|exact Wa]. intros c W x. cbn [worths]. rewrite W. ring.
        -- cbn [mods]. rewrite Ma. apply same_of. ring.
        -- intros u [<-|Hu]; [exists s|exists u]; repeat split; right; [now left|now right].
      * exists N. split; [now repeat split|]. split; [|split].
        -- eapply sure_weaken; [|exact (sure_and _ _ _ _ Wa H)]. intros c [W A] x. cbn [worths]. rewrite <- Rplus_assoc, <- W. unfold worth.
           rewrite (num_local _ _ _ _ (proj1 Fa) (put c l x) c), A; [ring|]. intros i Hi. unfold put. destruct (Nat.eqb_spec i l); [lia|reflexivity].
        -- cbn [mods]. assert (Q : same k (mod_of k a) 0) by (unfold mod_of; now rewrite Z0). rewrite Z.add_assoc, <- Ma, Q. reflexivity.
        -- intros u Hu. exists u. repeat split. right. now right.
Qed.
Lemma reduce N : Forall (fine l k) N -> exists N', reduced N' /\ sure l (fun c => forall x, worths l (put c l x) N' = worths l (put c l x) N) c0 /\ same k (mods k N') (mods k N).
Proof.
  induction 1 as [|t N Ht H (N' & R & W & M)].
  - exists []. split; [split; [|split]; constructor|]. split; [now apply sure_always|reflexivity].
  - destruct (inserted t N' Ht R) as (N2 & R2 & W2 & M2 & _). exists N2. split; [exact R2|]. split.
    + eapply sure_weaken; [|exact (sure_and _ _ _ _ W W2)]. intros c [A B] x. rewrite B. cbn. now rewrite A.
    + rewrite M2. cbn. now rewrite M.
Qed.
Lemma reduced_not_0 t N : reduced (t :: N) -> sure l (fun c => beyond (fun x => worths l (put c l x) (t :: N) <> 0)) c0.
Proof.
  remember (t :: N) as M eqn:HM. intros (F & C & D).
  assert (A : sure l (fun c => Forall (fun t => co t c <> 0) M) c0).
  { clear - C. induction C as [|u M Hu C IH]; [now apply sure_always|]. eapply sure_weaken; [|exact (sure_and _ _ _ _ Hu IH)]. intros c [H G]. now constructor. }
  assert (B : sure l (fun c => ForallOrdPairs (fun s t => ex s <> ex t \/ expo s c <> expo t c) M) c0).
  { clear - D. induction D as [|u M Hu D IH]; [apply sure_always; intros; constructor|].
    assert (G : sure l (fun c => Forall (fun t => ex u <> ex t \/ expo u c <> expo t c) M) c0).
    { clear - Hu. induction Hu as [|v M Hv Hu IH]; [now apply sure_always|]. destruct Hv as [Hv|Hv].
      - eapply sure_weaken; [|exact IH]. intros c H. constructor; [now left|exact H].
      - eapply sure_weaken; [|exact (sure_and _ _ _ _ Hv IH)]. intros c [H G]. constructor; [now right|exact G]. }
    eapply sure_weaken; [|exact (sure_and _ _ _ _ G IH)]. intros c [H H']. now constructor. }
  eapply sure_weaken; [|exact (sure_and _ _ _ _ A B)]. intros c [HA HB]. cbn beta.
  set (at_ (t : piece) := (co t c, ex t, expo t c)).
  assert (E : forall x, worths l (put c l x) M = grown (map at_ M) x).
  { intros x. clear - F. induction F as [|u M Hu F IH]; [reflexivity|]. cbn. rewrite IH. f_equal. unfold worth.
    assert (P : forall i, (i < l)%nat -> put c l x i = c i) by (intros i Hi; unfold put; destruct (Nat.eqb_spec i l); [lia|reflexivity]).
    rewrite (num_local _ _ _ _ (proj1 Hu) _ _ P), (num_local _ _ _ _ (proj2 Hu) _ _ P). unfold put at 1 2. now rewrite Nat.eqb_refl. }
  assert (A1 : ForallOrdPairs apart (map at_ M)).
  { clear - HB. induction HB as [|u M Hu H IH]; cbn; constructor; [|exact IH]. apply Forall_map. eapply Forall_impl; [|exact Hu]. intros v [H'|H'] [A B]; contradiction. }
  assert (A2 : Forall (fun s => fst (fst s) <> 0) (map at_ M)) by (apply Forall_map; exact HA).
  clear - A1 A2 E HM. subst M. generalize (no_zeros _ _ A1 A2). apply beyond_weaken. intros x Hx. rewrite E. exact Hx.
Qed.
End Step.
Theorem all_decided l : decided l.
Proof.
  induction l as [|l IH]; intros k f z c Hk H.
  - destruct H as (r & F & H). cbn. rewrite F. destruct (Req_dec r 0) as [->|N]; [right; split; [reflexivity|]|now left].
    destruct H as (a & b & b' & E & [u U] & [m M]). rewrite Rmult_0_l in E. apply eq_sym, eq_IZR in E. subst a. exists (- m)%Z. lia.
  - destruct H as (Hk' & N & D & HN & HD & F & (i & U) & Z). destruct (reduce l k c IH ltac:(lia) N HN) as (N' & R & W & M). destruct N' as [|t N'].
    + right. split.
      * cbn. eapply sure_weaken; [|exact W]. intros d E. exists 0. intros x _. destruct (F (put d l x)) as [A B]. rewrite <- E in B. cbn in B.
        apply Rmult_integral in B as [B|B]; [exact B|contradiction].
      * cbn in M. rewrite <- M in Z. assert (E : same k (z * mods k D * i) 0) by now rewrite Z. rewrite <- Z.mul_assoc, U in E. now rewrite Z.mul_1_r in E.
    + left. cbn. eapply sure_weaken; [|exact (sure_and _ _ _ _ W (reduced_not_0 l k c t N' R))]. intros d [E G]. eapply beyond_weaken; [|exact G].
      intros x H Z0. apply H. rewrite E. destruct (F (put d l x)) as [_ <-]. rewrite Z0. ring.
Qed.
Theorem sure_not_0 l k f z c : (k + l <= K)%nat -> num l k f z -> ~ same k z 0 -> sure l (fun c => f c <> 0) c.
Proof. intros Hk H N. destruct (all_decided l k f z c Hk H) as [S|[_ Z]]; [exact S|contradiction]. Qed.

(* Elimination. Rows of functions of c 0, .., c (L-1): their residues, but for a unit factor, are those of the list. *)
Section Elimination.
Variables (L N : nat) (c0 : point).
Hypothesis LK : (L <= K)%nat.
Definition stands_for (X : nat -> fn) (r : list Z) : Prop :=
  length r = N /\ exists u i, same 0 (u * i) 1 /\ forall j, (j < N)%nat -> num L 0 (X j) (u * nth j r 0%Z).
Definition at_point (c : point) (X : nat -> fn) : nat -> R := fun j => X j c.
Lemma combination_fractions cs Xs (X : nat -> R) a j k : combination cs (map (fun Y i => Y i * a - Y j * X i) Xs) k = combination cs Xs k * a - combination cs Xs j * X k.
Proof. revert Xs. induction cs as [|x cs IH]; intros [|Y Xs]; cbn; try ring. rewrite IH. ring. Qed.
Theorem independent_functions fuel rows Xs : independent (p 0) fuel rows = true -> Forall2 stands_for Xs rows ->
  sure L (fun c => forall cs, length cs = length Xs -> (forall j, (j < N)%nat -> combination cs (map (at_point c) Xs) j = 0) -> Forall (fun x => x = 0) cs) c0.
Proof.
  revert rows Xs. induction fuel as [|fuel IH]; intros rows Xs H F.
  { destruct rows; [|discriminate]. inversion F; subst. apply sure_always. intros c [|]; [constructor|discriminate]. }
  destruct rows as [|r rest]; [inversion F; subst; apply sure_always; intros c [|]; [constructor|discriminate]|].
  inversion F as [|X ? Ys ? (Lr & u & v & U & FX) FY]; subst. cbn [independent] in H.
  destruct (pivot 0 r) as [[j a]|] eqn:Hp; [|discriminate]. destruct (inverse (p 0) a) as [i|] eqn:Hi; [|discriminate].
  apply pivot_ok in Hp as (_ & Hj & Ha). rewrite Nat.sub_0_r in Hj, Ha. apply (inverse_ok (p 0) (p_gt1 0)) in Hi. assert (A : same 0 (a * i) 1) by exact Hi. clear Hi.
  assert (Fj : num L 0 (X j) (u * a)) by (rewrite <- Ha; apply FX; lia).
  assert (UA : same 0 (u * a * (v * i)) 1) by (replace (u * a * (v * i))%Z with ((u * v) * (a * i))%Z by ring; now rewrite U, A).
  assert (P : sure L (fun c => X j c <> 0) c0) by (apply (sure_not_0 L 0 (X j) (u * a) c0 LK Fj), (unit_not_0 0 _ _ UA)).
  set (Zs := map (fun Y k c => Y k c * X j c - Y j c * X k c) Ys).
  assert (FZ : Forall2 stands_for Zs (map (fun y => let f := (nth j y 0 * i mod p 0)%Z in if (f =? 0)%Z then y else subtract (p 0) f y r) rest)).
  { unfold Zs. clear - FY FX Fj Lr Hj UA A U p_gt1 order LK. induction FY as [|Y y Ys rest (Ly & w & w' & W & FYy) FY IHf]; cbn [map]; constructor; [|exact IHf].
    set (f := (nth j y 0 * i mod p 0)%Z) in *.
    assert (Hf : same 0 (f * a) (nth j y 0%Z)).
    { unfold f. rewrite same_mod, <- Z.mul_assoc, (Z.mul_comm i), A. apply same_of. ring. }
    assert (E : forall k, (k < N)%nat -> num L 0 (fun c => Y k c * X j c - Y j c * X k c) (w * (u * a) * (nth k y 0 - f * nth k r 0))%Z).
    { intros k Hk. eapply num_same; [exact (num_sub L 0 _ _ _ _ ltac:(lia) (num_mul _ _ _ _ _ _ (FYy k Hk) Fj) (num_mul _ _ _ _ _ _ (FYy j ltac:(lia)) (FX k Hk)))|].
      rewrite <- Hf. apply same_of. ring. }
    assert (UU : same 0 (w * (u * a) * (w' * (v * i))) 1) by (replace (w * (u * a) * (w' * (v * i)))%Z with ((w * w') * (u * a * (v * i)))%Z by ring; now rewrite W, UA).
    destruct (Z.eqb_spec f 0) as [f0|].
    - split; [exact Ly|]. exists (w * (u * a))%Z, (w' * (v * i))%Z. split; [exact UU|]. intros k Hk. specialize (E k Hk). rewrite f0 in E. eapply num_same; [exact E|]. apply same_of. ring.
    - split; [rewrite subtract_length; lia|]. exists (w * (u * a))%Z, (w' * (v * i))%Z. split; [exact UU|]. intros k Hk. rewrite subtract_nth by lia.
      eapply num_same; [exact (E k Hk)|]. now rewrite same_mod. }
  specialize (IH _ _ H FZ). eapply sure_weaken; [|exact (sure_and _ _ _ _ P IH)]. intros c [X0 G] [|x cs] Lc C; [discriminate|].
  assert (cs0 : Forall (fun x => x = 0) cs).
  { apply G; [unfold Zs; rewrite map_length; now injection Lc|]. intros k Hk. unfold Zs. rewrite map_map.
    rewrite <- (map_map (at_point c) (fun Y i => Y i * X j c - Y j * X i c)), combination_fractions.
    pose proof (C k Hk) as Ck. pose proof (C j ltac:(lia)) as Cj. cbn in Ck, Cj.
    replace (combination cs (map (at_point c) Ys) k) with (- x * X k c) by (unfold at_point in *; lra).
    replace (combination cs (map (at_point c) Ys) j) with (- x * X j c) by (unfold at_point in *; lra). ring. }
  constructor; [|exact cs0].
  assert (Z : forall Ys, combination cs Ys j = 0) by (clear - cs0; induction cs0 as [|y cs -> _ IH]; intros [|Y Ys]; cbn; try reflexivity; rewrite IH; ring).
  pose proof (C j ltac:(lia)) as Cj. cbn in Cj. rewrite Z, Rplus_0_r in Cj. apply Rmult_integral in Cj as [|]; [assumption|contradiction].
Qed.
End Elimination.
End Tower.
