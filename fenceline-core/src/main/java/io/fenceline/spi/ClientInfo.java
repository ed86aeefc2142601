package io.fenceline.spi;

/**
 * Who a client is, for people: shown by inspection, never compared.
 *
 * @param label as given by the user; the host and process id unless given
 * @param host name of the machine
 * @param pid process id
 */
public record ClientInfo(String label, String host, long pid) {}
