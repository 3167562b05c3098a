internal import COpenSSL

/// A private key. It never changes: any thread may sign with it.
@safe final class PrivateKey: Sendable {
    private let address: UInt

    /// OpenSSL's key, borrowed from this object.
    var pointer: OpaquePointer? { unsafe OpaquePointer(bitPattern: address) }

    /// Takes over the caller's reference.
    init(adopting pointer: OpaquePointer) { address = UInt(bitPattern: pointer) }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// Reads the first key of a PEM text: PKCS #8, encrypted or not, or an older form.
    static func pem(_ text: [UInt8], password: String?) throws(IdentityError) -> PrivateKey {
        let answer = PasswordAnswer(password)
        let key = unsafe PEMReader.withBIO(text) { bio in
            unsafe PEM_read_bio_PrivateKey(bio, nil, PasswordAnswer.callback, answer.pointer)
        }
        if let key = unsafe key { return unsafe PrivateKey(adopting: key) }
        let fault = OpenSSLErrors.take()
        if answer.wasAsked { throw password == nil ? .passwordNeeded : .wrongPassword }
        // OpenSSL 3 gives the same error, "unsupported", for a text without a key and for a key that it does not know.
        if !holdsKey(text) { throw .noKey }
        throw .malformedKey(fault.text)
    }

    /// Returns whether the text contains a PRIVATE KEY, ENCRYPTED PRIVATE KEY, EC PRIVATE KEY or the like (RFC 7468
    /// §10, RFC 5915 §4).
    private static func holdsKey(_ text: [UInt8]) -> Bool {
        let end = Array(" KEY-----".utf8)
        return text.split(separator: UInt8(ascii: "\n")).contains { line in
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            return line.starts(with: Array("-----BEGIN ".utf8)) && line.suffix(end.count).elementsEqual(end)
        }
    }
}

/// The answer to OpenSSL when it asks for a password. There is always one, or OpenSSL would ask on the terminal.
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
