internal import COpenSSL

/// Reads PKCS #12 files (RFC 7292).
enum PKCS12File {
    static func read(_ bytes: [UInt8], password: String?) throws(IdentityError) -> ([Certificate], PrivateKey) {
        guard OpenSSLStart.made else { throw .malformedPKCS12("OpenSSL does not start") }
        ERR_clear_error()
        defer { ERR_clear_error() }
        do throws(IdentityError) {
            return try read(bytes, password: password, library: nil)
        } catch .legacyEncryption(let why) {
            // The old algorithms get a library context of their own, so that the rest of the process does not get them.
            guard let library = LegacyLibrary() else { throw .legacyEncryption(why) }
            return try read(bytes, password: password, library: library)
        }
    }

    private static func read(
        _ bytes: [UInt8],
        password: String?,
        library: LegacyLibrary?
    ) throws(IdentityError) -> ([Certificate], PrivateKey) {
        var file = unsafe PKCS12_init_ex(NID_pkcs7_data, library?.context, nil)
        let isRead = unsafe bytes.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_PKCS12(&file, &cursor, buffer.count) != nil
        }
        defer { unsafe PKCS12_free(file) }
        guard isRead, let file = unsafe file else { throw .malformedPKCS12(OpenSSLErrors.take().text) }
        let password = try unsafe opening(file, password)
        var key: OpaquePointer? = nil
        var leaf: OpaquePointer? = nil
        var others: OpaquePointer? = nil
        let isOpen = unsafe PKCS12_parse(file, password, &key, &leaf, &others) == 1
        let rest = unsafe CertificateStack(adopting: others)
        let owned = unsafe leaf.map { unsafe Certificate(adopting: $0) }
        let ownedKey = unsafe key.map { unsafe PrivateKey(adopting: $0) }
        if !isOpen { throw fault(isOpened: unsafe PKCS12_mac_present(file) == 1) }
        guard let owned else { throw .noCertificate }
        guard let ownedKey else { throw .noKey }
        var chain = [owned]
        // OpenSSL 3.0 returns the certificates in the reverse of the file's order.
        for index in 0..<rest.count {
            if let one = unsafe rest[index] { unsafe chain.append(Certificate(retaining: one)) }
        }
        guard library != nil else { return (chain, ownedKey) }
        return (try chain.map(moved), try moved(ownedKey))
    }

    /// Returns the password in the form that the file was made with: there are two forms of an empty password.
    private static func opening(_ file: OpaquePointer, _ password: String?) throws(IdentityError) -> String? {
        guard unsafe PKCS12_mac_present(file) == 1 else { return password }
        let candidates: [String?] = password == nil || password == "" ? [nil, ""] : [password]
        for candidate in candidates {
            if unsafe PKCS12_verify_mac(file, candidate, candidate == nil ? 0 : -1) == 1 { return candidate }
        }
        let fault = OpenSSLErrors.take()
        if fault.isUnsupported { throw .legacyEncryption(fault.text) }
        throw password == nil ? .passwordNeeded : .wrongPassword
    }

    private static func fault(isOpened: Bool) -> IdentityError {
        let fault = OpenSSLErrors.take()
        if fault.isUnsupported { return .legacyEncryption(fault.text) }
        // The MAC has shown that the password is right. Without a MAC, a wrong password looks like a damaged file.
        return isOpened ? .malformedPKCS12(fault.text) : .wrongPassword
    }

    /// Returns the same certificate in the default library context. Newer OpenSSL makes certificates in the file's.
    private static func moved(_ certificate: Certificate) throws(IdentityError) -> Certificate {
        do throws(CertificateError) {
            return try Certificate(der: certificate.der)
        } catch {
            throw .malformedPKCS12("\(error)")
        }
    }

    /// Returns the same key in the default library context, where handshakes sign.
    private static func moved(_ key: PrivateKey) throws(IdentityError) -> PrivateKey {
        let der = unsafe encodedDER { unsafe i2d_PrivateKey(key.pointer, $0) }
        let made = unsafe der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var cursor = buffer.baseAddress
            return unsafe d2i_AutoPrivateKey(nil, &cursor, buffer.count)
        }
        guard let made = unsafe made else { throw .malformedKey(OpenSSLErrors.take().text) }
        return unsafe PrivateKey(adopting: made)
    }
}

/// A library context with the legacy provider, which exists while one file is read.
@safe private final class LegacyLibrary {
    let context: OpaquePointer
    private let providers: (legacy: OpaquePointer, standard: OpaquePointer)

    /// Returns nil if the provider is not installed.
    init?() {
        guard let context = unsafe OSSL_LIB_CTX_new() else { return nil }
        guard let legacy = unsafe OSSL_PROVIDER_load(context, "legacy"),
            let standard = unsafe OSSL_PROVIDER_load(context, "default")
        else {
            unsafe OSSL_LIB_CTX_free(context)
            return nil
        }
        unsafe self.context = context
        unsafe providers = (legacy, standard)
    }

    deinit {
        unsafe OSSL_PROVIDER_unload(providers.legacy)
        unsafe OSSL_PROVIDER_unload(providers.standard)
        unsafe OSSL_LIB_CTX_free(context)
    }
}
