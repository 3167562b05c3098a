internal import CUncurlOpenSSL

/// An `SSL_CTX` and what client and server contexts have in common. It does not change after its owner is made, so
/// threads may share it.
@safe final class OwnedContext: Sendable {
    private let address: UInt

    init(_ method: OpaquePointer?, minimum: TLSVersion, maximum: TLSVersion) throws(TLSError) {
        guard minimum <= maximum else { throw .configuration("\(minimum) to \(maximum) is no range") }
        guard OpenSSLStart.made, let context = unsafe SSL_CTX_new(method) else {
            throw .configuration(OpenSSLErrors.take().text)
        }
        address = UInt(bitPattern: context)
        guard unsafe uncurl_ctx_set_min_version(context, CInt(minimum.rawValue)) == 1,
            unsafe uncurl_ctx_set_max_version(context, CInt(maximum.rawValue)) == 1
        else { throw .configuration("\(minimum) to \(maximum)") }
        // Debian compiles this level in, others do not. With it, RSA of 1024 bits and SHA-1 signatures are refused
        // everywhere.
        unsafe SSL_CTX_set_security_level(context, 2)
        unsafe uncurl_ctx_set_common_options(context)
        // Buffers are given back when a connection is parked, not with every record as SSL_MODE_RELEASE_BUFFERS does:
        // that costs two pairs of malloc and free a request.
        _ = unsafe uncurl_ctx_set_mode(context, Int(SSL_MODE_AUTO_RETRY) | Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER))
        // OpenSSL's default callback asks on the terminal.
        unsafe SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in 0 }
    }

    deinit { unsafe SSL_CTX_free(handle) }

    var handle: OpaquePointer? { unsafe OpaquePointer(bitPattern: address) }

    func setCiphers(_ list: String?, suites: String?) throws(TLSError) {
        if let list, unsafe SSL_CTX_set_cipher_list(handle, list) != 1 { throw .configuration("ciphers \(list)") }
        if let suites, unsafe SSL_CTX_set_ciphersuites(handle, suites) != 1 {
            throw .configuration("cipher suites \(suites)")
        }
        OpenSSLErrors.forget()
    }
}
