------------------------------ MODULE Redlock ------------------------------
(***************************************************************************)
(* One lock on three independent nodes: claims in two rounds, leases,      *)
(* late and lost messages, clients that stand still, nodes that restart    *)
(* with and without their memory, clocks that jump, undo and retry.        *)
(*                                                                         *)
(* How to read it. A client runs one attempt after the other. An attempt   *)
(* sends its claim to all nodes (round 1); a node that is free grants it   *)
(* with a number of its own. The largest number of a majority becomes the  *)
(* token, and is written back (round 2) to the nodes that granted it. A    *)
(* majority of those writes makes the attempt a hold.                      *)
(*                                                                         *)
(* What is left out, and why nothing is lost by it. A request reaches a    *)
(* node at any moment of its round, or never; one that a node refuses      *)
(* changes nothing, and is not shown. A reply arrives at once or never:    *)
(* one that is late is one that the client did without, since it may give  *)
(* up, or go on with any majority, at any moment. A pause is a client that *)
(* does nothing while time passes. Numbers do not follow a clock here,     *)
(* which makes it harder for tokens to rise.                               *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Clients,     \* who wants the lock; model values
  Attempts,    \* how many attempts each of them makes
  Lease,       \* ticks that a grant lasts
  LastTick,    \* when time stops
  Restarts,    \* how many nodes may restart in a run
  Restartable, \* which ones: 1 and 2 are alike
  Jumps,       \* how often a node's clock may jump, ending its grant
  Lost,        \* how many undos may be lost or overtake their claim
  \* The variants: TRUE as it is built, FALSE as it is broken.
  TwoRounds,   \* the token is written back
  ToGranters,  \* only nodes that granted it, and still do, count for the write-back
  Quarantine,  \* a node that lost its memory does not vote at once
  Undo,        \* a failed attempt is undone on all nodes
  CheckValid   \* the lease is looked at after the rounds

Nodes == 1..3
Majority == 2
Nobody == 0
Max(S) == CHOOSE x \in S : \A y \in S : y <= x
Symmetry == Permutations(Clients)

VARIABLES
  now,
  \* Of a node: whose grant, its number and its end; the last number of all; whether it votes, and
  \* since when it may vote again (-1: nobody has said yet).
  holder, num, end, cnt, ready, opens,
  \* Of a client. The phase is "idle", "claim", "confirm" or "hold".
  phase, left, sent, got, token, ok, until, renewed,
  \* Claims that will arrive after their undo: <<client, node>>.
  stray,
  \* What an observer has seen: the largest token of the holds that are over, all tokens, the largest
  \* one that was won before the attempt of a client began, and what was wrong with them.
  ended, won, floor, wrong,
  restarts, jumps, lost

nodeVars == <<holder, num, end, cnt, ready, opens>>
clientVars == <<phase, left, sent, got, token, ok, until, renewed>>
seenVars == <<ended, won, floor, wrong>>
faultVars == <<restarts, jumps, lost>>
vars == <<now, nodeVars, clientVars, stray, seenVars, faultVars>>

Init ==
  /\ now = 0
  /\ holder = [n \in Nodes |-> Nobody] /\ num = [n \in Nodes |-> 0] /\ end = [n \in Nodes |-> 0]
  \* One node has counted further: attempts that failed have been there.
  /\ cnt = [n \in Nodes |-> IF n = 3 THEN 5 ELSE 0]
  /\ ready = [n \in Nodes |-> TRUE] /\ opens = [n \in Nodes |-> 0]
  /\ phase = [c \in Clients |-> "idle"] /\ left = [c \in Clients |-> Attempts]
  /\ sent = [c \in Clients |-> 0] /\ got = [c \in Clients |-> {}]
  /\ token = [c \in Clients |-> 0] /\ ok = [c \in Clients |-> {}]
  /\ until = [c \in Clients |-> 0] /\ renewed = [c \in Clients |-> FALSE]
  /\ stray = {}
  /\ ended = 0 /\ won = {} /\ floor = [c \in Clients |-> 0] /\ wrong = {}
  /\ restarts = 0 /\ jumps = 0 /\ lost = 0

Free(n) == holder[n] = Nobody

------------------------------------------------------------------------------
(* Round 1. *)

Start(c) ==
  /\ phase[c] = "idle" /\ left[c] > 0
  /\ phase' = [phase EXCEPT ![c] = "claim"]
  /\ left' = [left EXCEPT ![c] = @ - 1]
  /\ sent' = [sent EXCEPT ![c] = now]
  /\ floor' = [floor EXCEPT ![c] = Max(won \cup {0})]
  /\ UNCHANGED <<now, nodeVars, got, token, ok, until, renewed, stray, ended, won, wrong, faultVars>>

(* The claim arrives at a node that is free. The client hears of it, or not. *)
Claimed(c, n) ==
  /\ phase[c] = "claim" /\ ready[n] /\ Free(n) /\ \A pair \in got[c] : pair[1] # n
  /\ holder' = [holder EXCEPT ![n] = c]
  /\ num' = [num EXCEPT ![n] = cnt[n] + 1]
  /\ cnt' = [cnt EXCEPT ![n] = @ + 1]
  /\ end' = [end EXCEPT ![n] = now + Lease]
  /\ got' = [got EXCEPT ![c] = @ \cup {<<n, cnt[n] + 1>>}]
  /\ UNCHANGED <<now, ready, opens, phase, left, sent, token, ok, until, renewed, stray, seenVars,
                 faultVars>>

(* Round 2, with the numbers of any majority: the client may have missed the others. *)
SecondRound(c) ==
  /\ phase[c] = "claim"
  /\ CheckValid => now < sent[c] + Lease
  /\ \E chosen \in SUBSET got[c] :
       /\ Cardinality(chosen) >= Majority
       /\ token' = [token EXCEPT ![c] = Max({pair[2] : pair \in chosen})]
       /\ got' = [got EXCEPT ![c] = chosen]
       /\ ok' = [ok EXCEPT ![c] = IF TwoRounds THEN {} ELSE {pair[1] : pair \in chosen}]
  /\ phase' = [phase EXCEPT ![c] = "confirm"]
  /\ UNCHANGED <<now, nodeVars, left, sent, until, renewed, stray, seenVars, faultVars>>

(* Written back under a check of the owner and of the number that this node gave it. *)
Confirmed(c, n) ==
  /\ phase[c] = "confirm" /\ TwoRounds /\ n \notin ok[c]
  /\ LET own == holder[n] = c /\ <<n, num[n]>> \in got[c]
     IN /\ ToGranters => own
        /\ end' = IF own THEN [end EXCEPT ![n] = now + Lease] ELSE end
  /\ cnt' = [cnt EXCEPT ![n] = Max({@, token[c]})]
  /\ ok' = [ok EXCEPT ![c] = @ \cup {n}]
  /\ UNCHANGED <<now, holder, num, ready, opens, phase, left, sent, got, token, until, renewed,
                 stray, seenVars, faultVars>>

Win(c) ==
  /\ phase[c] = "confirm" /\ Cardinality(ok[c]) >= Majority
  /\ CheckValid => now < sent[c] + Lease
  /\ phase' = [phase EXCEPT ![c] = "hold"]
  /\ until' = [until EXCEPT ![c] = IF CheckValid THEN sent[c] + Lease ELSE now + Lease]
  /\ got' = [got EXCEPT ![c] = {}] /\ ok' = [ok EXCEPT ![c] = {}] /\ sent' = [sent EXCEPT ![c] = 0]
  /\ won' = won \cup {token[c]} /\ floor' = [floor EXCEPT ![c] = 0]
  /\ wrong' = wrong
       \cup (IF token[c] <= ended THEN {"below a hold that had ended"} ELSE {})
       \cup (IF token[c] <= floor[c] THEN {"below a hold that was won before"} ELSE {})
       \cup (IF token[c] \in won THEN {"twice"} ELSE {})
  /\ UNCHANGED <<now, nodeVars, left, token, renewed, stray, ended, faultVars>>

(* All nodes are asked; those that are reached renew, and those without memory take the grant. *)
Renew(c) ==
  /\ phase[c] = "hold" /\ ~renewed[c] /\ now < until[c]
  /\ \E reached \in SUBSET Nodes :
       LET takers == {n \in reached : holder[n] = c \/ (~ready[n] /\ Free(n))}
       IN /\ takers = reached /\ Cardinality(takers) >= Majority
          /\ holder' = [n \in Nodes |-> IF n \in takers THEN c ELSE holder[n]]
          /\ num' = [n \in Nodes |-> IF n \in takers THEN token[c] ELSE num[n]]
          /\ end' = [n \in Nodes |-> IF n \in takers THEN now + Lease ELSE end[n]]
          /\ cnt' = [n \in Nodes |-> IF n \in takers THEN Max({cnt[n], token[c]}) ELSE cnt[n]]
  /\ until' = [until EXCEPT ![c] = now + Lease]
  /\ renewed' = [renewed EXCEPT ![c] = TRUE]
  /\ UNCHANGED <<now, ready, opens, phase, left, sent, got, token, ok, stray, seenVars, faultVars>>

(* Gives up, or releases: undone on all nodes, whatever they answered, but for undos that get lost or
   overtake the claim. *)
Leave(c) ==
  /\ phase[c] \in {"claim", "confirm", "hold"}
  /\ \E missed \in {S \in SUBSET Nodes : lost + Cardinality(S) <= Lost} :
       LET undone == IF Undo \/ phase[c] = "hold" THEN Nodes \ missed ELSE {}
           freed == {n \in undone : holder[n] = c}
       IN /\ holder' = [n \in Nodes |-> IF n \in freed THEN Nobody ELSE holder[n]]
          /\ num' = [n \in Nodes |-> IF n \in freed THEN 0 ELSE num[n]]
          /\ end' = [n \in Nodes |-> IF n \in freed THEN 0 ELSE end[n]]
          /\ lost' = lost + Cardinality(missed)
          /\ stray' = stray \cup {<<c, n>> : n \in {m \in missed : holder[m] # c}}
  /\ phase' = [phase EXCEPT ![c] = "idle"]
  /\ ended' = IF phase[c] = "hold" THEN Max({ended, token[c]}) ELSE ended
  /\ until' = [until EXCEPT ![c] = 0] /\ sent' = [sent EXCEPT ![c] = 0]
  /\ got' = [got EXCEPT ![c] = {}] /\ ok' = [ok EXCEPT ![c] = {}]
  /\ token' = [token EXCEPT ![c] = 0] /\ renewed' = [renewed EXCEPT ![c] = FALSE]
  /\ floor' = [floor EXCEPT ![c] = 0]
  /\ UNCHANGED <<now, cnt, ready, opens, left, won, wrong, restarts, jumps>>

(* A claim arrives whose attempt is over. Nobody undoes it but time. *)
Stray(c, n) ==
  /\ <<c, n>> \in stray /\ stray' = stray \ {<<c, n>>}
  /\ ready[n] /\ Free(n)
  /\ holder' = [holder EXCEPT ![n] = c]
  /\ num' = [num EXCEPT ![n] = cnt[n] + 1] /\ cnt' = [cnt EXCEPT ![n] = @ + 1]
  /\ end' = [end EXCEPT ![n] = now + Lease]
  /\ UNCHANGED <<now, ready, opens, clientVars, seenVars, faultVars>>

------------------------------------------------------------------------------
(* What happens to nodes. *)

(* A restart, with its memory or without. *)
Restart(n) ==
  /\ n \in Restartable /\ restarts < Restarts /\ restarts' = restarts + 1
  /\ \E keeps \in BOOLEAN :
       /\ holder' = IF keeps THEN holder ELSE [holder EXCEPT ![n] = Nobody]
       /\ num' = IF keeps THEN num ELSE [num EXCEPT ![n] = 0]
       /\ end' = IF keeps THEN end ELSE [end EXCEPT ![n] = 0]
       /\ cnt' = IF keeps THEN cnt ELSE [cnt EXCEPT ![n] = 0]
  /\ ready' = [ready EXCEPT ![n] = ~Quarantine]
  /\ opens' = [opens EXCEPT ![n] = IF Quarantine THEN -1 ELSE 0]
  /\ UNCHANGED <<now, clientVars, stray, seenVars, jumps, lost>>

Others(n) == Nodes \ {n}

(* A majority that remembers says how long the grants that it knows of still run. *)
Survey(n) ==
  /\ ~ready[n] /\ opens[n] = -1 /\ \A m \in Others(n) : ready[m]
  /\ opens' = [opens EXCEPT ![n] = Max({now} \cup {end[m] : m \in Others(n)})]
  /\ UNCHANGED <<now, holder, num, end, cnt, ready, clientVars, stray, seenVars, faultVars>>

(* That time has passed; the node takes over the largest number of that majority, and votes. *)
Admit(n) ==
  /\ ~ready[n] /\ opens[n] >= 0 /\ now >= opens[n] /\ \A m \in Others(n) : ready[m]
  /\ cnt' = [cnt EXCEPT ![n] = Max({cnt[m] : m \in Nodes})]
  /\ ready' = [ready EXCEPT ![n] = TRUE] /\ opens' = [opens EXCEPT ![n] = 0]
  /\ UNCHANGED <<now, holder, num, end, clientVars, stray, seenVars, faultVars>>

(* The clock of a node jumps forward: its grant is over before its time. *)
Jump(n) ==
  /\ jumps < Jumps /\ jumps' = jumps + 1
  /\ ~Free(n) /\ holder' = [holder EXCEPT ![n] = Nobody]
  /\ num' = [num EXCEPT ![n] = 0] /\ end' = [end EXCEPT ![n] = 0]
  /\ UNCHANGED <<now, cnt, ready, opens, clientVars, stray, seenVars, restarts, lost>>

(* Grants end at nodes, and holds end, whether or not their clients run. *)
Tick ==
  /\ now < LastTick /\ now' = now + 1
  /\ LET over == {n \in Nodes : end[n] <= now + 1}
         done == {c \in Clients : phase[c] = "hold" /\ until[c] <= now + 1}
     IN /\ holder' = [n \in Nodes |-> IF n \in over THEN Nobody ELSE holder[n]]
        /\ num' = [n \in Nodes |-> IF n \in over THEN 0 ELSE num[n]]
        /\ end' = [n \in Nodes |-> IF n \in over THEN 0 ELSE end[n]]
        /\ ended' = Max({ended} \cup {token[c] : c \in done})
  /\ UNCHANGED <<cnt, ready, opens, clientVars, stray, won, floor, wrong, faultVars>>

Next ==
  \/ Tick
  \/ \E c \in Clients :
       \/ Start(c) \/ SecondRound(c) \/ Win(c) \/ Renew(c) \/ Leave(c)
       \/ \E n \in Nodes : Claimed(c, n) \/ Confirmed(c, n) \/ Stray(c, n)
  \/ \E n \in Nodes : Restart(n) \/ Survey(n) \/ Admit(n) \/ Jump(n)

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
(* What must hold. *)

Believes(c) == phase[c] = "hold" /\ now < until[c]

(* I1: no two holds that their clients believe in. *)
OneHolder == \A c, d \in Clients : c # d => ~(Believes(c) /\ Believes(d))

(* I3: no token twice, and none below that of a hold that was won before its claim was sent. *)
TokensRise == wrong \cap {"twice", "below a hold that was won before"} = {}

(* I3, stronger: nor below that of a hold that had ended when it was returned. *)
TokensRiseInOrder == wrong = {}

(* I7: when nobody holds and nothing is under way, a majority of nodes is free. *)
Obtainable ==
  ((\A c \in Clients : phase[c] = "idle") /\ stray = {})
    => Cardinality({n \in Nodes : Free(n)}) >= Majority
=============================================================================
