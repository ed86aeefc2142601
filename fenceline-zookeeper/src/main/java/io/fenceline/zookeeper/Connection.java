package io.fenceline.zookeeper;

import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.settings.Durations;
import io.fenceline.spi.StoreContext;
import io.fenceline.time.Moment;
import io.fenceline.zookeeper.layout.Layout;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.proto.CreateRequest;
import org.jspecify.annotations.Nullable;

/**
 * A client that is connected, and the folder that it may use.
 *
 * @param client Curator's
 * @param isOurs whether it is closed with the store
 * @param description for messages, without secrets
 * @param chroot what the connect string adds to every path; empty for nothing
 * @param root the folder of everything, namespace included
 * @param acl what every node gets
 * @param timeoutMillis what session timeout was agreed on
 * @param before a moment before the session was made; null if that is not known
 */
record Connection(
    CuratorFramework client,
    boolean isOurs,
    String description,
    String chroot,
    String root,
    List<ACL> acl,
    int timeoutMillis,
    @Nullable Moment before) {

  /** Connects, and makes the folder if it is not there. */
  static Connection open(StoreContext context, ZooKeeperStores settings) {
    CuratorFramework client = settings.client(context);
    Moment before = settings.isOurs() ? context.time().now() : null;
    String namespace = client.getNamespace();
    boolean plain = namespace == null || namespace.isEmpty();
    String root = (plain ? "" : "/" + namespace) + settings.root();
    String connectString = client.getZookeeperClient().getCurrentConnectionString();
    String chroot = new ConnectStringParser(connectString).getChrootPath();
    String description = "zookeeper://" + connectString + root;
    try {
      connect(client, context, settings, description);
      List<ACL> acl = prepare(client, settings, root, description);
      int timeout = client.getZookeeperClient().getLastNegotiatedSessionTimeoutMs();
      return new Connection(
          client,
          settings.isOurs(),
          description,
          chroot == null ? "" : chroot,
          root,
          acl,
          timeout,
          before);
    } catch (RuntimeException e) {
      if (settings.isOurs()) {
        client.close();
      }
      throw e;
    }
  }

  private static void connect(
      CuratorFramework client, StoreContext context, ZooKeeperStores settings, String description) {
    if (settings.isOurs()) {
      client.start();
    } else if (client.getState() != CuratorFrameworkState.STARTED) {
      throw new IllegalStateException("Start the CuratorFramework before it is used for locks");
    }
    boolean connected;
    try {
      connected =
          client.blockUntilConnected(
              (int) context.connectTimeout().toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreUnavailableException(description, "Connecting was interrupted", e);
    }
    if (!connected) {
      throw new StoreUnavailableException(
          description,
          "No ZooKeeper server answered within %s; check host, port and TLS, and that it runs"
              .formatted(Durations.show(context.connectTimeout())),
          null);
    }
  }

  /** Makes the folder, and says which ACL the nodes in it get. */
  private static List<ACL> prepare(
      CuratorFramework namespaced, ZooKeeperStores settings, String root, String description) {
    CuratorFramework client = namespaced.usingNamespace(null);
    List<ACL> acl = settings.aclFor(root);
    try {
      String found = format(client, root);
      if (found.isEmpty()) {
        createIfMissing(client, root, acl);
        createIfMissing(client, root + "/heartbeat", acl);
        createIfMissing(client, root + "/locks", acl);
        // The last step: where this is written, the rest is there.
        client.setData().forPath(root, Layout.formatBytes());
      } else if (!found.equals(Layout.FORMAT)) {
        throw new StoreRefusedException(
            "The folder %s is in use for something else: it contains '%s' instead of '%s'; use another folder (store=%s)"
                .formatted(
                    root,
                    found.length() > 60 ? found.substring(0, 60) + "…" : found,
                    Layout.FORMAT,
                    description),
            null);
      }
      return acl == null ? aclOfTheFramework(client, root + "/locks") : acl;
    } catch (StoreRefusedException e) {
      throw e;
    } catch (KeeperException.NoAuthException | KeeperException.InvalidACLException e) {
      throw new StoreRefusedException(
          "This client has no permission on %s; check the ACL and the login (store=%s)"
              .formatted(e.getPath(), description),
          e);
    } catch (KeeperException.AuthFailedException e) {
      throw new StoreRefusedException(
          "ZooKeeper refused the login; check user and password (store=" + description + ")", e);
    } catch (Exception e) {
      throw new StoreUnavailableException(
          description, "The folder could not be created: " + e.getMessage(), e);
    }
  }

  private static String format(CuratorFramework client, String root) throws Exception {
    try {
      byte[] found = client.getData().forPath(root);
      return found == null ? "" : new String(found, StandardCharsets.UTF_8);
    } catch (KeeperException.NoNodeException e) {
      return "";
    }
  }

  /**
   * Claims are made without the framework, which does not tell its ACL: a request of it shows it,
   * and is not sent.
   */
  private static List<ACL> aclOfTheFramework(CuratorFramework client, String path)
      throws Exception {
    Op create = client.transactionOp().create().forPath(path).get();
    return ((CreateRequest) create.toRequestRecord()).getAcl();
  }

  private static void createIfMissing(CuratorFramework client, String path, @Nullable List<ACL> acl)
      throws Exception {
    try {
      if (acl == null) {
        client.create().creatingParentsIfNeeded().forPath(path, new byte[0]);
      } else {
        client.create().creatingParentsIfNeeded().withACL(acl).forPath(path, new byte[0]);
      }
    } catch (KeeperException.NodeExistsException e) {
      // Another client was faster, or someone made it for us.
    }
  }
}
