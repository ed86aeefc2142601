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
  public final Sql inTurn;
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
  public final @Nullable Sql take;
  public final @Nullable Sql giveBack;
  public final @Nullable Sql tell;
  public final @Nullable Sql tellNext;
  public final @Nullable Sql enqueue;
  public final @Nullable Sql turn;
  public final @Nullable Sql beatAndLook;

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

  public Statements(Dialect dialect, Tables tables) {
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
