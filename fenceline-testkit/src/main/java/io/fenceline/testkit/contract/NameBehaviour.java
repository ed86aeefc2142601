package io.fenceline.testkit.contract;

import static io.fenceline.ReleaseOutcome.RELEASED;
import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Hold;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.testkit.scenario.Scenario;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Every name of 1 to 200 bytes works, in every store, and is a name of its own. */
abstract class NameBehaviour extends Scenario {

  NameBehaviour(LockContract contract) {
    super(contract::harness);
  }

  /** Does with a name all that one can do with a name. */
  private void worksAsAName(String name) {
    Hold hold = a.take(name);
    assertThat(b.tryTake(name)).isEmpty();
    assertThat(b.inspect(name).name()).isEqualTo(name);
    assertThat(b.inspect(name).holders())
        .extracting(LockReport.Holder::id)
        .containsExactly(hold.id());
    assertThat(b.fenceline().list(name, 10)).extracting(LockReport::name).contains(name);
    assertThat(hold.release()).isEqualTo(RELEASED);
    Hold next = b.take(name);
    assertThat(next.token()).isGreaterThan(hold.token());
    assertThat(b.fenceline().forceRelease(name, next.token())).isTrue();
    awaitFree(a, name);
  }

  private void areTwoNames(String one, String other) {
    Hold first = a.take(one);
    Hold second = b.take(other);

    assertThat(first.release()).isEqualTo(RELEASED);
    assertThat(second.isValid()).isTrue();
    assertThat(c.tryTake(other)).isEmpty();
    assertThat(c.inspect(one).isFree()).isTrue();
    assertThat(c.fenceline().list(one, 100)).extracting(LockReport::name).doesNotContain(one);
  }

  private static String filled(String start, int bytes) {
    StringBuilder name = new StringBuilder(start);
    while (name.length() < bytes) {
      name.append((char) ('a' + name.length() % 26));
    }
    return name.toString();
  }

  @Test
  void unicodeNames_work() {
    worksAsAName(name("Straße/東京/Ελλάδα/قفل"));
  }

  @Test
  void namesOfFourByteCharacters_work() {
    worksAsAName(name("🔒🗝️𝄞"));
  }

  @Test
  void namesWithSlashes_work() {
    worksAsAName(name("/orders//eu/7/"));
  }

  @Test
  void namesThatLookLikePaths_work() {
    worksAsAName(name("../.."));
    worksAsAName("..");
    worksAsAName(".");
  }

  @Test
  void namesWithSpaces_work() {
    worksAsAName(" " + name("a  lock with spaces") + " ");
  }

  @Test
  void namesOfOneCharacter_work() {
    worksAsAName("/");
    worksAsAName("%");
    worksAsAName(" ");
  }

  @Test
  void namesOf200Bytes_work() {
    String longest = filled(name("long-"), 200);
    assertThat(longest.getBytes(StandardCharsets.UTF_8)).hasSize(200);

    worksAsAName(longest);
  }

  @Test
  void namesOf200BytesInFewCharacters_work() {
    String longest = "🔒".repeat(41) + filled(name("x"), 36);
    assertThat(longest.getBytes(StandardCharsets.UTF_8)).hasSize(200);

    worksAsAName(longest);
  }

  @Test
  void longNamesThatDifferOnlyAtTheEnd_areTwo() {
    String stem = filled(name("long-"), 199);

    areTwoNames(stem + "1", stem + "2");
  }

  @Test
  void namesWithGlobCharacters_work() {
    worksAsAName(name("*?[a-z]!(x)^"));
  }

  @Test
  void namesWithHashTags_work() {
    worksAsAName(name("{tag}:{other}}{"));
  }

  @Test
  void namesWithSeparators_work() {
    worksAsAName(name("a:b|c;d,e.f#g&h=i+j~k@l"));
  }

  @Test
  void namesWithQuotesAndSqlWildcards_work() {
    worksAsAName(name("o'clock \"50%\" _under_ `tick` \\back\\ --"));
  }

  @Test
  void namesWithPercentEscapes_areNotDecoded() {
    areTwoNames(name("50%25/%2F"), name("50%//"));
  }

  @Test
  void namesThatDifferOnlyInCase_areTwo() {
    areTwoNames(name("Ledger"), name("lEDGER"));
  }

  @Test
  void namesThatDifferOnlyInATrailingSpace_areTwo() {
    areTwoNames(ledger, ledger + " ");
  }

  @Test
  void namesThatDifferOnlyInALeadingSpaceOrSlash_areTwo() {
    areTwoNames(ledger, " " + ledger);
    areTwoNames(name("slash"), "/" + name("slash"));
  }

  @Test
  void namesThatDifferOnlyInAccents_areTwo() {
    areTwoNames(name("cafe"), name("café"));
  }

  @Test
  void namesThatLookAlikeButAreComposedDifferently_areTwo() {
    areTwoNames(name("caf\u00e9"), name("cafe\u0301"));
  }

  @Test
  void nameThatIsThePrefixOfAnother_isItsOwn() {
    areTwoNames(ledger, ledger + "/entries");
    areTwoNames(ledger + "/x/1", ledger + "/x");
  }

  @Test
  void listByAPrefixOfSpecialCharacters_takesThemLiterally() {
    String base = name("lit");
    List<String> specials = List.of("*", "?", "%", "_", "[a]", "\\", "{}", "'", "^", "$", ".");
    a.take(base + "anything");
    for (String special : specials) {
      a.take(base + special + "x");
    }

    for (String special : specials) {
      assertThat(b.fenceline().list(base + special, 100))
          .as("names that start with %s", special)
          .extracting(LockReport::name)
          .containsExactly(base + special + "x");
    }
  }

  @Test
  void listByAPrefix_isExactAboutCase() {
    String lower = name("case") + "-abc";
    String upper = name("case") + "-ABC";
    a.take(lower);
    a.take(upper);

    assertThat(b.fenceline().list(name("case") + "-a", 10))
        .extracting(LockReport::name)
        .containsExactly(lower);
  }
}
