(* Balls in fixed point: centre c and radius r, integers, stand for all reals v with |2^P v - c| <= r. Centres are
   rounded down, which errs by less than 1; radii up. What is computed is what verify/checker/near.py computes. *)
From Coq Require Import ZArith List.
Import ListNotations.
Open Scope Z_scope.

Definition ball := (Z * Z)%type.
Definition up (x unit : Z) : Z := - (- x / unit).
Definition up_shift (x k : Z) : Z := - Z.shiftr (- x) k.
Fixpoint halvings (p : positive) (count : Z) : Z :=
  match p with xH => count + 1 | xO p | xI p => halvings p (count + 1) end.
Definition bit_length (x : Z) : Z := match x with Zpos p => halvings p 0 | _ => 0 end.

Section Balls.
Variable P : Z.
Definition unit_ball : Z := Z.shiftl 1 P.

(* p / unit, by an integer p. *)
Definition of_quotient (p unit : Z) : ball := (Z.shiftl p P / unit, 1).

(* sum factors_i v_i / unit, integers times balls. *)
Fixpoint weighed (factors : list Z) (v : list ball) : ball :=
  match factors, v with
  | f :: factors', (c, r) :: v' => let (a, b) := weighed factors' v' in (f * c + a, Z.abs f * r + b)
  | _, _ => (0, 0)
  end.
Definition weighted (factors : list Z) (unit : Z) (v : list ball) : ball :=
  let (c, r) := weighed factors v in (c / unit, up r unit + 1).

(* sum x_i y_i: |xy - cd| <= |c| s + r |d| + r s for balls (c, r) and (d, s). *)
Fixpoint crossed (x y : list ball) : ball :=
  match x, y with
  | (c, r) :: x', (d, s) :: y' => let (a, b) := crossed x' y' in (c * d + a, Z.abs c * s + r * (Z.abs d + s) + b)
  | _, _ => (0, 0)
  end.
Definition inner (x y : list ball) : ball := let (c, r) := crossed x y in (Z.shiftr c P, Z.shiftr r P + 2).
Definition product (x y : ball) : ball := inner [x] [y].
Definition plus_ball (x y : ball) : ball := (fst x + fst y, snd x + snd y).

(* Integers around 2^P exp(X / 2^P), for X <= 0. With y = |X| / 2^(P+s) < 1 it is exp(-y)^(2^s). The terms of exp(y) are
   rounded down one from the other: term k errs by at most error_(k-1) y / k + 1 <= 2. The first that is 0 here is then at
   most 2, and those after it add up to no more. *)
Fixpoint series (fuel : nat) (W Y k term sum : Z) : option (Z * Z) :=
  if term =? 0 then Some (k, sum)
  else match fuel with
  | O => None
  | S fuel' => let term := Z.shiftr (term * Y) W / (k + 1) in series fuel' W Y (k + 1) term (sum + term)
  end.
Fixpoint squared (times : nat) (W low high : Z) : Z * Z :=
  match times with
  | O => (low, high)
  | S times' => squared times' W (Z.shiftr (low * low) W) (up_shift (high * high) W)
  end.
Definition exp_bounds (X : Z) : Z * Z :=
  if P * unit_ball <=? - X then (0, 1)   (* exp(-P) < 2^-P *)
  else
    let s := bit_length (Z.shiftr (- X) P) in
    let W := P + s + 16 in
    match series (Z.to_nat W) W (Z.shiftl (- X) 16) 0 (Z.shiftl 1 W) (Z.shiftl 1 W) with
    | None => (0, unit_ball)
    | Some (k, sum) =>
      let (low, high) := squared (Z.to_nat s) W (Z.shiftl 1 (2 * W) / (sum + 2 * k + 2)) (up (Z.shiftl 1 (2 * W)) sum) in
      (Z.shiftr low (W - P), up_shift high (W - P))
    end.

(* exp(l_i) / sum_k exp(l_k) grows with l_i and falls with every other l_k. A shift of all logits, here by the largest end,
   changes nothing. *)
Definition sum_of (l : list Z) : Z := fold_right Z.add 0 l.
Definition ends_max (l : list ball) : Z := match l with [] => 0 | x :: r => fold_right (fun y m => Z.max (fst y + snd y) m) (fst x + snd x) r end.
Definition between_ends (low high others_low others_high : Z) : ball :=
  let least := Z.shiftl low P / (low + others_high) in
  let most := up (Z.shiftl high P) (high + others_low) in
  let centre := Z.shiftr (least + most) 1 in (centre, most - centre).
Definition softmax_balls (l : list ball) : list ball :=
  let top := ends_max l in
  let ends := map (fun x => (fst (exp_bounds (fst x - snd x - top)), snd (exp_bounds (fst x + snd x - top)))) l in
  let all_low := sum_of (map fst ends) in
  let all_high := sum_of (map snd ends) in
  map (fun e => between_ends (fst e) (snd e) (all_low - fst e) (all_high - snd e)) ends.

(* ln 2 = sum 1 / (k 2^k): terms are rounded down, those after P add up to less than 2^-P. *)
Fixpoint ln_2_sum (count : nat) : Z :=
  match count with O => 0 | S n => ln_2_sum n + unit_ball / Z.shiftl (Z.of_nat count) (Z.of_nat count) end.
Definition ln_2_ball : ball := (ln_2_sum (Z.to_nat P), P + 1).
End Balls.
