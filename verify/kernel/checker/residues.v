(* Reduction modulo p: the ring homomorphism from fractions whose denominator is a unit modulo p (docs/certificate.md,
   full-rank). The modulus need not be prime; what is asked to be a unit is shown to be one. *)
From Coq Require Import ZArith Reals List Bool Lia Lra Znumtheory.
Import ListNotations.
Open Scope R_scope.

Section Residues.
Variable p : Z.
Hypothesis p_gt1 : (1 < p)%Z.

(* x = a / b with b b' = 1 and a b' = r modulo p. *)
Definition residue (x : R) (r : Z) : Prop := exists a b b' : Z,
  x * IZR b = IZR a /\ (p | b * b' - 1)%Z /\ (p | a * b' - r)%Z.

Lemma unit_nonzero b b' : (p | b * b' - 1)%Z -> b <> 0%Z.
Proof. intros [k Hk] ->. assert (p * (- k) = 1)%Z by lia. apply Z.mul_eq_1 in H. lia. Qed.

Lemma residue_Z a : residue (IZR a) a.
Proof. exists a, 1%Z, 1%Z. repeat split; [ring|exists 0%Z; lia|exists 0%Z; lia]. Qed.

Lemma residue_mod x r r' : residue x r -> (p | r - r')%Z -> residue x r'.
Proof.
  intros (a & b & b' & E & U & V) D. exists a, b, b'. repeat split; auto.
  replace (a * b' - r')%Z with ((a * b' - r) + (r - r'))%Z by ring. now apply Z.divide_add_r.
Qed.
Lemma divide_mod r : (p | r - r mod p)%Z.
Proof. exists (r / p)%Z. rewrite (Z.div_mod r p) at 1 by lia. ring. Qed.
Lemma residue_reduce x r : residue x r -> residue x (r mod p).
Proof. intros H. eapply residue_mod; [exact H|apply divide_mod]. Qed.

Lemma residue_add x y r s : residue x r -> residue y s -> residue (x + y) (r + s).
Proof.
  intros (a & b & b' & E & [u U] & [m M]) (c & d & d' & E2 & [v V] & [n N]).
  exists (a * d + c * b)%Z, (b * d)%Z, (b' * d')%Z. split; [|split].
  - rewrite plus_IZR, !mult_IZR, <- E, <- E2. ring.
  - exists (u + v + u * v * p)%Z.
    replace (b * d * (b' * d') - 1)%Z with ((b * b' - 1) * (d * d' - 1) + (b * b' - 1) + (d * d' - 1))%Z by ring.
    rewrite U, V. ring.
  - exists (m * (1 + v * p) + r * v + n * (1 + u * p) + s * u)%Z.
    replace ((a * d + c * b) * (b' * d') - (r + s))%Z with
      (((a * b' - r) + r) * ((d * d' - 1) + 1) + ((c * d' - s) + s) * ((b * b' - 1) + 1) - (r + s))%Z by ring.
    rewrite U, V, M, N. ring.
Qed.
Lemma residue_mul x y r s : residue x r -> residue y s -> residue (x * y) (r * s).
Proof.
  intros (a & b & b' & E & [u U] & [m M]) (c & d & d' & E2 & [v V] & [n N]).
  exists (a * c)%Z, (b * d)%Z, (b' * d')%Z. split; [|split].
  - rewrite !mult_IZR, <- E, <- E2. ring.
  - exists (u + v + u * v * p)%Z.
    replace (b * d * (b' * d') - 1)%Z with ((b * b' - 1) * (d * d' - 1) + (b * b' - 1) + (d * d' - 1))%Z by ring.
    rewrite U, V. ring.
  - exists (m * n * p + m * s + n * r)%Z.
    replace (a * c * (b' * d') - r * s)%Z with (((a * b' - r) + r) * ((c * d' - s) + s) - r * s)%Z by ring.
    rewrite M, N. ring.
Qed.
Lemma residue_unit x r s : residue x r -> (p | r * s - 1)%Z -> x <> 0 /\ residue (/ x) s.
Proof.
  intros (a & b & b' & E & [u U] & [m M]) [k K].
  assert (A : (a * (b' * s) - 1 = (m * s + k) * p)%Z).
  { replace (a * (b' * s) - 1)%Z with ((a * b' - r) * s + (r * s - 1))%Z by ring. rewrite M, K. ring. }
  assert (a0 : a <> 0%Z) by (apply (unit_nonzero _ (b' * s)); now exists (m * s + k)%Z).
  assert (x0 : x <> 0) by (intros ->; apply a0, eq_IZR; rewrite <- E; ring).
  split; [exact x0|]. exists b, a, (b' * s)%Z. split; [|split].
  - rewrite <- E. field. exact x0.
  - now exists (m * s + k)%Z.
  - exists (u * s)%Z. replace (b * (b' * s) - s)%Z with ((b * b' - 1) * s)%Z by ring. rewrite U. ring.
Qed.

(* 2^k modulo p by repeated squaring. *)
Fixpoint power_pos (a : Z) (e : positive) : Z :=
  match e with
  | xH => (a mod p)%Z
  | xO e' => let h := power_pos a e' in ((h * h) mod p)%Z
  | xI e' => let h := power_pos a e' in ((h * h mod p) * a mod p)%Z
  end.
Definition power (a e : Z) : Z := match e with Zpos e' => power_pos a e' | _ => 1%Z end.
Lemma power_pos_ok a e : (power_pos a e mod p = (a ^ Zpos e) mod p)%Z.
Proof.
  induction e as [e IH|e IH|]; cbn [power_pos].
  - rewrite Pos2Z.inj_xI, Z.pow_add_r, Z.pow_1_r, Z.pow_mul_r by lia.
    rewrite Z.mod_mod by lia. rewrite Z.mul_mod_idemp_l by lia.
    replace ((a ^ 2) ^ Z.pos e)%Z with (a ^ Z.pos e * a ^ Z.pos e)%Z by (rewrite <- Z.pow_mul_r, <- Z.pow_add_r by lia; f_equal; lia).
    rewrite <- (Z.mul_mod_idemp_l (power_pos a e * power_pos a e)) by lia.
    rewrite <- (Z.mul_mod_idemp_l (a ^ Z.pos e * a ^ Z.pos e)) by lia.
    do 2 f_equal. rewrite (Z.mul_mod (power_pos a e)), IH, <- Z.mul_mod by lia. reflexivity.
  - rewrite Pos2Z.inj_xO, Z.mod_mod by lia.
    replace (a ^ (2 * Z.pos e))%Z with (a ^ Z.pos e * a ^ Z.pos e)%Z by (rewrite <- Z.pow_add_r by lia; f_equal; lia).
    rewrite (Z.mul_mod (power_pos a e)), IH, <- Z.mul_mod by lia. reflexivity.
  - rewrite Z.mod_mod by lia. now rewrite Z.pow_1_r.
Qed.
Lemma power_ok a e : (0 <= e)%Z -> (p | a ^ e - power a e)%Z.
Proof.
  intros He. apply Z.mod_divide; [lia|]. rewrite Zminus_mod.
  destruct e as [|e|e]; [|cbn [power]; rewrite power_pos_ok|lia].
  - cbn [power]. rewrite Z.pow_0_r, Z.sub_diag. apply Z.mod_0_l. lia.
  - rewrite Z.sub_diag. apply Z.mod_0_l. lia.
Qed.

(* The residues of the inverse, if there is one: by Fermat where p is prime, and checked. *)
Definition inverse (r : Z) : option Z :=
  let s := power r (p - 2) in if ((r * s) mod p =? 1)%Z then Some s else None.
Lemma inverse_ok r s : inverse r = Some s -> (p | r * s - 1)%Z.
Proof.
  unfold inverse. destruct (Z.eqb_spec ((r * power r (p - 2)) mod p) 1) as [H|]; [|discriminate].
  intros [= <-]. rewrite <- H. apply divide_mod.
Qed.
End Residues.

(* Elimination: rows whose residues are eliminated with a pivot that is a unit in every row are independent. *)
Section Elimination.
Variable p : Z.
Hypothesis p_gt1 : (1 < p)%Z.

Fixpoint pivot (j : nat) (r : list Z) : option (nat * Z) :=
  match r with [] => None | a :: r' => if (a =? 0)%Z then pivot (S j) r' else Some (j, a) end.
Fixpoint subtract (f : Z) (y r : list Z) : list Z :=
  match y, r with a :: y', b :: r' => ((a - f * b) mod p)%Z :: subtract f y' r' | _, _ => [] end.
Fixpoint independent (fuel : nat) (rows : list (list Z)) : bool :=
  match fuel, rows with
  | _, [] => true
  | O, _ => false
  | S fuel', r :: rest =>
    match pivot 0 r with
    | None => false
    | Some (j, a) => match inverse p a with
      | None => false
      | Some i => independent fuel' (map (fun y =>
          let f := (nth j y 0 * i mod p)%Z in if (f =? 0)%Z then y else subtract f y r) rest)
      end
    end
  end.

Variable N : nat.
Definition fits (X : nat -> R) (r : list Z) : Prop := length r = N /\ forall j, (j < N)%nat -> residue p (X j) (nth j r 0%Z).

Fixpoint combination (cs : list R) (Xs : list (nat -> R)) (j : nat) : R :=
  match cs, Xs with c :: cs', X :: Xs' => c * X j + combination cs' Xs' j | _, _ => 0 end.

Lemma pivot_ok k r j a : pivot k r = Some (j, a) -> (k <= j)%nat /\ (j - k < length r)%nat /\ nth (j - k) r 0%Z = a.
Proof.
  revert k; induction r as [|b r IH]; cbn [pivot]; intros k H; [discriminate|].
  destruct (Z.eqb_spec b 0) as [->|].
  - apply IH in H as (H1 & H2 & H3). replace (j - k)%nat with (S (j - S k)) by lia. cbn. repeat split; [lia|lia|exact H3].
  - inversion H; subst. rewrite Nat.sub_diag. cbn. repeat split; lia.
Qed.
Lemma subtract_length f y r : length y = length r -> length (subtract f y r) = length r.
Proof. revert r; induction y as [|a y IH]; intros [|b r]; cbn; intros H; try lia. rewrite IH; lia. Qed.
Lemma subtract_nth f y r j : length y = length r -> (j < length r)%nat ->
  nth j (subtract f y r) 0%Z = ((nth j y 0 - f * nth j r 0) mod p)%Z.
Proof.
  revert r j; induction y as [|a y IH]; intros [|b r] [|j]; cbn; intros H Hj; try lia. apply IH; lia.
Qed.

Lemma combination_eliminated cs Ys X (q : (nat -> R) -> R) i :
  combination cs (map (fun Y i => Y i - q Y * X i) Ys) i =
  combination cs Ys i - combination cs (map (fun Y _ => q Y) Ys) O * X i.
Proof.
  revert Ys; induction cs as [|c cs IH]; intros [|Y Ys]; cbn; try ring. rewrite IH. ring.
Qed.
Lemma combination_scaled cs Ys j k : combination cs (map (fun Y _ => Y j * k) Ys) O = combination cs Ys j * k.
Proof. revert Ys; induction cs as [|c cs IH]; intros [|Y Ys]; cbn; try ring. rewrite IH. ring. Qed.

Theorem independent_ok fuel rows Xs cs : independent fuel rows = true -> Forall2 fits Xs rows ->
  length cs = length Xs -> (forall j, (j < N)%nat -> combination cs Xs j = 0) -> Forall (fun c => c = 0) cs.
Proof.
  revert rows Xs cs; induction fuel as [|fuel IH]; intros rows Xs cs H F L C.
  { destruct rows; [|discriminate]. inversion F; subst. destruct cs; [constructor|discriminate]. }
  destruct rows as [|r rest]; [inversion F; subst; destruct cs; [constructor|discriminate]|].
  inversion F as [|X ? Ys ? [Lr FX] FY]; subst. destruct cs as [|c cs]; [discriminate|]. cbn in L.
  cbn [independent] in H. destruct (pivot 0 r) as [[j a]|] eqn:Hp; [|discriminate].
  destruct (inverse p a) as [i|] eqn:Hi; [|discriminate].
  apply pivot_ok in Hp as (_ & Hj & Ha). rewrite Nat.sub_0_r in Hj, Ha.
  apply (inverse_ok p p_gt1) in Hi.
  assert (Fj : residue p (X j) a) by (rewrite <- Ha; apply FX; lia).
  destruct (residue_unit p p_gt1 _ _ _ Fj Hi) as [X0 FI].
  assert (cs0 : Forall (fun c => c = 0) cs).
  { eapply (IH _ (map (fun Y i => Y i - (Y j * / X j) * X i) Ys) cs H).
    - clear - FY FX FI Fj Lr Hj p_gt1. induction FY as [|Y y Ys rest [Ly FYy] FY IHf]; [constructor|]. cbn [map].
      constructor; [|exact IHf].
      assert (q : residue p (Y j * / X j) (nth j y 0 * i mod p)%Z).
      { apply residue_reduce; [exact p_gt1|]. apply residue_mul; [apply FYy; lia|exact FI]. }
      set (f := (nth j y 0 * i mod p)%Z) in *.
      assert (E : forall k, (k < N)%nat -> residue p (Y k - (Y j * / X j) * X k) (nth k y 0 - f * nth k r 0)%Z).
      { intros k Hk. replace (Y k - Y j * / X j * X k) with (Y k + (IZR (-1) * ((Y j * / X j) * X k))) by ring.
        replace (nth k y 0 - f * nth k r 0)%Z with (nth k y 0 + (-1) * (f * nth k r 0))%Z by ring.
        apply residue_add; [now apply FYy|]. apply residue_mul; [apply residue_Z|]. apply residue_mul; [exact q|].
        now apply FX. }
      destruct (Z.eqb_spec f 0) as [f0|].
      + split; [exact Ly|]. intros k Hk. specialize (E k Hk). rewrite f0 in E.
        replace (nth k y 0 - 0 * nth k r 0)%Z with (nth k y 0%Z) in E by ring. exact E.
      + split; [rewrite subtract_length; lia|]. intros k Hk. rewrite subtract_nth by lia.
        apply residue_reduce; [exact p_gt1|]. now apply E.
    - rewrite map_length. lia.
    - intros k Hk. rewrite (combination_eliminated cs Ys X (fun Y => Y j * / X j)), combination_scaled.
      assert (Ck := C k Hk). assert (Cj := C j ltac:(lia)). cbn in Ck, Cj.
      replace (combination cs Ys k) with (- c * X k) by lra. replace (combination cs Ys j) with (- c * X j) by lra.
      field. exact X0. }
  constructor; [|exact cs0].
  assert (Z : combination cs Ys j = 0).
  { clear - cs0. revert Ys. induction cs0 as [|c cs -> _ IH]; intros [|Y Ys]; cbn; try reflexivity. rewrite IH. ring. }
  assert (Cj := C j ltac:(lia)). cbn in Cj. rewrite Z, Rplus_0_r in Cj.
  apply Rmult_integral in Cj as [|]; [assumption|contradiction].
Qed.
End Elimination.
