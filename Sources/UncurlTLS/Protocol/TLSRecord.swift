/// What RFC 8446 says of records, the units in which TLS encrypts.
public enum TLSRecord {
    /// The most octets of content that one record carries (RFC 8446 §5.1).
    public static let maximumPlaintext = 16 * 1024
}
