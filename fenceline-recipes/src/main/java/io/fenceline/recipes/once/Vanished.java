package io.fenceline.recipes.once;

/**
 * What becomes of a key whose worker began and was not heard of again: it may have had its effect,
 * or not. Only the caller can know which of these is right, so there is no default.
 */
public enum Vanished {
  /**
   * The next one who asks works again. Right if the effect is in the same transaction as the record
   * (SQL), if doing it twice does no harm, or if whoever has the effect refuses a second one by the
   * key or the token.
   */
  RERUN,
  /**
   * The key is refused until somebody has found out, and says so by {@link Once#settle} or {@link
   * Once#forget}. Right for a card that must not be charged twice.
   */
  IN_DOUBT
}
