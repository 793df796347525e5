(* The computation behind a network-rank certificate: blocks over residues modulo several moduli, with derivatives modulo
   the first, by all weights at once; then elimination. *)
From Coq Require Import ZArith List Bool.
Require Import Spec Json Blocks Ranks residues network.
Import ListNotations.
Open Scope Z_scope.
Local Notation length := List.length.

(* The operations of blocks, from those of numbers. *)
Section Operations.
Context {S : Type} (zero one : S) (plus times : S -> S -> S).
Definition dot_of (x y : list S) : S := fold_right plus zero (map (fun p => times (fst p) (snd p)) (combine x y)).
Definition plus_of (x y : list S) : list S := map (fun p => plus (fst p) (snd p)) (combine x y).
Definition mapped_of (columns : list (list S)) (x : list S) : result (list S) :=
  let x := x ++ [one] in
  let* _ := need Unusable (as_long (length x) columns) in Got (map (dot_of x) columns).
Definition added_of (l : list (list S)) : result (list S) :=
  match l with
  | [] => No Unusable
  | x :: r => let* _ := need Unusable (as_long (length x) r) in Got (fold_right plus_of x r)
  end.
Definition products_of (x : list S) (l : list (list S)) : result (list S) :=
  let* _ := need Unusable (as_long (length x) l) in Got (map (dot_of x) l).
Fixpoint combination_of (weights : list S) (l : list (list S)) : result (list S) :=
  match weights, l with
  | [w], [x] => Got (map (times w) x)
  | w :: weights', x :: l' =>
    let* y := combination_of weights' l' in
    let* _ := need Unusable (Nat.eqb (length x) (length y)) in Got (plus_of (map (times w) x) y)
  | _, _ => No Unusable
  end.
Definition joined_of (l : list (list S)) : result (list S) := Got (concat l).
Definition active_of (act : activation) (x : list S) : result (list S) := match act with Identity => Got x | _ => No Over end.
End Operations.

(* A number: its residues, and its derivatives modulo the first modulus; derivatives that are left out at the end are 0. *)
Definition number := (list Z * list Z)%type.
Section Numbers.
Variables (moduli : list Z) (slope : Z).
Fixpoint zip (f : Z -> Z -> Z -> Z) (ps x y : list Z) : list Z :=
  match ps, x, y with p :: ps', a :: x', b :: y' => f p a b :: zip f ps' x' y' | _, _, _ => [] end.
Definition first := hd 3 moduli.
Fixpoint plus_slopes (x y : list Z) : list Z :=
  match x, y with [], y => y | x, [] => x | a :: x', b :: y' => (a + b) mod first :: plus_slopes x' y' end.
Definition times_slopes (a : Z) (x : list Z) : list Z := if a =? 0 then [] else map (fun b => a * b mod first) x.
Definition zero_number : number := (map (fun _ => 0) moduli, []).
Definition one_number : number := (map (fun _ => 1) moduli, []).
Definition plus_number (x y : number) : number := (zip (fun p a b => (a + b) mod p) moduli (fst x) (fst y), plus_slopes (snd x) (snd y)).
Definition times_number (x y : number) : number :=
  (zip (fun p a b => a * b mod p) moduli (fst x) (fst y), plus_slopes (times_slopes (hd 0 (fst x)) (snd y)) (times_slopes (hd 0 (fst y)) (snd x))).

(* The softmax. A power modulo p is by the residue modulo the next modulus. *)
Fixpoint powers_of_2 (ps z : list Z) : list Z :=
  match ps, z with
  | p :: ((q :: _) as ps'), _ :: ((a :: _) as z') => residues.power p 2 (a mod q) :: powers_of_2 ps' z'
  | _, _ => []
  end.
Fixpoint inverses (ps z : list Z) : result (list Z) :=
  match ps, z with
  | p :: ps', a :: z' => match inverse p (a mod p) with Some i => let* r := inverses ps' z' in Got (i :: r) | None => No Wrong end
  | _, _ => Got []
  end.
Definition softmax_number (l : list number) : result (list number) :=
  let powers := map (fun x => powers_of_2 moduli (fst x)) l in
  let* over := inverses moduli (fold_right (zip (fun p a b => (a + b) mod p) moduli) (map (fun _ => 0) moduli) powers) in
  let shares := map (fun x => zip (fun p a b => a * b mod p) moduli x over) powers in
  let* _ := need Over (forallb (fun x => negb (Nat.eqb (length x) 0)) shares) in
  let pairs := combine shares (map snd l) in
  let mean := times_slopes (-1) (fold_right plus_slopes [] (map (fun q => times_slopes (hd 0 (fst q)) (snd q)) pairs)) in
  Got (map (fun q => (fst q, times_slopes (hd 0 (fst q)) (plus_slopes (snd q) mean))) pairs).
Definition shares_number (weigh : rule) (l : list number) : result (list number) :=
  match weigh with Softmax true => softmax_number l | _ => No Unusable end.

(* A fraction in each field. *)
Fixpoint fraction_in (ps : list Z) (x : frac Z) : result (list Z) :=
  match ps with
  | [] => Got []
  | p :: ps' => match inverse p (denom x mod p) with Some i => let* r := fraction_in ps' x in Got (numer x * i mod p :: r) | None => No Wrong end
  end.
Definition given (x : frac Z) : result number := let* z := fraction_in moduli x in Got (z, []).
End Numbers.

(* The entries of the maps: is it a key, and which weight is it, if it is one? *)
Record entry := Entry { of_key : bool; weight : option nat; entry_of : frac Z }.
Fixpoint tag_column (key bias : bool) (n : nat) (x : vec Z) : list entry * nat :=
  match x with
  | [] => ([], n)
  | [a] => if bias then ([Entry key (Some n) a], S n) else ([Entry key None a], n)
  | a :: r => let (l, k) := tag_column key bias (S n) r in (Entry key (Some n) a :: l, k)
  end.
Fixpoint tag_map (key bias : bool) (n : nat) (columns : mat Z) : list (list entry) * nat :=
  match columns with
  | [] => ([], n)
  | x :: r => let (y, k) := tag_column key bias n x in let (l, k) := tag_map key bias k r in (y :: l, k)
  end.
Fixpoint tag_parts (n : nat) (parts : list (part (mat Z))) : list (part (list (list entry))) * nat :=
  match parts with
  | [] => ([], n)
  | p :: r =>
    let (K, n) := tag_map true false n (to_key p) in let (Q, n) := tag_map false false n (to_query p) in
    let (V, n) := tag_map false false n (to_value p) in let (U, n) := tag_map false false n (to_output p) in
    let (l, n) := tag_parts n r in (Part K Q V U :: l, n)
  end.
Definition tag_block (n : nat) (b : block (mat Z)) : block (list (list entry)) * nat :=
  match b with
  | Attention of weigh parts seen residual => let (l, n) := tag_parts n parts in (Attention of weigh l seen residual, n)
  | FeedForward of act linear residual => let (l, n) := tag_map false true n linear in (FeedForward of act l residual, n)
  end.
Fixpoint tag_blocks (n : nat) (blocks : list (block (mat Z))) : list (block (list (list entry))) * nat :=
  match blocks with [] => ([], n) | b :: r => let (b, n) := tag_block n b in let (l, n) := tag_blocks n r in (b :: l, n) end.

Section Placed.
Variables (moduli : list Z) (slope : Z) (moving : bool).
Definition entry_number (left : list Z) (e : entry) : result number :=
  let* z := fraction_in left (entry_of e) in
  let s := if of_key e then slope mod first moduli else 1 in
  Got (match z with a :: r => s * a mod first moduli :: r | [] => [] end,
       match weight e with Some i => if moving then repeat 0 i ++ [s] else [] | None => [] end).
Definition place_map (left : list Z) : list (list entry) -> result (list (list number)) := each (each (entry_number left)).
Definition place_part (left : list Z) (p : part (list (list entry))) : result (part (list (list number))) :=
  let* K := place_map left (to_key p) in let* Q := place_map left (to_query p) in
  let* V := place_map left (to_value p) in let* U := place_map left (to_output p) in Got (Part K Q V U).
Definition place_block (left : list Z) (b : block (list (list entry))) : result (block (list (list number)) * list Z) :=
  match b with
  | Attention of weigh parts seen residual =>
    let* _ := need Wrong (Nat.leb 2 (length left)) in
    let* l := each (place_part left) parts in Got (Attention of weigh l seen residual, removelast left)
  | FeedForward of act linear residual => let* l := place_map left linear in Got (FeedForward of act l residual, left)
  end.
(* The moduli that a block needs: one less behind each block of attention. *)
Fixpoint place_blocks (left : list Z) (blocks : list (block (list (list entry)))) : result (list (block (list (list number)))) :=
  match blocks with [] => Got [] | b :: r => let* (b, left) := place_block left b in let* l := place_blocks left r in Got (b :: l) end.
End Placed.

Definition number_tables (moduli : list Z) :=
  tables (mapped_of (zero_number moduli) (one_number moduli) (plus_number moduli) (times_number moduli)) joined_of (added_of (plus_number moduli))
    (products_of (zero_number moduli) (plus_number moduli) (times_number moduli)) (shares_number moduli)
    (combination_of (plus_number moduli) (times_number moduli)) active_of.
Definition number_query (moduli : list Z) :=
  query_after (mapped_of (zero_number moduli) (one_number moduli) (plus_number moduli) (times_number moduli)) joined_of (added_of (plus_number moduli))
    (products_of (zero_number moduli) (plus_number moduli) (times_number moduli)) (shares_number moduli)
    (combination_of (plus_number moduli) (times_number moduli)) active_of.

(* The outputs of all examples. *)
Definition outputs_mod (moduli : list Z) (blocks : list (block (list (list number)))) (c : cert Z) : result (list (list number)) :=
  each_example (fun E => let* tokens := each (each (given moduli)) E in number_tables moduli blocks tokens) c
    (fun before t => let* query := each (given moduli) (nth t (queries c) []) in number_query moduli blocks before query).

(* 2 to the next modulus is 1. *)
Fixpoint linked (ps : list Z) : bool :=
  match ps with p :: ((q :: _) as ps') => (1 <? p) && (residues.power p 2 q mod p =? 1) && linked ps' | [p] => 1 <? p | [] => false end.
Definition as_row (n : nat) (x : list Z) : list Z := firstn n (x ++ repeat 0 (n - length x)).

(* Are the values of the last block as wide as the labels? *)
Definition wide (m : nat) (blocks : list (block (mat Z))) : bool :=
  match rev blocks with Attention _ _ parts _ _ :: _ => forallb (fun p => Nat.leb m (length (to_value p))) parts | _ => true end.

Definition check_rank (moduli : list Z) (slope : Z) (jacobian : bool) (blocks : list (block (mat Z))) (c : cert Z) : result unit :=
  let* _ := need Wrong (linked moduli) in
  let (tagged, n) := tag_blocks 0 (if jacobian then blocks else on_last read_means blocks) in
  let* placed := place_blocks moduli slope jacobian moduli tagged in
  let* outputs := outputs_mod moduli placed c in
  let width := if jacobian then dimm c else length (hd [] outputs) in
  let* _ := need Unusable (forallb (fun y => Nat.eqb (length y) width) outputs) in
  let rows := if jacobian then concat (map (map (fun y => as_row n (snd y))) outputs) else map (map (fun y => hd 0 (fst y))) outputs in
  need Wrong (independent (first moduli) (length rows) rows).
