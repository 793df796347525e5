(* Compares a certificate's digests with its content, written in the canonical form of docs/certificate.md: keys are
   sorted, there is no white space, and all characters outside ASCII are escaped. This file is not verified, and no
   claim rests on it. *)
module ZZ = Z
open Checker

let characters_at file start =
  match characters file true file.size start [] with Got (text, _) -> List.map ZZ.to_int text | No _ -> []

let write_text sha file text start =
  (* text without escapes is fed in one piece *)
  let rec plain i = match text.[i] with '"' -> Some i | ' ' .. '~' as c when c <> '\\' -> plain (i + 1) | _ -> None in
  Sha256.add sha "\"";
  (match plain start with
   | Some stop -> Sha256.feed sha text start (stop - start)
   | None ->
     let unit u = Sha256.add sha (Printf.sprintf "\\u%04x" u) in
     List.iter (fun c ->
         match c with
         | 34 -> Sha256.add sha "\\\"" | 92 -> Sha256.add sha "\\\\" | 10 -> Sha256.add sha "\\n"
         | 13 -> Sha256.add sha "\\r" | 9 -> Sha256.add sha "\\t" | 12 -> Sha256.add sha "\\f" | 8 -> Sha256.add sha "\\b"
         | c when c >= 32 && c < 127 -> Sha256.add sha (String.make 1 (Char.chr c))
         | c when c < 0x10000 -> unit c
         | c -> unit (0xD800 + ((c - 0x10000) lsr 10)); unit (0xDC00 + ((c - 0x10000) land 0x3ff)))
       (characters_at file start));
  Sha256.add sha "\""

let rec write sha file text = function
  | Literal k -> Sha256.add sha (List.nth ["null"; "false"; "true"] k)
  | Int z -> Sha256.add sha (ZZ.to_string z)
  | Str start -> write_text sha file text start
  | Arr items ->
    Sha256.add sha "[";
    List.iteri (fun i item -> if i > 0 then Sha256.add sha ","; write sha file text item) items;
    Sha256.add sha "]"
  | Obj pairs ->
    let sorted = List.sort (fun (a, _, _) (b, _, _) -> compare a b) (List.map (fun (k, v) -> characters_at file k, k, v) pairs) in
    Sha256.add sha "{";
    List.iteri (fun i (_, key, v) ->
        if i > 0 then Sha256.add sha ",";
        write_text sha file text key;
        Sha256.add sha ":";
        write sha file text v) sorted;
    Sha256.add sha "}"

let digest file text value = let sha = Sha256.fresh () in write sha file text value; Sha256.finish sha

let codes name = List.init (String.length name) (fun i -> Char.code name.[i])
let pairs_of = function Obj pairs -> pairs | _ -> []
let key file name = let codes = codes name in fun (k, _) -> characters_at file k = codes

(* Whether the certificate names another format. *)
let other_format file doc =
  match List.find_opt (key file "format") (pairs_of doc) with
  | Some (_, Str start) -> characters_at file start <> codes "attncert/3"
  | _ -> true

(* [stale file text doc]: the first of "digest" and "input_sha256" that differs from the digest of the content. *)
let stale file text doc =
  let pairs = pairs_of doc and key = key file in
  let value name = snd (List.find (key name) pairs) in
  let given name = match value name with Str start -> characters_at file start | _ -> [] in
  let is name fresh = given name = List.init 64 (fun i -> Char.code fresh.[i]) in
  if not (is "digest" (digest file text (Obj (List.filter (fun p -> not (key "digest" p)) pairs)))) then Some "digest"
  else if not (is "input_sha256" (digest file text (value "data"))) then Some "input_sha256"
  else None
