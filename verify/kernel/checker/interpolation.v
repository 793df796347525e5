(* The computation behind an interpolation certificate, for numbers of any kind (numbers.v): put each matrix over one
   common denominator, compute logits, powers of 2, features and outputs as integers, and compare. At the end, saturation. *)
From Coq Require Import ZArith Reals List Bool Lia Lra PeanoNat.
Require Import Spec numbers.
Import ListNotations.

(* A common denominator for each matrix. A hint: that it is one is checked (clear). *)
Record units num := Units { uE : num; uq : num; uk : num; uw : num; uv : num; uo : num; uy : num }.
Arguments Units {num}.

(* A head after clearing denominators: key, query, and value times output *)
Record chead_ num := CHead_ { cK_ : list (list num); cQ_ : list (list num); cR_ : list (list num) }.

Module Checker (N : NUM).
Import N.
Notation chead := (chead_ t).
Notation CHead := (CHead_ t).
Notation cK := (cK_ t).
Notation cQ := (cQ_ t).
Notation cR := (cR_ t).

Fixpoint mapM {A B} (f : A -> option B) (l : list A) : option (list B) :=
  match l with
  | [] => Some []
  | x :: r => match f x with
      | None => None
      | Some y => match mapM f r with None => None | Some r' => Some (y :: r') end end
  end.

Definition clear (u : t) (x : frac t) : option t :=
  let k := div u (denom x) in
  if eqb (mul k (denom x)) u then Some (mul (numer x) k) else None.
Definition clearv (w : nat) (u : t) (v : vec t) : option (list t) :=
  if Nat.eqb (length v) w then mapM (clear u) v else None.
Definition clearm (h w : nat) (u : t) (M : mat t) : option (list (list t)) :=
  if Nat.eqb (length M) h then mapM (clearv w u) M else None.
(* A context: at least one token, and as many as there are. *)
Definition clear_context (w : nat) (u : t) (M : mat t) : option (list (list t)) :=
  match M with [] => None | _ => clearm (length M) w u M end.

Fixpoint dot (x y : list t) : t :=
  match x, y with a :: x', b :: y' => add (mul a b) (dot x' y') | _, _ => zero end.
Fixpoint axpy (c : t) (x y : list t) : list t :=
  match x, y with a :: x', b :: y' => add (mul c a) b :: axpy c x' y' | _, _ => [] end.
Fixpoint lincomb (w : nat) (c : list t) (rows : list (list t)) : list t :=
  match c, rows with
  | a :: c', r :: rows' =>
      let v := lincomb w c' rows' in if eqb a zero then v else axpy a r v
  | _, _ => repeat zero w
  end.
Fixpoint total (x : list t) : t := match x with a :: r => add a (total r) | [] => zero end.

Definition logits dk (K Q E : list (list t)) (e : list t) : list t :=
  let inner := lincomb dk e Q in
  let outer := map (fun r => dot r inner) K in
  map (fun r => dot r outer) E.

Definition min2 x y := if leb x y then x else y.
Definition weight (D low l : t) : option t :=
  let k := div l D in
  if eqb (mul k D) l then
    let s := sub k low in if leb zero s then Some (pow2 s) else None
  else None.
Definition weights (D : t) (ls : list t) : option (list t) :=
  let low := match ls with [] => zero | l :: r => fold_right min2 (div l D) (map (fun l => div l D) r) end in
  mapM (weight D low) ls.

Definition clear_key_query (u : units t) (d dk : nat) (x : head t) : option chead :=
  match clearm d dk (uk _ u) (key x), clearm d dk (uw _ u) (query x) with
  | Some K, Some Q => Some (CHead K Q [])
  | _, _ => None
  end.
Definition clear_head (u : units t) (d dk dv m : nat) (O : list (list t)) (x : head t) : option chead :=
  match clearm d dk (uk _ u) (key x), clearm d dk (uw _ u) (query x), clearm d dv (uv _ u) (value x) with
  | Some K, Some Q, Some V => Some (CHead K Q (map (fun r => lincomb m r O) V))
  | _, _, _ => None
  end.
Fixpoint clear_heads u d dk dv m (O : list (list t)) (l : list (head t)) : option (list chead) :=
  match l with
  | [] => Some []
  | x :: r =>
    match clear_head u d dk dv m (firstn dv O) x, clear_heads u d dk dv m (skipn dv O) r with
    | Some y, Some r' => Some (y :: r') | _, _ => None end
  end.

(* the sum over heads of (readout row) / (softmax denominator), as numerators over one denominator *)
Fixpoint outputs (D uEv : t) (d dk m : nat) (E : list (list t)) (e : list t) (hs : list chead)
  : option (list t * t) :=
  match hs with
  | [] => Some (repeat zero m, pow2 zero)
  | x :: r =>
    match weights D (logits dk (cK x) (cQ x) E e), outputs D uEv d dk m E e r with
    | Some ps, Some (ns, den) =>
      let s := mul uEv (total ps) in
      let z := lincomb d ps E in
      let y := lincomb m z (cR x) in
      Some (axpy s ns (axpy den y (repeat zero m)), mul den s)
    | _, _ => None
    end
  end.

Fixpoint equal2 (f g : t) (x y : list t) : bool :=
  match x, y with
  | [], [] => true
  | a :: x', b :: y' => eqb (mul a f) (mul b g) && equal2 f g x' y'
  | _, _ => false
  end.

Definition check_example (u : units t) (D : t) d dk m (hs : list chead) (Em : mat t) (ev yv : vec t) : bool :=
  match clear_context d (uE _ u) Em, clearv d (uq _ u) ev, clearv m (uy _ u) yv with
  | Some E, Some e, Some y =>
    match outputs D (uE _ u) d dk m E e hs with
    | Some (ns, den) => equal2 (uy _ u) (mul den (mul (uv _ u) (uo _ u))) ns y
    | None => false end
  | _, _, _ => false
  end.

Definition nonzero (x : t) : bool := negb (eqb x zero).

Definition check (u : units t) (c : cert t) : bool :=
  nonzero (uE _ u) && nonzero (uq _ u) && nonzero (uk _ u) && nonzero (uw _ u) &&
  nonzero (uv _ u) && nonzero (uo _ u) && nonzero (uy _ u) &&
  Nat.eqb (length (heads c)) (dimH c) &&
  match clearm (dimH c * dimv c) (dimm c) (uo _ u) (output c) with
  | None => false
  | Some Om =>
    match clear_heads u (dimd c) (dimk c) (dimv c) (dimm c) Om (heads c) with
    | None => false
    | Some hs =>
      let D := mul (mul (uE _ u) (uq _ u)) (mul (uk _ u) (uw _ u)) in
      forallb (fun t => check_example u D (dimd c) (dimk c) (dimm c) hs
                 (ctx c t) (nth t (queries c) []) (nth t (labels c) []))
        (seq 0 (dimT c))
    end
  end.

(* Saturation. Let q_i = 2^(most - how far logit i is below the largest, in units of ln 2), or 1 where that is less, and
   let all be their sum: is (all - 2^most) 2^bits < all? Larger q_i only make that harder, so nothing false passes. *)
Definition max2 x y := if leb x y then y else x.
Definition capped (D most top l : t) : option t :=
  let k := div l D in
  let drop := sub top k in
  if eqb (mul k D) l && leb k top then
    if leb drop most then Some (pow2 (sub most drop)) else if leb most drop then Some (pow2 zero) else None
  else None.
Definition saturated (D most bits : t) (ls : list t) : bool :=
  match ls with
  | [] => false
  | l :: r =>
    match mapM (capped D most (fold_right max2 (div l D) (map (fun l => div l D) r))) ls with
    | None => false
    | Some qs => let all := total qs in leb (add (mul (sub all (pow2 most)) (pow2 bits)) (pow2 zero)) all
    end
  end.
Definition example_saturated (u : units t) (D : t) (bits : Z) d dk (Em : mat t) (ev : vec t) (hs : list chead) : bool :=
  let most := of_Z (Z.of_nat (length Em) * (bits + 1)) in
  match clear_context d (uE _ u) Em, clearv d (uq _ u) ev with
  | Some E, Some e => forallb (fun y => saturated D most (of_Z bits) (logits dk (cK y) (cQ y) E e)) hs
  | _, _ => false
  end.

(* Each example with the heads that steer it: those behind its group's, and that itself where own is true. *)
Fixpoint steered (test : nat -> list chead -> bool) (own : bool) (groups : list (list nat)) (hs : list chead) : bool :=
  match groups, hs with
  | [], _ => true
  | _ :: _, [] => false
  | group :: later, y :: ys =>
    let behind := firstn (length later) ys in
    forallb (fun t => test t (if own then y :: behind else behind)) group && steered test own later ys
  end.
Definition covers (T : nat) (groups : list (list nat)) : bool :=
  forallb (forallb (fun t => Nat.ltb t T)) groups && forallb (fun t => existsb (existsb (Nat.eqb t)) groups) (seq 0 T).
Definition check_saturation (u : units t) (s : saturation) (c : cert t) : bool :=
  nonzero (uE _ u) && nonzero (uq _ u) && nonzero (uk _ u) && nonzero (uw _ u) &&
  Nat.eqb (length (heads c)) (dimH c) && Z.ltb 0 (bits s) && covers (dimT c) (groups s) &&
  match mapM (clear_key_query u (dimd c) (dimk c)) (heads c) with
  | None => false
  | Some hs =>
    let D := mul (mul (uE _ u) (uq _ u)) (mul (uk _ u) (uw _ u)) in
    steered (fun t => example_saturated u D (bits s) (dimd c) (dimk c) (ctx c t) (nth t (queries c) []))
      (own s) (groups s) hs
  end.

End Checker.
