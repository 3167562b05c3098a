internal import CUncurlOpenSSL

/// What a PKCS #12 file holds (RFC 7292 §4): its certificates in their order, and its first key. It is opened part by
/// part: PKCS12_parse derives keys without a limit, also for parts that appear only when others are decrypted.
@safe struct PKCS12File {
    private var certificates: [Certificate] = []
    private var key: PrivateKey?
    private let password: String?
    private let library: OpaquePointer?
    private var budget: DerivationBudget
    private let isOpened: Bool

    /// - Parameters:
    ///   - library: The library context that decrypts. What was decrypted is in the default one, where handshakes sign.
    ///   - isOpened: Whether a MAC has shown that the password is right.
    private init(_ password: String?, _ library: OpaquePointer?, _ budget: DerivationBudget, isOpened: Bool) {
        self.password = password
        unsafe self.library = unsafe library
        self.budget = budget
        self.isOpened = isOpened
    }

    static func read(_ bytes: [UInt8], password: String?) throws(CertificateError) -> ([Certificate], PrivateKey) {
        guard isOpenSSLStarted else { throw .malformedPKCS12("OpenSSL does not start") }
        ERR_clear_error()
        defer { ERR_clear_error() }
        do throws(CertificateError) {
            return try unsafe read(bytes, password: password, library: nil)
        } catch .legacyEncryption(let why) {
            // The old algorithms get a library context of their own, so that the rest of the process does not get them.
            guard let library = unsafe OSSL_LIB_CTX_new() else { throw .legacyEncryption(why) }
            defer { unsafe OSSL_LIB_CTX_free(library) }
            guard let legacy = unsafe OSSL_PROVIDER_load(library, "legacy"),
                let standard = unsafe OSSL_PROVIDER_load(library, "default")
            else { throw .legacyEncryption(why) }
            defer {
                unsafe OSSL_PROVIDER_unload(legacy)
                unsafe OSSL_PROVIDER_unload(standard)
            }
            return try unsafe read(bytes, password: password, library: library)
        }
    }

    private static func read(
        _ bytes: [UInt8],
        password: String?,
        library: OpaquePointer?
    ) throws(CertificateError) -> ([Certificate], PrivateKey) {
        var file = unsafe PKCS12_init_ex(NID_pkcs7_data, library, nil)
        let isRead = unsafe bytes.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_PKCS12(&file, &cursor, buffer.count) != nil
        }
        defer { unsafe PKCS12_free(file) }
        guard isRead, let file = unsafe file else { throw .malformedPKCS12(OpenSSLErrors.take().text) }
        var budget = DerivationBudget()
        let password = try unsafe opening(file, password, &budget)
        var contents = unsafe PKCS12File(password, library, budget, isOpened: PKCS12_mac_present(file) == 1)
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
    ) throws(CertificateError) -> String? {
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

    private mutating func read(_ file: OpaquePointer) throws(CertificateError) {
        guard let safes = unsafe PKCS12_unpack_authsafes(file) else { throw fault() }
        defer { unsafe uncurl_free_safes(safes) }
        for index in unsafe 0..<uncurl_safe_count(safes) {
            guard let safe = unsafe uncurl_safe_at(safes, index) else { continue }
            try unsafe read(safe: safe)
        }
    }

    private mutating func read(safe: UnsafeMutablePointer<PKCS7>) throws(CertificateError) {
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

    private mutating func read(bags: OpaquePointer?) throws(CertificateError) {
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

    private mutating func take(_ information: OpaquePointer?) throws(CertificateError) {
        guard let information = unsafe information, let made = unsafe EVP_PKCS82PKEY(information) else { throw fault() }
        unsafe key = PrivateKey(adopting: made)
    }

    private func fault() -> CertificateError {
        let fault = OpenSSLErrors.take()
        if fault.isUnsupported { return .legacyEncryption(fault.text) }
        // Without a MAC, a wrong password looks like a damaged file.
        return isOpened ? .malformedPKCS12(fault.text) : .wrongPassword
    }
}

/// How many iterations one file may still ask for to derive keys from its password (RFC 8018 §4.2). The counts are
/// numbers in the file: without a limit, a few hundred octets would take minutes.
struct DerivationBudget {
    /// OpenSSL 3 writes 2,048 by default, NSS 600,000: these are 1,800,000 in a PKCS #12 file, for its MAC, its
    /// certificates and its key. 2,000,000 take some seconds.
    static let limit: UInt64 = 2_000_000
    private var left = limit

    /// Takes the iterations that decrypt a key (RFC 5958 §3).
    mutating func take(_ encrypted: OpaquePointer?) throws(CertificateError) {
        guard let encrypted = unsafe encrypted else { return }
        var algorithm: UnsafePointer<X509_ALGOR>? = nil
        unsafe X509_SIG_get0(encrypted, &algorithm, nil)
        try unsafe take(algorithm)
    }

    /// Takes the iterations of a MAC (RFC 7292 §4): one if there is no number. PBMAC1 has another number in its
    /// algorithm (RFC 9579 §4).
    mutating func take(macOf file: OpaquePointer) throws(CertificateError) {
        var algorithm: UnsafePointer<X509_ALGOR>? = nil
        var count: UnsafePointer<ASN1_INTEGER>? = nil
        unsafe PKCS12_get0_mac(nil, &algorithm, nil, &count, file)
        try take(unsafe count == nil ? 1 : Self.number(count))
        try unsafe take(algorithm)
    }

    /// Takes the iterations that an algorithm's parameters name. Parameters that OpenSSL cannot read name none: it
    /// derives nothing from them.
    mutating func take(_ algorithm: UnsafePointer<X509_ALGOR>?) throws(CertificateError) {
        guard let algorithm = unsafe algorithm else { return }
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        try take(unsafe Self.iterations(of: algorithm.pointee))
    }

    private mutating func take(_ count: UInt64) throws(CertificateError) {
        guard count <= left else { throw .tooManyIterations(limit: Int(Self.limit)) }
        left -= count
    }

    private static func iterations(of scheme: X509_ALGOR) -> UInt64 {
        switch unsafe OBJ_obj2nid(scheme.algorithm) {
        case NID_pbes2, NID_pbmac1:
            // The parameters of both begin with the function that derives the key (RFC 8018 §A.4, §A.5).
            unsafe parameters(of: scheme, PBE2PARAM_it()) { (scheme: PBE2PARAM) in
                unsafe scheme.keyfunc.map { unsafe iterations(ofFunction: $0.pointee) } ?? 0
            }
        default: unsafe parameters(of: scheme, PBEPARAM_it()) { (scheme: PBEPARAM) in unsafe number(scheme.iter) }
        }
    }

    private static func iterations(ofFunction function: X509_ALGOR) -> UInt64 {
        switch unsafe OBJ_obj2nid(function.algorithm) {
        case NID_id_pbkdf2:
            unsafe parameters(of: function, PBKDF2PARAM_it()) { (function: PBKDF2PARAM) in
                unsafe number(function.iter)
            }
        case NID_id_scrypt:
            // Its mix of 128 octets takes about as long as an iteration (RFC 7914 §6). OpenSSL limits the memory to
            // 32 MiB, but not the time.
            unsafe parameters(of: function, SCRYPT_PARAMS_it()) { (function: SCRYPT_PARAMS) in
                let factors = unsafe [
                    function.costParameter, function.blockSize, function.parallelizationParameter,
                ]
                return unsafe factors.reduce(1) { product, factor in
                    let (next, isTooLarge) = unsafe product.multipliedReportingOverflow(by: number(factor))
                    return isTooLarge ? .max : next
                }
            }
        default: 0
        }
    }

    private static func parameters<Parameters>(
        of algorithm: X509_ALGOR,
        _ item: OpaquePointer?,
        _ read: (Parameters) -> UInt64
    ) -> UInt64 {
        guard let memory = unsafe ASN1_TYPE_unpack_sequence(item, algorithm.parameter) else { return 0 }
        defer { unsafe ASN1_item_free(OpaquePointer(memory), item) }
        return unsafe read(memory.assumingMemoryBound(to: Parameters.self).pointee)
    }

    /// A negative number and one above 64 bits are the largest here: OpenSSL 3.0 would use their last 32 bits.
    private static func number(_ integer: UnsafePointer<ASN1_INTEGER>?) -> UInt64 {
        var value: UInt64 = 0
        return unsafe ASN1_INTEGER_get_uint64(&value, integer) == 1 ? value : .max
    }
}
