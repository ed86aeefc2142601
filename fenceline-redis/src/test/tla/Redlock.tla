------------------------------ MODULE Redlock ------------------------------
(***************************************************************************)
(* One lock on three independent nodes: claims in two rounds, leases,      *)
(* late and lost messages, clients that stand still, nodes that restart    *)
(* with and without their memory and do not vote for a while, their        *)
(* recovery, clocks that jump, undo and retry, renewals that give a hold   *)
(* to nodes that lack it and may be longer than the lease was, holds that  *)
(* are ended by force, and releases that keep the name closed.             *)
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
(* which makes it harder for tokens to rise. What is late is shown: claims *)
(* and undos that arrive in a later attempt of their owner, and gifts of a *)
(* hold that arrive at any time. A client that comes back after a release  *)
(* is another owner: nothing of the first one is late for it but gifts,    *)
(* which runs with one attempt each show.                                  *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Clients,     \* who wants the lock; model values
  Attempts,    \* how many attempts each of them makes
  Retrying,    \* who makes more than one
  Lease,       \* ticks that a grant lasts
  LastTick,    \* when time stops
  Restarts,    \* how many nodes may restart in a run
  Restartable, \* which ones: 1 and 2 are alike
  Forgetful,   \* which nodes were restarted long ago, and nobody has taken care of them
  Jumps,       \* how often a node's clock may jump, ending its grant
  Lost,        \* how many undos may be lost, late, or overtake their claim
  Renewals,    \* how often each of them may renew
  Renewing,    \* who renews
  Longer,      \* ticks that a renewed grant lasts
  Forces,      \* how many holds may be ended by force
  Guess,       \* ticks that whoever reaches neither a majority that votes nor all nodes lets them wait
  Keeping,     \* who keeps the name closed after its release
  Keep,        \* ticks that it stays closed, from when the release was sent
  \* The variants: TRUE as it is built, FALSE as it is broken.
  TwoRounds,   \* the token is written back
  ToGranters,  \* only nodes that granted it, and still do, count for the write-back
  Quarantine,  \* a node that lost its memory does not vote at once
  Undo,        \* a failed attempt is undone on all nodes
  CheckValid,  \* the lease is looked at after the rounds
  Named,       \* an undo and a claim name their attempt
  Prompt,      \* a node without a vote is taken care of as soon as anyone meets it
  Careful,     \* whoever reaches no majority that votes, nor all nodes, lets them wait for a guess
  GiveToAll,   \* a renewal gives the hold to any node that lacks it, not only to those without memory
  InTime,      \* a renewal that was answered after the hold's end is not believed
  FullTerm,    \* a node waits for the whole term of what others know, not for what is left of it there
  Twice,       \* a renewal that is longer than before is made twice, and the second one counts
  Stored,      \* a node keeps what was decided about it, and needs nobody who remembers afterwards
  Raised,      \* a wait that was guessed gets longer by what another client knows
  TwoCloses,   \* a release that keeps the name closed is two rounds, and the second one counts
  Marked,      \* force leaves a mark at every node, which is passed on to nodes that have forgotten it
  Told         \* a node without a vote has a hold only once it was told what was ended by force

Nodes == 1..3
Majority == 2
Spare == 1
Nobody == 0
Held == 99
Unwritten == <<0, 0, 0, 0, 0>> \* No grant.
Gone == -1 \* An owner that is not used any more.
Shut == -2 \* Nobody's: the name is kept closed.
Max(S) == CHOOSE x \in S : \A y \in S : y <= x
Half(term) == (term + 1) \div 2
Symmetry == Permutations(Clients)

VARIABLES
  now,
  \* Of a node: whose grant, its number and its end, of which attempt, whether confirmed; the last
  \* number of all; whether it votes; when its loss of memory was noticed, and since when it may vote
  \* again (-1: nobody has said yet), whether that was said by a majority that votes, and whether such
  \* a one has given its counters when no attempt was under way any more that the node had confirmed;
  \* which owners were ended by force; how long the grant lasts when it is renewed.
  holder, num, end, att, conf, cnt, ready, since, opens, sure, counted, marks, term,
  \* Of a client. The phase is "idle", "claim", "confirm", "hold", "announce", "renew", "close" or "close
  \* again". In the last four, got has the nodes that were asked; in the very last, until has for how long
  \* they are to keep the name closed.
  phase, left, sent, got, token, ok, until, renewed,
  \* Claims that will arrive after their attempt, and undos that will arrive late: <<client, node,
  \* attempt>>. Gifts of a hold on their way: <<client, node, token>>; and those to be turned away.
  stray, late, gifts, away,
  \* What an observer has seen: the largest token of the holds that are over, all tokens, the largest
  \* one that was won before the attempt of a client began, and what was wrong with them.
  ended, won, floor, wrong,
  \* Who is ended by force, which nodes have been told, at which it is over, and who renews although it
  \* is over at a majority.
  forcing, toldAt, forcedAt, overruled,
  \* Until when the name has to stay closed, since a release was answered that says so.
  kept,
  \* Of faults; older has what a server has persisted of a grant that force has ended since, with its term.
  restarts, restarted, jumps, lost, older

recoveryVars == <<ready, since, opens, sure, counted>>
nodeVars == <<holder, num, end, att, conf, cnt, recoveryVars, marks, term>>
clientVars == <<phase, left, sent, got, token, ok, until, renewed>>
endVars == <<forcing, toldAt, forcedAt, overruled, kept>>
seenVars == <<ended, won, floor, wrong, endVars>>
faultVars == <<restarts, restarted, jumps, lost, older>>
wayVars == <<stray, late, gifts, away>>
vars == <<now, nodeVars, clientVars, wayVars, seenVars, faultVars>>

Init ==
  /\ now = 0
  /\ holder = [n \in Nodes |-> Nobody] /\ num = [n \in Nodes |-> 0] /\ end = [n \in Nodes |-> 0]
  \* One node has counted further: attempts that failed have been there.
  /\ cnt = [n \in Nodes |-> IF n = 3 THEN 5 ELSE 0]
  /\ att = [n \in Nodes |-> 0] /\ conf = [n \in Nodes |-> FALSE]
  /\ ready = [n \in Nodes |-> n \notin Forgetful]
  /\ opens = [n \in Nodes |-> IF n \in Forgetful THEN -1 ELSE 0]
  /\ since = [n \in Nodes |-> 0] /\ sure = [n \in Nodes |-> FALSE]
  /\ counted = [n \in Nodes |-> FALSE]
  /\ marks = {} /\ term = [n \in Nodes |-> 0]
  /\ forcing = Nobody /\ toldAt = {} /\ forcedAt = {} /\ overruled = {}
  /\ phase = [c \in Clients |-> "idle"] /\ left = [c \in Clients |-> IF c \in Retrying THEN Attempts ELSE 1]
  /\ sent = [c \in Clients |-> 0] /\ got = [c \in Clients |-> {}]
  /\ token = [c \in Clients |-> 0] /\ ok = [c \in Clients |-> {}]
  /\ until = [c \in Clients |-> 0] /\ renewed = [c \in Clients |-> 0]
  /\ stray = {} /\ late = {} /\ gifts = {} /\ away = {}
  /\ kept = 0
  /\ ended = 0 /\ won = {} /\ floor = [c \in Clients |-> 0] /\ wrong = {}
  /\ restarts = 0 /\ restarted = -9 /\ jumps = 0 /\ lost = 0
  /\ older = [n \in Nodes |-> Unwritten]

Free(n) == holder[n] = Nobody
Attempt(c) == Attempts - left[c] \* The last one has the same number for all.

(* The nodes in S have no grant any more. *)
Cleared(S) ==
  /\ num' = [n \in Nodes |-> IF n \in S THEN 0 ELSE num[n]]
  /\ end' = [n \in Nodes |-> IF n \in S THEN 0 ELSE end[n]]
  /\ att' = [n \in Nodes |-> IF n \in S THEN 0 ELSE att[n]]
  /\ conf' = [n \in Nodes |-> IF n \in S THEN FALSE ELSE conf[n]]
  /\ term' = [n \in Nodes |-> IF n \in S THEN 0 ELSE term[n]]

Freed(S) == Cleared(S) /\ holder' = [n \in Nodes |-> IF n \in S THEN Nobody ELSE holder[n]]

(* A node grants a claim of the first round, with a number of its own. What is there of the same owner
   keeps its number if it was confirmed, or where attempts have no name. *)
Granted(c, n, attempt) ==
  LET keeps == holder[n] = c /\ (conf[n] \/ ~Named)
      number == IF keeps THEN num[n] ELSE cnt[n] + 1
  IN /\ holder' = [holder EXCEPT ![n] = c]
     /\ num' = [num EXCEPT ![n] = number]
     /\ cnt' = [cnt EXCEPT ![n] = Max({@, number})]
     /\ end' = [end EXCEPT ![n] = now + Lease]
     /\ att' = [att EXCEPT ![n] = Max({@, attempt})]
     /\ conf' = [conf EXCEPT ![n] = keeps /\ @]
     /\ term' = [term EXCEPT ![n] = Max({@, Lease})]

------------------------------------------------------------------------------
(* Round 1. *)

Start(c) ==
  /\ phase[c] = "idle" /\ left[c] > 0
  /\ phase' = [phase EXCEPT ![c] = "claim"]
  /\ left' = [left EXCEPT ![c] = @ - 1]
  /\ sent' = [sent EXCEPT ![c] = now]
  /\ floor' = [floor EXCEPT ![c] = Max(won \cup {0})]
  /\ UNCHANGED <<now, nodeVars, got, token, ok, until, renewed, wayVars, ended, won, wrong,
                 endVars, faultVars>>

(* The claim arrives at a node that is free, or has what an earlier attempt left. The client hears of
   it, or not. *)
Claimed(c, n) ==
  /\ phase[c] = "claim" /\ ready[n] /\ \A pair \in got[c] : pair[1] # n
  /\ Free(n) \/ holder[n] = c
  /\ Granted(c, n, Attempt(c))
  /\ got' = [got EXCEPT ![c] = @ \cup {<<n, num'[n]>>}]
  /\ UNCHANGED <<now, recoveryVars, marks, phase, left, sent, token, ok, until, renewed, wayVars,
                 seenVars, faultVars>>

(* Round 2, with the numbers of any majority: the client may have missed the others. *)
SecondRound(c) ==
  /\ phase[c] = "claim"
  /\ CheckValid => now < sent[c] + Half(Lease)
  /\ \E chosen \in SUBSET got[c] :
       /\ Cardinality(chosen) >= Majority
       /\ token' = [token EXCEPT ![c] = Max({pair[2] : pair \in chosen})]
       /\ got' = [got EXCEPT ![c] = chosen]
       /\ ok' = [ok EXCEPT ![c] = IF TwoRounds THEN {} ELSE {pair[1] : pair \in chosen}]
  /\ phase' = [phase EXCEPT ![c] = "confirm"]
  /\ UNCHANGED <<now, nodeVars, left, sent, until, renewed, wayVars, seenVars, faultVars>>

(* Written back under a check of the owner and of the number that this node gave it. *)
Confirmed(c, n) ==
  /\ phase[c] = "confirm" /\ TwoRounds /\ n \notin ok[c]
  /\ LET own == ready[n] /\ holder[n] = c /\ <<n, num[n]>> \in got[c]
     IN /\ ToGranters => own
        /\ end' = IF own THEN [end EXCEPT ![n] = now + term[n]] ELSE end
        /\ num' = IF own /\ Named THEN [num EXCEPT ![n] = token[c]] ELSE num
        /\ conf' = IF own THEN [conf EXCEPT ![n] = TRUE] ELSE conf
  /\ cnt' = [cnt EXCEPT ![n] = Max({@, token[c]})]
  /\ ok' = [ok EXCEPT ![c] = @ \cup {n}]
  /\ UNCHANGED <<now, holder, att, recoveryVars, marks, term, phase, left, sent, got, token, until,
                 renewed, wayVars, seenVars, faultVars>>

Win(c) ==
  /\ phase[c] = "confirm" /\ Cardinality(ok[c]) >= Majority
  /\ CheckValid => now < sent[c] + Half(Lease)
  /\ phase' = [phase EXCEPT ![c] = "hold"]
  /\ until' = [until EXCEPT ![c] = IF CheckValid THEN sent[c] + Lease ELSE now + Lease]
  /\ got' = [got EXCEPT ![c] = {}] /\ ok' = [ok EXCEPT ![c] = {}] /\ sent' = [sent EXCEPT ![c] = 0]
  /\ won' = won \cup {token[c]} /\ floor' = [floor EXCEPT ![c] = 0]
  /\ wrong' = wrong
       \cup (IF token[c] <= ended THEN {"below a hold that had ended"} ELSE {})
       \cup (IF token[c] <= floor[c] THEN {"below a hold that was won before"} ELSE {})
       \cup (IF token[c] \in won THEN {"twice"} ELSE {})
       \cup (IF now < kept THEN {"while the name was to stay closed"} ELSE {})
  /\ UNCHANGED <<now, nodeVars, left, token, renewed, wayVars, ended, endVars, faultVars>>

Has(c, n) == holder[n] = c /\ conf[n] /\ num[n] = token[c]

(* One that was restarted may have gone back to what it knew before the hold was ended by force. *)
Renews(c, n) == Has(c, n) /\ (Told => ready[n] \/ (opens[n] # -1 /\ <<c, n>> \notin marks))

Forced(c) == forcing = c /\ Cardinality(forcedAt) >= Majority

(* All nodes are asked, one after the other. *)
Renew(c) ==
  /\ phase[c] = "hold" /\ c \in Renewing /\ renewed[c] < Renewals /\ now < until[c]
  /\ sent' = [sent EXCEPT ![c] = now]
  /\ phase' = [phase EXCEPT ![c] = IF Twice /\ Longer > Lease THEN "announce" ELSE "renew"]
  /\ renewed' = [renewed EXCEPT ![c] = @ + 1]
  /\ overruled' = IF Forced(c) THEN overruled \cup {c} ELSE overruled
  /\ UNCHANGED <<now, nodeVars, left, got, ok, token, until, wayVars, ended, won, floor, wrong, forcing,
                 toldAt, forcedAt, kept, faultVars>>

Asks(c) == phase[c] \in {"announce", "renew"}

(* A node that has the hold renews it; one that lacks it will be given it. *)
RenewAt(c, n) ==
  /\ Asks(c) /\ <<n, 0>> \notin got[c]
  /\ got' = [got EXCEPT ![c] = @ \cup {<<n, 0>>}]
  /\ IF Renews(c, n)
     THEN /\ end' = [end EXCEPT ![n] = Max({@, now + Longer})]
          /\ term' = [term EXCEPT ![n] = Max({@, Longer})]
          /\ ok' = [ok EXCEPT ![c] = @ \cup {n}]
          /\ UNCHANGED gifts
     ELSE /\ gifts' = IF GiveToAll \/ ~ready[n] THEN gifts \cup {<<c, n, token[c]>>} ELSE gifts
          /\ UNCHANGED <<end, term, ok>>
  /\ UNCHANGED <<now, holder, num, att, conf, cnt, recoveryVars, marks, phase, left, sent, token, until,
                 renewed, stray, late, away, seenVars, faultVars>>

(* A majority knows of the longer term: now it is asked for again, and that counts. *)
Announced(c) ==
  /\ phase[c] = "announce" /\ Cardinality(ok[c]) >= Majority
  /\ phase' = [phase EXCEPT ![c] = "renew"]
  /\ ok' = [ok EXCEPT ![c] = {}] /\ got' = [got EXCEPT ![c] = {}]
  /\ UNCHANGED <<now, nodeVars, left, sent, token, until, renewed, wayVars, seenVars, faultVars>>

(* A gift arrives, at any time, and is taken if nothing is in its way. *)
Gift(gift) ==
  LET c == gift[1] n == gift[2]
      taken == /\ Free(n) \/ holder[n] = c
               /\ gift \notin away /\ <<c, n>> \notin marks
               /\ Marked => ready[n] \/ opens[n] # -1
  IN /\ gifts' = gifts \ {gift} /\ away' = away \ {gift}
     /\ holder' = IF taken THEN [holder EXCEPT ![n] = c] ELSE holder
     /\ num' = IF taken THEN [num EXCEPT ![n] = gift[3]] ELSE num
     /\ end' = IF taken THEN [end EXCEPT ![n] = Max({@, now + Longer})] ELSE end
     /\ term' = IF taken THEN [term EXCEPT ![n] = Max({@, Longer})] ELSE term
     /\ att' = IF taken THEN [att EXCEPT ![n] = Held] ELSE att
     /\ conf' = IF taken THEN [conf EXCEPT ![n] = TRUE] ELSE conf
     /\ cnt' = IF taken THEN [cnt EXCEPT ![n] = Max({@, gift[3]})] ELSE cnt
     /\ ok' = IF taken /\ Asks(c) THEN [ok EXCEPT ![c] = @ \cup {n}] ELSE ok
     /\ UNCHANGED <<now, recoveryVars, marks, phase, left, sent, got, token, until, renewed, stray, late,
                    seenVars, faultVars>>

(* A majority has renewed it, or was given it. *)
Renewed(c) ==
  /\ phase[c] = "renew" /\ Cardinality(ok[c]) >= Majority
  /\ InTime => now < until[c]
  /\ phase' = [phase EXCEPT ![c] = "hold"]
  /\ until' = [until EXCEPT ![c] = sent[c] + Longer]
  /\ ok' = [ok EXCEPT ![c] = {}] /\ sent' = [sent EXCEPT ![c] = 0] /\ got' = [got EXCEPT ![c] = {}]
  /\ wrong' = wrong \cup (IF c \in overruled THEN {"renewed after it was ended by force"} ELSE {})
  /\ UNCHANGED <<now, nodeVars, left, token, renewed, wayVars, ended, won, floor, endVars, faultVars>>

Holds(c) == phase[c] \in {"hold", "announce", "renew"}

(* An operator ends a hold that a majority has. Requests reach the nodes one by one, or never. First they
   are told, so that a majority remembers; then they end it. *)
MayForce(c) ==
  \/ forcing = c
  \/ Forces > 0 /\ forcing = Nobody /\ Holds(c) /\ Cardinality({m \in Nodes : Has(c, m)}) >= Majority

Tell(c, n) ==
  /\ MayForce(c) /\ Marked /\ n \notin toldAt /\ Cardinality(toldAt) < Majority
  /\ marks' = marks \cup {<<c, n>>}
  /\ forcing' = c /\ toldAt' = toldAt \cup {n}
  /\ UNCHANGED <<now, holder, num, end, att, conf, cnt, recoveryVars, term, clientVars, wayVars, ended,
                 won, floor, wrong, forcedAt, overruled, kept, faultVars>>

ForceAt(c, n) ==
  /\ MayForce(c) /\ n \notin forcedAt
  /\ Marked => Cardinality(toldAt) >= Majority
  /\ Freed(IF holder[n] = c THEN {n} ELSE {})
  /\ marks' = IF Marked \/ holder[n] = c THEN marks \cup {<<c, n>>} ELSE marks
  /\ forcing' = c /\ forcedAt' = forcedAt \cup {n}
  /\ older' = IF Has(c, n) THEN [older EXCEPT ![n] = <<c, num[n], end[n], att[n], term[n]>>] ELSE older
  /\ UNCHANGED <<now, cnt, recoveryVars, clientVars, wayVars, ended, won, floor, wrong, toldAt, overruled,
                 kept, restarts, restarted, jumps, lost>>

Closes(c) == phase[c] \in {"close", "close again"}

(* Releases, and keeps the name closed: the hold is over. *)
Close(c) ==
  /\ phase[c] = "hold" /\ c \in Keeping
  /\ phase' = [phase EXCEPT ![c] = "close"]
  /\ sent' = [sent EXCEPT ![c] = now]
  /\ ended' = Max({ended, token[c]})
  /\ UNCHANGED <<now, nodeVars, left, got, token, ok, until, renewed, wayVars, won, floor, wrong, endVars,
                 faultVars>>

(* A node that has the hold keeps the name closed instead; in the second round, also one that has nothing. *)
CloseAt(c, n) ==
  /\ Closes(c) /\ <<n, 0>> \notin got[c]
  /\ got' = [got EXCEPT ![c] = @ \cup {<<n, 0>>}]
  /\ LET again == phase[c] = "close again"
         keep == IF again THEN until[c] ELSE Keep
         closes == holder[n] = c \/ (again /\ Free(n))
     IN /\ holder' = IF closes THEN [holder EXCEPT ![n] = Shut] ELSE holder
        /\ end' = IF closes THEN [end EXCEPT ![n] = now + keep] ELSE end
        /\ term' = IF closes THEN [term EXCEPT ![n] = keep] ELSE term
        /\ conf' = IF closes THEN [conf EXCEPT ![n] = FALSE] ELSE conf
        /\ ok' = IF closes \/ (again /\ holder[n] = Shut) THEN [ok EXCEPT ![c] = @ \cup {n}] ELSE ok
  /\ UNCHANGED <<now, num, att, cnt, recoveryVars, marks, phase, left, sent, token, until, renewed, wayVars,
                 seenVars, faultVars>>

(* A majority has closed it: all are asked for what is left. Where a minority has, the lease may be over
   before the others hear of it, and another one may hold the name: nothing is said of when it opens. *)
CloseAgain(c) ==
  /\ phase[c] = "close" /\ TwoCloses /\ Cardinality(ok[c]) >= Majority /\ now < sent[c] + Keep
  /\ phase' = [phase EXCEPT ![c] = "close again"]
  /\ until' = [until EXCEPT ![c] = sent[c] + Keep - now]
  /\ got' = [got EXCEPT ![c] = {}] /\ ok' = [ok EXCEPT ![c] = {}]
  /\ UNCHANGED <<now, nodeVars, left, sent, token, renewed, wayVars, seenVars, faultVars>>

(* A majority has closed it. *)
Closed(c) ==
  /\ phase[c] = (IF TwoCloses THEN "close again" ELSE "close") /\ Cardinality(ok[c]) >= Majority
  /\ phase' = [phase EXCEPT ![c] = "idle"]
  /\ kept' = sent[c] + Keep
  /\ until' = [until EXCEPT ![c] = 0] /\ sent' = [sent EXCEPT ![c] = 0]
  /\ got' = [got EXCEPT ![c] = {}] /\ ok' = [ok EXCEPT ![c] = {}]
  /\ token' = [token EXCEPT ![c] = 0] /\ renewed' = [renewed EXCEPT ![c] = 0]
  /\ UNCHANGED <<now, nodeVars, left, wayVars, ended, won, floor, wrong, forcing, toldAt, forcedAt, overruled,
                 faultVars>>

(* Gives up, or releases: undone on all nodes, whatever they answered, but for undos that get lost, are
   late, or overtake the claim. *)
Leave(c) ==
  /\ phase[c] # "idle" /\ ~Closes(c)
  /\ \E missed \in {S \in SUBSET Nodes : lost + Cardinality(S) <= Lost} :
       LET undone == IF Undo \/ Holds(c) THEN Nodes \ missed ELSE {}
           freed == {n \in undone : holder[n] = c}
       IN /\ Cleared(freed)
          /\ holder' = [n \in Nodes |-> IF n \in freed THEN Nobody
                                      ELSE IF holder[n] = c /\ Holds(c) THEN Gone ELSE holder[n]]
          /\ lost' = lost + Cardinality(missed)
          /\ stray' = stray \cup
               {<<c, n, Attempt(c)>> : n \in {m \in missed : holder[m] # c /\ ~Holds(c)}}
          /\ late' = late \cup
               (IF Undo /\ ~Holds(c) THEN {<<c, n, Attempt(c)>> : n \in missed} ELSE {})
          /\ away' = away \cup {gift \in gifts : gift[1] = c /\ gift[2] \in undone}
  /\ phase' = [phase EXCEPT ![c] = "idle"]
  /\ ended' = IF Holds(c) THEN Max({ended, token[c]}) ELSE ended
  /\ until' = [until EXCEPT ![c] = 0] /\ sent' = [sent EXCEPT ![c] = 0]
  /\ got' = [got EXCEPT ![c] = {}] /\ ok' = [ok EXCEPT ![c] = {}]
  /\ token' = [token EXCEPT ![c] = 0] /\ renewed' = [renewed EXCEPT ![c] = 0]
  /\ floor' = [floor EXCEPT ![c] = 0]
  /\ UNCHANGED <<now, cnt, recoveryVars, marks, left, gifts, won, wrong, endVars, restarts, restarted,
                 jumps, older>>

(* A claim arrives whose attempt is over. Nobody undoes it but time. One that names its attempt changes
   nothing where there is a later one. *)
Stray(claim) ==
  LET c == claim[1] n == claim[2]
  IN /\ stray' = stray \ {claim}
     /\ IF ready[n] /\ (Free(n) \/ (holder[n] = c /\ (Named => att[n] <= claim[3])))
        THEN Granted(c, n, claim[3])
        ELSE UNCHANGED <<holder, num, cnt, end, att, conf, term>>
     /\ UNCHANGED <<now, recoveryVars, marks, clientVars, late, gifts, away, seenVars, faultVars>>

(* An undo arrives late: its owner may have made another attempt since. *)
LateUndo(undo) ==
  LET c == undo[1] n == undo[2]
  IN /\ late' = late \ {undo}
     /\ Freed(IF holder[n] = c /\ (Named => att[n] <= undo[3]) THEN {n} ELSE {})
     /\ UNCHANGED <<now, cnt, recoveryVars, marks, clientVars, stray, gifts, away, seenVars, faultVars>>

------------------------------------------------------------------------------
(* What happens to nodes. *)

(* A restart, with its memory, without, or with an older one, from before force ended a hold. The operator
   gives each node a lease's time before the next. *)
Restart(n) ==
  /\ n \in Restartable /\ restarts < Restarts /\ restarts' = restarts + 1
  /\ now > restarted + Lease /\ restarted' = now
  /\ \/ \E keeps \in BOOLEAN :
          /\ Freed(IF keeps THEN {} ELSE {n})
          /\ cnt' = IF keeps THEN cnt ELSE [cnt EXCEPT ![n] = 0]
          /\ marks' = IF keeps THEN marks ELSE {mark \in marks : mark[2] # n}
          /\ older' = IF keeps THEN older ELSE [older EXCEPT ![n] = Unwritten]
     \/ /\ older[n] # Unwritten /\ older[n][3] > now
        /\ holder' = [holder EXCEPT ![n] = older[n][1]] /\ conf' = [conf EXCEPT ![n] = TRUE]
        /\ num' = [num EXCEPT ![n] = older[n][2]] /\ end' = [end EXCEPT ![n] = older[n][3]]
        /\ att' = [att EXCEPT ![n] = older[n][4]] /\ term' = [term EXCEPT ![n] = older[n][5]]
        /\ cnt' = [cnt EXCEPT ![n] = older[n][2]]
        /\ marks' = {mark \in marks : mark[2] # n} /\ UNCHANGED older
  /\ ready' = [ready EXCEPT ![n] = ~Quarantine]
  /\ opens' = [opens EXCEPT ![n] = IF Quarantine THEN -1 ELSE 0]
  /\ since' = [since EXCEPT ![n] = 0] /\ sure' = [sure EXCEPT ![n] = FALSE]
  /\ counted' = [counted EXCEPT ![n] = FALSE]
  /\ UNCHANGED <<now, clientVars, wayVars, seenVars, jumps, lost>>

(* Who asks reaches some of the nodes. A majority that votes knows all. *)
Voting(reached) == {m \in reached : ready[m]}
Remembered(reached) == Cardinality(Voting(reached)) >= Majority
Silent(reached) == reached \ Voting(reached)
Asked(reached) == IF Remembered(reached) THEN Voting(reached) ELSE reached
MayAdmit(reached) == Remembered(reached) \/ Cardinality(Silent(reached)) > Spare

(* What force has ended counts until its time is over. *)
Runs(m) == older[m][3] > now

(* Those that are asked say how long grants may run that they know of, and the asker what it knows itself
   if there is no majority that votes. A loss is noticed when a node is asked for the first time. *)
Noticed(n) == IF opens[n] = -1 THEN now ELSE since[n]
Known(n, reached, knows) ==
  LET asked == {m \in Asked(reached) : ~Free(m) \/ Runs(m)}
      there == IF FullTerm
               THEN {Noticed(n) + Max({term[m], IF Runs(m) THEN older[m][5] ELSE 0}) : m \in asked}
               ELSE {end[m] : m \in asked}
      own == IF knows /\ ~Remembered(reached) THEN {Noticed(n) + Lease} ELSE {}
      guess == IF Careful /\ ~Remembered(reached) /\ reached # Nodes THEN {Noticed(n) + Guess} ELSE {}
  IN Max({Noticed(n)} \cup there \cup own \cup guess)

Largest(n, reached) == Max({cnt[n]} \cup {cnt[m] : m \in Asked(reached)})

(* What is decided about the nodes that do not vote. It is kept, unless it was a guess. *)
Survey(reached, knows) ==
  LET open == {n \in Silent(reached) :
                 \/ opens[n] = -1
                 \/ Raised /\ ~sure[n] /\ (Remembered(reached) \/ Known(n, reached, knows) > opens[n])}
  IN /\ MayAdmit(reached) /\ open # {}
     /\ since' = [n \in Nodes |-> IF n \in open THEN Noticed(n) ELSE since[n]]
     /\ opens' = [n \in Nodes |-> IF n \in open THEN Max({opens[n], Known(n, reached, knows)}) ELSE opens[n]]
     /\ sure' = [n \in Nodes |-> IF n \in open THEN Remembered(reached) ELSE sure[n]]
     /\ cnt' = [n \in Nodes |-> IF n \in open THEN Largest(n, reached) ELSE cnt[n]]
     /\ counted' = [n \in Nodes |->
                      IF n \in open THEN Remembered(reached) /\ opens'[n] = Noticed(n) ELSE counted[n]]
     /\ marks' = marks \cup
          (IF Marked
           THEN {<<c, n>> : <<c, n>> \in {p \in Clients \X open : \E m \in Asked(reached) : <<p[1], m>> \in marks}}
           ELSE {})
     /\ UNCHANGED <<now, holder, num, end, att, conf, ready, term, clientVars, wayVars, seenVars, faultVars>>

(* An attempt that the node had confirmed is over after half a term; then the others know its token. *)
MayCount(n, reached) ==
  /\ ~ready[n] /\ opens[n] >= 0 /\ ~counted[n] /\ Remembered(reached)
  /\ now >= since[n] + Half(opens[n] - since[n])

Count(n, reached) ==
  /\ MayCount(n, reached) /\ n \in reached
  /\ cnt' = [cnt EXCEPT ![n] = Largest(n, reached)]
  /\ counted' = [counted EXCEPT ![n] = TRUE]
  /\ UNCHANGED <<now, holder, num, end, att, conf, ready, since, opens, sure, marks, term, clientVars,
                 wayVars, seenVars, faultVars>>

(* That time has passed: the node votes. *)
IsOver(n) == ~ready[n] /\ opens[n] >= 0 /\ now >= opens[n] /\ (counted[n] \/ ~sure[n])
MayLetIn(reached) == Stored \/ MayAdmit(reached)
Admit(n, reached) ==
  /\ IsOver(n) /\ n \in reached /\ MayLetIn(reached)
  /\ cnt' = [cnt EXCEPT ![n] = Largest(n, reached)]
  /\ counted' = [counted EXCEPT ![n] = FALSE]
  /\ ready' = [ready EXCEPT ![n] = TRUE] /\ opens' = [opens EXCEPT ![n] = 0]
  /\ since' = [since EXCEPT ![n] = 0] /\ sure' = [sure EXCEPT ![n] = FALSE]
  /\ UNCHANGED <<now, holder, num, end, att, conf, marks, term, clientVars, wayVars, seenVars, faultVars>>

(* Whoever uses the lock meets the node, and does one of these before a tick has passed. Who claims
   or holds it knows for how long, and says so in time if a wait was guessed. *)
Neglected ==
  \E n \in Nodes :
    /\ ~ready[n]
    /\ \/ MayAdmit(Nodes) /\ opens[n] = -1
       \/ MayCount(n, Nodes)
       \/ IsOver(n) /\ MayLetIn(Nodes)
       \/ /\ Raised /\ opens[n] # -1 /\ ~sure[n] /\ MayAdmit(Nodes)
          /\ \/ Remembered(Nodes)
             \/ (\E c \in Clients : phase[c] # "idle") /\ opens[n] < since[n] + Lease

(* The clock of a node jumps forward: its grant is over before its time. *)
Jump(n) ==
  /\ jumps < Jumps /\ jumps' = jumps + 1
  /\ ~Free(n) /\ Freed({n})
  /\ UNCHANGED <<now, cnt, recoveryVars, marks, clientVars, wayVars, seenVars, restarts, restarted, lost, older>>

(* Grants end at nodes, and holds end, whether or not their clients run. *)
Tick ==
  /\ now < LastTick /\ now' = now + 1
  /\ Prompt => ~Neglected
  /\ LET done == {c \in Clients : Holds(c) /\ until[c] <= now + 1}
     IN /\ Freed({n \in Nodes : end[n] <= now + 1})
        /\ ended' = Max({ended} \cup {token[c] : c \in done})
  /\ UNCHANGED <<cnt, recoveryVars, marks, clientVars, wayVars, won, floor, wrong, endVars, faultVars>>

Next ==
  \/ Tick
  \/ \E c \in Clients :
       \/ Start(c) \/ SecondRound(c) \/ Win(c) \/ Renew(c) \/ Announced(c) \/ Renewed(c) \/ Leave(c)
       \/ Close(c) \/ CloseAgain(c) \/ Closed(c)
       \/ \E n \in Nodes : Claimed(c, n) \/ Confirmed(c, n) \/ RenewAt(c, n) \/ Tell(c, n) \/ ForceAt(c, n)
                          \/ CloseAt(c, n)
  \/ \E claim \in stray : Stray(claim)
  \/ \E undo \in late : LateUndo(undo)
  \/ \E gift \in gifts : Gift(gift)
  \/ \E n \in Nodes : Restart(n) \/ Jump(n)
  \/ \E reached \in SUBSET Nodes :
       \/ \E knows \in BOOLEAN : Survey(reached, knows)
       \/ \E n \in reached : Count(n, reached) \/ Admit(n, reached)

Spec == Init /\ [][Next]_vars

(* For smaller runs: who does not renew comes at the end. *)
OthersLater == \A c \in Clients \ Renewing : phase[c] = "idle" \/ now = LastTick
(* The same, nodes restart during a renewal, and nobody leaves. *)
DuringRenewals ==
  /\ OthersLater
  /\ restarts > 0 => \E c \in Renewing : renewed[c] > 0
  /\ \A c \in Clients : left[c] = 0 => phase[c] # "idle"
(* Who keeps the name closed comes first, and the other one at the end; nodes restart during the release. *)
DuringCloses ==
  /\ \A c \in Clients \ Keeping : phase[c] = "idle" \/ now = LastTick
  /\ restarts > 0 => \E c \in Keeping : Closes(c) \/ (left[c] = 0 /\ phase[c] = "idle")

------------------------------------------------------------------------------
(* What must hold. *)

Believes(c) == Holds(c) /\ now < until[c]

(* I1: no two holds that their clients believe in. Whoever was ended by force may not have heard of it. *)
OneHolder ==
  \A c, d \in Clients : c # d /\ forcing \notin {c, d} => ~(Believes(c) /\ Believes(d))

(* A hold that was ended by force is not renewed. *)
ForceIsHeard == "renewed after it was ended by force" \notin wrong

(* I3: no token twice, and none below that of a hold that was won before its claim was sent. *)
TokensRise == wrong \cap {"twice", "below a hold that was won before"} = {}

(* I3, stronger: nor below that of a hold that had ended when it was returned. *)
TokensRiseInOrder == TokensRise /\ "below a hold that had ended" \notin wrong

(* Nobody believes in a hold after another one was won: one that was lost does not come back. *)
NoneComesBack == \A c \in Clients : Believes(c) /\ c # forcing => token[c] = Max(won)

(* A name that was to stay closed is not given to anyone before. *)
StaysClosed == "while the name was to stay closed" \notin wrong

(* I7: when nobody holds and nothing is under way, a majority of nodes is free. *)
Obtainable ==
  ((\A c \in Clients : phase[c] = "idle") /\ stray = {} /\ late = {} /\ gifts = {})
    => Cardinality({n \in Nodes : Free(n)}) >= Majority

(* I7: a node whose wait is over can be let in by whoever reaches it and a majority, whatever that is. *)
Readmittable ==
  \A n \in Nodes :
    IsOver(n)
      => \A reached \in SUBSET Nodes :
           n \in reached /\ Cardinality(reached) >= Majority => MayLetIn(reached)
=============================================================================
