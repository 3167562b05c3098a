internal import COpenSSL

/// The thread's error queue. Whatever reads it empties it.
enum OpenSSLErrors {
    /// The earliest entry, which names the cause; later ones tell who passed it on.
    static func take() -> (library: CInt, reason: CInt, text: String)? {
        let code = ERR_get_error()
        guard code != 0 else { return nil }
        ERR_clear_error()
        return (ERR_GET_LIB(code), ERR_GET_REASON(code), words(code))
    }

    /// The earliest entry in words.
    static func text() -> String? {
        let code = ERR_get_error()
        guard code != 0 else { return nil }
        ERR_clear_error()
        return words(code)
    }

    static func forget() { ERR_clear_error() }

    static func words(_ code: UInt) -> String {
        guard let reason = unsafe ERR_reason_error_string(code) else { return "error \(String(code, radix: 16))" }
        return unsafe String(cString: reason)
    }
}
