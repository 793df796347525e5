(* The computation behind "network", "outputs-within" and "nearest": blocks, with the true exponential. A vector is rational,
   integers over one unit, as long as what it is made of is; behind a softmax that is not rational it is balls. Balls that
   are points are rational again. What is computed is what verify/checker/arithmetic.py computes. *)
From Coq Require Import ZArith Reals List Bool.
Require Import Spec Json Blocks Certificate balls integers network.
Import ListNotations.
Open Scope Z_scope.
Local Notation length := List.length.

(* A head's values and its rows of the output are one map; then nothing is left to the output. *)
Definition composed (v o : exact_map) : result exact_map :=
  let (values, u) := v in
  let (outputs, w) := o in
  let wide := length (hd [] values) in
  let* _ := need Unusable (negb (Nat.eqb wide 0 || Nat.eqb (length outputs) 0) && as_long wide values && as_long (S (length values)) outputs) in
  let* columns := each (fun column => combined column (values ++ [repeat 0 (pred wide) ++ [u]])) outputs in Got (columns, w * u).
Section Clear.
Variable common : list (mat Z) -> Z.
Definition ball_part (p : part (mat Z)) : result (part (option exact_map)) :=
  let* p := clear_part common p in
  let* v := composed (to_value p) (to_output p) in Got (Part (Some (to_key p)) (Some (to_query p)) (Some v) None).
Definition ball_block (b : block (mat Z)) : result (block (option exact_map)) :=
  match b with
  | Attention of weigh parts seen residual => let* parts := each ball_part parts in Got (Attention of weigh parts seen residual)
  | FeedForward of act linear residual => let* linear := clear_map common linear in Got (FeedForward of act (Some linear) residual)
  end.
End Clear.

(* Labels over one unit: each once; and the linear map of an output o that is (y - y').o - (|y|^2 - |y'|^2) / 2. *)
Fixpoint same_row (x y : list Z) : bool :=
  match x, y with [], [] => true | a :: x', b :: y' => (a =? b) && same_row x' y' | _, _ => false end.
Definition distinct_rows (rows : list (list Z)) : list (list Z) :=
  fold_right (fun y done => if existsb (same_row y) done then done else y :: done) [] rows.
Definition towards (u : Z) (y other : list Z) : list Z :=
  map (fun p => 2 * u * (fst p - snd p)) (combine y other) ++ [CheckZ.dot other other - CheckZ.dot y y].

(* Operations on balls. *)
Section Balls.
Variables (P : Z) (ln_2 : ball).

Definition mapped_balls (m : exact_map) (x : list ball) : result (list ball) :=
  let (columns, u) := m in
  let x := x ++ [(unit_ball P, 0)] in
  let* _ := need Unusable ((0 <? u) && as_long (length x) columns) in Got (map (fun c => weighted c u x) columns).
Definition joined_balls (l : list (list ball)) : result (list ball) := Got (concat l).
Definition plus_balls (x y : list ball) : list ball := map (fun p => plus_ball (fst p) (snd p)) (combine x y).
Definition added_balls (l : list (list ball)) : result (list ball) :=
  match l with
  | [] => No Unusable
  | x :: r => let* _ := need Unusable (as_long (length x) r) in Got (fold_right plus_balls x r)
  end.
Definition products_balls (x : list ball) (l : list (list ball)) : result (list ball) :=
  let* _ := need Unusable (as_long (length x) l) in Got (map (inner P x) l).
(* A tie is not seen in balls: one logit must lead. *)
Definition leads (logits : list ball) : list bool :=
  let low := match logits with [] => 0 | x :: r => fold_right (fun y m => Z.max (fst y - snd y) m) (fst x - snd x) r end in
  map (fun x => low <=? fst x + snd x) logits.
Definition exactly (b : bool) : ball := (if b then unit_ball P else 0, 0).
Definition shares_balls (weigh : rule) (logits : list ball) : result (list ball) :=
  match weigh with
  | Softmax in_ln_2 => Got (softmax_balls P (if in_ln_2 then map (fun x => product P x ln_2) logits else logits))
  | Hardmax =>
    let leads := leads logits in
    let* _ := need Over (Nat.eqb (length (filter (fun b => b) leads)) 1) in Got (map exactly leads)
  | Linear => Got logits
  end.
Definition mean_balls (weights : list ball) (l : list (list ball)) : result (list ball) :=
  let* _ := need Unusable (negb (Nat.eqb (length l) 0) && Nat.eqb (length weights) (length l) && as_long (width l) l) in
  Got (map (inner P weights) (columns l)).
Definition decided (x : ball) : bool := (snd x <? Z.abs (fst x)) || (fst x =? snd x).
Definition positive_part (x : ball) : ball := if fst x + snd x <=? 0 then (0, 0) else (Z.max (fst x) 0, snd x).
Definition active_balls (act : activation) (x : list ball) : result (list ball) :=
  match act with
  | Identity => Got x
  | Relu => Got (map positive_part x)
  | Threshold => let* _ := need Over (forallb decided x) in Got (map (fun z => exactly (0 <=? fst z)) x)
  end.

Definition ball_of (x : frac Z) : ball := of_quotient P (numer x) (denom x).
(* Off by (|c - y| + r + 1) / 2^P at most, and by (|c - y| - r - 1) / 2^P at least. *)
Definition close (most : frac Z) (p : ball * frac Z) : bool :=
  let '(c, r, y) := p in
  (Z.abs (c - fst (ball_of y)) + r + 1) * denom most <=? Z.shiftl (numer most) P.
Definition apart (most : frac Z) (p : ball * frac Z) : bool :=
  let '(c, r, y) := p in
  Z.shiftl (numer most) P <? (Z.abs (c - fst (ball_of y)) - r - 1) * denom most.
End Balls.

Inductive mixed := Whole (v : exact) | Around (x : list ball).
Definition all_whole : list mixed -> option (list exact) :=
  CheckZ.mapM (fun v => match v with Whole v => Some v | Around _ => None end).

Section Mixed.
(* Hints: a common denominator, a common divisor. A rational number that has an integer beyond [longest] is a ball. *)
Variables (common : list (mat Z) -> Z) (gcd : Z -> Z -> Z) (longest P : Z) (ln_2 : ball).

Definition ball_over (u z : Z) : ball := let k := Z.shiftl z P in (k / u, if k / u * u =? k then 0 else 1).
Definition around (v : mixed) : list ball := match v with Whole (x, u) => map (ball_over u) x | Around x => x end.
Definition kept (v : exact) : result mixed :=
  let* _ := need Unusable (0 <? snd v) in
  Got (if forallb (fun z => Z.abs z <=? longest) (snd v :: fst v) then Whole v else Around (around (Whole v))).
Definition settled (x : list ball) : result mixed :=
  if forallb (fun b => snd b =? 0) x then let* v := lowest gcd (map fst x, unit_ball P) in kept v else Got (Around x).

Definition mapped_mixed (m : option exact_map) (v : mixed) : result mixed :=
  match m, v with
  | None, _ => Got v
  | Some m, Whole v => let* y := mapped_exact gcd m v in kept y
  | Some m, Around x => let* y := mapped_balls P m x in Got (Around y)
  end.
Definition joined_mixed (l : list mixed) : result mixed :=
  match all_whole l with
  | Some l => let* y := joined_exact common l in kept y
  | None => let* y := joined_balls (map around l) in Got (Around y)
  end.
Definition added_mixed (l : list mixed) : result mixed :=
  match all_whole l with
  | Some l => let* y := added_exact common gcd l in kept y
  | None => let* y := added_balls (map around l) in Got (Around y)
  end.
Definition products_mixed (v : mixed) (l : list mixed) : result mixed :=
  match v, all_whole l with
  | Whole v, Some l => let* y := products_exact common v l in kept y
  | _, _ => let* y := products_balls P (around v) (map around l) in Got (Around y)
  end.
Definition mean_mixed (v : mixed) (l : list mixed) : result mixed :=
  match v, all_whole l with
  | Whole v, Some l => let* y := mean_exact common gcd v l in kept y
  | _, _ => let* y := mean_balls P (around v) (map around l) in Got (Around y)
  end.
(* A softmax that is not rational, or has too long powers, is in balls. *)
Definition shares_mixed (weigh : rule) (v : mixed) : result mixed :=
  match (match v with Whole x => shares_exact weigh x | Around _ => No Over end) with
  | Got y => kept y
  | No _ => let* y := shares_balls P ln_2 weigh (around v) in settled y
  end.
Definition active_mixed (act : activation) (v : mixed) : result mixed :=
  match v with
  | Whole x => let* y := active_exact act x in kept y
  | Around x => let* y := active_balls P act x in settled y
  end.

Definition mixed_of (v : vec Z) : result mixed := let* x := clear_lowest common gcd v in kept x.
Definition mixed_before (blocks : list (block (option exact_map))) (context : mat Z) :=
  let* tokens := each mixed_of context in
  tables mapped_mixed joined_mixed added_mixed products_mixed shares_mixed mean_mixed active_mixed blocks tokens.
Definition mixed_query (blocks : list (block (option exact_map))) (c : cert Z) before (t : nat) : result mixed :=
  let* query := mixed_of (nth t (queries c) []) in
  query_after mapped_mixed joined_mixed added_mixed products_mixed shares_mixed mean_mixed active_mixed blocks before query.

(* The output and the label of each example are judged. What balls leave open is over the limit. *)
Definition check_outputs (blocks : list (block (mat Z))) (c : cert Z) (judge : nat -> mixed -> result unit) : result unit :=
  let* _ := need Unusable (forallb (fun E => match widths (length E) (dimd c) blocks with Some (_, k) => Nat.eqb k (dimm c) | None => false end) (contexts c)) in
  let* blocks := each (ball_block common) blocks in
  let* _ := each_example (mixed_before blocks) c (fun before t =>
    let* y := mixed_query blocks c before t in
    let label := nth t (labels c) [] in
    let* _ := need Unusable (Nat.eqb (length (around y)) (length label)) in judge t y) in Got tt.

Definition within_exact (most : frac Z) (u : Z) (p : Z * frac Z) : bool :=
  let (z, y) := p in Z.abs (z * denom y - numer y * u) * denom most <=? numer most * (u * denom y).
Definition within (most : frac Z) (label : vec Z) (v : mixed) : result unit :=
  match v with
  | Whole (x, u) => need Wrong (forallb (within_exact most u) (combine x label))
  | Around x =>
    let* _ := need Wrong (negb (existsb (apart P most) (combine x label))) in
    need Over (forallb (close P most) (combine x label))
  end.

(* The margins to all other labels. *)
Definition at_least (margin : frac Z) (v : mixed) : result unit :=
  match v with
  | Whole (x, u) => need Wrong (forallb (fun z => numer margin * u <=? z * denom margin) x)
  | Around x =>
    let* _ := need Wrong (forallb (fun b => Z.shiftl (numer margin) P <=? (fst b + snd b) * denom margin) x) in
    need Over (forallb (fun b => Z.shiftl (numer margin) P <=? (fst b - snd b) * denom margin) x)
  end.
Definition far (margin : frac Z) (rows : list (list Z)) (u : Z) (others : list (list Z)) (t : nat) (v : mixed) : result unit :=
  let y := nth t rows [] in
  let columns := map (towards u y) (filter (fun other => negb (same_row y other)) others) in
  let* margins := mapped_mixed (Some (columns, 2 * u * u)) v in at_least margin margins.
End Mixed.

Definition guard : Z := 128.
Definition precision (x : frac Z) : Z := guard + bit_length (denom x / numer x).
(* Of numbers that may be balls, and of those that need not. *)
Definition longest_mixed : Z := Z.shiftl 1 16384.
Definition longest_exact : Z := Z.shiftl 1 longest_power.
Definition check_network common gcd (blocks : list (block (mat Z))) (c : cert Z) : result unit :=
  check_outputs common gcd longest_exact guard (ln_2_ball guard) blocks c (fun t => within guard (Frac 0 1) (nth t (labels c) [])).
Definition check_within common gcd (most : frac Z) (blocks : list (block (mat Z))) (c : cert Z) : result unit :=
  let P := precision most in check_outputs common gcd longest_mixed P (ln_2_ball P) blocks c (fun t => within P most (nth t (labels c) [])).
Definition check_margins common gcd (margin : frac Z) (blocks : list (block (mat Z))) (c : cert Z) : result unit :=
  let P := precision margin in
  let* (rows, u) := clear_map common (labels c) in
  let others := distinct_rows rows in
  let* _ := need Unusable (Nat.ltb 1 (length others)) in
  check_outputs common gcd longest_mixed P (ln_2_ball P) blocks c (far gcd longest_mixed P margin rows u others).
