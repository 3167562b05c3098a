/// What a certificate is signed with.
public enum TestDigest: Sendable { case sha256, sha384, sha1, md5 }
