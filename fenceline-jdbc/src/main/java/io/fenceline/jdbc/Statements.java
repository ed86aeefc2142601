package io.fenceline.jdbc;

import org.jspecify.annotations.Nullable;

/** All statements of one dialect on one set of tables. */
final class Statements {
  final Sql claim;
  final Sql release;
  final Sql renew;
  final Sql renewClaims;
  final Sql readName;
  final Sql readClaims;
  final Sql createName;
  final Sql saveName;
  final Sql insertClaim;
  final Sql updateClaim;
  final Sql deleteClaim;
  final Sql poll;
  final Sql inTurn;
  final Sql beat;
  final Sql inspect;
  final Sql list;
  final Sql version;
  final Sql checkWritable;
  final Sql staleClaims;
  final Sql forget;
  final Sql staleNames;
  final Sql diagnose;
  final @Nullable Sql take;
  final @Nullable Sql giveBack;
  final @Nullable Sql tell;
  final @Nullable Sql renewed;
  final @Nullable Sql renewedClaims;

  Statements(Dialect dialect, Tables tables) {
    claim = dialect.sql("claim", tables);
    release = dialect.sql("release", tables);
    renew = dialect.sql("renew", tables);
    renewClaims = dialect.sql("renew-claims", tables);
    readName = dialect.sql("read-name", tables);
    readClaims = dialect.sql("read-claims", tables);
    createName = dialect.sql("create-name", tables);
    saveName = dialect.sql("save-name", tables);
    insertClaim = dialect.sql("insert-claim", tables);
    updateClaim = dialect.sql("update-claim", tables);
    deleteClaim = dialect.sql("delete-claim", tables);
    poll = dialect.sql("poll", tables);
    inTurn = dialect.sql("in-turn", tables);
    beat = dialect.sql("beat", tables);
    inspect = dialect.sql("inspect", tables);
    list = dialect.sql("list", tables);
    version = dialect.sql("version", tables);
    checkWritable = dialect.sql("check-writable", tables);
    staleClaims = dialect.sql("stale-claims", tables);
    forget = dialect.sql("forget", tables);
    diagnose = dialect.sql("diagnose", tables);
    staleNames = dialect.sql("stale-names", tables);
    take = dialect.hasTake() ? dialect.sql("take", tables) : null;
    giveBack = dialect.tells() ? dialect.sql("give-back", tables) : null;
    tell = dialect.tells() ? dialect.sql("tell", tables) : null;
    renewed = dialect.returnsUpdatedRows() ? null : dialect.sql("renewed", tables);
    renewedClaims = dialect.returnsUpdatedRows() ? null : dialect.sql("renewed-claims", tables);
  }
}
