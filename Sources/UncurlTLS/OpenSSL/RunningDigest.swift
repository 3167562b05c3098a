internal import CUncurlOpenSSL

/// The hash of content that comes in pieces. One thread at a time may use it.
@safe
package struct RunningDigest: ~Copyable {
    private let context: OpaquePointer

    /// Returns nil if the system's OpenSSL refuses the function, as it does MD5 under FIPS.
    package init?(_ function: MessageDigest) {
        guard OpenSSLStart.made, let context = unsafe EVP_MD_CTX_new() else { return nil }
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
