(* Blocks in a row, as docs/certificate.md has them: what they make of an example, in any arithmetic;
   then over Coq's real numbers, with the true exp and ln. Part of the specification. *)
From Coq Require Import ZArith Reals List Bool.
Require Import Spec Json.
Import ListNotations.

Inductive reach := OfQuery | OfAll | OfRow.
Inductive rule := Softmax (in_ln_2 : bool) | Hardmax | Linear.
Inductive activation := Identity | Relu | Threshold.
Inductive mask := Everything | Causal | Rows (rows : list (list bool)).

(* [M] stands for linear maps. The output of a part is the rows of the block's output that belong to its values. *)
Record part M := Part { to_key : M; to_query : M; to_value : M; to_output : M }.
Arguments Part {M}. Arguments to_key {M}. Arguments to_query {M}. Arguments to_value {M}. Arguments to_output {M}.
Inductive block M :=
  | Attention (of : reach) (weigh : rule) (parts : list (part M)) (seen : mask) (residual : bool)
  | FeedForward (of : reach) (act : activation) (linear : M) (residual : bool).
Arguments Attention {M}. Arguments FeedForward {M}.

Definition of_part {M N} (f : M -> N) (p : part M) : part N :=
  Part (f (to_key p)) (f (to_query p)) (f (to_value p)) (f (to_output p)).
Definition of_block {M N} (f : M -> N) (b : block M) : block N :=
  match b with
  | Attention of weigh parts seen residual => Attention of weigh (map (of_part f) parts) seen residual
  | FeedForward of act linear residual => FeedForward of act (f linear) residual
  end.

(* The items that are seen. *)
Fixpoint those {A} (seen : list bool) (l : list A) : list A :=
  match seen, l with s :: seen', x :: l' => if s then x :: those seen' l' else those seen' l' | _, _ => [] end.
Definition seen_of {A} (seen : option (list bool)) (l : list A) : list A :=
  match seen with None => l | Some seen => those seen l end.

Section Evaluate.
Context {V M : Type}.
Variables (mapped : M -> V -> result V) (joined : list V -> result V) (added : list V -> result V)
  (products : V -> list V -> result V) (shares : rule -> V -> result V) (mean : V -> list V -> result V)
  (active : activation -> V -> result V).

(* What a head makes of the vector x: the mean of the values of the tokens it sees, through its rows of the output. *)
Definition attended (weigh : rule) (x : V) (tokens : list V) (seen : option (list bool)) (p : part M * list V) : result V :=
  let (p, keys) := p in
  let* query := mapped (to_query p) x in
  let* logits := products query (seen_of seen keys) in
  let* weights := shares weigh logits in
  let* z := mean weights (seen_of seen tokens) in
  let* z := mapped (to_value p) z in mapped (to_output p) z.

(* What a block makes of the vector x. A mask has a place for each token. *)
Definition changed (b : block M) (x : V) (tokens : list V) (keys : list (list V)) (seen : option (list bool)) : result V :=
  let* (y, residual) := match b with
    | FeedForward of act linear residual =>
      let* row := match of with OfRow => joined (x :: tokens) | _ => Got x end in
      let* z := mapped linear row in
      let* y := active act z in Got (y, residual)
    | Attention of weigh parts _ residual =>
      let* _ := need Unusable (match seen with None => true | Some s => Nat.eqb (length s) (length tokens) end) in
      let* each_part := each (attended weigh x tokens seen) (combine parts keys) in
      let* y := added each_part in Got (y, residual)
    end in
  if residual then added [y; x] else Got y.

Definition of_all (b : block M) : bool :=
  match b with Attention OfAll _ _ _ _ | FeedForward OfAll _ _ _ => true | _ => false end.

(* The keys of the tokens, head by head. *)
Definition keys_of (b : block M) (tokens : list V) : result (list (list V)) :=
  match b with
  | Attention _ _ parts _ _ => each (fun p => each (mapped (to_key p)) tokens) parts
  | FeedForward _ _ _ _ => Got []
  end.

(* What each token sees: of a causal mask the first i, itself the last; a mask in rows has one for the query, too. *)
Definition seen_by_tokens (b : block M) (n : nat) : result (list (option (list bool))) :=
  match b with
  | Attention _ _ _ Causal _ => Got (map (fun i => Some (map (fun j => Nat.leb j i) (seq 0 n))) (seq 0 n))
  | Attention _ _ _ (Rows rows) _ => let* _ := need Unusable (Nat.eqb (length rows) (S n)) in Got (map Some (firstn n rows))
  | _ => Got (repeat None n)
  end.
Definition seen_by_query (b : block M) : result (option (list bool)) :=
  match b with
  | Attention _ _ _ (Rows rows) _ =>
    let* _ := need Unusable (of_all b || Nat.eqb (length rows) 1) in Got (Some (last rows []))
  | _ => Got None
  end.

Definition tokens_after (b : block M) (tokens : list V) (keys : list (list V)) : result (list V) :=
  if of_all b then
    let* seen := seen_by_tokens b (length tokens) in
    each (fun p => changed b (fst p) tokens keys (snd p)) (combine tokens seen)
  else Got tokens.

(* For each block the tokens before it and their keys; then what the blocks make of the query. *)
Fixpoint tables (blocks : list (block M)) (tokens : list V) : result (list (list V * list (list V))) :=
  match blocks with
  | [] => Got [(tokens, [])]
  | b :: r =>
    let* keys := keys_of b tokens in
    let* after := tokens_after b tokens keys in
    let* rest := tables r after in Got ((tokens, keys) :: rest)
  end.
Fixpoint query_after (blocks : list (block M)) (before : list (list V * list (list V))) (query : V) : result V :=
  match blocks, before with
  | b :: r, (tokens, keys) :: rest =>
    let* seen := seen_by_query b in
    let* after := changed b query tokens keys seen in query_after r rest after
  | _, _ => Got query
  end.
(* The state of an example behind the blocks: its tokens and its query, which is the output. *)
Definition state_of (blocks : list (block M)) (tokens : list V) (query : V) : result (list V * V) :=
  let* before := tables blocks tokens in
  let* query := query_after blocks before query in Got (fst (last before ([], [])), query).
End Evaluate.

(* Over the real numbers. Vectors are lists; a linear map is its columns, each with a bias below. *)
Section Reals.
Open Scope R_scope.
Definition plus (x y : list R) : list R := map (fun p => fst p + snd p) (combine x y).
Definition total (x : list R) : R := fold_right Rplus 0 x.
Definition dot (x y : list R) : R := total (map (fun p => fst p * snd p) (combine x y)).
Definition as_long {A} (n : nat) (l : list (list A)) : bool := forallb (fun x => Nat.eqb (length x) n) l.

Definition mapped_real (columns : list (list R)) (x : list R) : result (list R) :=
  let x := x ++ [1] in
  let* _ := need Unusable (as_long (length x) columns) in Got (map (dot x) columns).
Definition joined_real (l : list (list R)) : result (list R) := Got (concat l).
Definition added_real (l : list (list R)) : result (list R) :=
  match l with
  | [] => No Unusable
  | x :: r => let* _ := need Unusable (as_long (length x) r) in Got (fold_right plus x r)
  end.
Definition products_real (x : list R) (l : list (list R)) : result (list R) :=
  let* _ := need Unusable (as_long (length x) l) in Got (map (dot x) l).

(* Softmax of logits in units of ln 2 or of 1; hardmax, the largest logits alike; or the logits themselves. *)
Definition normalized (f : R -> R) (l : list R) : list R := map (fun x => f x / total (map f l)) l.
Definition largest (l : list R) : R := match l with [] => 0 | x :: r => fold_right Rmax x r end.
Definition shares_real (weigh : rule) (logits : list R) : result (list R) :=
  Got match weigh with
  | Softmax in_ln_2 => normalized (fun x => exp ((if in_ln_2 then ln 2 else 1) * x)) logits
  | Hardmax => normalized (fun x => if Req_EM_T x (largest logits) then 1 else 0) logits
  | Linear => logits
  end.
Fixpoint combination (weights : list R) (l : list (list R)) : result (list R) :=
  match weights, l with
  | [w], [x] => Got (map (Rmult w) x)
  | w :: weights', x :: l' =>
    let* y := combination weights' l' in
    let* _ := need Unusable (Nat.eqb (length x) (length y)) in Got (plus (map (Rmult w) x) y)
  | _, _ => No Unusable
  end.
Definition active_real (act : activation) (x : list R) : result (list R) :=
  Got match act with
  | Identity => x
  | Relu => map (Rmax 0) x
  | Threshold => map (fun z => if Rle_dec 0 z then 1 else 0) x
  end.

Definition real_state : list (block (list (list R))) -> list (list R) -> list R -> result (list (list R) * list R) :=
  state_of mapped_real joined_real added_real products_real shares_real combination active_real.

(* The numbers of a file. *)
Definition reals : vec Z -> list R := map (real (fun z => z)).
Definition real_block : block (mat Z) -> block (list (list R)) := of_block (map reals).
Definition state (blocks : list (block (mat Z))) (c : cert Z) (t : nat) : result (list (list R) * list R) :=
  real_state (map real_block blocks) (map reals (ctx c t)) (reals (nth t (queries c) [])).

(* "network": the blocks output exactly the label, on all T examples. *)
Definition computes (blocks : list (block (mat Z))) (c : cert Z) : Prop :=
  forall t, (t < dimT c)%nat -> exists tokens, state blocks c t = Got (tokens, reals (nth t (labels c) [])).

(* "outputs-within": no output differs from its label by more than [most]. *)
Definition outputs_within (most : frac Z) (blocks : list (block (mat Z))) (c : cert Z) : Prop :=
  forall t, (t < dimT c)%nat -> exists tokens outputs, state blocks c t = Got (tokens, outputs) /\
    Forall2 (fun y label => Rabs (y - label) <= real (fun z => z) most) outputs (reals (nth t (labels c) [])).

(* "nearest": each output is nearer to its label than to any other label, by the margin. For an output o, its label y and
   another y', |o - y'|^2 - |o - y|^2 is twice (y - y').o - (|y|^2 - |y'|^2) / 2. *)
Definition difference (x y : list R) : list R := map (fun p => fst p - snd p) (combine x y).
Definition nearest_labels (margin : frac Z) (blocks : list (block (mat Z))) (c : cert Z) : Prop :=
  forall t, (t < dimT c)%nat -> exists tokens outputs, state blocks c t = Got (tokens, outputs) /\
    let y := reals (nth t (labels c) []) in
    length outputs = length y /\ forall label, In label (labels c) -> let y' := reals label in
    y' <> y -> real (fun z => z) margin <= dot (difference y y') outputs - (dot y y - dot y' y') / 2.

(* Behind blocks the data c are the data c', perhaps of another width, with the same labels and the same layer. *)
Definition behind (blocks : list (block (mat Z))) (c c' : cert Z) : Prop :=
  match blocks with
  | [] => c' = c
  | _ => c' = Cert (dimT c) (dimn c) (dimd c') (dimm c) (dimH c) (dimk c) (dimv c) (contexts c') (queries c') (labels c) (heads c) (output c) /\
    forall t, (t < dimT c)%nat -> state blocks c t = Got (map reals (ctx c' t), reals (nth t (queries c') []))
  end.
End Reals.
