internal import CUncurlOpenSSL
internal import UncurlText

/// Whether OpenSSL started. It is started without its cleanup at `exit`: threads that outlive the main one, such as one
/// that still reads a trust store, would go on in freed tables (seen as a crash in one of thirty short runs). The
/// kernel takes the memory back.
///
/// Only the first initialisation of a process decides that. Each piece of code that may use OpenSSL first therefore
/// asks here: all code that makes a context, reads a certificate or a key, or computes a hash, and the test server's
/// keys. Any thread may ask.
package let isOpenSSLStarted = OPENSSL_init_ssl(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

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

/// Returns the octets that an `i2d_…` function makes. They are empty if it fails.
func encodedDER(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt) -> [UInt8] {
    var data: UnsafeMutablePointer<UInt8>? = nil
    let count = unsafe encode(&data)
    guard count > 0, let data = unsafe data else { return [] }
    defer { unsafe CRYPTO_free(data, nil, 0) }
    return unsafe Array(UnsafeBufferPointer(start: data, count: Int(count)))
}

/// Returns what a `d2i_…` function reads. It moves the pointer to the end of that.
func decodedDER(
    _ bytes: [UInt8],
    _ decode: (inout UnsafePointer<UInt8>?, Int) -> OpaquePointer?
) -> (made: OpaquePointer?, isWhole: Bool) {
    unsafe bytes.withUnsafeBufferPointer { buffer in
        var cursor = buffer.baseAddress
        let made = unsafe decode(&cursor, buffer.count)
        return unsafe (made, cursor == buffer.baseAddress.map { unsafe $0 + buffer.count })
    }
}

/// Whether the labels of a DNS name have 1 to 63 octets (RFC 1035 §2.3.4), which are letters, digits, hyphens and
/// underscores.
func hasNameLabels(_ labels: [some Collection<UInt8>]) -> Bool {
    labels.allSatisfy { label in
        1...63 ~= label.count && label.allSatisfy { $0.isASCIIAlphanumeric || "-_".utf8.contains($0) }
    }
}

/// The bytes that `write` puts into a memory BIO; nil if it reports a failure.
package func withMemoryBIO(_ write: (OpaquePointer) -> CInt) -> [UInt8]? {
    guard let bio = unsafe BIO_new(BIO_s_mem()) else { return nil }
    defer { unsafe BIO_free(bio) }
    guard unsafe write(bio) > 0 else { return nil }
    var data: UnsafeMutablePointer<CChar>? = nil
    let count = unsafe uncurl_bio_data(bio, &data)
    guard let data = unsafe data, count > 0 else { return [] }
    return unsafe Array(UnsafeRawBufferPointer(start: data, count: count))
}

/// Returns whether a text is an IPv4 address with dots or an IPv6 address.
func isAddress(_ text: String) -> Bool {
    let address = unsafe a2i_IPADDRESS(text)
    defer { unsafe ASN1_OCTET_STRING_free(address) }
    ERR_clear_error()
    return unsafe address != nil
}

/// Returns the octets of any ASN.1 string.
func bytes(of string: UnsafePointer<ASN1_STRING>?) -> [UInt8] {
    guard let string = unsafe string, let data = unsafe ASN1_STRING_get0_data(string) else { return [] }
    return unsafe Array(UnsafeBufferPointer(start: data, count: Int(max(0, ASN1_STRING_length(string)))))
}

/// The answer to OpenSSL when it asks for a password. There is always one, or OpenSSL would ask on the terminal: the
/// callback without an object refuses.
@safe final class PasswordAnswer {
    private let password: [UInt8]?
    private(set) var wasAsked = false

    init(_ password: String?) { self.password = password.map { Array($0.utf8) } }

    /// The pointer for the callback. It is valid as long as this object.
    var pointer: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

    static let callback: @convention(c) (UnsafeMutablePointer<CChar>?, CInt, CInt, UnsafeMutableRawPointer?) -> CInt = {
        buffer,
        size,
        _,
        pointer in
        guard let buffer = unsafe buffer, let pointer = unsafe pointer else { return -1 }
        let answer = unsafe Unmanaged<PasswordAnswer>.fromOpaque(pointer).takeUnretainedValue()
        answer.wasAsked = true
        // A password that is cut short would be another password.
        guard let password = answer.password, password.count <= size else { return -1 }
        for (index, byte) in password.enumerated() { unsafe buffer[index] = CChar(bitPattern: byte) }
        return CInt(password.count)
    }
}
