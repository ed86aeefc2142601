package io.fenceline.testkit.contract;

import io.fenceline.memory.LockTable;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongSupplier;

/** A way to break the contract, and the tests that must notice it. */
enum Breakage {
  NOTHING(BrokenTables.Sound::new),

  RELEASE_WITHOUT_OWNER_CHECK(
      BrokenTables.ReleaseWithoutOwnerCheck::new,
      "releaseByAnotherOwner_changesNothing",
      "releaseOfAnOldGrant_leavesTheNextHolderAlone",
      "repeatedRelease_leavesTheNewHolderAlone"),

  TOKEN_REUSED_AFTER_EXPIRY(
      BrokenTables.TokenReusedAfterExpiry::new,
      "tokensRise_acrossExpiry",
      "tokensRise_acrossExpiry_forTheSameProcess",
      "releaseAfterTheLeaseEnded_isRefused_andLeavesTheNewHolderAlone"),

  NUMBERS_START_ANEW_WITH_A_NAME(
      BrokenTables.NumbersStartAnewWithAName::new,
      "tokensRise_whenANameWasForgottenAndIsUsedAgain",
      "tokensRise_acrossRelease",
      "afterEveryFaultHealed_theNameIsObtainable_andTokensStillRise"),

  RENEWS_THE_DEAD(
      BrokenTables.RenewsTheDead::new,
      "renewalOfAReleasedGrant_saysThatItIsGone",
      "renewalOfAGrantThatRanOut_saysThatItIsGone_andTakesNothing",
      "renewalOfAGrantThatSomeoneElseHasNow_saysThatItIsGone",
      "forcedRelease_isNoticedAtTheNextRenewal"),

  RENEWS_IN_WORDS_ONLY(
      BrokenTables.RenewsInWordsOnly::new,
      "hold_isRenewed_forAsLongAsItIsHeld",
      "manyHolds_areAllRenewed",
      "extendToALongerLease_isKeptByTheStore"),

  WITHDRAWN_WAITER_IS_GRANTED(
      BrokenTables.WithdrawnWaiterIsGranted::new,
      "withdrawnWaiter_isNotGranted",
      "cancelledWait_leavesNoWaiterBehind",
      "cancelledWait_isPassedOver_whenTheLockIsReleased",
      "timedOutWait_saysWhoHeldTheLock_andLeavesNoWaiterBehind",
      "interruptedWait_leavesNoWaiterBehind"),

  WAITER_THAT_LEAVES_LETS_THE_NEXT_IN(
      BrokenTables.WaiterThatLeavesLetsTheNextIn::new, "waiterInTheMiddleThatGivesUp_letsNobodyIn"),

  WITHDRAW_LEAVES_THE_GRANT(
      BrokenTables.WithdrawLeavesTheGrant::new,
      "withdrawnGrant_opensTheName",
      "grantOfATry_thatWasLost_isUndone",
      "cancelWhileTheGrantIsUnderWay_leavesTheNameFree"),

  SHARED_ADMITS_A_WRITER(
      BrokenTables.SharedAdmitsAWriter::new,
      "readers_keepWritersOut",
      "writer_waitsForTheLastReader",
      "sharedClaim_isGrantedBesideOthers_andExclusiveIsNot"),

  PERMITS_EXCEED_THEIR_NUMBER(
      BrokenTables.PermitsExceedTheirNumber::new,
      "severalPermits_areAllOrNone",
      "severalPermits_areWaitedForTogether",
      "permits_areCountedByWhatEachClaimTook"),

  LAST_COME_FIRST_SERVED(
      BrokenTables.LastComeFirstServed::new,
      "waitingProcesses_areGrantedInTheirOrder",
      "inspection_showsWaitersInTheirOrder",
      "readerThatComesAfterAWaitingWriter_waitsBehindIt"),

  REFUSED_TRY_STAYS_IN_THE_QUEUE(
      BrokenTables.RefusedTryStaysInTheQueue::new,
      "refusedClaim_leavesNothingBehind",
      "retry_getsTheLockOnceItIsFree_andNeverQueues"),

  REPEAT_GETS_A_NEW_NUMBER(
      BrokenTables.RepeatGetsANewNumber::new,
      "claimRepeatedByItsOwner_isAnsweredWithTheSameGrant",
      "grantThatWasLost_isTheOneThatTheNextClaimGets"),

  REPEAT_IS_REFUSED(
      BrokenTables.RepeatIsRefused::new,
      "claimRepeatedByItsOwner_isAnsweredWithTheSameGrant",
      "claimRepeatedByItsOwner_startsTheLeaseAgain",
      "grantThatWasLost_isTheOneThatTheNextClaimGets"),

  DELAY_IS_IGNORED(
      BrokenTables.DelayIsIgnored::new,
      "lockDelay_keepsTheNameClosed_afterALeaseThatRanOut",
      "lockDelay_keepsTheNameClosed_afterItsProcessVanished",
      "withALockDelay_noReleaseIsSent_afterTheLocalDeadline"),

  LEASE_NEVER_ENDS(
      BrokenTables.LeaseNeverEnds::new,
      "waiter_getsTheLock_whenTheHolderHasVanished_andItsLeaseIsOver",
      "permitsOfAProcessThatVanished_comeBackWithItsLease",
      "inspection_showsHowMuchOfTheLeaseIsLeft"),

  KEEP_AT_LEAST_IS_IGNORED(
      BrokenTables.KeepAtLeastIsIgnored::new,
      "keepAtLeast_keepsTheNameClosed_afterAnEarlyRelease",
      "keepAtLeast_doesNotHandOff_soThatItRunsOnce"),

  FORCED_RELEASE_DOES_NOT_COMPARE(
      BrokenTables.ForcedReleaseDoesNotCompare::new,
      "forcedReleaseOfAnOldToken_leavesTheNewHolderAlone"),

  PREFIX_IS_A_GLOB(
      BrokenTables.PrefixIsAGlob::new, "listByAPrefixOfSpecialCharacters_takesThemLiterally"),

  NAMES_ARE_CASE_FOLDED(
      BrokenTables.ChangesNames::foldingCase,
      "namesThatDifferOnlyInCase_areTwo",
      "listByAPrefix_isExactAboutCase"),

  NAMES_ARE_STRIPPED(
      BrokenTables.ChangesNames::stripping, "namesThatDifferOnlyInATrailingSpace_areTwo"),

  NAMES_ARE_CUT(BrokenTables.ChangesNames::cutting, "longNamesThatDifferOnlyAtTheEnd_areTwo");

  final Function<LongSupplier, LockTable> table;
  final List<String> noticedBy;

  Breakage(Function<LongSupplier, LockTable> table, String... noticedBy) {
    this.table = table;
    this.noticedBy = List.of(noticedBy);
  }
}
