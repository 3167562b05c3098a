/// The digest of a certificate's signature.
public enum TestDigest: Sendable { case sha256, sha384, sha1, md5 }
