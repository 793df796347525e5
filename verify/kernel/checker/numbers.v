(* What the checker asks of its numbers: Z (integers.v), or bigZ for evaluation in the kernel (big_integers.v). *)
From Coq Require Import ZArith.

Module Type NUM.
  Parameter t : Type.
  Parameter toZ : t -> Z.
  Parameters zero : t.
  Parameters add sub mul div : t -> t -> t.   (* nothing is asked of div: results are checked *)
  Parameter pow2 : t -> t.
  Parameter of_Z : Z -> t.
  Parameters eqb leb : t -> t -> bool.
  Parameter zero_ok : toZ zero = 0%Z.
  Parameter add_ok : forall x y, toZ (add x y) = (toZ x + toZ y)%Z.
  Parameter sub_ok : forall x y, toZ (sub x y) = (toZ x - toZ y)%Z.
  Parameter mul_ok : forall x y, toZ (mul x y) = (toZ x * toZ y)%Z.
  Parameter pow2_ok : forall x, (0 <= toZ x)%Z -> toZ (pow2 x) = (2 ^ toZ x)%Z.
  Parameter of_Z_ok : forall z, toZ (of_Z z) = z.
  Parameter eqb_ok : forall x y, eqb x y = true -> toZ x = toZ y.
  Parameter neqb_ok : forall x y, eqb x y = false -> toZ x <> toZ y.
  Parameter leb_ok : forall x y, leb x y = true -> (toZ x <= toZ y)%Z.
End NUM.
