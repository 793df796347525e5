(* The checker over Z: what is extracted. *)
From Coq Require Import ZArith.
Require Import Spec numbers interpolation interpolation_sound saturation_sound.
Module ZNum <: NUM.
  Definition t := Z. Definition toZ (x : Z) := x. Definition zero := 0%Z.
  Definition add := Z.add. Definition sub := Z.sub. Definition mul := Z.mul. Definition div := Z.div.
  Definition pow2 (x : Z) := Z.shiftl 1 x. Definition of_Z (z : Z) := z. Definition eqb := Z.eqb. Definition leb := Z.leb.
  Lemma zero_ok : toZ zero = 0%Z. Proof. reflexivity. Qed.
  Lemma add_ok x y : toZ (add x y) = (toZ x + toZ y)%Z. Proof. reflexivity. Qed.
  Lemma sub_ok x y : toZ (sub x y) = (toZ x - toZ y)%Z. Proof. reflexivity. Qed.
  Lemma mul_ok x y : toZ (mul x y) = (toZ x * toZ y)%Z. Proof. reflexivity. Qed.
  Lemma pow2_ok x : (0 <= toZ x)%Z -> toZ (pow2 x) = (2 ^ toZ x)%Z.
  Proof. intros H. unfold toZ, pow2. rewrite Z.shiftl_mul_pow2 by exact H. apply Z.mul_1_l. Qed.
  Lemma of_Z_ok z : toZ (of_Z z) = z. Proof. reflexivity. Qed.
  Lemma eqb_ok x y : eqb x y = true -> toZ x = toZ y. Proof. apply Z.eqb_eq. Qed.
  Lemma neqb_ok x y : eqb x y = false -> toZ x <> toZ y. Proof. apply Z.eqb_neq. Qed.
  Lemma leb_ok x y : leb x y = true -> (toZ x <= toZ y)%Z. Proof. apply Z.leb_le. Qed.
End ZNum.
Module CheckZ := Checker ZNum.
Module SaturationZ := SaturationSound ZNum.
Module SoundZ := SaturationZ.Sound.
Theorem checkZ_sound u c : CheckZ.check u c = true -> interpolates (fun x : Z => x) c.
Proof. exact (SoundZ.check_sound u c). Qed.
