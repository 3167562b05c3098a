internal import COpenSSL

/// Decides whether a chain proves that the peer is who it should be.
enum PeerVerifier {
    static func verify(
        leaf: OpaquePointer,
        untrusted: OpaquePointer?,
        name: ServerName,
        context: TLSContext
    ) -> Result<VerifiedChain, TrustFailure> {
        let work = unsafe X509_STORE_CTX_new()
        defer { unsafe X509_STORE_CTX_free(work) }
        guard let store = unsafe context.trust.handle,
            unsafe X509_STORE_CTX_init(work, store, leaf, untrusted) == 1
        else { return .failure(.openSSL(X509_V_ERR_OUT_OF_MEM)) }
        let parameters = unsafe X509_STORE_CTX_get0_param(work)
        if name.isAddress {
            unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, name.text)
        } else {
            unsafe X509_VERIFY_PARAM_set1_host(parameters, name.text, 0)
        }
        unsafe X509_STORE_CTX_set_default(work, "ssl_server")
        guard unsafe X509_verify_cert(work) == 1 else {
            return unsafe .failure(.openSSL(X509_STORE_CTX_get_error(work)))
        }
        return unsafe .success(presented(leaf: leaf, untrusted: untrusted))
    }

    static func presented(leaf: OpaquePointer, untrusted: OpaquePointer?) -> VerifiedChain {
        var digest = [UInt8](repeating: 0, count: 32)
        unsafe X509_digest(leaf, EVP_sha256(), &digest, nil)
        return VerifiedChain(leafSHA256: digest, spkiSHA256: [])
    }
}
