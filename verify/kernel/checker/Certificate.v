(* An attncert/3 certificate (docs/certificate.md), read from the bytes of a file, and what it states. Part
   of the specification. A file that is not one is [Unusable]; one whose groups, indices, prime or rounded labels break a
   rule is [Wrong]. Not here: the digests (SHA-256). *)
From Coq Require Import ZArith Reals Bool Ascii String List.
Require Import Spec Json Numeral residues Blocks Ranks.
Import ListNotations.
Open Scope Z_scope.
Local Notation length := List.length.

(* A claim about a layer is one about what the blocks before it make of the data. *)
Inductive claim :=
  | Interpolation (before : list (block (mat Z))) (c : cert Z)
  | FullRank (before : list (block (mat Z))) (prime : Z) (c : cert Z)
  | EveryLabelling (before : list (block (mat Z))) (prime : Z) (c : cert Z)
  | InterpolationNear (before : list (block (mat Z))) (radius : frac Z) (unknowns : list nat) (inverse : mat Z) (c : cert Z)
  | DependentSet (count width : nat) (vectors : mat Z) (indices : list nat) (coefficients : vec Z)
  | Impossible (relation : vec Z) (c : cert Z)
  | Network (blocks : list (block (mat Z))) (c : cert Z)
  | OutputsWithin (most : frac Z) (blocks : list (block (mat Z))) (c : cert Z)
  | Nearest (margin : frac Z) (blocks : list (block (mat Z))) (c : cert Z)
  | Jacobian (primes : list Z) (slope : Z) (blocks : list (block (mat Z))) (c : cert Z)
  | JacobianAtZero (primes : list Z) (slope : Z) (blocks : list (block (mat Z))) (c : cert Z)
  | Features (primes : list Z) (slope : Z) (blocks : list (block (mat Z))) (c : cert Z).

(* None if the key is null. *)
Record certificate := Certificate {
  claimed : claim; steering : option saturation; of_rounded : option (rounding Z);
  of_sequences : option (sequences Z); of_domain : option (domain Z) }.

(* The data in the file, sequences written out. *)
Definition data_of (x : claim) : option (cert Z) :=
  match x with
  | Interpolation _ c | FullRank _ _ c | EveryLabelling _ _ c | InterpolationNear _ _ _ _ c
  | Impossible _ c | Network _ c | OutputsWithin _ _ c | Nearest _ _ c | Jacobian _ _ _ c | JacobianAtZero _ _ _ c | Features _ _ _ c => Some c
  | DependentSet _ _ _ _ _ => None
  end.
Definition of_data {A} (says : A -> cert Z -> Prop) (a : option A) (x : claim) : Prop :=
  match a with None => True | Some a => exists c, data_of x = Some c /\ says a c end.

Definition states (x : certificate) : Prop :=
  let id := fun z : Z => z in
  let steered c := match steering x with None => True | Some s => saturates id s c end in
  match claimed x with
  | Interpolation before c => exists c', behind before c c' /\ (data_ok id c' /\ readout_ok id c' /\ interpolates id c') /\ steered c'
  | FullRank before _ c => exists c', behind before c c' /\ (data_ok id c' /\ full_rank id c') /\ steered c'
  | EveryLabelling before _ c => (exists c', behind before c c' /\ (data_ok id c' /\ readout_ok id c' /\ every_labelling id c')) /\ steering x = None
  | InterpolationNear before radius _ _ c => (exists c', behind before c c' /\
      (data_ok id c' /\ readout_ok id c' /\ denom_ok id radius /\ interpolates_near id radius c')) /\ steering x = None
  | DependentSet N d vectors indices coefficients =>
      (mat_ok id N d vectors /\ dependent_set id N d vectors indices coefficients) /\ steering x = None
  | Impossible _ c => (inputs_ok id c /\ no_weights id c) /\ steering x = None
  | Network blocks c => (inputs_ok id c /\ computes blocks c) /\ steering x = None
  | OutputsWithin most blocks c => (inputs_ok id c /\ denom_ok id most /\ outputs_within most blocks c) /\ steering x = None
  | Nearest margin blocks c => (inputs_ok id c /\ denom_ok id margin /\ (0 < real id margin)%R /\ nearest_labels margin blocks c) /\ steering x = None
  | Jacobian _ _ blocks c => (inputs_ok id c /\ jacobian_rank blocks c) /\ steering x = None
  | JacobianAtZero _ _ blocks c => (inputs_ok id c /\ every_labelling_by blocks c) /\ steering x = None
  | Features _ _ blocks c => (inputs_ok id c /\ wide_values (dimm c) blocks /\ features_rank blocks c) /\ steering x = None
  end /\
  match of_rounded x with None => True | Some r => rounded id r end /\
  of_data (prefixes id) (of_sequences x) (claimed x) /\ of_data (whole id) (of_domain x) (claimed x).

(* Numbers: p or p/q in decimal, a sign before p alone, q without a leading zero. *)
Definition slash := code "/".
Fixpoint at_most (n : nat) (l : text) : bool :=
  match l, n with [], _ => true | _, O => false | _ :: r, S n' => at_most n' r end.
Definition digit_values (l : text) : list Z := rev_append (fold_left (fun done c => c - zero :: done) l []) [].
Definition digits (l : text) : option Z :=
  if at_most max_digits l && negb (at_most 0%nat l) && forallb (between zero nine) l
  then Some (numeral (digit_values l)) else None.
Fixpoint split (c : Z) (l before : text) : text * option text :=
  match l with [] => (rev_append before [], None) | x :: r => if x =? c then (rev_append before [], Some r) else split c r (x :: before) end.
Definition number (t : text) : option (frac Z) :=
  let '(negative, t) := match t with c :: r => if c =? minus then (true, r) else (false, t) | [] => (false, t) end in
  let '(p, q) := split slash t [] in
  match digits p, q with
  | Some p, None => Some (Frac (if negative then - p else p) 1)
  | Some p, Some (c :: r) =>
      if c =? zero then None
      else match digits (c :: r) with Some q => Some (Frac (if negative then - p else p) q) | None => None end
  | _, _ => None
  end.

(* Shapes, as [data_ok], [readout_ok] and [mat_ok] say; [above_0] decides what is above 0. *)
Section Shapes.
Context {num : Type} (above_0 : num -> bool).
Definition mat_okb (h w : nat) (M : mat num) : bool :=
  Nat.eqb (length M) h && forallb (fun v => Nat.eqb (length v) w && forallb (fun x => above_0 (denom x)) v) M.
Definition between_1 (most k : nat) : bool := Nat.ltb 0 k && Nat.leb k most.
Definition inputs_okb (c : cert num) : bool :=
  forallb (Nat.ltb 0) [dimT c; dimn c; dimd c; dimm c] &&
  (Nat.eqb (length (contexts c)) 1 || Nat.eqb (length (contexts c)) (dimT c)) &&
  forallb (fun M => between_1 (dimn c) (length M) && mat_okb (length M) (dimd c) M) (contexts c) &&
  mat_okb (dimT c) (dimd c) (queries c) && mat_okb (dimT c) (dimm c) (labels c).
Definition heads_okb (d : nat) (c : cert num) : bool :=
  forallb (Nat.ltb 0) [dimH c; dimk c; dimv c] && Nat.eqb (length (heads c)) (dimH c) &&
  forallb (fun x => mat_okb d (dimk c) (key x) && mat_okb d (dimk c) (query x)) (heads c).
Definition data_okb (c : cert num) : bool := inputs_okb c && heads_okb (dimd c) c.
Definition values_okb (d : nat) (c : cert num) : bool :=
  forallb (fun x => mat_okb d (dimv c) (value x)) (heads c) && mat_okb (dimH c * dimv c) (dimm c) (output c).
Definition readout_okb (c : cert num) : bool := values_okb (dimd c) c.
End Shapes.
Definition above_0 : Z -> bool := Z.ltb 0.

(* An odd prime below 2^62, by the test of Miller and Rabin: with these bases no composite below 3 * 10^23 passes. The
   claim does not rest on it. *)
Definition two_to_62 := 4611686018427387904.
Definition bases := [2; 3; 5; 7; 11; 13; 17; 19; 23; 29; 31; 37].
Fixpoint halve (fuel : nat) (m : Z) (twos : nat) : Z * nat :=
  match fuel with
  | O => (m, twos)
  | S fuel' => if m mod 2 =? 0 then halve fuel' (m / 2) (S twos) else (m, twos)
  end.
Fixpoint reaches (twos : nat) (x p : Z) : bool :=
  match twos with O => false | S k => (x =? p - 1) || reaches k (x * x mod p) p end.
Definition odd_prime (p : Z) : bool :=
  (2 <? p) && (p <? two_to_62) && (p mod 2 =? 1) &&
  (let '(m, twos) := halve 64%nat (p - 1) 0%nat in
   forallb (fun a => (a mod p =? 0) || (let x := power p a m in (x =? 1) || reaches twos x p)) bases).

(* Whole numbers [0, .., n-1], each at most once. *)
Definition below (n : nat) (l : list Z) : bool := forallb (fun z => between 0 largest_size z && Nat.ltb (Z.to_nat z) n) l.
Fixpoint distinct (l : list nat) : bool :=
  match l with [] => true | i :: r => negb (existsb (Nat.eqb i) r) && distinct r end.
Definition each_once (n : nat) (l : list Z) : bool := below n l && distinct (map Z.to_nat l).

Definition envelope := map codes ["format"; "claim"; "construction"; "dims"; "data"; "produced_by"; "input_sha256"; "digest";
  "saturation"; "origin"; "data_file"; "tokens"]%string.
Definition attncert_3 := codes "attncert/3".
Definition kind_key := codes "kind".
Definition keys_saturation := map codes ["bits"; "own"]%string.
Definition keys_rounded := kind_key :: map codes ["grid"; "largest_change"; "data"]%string.
Definition rounded_kind := codes "rounded".
Definition domain_kind := codes "domain".
Definition keys_domain := kind_key :: map codes ["contexts"; "queries"]%string.
Definition sequences_key := codes "sequences".
Definition keys_sequences := map codes ["embedding"; "positions"; "sequences"; "examples"; "labels"]%string.
Definition ln_2 := codes "ln 2".
Definition claim_interpolation := codes "interpolation".
Definition claim_full_rank := codes "full-rank".
Definition claim_every := codes "every-labelling".
Definition claim_near := codes "interpolation-near".
Definition claim_dependent_set := codes "dependent-set".
Definition claim_impossible := codes "impossible".
Definition claim_network := codes "network".
Definition claim_outputs_within := codes "outputs-within".
Definition claim_rank := codes "network-rank".
Definition keys_network_rank := map codes ["of"; "primes"; "slope"; "value"]%string.
Definition rank_key := codes "rank".
Definition group_kind := codes "group".
Definition nearest_key := codes "nearest".   (* also the claim *)
Definition keys_margin := [codes "margin"].
Definition network_key := codes "network".
Definition within_key := codes "within".
Definition keys_interpolation := network_key :: map codes ["groups"]%string.
Definition keys_ranked := network_key :: map codes ["groups"; "rank"]%string.
Definition keys_near := network_key :: map codes ["near"]%string.
Definition keys_relation := [codes "relation"].
Definition keys_inputs := map codes ["contexts"; "queries"; "labels"]%string.
Definition keys_vectors := [codes "vectors"].
Definition dims_inputs := map codes ["examples"; "context"; "width"; "labels"]%string.
Definition dims_layer := dims_inputs ++ map codes ["heads"; "head_width"; "value_width"]%string.
Definition dims_vectors := map codes ["vectors"; "width"]%string.
Definition keys_head := map codes ["key"; "query"; "value"]%string.
Definition keys_attention := map codes ["kind"; "of"; "rule"; "logit_unit"; "heads"; "output"; "mask"; "residual"]%string.
Definition attention := codes "attention".
Definition feed_forward := codes "feed-forward".
Definition whole_row := codes "row".
Definition of_query := codes "query".
Definition keys_feed_forward := map codes ["kind"; "of"; "activation"; "weights"; "bias"; "residual"]%string.
Definition reach_names := [(of_query, OfQuery); (codes "all", OfAll)].
Definition activation_names := [(codes "identity", Identity); (codes "relu", Relu); (codes "threshold", Threshold)].
Definition causal := codes "causal".
Definition softmax_rule := codes "softmax".
Definition rule_names := [(softmax_rule, Softmax true); (codes "hardmax", Hardmax); (codes "linear", Linear)].
Definition unit_1 := codes "1".
Definition unit_names := [(ln_2, true); (unit_1, false)].
Definition keys_box := map codes ["radius"; "unknowns"; "inverse"]%string.
Definition keys_rank := map codes ["prime"; "value"]%string.
Definition keys_dependence := map codes ["indices"; "coefficients"]%string.

(* The entries of two matrices, of two lists of them, beside each other, with those before. *)
Fixpoint beside {A} (x y : list A) (done : list (A * A)) : list (A * A) :=
  match x, y with a :: x', b :: y' => beside x' y' ((a, b) :: done) | _, _ => done end.
Fixpoint rows_beside {A} (x y : list (list A)) (done : list (A * A)) : list (A * A) :=
  match x, y with a :: x', b :: y' => rows_beside x' y' (beside a b done) | _, _ => done end.
Fixpoint contexts_beside {A} (x y : list (list (list A))) (done : list (A * A)) : list (A * A) :=
  match x, y with a :: x', b :: y' => contexts_beside x' y' (rows_beside a b done) | _, _ => done end.

Section Reading.
Variable f : file.

(* The values of exactly these keys, in this order. *)
Definition lookup (pairs : list (nat * json)) (k : text) : result json :=
  match find (fun p => same (text_at f (fst p)) k) pairs with Some (_, v) => Got v | None => No Unusable end.
Definition fields (keys : list text) (j : json) : result (list json) :=
  match j with
  | Obj pairs => let* _ := need Unusable (Nat.eqb (length pairs) (length keys)) in each (lookup pairs) keys
  | _ => No Unusable
  end.
Definition is_text (t : text) (j : json) : bool := match j with Str i => same (text_at f i) t | _ => false end.

Definition of_list {A} (read : json -> result A) (j : json) : result (list A) :=
  match j with Arr l => each read l | _ => No Unusable end.
Definition int_of (j : json) : result Z := match j with Int z => Got z | _ => No Unusable end.
Definition size_of (j : json) : result nat :=
  match j with
  | Int z => let* _ := need Unusable (between 1 largest_size z) in Got (Z.to_nat z)
  | _ => No Unusable
  end.
Definition number_of (j : json) : result (frac Z) :=
  match j with
  | Str i => match number (text_at f i) with Some x => Got x | None => No Unusable end
  | _ => No Unusable
  end.
Definition bool_of (j : json) : result bool :=
  match j with Literal 1 => Got false | Literal 2 => Got true | _ => No Unusable end.
Fixpoint chosen {A} (names : list (text * A)) (j : json) : result A :=
  match names with [] => No Unusable | (name, a) :: r => if is_text name j then Got a else chosen r j end.
Definition vector : json -> result (vec Z) := of_list number_of.
Definition matrix : json -> result (mat Z) := of_list vector.

Definition null := Literal O.
Definition is_null (j : json) : bool := match j with Literal O => true | _ => false end.
Definition is_false (j : json) : bool := match j with Literal 1 => true | _ => false end.

(* The claim; the values of its own keys, of data, of dims; saturation, origin and the numbers of tokens (null if all are
   the same); if the data are sequences, these, with contexts and queries. *)
Record parts := Parts {
  name : text; own_parts : list json; data : list json; dims : list nat;
  saturation_part : json; origin_part : json; tokens_part : json;
  sequenced : option (sequences Z * list (mat Z) * mat Z) }.
Definition opened (doc : json) : result parts :=
  match doc with
  | Obj pairs =>
    let* format := lookup pairs (codes "format") in
    let* _ := need Unusable (is_text attncert_3 format) in
    let* name := lookup pairs (codes "claim") in
    let read (claim : text) (keys data_keys dims_keys : list text) :=
      let* values := fields (envelope ++ keys) doc in
      match values with
      | _ :: _ :: _ :: dims :: data :: _ :: _ :: _ :: saturation :: origin :: data_file :: tokens :: own =>
        let* _ := need Over (is_null data_file) in
        let has_sequences := match data with Obj pairs => existsb (fun p => same (text_at f (fst p)) sequences_key) pairs | _ => false end in
        let of_text := Nat.eqb (length data_keys) (length keys_inputs) && has_sequences in
        let* data := fields (if of_text then keys_sequences else data_keys) data in
        let* dims := fields dims_keys dims in
        let* sizes := each size_of dims in
        Got (Parts claim own data sizes saturation origin tokens None)
      | _ => No Unusable
      end in
    if is_text claim_interpolation name then read claim_interpolation keys_interpolation keys_inputs dims_layer
    else if is_text claim_full_rank name then read claim_full_rank keys_ranked keys_inputs dims_layer
    else if is_text claim_every name then read claim_every keys_ranked keys_inputs dims_layer
    else if is_text claim_near name then read claim_near keys_near keys_inputs dims_layer
    else if is_text claim_dependent_set name then read claim_dependent_set keys_relation keys_vectors dims_vectors
    else if is_text claim_impossible name then read claim_impossible keys_relation keys_inputs dims_inputs
    else if is_text claim_network name then read claim_network [network_key] keys_inputs dims_inputs
    else if is_text claim_outputs_within name then read claim_outputs_within [network_key; within_key] keys_inputs dims_inputs
    else if is_text claim_rank name then read claim_rank [network_key; rank_key] keys_inputs dims_inputs
    else if is_text nearest_key name then read nearest_key [network_key; nearest_key] keys_inputs dims_inputs
    else No Unusable
  | _ => No Unusable
  end.

(* A matrix that says its own size; a linear map x -> (x, 1) M is the columns of M. *)
Definition shaped (rows : mat Z) : result (mat Z) :=
  match rows with
  | (_ :: _) as row :: _ => let* _ := need Unusable (mat_okb above_0 (length rows) (length row) rows) in Got rows
  | _ => No Unusable
  end.
Definition width {A} (rows : list (list A)) : nat := length (hd [] rows).

(* The sum of two fractions, over the least common multiple of their denominators if that is found. *)
Fixpoint divisor (fuel : nat) (a b : Z) : Z :=
  match fuel with O => 1 | S fuel' => if b =? 0 then a else divisor fuel' b (a mod b) end.
Definition plus_frac (x y : frac Z) : frac Z :=
  let g := divisor max_bytes (denom x) (denom y) in
  let a := denom x / g in let b := denom y / g in
  if (a * g =? denom x) && (b * g =? denom y) then Frac (numer x * b + numer y * a) (a * denom y)
  else Frac (numer x * denom y + numer y * denom x) (denom x * denom y).

(* Sequences, written out as contexts and queries. *)
Definition index_of (n : nat) (j : json) : result nat :=
  let* z := int_of j in
  let* _ := need Unusable (between 0 largest_size z && Nat.ltb (Z.to_nat z) n) in Got (Z.to_nat z).
Definition end_of (texts : list (list nat)) (j : json) : result (nat * nat) :=
  match j with
  | Arr [s; i] =>
    let* s := index_of (length texts) s in
    let* i := index_of (length (nth s texts [])) i in Got (s, i)
  | _ => No Unusable
  end.
Definition token_rows (q : sequences Z) (text : list nat) : mat Z :=
  let rows := map (fun x => nth x (embedding q) []) text in
  match positions q with
  | None => rows
  | Some P => map (fun p => map (fun p => plus_frac (fst p) (snd p)) (combine (fst p) (snd p))) (combine rows P)
  end.
Definition written_out (q : sequences Z) : list (mat Z) * mat Z :=
  let rows := map (token_rows q) (texts q) in
  (map (fun p => firstn (S (snd p)) (nth (fst p) rows [])) (ends q), map (fun p => nth (snd p) (nth (fst p) rows []) []) (ends q)).
Definition sequences_of (n T : nat) (embedding positions texts ends : json) : result (sequences Z) :=
  let* E := matrix embedding in let* E := shaped E in
  let* texts := of_list (of_list (index_of (length E))) texts in
  let* ends := of_list (end_of texts) ends in
  let longest := fold_left (fun k p => Nat.max k (S (snd p))) ends 0%nat in
  let* _ := need Unusable (Nat.eqb (length ends) T && Nat.eqb longest n) in
  let* P := if is_null positions then Got None
    else
      let* P := matrix positions in
      let* _ := need Unusable (mat_okb above_0 (length P) (width E) P && forallb (fun text => Nat.leb (length text) (length P)) texts) in
      Got (Some P) in
  Got (Sequences E P texts ends).
Definition with_data (p : parts) (data : list json) (tokens : json) l : parts :=
  Parts (name p) (own_parts p) data (dims p) (saturation_part p) (origin_part p) tokens l.
Definition with_sequences (p : parts) : result parts :=
  match data p, dims p with
  | [embedding; positions; texts; ends; labels], T :: n :: _ =>
    let* _ := need Unusable (is_null (tokens_part p)) in
    let* q := sequences_of n T embedding positions texts ends in
    let (contexts, queries) := written_out q in
    Got (with_data p [null; null; labels] null (Some (q, contexts, queries)))
  | _, _ => Got (with_data p (data p) (tokens_part p) None)
  end.
(* Width of the data, which a layer after blocks need not have. *)
Definition layer_width (p : parts) : nat := nth 2 (dims p) 0%nat.
Definition data_width (p : parts) : nat :=
  match own_parts p, dims p, sequenced p, data p with
  | Arr (_ :: _ :: _) :: _, [_; _; _; _; _; _; _], Some (q, _, _), _ => width (embedding q)
  | Arr (_ :: _ :: _) :: _, [_; _; _; _; _; _; _], None, _ :: Arr (Arr row :: _) :: _ => length row
  | _, _, _, _ => layer_width p
  end.
Definition columns {A} (rows : list (list A)) : list (list A) :=
  fold_right (fun row columns => map (fun p => fst p :: snd p) (combine row columns)) (repeat [] (width rows)) rows.
Definition without_bias (rows : mat Z) : mat Z := columns (rows ++ [repeat (Frac 0 1) (width rows)]).

(* The heads of a block, each with its rows of the output. *)
Fixpoint parts_of (heads : list (list json)) (output : mat Z) : result (list (part (mat Z))) :=
  match heads with
  | [] => let* _ := need Unusable (Nat.eqb (length output) 0) in Got []
  | [key; query; value] :: r =>
    let* K := matrix key in let* K := shaped K in
    let* Q := matrix query in let* Q := shaped Q in
    let* V := matrix value in let* V := shaped V in
    let* _ := need Unusable (Nat.eqb (width K) (width Q) && Nat.leb (width V) (length output)) in
    let* rest := parts_of r (skipn (width V) output) in
    Got (Part (without_bias K) (without_bias Q) (without_bias V) (without_bias (firstn (width V) output)) :: rest)
  | _ => No Unusable
  end.
Definition mask_row (j : json) : result (list bool) :=
  let* row := of_list int_of j in
  let* _ := need Unusable (forallb (between 0 1) row && existsb (Z.eqb 1) row) in Got (map (Z.eqb 1) row).
Definition mask_of (j : json) : result mask :=
  if is_null j then Got Everything else if is_text causal j then Got Causal
  else let* rows := of_list mask_row j in Got (Rows rows).
Definition rule_of (rule logit_unit : json) : result Blocks.rule :=
  let* weigh := chosen rule_names rule in
  match weigh with
  | Softmax _ => let* in_ln_2 := chosen unit_names logit_unit in Got (Softmax in_ln_2)
  | _ => let* _ := need Unusable (is_null logit_unit) in Got weigh
  end.
Definition block_of (j : json) : result (block (mat Z)) :=
  let* kind := match j with Obj pairs => lookup pairs (codes "kind") | _ => No Unusable end in
  if is_text attention kind then
    let* values := fields keys_attention j in
    match values with
    | [_; of; rule; logit_unit; Arr heads; output; mask; residual] =>
      let* residual := bool_of residual in
      let* of := chosen reach_names of in
      let* weigh := rule_of rule logit_unit in
      let* _ := need Unusable (negb (Nat.eqb (length heads) 0)) in
      let* heads := each (fields keys_head) heads in
      let* output := matrix output in
      let* output := shaped output in
      let* parts := parts_of heads output in
      let* seen := mask_of mask in Got (Attention of weigh parts seen residual)
    | _ => No Unusable
    end
  else
    let* _ := need Unusable (is_text feed_forward kind) in
    let* values := fields keys_feed_forward j in
    match values with
    | [_; of; act; weights; bias; residual] =>
      let* residual := bool_of residual in
      let* of := chosen ((whole_row, OfRow) :: reach_names) of in
      let* act := chosen activation_names act in
      let* weights := matrix weights in
      let* bias := vector bias in
      let* rows := shaped (weights ++ [bias]) in Got (FeedForward of act (columns rows) residual)
    | _ => No Unusable
    end.

(* The last block, which is a layer: the blocks before it, the heads and the output. In full-rank output and values are
   null. *)
Definition opened_layer (readout : bool) (in_unit : text) (network : json) : result (list (block (mat Z)) * list json * option json) :=
  let* (block, before) := match network with
    | Arr blocks => match rev_append blocks [] with last :: before => Got (last, rev_append before []) | [] => No Unusable end
    | _ => No Unusable
    end in
  let* values := fields keys_attention block in
  match values with
  | [kind; of; rule; logit_unit; Arr heads; output; mask; residual] =>
    let* _ := need Unusable (is_text attention kind && is_text of_query of && is_text softmax_rule rule &&
      is_text in_unit logit_unit && is_null mask && is_false residual && Bool.eqb readout (negb (is_null output))) in
    let* before := each block_of before in
    Got (before, heads, if readout then Some output else None)
  | _ => No Unusable
  end.

(* The matrices of a head. *)
Definition opened_head (readout : bool) (j : json) : result (list json) :=
  let* values := fields keys_head j in
  match values with
  | [key; query; value] => if readout then Got values else let* _ := need Unusable (is_null value) in Got [key; query]
  | _ => No Unusable
  end.
Definition head_of (values : list json) : result (head Z) :=
  match values with
  | key :: query :: value =>
    let* K := matrix key in let* Q := matrix query in
    let* V := match value with [v] => matrix v | _ => Got [] end in Got (Head K Q V)
  | _ => No Unusable
  end.

(* The groups hold each example once, and none is empty. *)
Definition grouped (T : nat) (j : json) : result (list (list nat)) :=
  let* groups := of_list (of_list int_of) j in
  let members := fold_left (fun done g => rev_append g done) groups [] in
  let* _ := need Over (Nat.leb T longest_list) in
  let* _ := need Wrong (at_most T members && forallb (fun g => negb (Nat.eqb (length g) 0%nat)) groups &&
    Nat.eqb (length members) T && each_once T members) in Got (map (map Z.to_nat) groups).

(* The contexts: all with n rows, or with as many as tokens says, n of them at most. *)
Fixpoint same_counts (x y : list nat) : bool :=
  match x, y with [], [] => true | a :: x', b :: y' => Nat.eqb a b && same_counts x' y' | _, _ => false end.
Definition counts_of (p : parts) : result (option (list nat)) :=
  match sequenced p with
  | Some (_, contexts, _) =>
    let counts := map (fun M => length M) contexts in
    Got (if forallb (Nat.eqb (hd 0%nat counts)) counts then None else Some counts)
  | None =>
    if is_null (tokens_part p) then Got None else let* counts := of_list size_of (tokens_part p) in Got (Some counts)
  end.
Definition contexts_of (p : parts) (T n : nat) (j : json) : result (list (mat Z)) :=
  let* contexts := of_list matrix j in
  let* counts := counts_of p in
  let lengths := map (fun M => length M) contexts in
  let* _ := need Unusable
    match counts with
    | None => forallb (Nat.eqb n) lengths
    | Some counts => Nat.eqb (length counts) T && same_counts lengths counts && forallb (fun k => Nat.leb k n) counts &&
        existsb (Nat.eqb n) counts && existsb (fun k => Nat.ltb k n) counts
    end in
  Got contexts.

(* Contexts and queries. *)
Definition inputs_of (p : parts) : result (list (mat Z) * mat Z) :=
  match sequenced p, data p, dims p with
  | Some (_, contexts, queries), _, _ => Got (contexts, queries)
  | None, contexts :: queries :: _, T :: n :: _ =>
    let* contexts := contexts_of p T n contexts in
    let* queries := matrix queries in Got (contexts, queries)
  | _, _, _ => No Unusable
  end.

(* Data and sizes, with these heads and this output. *)
Definition with_heads (p : parts) (heads : list (head Z)) (output : mat Z) : result (cert Z) :=
  match data p, dims p with
  | [_; _; labels], T :: n :: _ :: m :: layer =>
    let* (contexts, queries) := inputs_of p in
    let* labels := matrix labels in
    let '(H, dk, dv) := match layer with [H; dk; dv] => (H, dk, dv) | _ => (0, 0, 0)%nat end in
    Got (Cert T n (data_width p) m H dk dv contexts queries labels heads output)
  | _, _ => No Unusable
  end.

(* [first] is read after the keys and before the numbers of the heads. *)
Definition layer_of {A} (readout : bool) (in_unit : text) (network : json) (first : result A) (p : parts) : result (list (block (mat Z)) * A * cert Z) :=
  let* (before, heads, output) := opened_layer readout in_unit network in
  let* heads := each (opened_head readout) heads in
  let* a := first in
  let* heads := each head_of heads in
  let* output := match output with Some o => matrix o | None => Got [] end in
  let* c := with_heads p heads output in
  let d := layer_width p in
  let* _ := need Unusable (inputs_okb above_0 c && heads_okb above_0 d c && (negb readout || values_okb above_0 d c)) in Got (before, a, c).

(* Saturation speaks of the groups, which are behind the layer. *)
Definition saturation_of (p : parts) : result (option saturation) :=
  if is_null (saturation_part p) then Got None
  else
    let* told := fields keys_saturation (saturation_part p) in
    match told, own_parts p, dims p with
    | [bits; own], _ :: groups :: _, T :: _ :: _ :: _ :: H :: _ =>
      let* bits := int_of bits in
      let* _ := need Unusable (between 1 largest_size bits) in
      let* own := bool_of own in
      let* groups := grouped T groups in
      let* _ := need Wrong (Nat.leb (length groups) H) in Got (Some (Saturation bits own groups))
    | _, _, _ => No Unusable
    end.

(* The groups, and what is said of saturation: both are read before numbers. *)
Definition steering_of (p : parts) (groups : json) : result (option saturation) :=
  let* _ := grouped (nth 0 (dims p) 0%nat) groups in saturation_of p.

Definition interpolation_of (p : parts) : result claim :=
  match own_parts p with
  | [network; groups] =>
    let* (before, _, c) := layer_of true ln_2 network (steering_of p groups) p in Got (Interpolation before c)
  | _ => No Unusable
  end.
(* As many distinct weights as outputs, numbered from 0. *)
Fixpoint distinct_numbers (l : list Z) : bool :=
  match l with [] => true | i :: r => negb (existsb (Z.eqb i) r) && distinct_numbers r end.
Definition unknowns_of (p : parts) (l : list Z) : result (list nat) :=
  match dims p with
  | [T; _; d; m; H; dk; dv] =>
    let z := Z.of_nat in
    let weights := z H * (2 * (z d * z dk) + z d * z dv + z dv * z m) in
    let* _ := need Over (at_most longest_list l) in
    let* _ := need Wrong (Nat.eqb (length l) (T * m) && forallb (between 0 (weights - 1)) l && distinct_numbers l) in
    let* _ := need Unusable (forallb (between 0 largest_size) l) in Got (map Z.to_nat l)
  | _ => No Unusable
  end.
Definition near_of (p : parts) : result claim :=
  match own_parts p with
  | [network; near] =>
    let box_of :=
      let* parts := fields keys_box near in
      match parts with
      | [radius; unknowns; inverse] =>
        let* radius := number_of radius in
        let* _ := need Wrong (0 <? numer radius) in
        let* unknowns := of_list int_of unknowns in
        let* unknowns := unknowns_of p unknowns in Got (radius, unknowns, inverse)
      | _ => No Unusable
      end in
    let* (before, (radius, unknowns, inverse), c) := layer_of true unit_1 network box_of p in
    let* inverse := matrix inverse in
    let N := (dimT c * dimm c)%nat in
    let* _ := need Unusable (mat_okb above_0 N N inverse && (0 <? denom radius)) in
    Got (InterpolationNear before radius unknowns inverse c)
  | _ => No Unusable
  end.
(* A layer, and the prime modulo which so many rows are said to be independent. *)
Definition ranked_of (readout : bool) (rows : Z) (p : parts) : result (list (block (mat Z)) * Z * cert Z) :=
  match own_parts p with
  | [network; groups; rank] =>
    let* (before, _, c) := layer_of readout ln_2 network (steering_of p groups) p in
    let* parts := fields keys_rank rank in
    match parts with
    | [prime; rank] =>
      let* q := number_of prime in
      let* _ := need Wrong ((denom q =? 1) && odd_prime (numer q)) in
      let* rank := int_of rank in
      let* _ := need Wrong (rank =? rows) in Got (before, numer q, c)
    | _ => No Unusable
    end
  | _ => No Unusable
  end.
Definition size_at (p : parts) (i : nat) : Z := Z.of_nat (nth i (dims p) 0%nat).
Definition full_rank_of (p : parts) : result claim :=
  let* (before, prime, c) := ranked_of false (size_at p 0) p in Got (FullRank before prime c).
Definition every_labelling_of (p : parts) : result claim :=
  let* (before, prime, c) := ranked_of true (size_at p 0 * size_at p 3) p in Got (EveryLabelling before prime c).
Definition dependent_set_of (p : parts) : result claim :=
  match own_parts p, data p, dims p with
  | [relation], [vectors], [N; d] =>
    let* _ := need Unusable (match sequenced p with None => true | Some _ => false end) in
    let* parts := fields keys_dependence relation in
    match parts with
    | [indices; coefficients] =>
      let* indices := of_list int_of indices in
      let* _ := need Wrong (negb (Nat.eqb (length indices) 0%nat) && each_once N indices) in
      let* coefficients := vector coefficients in
      let* _ := need Unusable (Nat.eqb (length coefficients) (length indices)) in
      let* vectors := matrix vectors in
      let* _ := need Unusable (mat_okb above_0 N d vectors) in
      Got (DependentSet N d vectors (map Z.to_nat indices) coefficients)
    | _ => No Unusable
    end
  | _, _, _ => No Unusable
  end.
Definition impossible_of (p : parts) : result claim :=
  match own_parts p with
  | [relation] =>
    let* relation := vector relation in
    let* _ := need Unusable (Nat.eqb (length relation) (nth 0 (dims p) 0%nat)) in
    let* c := with_heads p [] [] in
    let* _ := need Unusable (inputs_okb above_0 c) in Got (Impossible relation c)
  | _ => No Unusable
  end.
Definition blocks_of (network : json) (p : parts) : result (list (block (mat Z)) * cert Z) :=
  let* blocks := of_list block_of network in
  let* _ := need Unusable (negb (Nat.eqb (length blocks) 0)) in
  let* c := with_heads p [] [] in
  let* _ := need Unusable (inputs_okb above_0 c) in Got (blocks, c).
Definition network_of (p : parts) : result claim :=
  match own_parts p with
  | [network] => let* (blocks, c) := blocks_of network p in Got (Network blocks c)
  | _ => No Unusable
  end.
Definition outputs_within_of (p : parts) : result claim :=
  match own_parts p with
  | [network; most] =>
    let* most := number_of most in
    let* _ := need Unusable ((0 <? numer most) && (0 <? denom most)) in
    let* (blocks, c) := blocks_of network p in Got (OutputsWithin most blocks c)
  | _ => No Unusable
  end.
Definition nearest_of (p : parts) : result claim :=
  match own_parts p with
  | [network; nearest] =>
    let* values := fields keys_margin nearest in
    match values with
    | [margin] =>
      let* margin := number_of margin in
      let* _ := need Unusable ((0 <? numer margin) && (0 <? denom margin)) in
      let* (blocks, c) := blocks_of network p in Got (Nearest margin blocks c)
    | _ => No Unusable
    end
  | _ => No Unusable
  end.

(* Independent rows of a network, which is softmax and affine blocks; the last one reads out. The primes are one more than the
   blocks of attention, each twice the next and 1. *)
Definition differentiable (b : block (mat Z)) : bool :=
  match b with
  | Attention _ (Softmax true) _ (Everything | Causal) _ | FeedForward (OfQuery | OfAll) (Identity | Relu) _ _ => true
  | _ => false
  end.
Definition reads_out (b : block (mat Z)) : bool := match b with Attention OfQuery _ _ _ false => true | _ => false end.
Definition attention_blocks (blocks : list (block (mat Z))) : nat :=
  length (filter (fun b => match b with Attention _ _ _ _ _ => true | FeedForward _ _ _ _ => false end) blocks).
Fixpoint chain (primes : list Z) : bool :=
  match primes with [p] => p mod 4 =? 3 | p :: (q :: _) as r => (p =? 2 * q + 1) && chain r | [] => false end.
Definition is_group (j : json) : bool :=
  match j with Obj pairs => match lookup pairs (codes "kind") with Got kind => is_text group_kind kind | No _ => false end | _ => false end.
Inductive rows_of := OfJacobian | OfJacobianAtZero | OfFeatures.
Definition rows_names := [(codes "jacobian", OfJacobian); (codes "jacobian at zero", OfJacobianAtZero); (codes "features", OfFeatures)].
Definition network_rank_of (p : parts) : result claim :=
  match own_parts p with
  | [network; rank] =>
    let* _ := need Unusable (is_null (origin_part p)) in
    let* values := fields keys_network_rank rank in
    match values with
    | [of; primes; slope; value] =>
      let* of := chosen rows_names of in
      let* _ := need Over (match network with Arr l => negb (existsb is_group l) | _ => true end) in
      let* blocks := of_list block_of network in
      let* _ := need Unusable (forallb differentiable blocks && match blocks with [] => false | b :: r => reads_out (last r b) end) in
      let* primes := vector primes in
      let* _ := need Unusable (Nat.eqb (length primes) (S (attention_blocks blocks))) in
      let* _ := need Wrong (forallb (fun q => (denom q =? 1) && odd_prime (numer q)) primes && chain (map numer primes)) in
      let* slope := number_of slope in
      let* _ := need Unusable (denom slope =? 1) in
      let* c := with_heads p [] [] in
      let* _ := need Unusable (inputs_okb above_0 c) in
      let* value := int_of value in
      let* _ := need Wrong (value =? Z.of_nat (match of with OfFeatures => dimT c | _ => dimT c * dimm c end)%nat) in
      match of with
      | OfJacobian => Got (Jacobian (map numer primes) (numer slope) blocks c)
      | OfJacobianAtZero => Got (JacobianAtZero (map numer primes) (numer slope) blocks c)
      | OfFeatures => Got (Features (map numer primes) (numer slope) blocks c)
      end
    | _ => No Unusable
    end
  | _ => No Unusable
  end.

Definition content (p : parts) : result claim :=
  if same (name p) claim_interpolation then interpolation_of p
  else if same (name p) claim_full_rank then full_rank_of p
  else
    let* _ := need Unusable (is_null (saturation_part p)) in
    if same (name p) claim_every then every_labelling_of p
    else if same (name p) claim_near then near_of p
    else if same (name p) claim_dependent_set then let* _ := need Unusable (is_null (tokens_part p)) in dependent_set_of p
    else if same (name p) claim_network then network_of p
    else if same (name p) claim_outputs_within then outputs_within_of p
    else if same (name p) claim_rank then network_rank_of p
    else if same (name p) nearest_key then nearest_of p
    else impossible_of p.

(* Equal labels, text by text, whatever stands there. *)
Fixpoint same_json (x y : json) : bool :=
  match x, y with
  | Literal i, Literal j => Nat.eqb i j
  | Int a, Int b => a =? b
  | Str i, Str j => same (text_at f i) (text_at f j)
  | Arr l, Arr r => (fix all l r := match l, r with [], [] => true | a :: l', b :: r' => same_json a b && all l' r' | _, _ => false end) l r
  | Obj l, Obj r => Nat.eqb (length l) (length r) &&
      (fix all l := match l with
        | [] => true
        | (k, a) :: l' => existsb (fun q => same (text_at f k) (text_at f (fst q)) && same_json a (snd q)) r && all l'
        end) l
  | _, _ => false
  end.

(* [test] judges the entries of the contexts before the queries are read: its no is [Wrong]. What is read does not
   depend on it. *)
Definition of_kind (kind : text) (p : parts) : bool :=
  match origin_part p with
  | Obj pairs => match lookup pairs kind_key with Got j => is_text kind j | No _ => false end
  | _ => false
  end.
Definition rounding_of (test : frac Z -> list (frac Z * frac Z) -> bool) (p : parts) : result (option (rounding Z)) :=
  if is_null (origin_part p) || of_kind domain_kind p then Got None
  else
    let* _ := need Unusable (of_kind rounded_kind p) in
    let* told := fields keys_rounded (origin_part p) in
    match told, data p, dims p with
    | [_; grid; change; before], [contexts; queries; labels], T :: n :: _ =>
      let d := data_width p in
      let* before := fields keys_inputs before in
      let* grid := number_of grid in
      let* change := number_of change in
      let* _ := need Unusable (0 <? numer grid) in
      match before with
      | [old_contexts; old_queries; old_labels] =>
        let* _ := need Wrong (same_json old_labels labels) in
        let read_contexts found :=
          let* contexts := found in
          let* _ := need Unusable ((Nat.eqb (length contexts) 1 || Nat.eqb (length contexts) T) &&
            forallb (fun M => mat_okb above_0 (length M) d M) contexts) in
          Got contexts in
        let* old := read_contexts (contexts_of p T n old_contexts) in
        let* new := read_contexts match sequenced p with Some (_, contexts, _) => Got contexts | None => contexts_of p T n contexts end in
        let* _ := need Wrong (Nat.eqb (length old) (length new)) in
        let entries := contexts_beside old new [] in
        let* _ := need Wrong (test grid entries) in
        let read_queries found := let* found := found in let* _ := need Unusable (mat_okb above_0 T d found) in Got found in
        let* old := read_queries (matrix old_queries) in
        let* new := read_queries match sequenced p with Some (_, _, queries) => Got queries | None => matrix queries end in
        Got (Some (Rounding grid change (rows_beside old new entries)))
      | _ => No Unusable
      end
    | _, _, _ => No Unusable
    end.

(* A domain, with contexts and queries of the data. *)
Definition domain_of (p : parts) : result (option (domain Z * list (mat Z) * mat Z)) :=
  if negb (of_kind domain_kind p) then Got None
  else
    let* told := fields keys_domain (origin_part p) in
    match told, data p, dims p with
    | [_; Arr every; Arr all], [_; _; _], T :: _ =>
      let d := data_width p in
      let* _ := need Unusable (forallb (fun j => match j with Arr _ | Obj _ | Str _ => true | _ => false end) every) in
      let* _ := need Wrong (Nat.eqb (length every * length all) T) in
      let* (contexts, queries) := inputs_of p in
      let* every := each matrix every in
      let* all := each vector all in
      let fits := forallb (fun M => mat_okb above_0 (length M) d M) in
      let* _ := need Unusable (fits contexts && mat_okb above_0 T d queries && fits every && mat_okb above_0 (length all) d all) in
      Got (Some (Domain every all, contexts, queries))
    | _, _, _ => No Unusable
    end.

(* The certificate in a file. *)
Definition read : result certificate :=
  let* doc := document f in
  let* p := opened doc in
  let* p := with_sequences p in
  let* r := rounding_of (fun _ _ => true) p in
  let* D := domain_of p in
  let* x := content p in
  let* s := saturation_of p in
  Got (Certificate x s r (option_map (fun l => fst (fst l)) (sequenced p)) (option_map (fun l => fst (fst l)) D)).
End Reading.
