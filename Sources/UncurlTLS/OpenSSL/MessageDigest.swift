internal import CUncurlOpenSSL

/// The hash functions of Digest authentication (RFC 7616 §3.2), as OpenSSL computes them.
public enum MessageDigest: Hashable, Sendable {
    /// The algorithms that HTTP's authentication needs (RFC 7616 §3.2).
    case md5, sha256
    /// SHA-512 cut to 256 bits, with initial values of its own (FIPS 180-4 §5.3.6.2).
    case sha512Cut256

    /// Returns the digest of bytes. Nil if the system's OpenSSL refuses the function, as it does MD5 under FIPS.
    public func hash(_ bytes: Span<UInt8>) -> [UInt8]? {
        guard var digest = RunningDigest(self), digest.add(bytes) else { return nil }
        return digest.finish()
    }

    var function: OpaquePointer? {
        switch self {
        case .md5: unsafe EVP_md5()
        case .sha256: unsafe EVP_sha256()
        case .sha512Cut256: unsafe EVP_sha512_256()
        }
    }
}

/// The hash of content that comes in pieces. One thread at a time may use it.
@safe
package struct RunningDigest: ~Copyable {
    private let context: OpaquePointer

    /// Returns nil if the system's OpenSSL refuses the function, as it does MD5 under FIPS.
    package init?(_ function: MessageDigest) {
        guard isOpenSSLStarted, let context = unsafe EVP_MD_CTX_new() else { return nil }
        guard unsafe EVP_DigestInit_ex(context, function.function, nil) == 1 else {
            unsafe EVP_MD_CTX_free(context)
            return nil
        }
        unsafe self.context = unsafe context
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// Adds the next piece. Returns false if OpenSSL fails.
    package mutating func add(_ bytes: Span<UInt8>) -> Bool {
        unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) } == 1
    }

    /// Returns the hash of all pieces, or nil if OpenSSL failed.
    package consuming func finish() -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard unsafe EVP_DigestFinal_ex(context, &digest, &count) == 1 else { return nil }
        return Array(digest.prefix(Int(count)))
    }
}
