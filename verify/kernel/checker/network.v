(* The computation behind a network certificate, exact: a vector is integers over one positive unit of its own. *)
From Coq Require Import ZArith Reals List Bool.
Require Import Spec Json Blocks interpolation integers.
Import ListNotations.
Open Scope Z_scope.

Definition exact := (list Z * Z)%type.   (* a vector *)
Definition exact_map := (list (list Z) * Z)%type.

(* A context of all examples is dealt with once. *)
Definition each_example {A B} (before_of : mat Z -> result B) (c : cert Z) (f : B -> nat -> result A) : result (list A) :=
  match contexts c with
  | [E] => let* before := before_of E in each (f before) (seq 0 (dimT c))
  | _ => each (fun t => let* before := before_of (ctx c t) in f before t) (seq 0 (dimT c))
  end.

(* Do the blocks take tokens and a query of this width, and how wide are those after them? Nothing rests on it: it is
   asked before numbers, so that what does not fit is unusable whatever the numbers are. *)
Definition height (columns : mat Z) : nat := pred (length (hd [] columns)).
Definition widths_after (n : nat) (b : block (mat Z)) (token query : nat) : option (nat * nat) :=
  let all := of_all b in
  let taken k := Nat.eqb query k && (negb all || Nat.eqb token k) in
  let '(fit, made, residual) := match b with
    | FeedForward OfRow _ linear residual => (Nat.eqb (query + n * token) (height linear), length linear, residual)
    | FeedForward _ _ linear residual => (taken (height linear), length linear, residual)
    | Attention _ _ parts seen residual =>
      (forallb (fun p => Nat.eqb token (height (to_key p)) && taken (height (to_query p)) && Nat.eqb token (height (to_value p))) parts &&
        match seen with
        | Rows rows => Nat.eqb (length rows) (if all then S n else 1) && forallb (fun row => Nat.eqb (length row) n) rows
        | _ => true
        end, match parts with p :: _ => length (to_output p) | [] => 0%nat end, residual)
    end in
  if fit && (negb residual || taken made) then Some (if all then made else token, made) else None.
Definition widths (n wide : nat) (blocks : list (block (mat Z))) : option (nat * nat) :=
  fold_left (fun at_ b => match at_ with Some (token, query) => widths_after n b token query | None => None end) blocks (Some (wide, wide)).

Section Exact.
(* Hints: a common denominator, a common divisor. *)
Variables (common : list (mat Z) -> Z) (gcd : Z -> Z -> Z).

Definition quotient (g z : Z) : option Z := let k := z / g in if k * g =? z then Some k else None.
Definition lowest (v : exact) : result exact :=
  let (x, u) := v in
  let* _ := need Unusable (0 <? u) in
  let g := fold_left gcd x u in
  if 1 <? g then Got match CheckZ.mapM (quotient g) (u :: x) with Some (w :: y) => (y, w) | _ => v end else Got v.

Definition scaled (u : Z) (v : exact) : result (list Z) :=
  let k := u / snd v in
  let* _ := need Over (k * snd v =? u) in Got (map (Z.mul k) (fst v)).
Definition on_one_unit (l : list exact) : result exact_map :=
  let u := common [[map (fun v => Frac 1 (snd v)) l]] in
  let* _ := need Over (0 <? u) in
  let* rows := each (scaled u) l in Got (rows, u).

Definition clear_entry (u : Z) (x : frac Z) : result Z :=
  let k := u / denom x in
  let* _ := need Over (k * denom x =? u) in Got (numer x * k).
Definition clear_vector (v : vec Z) : result exact :=
  let u := common [[v]] in
  let* _ := need Over (0 <? u) in
  let* x := each (clear_entry u) v in Got (x, u).
Definition clear_lowest (v : vec Z) : result exact := let* x := clear_vector v in lowest x.
Definition clear_map (columns : mat Z) : result exact_map :=
  let u := common [columns] in
  let* _ := need Over (0 <? u) in
  let* x := each (each (clear_entry u)) columns in Got (x, u).
Definition clear_part (p : part (mat Z)) : result (part exact_map) :=
  let* k := clear_map (to_key p) in let* q := clear_map (to_query p) in
  let* v := clear_map (to_value p) in let* o := clear_map (to_output p) in Got (Part k q v o).
Definition clear_block (b : block (mat Z)) : result (block exact_map) :=
  match b with
  | Attention of weigh parts seen residual => let* parts := each clear_part parts in Got (Attention of weigh parts seen residual)
  | FeedForward of act linear residual => let* linear := clear_map linear in Got (FeedForward of act linear residual)
  end.

Definition add_up (x y : list Z) : list Z := map (fun p => fst p + snd p) (combine x y).

Definition mapped_exact (m : exact_map) (v : exact) : result exact :=
  let (columns, w) := m in
  let (x, u) := v in
  let x := x ++ [u] in
  let* _ := need Unusable ((0 <? u) && as_long (length x) columns) in
  lowest (map (CheckZ.dot x) columns, u * w).
Definition joined_exact (l : list exact) : result exact :=
  let* (rows, u) := on_one_unit l in Got (concat rows, u).
Definition added_exact (l : list exact) : result exact :=
  let* (rows, u) := on_one_unit l in
  match rows with
  | [] => No Unusable
  | x :: r => let* _ := need Unusable (as_long (length x) r) in lowest (fold_right add_up x r, u)
  end.
Definition products_exact (v : exact) (l : list exact) : result exact :=
  let (x, u) := v in
  let* (rows, w) := on_one_unit l in
  let* _ := need Unusable ((0 <? u) && as_long (length x) rows) in Got (map (CheckZ.dot x) rows, u * w).

(* Logits less the smallest, as powers of 2: they must be integers, or all 0 where their unit is not ln 2. *)
Definition longest_power : Z := 16777216.
Definition power (in_ln_2 : bool) (low u l : Z) : result Z :=
  let above := l - low in
  let k := above / u in
  let* _ := need Wrong ((k * u =? above) && (0 <=? k) && (in_ln_2 || (k =? 0))) in
  let* _ := need Over (k <=? longest_power) in Got (Z.shiftl 1 k).
Definition extreme (f : Z -> Z -> Z) (l : list Z) : Z := match l with [] => 0 | x :: r => fold_right f x r end.
Definition over_total (x : list Z) : result exact :=
  let u := CheckZ.total x in let* _ := need Unusable (0 <? u) in Got (x, u).
Definition shares_exact (weigh : rule) (v : exact) : result exact :=
  let (x, u) := v in
  let* _ := need Unusable (0 <? u) in
  match weigh with
  | Softmax in_ln_2 => let* powers := each (power in_ln_2 (extreme Z.min x) u) x in over_total powers
  | Hardmax => let top := extreme Z.max x in over_total (map (fun z => if z =? top then 1 else 0) x)
  | Linear => Got v
  end.

Fixpoint combined (weights : list Z) (rows : list (list Z)) : result (list Z) :=
  match weights, rows with
  | [w], [x] => Got (map (Z.mul w) x)
  | w :: weights', x :: rows' =>
    let* y := combined weights' rows' in
    let* _ := need Unusable (Nat.eqb (length x) (length y)) in Got (add_up (map (Z.mul w) x) y)
  | _, _ => No Unusable
  end.
Definition mean_exact (v : exact) (l : list exact) : result exact :=
  let (weights, u) := v in
  let* (rows, w) := on_one_unit l in
  let* y := combined weights rows in
  let* _ := need Unusable (0 <? u) in lowest (y, u * w).

Definition active_exact (act : activation) (v : exact) : result exact :=
  let (x, u) := v in
  let* _ := need Unusable (0 <? u) in
  Got match act with
  | Identity => v
  | Relu => (map (Z.max 0) x, u)
  | Threshold => (map (fun z => if 0 <=? z then 1 else 0) x, 1)
  end.

Definition tables_exact : list (block exact_map) -> list exact -> result (list (list exact * list (list exact))) :=
  tables mapped_exact joined_exact added_exact products_exact shares_exact mean_exact active_exact.
Definition query_after_exact : list (block exact_map) -> list (list exact * list (list exact)) -> exact -> result exact :=
  query_after mapped_exact joined_exact added_exact products_exact shares_exact mean_exact active_exact.

(* What the blocks make of example t, once its context is behind them. *)
Definition before_of (blocks : list (block exact_map)) (context : mat Z) : result (list (list exact * list (list exact))) :=
  let* tokens := each clear_lowest context in tables_exact blocks tokens.
Definition query_of (blocks : list (block exact_map)) (c : cert Z) before (t : nat) : result exact :=
  let* query := clear_lowest (nth t (queries c) []) in query_after_exact blocks before query.
(* The data behind blocks, of width d. *)
Definition fractions (v : exact) : vec Z := map (fun z => Frac z (snd v)) (fst v).
Definition derived (d : nat) (blocks : list (block (mat Z))) (c : cert Z) : result (cert Z) :=
  match blocks with
  | [] => Got c
  | _ =>
    let* _ := need Unusable (forallb (fun E => match widths (length E) (dimd c) blocks with
      | Some (token, query) => Nat.eqb token d && Nat.eqb query d | None => false end) (contexts c)) in
    let* blocks := each clear_block blocks in
    let* states := each_example (before_of blocks) c (fun before t =>
      let* query := query_of blocks c before t in Got (fst (last before ([], [])), query)) in
    let tables := match contexts c with [_] => firstn 1 states | _ => states end in
    Got (Cert (dimT c) (dimn c) d (dimm c) (dimH c) (dimk c) (dimv c)
      (map (fun s => map fractions (fst s)) tables) (map (fun s => fractions (snd s)) states) (labels c) (heads c) (output c))
  end.
End Exact.
