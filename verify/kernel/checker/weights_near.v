(* The computation behind "interpolation-near": the layer and its derivatives in balls, at the weights of the file and in the
   box around them. What is computed is what verify/checker/near.py computes. *)
From Coq Require Import ZArith List Bool.
Require Import Spec Json Certificate Blocks balls integers network enclosed.
Import ListNotations.
Open Scope Z_scope.
Local Notation length := List.length.

Definition guard_derivatives : Z := 64.   (* bits of derivatives in A f' *)

(* A head: its matrices as balls, its rows of the output, and where its weights stand among all. *)
Record ball_head := BallHead { bK : list (list ball); bQ : list (list ball); bV : list (list ball); bO : list (list ball) }.
(* What a head makes of one example. *)
Record forward := Forward {
  at_query : list ball;              (* Q^T e *)
  at_weights : list ball;            (* p *)
  at_scores : list (list ball);      (* s_j *)
  at_means : list ball }.            (* p s_j *)
Record slopes := Slopes {
  by_gamma : list (list ball);       (* gamma_j *)
  by_back : list (list ball);        (* K^T gamma_j *)
  by_mean : list ball;               (* z *)
  by_value : list ball }.            (* V^T z *)

(* The weights, by where they stand, and as the file numbers them. *)
Inductive place := AtKey (h a b : nat) | AtQuery (h a b : nat) | AtValue (h a b : nat) | AtOutput (h b j : nat).
Definition place_of (d m H dk dv k : nat) : place :=
  let part := (2 * d * dk + d * dv)%nat in
  if Nat.ltb k (H * part) then
    let h := (k / part)%nat in
    let i := (k mod part)%nat in
    if Nat.ltb i (d * dk) then AtKey h (i / dk) (i mod dk)
    else if Nat.ltb i (2 * d * dk) then AtQuery h ((i - d * dk) / dk) ((i - d * dk) mod dk)
    else AtValue h ((i - 2 * d * dk) / dv) ((i - 2 * d * dk) mod dv)
  else
    let i := (k - H * part)%nat in
    AtOutput (i / m / dv) (i / m mod dv) (i mod m).
Definition three (a b c x y z : nat) : bool := Nat.eqb a x && Nat.eqb b y && Nat.eqb c z.
Definition same_place (x y : place) : bool :=
  match x, y with
  | AtKey a b c, AtKey x y z | AtQuery a b c, AtQuery x y z | AtValue a b c, AtValue x y z | AtOutput a b c, AtOutput x y z => three a b c x y z
  | _, _ => false
  end.
Definition valid_place (d m H dk dv : nat) (x : place) : bool :=
  match x with
  | AtKey h a b | AtQuery h a b => Nat.ltb h H && Nat.ltb a d && Nat.ltb b dk
  | AtValue h a b => Nat.ltb h H && Nat.ltb a d && Nat.ltb b dv
  | AtOutput h b j => Nat.ltb h H && Nat.ltb b dv && Nat.ltb j m
  end.
Definition moves (places : list place) (x : place) : bool := existsb (same_place x) places.
Fixpoint distinct_places (l : list place) : bool :=
  match l with [] => true | x :: r => negb (moves r x) && distinct_places r end.

Section Near.
Variable P : Z.

(* A weight of the file within reach. *)
Definition weight_ball (x : frac Z) (reach : Z) : ball :=
  let s := Z.shiftl (numer x) P in
  (s / denom x, (if s mod denom x =? 0 then 0 else 1) + reach).
Definition numbered {A} (l : list A) : list (nat * A) := combine (seq 0 (length l)) l.
Definition matrix_balls (reach : nat -> nat -> Z) (M : mat Z) : list (list ball) :=
  map (fun row => map (fun x => weight_ball (snd x) (reach (fst row) (fst x))) (numbered (snd row))) (numbered M).
Definition head_balls (reach : place -> Z) (c : cert Z) (x : nat * head Z) : ball_head :=
  let (h, x) := x in
  BallHead (matrix_balls (fun a b => reach (AtKey h a b)) (key x)) (matrix_balls (fun a b => reach (AtQuery h a b)) (query x))
    (matrix_balls (fun a b => reach (AtValue h a b)) (value x))
    (matrix_balls (fun b j => reach (AtOutput h b j)) (firstn (dimv c) (skipn (h * dimv c) (output c)))).
Definition weights_balls (reach : place -> Z) (c : cert Z) : list ball_head := map (head_balls reach c) (numbered (heads c)).

Section Example.
Variables (E : exact_map) (e : exact).
Local Notation tokens := (fst E).
Local Notation unit_E := (snd E).

Definition mixed (h : ball_head) : list (list ball) := map (fun column => map (fun row => inner P row column) (bV h)) (columns (bO h)).
Definition go (h : ball_head) : forward :=
  let q := map (weighted (fst e) (snd e)) (columns (bQ h)) in
  let w := map (fun row => inner P row q) (bK h) in
  let p := softmax_balls P (map (fun token => weighted token unit_E w) tokens) in
  let scores := map (fun mixed => map (fun token => weighted token unit_E mixed) tokens) (mixed h) in
  Forward q p scores (map (inner P p) scores).
Definition less (x y : ball) : ball := (fst x - fst y, snd x + snd y).
Definition gamma (p scores : list ball) (mean : ball) : list ball :=
  let g := map (fun x => product P (fst x) (less (snd x) mean)) (combine p scores) in
  map (fun column => weighted column unit_E g) (columns tokens).
Definition turn_back (h : ball_head) (x : forward) : slopes :=
  let gammas := map (fun x' => gamma (at_weights x) (fst x') (snd x')) (combine (at_scores x) (at_means x)) in
  let keys := columns (bK h) in
  let z := map (fun column => weighted column unit_E (at_weights x)) (columns tokens) in
  Slopes gammas (map (fun g => map (fun key => inner P key g) keys) gammas) z (map (fun column => inner P column z) (columns (bV h))).

Definition total_means (l : list forward) (j : nat) : ball :=
  fold_right (fun x done => plus_ball (nth j (at_means x) (0, 0)) done) (0, 0) l.
End Example.

Definition none : ball := (0, 0).
Definition entry (M : list (list ball)) (a b : nat) : ball := nth b (nth a M []) none.
(* The derivative of label j by the weight at a place; [l]: the heads with what they make of the example. *)
Definition derivative (e : exact) (l : list (ball_head * forward * slopes)) (j : nat) (x : place) : ball :=
  match x with
  | AtKey h a b => match nth_error l h with
      Some (_, x, s) => product P (entry (by_gamma s) j a) (nth b (at_query x) none) | None => none end
  | AtQuery h a b => match nth_error l h with
      Some (_, _, s) => weighted [nth a (fst e) 0] (snd e) [entry (by_back s) j b] | None => none end
  | AtValue h a b => match nth_error l h with
      Some (y, _, s) => product P (nth a (by_mean s) none) (entry (bO y) b j) | None => none end
  | AtOutput h b i => match nth_error l h with
      Some (_, _, s) => if Nat.eqb i j then nth b (by_value s) none else none | None => none end
  end.
End Near.

Definition coarse (drop : Z) (x : ball) : Z := Z.shiftr (fst x) drop.
Definition width_of (drop : Z) (x : ball) : Z := Z.shiftr (snd x) drop + 2.

(* Row i of u - A f(u), A over unit_a: by how much it moves the centre, over unit_a 2^P, and how it contracts, over [one]. *)
Definition movement (row : list Z) (f : list ball) : Z := Z.abs (CheckZ.dot row (map fst f)) + CheckZ.dot (map Z.abs row) (map snd f).
Definition contraction (one : Z) (columns : list (list Z)) (widths : list Z) (i : nat) (row : list Z) : Z :=
  CheckZ.dot (map Z.abs row) widths +
  sum_of (map (fun q => Z.abs ((if Nat.eqb i (fst q) then one else 0) - CheckZ.dot row (snd q))) (numbered columns)).
Definition row_holds (P : Z) (radius : frac Z) (unit_a : Z) (f : list ball) (columns : list (list Z)) (widths : list Z) (p : nat * list Z) : bool :=
  let (i, row) := p in
  let one := Z.shiftl unit_a guard_derivatives in
  let kappa := contraction one columns widths i row in
  (kappa <? one) && (Z.shiftl (movement row f * denom radius) guard_derivatives <=? Z.shiftl (numer radius * (one - kappa)) P).

Section Check.
Variables (common : list (mat Z) -> Z) (radius : frac Z) (unknowns : list nat) (inverse : mat Z) (c : cert Z).
Definition precision : Z := guard + bit_length (denom radius / numer radius).
Local Notation P := precision.
Definition places : list place := map (place_of (dimd c) (dimm c) (dimH c) (dimk c) (dimv c)) unknowns.
Definition reach : Z := up (Z.shiftl (numer radius) P) (denom radius).
Definition example_of (t : nat) : result (exact_map * exact) :=
  let* E := clear_map common (ctx c t) in
  let* e := clear_vector common (nth t (queries c) []) in Got (E, e).
(* The outputs less the labels; the derivatives by the unknowns. *)
Definition errors_of (heads : list ball_head) (x : nat * (exact_map * exact)) : list ball :=
  let (t, Ee) := x in
  let l := map (go P (fst Ee) (snd Ee)) heads in
  map (fun j => let y := total_means l j in
    let label := ball_of P (nth j (nth t (labels c) []) (Frac 0 1)) in (fst y - fst label, snd y + 1)) (seq 0 (dimm c)).
Definition derivatives_of (heads : list ball_head) (Ee : exact_map * exact) : list (list ball) :=
  let l := map (fun y => let x := go P (fst Ee) (snd Ee) y in (y, x, turn_back P (fst Ee) y x)) heads in
  map (fun j => map (derivative P (snd Ee) l j) places) (seq 0 (dimm c)).

Definition check_near : result unit :=
  let N := (dimT c * dimm c)%nat in
  let* _ := need Unusable (mat_okb above_0 N N inverse && (0 <? numer radius) && (0 <? denom radius)) in
  let* _ := need Wrong (Nat.eqb (length places) N && distinct_places places &&
    forallb (valid_place (dimd c) (dimm c) (dimH c) (dimk c) (dimv c)) places) in
  let* examples := each example_of (seq 0 (dimT c)) in
  let* (A, unit_a) := clear_map common inverse in
  let drop := P - guard_derivatives in
  let far := reach in
  let f := concat (map (errors_of (weights_balls P (fun _ => 0) c)) (numbered examples)) in
  let in_box := weights_balls P (fun x => if moves places x then far else 0) c in
  let rows := concat (map (derivatives_of in_box) examples) in
  let columns := columns (map (map (coarse drop)) rows) in
  let widths := map (fun row => sum_of (map (width_of drop) row)) rows in
  need Wrong (forallb (row_holds P radius unit_a f columns widths) (numbered A)).
End Check.
