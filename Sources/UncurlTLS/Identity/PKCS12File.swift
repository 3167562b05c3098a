internal import CUncurlOpenSSL

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
        var budget = DerivationBudget()
        let password = try unsafe opening(file, password, &budget)
        var contents = unsafe PKCS12Contents(
            password,
            library?.context,
            budget,
            isOpened: PKCS12_mac_present(file) == 1
        )
        try unsafe contents.read(file)
        var chain = contents.certificates
        guard !chain.isEmpty else { throw .noCertificate }
        guard let key = contents.key else { throw .noKey }
        if let own = chain.firstIndex(where: { unsafe X509_check_private_key($0.pointer, key.pointer) == 1 }) {
            chain.insert(chain.remove(at: own), at: 0)
        }
        return (chain, key)
    }

    /// Returns the password in the form that the file was made with: there are two forms of an empty password.
    private static func opening(
        _ file: OpaquePointer,
        _ password: String?,
        _ budget: inout DerivationBudget
    ) throws(IdentityError) -> String? {
        guard unsafe PKCS12_mac_present(file) == 1 else { return password == "" ? nil : password }
        try unsafe budget.take(macOf: file)
        let candidates: [String?] = password == nil || password == "" ? [nil, ""] : [password]
        for candidate in candidates {
            if unsafe PKCS12_verify_mac(file, candidate, candidate == nil ? 0 : -1) == 1 { return candidate }
        }
        let fault = OpenSSLErrors.take()
        if fault.isUnsupported { throw .legacyEncryption(fault.text) }
        throw password == nil ? .passwordNeeded : .wrongPassword
    }
}

/// What a PKCS #12 file holds (RFC 7292 §4): its certificates in their order, and its first key. It is opened part by
/// part: PKCS12_parse derives keys without a limit, also for parts that appear only when others are decrypted.
@safe private struct PKCS12Contents {
    private(set) var certificates: [Certificate] = []
    private(set) var key: PrivateKey?
    private let password: String?
    private let library: OpaquePointer?
    private var budget: DerivationBudget
    private let isOpened: Bool

    /// - Parameters:
    ///   - library: The library context that decrypts. What was decrypted is in the default one, where handshakes sign.
    ///   - isOpened: Whether a MAC has shown that the password is right.
    init(_ password: String?, _ library: OpaquePointer?, _ budget: DerivationBudget, isOpened: Bool) {
        self.password = password
        unsafe self.library = unsafe library
        self.budget = budget
        self.isOpened = isOpened
    }

    mutating func read(_ file: OpaquePointer) throws(IdentityError) {
        guard let safes = unsafe PKCS12_unpack_authsafes(file) else { throw fault() }
        defer { unsafe uncurl_free_safes(safes) }
        for index in unsafe 0..<uncurl_safe_count(safes) {
            guard let safe = unsafe uncurl_safe_at(safes, index) else { continue }
            try unsafe read(safe: safe)
        }
    }

    private mutating func read(safe: UnsafeMutablePointer<PKCS7>) throws(IdentityError) {
        let bags: OpaquePointer?
        switch unsafe OBJ_obj2nid(safe.pointee.type) {
        case NID_pkcs7_data: unsafe bags = PKCS12_unpack_p7data(safe)
        case NID_pkcs7_encrypted:
            try unsafe budget.take(safe.pointee.d.encrypted?.pointee.enc_data?.pointee.algorithm)
            unsafe bags = PKCS12_unpack_p7encdata(safe, password, -1)
        default: return
        }
        guard let bags = unsafe bags else { throw fault() }
        defer { unsafe uncurl_free_bags(bags) }
        try unsafe read(bags: bags)
    }

    private mutating func read(bags: OpaquePointer?) throws(IdentityError) {
        for index in unsafe 0..<uncurl_bag_count(bags) {
            guard let bag = unsafe uncurl_bag_at(bags, index) else { continue }
            switch unsafe PKCS12_SAFEBAG_get_nid(bag) {
            case NID_keyBag where key == nil: try unsafe take(PKCS12_SAFEBAG_get0_p8inf(bag))
            case NID_pkcs8ShroudedKeyBag where key == nil:
                try unsafe budget.take(PKCS12_SAFEBAG_get0_pkcs8(bag))
                let information = unsafe PKCS12_decrypt_skey_ex(bag, password, -1, library, nil)
                defer { unsafe PKCS8_PRIV_KEY_INFO_free(information) }
                try unsafe take(information)
            case NID_certBag where unsafe PKCS12_SAFEBAG_get_bag_nid(bag) == NID_x509Certificate:
                guard let certificate = unsafe PKCS12_SAFEBAG_get1_cert(bag) else { throw fault() }
                unsafe certificates.append(Certificate(adopting: certificate))
            case NID_safeContentsBag: try unsafe read(bags: PKCS12_SAFEBAG_get0_safes(bag))
            default: continue
            }
        }
    }

    private mutating func take(_ information: OpaquePointer?) throws(IdentityError) {
        guard let information = unsafe information, let made = unsafe EVP_PKCS82PKEY(information) else { throw fault() }
        unsafe key = PrivateKey(adopting: made)
    }

    private func fault() -> IdentityError {
        let fault = OpenSSLErrors.take()
        if fault.isUnsupported { return .legacyEncryption(fault.text) }
        // Without a MAC, a wrong password looks like a damaged file.
        return isOpened ? .malformedPKCS12(fault.text) : .wrongPassword
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
