internal import CUncurlOpenSSL

/// The entries of this thread's error queue. Taking them empties the queue.
struct OpenSSLErrors {
    /// The packed codes, the earliest first: that one is the cause, and later ones tell which functions passed it on.
    private let codes: [CUnsignedLong]

    static func take() -> OpenSSLErrors {
        var codes: [CUnsignedLong] = []
        while true {
            let code = ERR_get_error()
            if code == 0 { return OpenSSLErrors(codes: codes) }
            codes.append(code)
        }
    }

    static func forget() { ERR_clear_error() }

    var first: (library: CInt, reason: CInt, text: String)? {
        codes.first.map { (ERR_GET_LIB($0), ERR_GET_REASON($0), Self.words($0)) }
    }

    /// The cause in words.
    var text: String { first?.text ?? "no reason given" }

    func holds(library: CInt, reason: CInt) -> Bool {
        codes.contains { ERR_GET_LIB($0) == library && ERR_GET_REASON($0) == reason }
    }

    /// Whether the failure was an algorithm that no loaded provider has.
    var isUnsupported: Bool {
        codes.contains { ERR_GET_REASON($0) == uncurl_unsupported_reason() }
            || holds(library: ERR_LIB_EVP, reason: EVP_R_UNSUPPORTED_ALGORITHM)
            || holds(library: ERR_LIB_EVP, reason: EVP_R_UNSUPPORTED_CIPHER)
    }

    private static func words(_ code: CUnsignedLong) -> String {
        guard let reason = unsafe ERR_reason_error_string(code) else { return "error \(String(code, radix: 16))" }
        return unsafe String(cString: reason)
    }
}
