package io.fenceline.jdbc.sql;

import io.fenceline.jdbc.layout.Tables;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** All statements of one dialect on one set of tables. */
public final class Statements {
  public final Tables tables;
  public final Sql claim;
  public final Sql release;
  public final Renewing renewing;
  public final Renewing renewingInAHurry;
  public final Sql readName;
  public final Sql readClaims;
  public final Sql createName;
  public final Sql saveName;
  public final Sql insertClaim;
  public final Sql updateClaim;
  public final Sql deleteClaim;
  public final Sql deadClaims;
  public final Sql endClaims;
  public final Sql fewerOthers;
  public final Sql time;
  public final Sql poll;
  public final Sql lookForTurns;
  public final Sql beat;
  public final Sql inspect;
  public final Sql list;
  public final Sql planted;
  public final Sql version;
  public final Sql checkWritable;
  public final Sql staleClaims;
  public final Sql beginSweep;
  public final Sql forgotten;
  public final Sql forget;
  public final Sql staleNames;
  public final Sql diagnose;
  public final @Nullable Sql rights;
  public final @Nullable Sql claimUncontended;
  public final @Nullable Sql releaseUncontended;
  public final @Nullable Sql tell;
  public final @Nullable Sql tellNext;
  public final @Nullable Sql enqueue;
  public final @Nullable Sql turn;
  public final @Nullable Sql beatAndLook;
  public final @Nullable Bell bell;

  /**
   * The statements of a renewal.
   *
   * @param rows for holders that are in their names' rows
   * @param foundRows which of them were there, where updates return no rows
   * @param claims for other holders
   * @param foundClaims as above, for these
   */
  public record Renewing(Sql rows, @Nullable Sql foundRows, Sql claims, @Nullable Sql foundClaims) {
    static Renewing of(Dialect dialect, Function<String, Sql> read) {
      boolean looks = !dialect.returnsUpdatedRows();
      return new Renewing(
          read.apply("renew"),
          looks ? read.apply("renewed") : null,
          read.apply("renew-claims"),
          looks ? read.apply("renewed-claims") : null);
    }
  }

  /**
   * The statements by which a process is woken that waits.
   *
   * @param listen takes the lock by which it is found
   * @param sleep looks, and sleeps until it is woken
   * @param sleepOnly the same, where there is nothing to look at
   * @param ring wakes the process of a claim
   */
  public record Bell(Sql listen, Sql sleep, Sql sleepOnly, Sql ring) {}

  public Statements(Dialect dialect, Tables tables) {
    this.tables = tables;
    Function<String, Sql> sql = dialect.sql(tables);
    claim = sql.apply("claim");
    release = sql.apply("release");
    renewing = Renewing.of(dialect, sql);
    renewingInAHurry = Renewing.of(dialect, dialect.hurriedSql(tables));
    readName = sql.apply("read-name");
    readClaims = sql.apply("read-claims");
    createName = sql.apply("create-name");
    saveName = sql.apply("save-name");
    insertClaim = sql.apply("insert-claim");
    updateClaim = sql.apply("update-claim");
    deleteClaim = sql.apply("delete-claim");
    deadClaims = sql.apply("dead-claims");
    endClaims = sql.apply("end-claims");
    fewerOthers = sql.apply("fewer-others");
    time = sql.apply("time");
    poll = sql.apply("poll");
    lookForTurns = sql.apply("look-for-turns");
    beat = sql.apply("beat");
    inspect = sql.apply("inspect");
    list = sql.apply("list");
    planted = sql.apply("planted");
    version = sql.apply("version");
    checkWritable = sql.apply("check-writable");
    staleClaims = sql.apply("stale-claims");
    beginSweep = sql.apply("begin-sweep");
    forgotten = sql.apply("forgotten");
    forget = sql.apply("forget");
    diagnose = sql.apply("diagnose");
    staleNames = sql.apply("stale-names");
    rights = dialect.showsRights() ? sql.apply("rights") : null;
    claimUncontended = dialect.hasUncontendedClaim() ? sql.apply("claim-uncontended") : null;
    releaseUncontended = dialect.hasUncontendedRelease() ? sql.apply("release-uncontended") : null;
    tell = dialect.tells() ? sql.apply("tell") : null;
    tellNext = dialect.tells() ? sql.apply("tell-next") : null;
    enqueue = dialect.hasTurn() ? sql.apply("enqueue") : null;
    beatAndLook =
        dialect.hasTurn() && !dialect.hasTurnsOfSeveral() ? sql.apply("beat-and-look") : null;
    turn = dialect.hasTurn() ? sql.apply("turn") : null;
    bell =
        dialect.hasBell()
            ? new Bell(
                sql.apply("listen"),
                sql.apply("bell"),
                sql.apply("bell-without-names"),
                sql.apply("ring"))
            : null;
  }
}
