(* The checker over bigZ: what the kernel evaluates. *)
From Coq Require Import ZArith.
From Bignums Require Import BigZ.
Require Import Spec numbers interpolation interpolation_sound saturation_sound.
Module BigNum <: NUM.
  Definition t := BigZ.t. Definition toZ := BigZ.to_Z. Definition zero := BigZ.zero.
  Definition add := BigZ.add. Definition sub := BigZ.sub. Definition mul := BigZ.mul. Definition div := BigZ.div.
  Definition pow2 (x : t) := BigZ.shiftl BigZ.one x. Definition of_Z := BigZ.of_Z.
  Definition eqb := BigZ.eqb. Definition leb := BigZ.leb.
  Lemma zero_ok : toZ zero = 0%Z. Proof. reflexivity. Qed.
  Lemma add_ok x y : toZ (add x y) = (toZ x + toZ y)%Z. Proof. apply BigZ.spec_add. Qed.
  Lemma sub_ok x y : toZ (sub x y) = (toZ x - toZ y)%Z. Proof. apply BigZ.spec_sub. Qed.
  Lemma mul_ok x y : toZ (mul x y) = (toZ x * toZ y)%Z. Proof. apply BigZ.spec_mul. Qed.
  Lemma pow2_ok x : (0 <= toZ x)%Z -> toZ (pow2 x) = (2 ^ toZ x)%Z.
  Proof.
    intros H. unfold toZ, pow2 in *. rewrite BigZ.spec_shiftl, BigZ.spec_1, Z.shiftl_mul_pow2 by exact H.
    apply Z.mul_1_l.
  Qed.
  Lemma of_Z_ok z : toZ (of_Z z) = z. Proof. apply BigZ.spec_of_Z. Qed.
  Lemma eqb_ok x y : eqb x y = true -> toZ x = toZ y.
  Proof. unfold eqb. rewrite BigZ.spec_eqb. apply Z.eqb_eq. Qed.
  Lemma neqb_ok x y : eqb x y = false -> toZ x <> toZ y.
  Proof. unfold eqb. rewrite BigZ.spec_eqb. apply Z.eqb_neq. Qed.
  Lemma leb_ok x y : leb x y = true -> (toZ x <= toZ y)%Z.
  Proof. unfold leb. rewrite BigZ.spec_leb. apply Z.leb_le. Qed.
End BigNum.
Module CheckBig := Checker BigNum.
Module SaturationBig := SaturationSound BigNum.
Module SoundBig := SaturationBig.Sound.
Theorem checkBig_sound u c : CheckBig.check u c = true -> interpolates BigZ.to_Z c.
Proof. exact (SoundBig.check_sound u c). Qed.
