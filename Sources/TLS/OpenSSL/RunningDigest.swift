internal import COpenSSL

/// The hash of content that comes in pieces. For one thread at a time.
@safe
package struct RunningDigest: ~Copyable {
    private let context: OpaquePointer

    /// Nil if the system's OpenSSL refuses the function, as it does MD5 under FIPS.
    package init?(_ function: MessageDigest) {
        guard OpenSSLStart.made, let context = unsafe EVP_MD_CTX_new() else { return nil }
        guard unsafe EVP_DigestInit_ex(context, function.function, nil) == 1 else {
            unsafe EVP_MD_CTX_free(context)
            return nil
        }
        unsafe self.context = unsafe context
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// Takes the next piece. False: OpenSSL has failed.
    package mutating func add(_ bytes: Span<UInt8>) -> Bool {
        unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) } == 1
    }

    /// The hash of all pieces; nil: OpenSSL has failed.
    package consuming func finish() -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard unsafe EVP_DigestFinal_ex(context, &digest, &count) == 1 else { return nil }
        return Array(digest.prefix(Int(count)))
    }
}
