internal import COpenSSL

/// What stands in OpenSSL's error queue of this thread, and the emptying of that queue.
struct OpenSSLFault {
    /// The errors' packed codes, oldest first.
    let codes: [CUnsignedLong]

    static func take() -> OpenSSLFault {
        var codes: [CUnsignedLong] = []
        while true {
            let code = ERR_get_error()
            if code == 0 { return OpenSSLFault(codes: codes) }
            codes.append(code)
        }
    }

    /// The oldest error, which is the cause; those after it say who passed it on.
    var text: String {
        guard let first = codes.first, let reason = unsafe ERR_reason_error_string(first) else {
            return "no reason given"
        }
        return unsafe String(cString: reason)
    }

    func holds(library: CInt, reason: CInt) -> Bool {
        codes.contains { uncurl_error_library($0) == library && uncurl_error_reason($0) == reason }
    }
}

/// The octets that an `i2d_…` function makes; none if it fails.
func encodedDER(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt) -> [UInt8] {
    var data: UnsafeMutablePointer<UInt8>? = nil
    let count = unsafe encode(&data)
    guard count > 0, let data = unsafe data else { return [] }
    defer { unsafe CRYPTO_free(data, nil, 0) }
    return unsafe Array(UnsafeBufferPointer(start: data, count: Int(count)))
}
