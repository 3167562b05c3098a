internal import CUncurlOpenSSL

/// How many iterations one file may still ask for to derive keys from its password (RFC 8018 §4.2). The counts are
/// numbers in the file: without a limit, a few hundred octets would take minutes.
struct DerivationBudget {
    /// OpenSSL 3 writes 2,048 by default, NSS 600,000: these are 1,800,000 in a PKCS #12 file, for its MAC, its
    /// certificates and its key. 2,000,000 take some seconds.
    static let limit: UInt64 = 2_000_000
    private var left = limit

    /// Takes the iterations that decrypt a key (RFC 5958 §3).
    mutating func take(_ encrypted: OpaquePointer?) throws(IdentityError) {
        guard let encrypted = unsafe encrypted else { return }
        var algorithm: UnsafePointer<X509_ALGOR>? = nil
        unsafe X509_SIG_get0(encrypted, &algorithm, nil)
        try unsafe take(algorithm)
    }

    /// Takes the iterations of a MAC (RFC 7292 §4): one if there is no number. PBMAC1 has another number in its
    /// algorithm (RFC 9579 §4).
    mutating func take(macOf file: OpaquePointer) throws(IdentityError) {
        var algorithm: UnsafePointer<X509_ALGOR>? = nil
        var count: UnsafePointer<ASN1_INTEGER>? = nil
        unsafe PKCS12_get0_mac(nil, &algorithm, nil, &count, file)
        try take(unsafe count == nil ? 1 : Self.number(count))
        try unsafe take(algorithm)
    }

    /// Takes the iterations that an algorithm's parameters name. Parameters that OpenSSL cannot read name none: it
    /// derives nothing from them.
    mutating func take(_ algorithm: UnsafePointer<X509_ALGOR>?) throws(IdentityError) {
        guard let algorithm = unsafe algorithm else { return }
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        try take(unsafe Self.iterations(of: algorithm.pointee))
    }

    private mutating func take(_ count: UInt64) throws(IdentityError) {
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
