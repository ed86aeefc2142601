package io.fenceline.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockLostException;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.PriorityOrdered;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

/** The lock is outside of the transaction. */
@Timeout(300)
class LockedTransactionTest {
  private Application application;

  @AfterEach
  void stop() {
    if (application != null) {
      application.close();
    }
  }

  /** Notes whether the lock is held when a transaction begins and ends. */
  static class Journal extends AbstractPlatformTransactionManager {
    final List<String> entries = new CopyOnWriteArrayList<>();
    @Autowired transient Fenceline fenceline;
    private final ThreadLocal<Object> current = new ThreadLocal<>();

    private void note(String event) {
      entries.add(event + (fenceline.inspect("row").isFree() ? " free" : " locked"));
    }

    @Override
    protected Object doGetTransaction() {
      return this;
    }

    @Override
    protected boolean isExistingTransaction(Object transaction) {
      return current.get() != null;
    }

    @Override
    protected Object doSuspend(Object transaction) {
      Object suspended = current.get();
      current.remove();
      return suspended;
    }

    @Override
    protected void doResume(Object transaction, Object suspended) {
      current.set(suspended);
    }

    @Override
    protected void doBegin(Object transaction, TransactionDefinition definition) {
      current.set("running");
      note("begin");
    }

    @Override
    protected void doCommit(DefaultTransactionStatus status) {
      note("commit");
    }

    @Override
    protected void doRollback(DefaultTransactionStatus status) {
      note("rollback");
    }

    @Override
    protected void doSetRollbackOnly(DefaultTransactionStatus status) {}

    @Override
    protected void doCleanupAfterCompletion(Object transaction) {
      current.remove();
    }
  }

  static class Rows {
    @Locked("row")
    @Transactional
    public void write() {}

    @Locked("row")
    @Transactional(propagation = Propagation.REQUIRES_NEW)
    public void writeApart() {}

    @Locked("row")
    public Hold writeWithout(Hold hold) {
      return hold;
    }

    @Locked(name = "row", inTransaction = Locked.InTransaction.HOLD_TO_THE_END, lease = "10s")
    public Hold writeToTheEnd(Hold hold) {
      return hold;
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableLocked(proxyTargetClass = true)
  @EnableTransactionManagement(proxyTargetClass = true)
  static class Usual {
    @Bean
    PlatformTransactionManager transactions() {
      return new Journal();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableLocked(proxyTargetClass = true)
  @EnableTransactionManagement(proxyTargetClass = true, order = 0)
  static class Inverted {
    @Bean
    PlatformTransactionManager transactions() {
      return new Journal();
    }
  }

  private Rows rows() {
    application = Application.startEnabledBy(Usual.class, Rows.class);
    return application.bean(Rows.class);
  }

  private List<String> journal() {
    return application.bean(Journal.class).entries;
  }

  private TransactionTemplate transaction() {
    return new TransactionTemplate(application.bean(PlatformTransactionManager.class));
  }

  /** redisson#2183; ShedLock's advice has the same order as that of transactions. */
  @Test
  void lock_isReleasedAfterTheCommit() {
    rows().write();
    assertThat(journal()).containsExactly("begin locked", "commit locked");
    assertThat(application.isFree("row")).isTrue();
  }

  /** redisson#2183, made on purpose. */
  @Test
  void transactionOutsideOfTheLock_failsTheStart() {
    assertThatThrownBy(() -> application = Application.startEnabledBy(Inverted.class, Rows.class))
        .rootCause()
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("its transaction is outside of the lock")
        .hasMessageContaining("Rows.write")
        .hasMessageContaining("@EnableTransactionManagement");
  }

  /** klock#26: a release that is put off to the end does not help an older snapshot. */
  @Test
  void callInsideARunningTransaction_isRefused_withTheReason() {
    Rows rows = rows();
    assertThatThrownBy(() -> transaction().executeWithoutResult(status -> rows.write()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("Lock 'row' was not acquired for Rows.write()")
        .hasMessageContaining("snapshot that is older than the lock");
    assertThat(journal()).containsExactly("begin free", "rollback free");
    assertThatThrownBy(
            () ->
                transaction()
                    .executeWithoutResult(
                        status -> {
                          try {
                            application.bean(LockTemplate.class).run("row", hold -> {});
                          } catch (InterruptedException e) {
                            throw new AssertionError(e);
                          }
                        }))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("a transaction is already running");
  }

  @Test
  void methodWithATransactionOfItsOwn_isCalledInsideAnother() {
    Rows rows = rows();
    transaction().executeWithoutResult(status -> rows.writeApart());
    assertThat(journal())
        .containsExactly("begin free", "begin locked", "commit locked", "commit free");
  }

  /** klock#26, where it is asked for. */
  @Test
  void heldToTheEnd_isReleasedAfterTheCallersCommit_andEnteredAgainBefore() {
    Rows rows = rows();
    transaction()
        .executeWithoutResult(
            status -> {
              long token = rows.writeToTheEnd(null).token();
              assertThat(application.isFree("row")).isFalse();
              assertThat(rows.writeToTheEnd(null).token()).isEqualTo(token);
              assertThat(rows.writeWithout(null).token()).isEqualTo(token);
            });
    assertThat(journal()).containsExactly("begin free", "commit locked");
    assertThat(application.isFree("row")).isTrue();
    rows.writeToTheEnd(null);
    assertThat(application.isFree("row")).as("without a transaction").isTrue();
  }

  @Test
  void heldToTheEnd_andLostBefore_forbidsTheCommit() {
    ManualTime time = new ManualTime();
    application = Application.start(time, Rows.class, Journal.class);
    Rows rows = application.bean(Rows.class);
    assertThatThrownBy(
            () ->
                transaction()
                    .executeWithoutResult(
                        status -> {
                          rows.writeToTheEnd(null);
                          time.pause(Duration.ofMinutes(1));
                        }))
        .isInstanceOf(LockLostException.class);
    assertThat(journal()).last().asString().startsWith("rollback");
  }

  @Configuration(proxyBeanMethods = false)
  @EnableLocked(proxyTargetClass = true)
  static class Early {
    @Bean
    static Peeking peeking(Rows rows) {
      return new Peeking();
    }
  }

  static class Peeking implements BeanPostProcessor, PriorityOrdered {
    @Override
    public int getOrder() {
      return 0;
    }
  }

  @Test
  void beanThatIsMadeBeforeProxiesAre_failsTheStart() {
    assertThatThrownBy(() -> application = Application.startEnabledBy(Early.class, Rows.class))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("its bean has no proxy");
  }
}
