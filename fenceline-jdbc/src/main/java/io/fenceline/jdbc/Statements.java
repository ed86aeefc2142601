package io.fenceline.jdbc;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** All statements of one dialect on one set of tables. */
final class Statements {
  final Tables tables;
  final Sql claim;
  final Sql release;
  final Renewing renewing;
  final Renewing renewingInAHurry;
  final Sql readName;
  final Sql readClaims;
  final Sql createName;
  final Sql saveName;
  final Sql insertClaim;
  final Sql updateClaim;
  final Sql deleteClaim;
  final Sql deadClaims;
  final Sql endClaims;
  final Sql fewerOthers;
  final Sql time;
  final Sql poll;
  final Sql inTurn;
  final Sql beat;
  final Sql inspect;
  final Sql list;
  final Sql planted;
  final Sql version;
  final Sql checkWritable;
  final Sql staleClaims;
  final Sql beginSweep;
  final Sql forgotten;
  final Sql forget;
  final Sql staleNames;
  final Sql diagnose;
  final @Nullable Sql rights;
  final @Nullable Sql take;
  final @Nullable Sql giveBack;
  final @Nullable Sql tell;
  final @Nullable Sql tellNext;
  final @Nullable Sql enqueue;
  final @Nullable Sql turn;
  final @Nullable Sql beatAndLook;

  /**
   * The statements of a renewal.
   *
   * @param rows for holders that are in their names' rows
   * @param foundRows which of them were there, where updates return no rows
   * @param claims for other holders
   * @param foundClaims as above, for these
   */
  record Renewing(Sql rows, @Nullable Sql foundRows, Sql claims, @Nullable Sql foundClaims) {
    static Renewing of(Dialect dialect, Function<String, Sql> read) {
      boolean looks = !dialect.returnsUpdatedRows();
      return new Renewing(
          read.apply("renew"),
          looks ? read.apply("renewed") : null,
          read.apply("renew-claims"),
          looks ? read.apply("renewed-claims") : null);
    }
  }

  Statements(Dialect dialect, Tables tables) {
    this.tables = tables;
    claim = dialect.sql("claim", tables);
    release = dialect.sql("release", tables);
    renewing = Renewing.of(dialect, name -> dialect.sql(name, tables));
    renewingInAHurry = Renewing.of(dialect, name -> dialect.hurriedSql(name, tables));
    readName = dialect.sql("read-name", tables);
    readClaims = dialect.sql("read-claims", tables);
    createName = dialect.sql("create-name", tables);
    saveName = dialect.sql("save-name", tables);
    insertClaim = dialect.sql("insert-claim", tables);
    updateClaim = dialect.sql("update-claim", tables);
    deleteClaim = dialect.sql("delete-claim", tables);
    deadClaims = dialect.sql("dead-claims", tables);
    endClaims = dialect.sql("end-claims", tables);
    fewerOthers = dialect.sql("fewer-others", tables);
    time = dialect.sql("time", tables);
    poll = dialect.sql("poll", tables);
    inTurn = dialect.sql("in-turn", tables);
    beat = dialect.sql("beat", tables);
    inspect = dialect.sql("inspect", tables);
    list = dialect.sql("list", tables);
    planted = dialect.sql("planted", tables);
    version = dialect.sql("version", tables);
    checkWritable = dialect.sql("check-writable", tables);
    staleClaims = dialect.sql("stale-claims", tables);
    beginSweep = dialect.sql("begin-sweep", tables);
    forgotten = dialect.sql("forgotten", tables);
    forget = dialect.sql("forget", tables);
    diagnose = dialect.sql("diagnose", tables);
    staleNames = dialect.sql("stale-names", tables);
    rights = dialect.showsRights() ? dialect.sql("rights", tables) : null;
    take = dialect.hasTake() ? dialect.sql("take", tables) : null;
    giveBack = dialect.tells() ? dialect.sql("give-back", tables) : null;
    tell = dialect.tells() ? dialect.sql("tell", tables) : null;
    tellNext = dialect.tells() ? dialect.sql("tell-next", tables) : null;
    enqueue = dialect.hasTurn() ? dialect.sql("enqueue", tables) : null;
    beatAndLook = dialect.hasTurn() ? dialect.sql("beat-and-look", tables) : null;
    turn = dialect.hasTurn() ? dialect.sql("turn", tables) : null;
  }
}
